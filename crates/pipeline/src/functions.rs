//! Trigger functions: compiled once per text, evaluated over value cache and store.

use std::borrow::Cow;
use std::sync::Arc;

use config::{Snapshot, snapshot};
use eval::expr::ExprValue;
use eval::func::{FuncError, Function, HistoryValue, HistoryView, Item, Moment};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use history::trends::{Folder, with_pending};
use history::value_cache::Point;
use history::{Driver, Kinds, Past, Span, ValueCache, View, WithPast};
use model::{ItemId, Sample, Timestamp, Trend};

use crate::foreign::{ForeignItems, MissingTrends};
use crate::recent::Recent;
use crate::slots::Place;

/// Distinct calls kept compiled; templates give a few thousand, so that emptying is rare.
const COMPILED_MAX: usize = 65_536;

/// A compiled function, or why the call is wrong.
pub(crate) type Compiled = Arc<Result<Function, FuncError>>;

/// Functions by name and parameters: equal calls of many hosts share one.
#[derive(Debug, Default)]
pub(crate) struct Compiler {
    known: HashMap<(Arc<str>, Arc<str>), Compiled, FixedState>,
}

impl Compiler {
    /// The compiled form of a trigger's function.
    pub(crate) fn compile(&mut self, function: &snapshot::Function) -> Compiled {
        let key = (Arc::clone(&function.name), Arc::clone(&function.parameter));
        if let Some(known) = self.known.get(&key) {
            return Arc::clone(known);
        }
        if self.known.len() >= COMPILED_MAX {
            self.known.clear();
        }
        let compiled = Arc::new(Function::parse_stored(&function.name, &function.parameter));
        self.known.insert(key, Arc::clone(&compiled));
        compiled
    }
}

/// What a function needs to know of an item.
pub(crate) fn item_of(item: &snapshot::Item, expected_from: u32) -> Item {
    Item { id: item.id, value_type: item.value_type, expected_from, enabled: item.enabled }
}

/// A view of another shard's items, with the items it was made for.
pub(crate) struct PeerView {
    pub(crate) items: Vec<ItemId>,
    pub(crate) view: Box<dyn View>,
    /// Which of them are unsupported.
    pub(crate) unsupported: Vec<ItemId>,
}

/// Where functions read: memory first, then this shard's driver; items of other shards from what
/// these sent.
pub(crate) struct History<'a> {
    pub(crate) cache: &'a mut ValueCache,
    pub(crate) driver: &'a dyn Driver,
    /// What the driver has no longer.
    pub(crate) past: Option<&'a Arc<Past>>,
    /// The past of items with several values in the round at hand.
    pub(crate) recent: &'a Recent,
    pub(crate) folder: &'a Folder,
    pub(crate) foreign: &'a ForeignItems,
    /// Fetched for this evaluation alone.
    pub(crate) views: &'a [PeerView],
    pub(crate) place: Place,
    pub(crate) snapshot: &'a Snapshot,
    /// Seconds since 1970.
    pub(crate) now_s: u64,
    pub(crate) missing: &'a mut MissingTrends,
}

impl History<'_> {
    /// Reads the views that were fetched of an item; `None` = there is none. Each reaches from now as
    /// far back as one of the functions looks, so the one with the most rows has what others lack.
    fn of_views<T>(
        &self,
        item: ItemId,
        read: impl Fn(&dyn View) -> Result<Vec<T>, String>,
    ) -> Option<Result<Vec<T>, String>> {
        let views = self.views.iter().filter(|view| view.items.contains(&item));
        let longer = |a: Vec<T>, b: Vec<T>| if b.len() > a.len() { b } else { a };
        views.map(|view| read(view.view.as_ref())).reduce(|a, b| Ok(longer(a?, b?)))
    }

    fn is_foreign(&self, item: ItemId) -> bool {
        self.snapshot.items.get(&item).is_some_and(|item| !self.place.owns(item))
    }
}

fn value(point: &Point) -> HistoryValue {
    HistoryValue { at: point.at, value: point.value.clone() }
}

fn newest_first(points: &[Point]) -> Vec<HistoryValue> {
    points.iter().rev().map(value).collect()
}

fn of_sample(sample: Sample) -> HistoryValue {
    HistoryValue { at: sample.at, value: sample.value }
}

fn text(error: &history::Error) -> String {
    error.to_string()
}

impl HistoryView for History<'_> {
    fn last_n(
        &mut self,
        item: ItemId,
        count: usize,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        if let Some(found) = self.of_views(item, |view| newest_of_view(view, item, count, till)) {
            return found;
        }
        if let Some(points) = self.foreign.newest(item, count, till) {
            return points.map(newest_first);
        }
        if let Some(points) = self.recent.newest(item, count, till) {
            return Ok(newest_first(points));
        }
        let points: Cow<'_, [Point]> = self
            .cache
            .newest(&WithPast { driver: self.driver, past: self.past }, item, count, till)
            .map_err(|e| text(&e))?;
        Ok(newest_first(&points))
    }

    fn range(
        &mut self,
        item: ItemId,
        after: Timestamp,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        let of_view = |view: &dyn View| {
            let samples = view.samples(item, Kinds::VALUES).map_err(|e| text(&e))?;
            let inside = samples.into_iter().rev().filter(|s| s.at > after && s.at <= till);
            Ok(inside.map(of_sample).collect())
        };
        if let Some(found) = self.of_views(item, of_view) {
            return found;
        }
        if let Some(points) = self.foreign.range(item, after, till) {
            return points.map(newest_first);
        }
        if let Some(points) = self.recent.range(item, after, till) {
            return Ok(newest_first(points));
        }
        let points: Cow<'_, [Point]> = self
            .cache
            .range(&WithPast { driver: self.driver, past: self.past }, item, after, till)
            .map_err(|e| text(&e))?;
        Ok(newest_first(&points))
    }

    fn trends(
        &mut self,
        item: ItemId,
        first_hour: u32,
        last_hour: u32,
    ) -> Result<Vec<Trend>, String> {
        self.missing.reads += 1;
        let of_view = |view: &dyn View| {
            let mut trends = view.trends(item).map_err(|e| text(&e))?;
            trends.retain(|t| first_hour <= t.hour && t.hour <= last_hour);
            Ok(trends)
        };
        let mut trends = if let Some(found) = self.of_views(item, of_view) {
            found?
        } else if self.is_foreign(item) {
            let known = self.foreign.trends(item, (first_hour, last_hour), self.now_s);
            let Some(known) = known else {
                self.missing.items.push((item, first_hour, last_hour));
                return Err(String::from("trends of another shard are on their way"));
            };
            known.to_vec()
        } else {
            let view = self.driver.view(&[item], Span::new(first_hour, last_hour));
            let stored = view.trends(item).map_err(|e| text(&e))?;
            // Hours are written in the course of the next one, functions look at once.
            with_pending(stored, &self.folder.pending(item, first_hour, last_hour))
        };
        trends.reverse();
        Ok(trends)
    }
}

fn newest_of_view(
    view: &dyn View,
    item: ItemId,
    count: usize,
    till: Timestamp,
) -> Result<Vec<HistoryValue>, String> {
    let mut ask = count.saturating_add(2);
    loop {
        let samples = view.newest(item, Kinds::VALUES, ask).map_err(|e| text(&e))?;
        let all = samples.len() < ask;
        let fitting: Vec<HistoryValue> =
            samples.into_iter().filter(|s| s.at <= till).take(count).map(of_sample).collect();
        if all || fitting.len() == count {
            return Ok(fitting);
        }
        ask = ask.saturating_mul(4);
    }
}

/// Evaluates a function of one item; the error is why it has no value, in few words.
pub(crate) fn evaluate(
    compiled: &Compiled,
    item: &Item,
    history: &mut History<'_>,
    moment: &Moment<'_>,
) -> Result<ExprValue, String> {
    match &**compiled {
        Ok(function) => function.eval(item, history, moment).map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    }
}
