//! Values in, findings out.

use config::snapshot::TriggerRecovery;
use model::{InitialTrigger, ItemId, TriggerId, TriggerState, ValueType};

use crate::testing::{
    Rig, calculated, expression, function, host, item, memory, snapshot, trigger,
};

fn floats(ids: &[u64]) -> Vec<config::snapshot::Item> {
    ids.iter().map(|id| item(*id, 1, &format!("k{id}"), ValueType::Float)).collect()
}

/// Values (item, text, clock) in one batch, and what is found.
type Step<'a> = (&'a [(u64, &'a str, u32)], &'a [&'a str]);

/// Takes step after step.
fn check(rig: &mut Rig, steps: &[Step<'_>]) {
    for (n, (values, found)) in steps.iter().enumerate() {
        rig.send_many(values);
        assert_eq!(rig.found(), *found, "step {n}: {values:?}");
    }
}

#[test]
fn problem_and_recovery() {
    let mut rig = Rig::new(snapshot(vec![host(1)], floats(&[1]), vec![trigger(1, "{1}>5", &[1])]));
    check(
        &mut rig,
        &[
            (&[(1, "5", 1)], &[]),
            (&[(1, "6", 2)], &["1 problem @2 trigger 1"]),
            (&[(1, "7", 3)], &[]),
            (&[(1, "1", 4)], &["1 ok @4 trigger 1"]),
            (&[(1, "1", 5)], &[]),
        ],
    );
}

#[test]
fn values_of_one_batch_are_seen_one_after_another() {
    let mut multi = trigger(2, "{1}>5", &[1]);
    multi.multiple = true;
    let triggers = vec![trigger(1, "{1}>5", &[1]), multi];
    let mut rig = Rig::new(snapshot(vec![host(1)], floats(&[1]), triggers));
    check(
        &mut rig,
        &[
            (
                &[(1, "6", 10), (1, "7", 11), (1, "1", 12), (1, "8", 13)],
                &[
                    "1 problem @10 trigger 1",
                    "2 problem @10 trigger 2",
                    "2 problem @11 trigger 2",
                    "1 ok @12 trigger 1",
                    "2 ok @12 trigger 2",
                    "1 problem @13 trigger 1",
                    "2 problem @13 trigger 2",
                ],
            ),
            // A late value is judged at its own time.
            (&[(1, "9", 5)], &["2 problem @5 trigger 2"]),
            (&[(1, "1", 20)], &["1 ok @20 trigger 1", "2 ok @20 trigger 2"]),
        ],
    );
}

#[test]
fn recovery_expression() {
    let mut once = trigger(1, "{1}>5", &[1, 2]);
    once.recovery = TriggerRecovery::RecoveryExpression(expression("{2}=1"));
    let mut multi = once.clone();
    (multi.id, multi.multiple) = (TriggerId(2), true);
    multi.description = "trigger 2".into();
    let mut rig = Rig::new(snapshot(vec![host(1)], floats(&[1, 2]), vec![once, multi]));
    check(
        &mut rig,
        &[
            (&[(1, "6", 1)], &["1 problem @1 trigger 1", "2 problem @1 trigger 2"]),
            (&[(2, "0", 2)], &[]),
            (&[(2, "1", 3)], &[]),
            (&[(1, "1", 4)], &["1 ok @4 trigger 1", "2 ok @4 trigger 2"]),
            (&[(1, "7", 5)], &["1 problem @5 trigger 1", "2 problem @5 trigger 2"]),
            (&[(1, "2", 6)], &["1 ok @6 trigger 1", "2 ok @6 trigger 2"]),
        ],
    );
}

#[test]
fn people_alone_close_problems_of_a_trigger_without_recovery() {
    let mut none = trigger(1, "{1}>5", &[1]);
    none.recovery = TriggerRecovery::None;
    let mut rig = Rig::new(snapshot(vec![host(1)], floats(&[1]), vec![none]));
    check(&mut rig, &[(&[(1, "6", 1)], &["1 problem @1 trigger 1"]), (&[(1, "1", 2)], &[])]);
    rig.cores[0].triggers.set_state(TriggerId(1), TriggerState::Ok);
    check(&mut rig, &[(&[(1, "1", 3)], &[]), (&[(1, "9", 4)], &["1 problem @4 trigger 1"])]);
}

#[test]
fn dependent_triggers_keep_their_state_during_a_master_problem() {
    // The master has the higher id: it is evaluated first all the same.
    let mut dependent = trigger(1, "{1}>5", &[2]);
    dependent.depends_on = Box::from([TriggerId(9)]);
    let triggers = vec![dependent, trigger(9, "{1}>5", &[1])];
    let mut rig = Rig::new(snapshot(vec![host(1)], floats(&[1, 2]), triggers));
    check(
        &mut rig,
        &[
            (&[(2, "6", 1), (1, "6", 1)], &["9 problem @1 trigger 9"]),
            (&[(2, "6", 2)], &[]),
            (&[(1, "1", 3)], &["9 ok @3 trigger 9"]),
            (&[(2, "7", 4)], &["1 problem @4 trigger 1"]),
            (&[(1, "8", 5)], &["9 problem @5 trigger 9"]),
            (&[(2, "1", 6)], &[]),
            (&[(1, "1", 7)], &["9 ok @7 trigger 9"]),
            (&[(2, "2", 8)], &["1 ok @8 trigger 1"]),
        ],
    );
}

#[test]
fn unknown_operands() {
    let mut divide = trigger(3, "1/{1}>5", &[3]);
    divide.functions = Box::from([function(1, 3, "last", "")]);
    let triggers =
        vec![trigger(1, "{1}>5 or {2}>7", &[1, 2]), trigger(2, "{1}>5 and {2}>7", &[1, 2]), divide];
    let mut rig = Rig::new(snapshot(vec![host(1)], floats(&[1, 2, 3]), triggers));
    let no_data = "Cannot evaluate function last(/h1/k1): not enough data.";
    let bad = "Cannot evaluate function last(/h1/k1): item is not supported.";
    check(
        &mut rig,
        &[
            (&[(2, "8", 1)], &["1 problem @1 trigger 1", &format!("2 error {no_data}")]),
            (&[(2, "1", 2)], &[&format!("1 error {no_data}"), "2 error "]),
            (&[(1, "1", 3)], &["1 error ", "1 ok @3 trigger 1"]),
            (&[(1, "!gone", 4)], &[&format!("1 error {bad}")]),
            (&[(1, "!gone", 5)], &[]),
            (&[(1, "9", 6)], &["1 error ", "1 problem @6 trigger 1"]),
            (
                &[(3, "0", 7)],
                &["3 error Cannot evaluate expression: division by zero at \"/{1}>5\""],
            ),
            (&[(3, "0.1", 8)], &["3 error ", "3 problem @8 trigger 3"]),
        ],
    );
}

#[test]
fn time_based_functions() {
    let mut nodata = trigger(1, "{1}=1", &[1]);
    nodata.functions = Box::from([function(1, 1, "nodata", "10s")]);
    let mut multi = nodata.clone();
    (multi.id, multi.multiple) = (TriggerId(2), true);
    let mut rig = Rig::new(snapshot(vec![host(1)], floats(&[1]), vec![nodata, multi]));
    rig.send(1, &[("1", 0)]);
    assert_eq!(rig.found(), [""; 0]);
    rig.pass(100);
    let found = rig.found();
    let of = |id: &str| found.iter().filter(|f| f.starts_with(id)).count();
    assert_eq!((of("1 problem"), of("2 problem")), (1, 3), "{found:?}");
    rig.send(1, &[("1", 100)]);
    assert_eq!(rig.found(), ["1 ok @100 trigger 1", "2 ok @100 trigger 1"]);
}

#[test]
fn functions_without_kept_values_have_no_value() {
    // Functions, days of history and of trends, and why the trigger has no value.
    for (name, parameter, history, trends, reason) in [
        ("last", "", 0, 365, "last(/h1/k1): item history is disabled."),
        ("nodata", "30m", 0, 365, "nodata(/h1/k1,30m): item history is disabled."),
        ("trendmax", "1h:now/h", 7, 0, "trendmax(/h1/k1,1h:now/h): item trends are disabled."),
    ] {
        let mut items = floats(&[1]);
        (items[0].history_days, items[0].trends_days) = (history, trends);
        // Other functions of the trigger make no difference.
        let mut over = trigger(1, "1=1 or {1}>=0", &[1]);
        over.functions = Box::from([function(1, 1, name, parameter)]);
        let mut rig = Rig::new(snapshot(vec![host(1)], items, vec![over]));
        rig.send(1, &[("9", 2)]);
        assert_eq!(rig.found(), [format!("1 error Cannot evaluate function {reason}")], "{name}");
    }
}

#[test]
fn values_without_history_reach_dependents_and_trends() {
    let mut items = floats(&[1, 2]);
    items[0].history_days = 0;
    items[1].depend_on(ItemId(1));
    items.push(calculated(3, 1, "newest", "last(//k1)", "1s"));
    let dependent = trigger(1, "{1}>5", &[2]);
    let mut rig = Rig::new(snapshot(vec![host(1)], items, vec![dependent]));
    rig.send(1, &[("9", 2)]);
    assert_eq!(rig.found(), ["1 problem @2 trigger 1"]);
    assert_eq!(rig.cores[0].cache.last_two(ItemId(1)), [None, None]);
    assert!(rig.stored(1).is_empty());
    assert_eq!(rig.cores[0].folder.pending(ItemId(1), 0, u32::MAX).len(), 1);
    rig.pass(2);
    let errors = rig.cores[0].slots.errors();
    let reason = "Cannot evaluate function last(//k1): not enough data.";
    assert_eq!(errors, [(ItemId(3), Box::from(reason))]);
}

#[test]
fn initial_states_are_taken_over() {
    let initial = InitialTrigger {
        trigger: TriggerId(1),
        state: TriggerState::Problem,
        error: String::from("old"),
    };
    let config = snapshot(vec![host(1)], floats(&[1]), vec![trigger(1, "{1}>5", &[1])]);
    let mut rig = Rig::with(config, vec![memory()], vec![initial]);
    check(&mut rig, &[(&[(1, "9", 1)], &["1 error "]), (&[(1, "1", 2)], &["1 ok @2 trigger 1"])]);
}

#[test]
fn disabled_and_broken_triggers() {
    let mut off = trigger(1, "{1}>5", &[1]);
    off.enabled = false;
    let mut broken = trigger(2, "{1}>5", &[1]);
    broken.invalid = Some("macro {$X} has no value".into());
    let mut rig = Rig::new(snapshot(vec![host(1)], floats(&[1]), vec![off, broken]));
    check(
        &mut rig,
        &[(&[(1, "9", 1)], &["2 error macro {$X} has no value"]), (&[(1, "9", 2)], &[])],
    );
}

#[test]
fn evaluation_is_counted_once_per_trigger_and_turn() {
    let triggers = vec![trigger(1, "{1}+{2}>100", &[1, 2])];
    let mut rig = Rig::new(snapshot(vec![host(1)], floats(&[1, 2]), triggers));
    let before = rig.cores[0].gauges.read().evaluations;
    rig.send_many(&[(1, "1", 1), (2, "1", 1)]);
    assert_eq!(rig.cores[0].gauges.read().evaluations - before, 1);
    rig.send_many(&[(1, "1", 2), (1, "1", 3), (2, "1", 2)]);
    assert_eq!(rig.cores[0].gauges.read().evaluations - before, 3);
}
