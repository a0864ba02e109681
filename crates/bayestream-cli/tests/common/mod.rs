//! What the tests of the command share: a folder, rows, and the binary's runs.

// Each test file is a crate of its own and uses a part of this.
#![allow(dead_code)]

use bayestream::num;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::TempDir;

/// A folder of files that goes away with the test.
pub struct Folder(TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(TempDir::new().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// Checks that two files have the same bytes, and shows neither.
    pub fn assert_same(&self, name: &str, other: &str) {
        let (bytes, others) = (self.read(name), self.read(other));
        let differs_at = bytes.iter().zip(&others).position(|(a, b)| a != b);
        assert!(
            bytes == others,
            "{name} ({} bytes) and {other} ({}) differ at {differs_at:?}",
            bytes.len(),
            others.len()
        );
    }

    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The command, to be run in this folder.
    pub fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bayestream"));
        command.current_dir(self.0.path()).args(line.split_whitespace());
        // Where a model is rescued to when its own place cannot be written.
        command.env("TMPDIR", self.0.path());
        command
    }

    /// Runs the command to its end.
    pub fn run(&self, line: &str) -> Finished {
        Finished::from(self.command(line).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs it with some text on standard input.
    pub fn run_with_input(&self, line: &str, input: &str) -> Finished {
        let mut child =
            self.command(line).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_string();
        let writer = thread::spawn(move || stdin.write_all(input.as_bytes()));
        let finished = Finished::from(child.wait_with_output().unwrap());
        // The command may well have ended before it read everything.
        let _ = writer.join().unwrap();
        finished
    }

    /// Runs it with standard output on a device or file.
    pub fn run_into(&self, line: &str, stdout: File) -> Finished {
        Finished::from(self.command(line).stdin(Stdio::null()).stdout(stdout).output().unwrap())
    }

    /// Runs it, expecting success.
    pub fn ok(&self, line: &str) -> Finished {
        let finished = self.run(line);
        assert_eq!(finished.code, 0, "bayestream {line}\n{}", finished.stderr);
        finished
    }

    /// Rows that a model file has seen, once it can be read.
    pub fn n_seen(&self, name: &str) -> Option<u64> {
        let bytes = fs::read(self.path(name)).ok()?;
        Some(bayestream::model::read_header(&bytes).unwrap().n_seen)
    }
}

/// A run that has ended.
pub struct Finished {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Finished {
    fn from(output: Output) -> Finished {
        Finished {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Finished {
    /// Checks the exit code and that the message says all of this.
    pub fn complains(&self, code: i32, says: &[&str]) {
        assert_eq!(self.code, code, "{}", self.stderr);
        for words in says {
            assert!(self.stderr.contains(words), "expected `{words}` in:\n{}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
    }
}

/// A number in a line of NDJSON.
pub fn number(line: &str, field: &str) -> f64 {
    let value: serde_json::Value = serde_json::from_str(line).unwrap();
    value[field].as_f64().unwrap_or_else(|| panic!("no {field} in {line}"))
}

pub const HEADER: &str = "height,width,depth\n";

/// Lines of three correlated clusters, without their header.
pub fn lines(n: usize, seed: u64) -> Vec<String> {
    const MEANS: [[f64; 3]; 3] = [[0.0, 0.0, 0.0], [6.0, -5.0, 3.0], [-4.0, 7.0, 9.0]];
    let mut rng = num::stream(seed, 0, 0);
    (0..n)
        .map(|_| {
            let mean = MEANS[rng.categorical(&[0.5, 0.3, 0.2])];
            let common = rng.normal();
            let cell = |j: usize, own: f64| mean[j] + 0.8 * common + 0.4 * own;
            let cells = [rng.normal(), rng.normal(), rng.normal()];
            format!("{},{},{}\n", cell(0, cells[0]), cell(1, cells[1]), cell(2, cells[2]))
        })
        .collect()
}

/// A CSV file of such lines.
pub fn csv(lines: &[String]) -> String {
    HEADER.to_string() + &lines.concat()
}

/// A run whose input comes piece by piece.
pub struct Live {
    child: Child,
    /// Open until the end, unless a test takes it.
    pub stdin: Option<ChildStdin>,
    pub stdout: BufReader<ChildStdout>,
}

impl Live {
    pub fn start(folder: &Folder, line: &str) -> Live {
        Live::spawn(folder.command(line))
    }

    pub fn spawn(mut command: Command) -> Live {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Live { child, stdin, stdout }
    }

    pub fn feed(&mut self, text: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(text.as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Waits for one line of output.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        line
    }

    /// Waits until the process would catch an interrupt rather than die of it.
    #[cfg(target_os = "linux")]
    pub fn wait_for_handler(&self) {
        const SIGINT_BIT: u64 = 1 << 1;
        let status = format!("/proc/{}/status", self.child.id());
        wait_until(|| {
            let text = fs::read_to_string(&status).unwrap();
            let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
            u64::from_str_radix(caught.trim(), 16).unwrap() & SIGINT_BIT != 0
        });
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits for the end, with the input still open.
    pub fn wait(self) -> Finished {
        let Live { child, stdin, stdout } = self;
        drop(stdout);
        let finished = Finished::from(child.wait_with_output().unwrap());
        drop(stdin);
        finished
    }
}

/// Waits until something is so; the test runner's own limit ends a wait in vain.
pub fn wait_until(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        thread::sleep(Duration::from_millis(2));
    }
}
