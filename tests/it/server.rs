//! The binary as a child process.

use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use tempfile::TempDir;

/// How long a start may take before a test gives up on it.
const START: Duration = Duration::from_secs(30);

/// A running `gonets serve --dev` on a data directory of its own.
pub struct Server {
    child: Option<Child>,
    /// Where it listens; empty until it has said so.
    address: String,
    data: Data,
}

/// Where a server's data lives; removed at the end.
pub struct Data(TempDir);

impl Data {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// With a configuration file, which every server started on it reads.
    pub fn configured(text: &str) -> Self {
        let data = Self::new();
        std::fs::write(data.config(), text).expect("a configuration can be written");
        data
    }

    fn config(&self) -> PathBuf {
        self.path().join("gonets.toml")
    }
}

/// The binary under test.
pub fn binary() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_gonets"))
}

/// The fixed key of `--dev`.
pub const KEY: &str = "dev";
/// The admin key of servers that run as in production.
pub const STRICT_KEY: &str = "a-key-for-black-box-tests";
/// Their master key: nothing is secret in a test.
const STRICT_MASTER_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

impl Server {
    pub fn start() -> Self {
        Self::on(Data::new(), &[])
    }

    /// Starts on `data`, with more arguments, on a free port, and returns when it is ready.
    pub fn on(data: Data, more: &[&str]) -> Self {
        let mut command = Command::new(binary());
        command.args(more);
        Self::run(data, command)
    }

    /// Starts under `command`, which runs the binary (directly or through a tracer).
    pub fn run(data: Data, command: Command) -> Self {
        Self::launch(data, command, &["--dev"])
    }

    /// Starts as in production, without `--dev`: keys from the environment, [`STRICT_KEY`] to ask.
    pub fn strict(data: Data) -> Self {
        let mut command = Command::new(binary());
        command.env("GONETS_MASTER_KEY", STRICT_MASTER_KEY).env("GONETS_BOOTSTRAP_KEY", STRICT_KEY);
        Self::launch(data, command, &[])
    }

    fn launch(data: Data, mut command: Command, flags: &[&str]) -> Self {
        if data.config().exists() {
            command.env("GONETS_CONFIG", data.config());
        }
        let child = command
            .arg("serve")
            .args(flags)
            .args(["--listen", "127.0.0.1:0", "--data"])
            .arg(data.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut server = Self { child: Some(child), address: String::new(), data };
        server.wait_until_ready();
        server
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Its data directory.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// Ends it at once, as a power cut would end the process.
    pub fn kill(mut self) -> Data {
        let mut child = self.child.take().expect("it runs");
        child.kill().expect("it can be killed");
        child.wait().expect("it has ended");
        std::mem::replace(&mut self.data, Data::new())
    }

    /// Asks it to end, and returns when it has; the status says whether it did so in order.
    pub fn stop(mut self) -> (Data, bool) {
        let mut child = self.child.take().expect("it runs");
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it can be asked");
        let status = child.wait().expect("it has ended");
        (std::mem::replace(&mut self.data, Data::new()), status.success())
    }

    /// How many file handles it has open.
    pub fn handles(&self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.pid())).expect("it runs").count()
    }

    /// Resident memory in MB.
    pub fn memory_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a resident size");
        let kb: f64 = line.split_whitespace().nth(1).and_then(|kb| kb.parse().ok()).expect("a number of kB");
        kb / 1024.0
    }

    /// Processor time used so far.
    pub fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid())).expect("it runs");
        let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
        let ticks: u64 = [11, 12].iter().map(|at| fields[*at].parse::<u64>().expect("ticks")).sum();
        Duration::from_millis(ticks * 10)
    }

    /// Waits for the line of its log that says where it listens; the rest is passed on.
    ///
    /// It chooses the port: one that was free a moment ago need not be free when it starts.
    fn wait_until_ready(&mut self) {
        let child = self.child.as_mut().expect("it runs");
        let log = BufReader::new(child.stderr.take().expect("its log is piped"));
        let (ready, is_ready) = mpsc::channel();
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                if let Some(address) = listens_on(&line) {
                    // Nobody listens any more once the test went on.
                    let _ = ready.send(address.to_owned());
                } else if !line.contains("INFO") {
                    eprintln!("{line}");
                }
            }
        });
        let Ok(address) = is_ready.recv_timeout(START) else {
            let _ = child.kill();
            panic!("gonets did not say within {START:?} where it listens");
        };
        self.address = address;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The address in the line that says where it listens.
fn listens_on(line: &str) -> Option<&str> {
    line.split_once(" listens on ")?.1.split(',').next()
}
