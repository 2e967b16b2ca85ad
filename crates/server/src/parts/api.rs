//! The API: what it asks of the other parts, and what browsers hear of them.

use std::sync::Arc;
use std::time::Duration;

use ::api::{Api, Deps, LiveHub, LiveNote};
use ::history::service::{Counters, Gate, Limits};
use config::Config;
use control::analytics::Board;
use internals::{Capacity, Meter};
use pipeline::ShardSet;
use tokio::sync::broadcast;

use super::alerting::Alerting;
use super::base::Base;
use super::collection::Collection;
use super::evaluation::Evaluation;
use super::live::Live;
use super::{Kept, Part, blocking, history};

/// What others use of it.
#[derive(Clone)]
pub(crate) struct Service {
    pub(crate) api: Arc<Api>,
    /// The history service.
    pub(crate) gate: Gate,
}

/// What else the API asks.
pub(crate) struct Others {
    pub(crate) meter: Arc<Meter>,
    /// Of the history service.
    pub(crate) counters: Arc<Counters>,
    /// What engines of the load balancer report.
    pub(crate) board: Option<Arc<Board>>,
    pub(crate) alerting: Alerting,
}

/// Makes the API of the parts that run. From now on shards and browsers hear of changes of the configuration.
pub(crate) fn start(
    base: &Base<'_>,
    history: &history::Opened,
    evaluation: &Evaluation,
    collection: &Collection,
    others: Others,
) -> Part<Service> {
    let Others { meter, counters, board, alerting } = others;
    let Alerting { scripts, explainer } = alerting;
    // Before the API: browsers ask for what shards know.
    configure_shards(&base.config, &evaluation.shards);
    let shards = Arc::clone(&evaluation.shards);
    let api = Arc::new(Api::new(Deps {
        config: Arc::clone(&base.config),
        history: history.reader(shards as Arc<dyn ::history::Reader>, &base.clock),
        live: Arc::new(Live {
            shards: Arc::clone(&evaluation.shards),
            pollers: collection.pollers.clone(),
            intake: collection.intake.clone(),
            problems: evaluation.problems.clone(),
            runtime: tokio::runtime::Handle::current(),
            discoveries: Arc::clone(&evaluation.lld.outcomes),
            config: Arc::clone(&base.config),
            clock: Arc::clone(&base.clock),
            bells: base.bells.clone(),
            explainer,
            capacity: Capacity { data: base.data.clone(), meter },
            board,
            damages: history.damages.clone(),
            scripts,
        }),
        transactions: Arc::clone(&base.transactions),
        engine_authority: base.engine_authority.clone(),
        hub: base.hub.clone(),
        clock: Arc::clone(&base.clock),
    }));
    let gate = Gate::new(Arc::clone(&api) as _, Limits::default(), counters);
    let ending = Arc::clone(&api);
    let end = move || {
        ending.write_accesses();
        Kept::All
    };
    Part::new(Service { api, gate }, blocking(end))
}

/// Changes of what is monitored go to the shards; collection asks for itself.
fn configure_shards(config: &Config, shards: &Arc<ShardSet>) {
    let shards = Arc::clone(shards);
    config.subscribe(Box::new(move |snapshot, touched| {
        if touched.is_monitored() {
            shards.configure(snapshot, Some(touched));
        }
    }));
}

/// Tells browsers of new values.
pub(crate) async fn tell_browsers(notes: broadcast::Sender<pipeline::LiveNote>, hub: LiveHub) {
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
