//! Where periods over trends begin and end.

use jiff::civil::{DateTime, Weekday};
use jiff::tz::{AmbiguousOffset, Dst, Offset, TimeZone};
use jiff::{SignedDuration, Timestamp, Zoned};
use model::DAY_S;

use crate::calendar::{Shift, ShiftOp, Unit, local};

/// The wall clock at a border of a trend period. The field's server computes these borders in another
/// way than the time shifts of other functions ([`crate::calendar::WallTime`]): it moves by elapsed
/// hours, days and weeks, and corrects the wall clock by one hour where daylight saving time begins
/// or ends on the way, whatever the difference of the zone is. The recorded cases hold each of these
/// rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TrendTime {
    civil: DateTime,
    /// Offset and kind of time at the last moment on the way, which may be others than at `civil`.
    offset: Offset,
    dst: Dst,
}

impl TrendTime {
    /// The wall clock at a unix time.
    pub(super) fn at(at: i64, tz: &TimeZone) -> Self {
        Self::of(&local(at, tz))
    }

    fn of(at: &Zoned) -> Self {
        let dst = at.time_zone().to_offset_info(at.timestamp()).dst();
        Self { civil: at.datetime(), offset: at.offset(), dst }
    }

    /// Applies the operations of a shift in order.
    pub(super) fn shifted(self, shift: &Shift, tz: &TimeZone) -> Option<Self> {
        shift.0.iter().try_fold(self, |at, op| match op {
            ShiftOp::Move(count, unit) => at.plus(*count, *unit, tz),
            ShiftOp::Floor(unit) => at.floor(*unit, tz),
        })
    }

    /// Start of the unit.
    pub(super) fn floor(self, unit: Unit, tz: &TimeZone) -> Option<Self> {
        if unit != Unit::Week {
            return Some(Self { civil: unit.floor(self.civil)?, ..self });
        }
        let since_monday = i64::from(self.civil.date().weekday().since(Weekday::Monday));
        let from = if since_monday == 0 { self } else { self.plus(-since_monday, Unit::Day, tz)? };
        // Not always a Monday where the zone left out a day, or has two midnights.
        from.floor(Unit::Day, tz)
    }

    /// `count` units later, or earlier if negative.
    pub(super) fn plus(self, count: i64, unit: Unit, tz: &TimeZone) -> Option<Self> {
        let length_s = match unit {
            Unit::Second => 1,
            Unit::Minute => 60,
            Unit::Hour => 3_600,
            Unit::Day => i64::from(DAY_S),
            Unit::Week => 7 * i64::from(DAY_S),
            Unit::Month | Unit::Year => {
                let from = self.corrected(self.timestamp(tz)?, tz)?;
                let civil = from.civil.checked_add(unit.span(count)?).ok()?;
                let moved = Self { civil, ..from };
                return moved.corrected(moved.timestamp(tz)?, tz);
            }
        };
        let elapsed = SignedDuration::from_secs(count.checked_mul(length_s)?);
        self.corrected(self.timestamp(tz)?.checked_add(elapsed).ok()?, tz)
    }

    /// The wall clock at `at`, an hour later or earlier if daylight saving time began or ended.
    fn corrected(self, at: Timestamp, tz: &TimeZone) -> Option<Self> {
        let to = Self::of(&at.to_zoned(tz.clone()));
        let hours = i64::from(self.dst.is_dst()) - i64::from(to.dst.is_dst());
        Some(Self { civil: to.civil.checked_add(Unit::Hour.span(hours)?).ok()?, ..to })
    }

    /// The moment. Where the kind of time is another at `civil`, or `civil` is shown twice or never,
    /// the offset of the way decides.
    fn timestamp(self, tz: &TimeZone) -> Option<Timestamp> {
        let offset = match tz.to_ambiguous_timestamp(self.civil).offset() {
            AmbiguousOffset::Unambiguous { offset } => {
                let dst = tz.to_offset_info(offset.to_timestamp(self.civil).ok()?).dst();
                if dst == self.dst { offset } else { self.offset }
            }
            AmbiguousOffset::Gap { .. } => self.offset,
            AmbiguousOffset::Fold { before, after } => {
                let kind = |offset: Offset| {
                    let at = offset.to_timestamp(self.civil).ok()?;
                    Some(tz.to_offset_info(at).dst())
                };
                if after == self.offset || kind(before) != Some(self.dst) { after } else { before }
            }
        };
        offset.to_timestamp(self.civil).ok()
    }

    /// Unix time of the moment.
    pub(super) fn second(self, tz: &TimeZone) -> Option<i64> {
        Some(self.timestamp(tz)?.as_second())
    }
}
