//! Programs that are started for a check, a message or a command: bounded in time and output, in a process group of their
//! own, so that nothing that they started outlives a time limit.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::net::unix::pipe::Receiver;
use tokio::process::Command;

/// Where programs find others.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What a program may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Time; then it is killed.
    pub time: Duration,
    /// Bytes of each of its outputs.
    pub bytes: usize,
    /// What happens to a program that prints more.
    pub excess: Excess,
    /// When the output is complete.
    pub complete: Complete,
}

/// When the output of a program is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Complete {
    /// When the program has ended. What it leaves running in the background goes on.
    AtExit,
    /// When everything that it started has ended or closed the output, as commands of a Zabbix agent.
    AtClose,
}

/// What happens to a program that prints too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Excess {
    /// The rest is dropped.
    Cut,
    /// It is killed.
    Kill,
}

/// Where standard output and standard error go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// One text, as on a terminal.
    Joined,
    /// Two texts.
    Apart,
}

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit status.
    pub status: ExitStatus,
    /// Standard output; of [`Streams::Joined`] both.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: Vec<u8>,
}

/// Why a program was not started, or did not end by itself.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// It was not started.
    #[error("{0}")]
    NotStarted(io::Error),
    /// It took too long.
    #[error("Timeout while executing a shell script.")]
    TimedOut,
    /// It printed too much.
    #[error("The program printed more than {} MiB.", .0 >> 20)]
    TooMuch(usize),
    /// The caller ended it.
    #[error("the server was stopped while the program ran")]
    Cancelled,
    /// The system does not tell how it ended.
    #[error("Cannot wait for the program: {0}")]
    Lost(io::Error),
}

/// Gives the program an environment of its own: nothing of the server's is known to it.
pub fn clean(command: &mut Command) -> &mut Command {
    command.env_clear().env("PATH", PATH).env("LANG", "C.UTF-8")
}

/// Runs a program to its end, at most until `cancelled`. A limit that is exceeded kills it and its process group.
pub async fn run(
    mut command: Command,
    streams: Streams,
    limits: Limits,
    cancelled: impl Future<Output = ()>,
) -> Result<Ended, Stopped> {
    let (mut out, out_end) = Output::pipe(limits).map_err(Stopped::NotStarted)?;
    let (mut err, err_end) = match streams {
        Streams::Joined => (None, out_end.try_clone().map_err(Stopped::NotStarted)?),
        Streams::Apart => {
            let (err, end) = Output::pipe(limits).map_err(Stopped::NotStarted)?;
            (Some(err), end)
        }
    };
    command.stdin(Stdio::null()).stdout(out_end).stderr(err_end);
    let child = command.process_group(0).kill_on_drop(true).spawn();
    // The command has the writing ends: while they are open, outputs have no end.
    drop(command);
    let mut child = child.map_err(Stopped::NotStarted)?;
    let group = Group(child.id());
    let work = async {
        if limits.complete == Complete::AtClose {
            if read_all(&mut out, err.as_mut()).await {
                return Err(Stopped::TooMuch(limits.bytes));
            }
            return Ok(child.wait().await);
        }
        tokio::select! {
            biased;
            status = child.wait() => return Ok(status),
            too_much = read_all(&mut out, err.as_mut()) => if too_much {
                return Err(Stopped::TooMuch(limits.bytes));
            },
        }
        Ok(child.wait().await)
    };
    let status = tokio::select! {
        biased;
        ended = work => ended?.map_err(Stopped::Lost)?,
        () = tokio::time::sleep(limits.time) => return Err(Stopped::TimedOut),
        () = cancelled => return Err(Stopped::Cancelled),
    };
    group.leave();
    // What it has printed is in the pipes; what it started may keep them open.
    for output in std::iter::once(&mut out).chain(err.as_mut()) {
        if output.drain() == Drained::TooMuch {
            return Err(Stopped::TooMuch(limits.bytes));
        }
    }
    Ok(Ended { status, out: out.kept, err: err.map_or_else(Vec::new, |err| err.kept) })
}

/// Reads to the end of both; true: one of them is too long.
async fn read_all(out: &mut Output, err: Option<&mut Output>) -> bool {
    let Some(err) = err else { return out.read().await };
    let (mut first, mut second) = (std::pin::pin!(out.read()), std::pin::pin!(err.read()));
    tokio::select! {
        too_much = &mut first => too_much || second.await,
        too_much = &mut second => too_much || first.await,
    }
}

/// The program with what it started: killed together, unless it has ended.
struct Group(Option<u32>);

impl Group {
    fn leave(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.0.into_iter().for_each(stdx::sys::kill_group);
    }
}

/// The reading end of a program's output.
struct Output {
    receiver: Receiver,
    kept: Vec<u8>,
    limits: Limits,
}

/// What is in a pipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drained {
    /// Nothing now.
    Empty,
    /// Nothing follows.
    End,
    TooMuch,
}

impl Output {
    fn pipe(limits: Limits) -> io::Result<(Self, io::PipeWriter)> {
        let (reader, writer) = io::pipe()?;
        let receiver = Receiver::from_owned_fd(OwnedFd::from(reader))?;
        Ok((Self { receiver, kept: Vec::new(), limits }, writer))
    }

    /// Reads to the end; true: it is too long.
    async fn read(&mut self) -> bool {
        loop {
            if self.receiver.readable().await.is_err() {
                return false;
            }
            match self.drain() {
                Drained::Empty => {}
                Drained::End => return false,
                Drained::TooMuch => return true,
            }
        }
    }

    fn drain(&mut self) -> Drained {
        let mut bytes = [0; 4_096];
        // What prints without end is no reason to read without end.
        for _ in 0..1_024 {
            match self.receiver.try_read(&mut bytes) {
                Ok(0) => return Drained::End,
                Ok(count) => {
                    let room = self.limits.bytes.saturating_sub(self.kept.len());
                    self.kept.extend(&bytes[..count.min(room)]);
                    if count > room && self.limits.excess == Excess::Kill {
                        return Drained::TooMuch;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Drained::Empty,
                Err(_) => return Drained::End,
            }
        }
        Drained::Empty
    }
}

impl Ended {
    /// What it printed, both streams if they are joined.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// How it failed: what it printed, otherwise its exit status in the words of 7.0.
    pub fn failure(&self) -> String {
        let text = self.text();
        match (text.trim_end(), self.status.code(), self.status.signal()) {
            ("", Some(code), _) => format!("Process exited with code: {code}."),
            ("", None, Some(signal)) => format!("Process killed by signal: {signal}."),
            _ => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    async fn shell(script: &str, streams: Streams, limits: Limits) -> Result<Ended, Stopped> {
        let mut command = Command::new("/bin/sh");
        clean(command.arg("-c").arg(script));
        run(command, streams, limits, std::future::pending()).await
    }

    fn limits(bytes: usize, excess: Excess) -> Limits {
        Limits { time: LONG, bytes, excess, complete: Complete::AtExit }
    }

    #[tokio::test]
    async fn outputs_are_joined_or_apart() {
        let script = "echo a; echo b >&2; echo c; exit 3";
        for (streams, out, err) in
            [(Streams::Joined, "a\nb\nc\n", ""), (Streams::Apart, "a\nc\n", "b\n")]
        {
            let ended = shell(script, streams, limits(100, Excess::Kill)).await.unwrap();
            assert_eq!(
                (ended.text().as_str(), String::from_utf8_lossy(&ended.err)),
                (out, err.into())
            );
            assert_eq!(ended.status.code(), Some(3));
        }
    }

    #[tokio::test]
    async fn failures_are_those_of_7_0() {
        for (script, expected) in [
            ("echo out; echo err >&2; exit 7", "out\nerr\n"),
            ("exit 5", "Process exited with code: 5."),
            ("kill -9 $$", "Process killed by signal: 9."),
        ] {
            let ended = shell(script, Streams::Joined, limits(100, Excess::Cut)).await.unwrap();
            assert_eq!(ended.failure(), expected, "{script}");
        }
    }

    #[tokio::test]
    async fn much_output_is_cut_or_ends_the_program() {
        let endless = "while :; do echo 0123456789; done";
        let result = shell(endless, Streams::Apart, limits(1_000, Excess::Kill)).await;
        assert!(matches!(result, Err(Stopped::TooMuch(1_000))), "{result:?}");
        let much = "head -c 3000000 /dev/zero";
        for streams in [Streams::Joined, Streams::Apart] {
            let ended = shell(much, streams, limits(1_000, Excess::Cut)).await.unwrap();
            assert_eq!((ended.out.len(), ended.status.success()), (1_000, true));
        }
    }

    #[tokio::test]
    async fn what_is_left_behind_does_not_delay() {
        let script = "sleep 1000 & echo $!";
        let ended = shell(script, Streams::Joined, limits(100, Excess::Kill)).await.unwrap();
        let pid = ended.text();
        let kill = std::process::Command::new("kill").arg(pid.trim()).status();
        assert!(kill.unwrap().success(), "it goes on");
    }

    #[tokio::test]
    async fn an_output_is_read_until_it_is_closed() {
        let limits = Limits { complete: Complete::AtClose, ..limits(100, Excess::Kill) };
        let script = "(read -r _ < /dev/null; sleep 0.2; echo late) & echo first";
        let ended = shell(script, Streams::Joined, limits).await.unwrap();
        assert_eq!(ended.text(), "first\nlate\n");
        let short = Limits { time: Duration::from_millis(100), ..limits };
        let result = shell("sleep 1000 &", Streams::Joined, short).await;
        assert!(matches!(result, Err(Stopped::TimedOut)), "{result:?}");
    }

    #[tokio::test]
    async fn a_cancelled_program_ends_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let script = format!("sleep 1000 & echo $! > {}; wait", file.display());
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(script);
        let written = async {
            while !std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let result = run(command, Streams::Joined, limits(100, Excess::Kill), written).await;
        assert!(matches!(result, Err(Stopped::Cancelled)), "{result:?}");
        let child = std::fs::read_to_string(&file).unwrap();
        // Its new parent has to reap it.
        for _ in 0..6_000 {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
            if state.is_err() || state.is_ok_and(|text| text.contains(") Z ")) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("process {child} still runs");
    }
}
