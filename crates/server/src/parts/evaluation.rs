//! Shards, and those who write what shards find: problems, and what low-level discovery creates.

use std::collections::HashSet;
use std::sync::Arc;

use ::api::LiveNote;
use ::events::{Hooks, Problems, Unsent};
use anyhow::Context;
use config::lld::worker as lld;
use model::{ItemId, TriggerFinding, TriggerState, UnixSeconds};
use pipeline::{ShardSet, ShardsConfig};
use stdx::queue::bounded;
use tokio::sync::broadcast;

use super::base::Base;
use super::{Kept, Part, blocking, gone, history};

/// Findings of triggers that wait to be written; beyond, shards wait too.
const FINDINGS_MAX: usize = 10_000;
/// Notes on new values that wait for the slowest browser.
const NOTES_MAX: usize = 64;

/// What others use of it.
#[derive(Clone)]
pub(crate) struct Evaluation {
    pub(crate) shards: Arc<ShardSet>,
    pub(crate) problems: Problems,
    /// Items with new values.
    pub(crate) notes: broadcast::Sender<pipeline::LiveNote>,
    /// Low-level discovery.
    pub(crate) lld: lld::Status,
}

/// Starts them on the drivers of the history. `unsupported`: items that were not supported at the end of
/// the last run, with the reasons.
pub(crate) fn start(
    base: &Base<'_>,
    history: &mut history::Opened,
    export: pipeline::ExportTap,
    mut unsupported: Vec<(ItemId, Box<str>)>,
) -> anyhow::Result<Part<Evaluation>> {
    let (config, clock) = (&base.config, &base.clock);
    let unsent = Unsent::new(base.data.join("unsent-events"));
    ::events::replay(config, clock, &unsent)
        .context("cannot write the events that an earlier run left")?;
    let (findings, findings_in) = bounded::<TriggerFinding>("findings", FINDINGS_MAX);
    // Written with the events, and so never older than what the last run noted.
    let known: HashSet<ItemId> = unsupported.iter().map(|(item, _)| *item).collect();
    let more = ::events::not_supported(config, false)?.into_iter();
    unsupported.extend(more.filter(|(item, _)| !known.contains(item)));
    let of_rules = findings.clone();
    let (lld_values, lld_values_in) = lld::queue();
    let (notes, _) = broadcast::channel(NOTES_MAX);
    let triggers = ::events::initial_triggers(config)?;
    // An orderly stop wrote all that was found.
    let now = UnixSeconds::saturating(clock.unix_s());
    let unwritten = if base.crashed { ::events::unwritten(config, now)? } else { None };
    let deps = pipeline::Deps {
        clock: Arc::clone(clock),
        snapshot: config.snapshot(),
        drivers: std::mem::take(&mut history.drivers),
        past: history.past(config, clock)?,
        findings,
        lld: lld_values,
        live: Some(notes.clone()),
        export: Some(export),
        triggers,
        unwritten,
        unsupported,
    };
    let sizes = ShardsConfig { after_crash: base.crashed, ..ShardsConfig::default() };
    let shards = Arc::new(ShardSet::spawn(sizes, deps).context("cannot start the shards")?);
    // What shards find meanwhile waits in the queues.
    let problems = Problems::open(Arc::clone(config), Arc::clone(clock), hooks(base, &shards))?;
    let stop = base.stop_writers.clone();
    let changed = move |item, at, error: &str| {
        let error = error.to_owned();
        let state = TriggerFinding::ItemState { item, is_rule: true, at, error };
        // The writer of events ends after the worker.
        let _ = of_rules.blocking_send(state);
    };
    let worker = lld::Worker::new(Arc::clone(config), Arc::clone(clock), stop.clone())
        .telling(::events::not_supported(config, true)?, Box::new(changed));
    let lld = worker.status(&lld_values_in);
    // What the start has deleted is cleared from shards, which this thread must not wait for.
    let (telling, gone) = (Arc::clone(config), gone::hook(&shards, &problems, &lld.outcomes));
    let told = stdx::thread::critical("deletions", move || telling.tell_deleted(gone))?;
    let writing = problems.clone();
    let writer =
        stdx::thread::permanent("problems", move || writing.run(findings_in, &stop, &unsent))?;
    let discoverer = stdx::thread::permanent("lld", move || worker.run(lld_values_in))?;
    let (ending, config) = (Arc::clone(&shards), Arc::clone(config));
    let end = move || {
        drop(told.join());
        let history_written = ending.stop();
        // The queues end with the shards, and with the worker.
        drop(discoverer.join());
        let findings_kept = writer.join().unwrap_or(false);
        // The hook holds the shards and the configuration.
        config.tell_deleted(Arc::new(|_| {}));
        Kept::all_if(history_written && findings_kept)
    };
    Ok(Part::new(Evaluation { shards, problems, notes, lld }, blocking(end)))
}

fn hooks(base: &Base<'_>, shards: &Arc<ShardSet>) -> Hooks {
    let (hub, shards, bells) = (base.hub.clone(), Arc::clone(shards), base.bells.clone());
    let services = bells.services.clone();
    Hooks {
        problem: Box::new(move |change| {
            // One that was deleted has no event that tells of it.
            if change.state == TriggerState::Ok {
                services.problems_changed(&[change.event.0]);
            }
            hub.tell(LiveNote::Problems);
        }),
        trigger: Box::new(move |trigger, state| shards.set_trigger(trigger, state)),
        written: Box::new(move || bells.ring()),
    }
}
