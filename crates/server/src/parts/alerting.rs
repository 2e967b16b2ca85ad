//! Messages and commands of actions: the escalator, the media that send, and who runs commands.

use std::sync::Arc;
use std::time::Duration;

use actions::text::EventTexts;
use actions::{Escalator, Explainer};
use anyhow::Context as _;
use collect::resolver::Resolver;
use media::{ATTEMPT_MAX, Configured, Queues, Setup};
use poll::{Commander, CommanderSetup};

use super::base::Base;
use super::evaluation::Evaluation;
use super::scripts::Scripts;
use super::{Kept, Part, blocking, history};

/// How long attempts may go on when the server stops.
const ATTEMPTS_END: Duration = Duration::from_secs(5);

/// How long commands may go on when the server stops.
const COMMANDS_END: Duration = Duration::from_secs(5);

/// What others use of it.
#[derive(Clone)]
pub(crate) struct Alerting {
    pub(crate) scripts: Scripts,
    /// Tells users why they got messages, or none.
    pub(crate) explainer: Arc<Explainer>,
}

/// Starts all of them.
pub(crate) fn start(
    base: &Base<'_>,
    history: &history::Opened,
    evaluation: &Evaluation,
    pollers: &poll::Status,
) -> anyhow::Result<Part<Alerting>> {
    let (config, clock, bell) = (&base.config, &base.clock, base.bells.escalator.clone());
    let queues = Queues::new(setup(base)?, Arc::new(bell.clone()));
    let media = Configured::new(Arc::clone(config), queues.clone());
    let shards = Arc::clone(&evaluation.shards) as Arc<dyn ::history::Reader>;
    let reader = history.reader(shards, clock);
    let texts = || EventTexts::new(Arc::clone(config), Arc::clone(&reader), Arc::clone(clock));
    let explainer = Explainer::new(Arc::clone(config), Arc::clone(clock), Box::new(texts()));
    let setup = CommanderSetup {
        on_server: base.values.yes("global-scripts")?,
        runtime: tokio::runtime::Handle::current(),
    };
    let commander = Commander::new(pollers, setup, Arc::new(bell.clone()));
    let escalator = Escalator::new(
        Arc::clone(config),
        Arc::clone(clock),
        bell.clone(),
        Arc::new(media),
        Arc::new(commander.clone()),
        Box::new(texts()),
    )
    .context("cannot continue the escalations of the last run")?;
    let stop = base.stop_writers.clone();
    let thread = stdx::thread::permanent("escalator", move || escalator.run(&stop))?;
    let scripts = Scripts {
        config: Arc::clone(config),
        texts: Arc::new(texts()),
        commander: commander.clone(),
    };
    let end = move || {
        commander.stop(COMMANDS_END);
        queues.stop(ATTEMPTS_END);
        // It ends when it has written the last reports.
        bell.end();
        Kept::all_if(thread.join().is_ok())
    };
    Ok(Part::new(Alerting { scripts, explainer: Arc::new(explainer) }, blocking(end)))
}

fn setup(base: &Base<'_>) -> anyhow::Result<Setup> {
    let values = base.values;
    let programs = values.path("alert-scripts").unwrap_or_else(|| base.data.join("alertscripts"));
    let instance = base.config.identity()?.context("BUG: a configuration without an id")?;
    Ok(Setup {
        clock: Arc::clone(&base.clock),
        resolver: Resolver::new(Arc::clone(&base.clock)),
        programs: Some(programs),
        authorities: values.path("ssl-ca-location"),
        instance,
        attempt_max: ATTEMPT_MAX,
    })
}
