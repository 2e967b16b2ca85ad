//! Messages and commands of actions: the escalator, the media that send, and who runs commands.

use std::sync::Arc;
use std::time::Duration;

use actions::text::{EventTexts, ItemErrors};
use actions::{Escalator, Explainer};
use anyhow::Context as _;
use collect::resolver::Resolver;
use media::{ATTEMPT_MAX, Queues, Setup};
use poll::{Commander, CommanderSetup};

use super::base::Base;
use super::evaluation::Evaluation;
use super::scripts::Scripts;
use super::{Kept, Part, blocking, history};

/// How long attempts may go on when the server stops.
const ATTEMPTS_END: Duration = Duration::from_secs(5);
/// The same of those whose message the receiver may have: a service manager allows 30 s for the whole stop.
const UNSAFE_ATTEMPTS_END: Duration = Duration::from_secs(15);

/// How long commands may go on when the server stops.
const COMMANDS_END: Duration = Duration::from_secs(5);

/// What others use of it.
#[derive(Clone)]
pub(crate) struct Alerting {
    pub(crate) scripts: Scripts,
    /// Tells users why they got messages, or none.
    pub(crate) explainer: Arc<Explainer>,
    /// Sends what users test.
    pub(crate) media: Queues,
}

/// Where messages wait, before anything sends them.
pub(crate) fn queues(base: &Base<'_>) -> anyhow::Result<Queues> {
    let bell = Arc::new(base.bells.escalator.clone());
    Ok(Queues::following(Arc::clone(&base.config), setup(base)?, bell))
}

/// Starts all of them.
pub(crate) fn start(
    base: &Base<'_>,
    history: &history::Opened,
    evaluation: &Evaluation,
    queues: Queues,
    pollers: &poll::Status,
) -> anyhow::Result<Part<Alerting>> {
    let (config, clock, bell) = (&base.config, &base.clock, base.bells.escalator.clone());
    let shards = Arc::clone(&evaluation.shards) as Arc<dyn ::history::Reader>;
    let reader = history.reader(shards, clock);
    let texts = || {
        EventTexts::new(Arc::clone(config), Arc::clone(&reader), Arc::clone(clock))
            .with_errors(errors(evaluation))
    };
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
        Arc::new(queues.clone()),
        Arc::new(commander.clone()),
        Box::new(texts()),
    )
    .context("cannot continue the escalations of the last run")?;
    let services = base.bells.services.clone();
    let escalator =
        escalator.telling_tagged(Box::new(move |problems| services.problems_tagged(problems)));
    let stop = base.stop_writers.clone();
    let thread = stdx::thread::permanent("escalator", move || escalator.run(&stop))?;
    let scripts = Scripts {
        config: Arc::clone(config),
        texts: Arc::new(texts()),
        commander: commander.clone(),
    };
    let alerting = Alerting { scripts, explainer: Arc::new(explainer), media: queues.clone() };
    let end = move || {
        commander.stop(COMMANDS_END);
        queues.stop(ATTEMPTS_END, UNSAFE_ATTEMPTS_END);
        // It ends when it has written the last reports.
        bell.end();
        Kept::all_if(thread.join().is_ok())
    };
    Ok(Part::new(alerting, blocking(end)))
}

/// Of items, and of what discovery made of the values of rules.
fn errors(evaluation: &Evaluation) -> ItemErrors {
    let (shards, outcomes) = (Arc::clone(&evaluation.shards), Arc::clone(&evaluation.lld.outcomes));
    Arc::new(move |item| {
        // Without an answer the text has the error of the event.
        let reports = shards.items(&[item]).unwrap_or_default();
        let own = reports.into_iter().next().map(|report| report.error).filter(|e| !e.is_empty());
        let of_rule = || outcomes.error(item).filter(|(supported, _)| !supported);
        own.or_else(|| of_rule().map(|(_, error)| error)).unwrap_or_default()
    })
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
