//! How far a copy is: the file from which a later run resumes.

use std::ops::RangeInclusive;

use super::{Differences, Place, Plan, Totals};

/// First words of the file.
const TITLE: &str = "vedette history copy 2";

/// A copy up to a place, with all runs that were interrupted on the way there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    days: RangeInclusive<u32>,
    /// Tells copies apart that are given other rows.
    settings: u64,
    /// Everything before it is done.
    pub place: Place,
    /// What was gone over. The file has no examples of differences.
    pub totals: Totals,
}

impl Progress {
    /// Of a copy that begins.
    pub fn start(plan: &Plan, settings: u64) -> Self {
        let (place, totals) = (Place::START, Totals::default());
        Self { days: plan.days.clone(), settings, place, totals }
    }

    /// Where a copy goes on that an earlier run of has come so far; `None` = that was of later
    /// days, or of other rows: what it passed would be missing.
    pub fn go_on(&self, earlier: Self) -> Option<Self> {
        let (first, last) = (earlier.days.start(), earlier.days.end());
        let same = earlier.settings == self.settings;
        if !same || first > self.days.start() || last > self.days.end() {
            return None;
        }
        let mut place = earlier.place;
        if place.day.0 == *last && last < self.days.end() {
            // That day was not over.
            place.after = None;
        }
        Some(Self { place, totals: earlier.totals, ..self.clone() })
    }

    /// With what a run from here on has gone over, up to a place.
    #[must_use]
    pub fn and(&self, place: Place, run: &Totals) -> Self {
        let (mut totals, more) = (self.totals.clone(), &run.differences);
        totals.values += run.values;
        totals.trends += run.trends;
        let all = &mut totals.differences;
        all.only_first += more.only_first;
        all.only_second += more.only_second;
        all.other += more.other;
        all.examples.clone_from(&more.examples);
        Self { place, totals, ..self.clone() }
    }

    /// For a file.
    pub fn to_text(&self) -> String {
        let (first, last, settings) = (self.days.start(), self.days.end(), self.settings);
        let Totals { values, trends, differences } = &self.totals;
        let Differences { only_first, only_second, other, .. } = differences;
        format!(
            "{TITLE}\n{}\n{first} {last} {settings}\n\
             {values} {trends} {only_first} {only_second} {other}\n",
            self.place.to_text()
        )
    }

    /// From such a text.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.strip_prefix(TITLE)?.strip_prefix('\n')?.strip_suffix('\n')?.lines();
        let place = Place::from_text(lines.next()?)?;
        let [first, last, settings] = numbers(lines.next()?)?;
        let [values, trends, only_first, only_second, other] = numbers(lines.next()?)?;
        let days = u32::try_from(first).ok()?..=u32::try_from(last).ok()?;
        let differences = Differences { only_first, only_second, other, examples: Vec::new() };
        let totals = Totals { values, trends, differences };
        lines.next().is_none().then_some(Self { days, settings, place, totals })
    }
}

fn numbers<const N: usize>(line: &str) -> Option<[u64; N]> {
    let numbers: Option<Vec<u64>> = line.split(' ').map(|word| word.parse().ok()).collect();
    numbers?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use model::ItemId;

    use super::*;
    use crate::{Day, Kind};

    fn plan(first: u32, last: u32) -> Plan {
        Plan::new(vec![(Kind::Text, ItemId(7))], Day(first), Day(last))
    }

    #[test]
    fn what_is_in_a_file_comes_back() {
        let place = Place { day: Day(20_000), after: Some((Kind::Text, ItemId(7))) };
        let differences = Differences { only_first: 3, other: 4, ..Differences::default() };
        let run = Totals { values: 10, trends: 2, differences };
        let start = Progress::start(&plan(19_990, 20_001), u64::MAX);
        let progress = start.and(place, &run).and(place, &run);
        assert_eq!((progress.totals.values, progress.totals.differences.only_first), (20, 6));
        let text = progress.to_text();
        assert_eq!(Progress::from_text(&text), Some(progress));
        for len in 0..text.len() {
            assert_eq!(Progress::from_text(&text[..len]), None, "{len}");
        }
        assert_eq!(Progress::from_text("vedette history copy 1\n1 2 3\n"), None);
    }

    #[test]
    fn a_copy_resumes_only_with_the_same_rows() {
        let place = |day, after| Place { day: Day(day), after };
        let item = Some((Kind::Text, ItemId(7)));
        let at = |first, last, settings, place| {
            Progress::start(&plan(first, last), settings).and(place, &Totals::default())
        };
        let now = Progress::start(&plan(50, 100), 1);
        let goes_on = |earlier| now.go_on(earlier).map(|progress| progress.place);
        let middle = place(60, item);
        assert_eq!(goes_on(at(50, 100, 1, middle)), Some(middle));
        // Fewer days then, as with `--days`; or other rows.
        assert_eq!(goes_on(at(55, 100, 1, middle)), None);
        assert_eq!(goes_on(at(50, 101, 1, middle)), None);
        assert_eq!(goes_on(at(50, 100, 2, middle)), None);
        // A day later: what was today then is gone over again.
        assert_eq!(goes_on(at(49, 99, 1, middle)), Some(middle));
        assert_eq!(goes_on(at(49, 99, 1, place(99, item))), Some(place(99, None)));
        assert_eq!(goes_on(at(50, 100, 1, place(100, item))), Some(place(100, item)));
    }
}
