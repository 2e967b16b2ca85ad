//! Copying history from one place to another, and comparing two.
//!
//! Both go over days, the oldest first, and in each over items, some at a time: as many as make a
//! batch. Progress is reported after each step, so that an interrupted run resumes there.
//! Writing rows that are there already changes nothing, hence a step may be done twice.

mod progress;
mod side;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::ops::RangeInclusive;
use std::time::Duration;

use model::{DAY_S, ItemId};

pub use self::progress::Progress;
pub use self::side::Side;
use self::side::{Rows, same_sample, same_trend, sample_key, trend_key};
use crate::{Day, Error, Kind, Kinds, Span};

/// Items of one step: from so few on, as long as there are few rows, up to so many.
const ITEMS_FIRST: usize = 50;
const ITEMS_MAX: usize = 1_000;
/// A step with fewer rows is followed by one of twice as many items, one with more by a half.
const ROWS_FEW: usize = 50_000;
const ROWS_MANY: usize = 200_000;
/// How often something is tried that a store cannot do now.
const TRIES: u32 = 6;
/// Differences that are told one by one.
const EXAMPLES_MAX: usize = 20;

/// What is to be gone over.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Items with the kind of their values now, sorted.
    items: Vec<(Kind, ItemId)>,
    days: RangeInclusive<u32>,
    /// First pause after a store has failed; each next one is twice as long.
    pub pause: Duration,
}

impl Plan {
    /// These items, in any order, on these days.
    pub fn new(mut items: Vec<(Kind, ItemId)>, first: Day, last: Day) -> Self {
        items.sort_unstable();
        items.dedup();
        Self { items, days: first.0..=last.0, pause: Duration::from_secs(1) }
    }

    /// How many items.
    pub fn items(&self) -> usize {
        self.items.len()
    }

    /// The part of the whole that lies before a place, from 0 to 1.
    pub fn share(&self, place: &Place) -> f64 {
        let days = f64::from(self.days.end().saturating_sub(*self.days.start())) + 1.0;
        let items = self.items.partition_point(|item| Some(*item) <= place.after);
        let of_day = items as f64 / self.items.len().max(1) as f64;
        (f64::from(place.day.0.saturating_sub(*self.days.start())) + of_day) / days
    }
}

/// Everything before it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub day: Day,
    /// The last item of that day that is done.
    pub after: Option<(Kind, ItemId)>,
}

impl Place {
    /// Before everything.
    pub const START: Self = Self { day: Day(0), after: None };

    /// For a file: day, kind, item.
    pub fn to_text(self) -> String {
        let (kind, item) = self.after.map_or((0, 0), |(kind, item)| (kind.number(), item.0));
        format!("{} {kind} {item}", self.day.0)
    }

    /// From such a text.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let day = Day(words.next()?.parse().ok()?);
        let kind = Kind::from_number(words.next()?.parse().ok()?)?;
        let item = ItemId(words.next()?.parse().ok()?);
        words.next().is_none().then_some(Self { day, after: (item.0 > 0).then_some((kind, item)) })
    }
}

/// How two sides differ, in rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Only the first side has them.
    pub only_first: u64,
    /// Only the second side has them.
    pub only_second: u64,
    /// Both have them, with other values.
    pub other: u64,
    /// Some of them, for people.
    pub examples: Vec<String>,
}

impl Differences {
    /// There are none.
    pub fn is_none(&self) -> bool {
        self.only_first + self.only_second + self.other == 0
    }

    fn example(&mut self, what: &str, row: &dyn std::fmt::Debug) {
        if self.examples.len() < EXAMPLES_MAX {
            // Of a long text the beginning says which row it is.
            let row: String = format!("{row:?}").chars().take(300).collect();
            self.examples.push(format!("{what}: {row}"));
        }
    }

    /// Compares sorted rows.
    fn compare<T: std::fmt::Debug, K: Ord>(
        &mut self,
        (first, second): (&[T], &[T]),
        key: impl Fn(&T) -> K,
        same: impl Fn(&T, &T) -> bool,
    ) {
        let (mut a, mut b) = (first.iter().peekable(), second.iter().peekable());
        loop {
            let order = match (a.peek(), b.peek()) {
                (None, None) => return,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => key(a).cmp(&key(b)),
            };
            match (a.next_if(|_| order.is_le()), b.next_if(|_| order.is_ge())) {
                (Some(a), Some(b)) if !same(a, b) => {
                    self.other += 1;
                    self.example("another value", &(a, b));
                }
                (Some(a), None) => {
                    self.only_first += 1;
                    self.example("only in the first", a);
                }
                (None, Some(b)) => {
                    self.only_second += 1;
                    self.example("only in the second", b);
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, first: &Rows, second: &Rows) {
        self.compare((&first.samples, &second.samples), sample_key, same_sample);
        self.compare((&first.trends, &second.trends), trend_key, same_trend);
    }
}

/// What was gone over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Totals {
    /// Values of the first side.
    pub values: u64,
    /// Hourly trends of the first side.
    pub trends: u64,
    /// Of a copy: rows that are not, or not as they should be, where they were written to.
    pub differences: Differences,
}

impl Totals {
    fn count(&mut self, rows: &Rows) {
        self.values += rows.samples.len() as u64;
        self.trends += rows.trends.len() as u64;
    }
}

/// Hears what is done after each step; an error of its ends the run.
pub type Tell<'a> = dyn FnMut(Place, &Totals) -> Result<(), Error> + 'a;

/// Writes what one side has to another, as far as that is given it, from a place on; with `verify`
/// reads it there again.
pub fn copy(
    from: &Side,
    to: &mut Side,
    (plan, start, verify): (&Plan, Place, bool),
    tell: &mut Tell<'_>,
) -> Result<Totals, Error> {
    let mut totals = Totals::default();
    let typed = from.tells_types() && to.tells_types();
    walk(plan, start, &mut |step| {
        let kinds = step.kinds(typed);
        let mut rows = patiently(plan, &mut || from.read(&step.items, kinds, step.span))?;
        rows.keep_for(to);
        if rows.len() > 0 {
            patiently(plan, &mut || to.write(&rows))?;
            if verify {
                let mut back = patiently(plan, &mut || to.read(&step.items, kinds, step.span))?;
                // It may have had more.
                let has = |key| rows.samples.binary_search_by_key(&key, sample_key).is_ok();
                back.samples.retain(|sample| has(sample_key(sample)));
                let has = |key| rows.trends.binary_search_by_key(&key, trend_key).is_ok();
                back.trends.retain(|trend| has(trend_key(trend)));
                totals.differences.add(&rows, &back);
            }
        }
        totals.count(&rows);
        tell(step.place, &totals)?;
        Ok(rows.len())
    })?;
    Ok(totals)
}

/// Compares two sides, as far as both are given the rows.
pub fn check(
    first: &Side,
    second: &Side,
    plan: &Plan,
    tell: &mut Tell<'_>,
) -> Result<Totals, Error> {
    let mut totals = Totals::default();
    let typed = first.tells_types() && second.tells_types();
    walk(plan, Place::START, &mut |step| {
        let kinds = step.kinds(typed);
        let mut a = patiently(plan, &mut || first.read(&step.items, kinds, step.span))?;
        let mut b = patiently(plan, &mut || second.read(&step.items, kinds, step.span))?;
        for side in [first, second] {
            a.keep_for(side);
            b.keep_for(side);
        }
        totals.count(&a);
        totals.differences.add(&a, &b);
        tell(step.place, &totals)?;
        Ok(a.len().max(b.len()))
    })?;
    Ok(totals)
}

/// Items of one kind on one day.
struct Step {
    items: Vec<ItemId>,
    kind: Kind,
    span: Span,
    /// Where one is afterwards.
    place: Place,
}

impl Step {
    /// What to ask for. Values that an item had as another type are only found where rows tell
    /// their type.
    fn kinds(&self, typed: bool) -> Kinds {
        if typed { Kinds::VALUES } else { self.kind.into() }
    }
}

/// Goes over everything from a place on. Each step says how many rows it had.
fn walk(
    plan: &Plan,
    start: Place,
    each: &mut dyn FnMut(&Step) -> Result<usize, Error>,
) -> Result<(), Error> {
    let mut many = ITEMS_FIRST;
    for day in plan.days.clone().filter(|&day| day >= start.day.0) {
        let done = if day == start.day.0 { start.after } else { None };
        let done = plan.items.partition_point(|item| Some(*item) <= done);
        let mut left = &plan.items[done..];
        while let Some(&(kind, _)) = left.first() {
            let of_kind = left.partition_point(|(other, _)| *other == kind);
            let (now, later) = left.split_at(of_kind.min(many));
            let first = day.saturating_mul(DAY_S);
            let done = each(&Step {
                items: now.iter().map(|(_, item)| *item).collect(),
                kind,
                span: Span::new(first, first.saturating_add(DAY_S - 1)),
                place: Place { day: Day(day), after: now.last().copied() },
            });
            let rows = match done {
                // Together they may have more rows than a store answers with.
                Err(error) if !error.retry && now.len() > 1 => {
                    many = now.len() / 2;
                    continue;
                }
                done => done?,
            };
            many = match rows {
                0..ROWS_FEW => (many * 2).min(ITEMS_MAX),
                ROWS_MANY.. => (many / 2).max(1),
                _ => many,
            };
            left = later;
        }
    }
    Ok(())
}

/// Retries, so that a store that is unavailable for seconds does not end a run of hours.
fn patiently<T>(plan: &Plan, ask: &mut dyn FnMut() -> Result<T, Error>) -> Result<T, Error> {
    let mut pause = plan.pause;
    for _ in 1..TRIES {
        match ask() {
            Err(error) if error.retry => tracing::warn!(%error, "the store failed; retrying"),
            answer => return answer,
        }
        std::thread::sleep(pause);
        pause *= 2;
    }
    ask()
}
