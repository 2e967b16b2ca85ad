//! Messages of actions: the escalator, and the media that send them.

use std::sync::Arc;
use std::time::Duration;

use actions::Escalator;
use actions::text::{EventTexts, ItemErrors};
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
    let shards = Arc::clone(&evaluation.shards) as Arc<dyn ::history::Reader>;
    let texts =
        EventTexts::new(Arc::clone(config), history.reader(shards, clock), Arc::clone(clock))
            .with_errors(errors(evaluation));
    let escalator = Escalator::new(
        Arc::clone(config),
        Arc::clone(clock),
        bell.clone(),
        Arc::new(media),
        Box::new(texts),
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

/// Of items, and of what discovery made of the values of rules.
fn errors(evaluation: &Evaluation) -> ItemErrors {
    let (shards, outcomes) = (Arc::clone(&evaluation.shards), Arc::clone(&evaluation.lld.outcomes));
    Box::new(move |item| {
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
