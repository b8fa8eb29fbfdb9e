//! The known name that a mistyped one was probably meant to be.

/// The nearest of `known`, if it is near enough to be worth naming.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let (distance, found) = known.map(|one| (distance(name, one), one)).min()?;
    (distance <= (name.chars().count() / 3).max(2)).then_some(found)
}

/// How many characters must be put in, taken out or replaced.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_name_finds_its_neighbour_and_a_strange_one_finds_none() {
        let known = ["server.listen", "server.public_url", "egress.allow_http"];
        assert_eq!(nearest("server.lsiten", known.into_iter()), Some("server.listen"));
        assert_eq!(nearest("egress.alow_http", known.into_iter()), Some("egress.allow_http"));
        assert_eq!(nearest("zzzzzzzzzzzzzzzzzzzz", known.into_iter()), None);
        assert_eq!(nearest("x", std::iter::empty()), None);
    }

    #[test]
    fn the_distance_counts_single_changes() {
        for (a, b, changes) in [("", "", 0), ("", "abc", 3), ("abc", "abc", 0), ("kitten", "sitting", 3)] {
            assert_eq!(distance(a, b), changes, "{a} {b}");
        }
    }
}
