//! The wall clock of a zone as a number: its seconds since 1970, as if the zone were UTC.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::{AmbiguousOffset, TimeZone};

use crate::{DAY_S, TIME_MAX};

/// What the wall clock shows at a moment.
pub(crate) fn wall_of(zone: &TimeZone, unix: i64) -> i64 {
    let offset = zone.to_offset(timestamp(unix));
    unix.saturating_add(i64::from(offset.seconds()))
}

/// The moment at which the wall clock shows this for the first time. What the clock skips is the moment of the jump,
/// so that a later wall clock is never an earlier moment.
pub(crate) fn unix_of(zone: &TimeZone, wall: i64) -> i64 {
    let shown = TimeZone::UTC.to_datetime(timestamp(wall));
    match zone.to_ambiguous_timestamp(shown).offset() {
        AmbiguousOffset::Unambiguous { offset } => wall - i64::from(offset.seconds()),
        // The offset before the clock goes back is the larger one.
        AmbiguousOffset::Fold { before, .. } => wall - i64::from(before.seconds()),
        AmbiguousOffset::Gap { before, after } => {
            let early = wall - i64::from(after.seconds());
            let jump = zone.following(timestamp(early)).next();
            jump.map_or(wall - i64::from(before.seconds()), |jump| jump.timestamp().as_second())
        }
    }
}

/// Midnight at the begin of a day.
pub(crate) fn midnight(date: Date) -> i64 {
    let noon = TimeZone::UTC.to_timestamp(date.at(12, 0, 0, 0));
    noon.map_or(0, |noon| noon.as_second().div_euclid(DAY_S) * DAY_S)
}

/// The day of a wall clock.
pub(crate) fn date_of(wall: i64) -> Date {
    TimeZone::UTC.to_datetime(timestamp(wall)).date()
}

/// Times far outside of what schedules have count as the nearest one.
fn timestamp(second: i64) -> Timestamp {
    Timestamp::from_second(second.clamp(-TIME_MAX, 2 * TIME_MAX)).unwrap_or(Timestamp::UNIX_EPOCH)
}
