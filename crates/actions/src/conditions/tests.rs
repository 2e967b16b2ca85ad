//! When conditions on problems, internal events and events of services are met.

use config::snapshot::Macros;
use eval::macros::MacroDef;
use jiff::tz::TimeZone;
use objects::{EventObject, Severity};

use super::problem::*;
use super::*;
use crate::globals::Globals;

fn condition(kind: i64, operator: i64, value: &str, value2: &str) -> Condition {
    Condition {
        kind: ConditionKind::from_number(kind).unwrap(),
        operator: Op::from_number(operator).unwrap(),
        value: value.to_owned(),
        value2: value2.to_owned(),
        id: String::new(),
    }
}

fn tags(tags: &[(&str, &str)]) -> Vec<(String, String)> {
    tags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Each case: kind, operator, value, name of the tag, met.
type Case = (i64, i64, &'static str, &'static str, bool);

fn check(subject: &dyn Subject, cases: &[Case]) {
    for (kind, operator, value, value2, met) in cases {
        let condition = condition(*kind, *operator, value, value2);
        assert_eq!(subject.meets(&condition), *met, "{condition:?}");
    }
}

fn origin() -> Origin {
    Origin { hosts: [1, 2].into(), groups: [10, 11].into(), templates: [100, 101].into() }
}

#[test]
fn conditions_on_problems() {
    let macros = Macros {
        global: vec![MacroDef::text("{$WORK}", "3,18:00-19:00").unwrap()],
        ..Macros::default()
    };
    // A Wednesday, 18:30 in UTC and 19:30 in the server's zone.
    let globals = Globals { macros: &macros, tz: TimeZone::get("Europe/Berlin").unwrap() };
    let tags = tags(&[("scope", "disk"), ("scope", "database"), ("empty", "")]);
    let subject = TriggerSubject {
        origin: origin(),
        triggers: [50, 51].into(),
        name: "Load is high on Web",
        severity: Severity::from_number(3).unwrap(),
        clock: 1_734_546_600,
        suppressed: false,
        tags: &tags,
        globals: &globals,
    };
    check(
        &subject,
        &[
            // Groups include those that they are nested under; one host in the group decides.
            (0, 0, "11", "", true),
            (0, 0, "12", "", false),
            (0, 1, "11", "", false),
            (0, 1, "12", "", true),
            // One host that differs is enough.
            (1, 0, "2", "", true),
            (1, 0, "3", "", false),
            (1, 1, "2", "", true),
            (1, 1, "3", "", true),
            // The template's trigger stands for those of hosts.
            (2, 0, "51", "", true),
            (2, 0, "52", "", false),
            (2, 1, "51", "", false),
            (2, 1, "52", "", true),
            (3, 2, "high on Web", "", true),
            (3, 2, "High", "", false),
            (3, 3, "High", "", true),
            (3, 3, "high", "", false),
            (4, 0, "3", "", true),
            (4, 1, "3", "", false),
            (4, 5, "3", "", true),
            (4, 5, "4", "", false),
            (4, 6, "3", "", true),
            (4, 6, "2", "", false),
            (6, 4, "1-7,00:00-24:00", "", true),
            (6, 7, "1-7,00:00-24:00", "", false),
            (6, 4, "3,19:00-20:00", "", true),
            (6, 4, "{$WORK}", "", false),
            (6, 7, "{$WORK}", "", true),
            (6, 4, "{$NONE}", "", false),
            (6, 7, "{$NONE}", "", false),
            (13, 0, "101", "", true),
            (13, 0, "102", "", false),
            (13, 1, "101", "", false),
            (13, 1, "102", "", true),
            (16, 10, "", "", false),
            (16, 11, "", "", true),
            (25, 0, "scope", "", true),
            (25, 0, "scop", "", false),
            (25, 1, "scope", "", false),
            (25, 1, "scop", "", true),
            (25, 2, "cop", "", true),
            (25, 3, "cop", "", false),
            (25, 3, "xyz", "", true),
            (26, 0, "database", "scope", true),
            (26, 0, "Database", "scope", false),
            (26, 1, "database", "scope", false),
            (26, 1, "other", "scope", true),
            (26, 1, "other", "none", true),
            (26, 2, "data", "scope", true),
            (26, 2, "data", "empty", false),
            (26, 3, "data", "scope", false),
            (26, 3, "data", "empty", true),
            (26, 0, "", "scope", false),
            (26, 0, "", "empty", true),
            // Those of other sources are not met.
            (18, 0, "1", "", false),
            (27, 0, "1", "", false),
        ],
    );
    let suppressed = TriggerSubject { suppressed: true, ..subject };
    check(&suppressed, &[(16, 10, "", "", true), (16, 11, "", "", false)]);
}

#[test]
fn a_single_host_that_is_the_one_does_not_differ() {
    let one = Origin { hosts: [1].into(), ..Origin::default() };
    let subject = InternalSubject { origin: one, object: EventObject::Item, tags: &[] };
    check(&subject, &[(1, 1, "1", "", false), (1, 1, "2", "", true), (0, 1, "5", "", true)]);
}

#[test]
fn conditions_on_internal_events() {
    let tags = tags(&[("team", "core")]);
    let subject = InternalSubject { origin: origin(), object: EventObject::LldRule, tags: &tags };
    check(
        &subject,
        &[
            (23, 0, "2", "", true),
            (23, 0, "0", "", false),
            (0, 0, "10", "", true),
            (1, 0, "1", "", true),
            (13, 0, "100", "", true),
            (25, 0, "team", "", true),
            (26, 0, "core", "team", true),
            (26, 1, "core", "team", false),
            (3, 2, "", "", false),
        ],
    );
}

#[test]
fn conditions_on_services() {
    let tags = tags(&[("sla", "gold")]);
    let subject = ServiceSubject { id: 7, name: "Shop front", tags: &tags };
    check(
        &subject,
        &[
            (27, 0, "7", "", true),
            (27, 0, "8", "", false),
            (27, 1, "7", "", false),
            (28, 2, "front", "", true),
            (28, 3, "front", "", false),
            (25, 2, "sl", "", true),
            (26, 0, "gold", "sla", true),
            (26, 3, "old", "sla", false),
            (0, 0, "10", "", false),
        ],
    );
}

#[test]
fn conditions_are_combined() {
    let tags = tags(&[("a", "1"), ("b", "2")]);
    let subject = ServiceSubject { id: 7, name: "Shop", tags: &tags };
    let named = |id: &str, condition: Condition| Condition { id: id.to_owned(), ..condition };
    // A and B are of one kind, and A is met; C is met; D is not.
    let conditions = [
        named("A", condition(25, 0, "a", "")),
        named("B", condition(25, 0, "x", "")),
        named("C", condition(27, 0, "7", "")),
        named("D", condition(28, 2, "Bank", "")),
    ];
    for (combined, formula, of, expected) in [
        (EvalType::AndOr, "", 3, true),
        (EvalType::AndOr, "", 4, false),
        (EvalType::AndOr, "", 0, true),
        (EvalType::And, "", 1, true),
        (EvalType::And, "", 2, false),
        (EvalType::Or, "", 4, true),
        (EvalType::Or, "", 0, true),
        (EvalType::Formula, "A and not B", 4, true),
        (EvalType::Formula, "(A or B) and not (C and D)", 4, true),
        (EvalType::Formula, "A and (B or D)", 4, false),
        (EvalType::Formula, "A and", 4, false),
    ] {
        let conditions = conditions[..of].to_vec();
        let filter = Filter { combined, formula: formula.to_owned(), conditions };
        assert_eq!(filter.fits(&subject), expected, "{combined:?} {formula} {of}");
    }
}
