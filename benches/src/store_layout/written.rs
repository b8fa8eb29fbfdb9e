//! Bytes that this process has handed to the system to write.
//!
//! Rates depend on the disk and on who else uses it; what a layout writes does not. It is the same
//! in every run, to a per cent, and shows the pages that a commit touches: each goes to the WAL as
//! a whole, and to the database file at the next checkpoint.

/// The count since the process began. `None` where the system does not tell: only Linux does, in /proc.
pub fn bytes_so_far() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    text.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse().ok())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_written_to_a_file_is_counted() {
        let before = bytes_so_far().unwrap();
        tempfile::tempfile().unwrap().write_all(&[0; 100_000]).unwrap();
        assert!(bytes_so_far().unwrap() - before >= 100_000);
    }
}
