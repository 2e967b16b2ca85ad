//! `vedette server`: makes all parts, connects them, and ends them in order. No logic of its own.

use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use alert::{Hooks, MaintenanceWatch, Problems, Sightings, Stop, Unsent};
use anyhow::Context;
use api::{Api, Deps, HttpConfig, LiveHub, LiveNote};
use collect::Context as Collection;
use config::Config;
use config::db::Location;
use config::objects::Deleted;
use history::service::{Counters, Gate, Limits};
use listen::Listener;
use model::{DiscoveryValue, Sighting, TriggerFinding};
use pipeline::{ShardSet, ShardsConfig};
use poll::Pollers;
use stdx::clock::{RealClock, SharedClock};
use stdx::queue::{Receiver, Sender, bounded};
use tokio::sync::broadcast;

use crate::backend::{ItemScripts, Requests};
use crate::background::{catch_up, housekeeping, maintenance};
use crate::capacity::Capacity;
use crate::collection::{listen_config, poll_config, tls_config};
use crate::folder::{self, RunningMark, lock};
use crate::internals::ServerFigures;
use crate::listen::{bind, web_config};
use crate::live::Running;
use crate::meter::{Meter, Parts};
use crate::params::Values;
use crate::{discovery, failure, first_start, pairing, remember, store};

/// Findings of triggers that wait to be written; beyond, shards wait too.
const FINDINGS_MAX: usize = 10_000;
/// Addresses that were looked at and agents that announced themselves, waiting to be written.
const SIGHTINGS_MAX: usize = 1_000;
/// Default timeout of checks.
const CHECK_TIMEOUT: Duration = Duration::from_secs(3);
/// Notes on new values that wait for the slowest browser.
const NOTES_MAX: usize = 64;
/// Maximum time to wait at shutdown for a feeder that is blocked in a store call.
const FEEDS_END: Duration = Duration::from_secs(2);
/// Maximum time to wait at shutdown for threads that are blocked in calls of the system or of others.
const BLOCKED_END: Duration = Duration::from_secs(2);

/// Runs until SIGTERM or SIGINT.
pub(crate) fn server(values: &Values) -> anyhow::Result<()> {
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
    let ended = runtime.block_on(async { Server::start(values, &data).await?.run().await });
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

/// Resolves when the process is asked to stop.
pub(crate) async fn stop_signal() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut terminate) => tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        },
        Err(_) => drop(tokio::signal::ctrl_c().await),
    }
}

struct Server {
    api: Arc<Api>,
    gate: Gate,
    http: tokio::net::TcpListener,
    grpc: Option<tokio::net::TcpListener>,
    web: HttpConfig,
    config: Arc<Config>,
    listener: listen::Handle,
    pollers: poll::Handle,
    shards: Arc<ShardSet>,
    feeds: Vec<history::spool::Feeding>,
    problems: Problems,
    mark: RunningMark,
    /// Writes findings; returns whether none was lost.
    writer: std::thread::JoinHandle<bool>,
    threads: Vec<std::thread::JoinHandle<()>>,
    sightings: Sender<Sighting>,
    /// Ends the tries of writers while the configuration database is down.
    stop_writers: Stop,
    tasks: tokio::task::JoinSet<()>,
    /// Ends the task that keeps what collection knows, once collection stands still.
    remembering: (tokio::sync::oneshot::Sender<()>, tokio::task::JoinHandle<()>),
    clock: SharedClock,
}

impl Server {
    async fn start(values: &Values, data: &Path) -> anyhow::Result<Self> {
        let clock = RealClock::shared();
        let web = web_config(values)?;
        let http = bind(values, "http", web.tls.is_some()).await?;
        let grpc = match values.get("history-service") {
            "" => None,
            _ => Some(bind(values, "history-service", web.tls.is_some()).await?),
        };
        let (mark, last_run) = RunningMark::set(data)?;
        let location = config_location(values, data);
        let paired = data.join("history");
        pairing::check_log(&location, &paired, last_run.opened)?;
        let renew = values.yes("new-configuration")?;
        pairing::check_state(&location, renew, clock.unix_s())?;
        let config = Arc::new(Config::open(location.clone())?);
        mark.opened()?;
        if values.get("history") == "embedded" {
            pairing::check(&config, &paired, renew, clock.unix_s())?;
        }
        pairing::pair_state(&config, &location)?;
        let first = first_start::seed(&config, values.get("admin-password"))?;

        let (findings, findings_in) = bounded::<TriggerFinding>("findings", FINDINGS_MAX);
        let (discoveries, discoveries_in) = discovery::queue();
        let waiting = discoveries_in.gauge();
        let (sightings, sightings_in) = bounded::<Sighting>("sightings", SIGHTINGS_MAX);
        let (notes, _) = broadcast::channel(NOTES_MAX);
        let hub = LiveHub::default();
        // The hooks need the shards, which need the problems: set right below.
        let late_shards: Arc<OnceLock<Arc<ShardSet>>> = Arc::default();
        let problems = Problems::open(
            Arc::clone(&config),
            Arc::clone(&clock),
            hooks(hub.clone(), Arc::clone(&late_shards)),
        )?;
        let unsent = Unsent::new(data.join("unsent-events"));
        problems.replay(&unsent).context("cannot write the events that an earlier run left")?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut history = store::Wanted::read(values, &config, &clock)?.open(
            &data.join("history"),
            cores,
            &config,
            &clock,
        )?;
        let drivers = std::mem::take(&mut history.drivers);
        let triggers = alert::initial_triggers(&config)?;
        // An orderly stop wrote all that was found.
        let unwritten = if last_run.crashed { alert::unwritten(&config)? } else { None };
        let memory = remember::Memory::open(data);
        let known = memory.known();
        let deps = pipeline::Deps {
            clock: Arc::clone(&clock),
            snapshot: config.snapshot(),
            drivers,
            past: history.past(&config, &clock)?,
            findings,
            discovery: discoveries,
            live: Some(notes.clone()),
            triggers: triggers.into_iter().map(initial).collect(),
            unwritten,
            unsupported: known.unsupported,
        };
        let sizes = ShardsConfig { after_crash: last_run.crashed, ..ShardsConfig::default() };
        let shards = Arc::new(ShardSet::spawn(sizes, deps).context("cannot start the shards")?);
        drop(late_shards.set(Arc::clone(&shards)));

        let stop_writers = Stop::new(Arc::clone(&clock));
        let busy = Arc::new(discovery::Busy::default());
        let outcomes: Arc<discovery::Outcomes> = Arc::default();
        let discoverer = discovery::Worker {
            config: Arc::clone(&config),
            clock: Arc::clone(&clock),
            shards: Arc::clone(&shards),
            problems: problems.clone(),
            outcomes: Arc::clone(&outcomes),
            busy: Arc::clone(&busy),
            stop: stop_writers.clone(),
        };
        let writer = alert_thread(problems.clone(), findings_in, stop_writers.clone(), unsent)?;
        let threads = vec![
            discovery_thread(discoverer, discoveries_in)?,
            sightings_thread(
                found(&config, &shards, &problems),
                sightings_in,
                stop_writers.clone(),
            )?,
        ];
        let counters = Arc::<Counters>::default();
        let meter = Meter::new(Parts {
            clock: Arc::clone(&clock),
            shards: Arc::clone(&shards),
            problems: problems.clone(),
            discovery: busy,
            discoveries: waiting,
            config: Arc::clone(&config),
            data: data.to_owned(),
            damages: history.damages.clone(),
            stores: history.feeds.iter().map(|feed| Arc::clone(feed.gauges())).collect(),
            service: Arc::clone(&counters),
        });
        let figures =
            Arc::new(ServerFigures { config: Arc::clone(&config), meter: Arc::clone(&meter) });
        let late_api: Arc<OnceLock<Arc<Api>>> = Arc::default();
        let snapshots = Arc::clone(&config);
        let bound = Listener::bind(listen_config(values)?).await?;
        let collection = Collection::new(collect::Parts {
            clock: Arc::clone(&clock),
            snapshots: Arc::new(move || snapshots.snapshot()),
            shards: shards.values(),
            tls: tls_config(values),
            timeout: CHECK_TIMEOUT,
            remembered: known.collection,
        })?;
        let pollers = Pollers::start(
            poll_config(values, data)?,
            Arc::clone(&collection),
            poll::Deps {
                internals: Arc::clone(&figures) as _,
                scripts: Arc::new(ItemScripts {
                    scripts: Arc::new(pipeline::ScriptRunner::new(Arc::clone(&clock))),
                    browsers: browsers(values, &clock),
                }),
                sightings: Some(sightings.clone()),
            },
        )?;
        let requests = Requests {
            api: Arc::clone(&late_api),
            figures,
            pollers: pollers.status(),
            sightings: sightings.clone(),
        };
        let listener = bound.start(Arc::clone(&collection), Arc::new(requests))?;
        let api = Arc::new(Api::new(Deps {
            config: Arc::clone(&config),
            history: history.reader(Arc::clone(&shards) as Arc<dyn history::Reader>, &clock),
            live: Arc::new(Running {
                shards: Arc::clone(&shards),
                pollers: pollers.status(),
                intake: listener.intake(),
                problems: problems.clone(),
                runtime: tokio::runtime::Handle::current(),
                discoveries: outcomes,
                config: Arc::clone(&config),
                clock: Arc::clone(&clock),
                capacity: Capacity { data: data.to_owned(), meter: Arc::clone(&meter) },
                damages: history.damages.clone(),
            }),
            hub: hub.clone(),
            clock: Arc::clone(&clock),
        }));
        drop(late_api.set(Arc::clone(&api)));
        let gate = Gate::new(Arc::clone(&api) as _, Limits::default(), counters);
        follow_changes(&config, &shards, &hub);

        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(Arc::clone(&meter).run(pollers.status()));
        tasks.spawn(tell_browsers(notes, hub));
        let (forget, ends) = tokio::sync::oneshot::channel();
        let sources = remember::Sources { collection, shards: Arc::clone(&shards) };
        let remembering = tokio::spawn(remember::keep(memory, sources, ends));
        let agent = first_start::agent(values, &clock).await?;
        let agent_address = agent.as_ref().map(|(address, _)| *address);
        if let Some((_, task)) = agent {
            tasks.spawn(task);
        }
        let prepared = {
            let (api, first) = (Arc::clone(&api), first.is_some());
            tokio::task::spawn_blocking(move || first_start::hosts(&api, first, agent_address))
        };
        prepared.await??;
        stdx::sys::give_memory_back();
        huge_pages(true);
        first_start::greet(&http.local_addr()?, web.tls.is_some(), listener.addresses(), first)?;
        Ok(Self {
            api,
            gate,
            http,
            grpc,
            web,
            config,
            listener,
            pollers,
            shards,
            feeds: history.feeds,
            problems,
            mark,
            writer,
            threads,
            sightings,
            stop_writers,
            tasks,
            remembering: (forget, remembering),
            clock,
        })
    }

    async fn run(mut self) -> anyhow::Result<()> {
        self.tasks.spawn(housekeeping(
            Arc::clone(&self.shards),
            self.problems.clone(),
            Arc::clone(&self.config),
            Arc::clone(&self.clock),
        ));
        let watch = MaintenanceWatch::new(Arc::clone(&self.config));
        self.tasks.spawn(maintenance(watch, Arc::clone(&self.clock)));
        self.tasks.spawn(catch_up(Arc::clone(&self.config)));
        if let Some(listener) = self.grpc {
            let tls = self.web.tls.as_ref();
            let (most, clock) = (grpc::CONNECTIONS_MAX, Arc::clone(&self.clock));
            let listening = api::Listening::new(listener, tls, grpc::ALPN, most, clock)?;
            let grpc = grpc::Server::new(self.gate.clone(), grpc::Config::default());
            self.tasks.spawn(listening.run(move |stream, peer, _seat| {
                let grpc = grpc.clone();
                async move { grpc.connection(stream, peer).await }
            }));
        }
        let (stop_http, http_stopped) = tokio::sync::oneshot::channel::<()>();
        let stopped = async move { drop(http_stopped.await) };
        let mut http = tokio::spawn(api::serve(
            Arc::clone(&self.api),
            self.gate,
            self.web,
            self.http,
            stopped,
        ));
        stdx::thread::set_running(true);
        tokio::select! {
            () = stop_signal() => {}
            error = failure::of_tasks(&mut http, &mut self.tasks) => {
                stdx::thread::failed("tasks", &error);
            }
        }
        stdx::thread::set_running(false);
        tracing::info!("stopping: waiting for values that are being processed");
        self.stop_writers.ask();
        tokio::join!(self.listener.stop(), self.pollers.stop());
        // Callers that query the state of collection hold the queue open.
        let _ = self.sightings.send(Sighting::End).await;
        let (stop_remembering, remembered) = self.remembering;
        let _ = stop_remembering.send(());
        drop(remembered.await);
        let _ = stop_http.send(());
        // Browsers hold their live streams open; they are cut.
        http.abort();
        self.tasks.shutdown().await;
        let (shards, api) = (Arc::clone(&self.shards), self.api);
        let end = move || {
            api.write_accesses();
            shards.stop()
        };
        let history_written = tokio::task::spawn_blocking(end).await?;
        let findings_kept = self.writer.join().unwrap_or(false);
        for thread in self.threads {
            drop(thread.join());
        }
        if let Err(error) = self.config.checkpoint() {
            tracing::warn!(%error, "cannot merge the write-ahead log of the configuration; the next start reads it");
        }
        drop(self.config);
        if history_written && findings_kept {
            self.mark.clear();
        } else {
            tracing::warn!(
                "not everything was written: the next start checks history and evaluates triggers \
                 with new values again"
            );
        }
        // What is not copied by now comes with the next start, whatever the mark says.
        history::spool::end(self.feeds, FEEDS_END);
        tracing::info!("stopped");
        Ok(())
    }
}

/// Where the parameters say that the configuration is.
pub(crate) fn config_location(values: &Values, data: &Path) -> Location {
    match values.get("database") {
        "" => Location::Sqlite(data.join("config.db")),
        text => Location::parse(text),
    }
}

/// Runs the scripts of browser items, if there is a WebDriver.
fn browsers(values: &Values, clock: &SharedClock) -> Option<Arc<pipeline::ScriptRunner>> {
    let address = Some(values.get("webdriver-url")).filter(|address| !address.is_empty())?;
    let runner = pipeline::ScriptRunner::with_webdriver(Arc::clone(clock), address.to_owned());
    Some(Arc::new(runner))
}

fn hooks(hub: LiveHub, shards: Arc<OnceLock<Arc<ShardSet>>>) -> Hooks {
    Hooks {
        problem: Box::new(move |_| hub.tell(LiveNote::Problems)),
        trigger: Box::new(move |trigger, state| {
            if let Some(shards) = shards.get() {
                shards.set_trigger(trigger, state);
            }
        }),
    }
}

fn initial(found: alert::InitialTrigger) -> pipeline::InitialTrigger {
    let alert::InitialTrigger { trigger, state, error } = found;
    pipeline::InitialTrigger { trigger, state, error }
}

/// Changes of the configuration go to the shards and to browsers; collection asks for itself.
fn follow_changes(config: &Config, shards: &Arc<ShardSet>, hub: &LiveHub) {
    let (shards, hub) = (Arc::clone(shards), hub.clone());
    config.subscribe(Box::new(move |snapshot, touched| {
        shards.configure(snapshot, Some(touched));
        hub.tell(LiveNote::Config);
    }));
}

async fn tell_browsers(notes: broadcast::Sender<pipeline::LiveNote>, hub: LiveHub) {
    let mut second = tokio::time::interval(Duration::from_millis(500));
    loop {
        // Shards make notes only while somebody listens: so listen only while a browser does.
        second.tick().await;
        if hub.listeners() == 0 {
            continue;
        }
        let mut listening = notes.subscribe();
        while hub.listeners() > 0 {
            match tokio::time::timeout(Duration::from_secs(1), listening.recv()).await {
                Ok(Ok(items)) => hub.tell(LiveNote::Values(items.to_vec())),
                Ok(Err(broadcast::error::RecvError::Closed)) => return,
                Ok(Err(broadcast::error::RecvError::Lagged(_))) | Err(_) => {}
            }
        }
    }
}

fn alert_thread(
    problems: Problems,
    findings: Receiver<TriggerFinding>,
    stop: Stop,
    unsent: Unsent,
) -> std::io::Result<std::thread::JoinHandle<bool>> {
    stdx::thread::permanent("problems", move || problems.run(findings, &stop, &unsent))
}

/// Who writes what network discovery found; what its actions delete takes history and problems
/// with it.
fn found(config: &Arc<Config>, shards: &Arc<ShardSet>, problems: &Problems) -> Sightings {
    let (shards, problems) = (Arc::clone(shards), problems.clone());
    let gone = move |deleted: &Deleted| discovery::forget(&shards, &problems, deleted);
    Sightings::new(Arc::clone(config), Box::new(gone))
}

fn sightings_thread(
    sightings: Sightings,
    queue: Receiver<Sighting>,
    stop: Stop,
) -> std::io::Result<std::thread::JoinHandle<()>> {
    stdx::thread::permanent("sightings", move || sightings.run(queue, &stop))
}

fn discovery_thread(
    worker: discovery::Worker,
    values: Receiver<DiscoveryValue>,
) -> std::io::Result<std::thread::JoinHandle<()>> {
    stdx::thread::permanent("discovery", move || worker.run(values))
}
