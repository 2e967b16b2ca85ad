//! The thread that makes records and gives them to files and connectors.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use config::db::{DbError, DbResult, Reader};
use config::snapshot::connector::{ConnectorData, Connectors, ValueTypes};
use config::{Config, Snapshot};
use model::{HostId, ItemId, Sample, Trend};
use pipeline::{ExportFigures, ExportTap, Exported};
use poll::{Poster, WebFiles};
use stdx::clock::SharedClock;
use stdx::queue::{Receiver, weighing};
use stdx::seldom::Seldom;
use tokio::task::LocalSet;
use tokio::time::MissedTickBehavior;

use crate::bell::Bell;
use crate::connector::{Stream, Tools};
use crate::describe::{self, Descriptions};
use crate::events::{self, Event, EventKind};
use crate::files::{Files, Kind, Writer};
use crate::record;

/// Messages of shards that wait, and their bytes; beyond, shards drop values.
const WAITING_MAX: usize = 4_096;
const WAITING_BYTES_MAX: usize = 64 << 20;
/// Bytes of the queues of all connectors together.
const QUEUED_BYTES_MAX: usize = 256 << 20;
/// Time for the queues of connectors when the server stops.
const END_MAX: Duration = Duration::from_secs(5);
/// Failures that repeat are reported this often.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// What exports work with.
pub struct Setup {
    pub config: Arc<Config>,
    pub clock: SharedClock,
    /// `None` = no files.
    pub files: Option<Files>,
    /// Folders of the certificates of connectors.
    pub web: WebFiles,
}

/// Running exports.
#[derive(Debug)]
pub struct Handle {
    bell: Bell,
    thread: JoinHandle<()>,
    figures: Arc<ExportFigures>,
}

/// Starts exports. `bell` has to be rung after new events and changes of the configuration. The tap is for the shards.
///
/// # Errors
/// The system's, or that the database cannot be read.
pub fn start(setup: Setup, bell: &Bell) -> std::io::Result<(ExportTap, Handle)> {
    let figures = Arc::<ExportFigures>::default();
    let (to, inbox) = weighing("export", WAITING_MAX, WAITING_BYTES_MAX, Exported::bytes);
    let kinds = setup.files.as_ref().map(|files| files.kinds).unwrap_or_default();
    let tap = ExportTap {
        to,
        types: if kinds.history { ValueTypes::ALL } else { ValueTypes::default() },
        trends: kinds.trends,
        figures: Arc::clone(&figures),
    };
    let writer = setup.files.map(|files| Writer::start(files, &figures, &setup.clock));
    let writer = writer.transpose()?;
    let position = setup.config.read(events::newest).map_err(std::io::Error::other)?;
    let parts = Parts {
        config: setup.config,
        clock: setup.clock,
        figures: Arc::clone(&figures),
        bell: bell.clone(),
        web: setup.web,
    };
    let thread = stdx::thread::permanent("exporter", move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.unwrap_or_else(|error| panic!("cannot start the exporter: {error}"));
        LocalSet::new().block_on(&runtime, Exporter::new(parts, writer, position).run(inbox));
    })?;
    Ok((tap, Handle { bell: bell.clone(), thread, figures }))
}

impl Handle {
    /// For self-monitoring.
    pub fn figures(&self) -> &Arc<ExportFigures> {
        &self.figures
    }

    /// Sends and writes what is queued, for a limited time. Blocks. The shards have ended.
    pub fn end(self) {
        self.bell.end();
        // A panic has ended the process.
        let _ = self.thread.join();
    }
}

struct Parts {
    config: Arc<Config>,
    clock: SharedClock,
    figures: Arc<ExportFigures>,
    bell: Bell,
    web: WebFiles,
}

struct Exporter {
    config: Arc<Config>,
    clock: SharedClock,
    bell: Bell,
    writer: Option<Writer>,
    tools: Rc<Tools>,
    /// Those of the newest configuration, in the order of the streams' positions.
    connectors: Arc<Connectors>,
    /// By the id of the connector.
    streams: BTreeMap<u64, Stream>,
    descriptions: Descriptions,
    /// The id of the newest event that was looked at.
    position: u64,
    /// There may be events after the position.
    has_events: bool,
    unread: Seldom,
    behind: Behind,
}

/// Drops of shards that have been reported.
struct Behind {
    dropped: u64,
    seldom: Seldom,
}

impl Exporter {
    fn new(parts: Parts, writer: Option<Writer>, position: u64) -> Self {
        let tools = Rc::new(Tools {
            poster: Poster::new(Arc::clone(&parts.clock), parts.web),
            clock: Arc::clone(&parts.clock),
            figures: parts.figures,
            sending: Cell::default(),
        });
        Self {
            config: parts.config,
            clock: parts.clock,
            bell: parts.bell,
            writer,
            tools,
            connectors: Arc::default(),
            streams: BTreeMap::new(),
            descriptions: Descriptions::default(),
            position,
            has_events: true,
            unread: Seldom::new(REPORT_EVERY),
            behind: Behind { dropped: 0, seldom: Seldom::new(REPORT_EVERY) },
        }
    }

    async fn run(mut self, mut inbox: Receiver<Exported>) {
        let mut second = tokio::time::interval(Duration::from_secs(1));
        second.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let bell = self.bell.clone();
        while !bell.has_ended() {
            tokio::select! {
                message = inbox.recv() => match message {
                    Some(message) => self.take(message).await,
                    // Shards end before.
                    None => bell.rung().await,
                },
                () = bell.rung() => self.has_events = true,
                _ = second.tick() => {
                    self.tools.count_sending(0);
                    self.report_drops();
                }
            }
            self.configure(&self.config.snapshot());
            self.follow_events().await;
            // Senders work between two messages.
            tokio::task::yield_now().await;
        }
        while let Some(message) = inbox.try_recv() {
            self.take(message).await;
        }
        self.has_events = true;
        self.follow_events().await;
        self.end().await;
    }

    /// Sends what is queued, for a limited time.
    async fn end(self) {
        let mut streams: Vec<Stream> = self.streams.into_values().collect();
        streams.iter().for_each(Stream::end);
        let all_ended = async {
            for stream in &mut streams {
                stream.ended().await;
            }
        };
        if tokio::time::timeout(END_MAX, all_ended).await.is_err() {
            let records = self.tools.figures.queued.load(Ordering::Relaxed);
            tracing::warn!(records, "the server stops before connectors have sent all records");
        }
        streams.into_iter().for_each(Stream::abort);
        if let Some(writer) = self.writer {
            writer.end();
        }
    }

    /// Starts, changes and ends streams as the configuration says.
    fn configure(&mut self, snapshot: &Snapshot) {
        if Arc::ptr_eq(&self.connectors, &snapshot.connectors) {
            return;
        }
        self.connectors = Arc::clone(&snapshot.connectors);
        self.descriptions.clear();
        let mut before = std::mem::take(&mut self.streams);
        let bytes_max = QUEUED_BYTES_MAX / self.connectors.list.len().max(1);
        for connector in &self.connectors.list {
            let known = before.remove(&connector.id);
            // What another kind of connector has queued is not what is wanted now.
            let is_same = |stream: &Stream| {
                std::mem::discriminant(&stream.settings().data)
                    == std::mem::discriminant(&connector.data)
            };
            let stream = match known {
                Some(stream) if is_same(&stream) => stream.configure(connector, bytes_max),
                other => {
                    if let Some(before) = other {
                        before.abort();
                    }
                    Stream::start(connector, &self.tools, bytes_max)
                }
            };
            self.streams.insert(connector.id, stream);
        }
        before.into_values().for_each(Stream::abort);
    }

    fn wants(&self, kind: Kind) -> bool {
        self.writer.as_ref().is_some_and(|writer| writer.wants(kind))
    }

    async fn take(&mut self, message: Exported) {
        let snapshot = self.config.snapshot();
        self.configure(&snapshot);
        let is_known = match &message {
            Exported::Values(samples) => {
                self.describe(&snapshot, samples.iter().map(|sample| sample.item)).await
            }
            Exported::Trends(trends) => {
                self.describe(&snapshot, trends.iter().map(|trend| trend.item)).await
            }
        };
        if let Err(error) = is_known {
            self.cannot_read(&error);
            let many = u64::try_from(message.len()).unwrap_or(u64::MAX);
            self.tools.figures.dropped_by_shards.fetch_add(many, Ordering::Relaxed);
            return;
        }
        let tools = Rc::clone(&self.tools);
        tools.figures.manager.count(&*self.clock, || match message {
            Exported::Values(samples) => self.values(&samples),
            Exported::Trends(trends) => self.trends(&trends),
        });
    }

    async fn describe(
        &mut self,
        snapshot: &Snapshot,
        items: impl Iterator<Item = ItemId>,
    ) -> DbResult<()> {
        let missing = self.descriptions.missing(snapshot, items);
        if !missing.is_empty() {
            let read = move |connection: &mut dyn Reader| describe::names(connection, &missing);
            let names = self.read(read).await?;
            self.descriptions.add(snapshot, &self.connectors, names);
        }
        Ok(())
    }

    /// Reads on another thread: senders do not wait for the database.
    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut dyn Reader) -> DbResult<T> + Send + 'static,
    ) -> DbResult<T> {
        let config = Arc::clone(&self.config);
        let read = tokio::task::spawn_blocking(move || config.read(work)).await;
        // The work has no panic of its own.
        read.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    fn cannot_read(&self, error: &DbError) {
        if self.unread.pass(self.clock.monotonic()).is_some() {
            tracing::warn!(%error, "cannot read the configuration database for exports");
        }
    }

    /// Shards do not log what they drop.
    fn report_drops(&mut self) {
        let dropped = self.tools.figures.dropped_by_shards.load(Ordering::Relaxed);
        if dropped > self.behind.dropped
            && self.behind.seldom.pass(self.clock.monotonic()).is_some()
        {
            let records = dropped - self.behind.dropped;
            tracing::warn!(records, "exports are too slow; shards drop values and trends for them");
            self.behind.dropped = dropped;
        }
    }

    fn values(&self, samples: &[Sample]) {
        let to_file = self.wants(Kind::History);
        let mut lines = String::new();
        for sample in samples {
            let Some(known) = self.descriptions.get(sample.item) else { continue };
            if !to_file && known.connectors.is_empty() {
                continue;
            }
            let line: Arc<str> =
                record::value(&known.prefix, known.item().value_type, sample).into();
            if to_file {
                lines.push_str(&line);
            }
            let wanted = known.connectors.iter().filter_map(|at| self.connectors.list.get(*at));
            for stream in wanted.filter_map(|connector| self.streams.get(&connector.id)) {
                stream.push(sample.item.0, &line);
            }
        }
        self.write(Kind::History, lines);
    }

    fn trends(&self, trends: &[Trend]) {
        let mut lines = String::new();
        for trend in trends {
            if let Some(known) = self.descriptions.get(trend.item) {
                lines.push_str(&record::trend(&known.prefix, trend));
            }
        }
        self.write(Kind::Trends, lines);
    }

    fn write(&self, kind: Kind, lines: String) {
        if let Some(writer) = &self.writer {
            writer.write(kind, lines);
        }
    }

    /// Exports new events, if there may be any.
    async fn follow_events(&mut self) {
        while self.has_events {
            let is_event = |data| data == ConnectorData::Events;
            let streamed = self.connectors.list.iter().any(|one| is_event(one.data));
            let position = self.position;
            let read = match streamed || self.wants(Kind::Events) {
                true => self.read(move |connection| events::after(connection, position)).await,
                // Later connectors begin with later events.
                false => self.read(events::newest).await.map(events::Batch::none_until),
            };
            match read {
                Ok(batch) => {
                    let snapshot = self.config.snapshot();
                    let tools = Rc::clone(&self.tools);
                    tools
                        .figures
                        .manager
                        .count(&*self.clock, || self.events(&snapshot, &batch.events));
                    self.position = batch.position;
                    self.has_events = batch.is_full;
                }
                Err(error) => {
                    // The next second tries it again.
                    self.cannot_read(&error);
                    return;
                }
            }
        }
    }

    fn events(&self, snapshot: &Snapshot, events: &[Event]) {
        let mut lines = String::new();
        for event in events {
            let records: Vec<Arc<str>> = match &event.kind {
                EventKind::Problem => {
                    let trigger = snapshot.triggers.get(&event.trigger);
                    let mut ids: Vec<HostId> =
                        trigger.map(|trigger| snapshot.hosts_of(trigger)).unwrap_or_default();
                    ids.sort_unstable();
                    let hosts: Vec<_> =
                        ids.iter().filter_map(|id| Some(&**snapshot.hosts.get(id)?)).collect();
                    vec![record::problem(event, &hosts).into()]
                }
                EventKind::Recovery(problems) => {
                    problems.iter().map(|id| record::recovery(event, *id).into()).collect()
                }
            };
            let wanted = self.connectors.list.iter().filter(|connector| {
                connector.data == ConnectorData::Events && connector.tags.passes(&event.tags)
            });
            for stream in wanted.filter_map(|connector| self.streams.get(&connector.id)) {
                records.iter().for_each(|line| stream.push(event.trigger.0, line));
            }
            if self.wants(Kind::Events) {
                records.iter().for_each(|line| lines.push_str(line));
            }
        }
        self.write(Kind::Events, lines);
    }
}

#[cfg(test)]
mod tests;
