//! Dates and ages (RFC 9111, 4.2).

use std::time::{Duration, UNIX_EPOCH};

use super::directives::{SECONDS_MOST, seconds};
use super::single;
use crate::http1::Field;

/// An HTTP-date in seconds since 1970 (RFC 9110, 5.6.7); `None`: it is none, or before 1970.
pub(super) fn unix_s(date: &[u8]) -> Option<u64> {
    let time = httpdate::parse_http_date(std::str::from_utf8(date).ok()?).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// The date of a time in seconds since 1970.
#[must_use]
pub fn http_date(unix_s: u64) -> String {
    /// The last second of the year 9999, beyond which the format has no dates.
    const LAST_S: u64 = 253_402_300_799;
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(unix_s.min(LAST_S)))
}

/// When and how a response arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Unix time of the first byte, in seconds.
    pub at_s: u64,
    /// Seconds since its request was sent.
    pub delay_s: u64,
}

impl Arrival {
    /// Age of the response when it arrived (RFC 9111, 4.2.3).
    #[must_use]
    pub fn age_s(self, fields: &[Field<'_>]) -> u64 {
        let date = single(fields, "date").and_then(unix_s);
        let apparent = date.map_or(0, |date| self.at_s.saturating_sub(date));
        // Of several values the first counts (RFC 9111, 5.1).
        let first = super::values(fields, "age")
            .next()
            .and_then(|list| list.split(|byte| *byte == b',').next());
        let own = first.and_then(|value| seconds(value.trim_ascii())).unwrap_or(0);
        apparent.max(own.saturating_add(self.delay_s))
    }

    /// Freshness by Expires; a date that is none is in the past.
    pub(super) fn expires_s(self, fields: &[Field<'_>]) -> Option<u64> {
        super::values(fields, "expires").next()?;
        let date = single(fields, "date").and_then(unix_s).unwrap_or(self.at_s);
        let expires = single(fields, "expires").and_then(unix_s);
        Some(expires.map_or(0, |expires| expires.saturating_sub(date)).min(SECONDS_MOST))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn age_s(fields: &[(&str, &str)], arrival: Arrival) -> u64 {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes()))
            .collect();
        arrival.age_s(&fields)
    }

    const DATE: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
    const DATE_S: u64 = 784_111_777;

    #[test]
    fn all_forms_of_dates_are_read() {
        let forms = [DATE, "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"];
        for form in forms {
            assert_eq!(unix_s(form.as_bytes()), Some(DATE_S), "{form}");
        }
        for form in ["", "0", "-1", "tomorrow", "\u{fc}"] {
            assert_eq!(unix_s(form.as_bytes()), None, "{form}");
        }
        assert_eq!(http_date(DATE_S), DATE);
        assert_eq!(http_date(u64::MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
    }

    #[test]
    fn the_age_counts_other_caches_and_the_way() {
        let arrival = |at_s, delay_s| Arrival { at_s, delay_s };
        assert_eq!(age_s(&[], arrival(DATE_S, 0)), 0);
        assert_eq!(age_s(&[("Age", "7")], arrival(DATE_S, 2)), 9);
        assert_eq!(age_s(&[("Date", DATE)], arrival(DATE_S + 30, 2)), 30);
        assert_eq!(age_s(&[("Date", DATE), ("Age", "60")], arrival(DATE_S + 30, 0)), 60);
        assert_eq!(age_s(&[("Date", DATE)], arrival(DATE_S - 9, 0)), 0, "a clock that is ahead");
        assert_eq!(age_s(&[("Age", "50, 3")], arrival(DATE_S, 2)), 52, "the first of a list");
        assert_eq!(age_s(&[("Age", "x")], arrival(DATE_S, 1)), 1);
        assert_eq!(age_s(&[("Age", "99999999999999999999")], arrival(0, 0)), SECONDS_MOST);
    }

    proptest! {
        #[test]
        fn dates_are_read_as_they_are_written(unix in 0..253_402_300_799_u64) {
            prop_assert_eq!(unix_s(http_date(unix).as_bytes()), Some(unix));
        }
    }
}
