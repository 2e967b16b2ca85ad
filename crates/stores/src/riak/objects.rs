//! What is in objects, and how siblings become one again.

use std::collections::{BTreeMap, BTreeSet};

use model::{DAY_S, HOUR_S, ItemId, Sample, Timestamp, Trend};

use super::super::bytes;
use super::super::place::Row;
use history::{Class, Day};

/// What objects begin with: their kind and the version of their form.
const ROWS: [u8; 3] = *b"VR1";
const SET: [u8; 3] = *b"VS1";

/// A day of an item, or of all items, in one retention class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Slot {
    pub(crate) trends: bool,
    pub(crate) class: Class,
    pub(crate) day: Day,
}

impl Slot {
    /// As a member of a [`Set`].
    pub(crate) fn number(self) -> u64 {
        u64::from(self.trends) << 48 | u64::from(self.class.0) << 32 | u64::from(self.day.0)
    }

    pub(crate) fn of_number(number: u64) -> Option<Self> {
        let trends = match number >> 48 {
            0 => false,
            1 => true,
            _ => return None,
        };
        let class = Class(u16::try_from(number >> 32 & 0xffff).ok()?);
        Some(Self { trends, class, day: Day(u32::try_from(number & 0xffff_ffff).ok()?) })
    }

    fn family(self) -> char {
        if self.trends { 't' } else { 'v' }
    }

    /// The key of the set of items that have something of that day: one of several sets.
    pub(crate) fn index_key(self, part: u64) -> String {
        format!("d-{}-{}-{:05}-{part}", self.family(), self.class.0, self.day.0)
    }
}

/// The key of the set of days of which an item has something.
pub(crate) fn item_key(item: ItemId) -> String {
    format!("i-{}", item.0)
}

/// An object with rows of one item: of an hour; of trends, of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) slot: Slot,
    pub(crate) item: ItemId,
    /// Of the day; of trends 0.
    hour: u32,
}

impl Place {
    pub(crate) fn of(row: Row<'_>, class: Class) -> Self {
        let (clock, _) = row.moment();
        let trends = row.kind().is_trend();
        let hour = if trends { 0 } else { clock % DAY_S / HOUR_S };
        Self { slot: Slot { trends, class, day: Day::of(clock) }, item: row.item(), hour }
    }

    /// All objects of an item's day, the oldest first.
    pub(crate) fn all(slot: Slot, item: ItemId) -> impl DoubleEndedIterator<Item = Self> {
        (0..if slot.trends { 1 } else { 24 }).map(move |hour| Self { slot, item, hour })
    }

    /// First and last second.
    pub(crate) fn seconds(self) -> (u32, u32) {
        let first = self.slot.day.0.saturating_mul(DAY_S).saturating_add(self.hour * HOUR_S);
        let len = if self.slot.trends { DAY_S } else { HOUR_S };
        (first, first.saturating_add(len - 1))
    }

    pub(crate) fn key(self) -> String {
        let Self { slot, item, hour } = self;
        let day = format!("{}-{}-{}-{:05}", slot.family(), slot.class.0, item.0, slot.day.0);
        if slot.trends { day } else { format!("{day}-{hour:02}") }
    }
}

/// Rows by kind, second and nanosecond.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    /// When they were written last: of siblings the younger wins.
    pub(crate) moment: i64,
    rows: BTreeMap<(u8, u32, u32), Vec<u8>>,
}

impl Rows {
    /// The rows of all siblings together; `None` when one of them is something else.
    pub(crate) fn read(siblings: &[Vec<u8>]) -> Option<Self> {
        let mut each: Vec<Self> =
            siblings.iter().map(|bytes| Self::read_one(bytes)).collect::<Option<_>>()?;
        each.sort_by_key(|rows| rows.moment);
        let mut all = Self::default();
        for one in each {
            all.moment = one.moment;
            all.rows.extend(one.rows);
        }
        Some(all)
    }

    fn read_one(bytes: &[u8]) -> Option<Self> {
        let (moment, mut rest) = bytes.strip_prefix(&ROWS)?.split_first_chunk()?;
        let mut rows = BTreeMap::new();
        while let Some((&letter, after)) = rest.split_first() {
            let (clock, after) = after.split_first_chunk()?;
            let (ns, after) = after.split_first_chunk()?;
            let (len, after) = after.split_first_chunk()?;
            let len = usize::try_from(u32::from_be_bytes(*len)).ok()?;
            let (value, after) = after.split_at_checked(len)?;
            let key = (letter, u32::from_be_bytes(*clock), u32::from_be_bytes(*ns));
            rows.insert(key, value.to_vec());
            rest = after;
        }
        Some(Self { moment: i64::from_be_bytes(*moment), rows })
    }

    /// Adds a row, or replaces the one of its kind and moment.
    pub(crate) fn put(&mut self, row: Row<'_>) {
        let (clock, ns) = row.moment();
        let mut value = Vec::new();
        bytes::put(&mut value, row);
        self.rows.insert((bytes::letter(row.kind()), clock, ns), value);
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = ROWS.to_vec();
        out.extend_from_slice(&self.moment.to_be_bytes());
        for ((letter, clock, ns), value) in &self.rows {
            out.push(*letter);
            out.extend_from_slice(&clock.to_be_bytes());
            out.extend_from_slice(&ns.to_be_bytes());
            let len = u32::try_from(value.len()).unwrap_or(u32::MAX);
            out.extend_from_slice(&len.to_be_bytes());
            out.extend_from_slice(value);
        }
        out
    }

    /// The values; `None` when one is none.
    pub(crate) fn samples(&self, item: ItemId) -> Option<Vec<Sample>> {
        let sample = |(&(letter, clock, ns), value): (&(u8, u32, u32), &Vec<u8>)| {
            let value = bytes::value(letter, value)?;
            Some(Sample { item, at: Timestamp { clock, ns }, value })
        };
        self.rows.iter().map(sample).collect()
    }

    /// The trends; `None` when one is none.
    pub(crate) fn trends(&self, item: ItemId) -> Option<Vec<Trend>> {
        let trend = |(&(letter, hour, _), value): (&(u8, u32, u32), &Vec<u8>)| {
            bytes::trend((item, hour), letter, value)
        };
        self.rows.iter().map(trend).collect()
    }
}

/// Numbers, for finding objects. Siblings become one by having the members of all: one that was
/// taken out may come back, and then leads to objects that are not there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Set(pub(crate) BTreeSet<u64>);

impl Set {
    pub(crate) fn read(siblings: &[Vec<u8>]) -> Option<Self> {
        let mut all = BTreeSet::new();
        for sibling in siblings {
            let (numbers, rest) = sibling.strip_prefix(&SET)?.as_chunks();
            if !rest.is_empty() {
                return None;
            }
            all.extend(numbers.iter().map(|number| u64::from_be_bytes(*number)));
        }
        Some(Self(all))
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = SET.to_vec();
        self.0.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
        out
    }

    pub(crate) fn slots(&self) -> impl Iterator<Item = Slot> {
        self.0.iter().filter_map(|&number| Slot::of_number(number))
    }
}

#[cfg(test)]
mod tests {
    use model::{SampleValue, TrendValues};

    use super::*;

    fn sample(clock: u32, ns: u32, value: u64) -> Sample {
        let at = Timestamp { clock, ns };
        Sample { item: ItemId(7), at, value: SampleValue::Unsigned(value) }
    }

    fn rows(moment: i64, samples: &[Sample]) -> Vec<u8> {
        let mut rows = Rows { moment, ..Rows::default() };
        samples.iter().for_each(|sample| rows.put(Row::Value(sample)));
        rows.bytes()
    }

    #[test]
    fn siblings_become_one_and_the_younger_wins() {
        let older = rows(5, &[sample(1, 0, 10), sample(2, 0, 20), sample(2, 1, 21)]);
        let younger = rows(6, &[sample(2, 0, 22), sample(3, 0, 30)]);
        let expected = [sample(1, 0, 10), sample(2, 0, 22), sample(2, 1, 21), sample(3, 0, 30)];
        for siblings in [[older.clone(), younger.clone()], [younger, older.clone()]] {
            let all = Rows::read(&siblings).unwrap();
            assert_eq!((all.moment, all.samples(ItemId(7)).unwrap()), (6, expected.to_vec()));
        }
        assert_eq!(Rows::read(&[]), Some(Rows::default()));
        for cut in [0, 2, 5, older.len() - 1] {
            assert_eq!(Rows::read(&[older[..cut].to_vec()]), None, "{cut}");
        }
    }

    #[test]
    fn kinds_of_one_moment_are_kept_apart_and_trends_come_back() {
        let text = SampleValue::Text("\u{1f980}\0".into());
        let both = [Sample { value: text, ..sample(1, 0, 0) }, sample(1, 0, 7)];
        let read = Rows::read(&[rows(1, &both)]).unwrap();
        assert_eq!(read.samples(ItemId(7)).unwrap(), both);
        assert_eq!(read.trends(ItemId(7)), None);
        let values = TrendValues::Float { min: -1.0, avg: 0.5, max: 2.0 };
        let trend = Trend { item: ItemId(7), hour: 7200, num: 60, values };
        let mut rows = Rows::default();
        rows.put(Row::Trend(&trend));
        assert_eq!(Rows::read(&[rows.bytes()]).unwrap().trends(ItemId(7)), Some(vec![trend]));
    }

    #[test]
    fn sets_have_the_members_of_all_siblings() {
        let set = |numbers: &[u64]| Set(numbers.iter().copied().collect());
        let all = Set::read(&[set(&[1, 3]).bytes(), set(&[2, 3]).bytes()]).unwrap();
        assert_eq!(all, set(&[1, 2, 3]));
        assert_eq!(Set::read(&[b"VS1123".to_vec()]), None);
        assert_eq!(Set::read(&[b"VR1".to_vec()]), None);
        for trends in [false, true] {
            let slot = Slot { trends, class: Class(u16::MAX), day: Day(49_710) };
            assert!(Set([slot.number()].into()).slots().eq([slot]));
        }
        assert_eq!(Slot::of_number(u64::MAX), None);
    }

    #[test]
    fn objects_are_named_by_what_is_in_them() {
        let class = Class(31);
        let place = Place::of(Row::Value(&sample(20_000 * DAY_S + 7_199, 0, 1)), class);
        assert_eq!(place.key(), "v-31-7-20000-01");
        assert_eq!(place.seconds(), (20_000 * DAY_S + 3_600, 20_000 * DAY_S + 7_199));
        assert_eq!(Place::all(place.slot, place.item).nth(1), Some(place));
        assert_eq!(place.slot.index_key(5), "d-v-31-20000-5");
        let values = TrendValues::Unsigned { min: 1, avg: 1, max: 1 };
        let trend = Trend { item: ItemId(7), hour: 20_000 * DAY_S + 7_200, num: 1, values };
        let place = Place::of(Row::Trend(&trend), class);
        assert_eq!(place.key(), "t-31-7-20000");
        assert!(Place::all(place.slot, place.item).eq([place]));
        let last = Place::of(Row::Value(&sample(u32::MAX, 0, 1)), class);
        assert_eq!(last.seconds().1, u32::MAX);
    }
}
