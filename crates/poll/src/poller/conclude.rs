//! Start and end of checks: processing of replies, and counters.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use config::snapshot::Item;
use model::{ItemId, Payload, Timestamp, Value};

use super::direct::Job;
use super::{IN_FLIGHT_MIN, Poller};
use crate::checks::reply::{CheckReply, Lines};
use collect::counters::Counters;
use collect::positions::{LogPosition, Positions};
use collect::sink::{Sink, Split};

const NS_PER_S: u64 = 1_000_000_000;

/// Checks that have ended, for counters that all pollers share: told together, they cost less.
#[derive(Debug, Default)]
pub(super) struct Tally {
    ended: usize,
    /// With a value, or an error that is the item's.
    values: u64,
    /// With a network error.
    failed: u64,
}

impl Poller {
    /// Checks have begun; the counters that all pollers share hear of it later.
    pub(super) fn begun(&self, checks: usize) {
        self.in_flight.set(self.in_flight.get() + checks);
        self.begun.set(self.begun.get() + checks);
    }

    /// A check has ended.
    pub(super) fn done(&self, job: &Job, reply: CheckReply) {
        let mut tally = Tally::default();
        self.conclude(job, reply, self.shared.context.now(), &mut tally);
        self.count(&tally);
    }

    /// Tells the counters that all pollers share.
    pub(super) fn count(&self, tally: &Tally) {
        let counters = &self.shared.context.counters;
        let begun = self.begun.take();
        if begun > 0 {
            Counters::add(&counters.checks, begun as u64);
            counters.checks_in_flight.fetch_add(begun, Ordering::Relaxed);
        }
        if tally.ended > 0 {
            Counters::add(&counters.values_agent, tally.values);
            Counters::add(&counters.checks_failed, tally.failed);
            counters.checks_in_flight.fetch_sub(tally.ended, Ordering::Relaxed);
        }
    }

    /// A check has ended: its value leaves, its item waits for its next time.
    pub(super) fn conclude(&self, job: &Job, reply: CheckReply, at: Timestamp, tally: &mut Tally) {
        let Job { slot, lane, item } = job;
        let (slot, lane, now) = (*slot, *lane, at.clock);
        let again = matches!(reply, CheckReply::NetworkError(_) | CheckReply::LocalError(_));
        self.judge(lane, &reply, now);
        let payload = match reply {
            CheckReply::Value(text) => Some(Payload::Text(text.into())),
            CheckReply::NotSupported(why) | CheckReply::ConfigError(why) => {
                Some(Payload::NotSupported(why.into()))
            }
            CheckReply::Lines(lines) => {
                tally.values += lines.values.len() as u64;
                self.put_lines(item, *lines, at);
                None
            }
            CheckReply::Nothing => None,
            CheckReply::LocalError(why) => {
                self.fewer(&why);
                None
            }
            CheckReply::NetworkError(_) => {
                tally.failed += 1;
                None
            }
        };
        if let Some(payload) = payload {
            tally.values += 1;
            self.put_at(item, payload, at);
        }
        tally.ended += 1;
        self.in_flight.set(self.in_flight.get() - 1);
        self.schedule.borrow_mut().complete(slot, lane, now, again);
    }

    /// Lines of a log have moments of their own, so that none takes the place of another. The log is
    /// read on behind them once they are kept: until then the same lines come again, and are left out.
    fn put_lines(&self, item: &Item, lines: Lines, at: Timestamp) {
        if !self.unkept.borrow_mut().insert(item.id) {
            return;
        }
        let start = u64::from(at.clock) * NS_PER_S + u64::from(at.ns);
        let mut split = self.shared.context.sink.split();
        for (number, line) in lines.values.into_iter().enumerate() {
            let ns = start + number as u64;
            let clock = u32::try_from(ns / NS_PER_S).unwrap_or(at.clock);
            let at = Timestamp { clock, ns: (ns % NS_PER_S) as u32 };
            let payload = Payload::Log(Box::new(line));
            split.push(item.host, Value { item: item.id, at, payload });
        }
        let behind = LogPosition { lastlogsize: lines.position, ..LogPosition::default() };
        let moved = Moved { item: item.id, since: lines.since, behind };
        let (shared, unkept) = (Arc::clone(&self.shared), Rc::clone(&self.unkept));
        tokio::task::spawn_local(async move {
            let Moved { item, .. } = moved;
            if !keep_lines(&shared.context.sink, &shared.context.positions, split, moved).await {
                tracing::warn!(%item, "cannot store lines of an event log; reading them again");
            }
            unkept.borrow_mut().remove(&item);
        });
    }

    /// The system gives no more sockets: live with what there is.
    fn fewer(&self, why: &str) {
        let max = self.in_flight.get().saturating_mul(9) / 10;
        if max < self.in_flight_max.get() {
            self.in_flight_max.set(max.max(IN_FLIGHT_MIN));
            tracing::warn!("{why}: reducing concurrent checks to {max}");
        }
    }
}

/// How a check moves the position of its item's log.
#[derive(Debug, Clone, Copy)]
struct Moved {
    item: ItemId,
    since: Option<LogPosition>,
    behind: LogPosition,
}

/// Sends lines of a log and waits until they are stored; only then moves the log's position behind
/// them. A check that began before the position moved brings lines that are stored already: they are left out.
/// Returns whether the lines are stored.
async fn keep_lines(sink: &Sink, positions: &Positions, lines: Split, moved: Moved) -> bool {
    if positions.of(moved.item) != moved.since {
        return true;
    }
    let kept = !sink.send(lines).await.lost;
    if kept {
        positions.set(moved.item, moved.behind);
    }
    kept
}

#[cfg(test)]
mod tests {
    use model::HostId;
    use stdx::queue;

    use super::*;

    #[tokio::test]
    async fn log_is_read_on_behind_lines_that_are_kept_alone() {
        let (to_shard, mut shard) = queue::bounded("shard", 1);
        let (sink, positions, item) = (Sink::new(vec![to_shard]), Positions::default(), ItemId(7));
        let behind = LogPosition { lastlogsize: 12, ..LogPosition::default() };
        let moved = Moved { item, since: None, behind };
        let lines = || {
            let mut split = sink.split();
            let at = Timestamp::from_s(1);
            split.push(HostId(1), Value { item, at, payload: Payload::Text("line".into()) });
            split
        };
        // The shard does not keep the batch, as when the disk refuses it.
        let refused = async { drop(shard.recv().await) };
        let (kept, ()) = tokio::join!(keep_lines(&sink, &positions, lines(), moved), refused);
        assert!(!kept);
        assert_eq!(positions.of(item), None, "the next check reads the lines again");
        let keeps = async {
            let batch = shard.recv().await.unwrap();
            assert_eq!(positions.of(item), None, "not before they are kept");
            batch.ack.unwrap().report(1, 0);
        };
        let (kept, ()) = tokio::join!(keep_lines(&sink, &positions, lines(), moved), keeps);
        assert!(kept);
        assert_eq!(positions.of(item), Some(behind));
        // The next check began before these were kept. What it sends would be lost.
        drop(shard);
        assert!(keep_lines(&sink, &positions, lines(), moved).await);
    }
}
