//! Intervals, periods, maintenance and service levels: recorded cases of many time zones around
//! their changes of the clocks (`cases/*.jsonl`, which `cargo xtask conformance` runs too), and
//! laws that hold at any time of any zone.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;

use eval::calendar::{Shift, Unit, WallTime, local, second_of_day, wall_second};
use eval::conformance::run_file;
use eval::interval::{Scheduling, UpdateInterval};
use eval::maintenance::{Maintenance, MaintenancePeriod, Repeat};
use eval::sla::{Asked, History, Reporting, ServiceLevel};
use eval::time::TimePeriod;
use jiff::Zoned;
use jiff::tz::TimeZone;
use proptest::prelude::*;

/// A file of cases, and at least how many it has.
const FILES: &[(&str, &str, usize)] = &[
    ("date_functions", include_str!("cases/date_functions.jsonl"), 60),
    ("item_delay", include_str!("cases/item_delay.jsonl"), 140),
    ("maintenance", include_str!("cases/maintenance.jsonl"), 350),
    ("maintenance_period", include_str!("cases/maintenance_period.jsonl"), 270),
    ("scheduled", include_str!("cases/scheduled.jsonl"), 550),
    ("sla", include_str!("cases/sla.jsonl"), 350),
    ("time_period", include_str!("cases/time_period.jsonl"), 150),
    ("time_shift", include_str!("cases/time_shift.jsonl"), 430),
    ("trend_rows", include_str!("cases/trend_rows.jsonl"), 300),
];

#[test]
fn recorded_cases() {
    let mut failed = Vec::new();
    for (name, lines, least) in FILES {
        let report = run_file(name, lines).unwrap();
        assert!(report.passed + report.failed.len() >= *least, "cases of {name} are missing");
        let of_file = report.failed.into_iter().map(|reason| format!("{name}: {reason}"));
        failed.extend(of_file);
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

/// A zone and a year in which its clocks were changed, if ever.
const ZONES: &[(&str, i16)] = &[
    ("Africa/Casablanca", 2024),
    ("America/New_York", 2024),
    ("America/Sao_Paulo", 2018),
    ("America/St_Johns", 2010),
    ("Asia/Kathmandu", 2024),
    ("Asia/Kolkata", 2024),
    ("Australia/Lord_Howe", 2024),
    ("Europe/Berlin", 2024),
    ("Pacific/Apia", 2011),
    ("UTC", 2024),
];

fn zone(name: &str) -> TimeZone {
    TimeZone::get(name).unwrap()
}

/// Unix times of the begin and the end of a year.
fn year(zone: &TimeZone, year: i16) -> (i64, i64) {
    let begin = |year| {
        let date = jiff::civil::date(year, 1, 1);
        date.to_zoned(zone.clone()).unwrap().timestamp().as_second()
    };
    (begin(year), begin(year + 1))
}

/// The moment fits, by the letter of the text.
fn fits(scheduling: &Scheduling, at: &Zoned) -> bool {
    let has = |set: u64, value: i8| set >> u32::try_from(value).unwrap() & 1 == 1;
    has(scheduling.month_days.into(), at.day())
        && has(scheduling.week_days.into(), at.weekday().to_monday_one_offset())
        && has(scheduling.hours.into(), at.hour())
        && has(scheduling.minutes, at.minute())
        && has(scheduling.seconds, at.second())
}

/// Walks a year minute by minute beside the schedule: each minute that fits is met once, in each
/// of the hours that the clocks repeat too, and nothing else is.
#[test]
fn a_year_of_checks_has_no_check_twice_and_leaves_none_out() {
    for (name, of) in ZONES {
        let tz = zone(name);
        let (begin, end) = year(&tz, *of);
        for text in ["h0-3m0,30", "wd7h2m/15", "md1,15,31h23m59", "m20", "h1-2m1-59/29"] {
            let scheduling = Scheduling::parse(text).unwrap();
            let mut at = begin - 1;
            let mut met = BTreeSet::new();
            while let Some(next) = scheduling.next(at, &tz).filter(|next| *next < end) {
                assert!(next > at && met.insert(next), "{name} {text} {next}");
                at = next;
            }
            let wanted = (begin..end)
                .step_by(60)
                .filter(|second| fits(&scheduling, &local(*second, &tz)))
                .collect::<BTreeSet<i64>>();
            assert!(!wanted.is_empty() && met == wanted, "{name} {text}");
        }
    }
}

fn set(low: u32, high: u32) -> impl Strategy<Value = String> {
    let part =
        (low..=high, low..=high, 1..=high - low, 0..4u8).prop_map(move |(a, b, step, kind)| {
            let (from, to) = (a.min(b), a.max(b));
            match kind {
                0 => from.to_string(),
                1 => format!("{from}-{to}"),
                2 if to > from => format!("{from}-{to}/{}", (step - 1) % (to - from) + 1),
                _ => format!("/{step}"),
            }
        });
    prop::collection::vec(part, 1..4).prop_map(|parts| parts.join(","))
}

fn field(name: &'static str, low: u32, high: u32) -> impl Strategy<Value = String> {
    let given = set(low, high).prop_map(move |set| format!("{name}{set}"));
    prop_oneof![Just(String::new()), given]
}

fn scheduling() -> impl Strategy<Value = String> {
    (field("md", 1, 31), field("wd", 1, 7), field("h", 0, 23), field("m", 0, 59), field("s", 0, 59))
        .prop_map(|(md, wd, h, m, s)| format!("{md}{wd}{h}{m}{s}"))
        .prop_filter("nothing is given", |text| !text.is_empty())
}

fn time_period() -> impl Strategy<Value = String> {
    (1..=7u8, 0..7u8, 0..1440u32, 1..1440u32).prop_map(|(day, days, from, length)| {
        let (to_day, to) = ((day + days).min(7), (from + length).min(1440));
        let clock = |minute: u32| format!("{:02}:{:02}", minute / 60, minute % 60);
        format!("{day}-{to_day},{}-{}", clock(from), clock(to))
    })
}

fn interval() -> impl Strategy<Value = String> {
    let flexible = (0..90_000u32, time_period())
        .prop_map(|(delay, period)| format!("{}/{period}", delay.min(86_400)));
    let custom = prop::collection::vec(prop_oneof![flexible, scheduling()], 0..5);
    (0..=86_400u32, custom).prop_map(|(delay, custom)| {
        custom.into_iter().fold(delay.to_string(), |all, part| format!("{all};{part}"))
    })
}

/// A zone and a moment, half of them within hours of a change of its clocks.
fn moment() -> impl Strategy<Value = (TimeZone, i64)> {
    (0..ZONES.len(), 0..400 * 86_400i64, -40_000..40_000i64, any::<bool>()).prop_map(
        |(at, offset, near, by_change)| {
            let tz = zone(ZONES[at].0);
            let anywhere = year(&tz, ZONES[at].1).0 + offset;
            let from = jiff::Timestamp::from_second(anywhere).unwrap();
            let change = tz.preceding(from).next().filter(|_| by_change);
            let moment = change.map_or(anywhere, |change| change.timestamp().as_second() + near);
            (tz, moment.max(86_400))
        },
    )
}

fn repeat() -> impl Strategy<Value = Repeat> {
    prop_oneof![
        (0..400 * 86_400i64)
            .prop_map(|at| Repeat::OneTime { start_date: 1_704_067_200 + at / 60 * 60 }),
        (1..12u32).prop_map(|every| Repeat::Daily { every }),
        (1..4u32, 1..128u8)
            .prop_map(|(every, days_of_week)| Repeat::Weekly { every, days_of_week }),
        (1..4096u16, 1..32u8).prop_map(|(months, day)| Repeat::MonthlyDay { months, day }),
        (1..4096u16, 1..128u8, 1..6u8).prop_map(|(months, days_of_week, week)| {
            Repeat::MonthlyWeekday { months, days_of_week, week }
        }),
    ]
}

fn maintenance_period() -> impl Strategy<Value = MaintenancePeriod> {
    (repeat(), 0..1440u32, 5..6000u32).prop_map(|(repeat, start, length)| MaintenancePeriod {
        repeat,
        start_time_s: start * 60,
        period_s: length * 60,
    })
}

/// Some seconds for all laws together.
fn bounded() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) }
}

proptest! {
    #![proptest_config(bounded())]

    #[test]
    fn what_is_printed_is_read_as_the_same(text in interval()) {
        let interval = UpdateInterval::parse(&text).unwrap();
        let printed = interval.to_string();
        prop_assert_eq!(UpdateInterval::parse(&printed).unwrap(), interval, "{}", printed);
        prop_assert!(UpdateInterval::validate(&text, false).is_ok());
    }

    #[test]
    fn a_printed_period_is_read_as_the_same(text in time_period()) {
        let period = TimePeriod::parse(&text).unwrap();
        prop_assert_eq!(TimePeriod::parse(&period.to_string()).unwrap(), period);
    }

    #[test]
    fn a_check_is_later_and_fits(text in scheduling(), (tz, at) in moment()) {
        let scheduling = Scheduling::parse(&text).unwrap();
        if let Some(next) = scheduling.next(at, &tz) {
            prop_assert!(next > at);
            prop_assert!(fits(&scheduling, &local(next, &tz)));
            // Nothing between is left out: from any moment before it is still the next one.
            prop_assert_eq!(scheduling.next(at + (next - at) / 2, &tz).min(Some(next)), Some(next));
        }
    }

    #[test]
    fn checks_are_later_and_come_as_often_as_delays_say(
        text in interval(), (tz, at) in moment(), seed: u64,
    ) {
        let interval = UpdateInterval::parse(&text).unwrap();
        let mut now = u32::try_from(at).unwrap();
        let mut regular = 0;
        let end = now.saturating_add(86_400);
        let least = interval.flexible.iter().map(|f| f.delay_s).chain([interval.delay_s])
            .filter(|delay| *delay > 0).min();
        for _ in 0..500 {
            let Some(next) = interval.next_check(seed, false, now, &tz) else { break };
            prop_assert!(next > now, "{} {}", next, now);
            if next >= end { break }
            let at = local(next.into(), &tz);
            if !interval.scheduling.iter().any(|s| fits(s, &at)) {
                // One of the delays that hold then is why.
                let delay = interval.delay_at(next.into(), &tz);
                prop_assert!(delay > 0);
                prop_assert_eq!(u64::from(next % delay), seed % u64::from(delay));
                regular += 1;
            }
            now = next;
        }
        // Each delay of its own has at most so many checks; where periods meet one more.
        let parts = interval.flexible.len() + 1;
        let most = least.map_or(0, |least| (86_400 / least as usize + 2) * parts);
        prop_assert!(regular <= most, "{} checks, at most {}", regular, most);
    }

    #[test]
    fn a_maintenance_runs_from_its_starts_on(
        periods in prop::collection::vec(maintenance_period(), 1..3),
        (tz, at) in moment(), before in 0..40 * 86_400i64, after in 1..40 * 86_400i64,
    ) {
        let maintenance =
            Maintenance { active_since: at - before, active_till: at + after, periods };
        if let Some(running) = maintenance.running(at, &tz) {
            prop_assert!(running.since <= at && at < running.until);
            prop_assert!(running.until <= maintenance.active_till);
            // Days count 24 hours: after a change of the clocks a day may count that did not before.
            let daily = |period: &MaintenancePeriod| matches!(period.repeat, Repeat::Daily { .. });
            // Weeks count from their Monday, also before the maintenance becomes active.
            // On a day whose start the clocks skip no period runs.
            let date = local(running.since, &tz).date();
            let skipped = |period: &MaintenancePeriod| {
                let start = wall_second(date, period.start_time_s, &tz).unwrap();
                second_of_day(&local(start, &tz)) != period.start_time_s
            };
            let moved = |period: &MaintenancePeriod| daily(period) || skipped(period);
            if running.since >= maintenance.active_since && !maintenance.periods.iter().any(moved) {
                prop_assert!(maintenance.running(running.since, &tz).is_some());
            }
        }
        if let Some(next) = maintenance.next_start(at, &tz) {
            prop_assert!(next > at && next < maintenance.active_till);
            prop_assert!(maintenance.running(next, &tz).is_some(), "starts at {}", next);
        }
    }

    #[test]
    fn the_start_of_a_unit_is_not_later_nor_too_early(
        (tz, at) in moment(), unit in prop::sample::select(vec![
            Unit::Minute, Unit::Hour, Unit::Day, Unit::Week, Unit::Month, Unit::Year,
        ]),
    ) {
        let start = WallTime::at(at, &tz).floor(unit, &tz).unwrap();
        let (start, longest) = (start.second().unwrap(), match unit {
            Unit::Second | Unit::Minute => 60,
            Unit::Hour => 3_600,
            Unit::Day => 86_400,
            Unit::Week => 7 * 86_400,
            Unit::Month => 31 * 86_400,
            Unit::Year => 366 * 86_400,
        });
        // A unit with a repeated hour is longer.
        prop_assert!((0..longest + 3_600).contains(&(at - start)), "{} {}", start, at);
        let none = Shift::parse("", Unit::Second).unwrap();
        prop_assert_eq!(none.apply(WallTime::at(at, &tz), &tz).unwrap().second(), Some(at));
    }

    #[test]
    fn uptime_and_downtime_are_the_service_time(
        (tz, at) in moment(), kind in 0..5u8, slo in 0..=100u8,
        schedule in prop::collection::vec((0..604_000u32, 60..200_000u32), 0..4),
        changes in prop::collection::vec((-40_000_000..40_000_000i64, -1..6i8), 0..20),
    ) {
        let schedule =
            schedule.into_iter().map(|(from, length)| (from, (from + length).min(604_800)));
        let level = ServiceLevel {
            reporting: Reporting::from_api(kind).unwrap(),
            slo: f64::from(slo),
            schedule: schedule.collect(),
            excluded: Vec::new(),
            effective: 0,
            tz,
        };
        let mut changes: Vec<(i64, i8)> = changes.iter().map(|(by, to)| (at + by, *to)).collect();
        changes.sort_unstable();
        let history = History { created: i64::MIN, changes: &changes };
        let periods = level.periods(Asked { to: Some(at), count: Some(3), from: None }, at);
        prop_assert_eq!(periods.len(), 3);
        prop_assert!(periods.windows(2).all(|pair| pair[0].to == pair[1].from));
        let last = periods[2];
        // Where midnight comes twice, the day ends with the first.
        prop_assert!(last.from <= at && at < last.to + 3_600);
        for period in periods {
            let windows = level.windows(period);
            prop_assert!(windows.windows(2).all(|pair| pair[0].to < pair[1].from));
            let whole: i64 = windows.iter().map(|window| window.to - window.from).sum();
            let got = level.indicator(period, &history, i64::from(u32::MAX));
            prop_assert_eq!(got.uptime_s + got.downtime_s, whole);
            prop_assert!(got.error_budget_s <= 0);
            let now = level.indicator(period, &history, at);
            prop_assert!(now.uptime_s <= got.uptime_s && now.downtime_s <= got.downtime_s);
        }
    }
}
