//! Maintenance across clock changes, as a Zabbix 7.0.22 server ran it: `maintenance.tsv` has, for
//! zones with a change on a day before or on that of the look, the start that the server found.

use eval::maintenance::{Maintenance, MaintenancePeriod, Repeat};
use jiff::tz::TimeZone;

/// zone, time of the look, kind (2 days, 3 weeks, 4 months), every, days of the week, months, day of
/// the month, start, period, active since; then since when it runs, 0 = it does not.
const CASES: &str = include_str!("maintenance.tsv");

#[test]
fn clock_changes_are_treated_as_by_the_reference() {
    let mut wrong = Vec::new();
    for line in CASES.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let number = |at: usize| fields[at].parse::<i64>().unwrap();
        let small = |at: usize| u32::try_from(number(at)).unwrap();
        let (days_of_week, months) =
            (u8::try_from(number(4)).unwrap(), u16::try_from(number(5)).unwrap());
        let (every, day) = (small(3), u8::try_from(number(6)).unwrap());
        let repeat = match number(2) {
            2 => Repeat::Daily { every },
            3 => Repeat::Weekly { every, days_of_week },
            _ if days_of_week == 0 => Repeat::MonthlyDay { months, day },
            _ => {
                Repeat::MonthlyWeekday { months, days_of_week, week: u8::try_from(every).unwrap() }
            }
        };
        let period = MaintenancePeriod { repeat, start_time_s: small(7), period_s: small(8) };
        let maintenance =
            Maintenance { active_since: number(9), active_till: i64::MAX, periods: vec![period] };
        let tz = TimeZone::posix(fields[0]).unwrap();
        let since = maintenance.running(number(1), &tz).map_or(0, |running| running.since);
        if since != number(10) {
            wrong.push(format!("{line}: {since}"));
        }
    }
    assert!(CASES.lines().count() > 100);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
