//! One attempt to send a message: what it needs, what comes of it, what it logs.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use collect::resolver::Resolver;
use model::alert::{Outcome, ScriptLine, Trial};
use stdx::clock::SharedClock;
use stdx::kerberos::Tickets;
use tokio::sync::watch;

use crate::modems::Modems;

/// Characters of an error that are stored.
const ERROR_CHARS_MAX: usize = 2_048;

/// Bytes of a log.
const LOG_BYTES_MAX: usize = 256 << 10;

/// What all attempts use.
#[derive(Clone)]
pub(crate) struct Tools {
    pub(crate) clock: SharedClock,
    pub(crate) resolver: Resolver,
    pub(crate) tickets: Tickets,
    /// Folder of the operator's programs.
    pub(crate) programs: Option<PathBuf>,
    /// File with the authorities of mail servers; `None`: those that the system trusts.
    pub(crate) authorities: Option<PathBuf>,
    /// Tells the mails of this database from those of others: 32 hexadecimal digits.
    pub(crate) instance: Arc<str>,
    /// Time for one attempt, except of webhooks, which have their own.
    pub(crate) attempt_max: Duration,
    pub(crate) modems: Arc<Modems>,
    pub(crate) cancel: watch::Receiver<Cancel>,
}

/// Which attempts have to end: the server stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cancel {
    None,
    /// Those whose message the receiver cannot have yet.
    Safe,
    /// Also those whose outcome is then unknown.
    All,
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tools").finish_non_exhaustive()
    }
}

impl Tools {
    /// Returns when such attempts have to end.
    pub(crate) async fn cancelled(&self, which: Cancel) {
        let mut cancel = self.cancel.clone();
        if cancel.wait_for(|cancel| *cancel >= which).await.is_err() {
            // Nobody can cancel any more.
            std::future::pending::<()>().await;
        }
    }
}

/// A message that the receiver accepted.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sent {
    /// Tags that a webhook returned.
    pub(crate) tags: Vec<(String, String)>,
    /// What the receiver calls it; empty = it did not say.
    pub(crate) message_id: String,
}

/// Why a message was not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The receiver does not have it; another attempt may succeed.
    Failed(String),
    /// No attempt with these settings can succeed.
    Impossible(String),
    /// The attempt was interrupted when the receiver may already have had it.
    Unknown(String),
    /// The attempt was cancelled before the receiver could have it.
    Cancelled,
}

impl Failure {
    pub(crate) fn failed(error: impl Into<String>) -> Self {
        Self::Failed(error.into())
    }
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// An error as it is stored.
pub(crate) fn cut(mut error: String) -> String {
    if let Some((at, _)) = error.char_indices().nth(ERROR_CHARS_MAX) {
        error.truncate(at);
    }
    error
}

/// What an attempt did, for the user who tests a media type; nothing otherwise.
#[derive(Debug, Default)]
pub(crate) struct Log {
    lines: Option<Vec<String>>,
    bytes: usize,
    response: String,
    script: Vec<ScriptLine>,
}

impl Log {
    /// Drops all lines.
    pub(crate) fn off() -> Self {
        Self::default()
    }

    /// Keeps lines.
    pub(crate) fn on() -> Self {
        Self { lines: Some(Vec::new()), ..Self::default() }
    }

    /// Adds a line, which is made only if it is kept.
    pub(crate) fn add(&mut self, line: impl FnOnce() -> String) {
        if let Some(lines) = &mut self.lines
            && self.bytes < LOG_BYTES_MAX
        {
            let mut line = line();
            if let Some((at, _)) = line.char_indices().nth(LOG_BYTES_MAX / 4) {
                line.truncate(at);
            }
            self.bytes += line.len() + 1;
            lines.push(line);
        }
    }

    /// Keeps what the receiver said last.
    pub(crate) fn respond(&mut self, response: impl FnOnce() -> String) {
        if self.lines.is_some() {
            let mut response = response();
            if let Some((at, _)) = response.char_indices().nth(LOG_BYTES_MAX / 4) {
                response.truncate(at);
            }
            self.response = response;
        }
    }

    /// Keeps a line that a webhook logged.
    pub(crate) fn script(&mut self, line: ScriptLine) {
        if self.lines.is_some() && self.bytes < LOG_BYTES_MAX {
            self.add(|| format!("{}: {}", line.level, line.text));
            self.script.push(line);
        }
    }

    /// What came of the attempt that it is of.
    pub(crate) fn into_trial(self, outcome: Outcome, took: Duration) -> Trial {
        let Self { lines, response, script, .. } = self;
        Trial { outcome, response, log: lines.unwrap_or_default(), script_log: script, took }
    }

    #[cfg(test)]
    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}

/// `[111] Connection refused`
pub(crate) fn os_error(error: &std::io::Error) -> String {
    let text = error.to_string();
    match error.raw_os_error() {
        Some(code) => {
            let text = text.split(" (os error").next().unwrap_or(&text);
            format!("[{code}] {text}")
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_cut_at_characters() {
        assert_eq!(cut("é".repeat(2_048)), "é".repeat(2_048));
        assert_eq!(cut("é".repeat(3_000)), "é".repeat(2_048));
    }

    #[test]
    fn a_log_keeps_lines_within_its_limit() {
        let mut log = Log::off();
        log.add(|| panic!("nobody wants the line"));
        assert!(log.into_lines().is_empty());
        let mut log = Log::on();
        for _ in 0..10 {
            log.add(|| "é".repeat(LOG_BYTES_MAX));
        }
        let bytes: usize = log.into_lines().iter().map(String::len).sum();
        assert!((LOG_BYTES_MAX..LOG_BYTES_MAX * 2).contains(&bytes), "{bytes}");
    }
}
