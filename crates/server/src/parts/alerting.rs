//! Alerting: the escalator decides who gets which message, the media send it.

use std::sync::Arc;
use std::time::Duration;

use actions::Escalator;
use actions::text::EventTexts;
use anyhow::Context;
use collect::resolver::Resolver;
use config::Config;
use media::{ATTEMPT_MAX, Queues, Setup};
use pipeline::ShardSet;
use tokio::sync::Notify;

use super::base::Base;
use super::{Kept, Part, Running, blocking, history};

/// Time for attempts in flight when the server stops.
const GRACE: Duration = Duration::from_secs(5);

/// Starts both. Events, alerts and positions are in the database: what is not done when the server stops, the next start
/// does.
pub(crate) fn start(
    base: &Base<'_>,
    history: &history::Opened,
    shards: &Arc<ShardSet>,
    running: &mut Running,
) -> anyhow::Result<()> {
    let (config, clock, bell) = (&base.config, &base.clock, &base.bell);
    let programs = base.values.path("alert-scripts");
    let setup = Setup {
        clock: Arc::clone(clock),
        resolver: Resolver::new(Arc::clone(clock)),
        programs: Some(programs.unwrap_or_else(|| base.data.join("alertscripts"))),
        authorities: base.values.path("ssl-ca-location"),
        instance: config.identity()?.unwrap_or_default(),
        attempt_max: ATTEMPT_MAX,
    };
    let queues = Queues::new(setup, Arc::new(bell.clone()));
    configure(&queues, config).context("cannot read the media types")?;
    let shards = Arc::clone(shards) as Arc<dyn ::history::Reader>;
    let texts = EventTexts::new(Arc::clone(config), history.reader(shards, clock), clock.clone());
    let escalator = Escalator::new(
        Arc::clone(config),
        Arc::clone(clock),
        bell.clone(),
        Arc::new(queues.clone()),
        Box::new(texts),
    )?;
    let stop = base.stop_writers.clone();
    let thread = stdx::thread::permanent("escalator", move || escalator.run(&stop))?;
    let (ending, bell) = (queues.clone(), bell.clone());
    let end = move || {
        ending.stop(GRACE);
        bell.end();
        Kept::all_if(thread.join().is_ok())
    };
    running.add("alerting", Part::new((), blocking(end)));
    let follow = follow(Arc::clone(config), queues);
    running.add("media types", Part::task("media types", follow));
    Ok(())
}

/// Gives the media the media types as they are.
fn configure(queues: &Queues, config: &Config) -> anyhow::Result<()> {
    queues.configure(config.read(|connection| media::media_types(connection))?);
    Ok(())
}

/// Changed media types take effect at once.
async fn follow(config: Arc<Config>, queues: Queues) {
    let changed = Arc::new(Notify::new());
    let notify = Arc::clone(&changed);
    config.subscribe(Box::new(move |_, touched| {
        if touched.configuration {
            notify.notify_one();
        }
    }));
    // Those that changed meanwhile.
    changed.notify_one();
    loop {
        changed.notified().await;
        let (config, queues) = (Arc::clone(&config), queues.clone());
        let work = move || {
            if let Err(error) = configure(&queues, &config) {
                tracing::warn!(%error, "changed media types take effect with the next change");
            }
        };
        drop(tokio::task::spawn_blocking(work).await);
    }
}
