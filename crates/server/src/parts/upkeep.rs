//! What the server does now and then, as tasks that work on blocking threads.

use std::sync::Arc;
use std::time::Duration;

use config::Config;
use config::db::DbResult;
use events::{MaintenanceWatch, Problems};
use pipeline::ShardSet;
use stdx::clock::SharedClock;
use stdx::worktime::WorkTime;

use super::base::Base;
use super::evaluation::Evaluation;
use super::{Part, Running};

/// How often old history is dropped.
const HOUSEKEEPING: Duration = Duration::from_secs(3600);
/// How long events of resolved problems are kept.
const EVENTS_KEPT: Duration = Duration::from_secs(365 * 86_400);

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
        let before = now.saturating_sub(EVENTS_KEPT.as_secs());
        let work = move || {
            if let Err(error) = shards.housekeep() {
                tracing::warn!(%error, "cannot drop expired history");
            }
            // Those whose trigger was deleted just before a crash.
            if let Err(error) = problems.remove_orphans() {
                tracing::warn!(%error, "cannot close problems of deleted triggers");
            }
            if let Err(error) = problems.housekeep(before) {
                tracing::warn!(%error, "cannot delete expired events");
            }
            if let Err(error) = expire_services(&config, now) {
                tracing::warn!(%error, "cannot delete the expired history of services");
            }
            let days = u64::from(config.snapshot().settings.audit.days);
            if days > 0
                && let Err(error) =
                    config::audit::delete_before(&config, now.saturating_sub(days * 86_400))
            {
                tracing::warn!(%error, "old entries of the audit log could not be deleted");
            }
        };
        let (time, clock) = (Arc::clone(&time), Arc::clone(&clock));
        drop(tokio::task::spawn_blocking(move || time.count(&*clock, work)).await);
    }
}

/// Deletes the history of services that is older than the setting says.
fn expire_services(config: &Config, now: u64) -> DbResult<()> {
    let setting = |name: &str| -> DbResult<Option<String>> {
        let sql = "SELECT value FROM settings WHERE name = ?";
        let rows = config.read(|connection| connection.query(sql, &[name.into()]))?;
        Ok(rows.first().map(|row| row.text("value").to_owned()))
    };
    if setting("hk_services_mode")?.is_some_and(|mode| mode == "0") {
        return Ok(());
    }
    let kept = setting("hk_services")?.and_then(|text| eval::num::parse_seconds(&text));
    let kept = kept.map_or(EVENTS_KEPT.as_secs(), u64::from);
    services::keeper::expire(config, now.saturating_sub(kept))
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
