//! What functions of triggers and formulas look back at beyond the embedded days.
//!
//! A shard never waits for a store. What it asks for and is not here is read by a thread; until it has
//! come, the function has no value and its trigger stays as it is. What came is kept as long as
//! there is room and the border of the embedded days has not moved: a shard puts it into its value
//! cache at once, and asks again after it was thrown out there.

mod known;
mod lookback;
#[cfg(test)]
mod tests;

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::{DAY_S, ItemId, Sample, ValueType};
use stdx::clock::SharedClock;
use stdx::sync::lock;

use self::known::{AllKnown, Known, SAMPLES_MAX, State, Want, covers};
pub use self::lookback::{Lookback, WithPast};
use crate::tiers::Older;
use crate::{EmbeddedDays, Error, Newest, Order, RangeQuery, Span, Store};

/// Tells the type of an item whose values are kept for longer than they are embedded; `None` of others:
/// all of these that are kept are embedded.
pub type PastKind = Box<dyn Fn(ItemId) -> Option<ValueType> + Send + Sync>;

/// Questions that wait. A shard repeats its own anyway.
const ASKS_MAX: usize = 1_024;
/// The clocks of senders go ahead by less.
const AHEAD_S: u32 = 3_600;
/// A store that failed is asked for an item again after this time.
const PAUSE: Duration = Duration::from_secs(10);

#[derive(Debug)]
struct Ask {
    item: ItemId,
    value_type: ValueType,
    border: u32,
    want: Want,
    turn: u64,
}

/// The values of items before the embedded days, as far as functions asked for them.
pub struct Past {
    older: Older,
    kind_of: PastKind,
    asks: SyncSender<Ask>,
    known: Arc<Mutex<AllKnown>>,
}

impl std::fmt::Debug for Past {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Past").finish_non_exhaustive()
    }
}

impl Past {
    /// Starts the thread, which ends when the past is dropped.
    pub fn start(
        stores: Vec<Arc<dyn Store>>,
        embedded: EmbeddedDays,
        clock: &SharedClock,
        kind_of: PastKind,
    ) -> Result<Arc<Self>, Error> {
        let older = Older::new(stores, embedded, Arc::clone(clock));
        let (asks, asked) = sync_channel(ASKS_MAX);
        let known: Arc<Mutex<AllKnown>> = Arc::default();
        let reader = (older.clone(), Arc::clone(&known));
        let body = move || read_all(&reader.0, &asked, &reader.1);
        stdx::thread::critical("history-past", body).map_err(|cause| {
            Error::config(format!(
                "cannot start the thread history-past: {cause}; raise the user's limit"
            ))
        })?;
        Ok(Arc::new(Self { older, kind_of, asks, known }))
    }

    /// Puts what is before the border in front of samples of a span.
    fn before(&self, item: ItemId, span: Span, newest: Vec<Sample>) -> Result<Vec<Sample>, Error> {
        let border = self.older.border();
        if span.from >= border {
            return Ok(newest);
        }
        let Some(value_type) = (self.kind_of)(item) else { return Ok(newest) };
        let ask = Ask { item, value_type, border, want: Want::Since(span.from), turn: 0 };
        let past = self.find(ask)?;
        let inside = past.iter().filter(|sample| span.has(sample.at.clock));
        Ok(joined(inside.cloned().collect(), newest))
    }

    /// Completes the newest samples with older ones. Those that have not come yet are left out: of an
    /// item that is new there may be none, and its triggers are not to wait for a store.
    fn before_newest(&self, item: ItemId, n: usize, mut newest: Vec<Sample>) -> Newest {
        let border = self.older.border();
        // What is embedded of farther back may have holes.
        let is_young = |sample: &&Sample| sample.at.clock >= border.saturating_sub(DAY_S);
        let young = newest.iter().take_while(is_young).count();
        let kind = if young < n { (self.kind_of)(item) } else { None };
        let Some(value_type) = kind else { return Newest { samples: newest, partial: false } };
        let ask = Ask { item, value_type, border, want: Want::Newest(n - young), turn: 0 };
        let Ok(past) = self.find(ask) else { return Newest { samples: newest, partial: true } };
        newest.reverse();
        let mut samples = joined(past.to_vec(), newest);
        samples.drain(..samples.len().saturating_sub(n));
        samples.reverse();
        Newest { samples, partial: false }
    }

    /// What is known, or an error until then.
    fn find(&self, mut ask: Ask) -> Result<Arc<[Sample]>, Error> {
        let now = self.older.now();
        let (item, border) = (ask.item, ask.border);
        let mut known = lock(&self.known);
        known.turn += 1;
        let turn = known.turn;
        ask.turn = turn;
        let of_type = |found: &&mut Known| found.value_type == ask.value_type;
        if let Some(found) = known.items.get_mut(&item).filter(of_type) {
            found.used = turn;
            let is_of_today = found.border == border;
            match &found.state {
                State::Here { from, samples } if covers(*from, samples, ask.want) => {
                    let samples = Arc::clone(samples);
                    if !is_of_today && !found.renewed {
                        let want = moved_on(*from, border - found.border, ask.want);
                        found.renewed = self.asks.try_send(Ask { want, ..ask }).is_ok();
                    }
                    // The day that has just left is embedded for some more minutes.
                    if found.border + DAY_S >= border {
                        return Ok(samples);
                    }
                    return Err(coming(border));
                }
                State::Failed(error, until) if now < *until => return Err(error.clone()),
                State::Asked if is_of_today => return Err(coming(border)),
                _ => {}
            }
        }
        let asked = Known::new(&ask, State::Asked, turn);
        if self.asks.try_send(ask).is_ok() {
            known.put(item, asked);
        }
        Err(coming(border))
    }

    /// The values of these items were deleted: there are none, also before the stores have heard of it.
    pub fn clear(&self, items: &[ItemId]) {
        let (border, second) = (self.older.border(), self.older.second());
        let mut known = lock(&self.known);
        for &item in items {
            let turn = known.clear(item, second);
            let Some(value_type) = (self.kind_of)(item) else {
                known.forget(item);
                continue;
            };
            let ask = Ask { item, value_type, border, want: Want::Since(0), turn };
            let nothing = State::Here { from: 0, samples: Arc::new([]) };
            known.put(item, Known::new(&ask, nothing, turn));
        }
    }
}

/// What is wanted again after the border has moved: what all functions of the item wanted before, but
/// for the time by which their periods have moved on.
fn moved_on(from: u32, by: u32, want: Want) -> Want {
    let from = if from == 0 { 0 } else { from.saturating_add(by) };
    match want {
        Want::Since(since) => Want::Since(from.min(since)),
        Want::Newest(_) => Want::Since(from),
    }
}

fn coming(border: u32) -> Error {
    let why = format!("values before {border} (Unix time) are being read from a history store");
    Error::storage_away(why)
}

/// Both, oldest first; of what is in both the second counts.
fn joined(mut past: Vec<Sample>, newest: Vec<Sample>) -> Vec<Sample> {
    let is_apart = past.last().zip(newest.first()).is_none_or(|(old, new)| old.at < new.at);
    if is_apart {
        past.extend(newest);
        return past;
    }
    let mut all = newest;
    all.extend(past);
    all.sort_by_key(|sample| sample.at);
    all.dedup_by_key(|sample| sample.at);
    all
}

/// The thread.
fn read_all(older: &Older, asked: &Receiver<Ask>, known: &Mutex<AllKnown>) {
    // An unavailable store takes half a minute to fail: do not wait for each of a thousand queries.
    let mut away: Option<(Error, Duration)> = None;
    while let Ok(ask) = asked.recv() {
        away = away.filter(|(_, until)| older.now() < *until);
        let state = match &away {
            Some((error, until)) => State::Failed(error.clone(), *until),
            None => read(older, &ask, known).unwrap_or_else(|error| {
                let until = older.now() + PAUSE;
                if error.retry {
                    away = Some((error.clone(), until));
                }
                State::Failed(error, until)
            }),
        };
        lock(known).answer(&ask, state);
    }
}

/// The first second of which values of an item count. Of one that was cleared, those of before may be
/// deleted ones until every store has something that came later.
fn first_second(older: &Older, ask: &Ask, known: &Mutex<AllKnown>) -> Result<u32, Error> {
    let cleared = lock(known).cleared.get(&ask.item).map(|cleared| cleared.second);
    let Some(second) = cleared else { return Ok(0) };
    let later = RangeQuery {
        item: ask.item,
        value_type: ask.value_type,
        span: Span::new(second.saturating_add(AHEAD_S), u32::MAX),
        limit: Some(1),
        order: Order::NewestFirst,
    };
    let has_heard = older.all_have(&later, ask.border)?;
    Ok(if has_heard { 0 } else { second.saturating_add(1) })
}

fn read(older: &Older, ask: &Ask, known: &Mutex<AllKnown>) -> Result<State, Error> {
    let Ask { item, value_type, border, want, .. } = *ask;
    let first = first_second(older, ask, known)?;
    let (from, limit, order) = match want {
        Want::Since(from) => (from, SAMPLES_MAX + 1, Order::OldestFirst),
        Want::Newest(n) => (0, n.min(SAMPLES_MAX + 1), Order::NewestFirst),
    };
    let span = Span::new(from.max(first), border.saturating_sub(1));
    let query = RangeQuery { item, value_type, span, limit: Some(limit), order };
    let is_empty = span.from > span.till;
    let mut samples = if is_empty { Vec::new() } else { older.range(&query, border)? };
    if samples.len() > SAMPLES_MAX {
        return Err(Error::config(format!(
            "functions look back at more than {SAMPLES_MAX} values of item {item} before {border} \
             (Unix time): keep more days embedded with --history-embedded-days"
        )));
    }
    let mut from = from;
    if order == Order::NewestFirst {
        samples.reverse();
        if samples.len() == limit {
            // There may be more in its second.
            from = samples.first().map_or(border, |first| first.at.clock + 1);
        }
    }
    Ok(State::Here { from, samples: samples.into() })
}
