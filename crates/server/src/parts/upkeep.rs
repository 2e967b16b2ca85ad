//! What the server does now and then, as tasks that work on blocking threads.

use std::sync::Arc;
use std::time::Duration;

use config::Config;
use events::{MaintenanceWatch, Problems};
use pipeline::ShardSet;
use stdx::clock::SharedClock;
use stdx::worktime::WorkTime;

use super::base::Base;
use super::evaluation::Evaluation;
use super::{Part, Running};

/// How often old history is dropped.
const HOUSEKEEPING: Duration = Duration::from_secs(3600);

/// Starts all of it.
pub(crate) fn start(
    base: &Base<'_>,
    evaluation: &Evaluation,
    housekeeping_time: Arc<WorkTime>,
    running: &mut Running,
) {
    let (config, clock) = (&base.config, &base.clock);
    let housekeeping = housekeeping(
        Arc::clone(&evaluation.shards),
        evaluation.problems.clone(),
        Arc::clone(config),
        Arc::clone(clock),
        housekeeping_time,
    );
    running.add("housekeeping", Part::task("housekeeping", housekeeping));
    let bells = base.bells.clone();
    let watch = MaintenanceWatch::new(Arc::clone(config))
        .telling(Box::new(move |problems| bells.suppression_changed(problems)));
    let maintenance = maintenance(watch, Arc::clone(clock));
    running.add("maintenance", Part::task("maintenance", maintenance));
    let old = super::transactions::delete_old(Arc::clone(&base.transactions), Arc::clone(clock));
    running.add("transactions", Part::task("transactions", old));
    running.add("catch up", Part::task("catch up", catch_up(Arc::clone(config))));
}

/// Drops old history and deletes old events and old entries of the audit log.
async fn housekeeping(
    shards: Arc<ShardSet>,
    problems: Problems,
    config: Arc<Config>,
    clock: SharedClock,
    time: Arc<WorkTime>,
) {
    let mut hour = tokio::time::interval(HOUSEKEEPING);
    loop {
        hour.tick().await;
        let (shards, problems) = (Arc::clone(&shards), problems.clone());
        let config = Arc::clone(&config);
        let now = clock.unix_s();
        let work = move || {
            if let Err(error) = shards.housekeep() {
                tracing::warn!(%error, "cannot drop expired history");
            }
            // Those whose trigger was deleted just before a crash.
            if let Err(error) = problems.remove_orphans() {
                tracing::warn!(%error, "cannot close problems of deleted triggers");
            }
            if let Err(error) = problems.housekeep() {
                tracing::warn!(%error, "cannot delete expired events");
            }
            let retention = config.snapshot().settings.retention;
            if let Some(kept) = retention.services_s
                && let Err(error) = services::keeper::expire(&config, now.saturating_sub(kept))
            {
                tracing::warn!(%error, "cannot delete the expired history of services");
            }
            if let Some(kept) = retention.audit_s
                && let Err(error) = config::audit::delete_before(&config, now.saturating_sub(kept))
            {
                tracing::warn!(%error, "cannot delete expired entries of the audit log");
            }
        };
        let (time, clock) = (Arc::clone(&time), Arc::clone(&clock));
        drop(tokio::task::spawn_blocking(move || time.count(&*clock, work)).await);
    }
}

/// Hosts enter and leave maintenance within a second.
async fn maintenance(mut watch: MaintenanceWatch, clock: SharedClock) {
    let mut second = tokio::time::interval(Duration::from_secs(1));
    second.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        second.tick().await;
        let now = i64::try_from(clock.unix_s()).unwrap_or(i64::MAX);
        let look = tokio::task::spawn_blocking(move || {
            if let Err(error) = watch.look(now) {
                tracing::warn!(%error, "cannot evaluate maintenance periods; retrying in 1 s");
            }
            watch
        });
        match look.await {
            Ok(back) => watch = back,
            Err(error) => {
                tracing::error!(%error, "maintenance periods are no longer evaluated");
                return;
            }
        }
    }
}

/// Makes changes live whose snapshot could not be read when they were made.
async fn catch_up(config: Arc<Config>) {
    let mut second = tokio::time::interval(Duration::from_secs(1));
    second.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    loop {
        second.tick().await;
        let config = Arc::clone(&config);
        let work = move || {
            if let Err(error) = config.catch_up() {
                tracing::error!(%error, "cannot activate stored changes; retrying in 1 s");
            }
        };
        drop(tokio::task::spawn_blocking(work).await);
    }
}
