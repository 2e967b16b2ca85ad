//! What holds for every schedule, in zones with unusual clocks, around their changes.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::{By, TIME_MAX};

/// With jumps of an hour, of half an hour, at midnight, and over a whole day.
const ZONES: &[&str] = &[
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Australia/Lord_Howe",
    "America/Santiago",
    "Asia/Beirut",
    "Pacific/Apia",
    "Asia/Kathmandu",
];

/// Around the time at which Apia skipped a day, and a spring and autumn of Europe and America.
const STARTS: &[i64] = &[1_325_200_000, 1_743_300_000, 1_761_900_000, 1_774_700_000, 1_793_400_000];

fn restriction() -> impl Strategy<Value = Restriction> {
    (1_u8..128, 0_u32..96, 1_u32..=96).prop_map(|(weekdays, from, to)| Restriction {
        weekdays,
        from: from * 900,
        to: to * 900,
    })
}

fn layer(start: i64) -> impl Strategy<Value = Layer> {
    let period = prop_oneof![(1_u16..40).prop_map(hours), (1_u16..9).prop_map(days)];
    let users = prop::collection::vec(1_u64..6, 0..4);
    let restrictions = prop::collection::vec(restriction(), 0..3);
    let handoff = prop::option::of((0_u32..96).prop_map(|quarter| quarter * 900));
    let holidays =
        prop::sample::select(vec![OnHolidays::Same, OnHolidays::Never, OnHolidays::Only]);
    let offset = -400_000_i64..400_000;
    let end = prop::option::of(0_i64..600_000);
    (users, period, handoff, restrictions, holidays, offset, end).prop_map(
        move |(users, period, handoff, restrictions, on_holidays, offset, end)| Layer {
            source: Source::Rotation(Rotation { users, period, handoff }),
            start: start + offset,
            end: end.map(|length| start + offset + length),
            restrictions,
            on_holidays,
        },
    )
}

fn any_schedule() -> impl Strategy<Value = (Schedule, i64)> {
    (prop::sample::select(ZONES), prop::sample::select(STARTS)).prop_flat_map(|(name, start)| {
        let stand_in = (1_u64..6, -300_000_i64..300_000, 1_i64..100_000);
        let overrides = prop::collection::vec(stand_in, 0..4);
        let holidays = prop::collection::btree_set(-5_i64..6, 0..4);
        (prop::collection::vec(layer(start), 0..4), overrides, holidays).prop_map(
            move |(layers, overrides, holidays)| {
                let zone = zone(name);
                let day = |n: i64| crate::wall::date_of(start + n * 86_400);
                let own = |(n, (user, from, length)): (u64, (u64, i64, i64))| {
                    instead(n, user, start + from..start + from + length)
                };
                let mut made = schedule(&zone, layers);
                made.overrides = (1..).zip(overrides).map(own).collect();
                made.holidays = holidays.into_iter().map(day).collect::<BTreeSet<_>>();
                (made, start)
            },
        )
    })
}

/// The shifts, with neighbours of one user and cause joined.
fn joined(parts: Vec<Shift>) -> Vec<Shift> {
    let mut joined: Vec<Shift> = Vec::new();
    for part in parts {
        match joined.last_mut() {
            Some(last)
                if last.time.end == part.time.start
                    && (last.user, last.by) == (part.user, part.by) =>
            {
                last.time.end = part.time.end;
            }
            _ => joined.push(part),
        }
    }
    joined
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn shifts_and_gaps_fill_the_time((schedule, start) in any_schedule(), length in 1_i64..900_000) {
        let within = start - 200_000..start - 200_000 + length;
        let mut parts: Vec<Range<i64>> = schedule.gaps(within.clone());
        parts.extend(schedule.shifts(within.clone()).into_iter().map(|shift| shift.time));
        parts.sort_by_key(|part| part.start);
        let mut at = within.start;
        for part in parts {
            prop_assert_eq!(part.start, at);
            prop_assert!(part.end > part.start);
            at = part.end;
        }
        prop_assert_eq!(at, within.end);
    }

    #[test]
    fn a_part_of_the_time_has_the_same_shifts(
        (schedule, start) in any_schedule(),
        cuts in prop::collection::vec(-200_000_i64..600_000, 1..8),
    ) {
        let within = start - 200_000..start + 600_000;
        let mut cuts: Vec<i64> = cuts.into_iter().map(|cut| start + cut).collect();
        cuts.extend([within.start, within.end]);
        cuts.sort_unstable();
        cuts.dedup();
        let parts = cuts.windows(2).flat_map(|pair| schedule.shifts(pair[0]..pair[1]));
        prop_assert_eq!(joined(parts.collect()), schedule.shifts(within));
    }

    #[test]
    fn a_moment_belongs_to_the_shift_around_it((schedule, start) in any_schedule(), offset in -200_000_i64..600_000) {
        let at = start + offset;
        let shifts = schedule.shifts(at - 90_000..at + 90_000);
        let around = shifts.into_iter().find(|shift| shift.time.contains(&at));
        let now = schedule.on_call(at);
        prop_assert_eq!(now.map(|shift| (shift.user, shift.by)), around.map(|shift| (shift.user, shift.by)));
    }

    #[test]
    fn overrides_win_everywhere((schedule, start) in any_schedule(), offset in -200_000_i64..600_000) {
        let at = start + offset;
        let wanted = schedule.overrides.iter().rev().find(|one| one.time.contains(&at));
        if let Some(wanted) = wanted {
            let found = schedule.on_call(at).unwrap();
            prop_assert_eq!((found.user, found.by), (wanted.user, By::Override(wanted.id)));
        }
    }

    #[test]
    fn each_user_is_next_once((schedule, start) in any_schedule(), offset in -200_000_i64..600_000) {
        let turn = schedule.turn(start + offset);
        let mut all: Vec<u64> = turn.next.iter().copied().chain(turn.now).collect();
        let (count, everyone) = (all.len(), schedule.everyone());
        all.sort_unstable();
        all.dedup();
        prop_assert_eq!(all.len(), count);
        prop_assert!(all.iter().all(|user| everyone.contains(user)));
    }

    #[test]
    fn wall_clocks_and_moments_keep_their_order(name in prop::sample::select(ZONES), start in prop::sample::select(STARTS), a in 0_i64..500_000, b in 0_i64..500_000) {
        let zone = zone(name);
        let (a, b) = (a.min(b), a.max(b));
        let unix = |wall| crate::wall::unix_of(&zone, wall);
        prop_assert!(unix(start + a) <= unix(start + b));
        // A moment is never before the first time at which the clock shows what it shows then.
        let at = start + a;
        prop_assert!(unix(crate::wall::wall_of(&zone, at)) <= at);
    }

    #[test]
    fn extreme_times_neither_panic_nor_hang(start in 0_i64..=TIME_MAX, at in prop::sample::select(vec![i64::MIN, -1, 0, TIME_MAX, i64::MAX - 2])) {
        let made = schedule(&zone("Europe/Berlin"), vec![turns(&[1, 2], start, hours(1))]);
        made.on_call(at);
        made.turn(at);
    }
}
