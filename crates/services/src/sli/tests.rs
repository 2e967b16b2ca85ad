//! Periods and indicators against a recording of Zabbix 7.0.22, and by hand.

use serde_json::Value as Json;

use super::*;

fn number(value: &Json) -> i64 {
    value.as_i64().unwrap()
}

fn pair(value: &Json) -> Interval {
    (number(&value[0]), number(&value[1]))
}

fn list<T>(value: &Json, one: impl Fn(&Json) -> T) -> Vec<T> {
    value.as_array().unwrap().iter().map(one).collect()
}

fn downtime(value: &Json) -> Downtime {
    let name = value[0].as_str().unwrap().to_owned();
    Downtime { name, from: number(&value[1]), to: number(&value[2]) }
}

fn agreement(case: &Json) -> Agreement {
    Agreement {
        period: SlaPeriod::from_number(number(&case["period"])).unwrap(),
        zone: TimeZone::get(case["zone"].as_str().unwrap()).unwrap(),
        slo: case["slo"].as_str().unwrap().parse().unwrap(),
        effective: number(&case["effective"]),
        schedule: list(&case["schedule"], pair),
        excluded: list(&case["excluded"], downtime),
    }
}

#[test]
fn indicators_are_those_of_the_reference() {
    let cases: Json = serde_json::from_str(include_str!("../../tests/data/sli.json")).unwrap();
    let mut cells = 0;
    for case in cases.as_array().unwrap() {
        let agreement = agreement(case);
        let service = Timeline {
            created: number(&case["created"]),
            starts_down: false,
            changes: list(&case["alarms"], |one| (number(&one[0]), number(&one[1]) >= 0)),
        };
        let now = number(&case["now"]);
        let given = |name: &str| case[name].as_i64();
        let periods = given("periods").map(|periods| usize::try_from(periods).unwrap());
        let asked = Asked { from: given("from"), to: given("to"), periods };
        let expected = case["cells"].as_array().unwrap();
        let found = agreement.periods(asked, now);
        assert_eq!(found, list(&case["cells"], pair), "{asked:?} of {agreement:?}");
        for (period, cell) in found.into_iter().zip(expected) {
            let found = agreement.within(period).indicator(&service, now);
            let about = format!("{period:?} of {agreement:?} {service:?}");
            let numbers = (found.uptime, found.downtime, found.error_budget);
            assert_eq!(numbers, (number(&cell[2]), number(&cell[3]), number(&cell[5])), "{about}");
            let sli = cell[4].as_f64().filter(|sli| *sli >= 0.0);
            assert_eq!(found.sli.is_some(), sli.is_some(), "{about}");
            assert!((found.sli.unwrap_or(0.0) - sli.unwrap_or(0.0)).abs() < 1e-9, "{about}");
            // Downtimes that overlap are not in the recording: the reference shows parts of them.
            if !cell[6].is_null() {
                assert_eq!(found.excluded, list(&cell[6], downtime), "{about}");
            }
            cells += 1;
        }
    }
    assert!(cells > 500, "{cells}");
}

#[test]
fn periods_that_are_asked_for() {
    const DAY: i64 = 86_400;
    let agreement = Agreement {
        period: SlaPeriod::Daily,
        zone: TimeZone::UTC,
        slo: 99.9,
        effective: 990 * DAY + 7,
        schedule: Vec::new(),
        excluded: Vec::new(),
    };
    let now = 1_000 * DAY + 5_000;
    for (from, to, periods, first, last) in [
        (None, None, None, 990, 1_001),
        (None, None, Some(30), 971, 1_001),
        (None, Some(997 * DAY + 5), None, 990, 998),
        (None, Some(980 * DAY), None, 0, 0),
        (None, Some(1_030 * DAY + 5), None, 1_011, 1_031),
        (Some(995 * DAY + 5), None, None, 995, 1_001),
        (Some(950 * DAY + 5), None, None, 950, 970),
        (Some(1_005 * DAY), None, None, 0, 0),
        (Some(700 * DAY), Some(997 * DAY), None, 898, 998),
        (Some(950 * DAY + 5), Some(1_000 * DAY), None, 950, 1_001),
        (Some(1_000 * DAY + 5), Some(1_000 * DAY + 3), None, 1_000, 1_001),
        (Some(1_000 * DAY), Some(999 * DAY), None, 0, 0),
        (Some(995 * DAY), Some(now), Some(2), 999, 1_001),
        (Some(700 * DAY), None, Some(100), 700, 800),
        // The period that ends beyond the times that can be shown does not count.
        (None, Some(TIME_MAX), Some(3), 24_852, 24_855),
        (None, Some(TIME_MAX), Some(1), 24_854, 24_855),
        (Some(24_852 * DAY + 5), Some(TIME_MAX), Some(2), 24_853, 24_855),
        (Some(24_852 * DAY + 5), Some(TIME_MAX), None, 24_852, 24_855),
        (Some(TIME_MAX), None, Some(3), 0, 0),
        (None, Some(0), Some(3), 0, 1),
        (None, Some(0), None, 0, 0),
    ] {
        let asked = Asked { from, to, periods };
        let found = agreement.periods(asked, now);
        let ends = found.first().zip(found.last()).map(|(first, last)| (first.0, last.1));
        let wanted = (first < last).then_some((first * DAY, last * DAY));
        assert_eq!(ends, wanted, "{asked:?}");
        assert!(found.windows(2).all(|two| two[0].1 == two[1].0), "{asked:?}");
    }
}
