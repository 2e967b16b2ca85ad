//! What is stored of an engine: its texts are short, and a hostile engine causes one write a second at most.

use std::time::Duration;

use config::engines::Report;
use proxying::engine_link::CONFIGURATION_MAX;
use tokio::time::Instant;

/// How often the last report of an engine is stored while nothing changes.
const REPORT_EVERY: Duration = Duration::from_secs(10);
/// Shortest time between two writes.
const STORE_PAUSE: Duration = Duration::from_secs(1);
/// Shortest time between two log lines about the configurations that an engine refuses.
const LOG_PAUSE: Duration = Duration::from_secs(60);
/// Bytes of an error.
const ERROR_MAX: usize = 4 << 10;
/// Bytes of a hash in hexadecimal digits.
const HASH_MAX: usize = 64;
/// Bytes of the version of a program.
const VERSION_MAX: usize = 64;

/// The state of an engine, and what is stored of it.
#[derive(Debug, Default)]
pub(super) struct Reporting {
    report: Report,
    /// Why the server does not send the newest configuration.
    unsent: Option<String>,
    /// When and what was stored last.
    stored: Option<(Instant, Report)>,
    logged: Option<Instant>,
}

fn cut(text: &str, most: usize) -> String {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default().to_owned()
}

/// Why a configuration cannot be sent.
pub(super) fn too_long(text: &str) -> Option<String> {
    (text.len() > CONFIGURATION_MAX).then(|| {
        format!(
            "the configuration of its group has {} bytes, and an engine takes {CONFIGURATION_MAX}; \
             distribute the virtual services over several groups",
            text.len()
        )
    })
}

impl Reporting {
    pub(super) fn new(report: Report) -> Self {
        let running_hash = cut(&report.running_hash, HASH_MAX);
        Self { report: Report { running_hash, ..report }, ..Self::default() }
    }

    /// Hash of the configuration that the engine runs.
    pub(super) fn running_hash(&self) -> &str {
        &self.report.running_hash
    }

    /// The engine runs a configuration, or says why not.
    pub(super) fn applied(&mut self, hash: &str, error: &str) {
        if error.is_empty() {
            self.report.running_hash = cut(hash, HASH_MAX);
        }
        self.report.error = cut(error, ERROR_MAX);
    }

    /// The newest configuration cannot be sent, or can be again.
    pub(super) fn unsent(&mut self, problem: Option<&str>) {
        self.unsent = problem.map(|problem| cut(problem, ERROR_MAX));
    }

    /// Whether the engine runs what was sent last, and the server has nothing newer that it cannot send.
    pub(super) fn is_configured(&self, sent: &str) -> bool {
        self.unsent.is_none() && self.report.error.is_empty() && self.report.running_hash == sent
    }

    pub(super) fn version(&mut self, version: &str) {
        self.report.version = cut(version, VERSION_MAX);
    }

    /// What the log shows of the engine's error, unless it has shown one lately.
    pub(super) fn log_due(&mut self, now: Instant) -> Option<&str> {
        let lately = self.logged.is_some_and(|at| now.duration_since(at) < LOG_PAUSE);
        if lately || self.report.error.is_empty() {
            return None;
        }
        self.logged = Some(now);
        Some(&self.report.error)
    }

    fn shown(&self) -> Report {
        let error = self.unsent.clone().unwrap_or_else(|| self.report.error.clone());
        Report { error, ..self.report.clone() }
    }

    /// When a change is to be stored that came too early; `None`: all is stored.
    pub(super) fn due(&self) -> Option<Instant> {
        let (at, stored) = self.stored.as_ref()?;
        (*stored != self.shown()).then(|| *at + STORE_PAUSE)
    }

    /// What is to be stored now. It counts as stored.
    pub(super) fn store_due(&mut self, now: Instant) -> Option<Report> {
        let shown = self.shown();
        if let Some((at, stored)) = &self.stored {
            let pause = if *stored == shown { REPORT_EVERY } else { STORE_PAUSE };
            if now.duration_since(*at) < pause {
                return None;
            }
        }
        self.stored = Some((now, shown.clone()));
        Some(shown)
    }

    /// What the end of the connection leaves to store.
    pub(super) fn rest(&mut self) -> Option<Report> {
        self.due().map(|_| self.shown())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternating_errors_are_stored_once_a_second() {
        let start = Instant::now();
        let mut reporting = Reporting::new(Report::default());
        assert!(reporting.store_due(start).is_some());
        let (mut stored, mut logged) = (Vec::new(), 0);
        for step in 1..=3_000_u32 {
            reporting.applied("", &format!("{step}{}", "ä".repeat(32 << 10)));
            let now = start + Duration::from_millis(step.into());
            stored.extend(reporting.store_due(now));
            logged += u32::from(reporting.log_due(now).is_some());
        }
        assert_eq!((stored.len(), logged), (3, 1));
        assert!(stored.iter().all(|report| report.error.len() <= ERROR_MAX));
        reporting.applied("", "the last one");
        assert_eq!(reporting.due(), Some(start + Duration::from_secs(4)));
        assert_eq!(reporting.store_due(start + Duration::from_millis(3_999)), None);
        assert_eq!(reporting.rest().unwrap().error, "the last one", "the connection ends");
        let last = reporting.store_due(start + Duration::from_secs(4)).unwrap();
        assert_eq!((last.error.as_str(), reporting.due()), ("the last one", None));
        assert_eq!(reporting.store_due(start + Duration::from_secs(13)), None);
        assert!(reporting.store_due(start + Duration::from_secs(14)).is_some(), "nothing changed");
    }

    #[test]
    fn a_configuration_that_is_too_long_is_an_error() {
        assert_eq!(too_long(&"x".repeat(CONFIGURATION_MAX)), None);
        let problem = too_long(&"x".repeat(CONFIGURATION_MAX + 1)).unwrap();
        assert!(problem.contains("67108"), "{problem}");
        let mut reporting = Reporting::new(Report::default());
        reporting.applied("h", "");
        reporting.unsent(Some(&problem));
        assert!(!reporting.is_configured("h"));
        assert_eq!(reporting.store_due(Instant::now()).unwrap().error, problem);
        reporting.unsent(None);
        assert!(reporting.is_configured("h"), "the last configuration is wanted again");
        assert_eq!(reporting.rest().unwrap().error, "");
    }
}
