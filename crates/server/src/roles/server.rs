//! `vedette server`: the monitoring server as a list of parts. No logic of its own.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use config::retry::Stop;
use control::analytics::Board;
use history::service::Counters;
use internals::{Heartbeat, Meter, ServerFigures};
use media::Queues;
use pipeline::ExportFigures;
use stdx::worktime::WorkTime;

use super::stop_signal;
use crate::folder::{self, RunningMark, lock};
use crate::params::Values;
use crate::parts::balancing::Figures;
use crate::parts::base::Base;
use crate::parts::evaluation::Evaluation;
use crate::parts::remember::Memory;
use crate::parts::requests::Requests;
use crate::parts::{
    Kept, Part, Running, alerting, api, collection, discovered, engines, evaluation, export,
    history as stored, listeners, services, upkeep, web,
};
use crate::{failure, first_start};

/// Maximum time to wait at shutdown for threads that are blocked in calls of the system or of others.
const BLOCKED_END: Duration = Duration::from_secs(2);

/// Runs until SIGTERM or SIGINT.
pub(crate) fn run(values: &Values) -> anyhow::Result<()> {
    crate::logging::log(values.get("log"))?;
    let data = values.path("data").context("parameter data: a folder is needed")?;
    folder::prepare(&data)?;
    let _lock = lock(&data)?;
    stdx::thread::on_failure(failure::end);
    huge_pages(false);
    if let Err(error) = stdx::sys::raise_open_files_limit() {
        tracing::warn!(%error, "cannot raise the limit of open files");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let mut running = Running::default();
        let (stop_writers, mark) = start(values, &data, &mut running).await?;
        stdx::thread::set_running(true);
        stop_signal().await;
        stdx::thread::set_running(false);
        tracing::info!("stopping: waiting for values that are being processed");
        stop_writers.ask();
        if running.end().await == Kept::All {
            mark.clear();
        } else {
            tracing::warn!(
                "not everything was written: the next start checks history and evaluates triggers \
                 with new values again"
            );
        }
        tracing::info!("stopped");
        Ok(())
    });
    runtime.shutdown_timeout(BLOCKED_END);
    ended
}

/// Loading the configuration touches memory all over: in huge pages most of it would be air, and
/// clearing them takes longer than reading the database. Values make good use of them later.
fn huge_pages(allowed: bool) {
    if let Err(error) = stdx::sys::huge_pages(allowed) {
        tracing::debug!(%error, "huge pages stay as the system has them");
    }
}

/// Starts all parts. The mark is to be cleared when all of them have kept everything.
async fn start(
    values: &Values,
    data: &Path,
    running: &mut Running,
) -> anyhow::Result<(Stop, RunningMark)> {
    // First, so that a taken address changes nothing.
    let web = web::Bound::take(values)?;
    let engines = engines::bind(values)?;
    let (base, mark) = Base::open(values, data)?;
    let base = running.add("configuration", base);
    let mut history = running.add("history", stored::start(&base)?);
    let memory = Memory::open(data);
    let unsupported = memory.known().unsupported;
    let export = running.add("export", export::start(&base)?);
    let exported = Arc::clone(&export.figures);
    let evaluation = evaluation::start(&base, &mut history, export, unsupported)?;
    let evaluation = running.add("evaluation", evaluation);
    let discovered = running.add("discovery", discovered::start(&base)?);
    running.add("services", services::start(&base)?);
    let media = alerting::queues(&base)?;
    let counters = Arc::<Counters>::default();
    let watched = Watched::new(&base, media.clone(), exported);
    let meter = measure(&base, &history, &evaluation, &watched, Arc::clone(&counters));
    let figures =
        Arc::new(ServerFigures { config: Arc::clone(&base.config), meter: Arc::clone(&meter) });
    let board = engines.as_ref().map(|_| Board::new(Arc::clone(&base.clock)));
    let internals = Figures { server: Arc::clone(&figures), board: board.clone() };
    let listeners = listeners::bind(values).await?;
    let collection = running.add(
        "collection",
        collection::start(&base, &evaluation, memory, Arc::new(internals), discovered.clone())?,
    );
    // Behind collection, whose clients run commands: it ends before them, and its start continues what is left.
    let alerting = alerting::start(&base, &history, &evaluation, media, &collection.pollers)?;
    let alerting = running.add("alerting", alerting);
    running.add("meter", Part::task("meter", Arc::clone(&meter).run(collection.pollers.clone())));
    let others = api::Others { meter, counters, board: board.clone(), alerting };
    let api = api::start(&base, &history, &evaluation, &collection, others);
    let service = running.add("API", api);
    let requests = Requests {
        api: Arc::clone(&service.api),
        figures,
        pollers: collection.pollers.clone(),
        discovered,
    };
    let addresses =
        running.add("listeners", listeners::start(listeners, &collection.intake, requests)?);
    engines::start(engines, board, &base, &service.api, values, running)?;
    let notes = api::tell_browsers(evaluation.notes.clone(), base.hub.clone());
    running.add("notes to browsers", Part::task("notes to browsers", notes));
    let agent = first_start::agent(values, &base.clock).await?;
    let agent_address = agent.as_ref().map(|(address, _)| *address);
    if let Some((_, task)) = agent {
        running.add("built-in agent", Part::task("built-in agent", task));
    }
    let (api, first) = (Arc::clone(&service.api), base.first.is_some());
    let prepare = move || first_start::hosts(&api, first, agent_address);
    tokio::task::spawn_blocking(prepare).await??;
    stdx::sys::give_memory_back();
    huge_pages(true);

    upkeep::start(&base, &evaluation, watched.housekeeping, running);
    running.add("heartbeat", Part::task("heartbeat", watched.heartbeat.run()));
    let (address, secured) = web.address()?;
    web.start(&base, &service, running)?;
    first_start::greet(&address, secured, &addresses, base.first)?;
    Ok((base.stop_writers, mark))
}

/// Parts that self-monitoring reads and that no other part has.
struct Watched {
    media: Queues,
    heartbeat: Arc<Heartbeat>,
    housekeeping: Arc<WorkTime>,
    exports: Arc<ExportFigures>,
}

impl Watched {
    fn new(base: &Base<'_>, media: Queues, exports: Arc<ExportFigures>) -> Self {
        let (config, clock) = (Arc::clone(&base.config), Arc::clone(&base.clock));
        let heartbeat = Heartbeat::new(config, clock, base.bells.escalator.clone());
        Self { media, heartbeat: Arc::new(heartbeat), housekeeping: Arc::default(), exports }
    }
}

/// What self-monitoring reads.
fn measure(
    base: &Base<'_>,
    history: &stored::Opened,
    evaluation: &Evaluation,
    watched: &Watched,
    service: Arc<Counters>,
) -> Arc<Meter> {
    Meter::new(internals::Parts {
        clock: Arc::clone(&base.clock),
        shards: Arc::clone(&evaluation.shards),
        lld: evaluation.lld.clone(),
        config: Arc::clone(&base.config),
        data: base.data.clone(),
        damages: history.damages.clone(),
        stores: history.stores.clone(),
        service,
        media: watched.media.clone(),
        heartbeat: Arc::clone(&watched.heartbeat),
        housekeeping: Arc::clone(&watched.housekeeping),
        exports: Arc::clone(&watched.exports),
    })
}
