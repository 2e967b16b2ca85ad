//! Runners over intervals, periods, maintenance and service levels.

use crate::calendar::{Shift, Unit, WallTime, local};
use crate::expr::{Expression, Mode};
use crate::func::TrendPeriod;
use crate::interval::UpdateInterval;
use crate::maintenance::{Maintenance, MaintenancePeriod, Repeat};
use crate::sla::{Asked, History, Reporting, ServiceLevel, Window};
use model::Timestamp;
use serde_json::Value;

use super::runners::{Fixed, wanted};
use super::{Checked, moment, text, zone};

pub(super) fn item_nextcheck(case: &Value) -> Checked {
    let tz = zone(case);
    let interval = UpdateInterval::parse(text(case, "delay")).map_err(|e| e.to_string())?;
    let active = text(case, "item_type") == "active";
    let mut at = moment(text(case, "at")).clock;
    for check in case["expect"]["checks"].as_array().unwrap() {
        let expected = moment(check.as_str().unwrap()).clock;
        // The source's mark for "never".
        let never = expected == 2_145_916_800;
        let got = interval.next_check(0, active, at, &tz);
        wanted(if never { None } else { Some(expected) }, got)?;
        at = expected;
    }
    Ok(())
}

/// All checks of a while: between `at` and `until` no other than those of `expect`.
pub(super) fn scheduled(case: &Value) -> Checked {
    let tz = zone(case);
    let interval = UpdateInterval::parse(text(case, "delay")).map_err(|e| e.to_string())?;
    let shown = |at: u32| local(i64::from(at), &tz).strftime("%FT%T%:z").to_string();
    let until = moment(text(case, "until")).clock;
    let mut at = moment(text(case, "at")).clock;
    let mut got = Vec::new();
    while let Some(next) = interval.next_check(0, false, at, &tz).filter(|next| *next < until) {
        got.push(shown(next));
        at = next;
    }
    let checks = case["expect"]["checks"].as_array().unwrap().iter();
    wanted(checks.map(|check| check.as_str().unwrap().to_owned()).collect(), got)
}

fn timeperiod(period: &Value) -> MaintenancePeriod {
    let number = |name: &str| u32::try_from(period[name].as_u64().unwrap_or(0)).unwrap();
    let small = |name: &str| u8::try_from(number(name)).unwrap();
    let months = u16::try_from(number("month")).unwrap();
    let repeat = match text(period, "timeperiod_type") {
        "onetime" => {
            Repeat::OneTime { start_date: i64::from(moment(text(period, "start_date")).clock) }
        }
        "daily" => Repeat::Daily { every: number("every") },
        "weekly" => Repeat::Weekly { every: number("every"), days_of_week: small("dayofweek") },
        _ if small("dayofweek") == 0 => Repeat::MonthlyDay { months, day: small("day") },
        _ => Repeat::MonthlyWeekday {
            months,
            days_of_week: small("dayofweek"),
            week: small("every"),
        },
    };
    MaintenancePeriod { repeat, start_time_s: number("start_time"), period_s: number("period") }
}

fn read_maintenance(case: &Value, periods: Vec<MaintenancePeriod>) -> Maintenance {
    let at = |name: &str| i64::from(moment(text(case, name)).clock);
    Maintenance { active_since: at("active_since"), active_till: at("active_till"), periods }
}

pub(super) fn maintenance_period(case: &Value) -> Checked {
    let maintenance = read_maintenance(case, vec![timeperiod(&case["period"])]);
    let tz = zone(case);
    for expect in case["expect"].as_array().unwrap() {
        let now = i64::from(moment(text(expect, "at")).clock);
        let on = maintenance.running(now, &tz).is_some();
        if expect["in_maintenance"].as_bool() != Some(on) {
            return Err(format!("at {} got {on}", expect["at"]));
        }
    }
    Ok(())
}

/// Several periods; each moment with the start of the one that runs, if one does.
pub(super) fn maintenance(case: &Value) -> Checked {
    let periods = case["periods"].as_array().unwrap().iter().map(timeperiod).collect();
    let maintenance = read_maintenance(case, periods);
    let tz = zone(case);
    for expect in case["expect"].as_array().unwrap() {
        let now = i64::from(moment(text(expect, "at")).clock);
        let got = maintenance.running(now, &tz).map(|running| running.since);
        let since = expect["since"].as_str().map(|since| i64::from(moment(since).clock));
        if got != since {
            let got = got.map(|got| local(got, &tz).to_string());
            return Err(format!("at {} wanted {}, got {got:?}", expect["at"], expect["since"]));
        }
    }
    Ok(())
}

pub(super) fn time_period(case: &Value) -> Checked {
    let at = moment(&format!("{}Z", text(case, "time_utc"))).clock;
    let periods = crate::time::parse_periods(text(case, "period"));
    let got = periods.map(|p| crate::time::in_periods(&p, i64::from(at), &zone(case)));
    wanted(case["expect"]["in_period"].as_bool(), got.ok())
}

pub(super) fn update_interval(case: &Value) -> Checked {
    let valid = UpdateInterval::validate(text(case, "update_interval"), false).is_ok();
    wanted(case["expect"]["valid"].as_bool(), Some(valid))
}

/// An update interval that an item may be given: it can be read, and something is collected.
pub(super) fn item_delay(case: &Value) -> Checked {
    let text = text(case, "delay");
    let never = UpdateInterval::parse(text).is_ok_and(|interval| !interval.ever_checks());
    let valid = UpdateInterval::validate(text, false).is_ok() && !never;
    wanted(case["expect"]["valid"].as_bool(), Some(valid))
}

/// Where `now` with a shift is. `step`: the recorded end is the last multiple of so many seconds.
pub(super) fn time_shift(case: &Value) -> Checked {
    let tz = zone(case);
    let shift = text(case, "shift").strip_prefix("now").unwrap();
    let shift = Shift::parse(shift, Unit::Second).ok_or("no time shift")?;
    for expect in case["expect"].as_array().unwrap() {
        let now = i64::from(moment(text(expect, "now")).clock);
        let end = shift.apply(WallTime::at(now, &tz), &tz).and_then(|end| end.to_zoned(&tz));
        let end = end.ok_or("out of range")?;
        let wanted = i64::from(moment(text(expect, "end")).clock);
        let got = end.timestamp().as_second();
        if got - got.rem_euclid(case["step"].as_i64().unwrap_or(1)) != wanted {
            return Err(format!("at {} wanted {}, got {end}", expect["now"], expect["end"]));
        }
    }
    Ok(())
}

/// The first and the last of hourly trends (of full hours of UTC) that a period holds.
pub(super) fn trend_rows(case: &Value) -> Checked {
    let tz = zone(case);
    let period = TrendPeriod::parse(text(case, "param")).ok_or("no period over trends")?;
    for expect in case["expect"].as_array().unwrap() {
        let (first, last) = period
            .range(moment(text(expect, "now")).clock, &tz, Unit::Hour, 0)
            .ok_or("out of range")?;
        let got = (first.next_multiple_of(3600), last / 3600 * 3600);
        let row = |name: &str| moment(text(expect, name)).clock;
        if got != (row("first"), row("last")) {
            let shown = |at: u32| local(i64::from(at), &tz).to_string();
            return Err(format!("wanted {expect}, got {} {}", shown(got.0), shown(got.1)));
        }
    }
    Ok(())
}

/// Functions without an item, at moments of a zone.
pub(super) fn date_functions(case: &Value) -> Checked {
    let expression = Expression::parse(text(case, "expression")).map_err(|e| e.to_string())?;
    for expect in case["expect"].as_array().unwrap() {
        let now = Timestamp { ns: 0, ..moment(text(expect, "now")) };
        let mut operands = Fixed { macros: &Value::Null, now, tz: zone(case) };
        let got = crate::expr::eval(&expression, &mut operands, Mode::Strict)
            .map_err(|e| e.to_string())?
            .as_text();
        if got.as_deref() != expect["value"].as_str() {
            return Err(format!("at {} wanted {}, got {got:?}", expect["now"], expect["value"]));
        }
    }
    Ok(())
}

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap()
}

fn window(value: &Value) -> Window {
    Window { from: number(&value[0]), to: number(&value[1]) }
}

/// Reporting periods of a service level, and for each of its services and periods the up time,
/// down time, indicator and error budget.
pub(super) fn sla(case: &Value) -> Checked {
    let list = |name: &str| case[name].as_array().unwrap().iter();
    let second = |value: &Value| u32::try_from(number(value)).unwrap();
    let level = ServiceLevel {
        reporting: Reporting::from_api(u8::try_from(number(&case["reporting"])).unwrap()).unwrap(),
        slo: text(case, "slo").parse().unwrap(),
        schedule: list("schedule").map(|row| (second(&row[0]), second(&row[1]))).collect(),
        excluded: list("excluded").map(window).collect(),
        effective: number(&case["effective"]),
        tz: zone(case),
    };
    let now = number(&case["now"]);
    let asked = &case["asked"];
    let asked = Asked {
        from: asked["from"].as_i64(),
        to: asked["to"].as_i64(),
        count: asked["count"].as_u64().map(|count| usize::try_from(count).unwrap()),
    };
    let periods = level.periods(asked, now);
    let expected = &case["expect"];
    wanted(expected["periods"].as_array().unwrap().iter().map(window).collect(), periods.clone())?;
    for (at, service) in list("services").enumerate() {
        let changes: Vec<(i64, i8)> = service["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (number(&row[0]), i8::try_from(number(&row[1])).unwrap()))
            .collect();
        let history = History { created: number(&service["created"]), changes: &changes };
        for (period, row) in periods.iter().zip(expected["services"][at].as_array().unwrap()) {
            let got = level.indicator(*period, &history, now);
            let sli = if got.sli.is_some() { row[2].as_f64() } else { None };
            let same = match (sli, got.sli) {
                (Some(a), Some(b)) => (a - b).abs() < 1e-9,
                (a, b) => a.is_none() && b.is_none() && row[2].as_f64() == Some(-1.0),
            };
            let seconds = [got.uptime_s, got.downtime_s, got.error_budget_s];
            if !same || seconds != [number(&row[0]), number(&row[1]), number(&row[3])] {
                return Err(format!("service {at}, {period:?}: wanted {row}, got {got:?}"));
            }
        }
    }
    Ok(())
}
