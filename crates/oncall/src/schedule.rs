//! Layers, overrides, and what they say together.

use std::collections::BTreeSet;
use std::ops::Range;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use rangemap::RangeMap;

use crate::layer::{Days, Layer};
use crate::{DAY_S, SPAN_MAX_S};

/// How far ahead those who are next in turn are looked for at first, seconds.
const FIRST_LOOK_S: i64 = 28 * DAY_S;

/// Who takes turns in which zone, and what replaces it.
#[derive(Debug, Clone)]
pub struct Schedule {
    pub zone: TimeZone,
    /// A later one wins.
    pub layers: Vec<Layer>,
    /// They win over layers, and a later one over an earlier one.
    pub overrides: Vec<Override>,
    pub holidays: BTreeSet<Date>,
}

/// A user takes a time, whatever the layers say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    pub id: u64,
    pub user: u64,
    pub time: Range<i64>,
}

/// What puts a user on call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// Its place in the list.
    Layer(usize),
    /// Its id.
    Override(u64),
}

/// A user is on call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shift {
    pub user: u64,
    pub time: Range<i64>,
    pub by: By,
}

/// Who is on call at a moment, and who follows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Turn {
    /// `None` = nobody.
    pub now: Option<u64>,
    /// The others in the order in which they will be on call, each once.
    pub next: Vec<u64>,
}

impl Turn {
    /// Who is reached at the `n`th attempt to reach the next one, from 1 on. After the last one the first one follows, who
    /// is the one on call now.
    pub fn after(&self, n: u32) -> Option<u64> {
        let all: Vec<u64> = self.now.into_iter().chain(self.next.iter().copied()).collect();
        // In a gap the first one to come is the next one.
        let skipped = usize::from(self.now.is_none());
        let n = usize::try_from(n).ok()?;
        all.get(n.checked_sub(skipped)?.checked_rem(all.len())?).copied()
    }
}

impl Schedule {
    /// Who is named in layers and overrides.
    pub fn everyone(&self) -> BTreeSet<u64> {
        let layers = self.layers.iter().flat_map(Layer::users);
        layers.chain(self.overrides.iter().map(|one| one.user)).collect()
    }

    /// Those who are or will be on call: who is named in layers and overrides that have not ended.
    pub fn members(&self, at: i64) -> BTreeSet<u64> {
        let layers = self.layers.iter().filter(|layer| layer.end.is_none_or(|end| end > at));
        let layers = layers.flat_map(|layer| layer.users_after(at));
        let overrides = self.overrides.iter().filter(|one| one.time.end > at);
        layers.chain(overrides.map(|one| one.user)).collect()
    }

    /// Who is on call when, oldest first, cut to the time. What belongs together is one shift.
    pub fn shifts(&self, within: Range<i64>) -> Vec<Shift> {
        as_shifts(self.plan(&within))
    }

    /// When nobody is on call.
    pub fn gaps(&self, within: Range<i64>) -> Vec<Range<i64>> {
        if within.is_empty() {
            return Vec::new();
        }
        self.plan(&within).gaps(&within).collect()
    }

    /// Shifts of a layer alone.
    pub fn layer_shifts(&self, layer: usize, within: Range<i64>) -> Vec<Shift> {
        let mut plan = RangeMap::new();
        self.add_layer(&mut plan, layer, &within);
        as_shifts(plan)
    }

    /// Who is on call at a moment.
    pub fn on_call(&self, at: i64) -> Option<Shift> {
        self.shifts(at..at.saturating_add(1)).pop()
    }

    /// Who is on call at a moment, and who follows within 400 days.
    pub fn turn(&self, at: i64) -> Turn {
        let now = self.on_call(at).map(|shift| shift.user);
        let mut waiting = self.members(at);
        let mut next = Vec::new();
        let (mut from, mut length) = (at, FIRST_LOOK_S);
        let last = at.saturating_add(SPAN_MAX_S);
        if let Some(now) = now {
            waiting.remove(&now);
        }
        while !waiting.is_empty() && from < last {
            let to = from.saturating_add(length).min(last);
            for shift in self.shifts(from..to) {
                if waiting.remove(&shift.user) {
                    next.push(shift.user);
                }
            }
            (from, length) = (to, length * 2);
        }
        Turn { now, next }
    }

    fn plan(&self, within: &Range<i64>) -> RangeMap<i64, (u64, By)> {
        let mut plan = RangeMap::new();
        for layer in 0..self.layers.len() {
            self.add_layer(&mut plan, layer, within);
        }
        for one in &self.overrides {
            let time = one.time.start.max(within.start)..one.time.end.min(within.end);
            if !time.is_empty() {
                plan.insert(time, (one.user, By::Override(one.id)));
            }
        }
        plan
    }

    fn add_layer(&self, plan: &mut RangeMap<i64, (u64, By)>, n: usize, within: &Range<i64>) {
        let days = Days { zone: &self.zone, holidays: &self.holidays };
        if let Some(layer) = self.layers.get(n) {
            layer.shifts(days, within, &mut |user, time| {
                plan.insert(time, (user, By::Layer(n)));
            });
        }
    }
}

fn as_shifts(plan: RangeMap<i64, (u64, By)>) -> Vec<Shift> {
    plan.into_iter().map(|(time, (user, by))| Shift { user, time, by }).collect()
}
