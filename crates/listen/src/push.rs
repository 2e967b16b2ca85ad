//! Values that come through the API: matched and stored as those of senders.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use collect::Context;
use collect::counters::Counters;
use collect::tls::Identity;
use config::Snapshot;
use config::snapshot::{Host, Item};
use model::{HostId, ItemId, Payload, Push, PushValue, Value};
use wire::Target;

use crate::trapper::matching::{Matcher, Peer, PushError, Source, Tables};

/// Where pushed values belong, one by one.
type Matched = Vec<Result<(HostId, ItemId), PushError>>;

/// A way in for values of the API; clones are cheap.
#[derive(Clone)]
pub struct Intake {
    pub(crate) context: Arc<Context>,
    /// The same as those of the trapper.
    pub(crate) tables: Arc<Tables>,
}

impl std::fmt::Debug for Intake {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Intake")
    }
}

impl Intake {
    /// Values go where those of listeners with this context go.
    pub fn new(context: Arc<Context>) -> Self {
        Self { context, tables: Arc::default() }
    }

    /// Takes values that come through the API; `may` says whether the user may write to an item.
    /// One result per value, in order.
    pub async fn push(
        &self,
        push: Push,
        may: &(dyn Fn(&Host, &Item) -> bool + Sync),
    ) -> Vec<Result<ItemId, PushError>> {
        let Push { values, client, refuse_duplicates, resend } = push;
        let snapshot = self.context.snapshots.load();
        let now = self.context.clock.monotonic();
        let (mut results, missing) = self.match_pushed(&snapshot, &values, client, may, now);
        if !missing.is_empty() {
            self.tables.names.resolve(missing, &self.context.resolver, now).await;
            (results, _) = self.match_pushed(&snapshot, &values, client, may, now);
        }
        let mut split = self.context.sink.split();
        let mut seen = std::collections::HashSet::new();
        for (value, result) in values.into_iter().zip(&mut results) {
            let Ok((host, item)) = *result else { continue };
            if refuse_duplicates && !seen.insert((item, value.at)) {
                *result = Err(PushError::Duplicate);
                continue;
            }
            let text = value.value.into();
            let payload = match value.log {
                Some(log) => Payload::Log(Box::new((text, log))),
                None => Payload::Text(text),
            };
            split.push(host, Value { item, at: value.at, payload });
        }
        Counters::add(&self.context.counters.values_trapper, split.len() as u64);
        let outcome = if resend {
            self.context.sink.send_doubtful(split).await
        } else {
            self.context.sink.send(split).await
        };
        // A shard that knows a newer configuration may refuse some of them. It does not say which:
        // with the next try they are refused here.
        let lost = outcome.lost || outcome.failed > 0;
        let done = |result: Result<(HostId, ItemId), PushError>| match result {
            Ok(_) if lost => Err(PushError::NotStored),
            Ok((_, item)) => Ok(item),
            Err(error) => Err(error),
        };
        results.into_iter().map(done).collect()
    }

    fn match_pushed(
        &self,
        snapshot: &Snapshot,
        values: &[PushValue],
        ip: IpAddr,
        may: &(dyn Fn(&Host, &Item) -> bool + Sync),
        now: Duration,
    ) -> (Matched, Vec<String>) {
        let peer = Peer { ip, identity: Identity::unencrypted() };
        let mut matcher = Matcher::new(snapshot, &self.tables, &peer, Source::Push, now);
        let one = |value: &PushValue| {
            let target = Target::Item(value.item.0);
            let item = matcher.item_for(&target, may)?;
            Ok((item.host, item.id))
        };
        let results = values.iter().map(one).collect();
        (results, matcher.missing)
    }
}
