//! Checks by programs of this machine: monitors of type `script`.
//!
//! A program gets the server's address and port as arguments, and nothing of the engine's environment but
//! `PATH`. Exit status 0 passes. The programs run on a thread of their own, a limited number at once; one that
//! takes too long is killed. What a program has started is killed when it ends: all processes of its group.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mio::Waker;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::outcome::{Outcome, quoted};
use super::target::Key;
use crate::config::ScriptMonitor;

/// Programs that run at once.
const RUNNING_MAX: usize = 16;
/// Bytes of the output that are read for the reason.
const OUTPUT_MAX: u64 = 4_096;

/// How long the output of a program that has ended is read, if a process that has left the group keeps it open.
const REST_OF_OUTPUT: Duration = Duration::from_millis(200);

/// The process groups of programs that run.
#[derive(Debug, Default, Clone)]
pub(super) struct Groups(Arc<Mutex<Running>>);

#[derive(Debug, Default)]
struct Running {
    leaders: BTreeSet<u32>,
    ended: bool,
}

impl Groups {
    /// Kills all, and those that are added later.
    pub(super) fn end(&self) {
        let mut running = self.lock();
        running.ended = true;
        running.leaders.iter().copied().for_each(stdx::sys::kill_group);
    }

    fn add(&self, leader: u32) -> Group<'_> {
        let mut running = self.lock();
        running.leaders.insert(leader);
        if running.ended {
            stdx::sys::kill_group(leader);
        }
        Group { leader, groups: self }
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A process group whose leader is not reaped yet; it is killed at the end of its use.
struct Group<'a> {
    leader: u32,
    groups: &'a Groups,
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        stdx::sys::kill_group(self.leader);
        self.groups.lock().leaders.remove(&self.leader);
    }
}

/// One run of a program.
#[derive(Debug)]
pub(super) struct Job {
    /// The target that gets the result.
    pub(super) key: Key,
    program: PathBuf,
    environment: Vec<(String, String)>,
    server: SocketAddr,
    limit: Duration,
}

impl Job {
    /// The error is the result of the check.
    pub(super) fn new(
        key: Key,
        folder: Option<&Path>,
        monitor: &ScriptMonitor,
        server: SocketAddr,
        limit: Duration,
    ) -> Result<Self, Outcome> {
        let program = program(folder, monitor).map_err(Outcome::NotMade)?;
        let environment =
            monitor.environment().map(|(name, value)| (name, value.to_owned())).collect();
        Ok(Self { key, program, environment, server, limit })
    }
}

/// The file of a monitor's program.
///
/// # Errors
/// Why it cannot be run.
pub(super) fn program(folder: Option<&Path>, monitor: &ScriptMonitor) -> Result<PathBuf, String> {
    let folder = folder.ok_or(
        "this engine has no folder of programs for monitors of type script; set 'monitor_scripts' in its \
         file, or start it with --monitor-scripts DIR",
    )?;
    let program = folder.join(&monitor.program);
    match std::fs::metadata(&program) {
        Ok(about) if about.is_file() => Ok(program),
        Ok(_) => Err(format!("{} is not a file", program.display())),
        Err(error) => Err(format!("{}: {error}", program.display())),
    }
}

/// The thread of the programs, as the monitors see it.
pub(super) struct Scripts {
    jobs: mpsc::Sender<Job>,
    results: Receiver<(Key, Outcome)>,
    running: usize,
}

impl Scripts {
    pub(super) fn start(waker: Arc<Waker>, groups: Groups) -> std::io::Result<Self> {
        let (jobs, waiting) = mpsc::channel(RUNNING_MAX);
        let (done, results) = sync_channel(RUNNING_MAX);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        stdx::thread::permanent("health-scripts", move || {
            runtime.block_on(run_all(waiting, done, waker, groups));
        })?;
        Ok(Self { jobs, results, running: 0 })
    }

    pub(super) fn is_full(&self) -> bool {
        self.running >= RUNNING_MAX
    }

    /// Runs a program. Fewer than the limit must be running.
    pub(super) fn run(&mut self, job: Job) -> Result<(), Outcome> {
        let sent = self.jobs.try_send(job);
        sent.map_err(|_| Outcome::NotMade("the thread of the programs has ended".to_owned()))?;
        self.running += 1;
        Ok(())
    }

    /// A program that has ended.
    pub(super) fn next_result(&mut self) -> Option<(Key, Outcome)> {
        let result = self.results.try_recv().ok()?;
        self.running -= 1;
        Some(result)
    }
}

type Done = SyncSender<(Key, Outcome)>;

async fn run_all(mut waiting: mpsc::Receiver<Job>, done: Done, waker: Arc<Waker>, groups: Groups) {
    while let Some(job) = waiting.recv().await {
        let (done, waker, groups) = (done.clone(), Arc::clone(&waker), groups.clone());
        tokio::spawn(async move {
            let outcome = run(&job, &groups).await;
            // The queue has room for all that run.
            if done.try_send((job.key, outcome)).is_ok()
                && let Err(error) = waker.wake()
            {
                tracing::error!("the health monitors learn late of a program's result: {error}");
            }
        });
    }
}

async fn run(job: &Job, groups: &Groups) -> Outcome {
    let mut command = Command::new(&job.program);
    command.arg(job.server.ip().to_string()).arg(job.server.port().to_string());
    command.env_clear().envs(job.environment.iter().map(|(name, value)| (name, value)));
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own, so that what the program starts ends with it.
    command.process_group(0).kill_on_drop(true);
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            return Outcome::NotMade(format!("cannot run {}: {error}", job.program.display()));
        }
    };
    let Some(leader) = child.id() else {
        return Outcome::NotMade("cannot wait for the program: it has no number".to_owned());
    };
    let group = groups.add(leader);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    {
        // Others may keep the output open, so its end is not that of the program.
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let mut output = pin!(async {
            tokio::join!(read(stdout, &mut out), read(stderr, &mut err));
        });
        let mut is_read = false;
        let end = tokio::task::spawn_blocking(move || stdx::sys::wait_for_end(leader));
        let ended = async {
            let mut end = pin!(end);
            tokio::select! {
                ended = &mut end => ended,
                () = &mut output => {
                    is_read = true;
                    end.await
                }
            }
        };
        let ended = timeout(job.limit, ended).await;
        drop(group);
        match ended {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => return unwaited(&error),
            Ok(Err(error)) => return unwaited(&error),
            Err(_) => {
                return Outcome::Failed(format!(
                    "the program did not end within {} ms",
                    job.limit.as_millis()
                ));
            }
        }
        if !is_read {
            let _as_far_as_readable = timeout(REST_OF_OUTPUT, output).await;
        }
    }
    match child.wait().await {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(status) => {
            let texts = [err, out];
            let mut texts = texts.iter().map(|text| quoted(&String::from_utf8_lossy(text)));
            let text = texts.find(|text| !text.is_empty());
            Outcome::Failed(match text {
                Some(text) => format!("{status}: {text}"),
                None => status.to_string(),
            })
        }
        Err(error) => unwaited(&error),
    }
}

fn unwaited(error: &dyn std::error::Error) -> Outcome {
    Outcome::NotMade(format!("cannot wait for the program: {error}"))
}

/// The start of what a program writes; the rest is read and dropped, so that it can end.
async fn read(stream: Option<impl AsyncRead + Unpin>, bytes: &mut Vec<u8>) {
    let Some(mut stream) = stream else { return };
    let _as_far_as_readable = (&mut stream).take(OUTPUT_MAX).read_to_end(bytes).await;
    let _ended = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn monitor(program: &str) -> ScriptMonitor {
        let text = format!("{{program: {program}, parameters: {{user: me}}}}");
        serde_saphyr::from_str(&text).unwrap()
    }

    fn outcome(text: &str, limit_ms: u64) -> Outcome {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("check");
        std::fs::write(&file, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let server = "192.0.2.7:81".parse().unwrap();
        let limit = Duration::from_millis(limit_ms);
        let job = Job::new(0, Some(folder.path()), &monitor("check"), server, limit).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        loop {
            match runtime.block_on(run(&job, &Groups::default())) {
                // Another test's process has the file open between fork and exec.
                Outcome::NotMade(reason) if reason.contains("busy") => {}
                outcome => return outcome,
            }
        }
    }

    #[test]
    fn the_exit_status_decides_and_the_output_is_the_reason() {
        let long = 60_000;
        for (text, expected) in [
            ("exit 0", ""),
            ("[ \"$1 $2 $MONITOR_USER\" = '192.0.2.7 81 me' ]", ""),
            ("[ -z \"$CARGO_MANIFEST_DIR$HOME\" ]", ""),
            ("echo disk full; exit 3", "exit status: 3: disk full"),
            ("echo out; echo because >&2; exit 1", "exit status: 1: because"),
            ("head -c 200000 /dev/zero; exit 4", "exit status: 4"),
            // Processes that stay behind keep the output open, in the group and beyond it.
            ("sleep 1000 & exit 0", ""),
            ("sleep 1000 & echo disk full; exit 3", "exit status: 3: disk full"),
            ("setsid sleep 3 & echo disk full; exit 3", "exit status: 3: disk full"),
        ] {
            assert_eq!(outcome(text, long).reason(), expected, "{text}");
        }
    }

    #[test]
    fn a_program_that_takes_too_long_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let text = format!("sleep 1000 & echo $! > {}; wait", file.display());
        let mut limit_ms = 250;
        let child = loop {
            let reason = format!("the program did not end within {limit_ms} ms");
            assert_eq!(outcome(&text, limit_ms), Outcome::Failed(reason));
            match std::fs::read_to_string(&file) {
                Ok(child) if child.ends_with('\n') => break child,
                // It was killed before it began.
                _ => limit_ms *= 2,
            }
        };
        assert_ends(&child);
    }

    fn assert_ends(child: &str) {
        // Its new parent has to reap it.
        for _ in 0..6_000 {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
            if state.is_err() || state.is_ok_and(|text| text.contains(") Z ")) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("process {child} still runs");
    }

    #[test]
    fn what_a_program_has_started_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        let text = format!("sleep 1000 >/dev/null 2>&1 & echo $! > {}", file.display());
        assert_eq!(outcome(&text, 60_000), Outcome::Passed);
        assert_ends(&std::fs::read_to_string(&file).unwrap());
    }

    #[test]
    fn programs_end_when_the_monitors_stop() {
        use std::os::unix::process::CommandExt;
        let start = || {
            let mut command = std::process::Command::new("sleep");
            command.arg("1000").process_group(0).spawn().unwrap()
        };
        let groups = Groups::default();
        let (mut before, mut after) = (start(), start());
        let group = groups.add(before.id());
        groups.end();
        stdx::sys::wait_for_end(before.id()).unwrap();
        let late = groups.add(after.id());
        stdx::sys::wait_for_end(after.id()).unwrap();
        drop((group, late));
        assert!(!before.wait().unwrap().success() && !after.wait().unwrap().success());
    }

    #[test]
    fn only_files_of_the_folder_are_run() {
        let folder = tempfile::tempdir().unwrap();
        let why = |folder, name: &str| program(folder, &monitor(name)).unwrap_err();
        assert!(why(None, "a").contains("--monitor-scripts"));
        assert!(why(Some(folder.path()), "a").contains("No such file"));
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        assert!(why(Some(folder.path()), "sub").contains("is not a file"));
    }
}
