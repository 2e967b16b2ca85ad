use jiff::tz::TimeZone;

use super::*;
use crate::{By, Entry, Turn};

#[test]
fn users_take_turns_by_weeks_with_a_handoff() {
    let zone = zone("Europe/Berlin");
    let mut layer = turns(&[1, 2, 3], at(&zone, "2026-01-05T14:00"), days(7));
    if let Source::Rotation(rotation) = &mut layer.source {
        rotation.handoff = Some(9 * HOUR);
    }
    let schedule = schedule(&zone, vec![layer]);
    let shifts = schedule.shifts(between(&zone, "2026-01-01T00:00", "2026-02-03T00:00"));
    assert_eq!(
        shown(&zone, &shifts),
        [
            "1 Mon 05 14:00+0100 Mon 12 09:00+0100",
            "2 Mon 12 09:00+0100 Mon 19 09:00+0100",
            "3 Mon 19 09:00+0100 Mon 26 09:00+0100",
            "1 Mon 26 09:00+0100 Mon 02 09:00+0100",
            "2 Mon 02 09:00+0100 Tue 03 00:00+0100",
        ]
    );
    let before = between(&zone, "2026-01-01T00:00", "2026-01-05T14:00");
    assert_eq!(schedule.gaps(between(&zone, "2026-01-01T00:00", "2026-02-03T00:00")), [before]);
}

#[test]
fn a_day_keeps_its_time_of_day_when_clocks_change() {
    let zone = zone("Europe/Berlin");
    let layer = turns(&[1, 2], at(&zone, "2026-03-28T08:00"), days(1));
    let spring = schedule(&zone, vec![layer]);
    let shifts = spring.shifts(between(&zone, "2026-03-28T08:00", "2026-03-31T08:00"));
    assert_eq!(
        shown(&zone, &shifts),
        [
            "1 Sat 28 08:00+0100 Sun 29 08:00+0200",
            "2 Sun 29 08:00+0200 Mon 30 08:00+0200",
            "1 Mon 30 08:00+0200 Tue 31 08:00+0200",
        ]
    );
    let length = |n: usize| shifts[n].time.end - shifts[n].time.start;
    assert_eq!((length(0), length(1)), (23 * 3_600, 24 * 3_600));

    let layer = turns(&[1, 2], at(&zone, "2026-10-24T20:00"), hours(12));
    let autumn = schedule(&zone, vec![layer]);
    let shifts = autumn.shifts(between(&zone, "2026-10-24T20:00", "2026-10-25T20:00"));
    assert_eq!(
        shown(&zone, &shifts),
        ["1 Sat 24 20:00+0200 Sun 25 08:00+0100", "2 Sun 25 08:00+0100 Sun 25 20:00+0100"]
    );
    assert_eq!(shifts[0].time.end - shifts[0].time.start, 13 * 3_600);
}

#[test]
fn a_handoff_that_the_clock_skips_is_at_the_jump() {
    let zone = zone("Europe/Berlin");
    let layer = turns(&[1, 2], at(&zone, "2026-03-28T02:30"), days(1));
    let schedule = schedule(&zone, vec![layer]);
    let shifts = schedule.shifts(between(&zone, "2026-03-28T02:30", "2026-03-30T02:30"));
    assert_eq!(
        shown(&zone, &shifts),
        ["1 Sat 28 02:30+0100 Sun 29 03:00+0200", "2 Sun 29 03:00+0200 Mon 30 02:30+0200"]
    );
}

#[test]
fn a_handoff_in_a_repeated_hour_is_at_its_first_pass() {
    let zone = zone("Europe/Berlin");
    let layer = turns(&[1, 2], at(&zone, "2026-10-24T02:30"), days(1));
    let schedule = schedule(&zone, vec![layer]);
    let shifts = schedule.shifts(between(&zone, "2026-10-24T02:30", "2026-10-26T02:30"));
    assert_eq!(
        shown(&zone, &shifts),
        ["1 Sat 24 02:30+0200 Sun 25 02:30+0200", "2 Sun 25 02:30+0200 Mon 26 02:30+0100"]
    );
    // The clock shows 02:15 again, after the handoff.
    let second_pass = shifts[1].time.start + 45 * 60;
    assert_eq!(schedule.on_call(second_pass).unwrap().user, 2);
    assert_eq!(schedule.on_call(shifts[1].time.start - 1).unwrap().user, 1);
}

#[test]
fn nights_belong_to_the_day_on_which_they_begin() {
    let zone = TimeZone::UTC;
    let mut layer = turns(&[7], at(&zone, "2026-01-01T00:00"), days(7));
    // From Friday evening: Saturday's and Sunday's nights do not count.
    layer.restrictions = vec![Restriction { weekdays: 0b001_1111, ..daily(18, 8) }];
    let schedule = schedule(&zone, vec![layer]);
    let shifts = schedule.shifts(between(&zone, "2026-01-08T12:00", "2026-01-13T12:00"));
    assert_eq!(
        shown(&zone, &shifts),
        [
            "7 Thu 08 18:00+0000 Fri 09 08:00+0000",
            "7 Fri 09 18:00+0000 Sat 10 08:00+0000",
            "7 Mon 12 18:00+0000 Tue 13 08:00+0000",
        ]
    );
    assert!(schedule.on_call(at(&zone, "2026-01-10T20:00")).is_none());
}

#[test]
fn a_night_is_an_hour_shorter_when_the_clock_skips_one() {
    let zone = zone("Europe/Berlin");
    let mut layer = turns(&[7], at(&zone, "2026-01-01T00:00"), days(7));
    layer.restrictions = vec![daily(22, 6)];
    let schedule = schedule(&zone, vec![layer]);
    let shifts = schedule.shifts(between(&zone, "2026-03-28T12:00", "2026-03-29T12:00"));
    assert_eq!(shown(&zone, &shifts), ["7 Sat 28 22:00+0100 Sun 29 06:00+0200"]);
    assert_eq!(shifts[0].time.end - shifts[0].time.start, 7 * 3_600);
}

#[test]
fn holidays_can_have_a_layer_of_their_own() {
    let zone = zone("Europe/Berlin");
    let start = at(&zone, "2026-12-01T00:00");
    let mut workdays = turns(&[1], start, days(1));
    workdays.restrictions = vec![daily(9, 17)];
    workdays.on_holidays = OnHolidays::Never;
    let mut holidays = turns(&[2], start, days(1));
    holidays.on_holidays = OnHolidays::Only;
    let mut schedule = schedule(&zone, vec![workdays, holidays]);
    schedule.holidays.insert("2026-12-25".parse().unwrap());
    let within = between(&zone, "2026-12-24T00:00", "2026-12-27T00:00");
    assert_eq!(
        shown(&zone, &schedule.shifts(within)),
        [
            "1 Thu 24 09:00+0100 Thu 24 17:00+0100",
            "2 Fri 25 00:00+0100 Sat 26 00:00+0100",
            "1 Sat 26 09:00+0100 Sat 26 17:00+0100",
        ]
    );
}

#[test]
fn later_layers_and_overrides_win() {
    let zone = TimeZone::UTC;
    let mut nights = turns(&[2], 0, days(1));
    nights.restrictions = vec![daily(20, 8)];
    let mut schedule = schedule(&zone, vec![turns(&[1], 0, days(1)), nights]);
    let cover = between(&zone, "2026-05-04T18:00", "2026-05-04T22:00");
    let later = between(&zone, "2026-05-04T21:00", "2026-05-04T23:00");
    schedule.overrides = vec![instead(11, 3, cover), instead(12, 4, later)];
    let shifts = schedule.shifts(between(&zone, "2026-05-04T12:00", "2026-05-05T12:00"));
    assert_eq!(
        shown(&zone, &shifts),
        [
            "1 Mon 04 12:00+0000 Mon 04 18:00+0000",
            "3 Mon 04 18:00+0000 Mon 04 21:00+0000",
            "4 Mon 04 21:00+0000 Mon 04 23:00+0000",
            "2 Mon 04 23:00+0000 Tue 05 08:00+0000",
            "1 Tue 05 08:00+0000 Tue 05 12:00+0000",
        ]
    );
    let by: Vec<By> = shifts.iter().map(|shift| shift.by).collect();
    let (days, nights) = (By::Layer(0), By::Layer(1));
    assert_eq!(by, [days, By::Override(11), By::Override(12), nights, days]);
    let alone = schedule.layer_shifts(1, between(&zone, "2026-05-04T12:00", "2026-05-05T12:00"));
    assert_eq!(shown(&zone, &alone), ["2 Mon 04 20:00+0000 Tue 05 08:00+0000"]);
}

#[test]
fn a_layer_ends_and_leaves_a_gap() {
    let zone = TimeZone::UTC;
    let mut layer = turns(&[1, 2], at(&zone, "2026-05-01T00:00"), days(1));
    layer.end = Some(at(&zone, "2026-05-03T12:00"));
    let schedule = schedule(&zone, vec![layer]);
    let within = between(&zone, "2026-05-02T00:00", "2026-05-05T00:00");
    assert_eq!(
        schedule.gaps(within.clone()).as_slice(),
        std::slice::from_ref(&(at(&zone, "2026-05-03T12:00")..within.end))
    );
    assert_eq!(schedule.turn(at(&zone, "2026-05-04T00:00")), Turn::default());
}

#[test]
fn the_next_in_turn_follow_the_whole_schedule() {
    let zone = TimeZone::UTC;
    let start = at(&zone, "2026-05-04T00:00");
    let mut schedule = schedule(&zone, vec![turns(&[1, 2, 3], start, days(7))]);
    let now = at(&zone, "2026-05-05T00:00");
    assert_eq!(schedule.turn(now), Turn { now: Some(1), next: vec![2, 3] });
    let reached: Vec<Option<u64>> = (1..=4).map(|n| schedule.turn(now).after(n)).collect();
    assert_eq!(reached, [Some(2), Some(3), Some(1), Some(2)]);

    // 9 stands in for 1: 1 is on call again only after the others.
    schedule.overrides = vec![instead(1, 9, now..start + 7 * 86_400)];
    assert_eq!(schedule.turn(now), Turn { now: Some(9), next: vec![2, 3, 1] });

    // In a gap the next one is the first one to come.
    let before = schedule.turn(start - 10);
    assert_eq!(before, Turn { now: None, next: vec![1, 9, 2, 3] });
    assert_eq!((before.after(1), before.after(2), before.after(5)), (Some(1), Some(9), Some(1)));
}

#[test]
fn a_single_user_is_the_next_one_too() {
    let schedule = schedule(&TimeZone::UTC, vec![turns(&[5], 0, days(7))]);
    let turn = schedule.turn(1_000_000);
    assert_eq!((turn.now, turn.after(1), turn.after(7)), (Some(5), Some(5), Some(5)));
    assert_eq!(Turn::default().after(1), None);
}

#[test]
fn entries_of_a_calendar_are_shifts() {
    let zone = TimeZone::UTC;
    let entries = vec![Entry { user: 1, time: 100..200 }, Entry { user: 2, time: 150..300 }];
    let layer =
        Layer { source: Source::Calendar(entries), end: Some(250), ..turns(&[], 120, days(1)) };
    let found = schedule(&zone, vec![layer]).shifts(0..1_000);
    let found: Vec<_> = found.into_iter().map(|shift| (shift.user, shift.time)).collect();
    assert_eq!(found, [(1, 120..150), (2, 150..250)]);
}

#[test]
fn an_empty_layer_and_an_empty_time_have_no_shifts() {
    let schedule = schedule(&TimeZone::UTC, vec![turns(&[], 0, days(1))]);
    assert!(schedule.shifts(0..1_000).is_empty());
    assert!(schedule.shifts(50..50).is_empty());
    assert!(schedule.gaps(50..50).is_empty());
    assert!(schedule.layer_shifts(7, 0..1_000).is_empty());
}
