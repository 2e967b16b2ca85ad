//! The status of services.

use std::collections::BTreeMap;
use std::sync::Arc;

use ::services::keeper::{Hooks, Keeper};
use api::LiveNote;
use config::Config;
use config::db::{DbResult, Reader};
use events::{SuppressionEnd, suppressed};

use super::base::Base;
use super::{Kept, Part, blocking};

/// Starts the thread that keeps it.
pub(crate) fn start(base: &Base<'_>) -> anyhow::Result<Part<()>> {
    let (config, bell) = (&base.config, base.bells.services.clone());
    let (hub, escalator, suppressing) =
        (base.hub.clone(), base.bells.escalator.clone(), Arc::clone(config));
    let hooks = Hooks {
        suppressions: Box::new(move |connection, events, fresh, now| {
            ends(&suppressing, connection, events, fresh, now)
        }),
        written: Box::new(move || {
            escalator.ring();
            hub.tell(LiveNote::Problems);
        }),
    };
    let keeper = Keeper::new(Arc::clone(config), Arc::clone(&base.clock), bell.clone(), hooks);
    let follower = bell.clone();
    config.subscribe(Box::new(move |_, touched| {
        if touched.configuration {
            follower.configured();
        }
    }));
    let stop = base.stop_writers.clone();
    let thread = stdx::thread::permanent("services", move || keeper.run(&stop))?;
    let end = move || {
        bell.end();
        // What it did not write the next start finds by itself.
        drop(thread.join());
        Kept::All
    };
    Ok(Part::new((), blocking(end)))
}

fn ends(
    config: &Config,
    connection: &mut dyn Reader,
    events: &[u64],
    fresh: Option<u64>,
    now: i64,
) -> DbResult<BTreeMap<u64, i64>> {
    let tz = config.snapshot().settings.time_zone();
    let until = |end: SuppressionEnd| match end {
        SuppressionEnd::At(at) => at,
        SuppressionEnd::User => i64::MAX,
    };
    let found = suppressed(connection, events, fresh, now, &tz)?;
    Ok(found.into_iter().map(|(event, end)| (event, until(end))).collect())
}
