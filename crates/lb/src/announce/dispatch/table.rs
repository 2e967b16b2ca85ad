//! A table of nftables that exists as long as this process, and a little longer.
//!
//! The kernel removes a table with the flag `owner` when the program that made it closes its socket: an interactive
//! `nft`, whose input ends with this process. It ends later than this process, because packets arrive here until
//! keepalived has moved the VIPs. Without the table, this machine would reset connections of the others meanwhile.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, anyhow, bail, ensure};
use rustix::process::{Pid, Signal, kill_process_group};
use stdx::clock::Clock;

use super::rules::CHAIN;

/// Signals that end a service at once must not end the table before the service. A process of a terminal would keep
/// a history of commands in its home.
const HOLD: &str =
    "trap '' TERM INT HUP; export HOME=/dev/null; { cat; exec sleep 2; } | exec nft -i";
/// Longest time until the table exists.
const PATIENCE: Duration = Duration::from_secs(10);
/// Characters of errors of nft in an error.
const QUOTED_MAX: usize = 300;

/// Exists until it is dropped, or some time after it is left or this process ends.
pub(super) struct Table {
    name: String,
    holder: Child,
    /// `nft` ends some time after it is closed.
    input: Option<ChildStdin>,
}

impl Table {
    /// Makes a table. The file has its text.
    pub(super) fn make(
        name: &str,
        file: &Path,
        text: &str,
        clock: &dyn Clock,
    ) -> anyhow::Result<Self> {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        stdx::file::replace(file, text.as_bytes())
            .with_context(|| format!("cannot write {}", file.display()))?;
        check(file)?;
        let mut holder = Command::new("sh")
            .args(["-c", HOLD])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .context("cannot run 'sh'")?;
        let input = holder.stdin.take();
        let mut table = Self { name: name.to_owned(), holder, input };
        match table.begin(file, clock) {
            Ok(()) => Ok(table),
            Err(error) => {
                let problem = table.end();
                Err(if problem.is_empty() { error } else { anyhow!("nft: {problem}") })
            }
        }
    }

    fn begin(&mut self, file: &Path, clock: &dyn Clock) -> anyhow::Result<()> {
        let Some(input) = &mut self.input else { bail!("BUG: 'sh' has no input") };
        writeln!(input, "include \"{}\"", file.display()).context("nft has ended")?;
        let end = clock.monotonic() + PATIENCE;
        while !self.exists() {
            ensure!(clock.monotonic() < end, "nft does not make the table {}", self.name);
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }

    /// Whether the kernel has it.
    pub(super) fn exists(&self) -> bool {
        let shown = Command::new("nft")
            .args(["list", "chain", "netdev", &self.name, CHAIN])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        shown.is_ok_and(|status| status.success())
    }

    /// Removes it now; the result is what the program complained of.
    fn end(&mut self) -> String {
        self.input = None;
        let group = i32::try_from(self.holder.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            let _ended = kill_process_group(group, Signal::KILL);
        }
        let mut problem = Vec::new();
        if let Some(output) = self.holder.stderr.take() {
            let _unreadable = output.take(4096).read_to_end(&mut problem);
        }
        let _reaped = self.holder.wait();
        quoted(&problem)
    }

    /// Removes it soon, also if this process goes on.
    pub(super) fn leave(mut self) {
        self.input = None;
        let _reaped = std::thread::Builder::new().name("table".to_owned()).spawn(move || {
            let _ended = self.holder.wait();
        });
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        if self.input.is_some() {
            let _problem = self.end();
        }
    }
}

/// Lets nft check a file, for its errors.
fn check(file: &Path) -> anyhow::Result<()> {
    let output =
        Command::new("nft").arg("--check").arg("--file").arg(file).stdin(Stdio::null()).output();
    let output = output.context("cannot run 'nft'; install nftables")?;
    ensure!(output.status.success(), "nft refuses {}: {}", file.display(), quoted(&output.stderr));
    Ok(())
}

/// A text of nft on one line.
fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(QUOTED_MAX).flat_map(char::escape_debug).collect()
}
