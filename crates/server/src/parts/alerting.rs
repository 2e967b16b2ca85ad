//! Messages of actions: the escalator, and the media that send them.

use std::sync::Arc;
use std::time::Duration;

use actions::text::EventTexts;
use actions::{Escalator, Explainer};
use anyhow::Context as _;
use collect::resolver::Resolver;
use media::{ATTEMPT_MAX, Configured, Queues, Setup};

use super::base::Base;
use super::evaluation::Evaluation;
use super::{Kept, Part, blocking, history};

/// How long attempts may go on when the server stops.
const ATTEMPTS_END: Duration = Duration::from_secs(5);

/// Starts both; the handle sends what users test.
pub(crate) fn start(
    base: &Base<'_>,
    history: &history::Opened,
    evaluation: &Evaluation,
) -> anyhow::Result<Part<Queues>> {
    let (config, clock, bell) = (&base.config, &base.clock, base.bell.clone());
    let queues = Queues::new(setup(base)?, Arc::new(bell.clone()));
    let media = Configured::new(Arc::clone(config), queues.clone());
    let escalator = Escalator::new(
        Arc::clone(config),
        Arc::clone(clock),
        bell.clone(),
        Arc::new(media),
        Box::new(texts(base, history, evaluation)),
    )
    .context("cannot continue the escalations of the last run")?;
    let stop = base.stop_writers.clone();
    let thread = stdx::thread::permanent("escalator", move || escalator.run(&stop))?;
    let sending = queues.clone();
    let end = move || {
        sending.stop(ATTEMPTS_END);
        // It ends when it has written the last reports.
        bell.end();
        Kept::all_if(thread.join().is_ok())
    };
    Ok(Part::new(queues, blocking(end)))
}

/// What tells users why they got messages, or none.
pub(crate) fn explainer(
    base: &Base<'_>,
    history: &history::Opened,
    evaluation: &Evaluation,
) -> Explainer {
    let texts = Box::new(texts(base, history, evaluation));
    Explainer::new(Arc::clone(&base.config), Arc::clone(&base.clock), texts)
}

fn texts(base: &Base<'_>, history: &history::Opened, evaluation: &Evaluation) -> EventTexts {
    let shards = Arc::clone(&evaluation.shards) as Arc<dyn ::history::Reader>;
    let values = history.reader(shards, &base.clock);
    EventTexts::new(Arc::clone(&base.config), values, Arc::clone(&base.clock))
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
