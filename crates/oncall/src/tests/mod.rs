mod calendar;
mod properties;
mod shifts;

use std::collections::BTreeSet;
use std::num::NonZeroU16;
use std::ops::Range;

use jiff::tz::TimeZone;

use crate::{Layer, OnHolidays, Override, Period, Restriction, Rotation, Schedule, Shift, Source};

pub(super) const HOUR: u32 = 3_600;

pub(super) fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

pub(super) fn days(n: u16) -> Period {
    Period::Days(NonZeroU16::new(n).unwrap())
}

pub(super) fn hours(n: u16) -> Period {
    Period::Hours(NonZeroU16::new(n).unwrap())
}

/// The moment of a text such as `2026-03-29T09:00`, by the zone's clock.
pub(super) fn at(zone: &TimeZone, text: &str) -> i64 {
    let shown: jiff::civil::DateTime = text.parse().unwrap();
    zone.to_timestamp(shown).unwrap().as_second()
}

pub(super) fn between(zone: &TimeZone, from: &str, to: &str) -> Range<i64> {
    at(zone, from)..at(zone, to)
}

/// A layer in which the users take turns.
pub(super) fn turns(users: &[u64], start: i64, period: Period) -> Layer {
    Layer {
        source: Source::Rotation(Rotation { users: users.to_vec(), period, handoff: None }),
        start,
        end: None,
        restrictions: Vec::new(),
        on_holidays: OnHolidays::Same,
    }
}

pub(super) fn schedule(zone: &TimeZone, layers: Vec<Layer>) -> Schedule {
    Schedule { zone: zone.clone(), layers, overrides: Vec::new(), holidays: BTreeSet::new() }
}

pub(super) fn instead(id: u64, user: u64, time: Range<i64>) -> Override {
    Override { id, user, time }
}

pub(super) fn daily(from: u32, to: u32) -> Restriction {
    Restriction { weekdays: 127, from: from * HOUR, to: to * HOUR }
}

/// Shifts as `user from to`, by the zone's clock and with its offset.
pub(super) fn shown(zone: &TimeZone, shifts: &[Shift]) -> Vec<String> {
    let moment = |unix: i64| {
        let zoned = jiff::Timestamp::from_second(unix).unwrap().to_zoned(zone.clone());
        zoned.strftime("%a %d %H:%M%z").to_string()
    };
    let shift =
        |one: &Shift| format!("{} {} {}", one.user, moment(one.time.start), moment(one.time.end));
    shifts.iter().map(shift).collect()
}
