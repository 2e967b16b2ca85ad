//! Files of newline-delimited JSON: one for each kind of records, and one before it.

mod file;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use pipeline::ExportFigures;
use stdx::clock::SharedClock;
use stdx::queue::{Receiver, Sender, TrySend, weighing};
use stdx::seldom::Seldom;

use file::RotatingFile;

/// Bytes of records that wait for the disk.
const WAITING_BYTES_MAX: usize = 64 << 20;
/// Portions that wait.
const WAITING_MAX: usize = 4_096;
/// A failing disk is tried again this often.
const RETRY: Duration = Duration::from_secs(1);
/// Dropped records are reported this often.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// Where files are written, and which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Files {
    /// The folder (`ExportDir`); it exists.
    pub folder: PathBuf,
    /// Bytes of a file (`ExportFileSize`): a larger one is renamed, and replaces the file before it.
    pub bytes_max: u64,
    pub kinds: Kinds,
}

/// Kinds of records (`ExportType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds {
    /// Problems and recoveries.
    pub events: bool,
    /// Values of items.
    pub history: bool,
    pub trends: bool,
}

impl Kinds {
    /// From a list of names such as `events,history,trends`; the error is the unknown name.
    pub fn parse(list: &str) -> Result<Self, &str> {
        let mut kinds = Self::default();
        for name in list.split(',').map(str::trim) {
            match name {
                "events" => kinds.events = true,
                "history" => kinds.history = true,
                "trends" => kinds.trends = true,
                other => return Err(other),
            }
        }
        Ok(kinds)
    }
}

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Events,
    History,
    Trends,
}

impl Kind {
    /// Names of Zabbix 7.0. Its processes of one kind have a file each; here one thread writes them all.
    const ALL: [(Self, &'static str); 3] = [
        (Self::Events, "problems-history-syncer-1.ndjson"),
        (Self::History, "history-history-syncer-1.ndjson"),
        (Self::Trends, "trends-history-syncer-1.ndjson"),
    ];
}

/// Whole lines of one kind.
#[derive(Debug)]
struct Portion {
    kind: Kind,
    lines: String,
}

/// The exporter's side of the thread that writes files.
pub(crate) struct Writer {
    to: Sender<Portion>,
    kinds: Kinds,
    is_ending: Arc<AtomicBool>,
    thread: JoinHandle<()>,
    figures: Arc<ExportFigures>,
    clock: SharedClock,
    full: Seldom,
}

impl Writer {
    /// Starts the thread; files are made with their first records.
    pub(crate) fn start(
        files: Files,
        figures: &Arc<ExportFigures>,
        clock: &SharedClock,
    ) -> std::io::Result<Self> {
        let (to, portions) =
            weighing("export files", WAITING_MAX, WAITING_BYTES_MAX, |one: &Portion| {
                one.lines.len()
            });
        let is_ending = Arc::<AtomicBool>::default();
        let kinds = files.kinds;
        let work = Work {
            files: Kind::ALL.map(|(kind, name)| {
                (kind, RotatingFile::new(files.folder.join(name), files.bytes_max))
            }),
            is_ending: Arc::clone(&is_ending),
            figures: Arc::clone(figures),
            has_failed: false,
        };
        let thread = stdx::thread::permanent("export files", move || work.run(portions))?;
        let (figures, clock, full) =
            (Arc::clone(figures), Arc::clone(clock), Seldom::new(REPORT_EVERY));
        Ok(Self { to, kinds, is_ending, thread, figures, clock, full })
    }

    pub(crate) fn wants(&self, kind: Kind) -> bool {
        match kind {
            Kind::Events => self.kinds.events,
            Kind::History => self.kinds.history,
            Kind::Trends => self.kinds.trends,
        }
    }

    /// Queues whole lines, or drops them if the disk is too far behind.
    pub(crate) fn write(&self, kind: Kind, lines: String) {
        if lines.is_empty() {
            return;
        }
        if let Err(TrySend::Full(rest) | TrySend::Closed(rest)) =
            self.to.try_send(Portion { kind, lines })
        {
            let records = count_lines(&rest.lines);
            self.figures.dropped_by_files.fetch_add(records, Ordering::Relaxed);
            if self.full.pass(self.clock.monotonic()).is_some() {
                let dropped = self.figures.dropped_by_files.load(Ordering::Relaxed);
                tracing::warn!(
                    dropped,
                    "files of exports are written too slowly; dropping records"
                );
            }
        }
    }

    /// Writes what waits; gives up when the disk fails.
    pub(crate) fn end(self) {
        self.is_ending.store(true, Ordering::Release);
        drop(self.to);
        // A panic has ended the process.
        let _ = self.thread.join();
    }
}

fn count_lines(lines: &str) -> u64 {
    u64::try_from(lines.bytes().filter(|byte| *byte == b'\n').count()).unwrap_or(u64::MAX)
}

/// The thread that writes.
#[derive(Debug)]
struct Work {
    files: [(Kind, RotatingFile); 3],
    is_ending: Arc<AtomicBool>,
    figures: Arc<ExportFigures>,
    has_failed: bool,
}

impl Work {
    fn run(mut self, mut portions: Receiver<Portion>) {
        while let Some(portion) = portions.blocking_recv() {
            self.write(&portion);
        }
    }

    /// Retries until the lines are written or the server stops.
    fn write(&mut self, portion: &Portion) {
        let named = self.files.iter_mut().find(|(kind, _)| *kind == portion.kind);
        let Some((_, file)) = named else { return };
        let mut rest = &*portion.lines;
        while let Err(error) = file.write(&mut rest) {
            let path = file.path().display();
            if !std::mem::replace(&mut self.has_failed, true) {
                tracing::error!(%error, %path, "cannot write exported records; retrying, and dropping records if too many wait");
            }
            if self.is_ending.load(Ordering::Acquire) {
                self.figures.dropped_by_files.fetch_add(count_lines(rest), Ordering::Relaxed);
                return;
            }
            std::thread::sleep(RETRY);
        }
        if std::mem::take(&mut self.has_failed) {
            let dropped = self.figures.dropped_by_files.load(Ordering::Relaxed);
            tracing::info!(dropped, "exported records are written again");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_a_list() {
        let all = Kinds { events: true, history: true, trends: true };
        assert_eq!(Kinds::parse("events,history,trends"), Ok(all));
        assert_eq!(Kinds::parse("trends, events"), Ok(Kinds { history: false, ..all }));
        assert_eq!(Kinds::parse("events,values"), Err("values"));
        assert_eq!(Kinds::parse(""), Err(""));
    }

    #[test]
    fn a_disk_that_fails_gets_everything_when_it_works_again() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("later");
        let files = Files {
            folder: missing.clone(),
            bytes_max: 1 << 20,
            kinds: Kinds { events: true, ..Kinds::default() },
        };
        let figures = Arc::<ExportFigures>::default();
        let clock = stdx::clock::RealClock::shared();
        let writer = Writer::start(files, &figures, &clock).unwrap();
        assert!(writer.wants(Kind::Events) && !writer.wants(Kind::History));
        writer.write(Kind::Events, "a\nb\n".to_owned());
        writer.write(Kind::Events, "c\n".to_owned());
        std::fs::create_dir(&missing).unwrap();
        let path = missing.join("problems-history-syncer-1.ndjson");
        let written = || std::fs::read_to_string(&path).unwrap_or_default();
        while written() != "a\nb\nc\n" {
            std::thread::sleep(Duration::from_millis(10));
        }
        writer.end();
        assert_eq!(figures.dropped_by_files.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_stop_does_not_wait_for_a_failed_disk() {
        let figures = Arc::<ExportFigures>::default();
        let files =
            Files { folder: "/proc/none".into(), bytes_max: 1 << 20, kinds: Kinds::default() };
        let writer = Writer::start(files, &figures, &stdx::clock::RealClock::shared()).unwrap();
        writer.write(Kind::Trends, "a\nb\n".to_owned());
        writer.write(Kind::History, "c\n".to_owned());
        writer.end();
        assert_eq!(figures.dropped_by_files.load(Ordering::Relaxed), 3);
    }
}
