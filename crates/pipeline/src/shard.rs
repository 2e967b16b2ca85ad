//! The thread of a shard: waits for values, requests and time, and hands them to the [`Core`].

use std::time::Duration;

use model::ValueBatch;
use stdx::queue::Receiver;

use crate::command::{Command, ItemReport, ItemReports, PeerMessage, TriggerReport};
use crate::core::Core;
use crate::gauges::Stage;
use crate::peers;
use crate::scripts::Done;
use model::Sample;

/// How often time-driven work is looked after.
const TICK: Duration = Duration::from_millis(100);
/// How soon a message that found a full queue is tried again.
const SEND_AGAIN: Duration = Duration::from_millis(1);

/// What a shard listens to.
pub(crate) struct Inbox {
    pub(crate) values: Receiver<ValueBatch>,
    pub(crate) commands: Receiver<Command>,
    pub(crate) peers: Receiver<PeerMessage>,
    pub(crate) scripts: Receiver<Done>,
    /// Values of one group commit, at most about.
    pub(crate) values_per_round_max: usize,
}

/// What woke the shard.
enum Woken {
    Values(Option<ValueBatch>),
    Command(Option<Command>),
    Peer(Option<PeerMessage>),
    Script(Option<Done>),
    Tick,
    SendAgain,
}

/// Runs until told to stop; returns whether it ended in order.
pub(crate) async fn run(mut core: Core, mut inbox: Inbox) -> bool {
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut batches = Vec::new();
    let mut values_open = true;
    let mut peers_open = true;
    loop {
        let takes = values_open && core.takes_values();
        let waiting = core.waiting() > 0;
        let woken = tokio::select! {
            batch = inbox.values.recv(), if takes => Woken::Values(batch),
            command = inbox.commands.recv() => Woken::Command(command),
            message = inbox.peers.recv(), if peers_open => Woken::Peer(message),
            done = inbox.scripts.recv() => Woken::Script(done),
            _ = tick.tick() => Woken::Tick,
            () = tokio::time::sleep(SEND_AGAIN), if waiting => Woken::SendAgain,
        };
        match woken {
            Woken::Values(Some(batch)) => {
                let goes_on = obey_waiting(&mut core, &mut inbox);
                round(&mut core, &mut inbox, &mut batches, batch);
                if !goes_on {
                    break;
                }
            }
            Woken::Values(None) => values_open = false,
            Woken::Peer(Some(message)) => core.hear(message),
            Woken::Script(done) => scripts_done(&mut core, &mut inbox, done),
            // The only shard has no peers; those of several may end before this one.
            Woken::Peer(None) => peers_open = false,
            // The set holds the other end until it ends the shard.
            Woken::Command(None | Some(Command::Stop)) => break,
            Woken::Command(Some(command)) => obey(&mut core, command),
            Woken::Tick => core.tick(),
            Woken::SendAgain => core.send_waiting(),
        }
    }
    stop(&mut core, &mut inbox, &mut batches).await
}

fn obey(core: &mut Core, command: Command) {
    let start = core.clock.monotonic();
    core.obey(command);
    core.gauges.busy(Stage::Command, core.clock.monotonic().saturating_sub(start));
}

/// Commands that came before the values at hand: a client that was notified of a new item may send its
/// values, and both may wait here. `false` = the shard is to stop.
fn obey_waiting(core: &mut Core, inbox: &mut Inbox) -> bool {
    /// Others that come meanwhile wait for the next round.
    const COMMANDS_MAX: usize = 64;
    for _ in 0..COMMANDS_MAX {
        match inbox.commands.try_recv() {
            Some(Command::Stop) => return false,
            Some(command) => obey(core, command),
            None => break,
        }
    }
    true
}

/// Everything that waits, up to a limit, in one group commit.
fn round(core: &mut Core, inbox: &mut Inbox, batches: &mut Vec<ValueBatch>, first: ValueBatch) {
    let mut values = first.values.len();
    batches.push(first);
    while values < inbox.values_per_round_max
        && let Some(next) = inbox.values.try_recv()
    {
        values += next.values.len();
        batches.push(next);
    }
    core.run(batches);
}

/// All results of scripts that are there, in one group commit.
fn scripts_done(core: &mut Core, inbox: &mut Inbox, first: Option<Done>) {
    let mut all: Vec<Done> = first.into_iter().collect();
    while let Some(next) = inbox.scripts.try_recv() {
        all.push(next);
    }
    if !all.is_empty() {
        core.run_done(all);
    }
}

/// Takes what waits, sends what is to be sent, writes everything.
async fn stop(core: &mut Core, inbox: &mut Inbox, batches: &mut Vec<ValueBatch>) -> bool {
    /// Longest wait for those who should take the last messages.
    const GIVE_UP_AFTER: u32 = 5_000;
    while let Some(batch) = inbox.values.try_recv() {
        round(core, inbox, batches, batch);
        core.send_waiting();
    }
    core.states.tell_all(&core.slots, &mut core.findings);
    // A run that follows may crash before its own first mark.
    core.progress.kept();
    core.mark(core.now_s().into());
    for _ in 0..GIVE_UP_AFTER {
        while let Some(message) = inbox.peers.try_recv() {
            core.hear(message);
        }
        scripts_done(core, inbox, None);
        core.send_waiting();
        if core.waiting() == 0 && core.desk.held() == 0 {
            break;
        }
        tokio::time::sleep(SEND_AGAIN).await;
    }
    let finished = core.finish();
    if let Err(error) = &finished {
        tracing::error!(%error, "cannot write all remaining history");
    }
    finished.is_ok()
}

impl Core {
    fn obey(&mut self, command: Command) {
        // The caller may have ended; an undelivered response is no error.
        match command {
            Command::Configure => self.open_letters(),
            Command::View { items, scope, reply } => {
                drop(reply.send(peers::view(self.driver.as_ref(), &items, scope)));
            }
            Command::Items { items, reply } => drop(reply.send(self.item_reports(&items))),
            Command::Unsupported { reply } => drop(reply.send(self.slots.errors())),
            Command::Triggers { triggers, reply } => {
                let report = |id: &model::TriggerId| {
                    let trigger = self.snapshot.triggers.get(id)?;
                    self.evaluates(trigger).then(|| TriggerReport {
                        trigger: *id,
                        state: self.triggers.state(*id),
                        error: self.triggers.error(*id).to_owned(),
                    })
                };
                drop(reply.send(triggers.iter().filter_map(report).collect()));
            }
            Command::CheckNow { items } => self.calculate_now(&items),
            Command::Calculate { item, reply } => self.calculate_for(&item, reply),
            Command::TriggerState { trigger, state } => self.set_trigger(trigger, state),
            Command::Clear { items, reply } => drop(reply.send(self.clear(&items))),
            Command::Flush { reply } => drop(reply.send(self.driver.sync())),
            Command::Housekeep { reply } => {
                let now = self.now_s();
                let dropped = history::housekeeping::run(self.driver.as_mut(), now);
                drop(reply.send(dropped));
            }
            Command::Stop => {}
        }
    }

    /// The store first: what memory forgets would come back from there.
    fn clear(&mut self, items: &[model::ItemId]) -> Result<(), history::Error> {
        self.driver.clear(items)?;
        if let Some(past) = &self.past {
            past.clear(items);
        }
        for item in items {
            self.cache.clear(*item);
            self.foreign.clear(*item);
        }
        self.folder.clear(items);
        self.folded.retain(|folded| !items.contains(&folded.trend.item));
        Ok(())
    }

    pub(crate) fn set_trigger(&mut self, id: model::TriggerId, state: model::TriggerState) {
        let own = self.snapshot.triggers.get(&id).is_some_and(|t| self.evaluates(t));
        if own {
            self.triggers.set_state(id, state);
        } else {
            self.triggers.set_elsewhere(id, state);
        }
    }

    pub(crate) fn item_reports(&self, items: &[model::ItemId]) -> ItemReports {
        let mut missing = Vec::new();
        let mut reports = Vec::with_capacity(items.len());
        for id in items {
            let slot = self.slots.peek(*id);
            let error = slot.and_then(|slot| slot.error.as_deref());
            let error = error.map(ToString::to_string).unwrap_or_default();
            let last = self.cache.last_two(*id).map(|point| {
                point.map(|point| Sample { item: *id, at: point.at, value: point.value })
            });
            if last.iter().any(Option::is_none) {
                missing.push(*id);
            }
            reports.push(ItemReport { item: *id, last, error });
        }
        let view = (!missing.is_empty()).then(|| self.driver.view_newest(&missing, 2));
        ItemReports { reports, view, missing }
    }
}
