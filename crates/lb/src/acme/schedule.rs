//! When a certificate is ordered. All times are seconds since 1970-01-01 00:00:00 UTC.

use serde::{Deserialize, Serialize};

/// Pauses after the first, second, … attempt that failed, in seconds. Let's Encrypt accepts five failed
/// checks per host name and hour.
const PAUSES_S: [u64; 6] = [60, 300, 900, 3_600, 10_800, 43_200];
/// Longest pause that an authority can demand.
const HOLD_MAX_S: u64 = 7 * 86_400;
/// Longest pause while the authority is down, unless it demands a longer one.
const DOWN_MAX_S: u64 = 3_600;
/// Pause after an attempt that ends it if the user applies the configuration again.
const RELOAD_S: u64 = 10;
/// Remaining time in which a failed renewal is urgent.
pub(super) const URGENT_S: u64 = 14 * 86_400;

/// When a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Validity {
    pub(super) from_s: u64,
    pub(super) until_s: u64,
}

/// When the authority suggests to renew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start_s: u64,
    pub(super) end_s: u64,
}

impl Window {
    pub(super) fn contains(self, time_s: u64) -> bool {
        (self.start_s..self.end_s).contains(&time_s)
    }
}

impl Validity {
    fn lifetime_s(self) -> u64 {
        self.until_s.saturating_sub(self.from_s)
    }

    /// When a third of the lifetime is left.
    fn renewal_s(self) -> u64 {
        self.until_s.saturating_sub(self.lifetime_s() / 3)
    }

    /// When the renewal begins: at a third of the lifetime or when the authority wants it, but not soon
    /// after the certificate arrived. A clock that is ahead, or an authority that always wants a renewal,
    /// would otherwise lead to one order after the other.
    pub(super) fn due_s(self, issued_s: u64, suggested_s: Option<u64>) -> u64 {
        let gap_s = (self.lifetime_s() / 100).clamp(1, 86_400);
        suggested_s.unwrap_or_else(|| self.renewal_s()).max(issued_s + gap_s)
    }

    /// A moment in the window that the authority suggests (RFC 9773, 4.2), but early enough for some
    /// attempts. An empty window and one after the end do not count.
    pub(super) fn suggested_s(self, window: Window, random: u64) -> u64 {
        let Window { start_s, end_s } = window;
        if start_s >= end_s || start_s >= self.until_s {
            return self.renewal_s();
        }
        let chosen_s = start_s + random % (end_s - start_s);
        chosen_s.min(self.until_s - self.lifetime_s() / 6)
    }

    /// Interval of requests for that window, unless the authority names another one; in seconds.
    pub(super) fn ask_interval_s(self) -> u64 {
        (self.lifetime_s() / 200).clamp(10, 6 * 3_600)
    }

    pub(super) fn remaining_s(self, now_s: u64) -> u64 {
        self.until_s.saturating_sub(now_s)
    }
}

/// The last certificate and the attempts since then. They survive a restart, so that a process that is started
/// again and again does not send requests each time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Attempts {
    /// Number of attempts in a row.
    pub(super) failures: u32,
    /// Start of the last one.
    pub(super) began_s: u64,
    /// Earliest start of the next one.
    pub(super) next_s: u64,
    /// When the last certificate arrived.
    pub(super) issued_s: u64,
    /// Until then, the authority wants no requests.
    pub(super) held_s: u64,
    /// The authority could not be reached or could not serve: other certificates wait as well.
    pub(super) down: bool,
}

impl Attempts {
    /// Counts an attempt that begins. If the process ends during it, it has failed.
    pub(super) fn begin(&mut self, now_s: u64, random: u64) {
        self.failures = self.failures.saturating_add(1);
        self.began_s = now_s;
        self.down = false;
        let at = usize::try_from(self.failures - 1).unwrap_or(usize::MAX);
        let pause_s = PAUSES_S[at.min(PAUSES_S.len() - 1)];
        // Many engines that failed together do not return together.
        self.next_s = now_s + pause_s + random % (pause_s / 10);
    }

    /// A certificate has arrived.
    pub(super) fn issued(now_s: u64) -> Self {
        Self { issued_s: now_s, ..Self::default() }
    }

    /// The authority wants no requests for some seconds.
    pub(super) fn hold(&mut self, now_s: u64, seconds: u64) {
        self.held_s = now_s + seconds.min(HOLD_MAX_S);
        self.next_s = self.next_s.max(self.held_s);
    }

    /// The authority is down: it does not mind an attempt per hour.
    pub(super) fn note_down(&mut self) {
        self.down = true;
        self.next_s = self.next_s.min(self.began_s + DOWN_MAX_S).max(self.held_s);
    }

    /// The user has applied the configuration again: a pause that the authority did not demand ends.
    pub(super) fn reload(&mut self) {
        self.next_s = self.next_s.min(self.began_s + RELOAD_S).max(self.held_s);
    }

    /// Drops times that only a clock that was set back explains.
    pub(super) fn plausible(self, now_s: u64) -> Self {
        let late = self.began_s.max(self.issued_s) > now_s || self.next_s > now_s + HOLD_MAX_S;
        if late { Self { failures: self.failures, ..Self::default() } } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 86_400;
    const NINETY: Validity = Validity { from_s: 1_000 * DAY, until_s: 1_090 * DAY };

    #[test]
    fn certificate_is_renewed_at_a_third_of_its_lifetime() {
        assert_eq!(NINETY.renewal_s(), 1_060 * DAY);
        assert_eq!(Validity { from_s: 100, until_s: 130 }.renewal_s(), 120);
        assert_eq!(Validity { from_s: 100, until_s: 50 }.renewal_s(), 50);
    }

    #[test]
    fn a_new_certificate_is_not_renewed_at_once() {
        assert_eq!(NINETY.due_s(1_000 * DAY, None), 1_060 * DAY);
        assert_eq!(NINETY.due_s(1_000 * DAY, Some(1_030 * DAY)), 1_030 * DAY);
        let ahead_s = 1_070 * DAY;
        let next_s = NINETY.due_s(ahead_s, None);
        assert_eq!(next_s, ahead_s + 90 * DAY / 100, "the clock is ahead by 70 days");
        assert_eq!(NINETY.due_s(1_001 * DAY, Some(0)), 1_001 * DAY + 90 * DAY / 100);
    }

    #[test]
    fn the_window_of_the_authority_decides_unless_it_is_too_late() {
        let suggested_s =
            |start_s, end_s, random| NINETY.suggested_s(Window { start_s, end_s }, random);
        assert_eq!(suggested_s(1_010 * DAY, 1_012 * DAY, 0), 1_010 * DAY);
        assert_eq!(suggested_s(1_010 * DAY, 1_012 * DAY, 2 * DAY + 5), 1_010 * DAY + 5);
        assert_eq!(suggested_s(1_088 * DAY, 1_089 * DAY, 7), 1_075 * DAY);
        for (start_s, end_s) in
            [(1_010 * DAY, 1_010 * DAY), (1_095 * DAY, 1_096 * DAY), (9, 3), (u64::MAX, 0)]
        {
            assert_eq!(suggested_s(start_s, end_s, 7), NINETY.renewal_s(), "{start_s} {end_s}");
        }
        assert_eq!(suggested_s(0, u64::MAX, u64::MAX - 1), 1_075 * DAY);
    }

    #[test]
    fn pauses_grow_and_stay_within_what_an_authority_accepts() {
        let mut attempts = Attempts::default();
        let mut now_s = 1_000_000;
        let mut begun = Vec::new();
        for random in [0, u64::MAX, 3, 99, 7, 0, 0, 12_345, u64::MAX] {
            begun.push(now_s);
            attempts.begin(now_s, random);
            assert!(attempts.next_s > now_s && attempts.next_s <= now_s + 43_200 * 11 / 10);
            now_s = attempts.next_s;
        }
        for (at, start) in begun.iter().enumerate() {
            let hour = begun[at..].iter().filter(|other| **other < start + 3_600).count();
            assert!(hour <= 5, "{hour} attempts in an hour");
        }
        assert!(now_s - begun[8] >= 43_200, "the longest pause is half a day");
    }

    #[test]
    fn the_pause_of_the_authority_holds_and_is_bounded() {
        let mut attempts = Attempts::default();
        attempts.begin(1_000, 0);
        attempts.hold(1_000, 7_200);
        assert_eq!(attempts.next_s, 8_200);
        attempts.reload();
        assert_eq!(attempts.next_s, 8_200, "a reload does not end it");
        attempts.hold(1_000, u64::MAX);
        assert_eq!(attempts.next_s, 1_000 + 7 * DAY);
        attempts.hold(1_000, 1);
        assert_eq!(attempts.held_s, 1_001);
    }

    #[test]
    fn unavailable_authority_is_tried_hourly() {
        let mut attempts = Attempts { failures: 9, ..Attempts::default() };
        attempts.begin(50_000, 0);
        assert_eq!(attempts.next_s, 50_000 + 43_200);
        attempts.note_down();
        assert_eq!((attempts.next_s, attempts.down), (50_000 + 3_600, true));
        attempts.hold(50_000, 7_200);
        attempts.note_down();
        assert_eq!(attempts.next_s, 50_000 + 7_200);
        attempts.begin(60_000, 0);
        assert!(!attempts.down);
    }

    #[test]
    fn a_reload_ends_a_pause_but_not_at_once_after_an_attempt() {
        let mut attempts = Attempts { failures: 5, ..Attempts::default() };
        attempts.begin(50_000, 0);
        attempts.reload();
        assert_eq!(attempts.next_s, 50_010);
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_stop_attempts() {
        let future = Attempts { failures: 2, began_s: 9_000, next_s: 9_060, ..Attempts::default() };
        assert_eq!(future.plausible(9_001), future);
        assert_eq!(future.plausible(8_000), Attempts { failures: 2, ..Attempts::default() });
        let far = Attempts { failures: 2, began_s: 1, next_s: u64::MAX, ..Attempts::default() };
        assert_eq!(far.plausible(8_000).next_s, 0);
    }
}
