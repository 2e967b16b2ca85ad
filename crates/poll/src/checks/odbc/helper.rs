//! The program that talks to ODBC drivers: started on demand, one check at a time in each, killed
//! when a check takes too long. Whatever a driver does, it does not do it to the server.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stdx::sync::lock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::result::Rows;
use crate::checks::dial::EXTRA;

/// Programs at one time; further checks wait.
const PROGRAMS_MAX: usize = 32;
/// Programs that wait for the next check.
const IDLE_MAX: usize = 4;
/// Checks after which a program ends, and with it what a driver has forgotten to free.
const CHECKS_MAX: u32 = 1000;
/// Bytes of an answer: the values' with what JSON makes of signs, at the worst.
const ANSWER_BYTES_MAX: u32 = 128 << 20;

/// What the program is asked.
#[derive(Debug, Serialize)]
pub(super) struct Request {
    pub(super) connection: String,
    pub(super) query: String,
    pub(super) timeout_s: u32,
    pub(super) rows_max: usize,
    pub(super) columns_max: usize,
    pub(super) bytes_max: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Rows(Rows),
    Error(String),
}

/// The running programs. They belong to the server's runtime, not to a poller's.
#[derive(Debug)]
pub(crate) struct Helpers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    program: PathBuf,
    runtime: Handle,
    idle: Mutex<Vec<Helper>>,
    room: Semaphore,
}

#[derive(Debug)]
struct Helper {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    checks: u32,
}

impl Helpers {
    /// Starts nothing yet.
    pub(crate) fn new(program: PathBuf, runtime: Handle) -> Self {
        let (idle, room) = (Mutex::default(), Semaphore::new(PROGRAMS_MAX));
        Self(Arc::new(Inner { program, runtime, idle, room }))
    }

    /// The rows of a query; the error is the text for the item's state "not supported".
    pub(super) async fn ask(&self, request: Request, limit: Duration) -> Result<Rows, String> {
        let inner = Arc::clone(&self.0);
        let asked = self.0.runtime.spawn(async move { inner.ask(&request, limit).await });
        asked.await.unwrap_or_else(|_| Err("The server is stopping.".to_owned()))
    }
}

impl Inner {
    async fn ask(&self, request: &Request, limit: Duration) -> Result<Rows, String> {
        let _room = self.room.acquire().await.map_err(|error| error.to_string())?;
        let idle = lock(&self.idle).pop();
        // One that has ended meanwhile, or was killed, is no reason to fail.
        let living =
            idle.and_then(|mut one| matches!(one.child.try_wait(), Ok(None)).then_some(one));
        let mut helper = match living {
            Some(helper) => helper,
            None => start(&self.program)?,
        };
        // The driver has the same time: so its own error text arrives. Dropped, it is killed.
        let answer = timeout(limit + EXTRA, helper.exchange(request)).await.map_err(|_| {
            "The database did not answer in time, its driver was stopped.".to_owned()
        })??;
        helper.checks += 1;
        if helper.checks < CHECKS_MAX {
            let mut idle = lock(&self.idle);
            if idle.len() < IDLE_MAX {
                idle.push(helper);
            }
        }
        match answer {
            Answer::Rows(rows) => Ok(rows),
            Answer::Error(why) => Err(why),
        }
    }
}

fn start(program: &Path) -> Result<Helper, String> {
    let mut command = Command::new(program);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.process_group(0).kill_on_drop(true);
    let failed = |why: String| {
        let name = program.display();
        format!("Cannot start {name}, which belongs beside the server's program: {why}")
    };
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Ok(Helper { child, input, output, checks: 0 }),
        _ => Err(failed("it has no input or output".to_owned())),
    }
}

impl Helper {
    async fn exchange(&mut self, request: &Request) -> Result<Answer, String> {
        let text = serde_json::to_vec(request).map_err(|error| error.to_string())?;
        let length = u32::try_from(text.len()).map_err(|error| error.to_string())?;
        let sent = async {
            self.input.write_all(&length.to_le_bytes()).await?;
            self.input.write_all(&text).await?;
            self.input.flush().await
        };
        if sent.await.is_err() {
            return Err(self.ended().await);
        }
        let Ok(length) = self.output.read_u32_le().await else { return Err(self.ended().await) };
        if length > ANSWER_BYTES_MAX {
            return Err(format!("The result has more than {} MiB.", ANSWER_BYTES_MAX >> 20));
        }
        let mut bytes = Vec::new();
        let read = (&mut self.output).take(u64::from(length)).read_to_end(&mut bytes).await;
        if read.is_err() || bytes.len() as u64 != u64::from(length) {
            return Err(self.ended().await);
        }
        serde_json::from_slice(&bytes)
            .map_err(|error| format!("The answer of the ODBC program cannot be read: {error}"))
    }

    /// Why there is no answer.
    async fn ended(&mut self) -> String {
        /// What the system's loader ends with when a library is missing.
        const NOT_LOADED: i32 = 127;
        match self.child.wait().await {
            Ok(status) if status.code() == Some(NOT_LOADED) => {
                "The ODBC program cannot start: is unixODBC (libodbc.so.2) installed?".to_owned()
            }
            Ok(status) => format!("The ODBC driver ended its program: {status}."),
            Err(error) => format!("The ODBC program is gone: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn request(query: &str) -> Request {
        let connection = "DSN=x".to_owned();
        let (rows_max, columns_max, bytes_max) = (1, 1, 100);
        let query = query.to_owned();
        Request { connection, query, timeout_s: 1, rows_max, columns_max, bytes_max }
    }

    /// A program that does what the shell lines say.
    fn program(folder: &Path, lines: &str) -> PathBuf {
        let file = folder.join("program");
        std::fs::write(&file, format!("#!/bin/sh\n{lines}\n")).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        file
    }

    async fn ask(lines: &str, limit: Duration) -> Result<Rows, String> {
        let folder = tempfile::tempdir().unwrap();
        let helpers = Helpers::new(program(folder.path(), lines), Handle::current());
        loop {
            match helpers.ask(request("q"), limit).await {
                // Another test's process has the file open between fork and exec.
                Err(why) if why.contains("Text file busy") => {}
                result => return result,
            }
        }
    }

    #[tokio::test]
    async fn whatever_a_program_does_is_an_answer() {
        let long = Duration::from_secs(60);
        for (lines, expected) in [
            ("printf '\\017\\0\\0\\0{\"error\":\"why\"}'; cat > /dev/null", "why"),
            ("exit 127", "is unixODBC"),
            ("kill -SEGV $$", "signal: 11"),
            ("printf '\\377\\377\\377\\377'; cat > /dev/null", "more than 128 MiB"),
            ("printf '\\002\\0\\0\\0[]'; cat > /dev/null", "cannot be read"),
            ("printf '\\020\\0\\0\\0x'", "ended its program"),
        ] {
            let why = ask(lines, long).await.unwrap_err();
            assert!(why.contains(expected), "{lines}: {why}");
        }
        let answer = r#"{"rows":{"columns":["a"],"rows":[["1"]]}}"#;
        let lines = format!("printf '\\051\\0\\0\\0{answer}'; cat > /dev/null");
        let rows = ask(&lines, long).await.unwrap();
        assert_eq!(rows.rows, [[Some("1".to_owned())]]);
        let late = ask("sleep 1000", Duration::ZERO).await.unwrap_err();
        assert!(late.contains("in time"), "{late}");
    }

    #[tokio::test]
    async fn a_missing_program_is_named() {
        let helpers = Helpers::new(PathBuf::from("/nonexistent/odbc"), Handle::current());
        let why = helpers.ask(request("q"), Duration::from_secs(60)).await.unwrap_err();
        assert!(why.contains("/nonexistent/odbc"), "{why}");
    }
}
