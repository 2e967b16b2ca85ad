//! Each test is one fact about the order and the timing of escalations.

use super::*;

const T: i64 = 1_800_000_000;

fn operation(id: u64, first: u32, last: u32) -> StepOperation {
    StepOperation {
        id,
        first,
        last: Some(last).filter(|last| *last > 0),
        duration_s: None,
        conditions: Acknowledgement { combined: EvalType::AndOr, wanted: Vec::new() },
    }
}

fn plan(operations: Vec<StepOperation>) -> Plan {
    Plan {
        duration_s: NonZeroU32::new(60).unwrap(),
        operations,
        has_recovery: true,
        pauses_suppressed: true,
        pauses_symptoms: true,
        notifies_if_canceled: true,
    }
}

pub(super) fn open() -> Problem {
    Problem {
        recovered: false,
        acknowledged: false,
        suppressed: Suppressed::No,
        symptom: false,
        depends_on_problem: false,
        calm: None,
        reopened: false,
        missing: None,
    }
}

fn recovered() -> Problem {
    Problem { recovered: true, ..open() }
}

/// An escalation that is looked at whenever it is due or something happens.
struct Run {
    plan: Plan,
    progress: Option<Progress>,
    now: i64,
}

impl Run {
    fn new(plan: Plan) -> Self {
        Self { plan, progress: Some(Progress::start(T)), now: T }
    }

    /// What is done `seconds` after the start, in short: `1:10,11` is step 1 with its operations.
    fn at(&mut self, seconds: i64, problem: &Problem) -> String {
        self.now = T + seconds;
        let Some(before) = self.progress else { return "ended".into() };
        let turn = self.plan.look(problem, before, self.now);
        self.progress = turn.next;
        let done = |order: &Order| match order {
            Order::Step { step, operations } => {
                let ids: Vec<String> = operations.iter().map(u64::to_string).collect();
                format!("{step}:{}", ids.join(","))
            }
            Order::Recovery => "recovery".into(),
            Order::Cancel(missing) => format!("{missing:?}"),
            Order::WithholdEnd(reason) => format!("{reason:?} end"),
            Order::Withhold { reason, step, operations } => {
                format!("{reason:?} {step}:{}", operations.len())
            }
        };
        let orders: Vec<String> = turn.orders.iter().map(done).collect();
        if let Some(progress) = &mut self.progress {
            let withheld =
                |order: &Order| matches!(order, Order::Withhold { .. } | Order::WithholdEnd(_));
            progress.told |= turn.orders.iter().any(|order| !withheld(order));
        }
        orders.join(" ")
    }

    /// Seconds after the start; -1 = an event.
    fn due(&self) -> Option<i64> {
        self.progress.map(|progress| progress.due().map_or(-1, |due| due - T))
    }
}

#[test]
fn steps_follow_each_other_after_the_duration() {
    let mut run = Run::new(plan(vec![operation(10, 1, 3), operation(11, 2, 2)]));
    assert_eq!((run.at(0, &open()), run.due()), ("1:10".into(), Some(60)));
    assert_eq!((run.at(30, &open()), run.due()), (String::new(), Some(60)), "too early");
    assert_eq!((run.at(60, &open()), run.due()), ("2:10,11".into(), Some(120)));
    assert_eq!((run.at(120, &open()), run.due()), ("3:10".into(), Some(-1)));
    assert_eq!((run.at(900, &open()), run.due()), (String::new(), Some(-1)));
    assert_eq!((run.at(999, &recovered()), run.due()), ("recovery".into(), None));
}

#[test]
fn delays_of_steps_do_not_add_up() {
    let mut run = Run::new(plan(vec![operation(10, 1, 0)]));
    run.at(3, &open());
    for (late, due) in [(62, 120), (125, 180), (180, 240)] {
        assert_eq!(run.at(late, &open()).len(), 4);
        assert_eq!(run.due(), Some(due));
    }
}

#[test]
fn missed_steps_do_not_follow_at_once() {
    let mut run = Run::new(plan(vec![operation(10, 1, 0)]));
    run.at(0, &open());
    assert_eq!((run.at(500, &open()), run.due()), ("2:10".into(), Some(560)));
}

#[test]
fn the_smallest_own_duration_counts() {
    let own =
        |id, seconds| StepOperation { duration_s: NonZeroU32::new(seconds), ..operation(id, 1, 1) };
    let mut run = Run::new(plan(vec![own(10, 300), own(11, 90), operation(12, 1, 3)]));
    assert_eq!((run.at(0, &open()), run.due()), ("1:10,11,12".into(), Some(90)));
    assert_eq!((run.at(90, &open()), run.due()), ("2:12".into(), Some(150)));
}

#[test]
fn steps_without_operations_pass_silently() {
    let mut run = Run::new(plan(vec![operation(10, 3, 3)]));
    assert_eq!((run.at(0, &open()), run.due()), (String::new(), Some(60)));
    assert_eq!((run.at(60, &open()), run.due()), (String::new(), Some(120)));
    assert_eq!((run.at(120, &open()), run.due()), ("3:10".into(), Some(-1)));
}

#[test]
fn operations_without_last_step_repeat_until_recovery() {
    let mut run = Run::new(plan(vec![operation(10, 2, 0)]));
    for step in 1..50 {
        let done = if step == 1 { String::new() } else { format!("{step}:10") };
        assert_eq!(run.at((step - 1) * 60, &open()), done);
    }
    assert_eq!(run.at(49 * 60, &recovered()), "recovery");
    assert_eq!(run.at(50 * 60, &open()), "ended");
}

#[test]
fn a_problem_that_ended_at_once_is_told_first() {
    let mut run = Run::new(plan(vec![operation(10, 1, 1), operation(11, 2, 2)]));
    assert_eq!((run.at(0, &recovered()), run.due()), ("1:10 recovery".into(), None));
}

#[test]
fn recovery_before_the_first_operation() {
    // A named user of the recovery operations still hears of it.
    let mut run = Run::new(plan(vec![operation(10, 2, 2)]));
    assert_eq!(run.at(0, &open()), "");
    assert_eq!(run.at(20, &recovered()), "recovery");
}

#[test]
fn actions_with_recovery_operations_only() {
    let mut run = Run::new(plan(Vec::new()));
    assert_eq!((run.at(0, &open()), run.due()), (String::new(), Some(-1)));
    assert_eq!(run.at(20, &recovered()), "recovery");
    let mut run = Run::new(plan(Vec::new()));
    assert_eq!(run.at(0, &recovered()), "recovery");
}

#[test]
fn without_recovery_operations_it_just_ends() {
    let plan = Plan { has_recovery: false, ..plan(vec![operation(10, 1, 2)]) };
    let mut run = Run::new(plan.clone());
    run.at(0, &open());
    assert_eq!((run.at(60, &open()), run.due()), ("2:10".into(), None));
    let mut run = Run::new(plan);
    run.at(0, &open());
    assert_eq!((run.at(60, &recovered()), run.due()), (String::new(), None));
}

#[test]
fn acknowledgement_counts_when_the_step_runs() {
    let of = |id, wanted: &[bool], combined| StepOperation {
        conditions: Acknowledgement { combined, wanted: wanted.to_vec() },
        ..operation(id, 1, 1)
    };
    let plan = plan(vec![
        of(1, &[true], EvalType::AndOr),
        of(2, &[false], EvalType::AndOr),
        of(3, &[true, false], EvalType::AndOr),
        of(4, &[true, false], EvalType::And),
        of(5, &[true, false], EvalType::Or),
        of(6, &[], EvalType::Or),
    ]);
    assert_eq!(Run::new(plan.clone()).at(0, &open()), "1:2,3,5,6");
    let acknowledged = Problem { acknowledged: true, ..open() };
    assert_eq!(Run::new(plan).at(0, &acknowledged), "1:1,3,5,6");
}

#[test]
fn pauses_wait_for_the_event_that_ends_them() {
    let suppressed = Problem { suppressed: Suppressed::UntilEvent, ..open() };
    let symptom = Problem { symptom: true, ..open() };
    let dependent = Problem { depends_on_problem: true, ..open() };
    for held in [suppressed, symptom, dependent] {
        let mut run = Run::new(plan(vec![operation(10, 1, 2)]));
        run.at(0, &open());
        assert_eq!((run.at(30, &held), run.due()), (String::new(), Some(60)), "not due yet");
        assert_eq!((run.at(60, &held), run.due()), (String::new(), Some(-1)));
        assert_eq!((run.at(70, &held), run.due()), (String::new(), Some(-1)));
        assert_eq!((run.at(100, &open()), run.due()), ("2:10".into(), Some(-1)));
    }
}

#[test]
fn steps_after_a_pause_keep_their_distance() {
    let mut run = Run::new(plan(vec![operation(10, 1, 0)]));
    let held = Problem { symptom: true, ..open() };
    assert_eq!(run.at(0, &held), "");
    assert_eq!((run.at(95, &open()), run.due()), ("1:10".into(), Some(155)));
}

#[test]
fn suppression_with_an_end_wakes_by_itself() {
    let held = Problem { suppressed: Suppressed::Until(T + 100), ..open() };
    let mut run = Run::new(plan(vec![operation(10, 1, 1)]));
    assert_eq!((run.at(0, &held), run.due()), (String::new(), Some(100)));
    assert_eq!((run.at(100, &open()), run.due()), ("1:10".into(), Some(-1)));
    // Ended before by a user.
    let mut run = Run::new(plan(vec![operation(10, 1, 1)]));
    run.at(0, &held);
    assert_eq!(run.at(50, &open()), "1:10");
}

#[test]
fn pauses_can_be_switched_off() {
    let plan = Plan {
        pauses_suppressed: false,
        pauses_symptoms: false,
        ..plan(vec![operation(10, 1, 1)])
    };
    let held = Problem { suppressed: Suppressed::UntilEvent, symptom: true, ..open() };
    assert_eq!(Run::new(plan).at(0, &held), "1:10");
}

#[test]
fn recovery_in_a_pause_reaches_who_was_told() {
    let held = Problem { suppressed: Suppressed::UntilEvent, ..open() };
    let ended = Problem { recovered: true, ..held.clone() };
    let mut run = Run::new(plan(vec![operation(10, 1, 2)]));
    run.at(0, &open());
    run.at(60, &held);
    assert_eq!(run.at(70, &ended), "recovery");
    let mut run = Run::new(plan(vec![operation(10, 1, 2)]));
    run.at(0, &held);
    assert_eq!((run.at(70, &ended), run.due()), (String::new(), None));
}

#[test]
fn cancellation_comes_when_the_next_step_is_due() {
    let off = Problem { missing: Some(Missing::Trigger("t".into())), ..open() };
    let mut run = Run::new(plan(vec![operation(10, 1, 3)]));
    run.at(0, &open());
    assert_eq!((run.at(30, &off), run.due()), (String::new(), Some(60)));
    assert_eq!((run.at(60, &off), run.due()), ("Trigger(\"t\")".into(), None));
    // No message was sent before.
    let mut run = Run::new(plan(vec![operation(10, 2, 2)]));
    run.at(0, &open());
    assert_eq!((run.at(60, &off), run.due()), (String::new(), None));
    // The action does not tell.
    let silent = Plan { notifies_if_canceled: false, ..plan(vec![operation(10, 1, 3)]) };
    let mut run = Run::new(silent);
    run.at(0, &open());
    assert_eq!((run.at(60, &off), run.due()), (String::new(), None));
}

#[test]
fn deleted_objects_end_it_without_a_note() {
    let deleted = Problem { missing: Some(Missing::Deleted), ..open() };
    let mut run = Run::new(plan(vec![operation(10, 1, 3)]));
    run.at(0, &open());
    assert_eq!((run.at(10, &deleted), run.due()), (String::new(), None));
}

#[test]
fn operations_count_as_they_are_when_the_step_runs() {
    let mut run = Run::new(plan(vec![operation(10, 1, 3)]));
    run.at(0, &open());
    run.plan.operations = vec![operation(12, 1, 2)];
    assert_eq!((run.at(60, &open()), run.due()), ("2:12".into(), Some(-1)));
}

fn inhibited() -> Problem {
    Problem { calm: Some(Calm::Inhibited { by: 7 }), ..open() }
}

#[test]
fn inhibited_steps_are_withheld_once_and_follow() {
    let mut run = Run::new(plan(vec![operation(10, 1, 2)]));
    assert_eq!((run.at(0, &inhibited()), run.due()), ("Inhibited 1:1".into(), Some(-1)));
    assert_eq!((run.at(60, &inhibited()), run.due()), (String::new(), Some(-1)), "once");
    let suppressed = Problem { suppressed: Suppressed::UntilEvent, ..inhibited() };
    assert_eq!((run.at(70, &suppressed), run.due()), (String::new(), Some(-1)));
    assert_eq!((run.at(100, &open()), run.due()), ("1:10".into(), Some(160)));
    assert_eq!((run.at(160, &inhibited()), run.due()), ("Inhibited 2:1".into(), Some(-1)));
    let recovered = Problem { recovered: true, ..inhibited() };
    assert_eq!((run.at(200, &recovered), run.due()), ("recovery".into(), None), "it was told");
}

#[test]
fn the_end_of_an_inhibited_problem_is_silent() {
    let recovered = Problem { recovered: true, ..inhibited() };
    let mut run = Run::new(plan(vec![operation(10, 1, 2)]));
    run.at(0, &inhibited());
    assert_eq!((run.at(30, &recovered), run.due()), (String::new(), None));
    let mut run = Run::new(plan(vec![operation(10, 1, 2)]));
    assert_eq!((run.at(0, &recovered), run.due()), ("Inhibited 1:1".into(), None), "in one look");
    let mut run = Run::new(plan(vec![operation(10, 2, 2)]));
    assert_eq!((run.at(0, &open()), run.due()), (String::new(), Some(60)));
    assert_eq!((run.at(30, &recovered), run.due()), (String::new(), None), "no step was due");
    let missing = Problem { missing: Some(Missing::Trigger("t".into())), ..inhibited() };
    let mut run = Run::new(plan(vec![operation(10, 1, 2)]));
    run.at(0, &inhibited());
    assert_eq!((run.at(60, &missing), run.due()), (String::new(), None), "nobody to tell");
}

fn flapping(first: bool) -> Problem {
    Problem { calm: Some(Calm::Flapping { until: T + 1_800, first }), ..open() }
}

#[test]
fn the_first_step_tells_of_flapping_and_the_end_waits() {
    let ended = Problem { recovered: true, ..flapping(false) };
    let mut run = Run::new(plan(vec![operation(10, 1, 2)]));
    assert_eq!((run.at(0, &flapping(true)), run.due()), ("1:10".into(), Some(60)));
    assert_eq!((run.at(60, &flapping(false)), run.due()), ("Flapping 2:1".into(), Some(1_800)));
    assert_eq!((run.at(90, &ended), run.due()), ("Flapping end".into(), Some(1_800)));
    assert_eq!((run.at(120, &ended), run.due()), (String::new(), Some(1_800)), "once");
    let again = Problem { reopened: true, ..ended };
    assert_eq!((run.at(150, &again), run.due()), (String::new(), Some(1_800)), "it may end, too");
    let reopened = Problem { reopened: true, ..recovered() };
    let mut other = Run { plan: run.plan.clone(), ..run };
    assert_eq!((run.at(1_800, &recovered()), run.due()), ("recovery".into(), None));
    assert_eq!((other.at(1_800, &reopened), other.due()), (String::new(), None), "no news");
}

#[test]
fn problems_of_flapping_triggers_are_withheld() {
    let ended = Problem { recovered: true, ..flapping(false) };
    let mut run = Run::new(plan(vec![operation(10, 1, 2)]));
    assert_eq!((run.at(0, &flapping(false)), run.due()), ("Flapping 1:1".into(), Some(1_800)));
    assert_eq!((run.at(30, &ended), run.due()), (String::new(), None), "nobody knows it");
    let mut run = Run::new(plan(vec![operation(10, 1, 2)]));
    run.at(0, &flapping(false));
    assert_eq!((run.at(1_800, &open()), run.due()), ("1:10".into(), Some(1_860)));
    let ended = Problem { recovered: true, ..flapping(true) };
    let mut run = Run::new(plan(vec![operation(10, 1, 2)]));
    assert_eq!((run.at(0, &ended), run.due()), ("1:10 Flapping end".into(), Some(1_800)));
    let reopened = Problem { reopened: true, ..recovered() };
    let mut run = Run::new(plan(vec![operation(10, 1, 2)]));
    run.at(0, &open());
    assert_eq!((run.at(30, &reopened), run.due()), ("recovery".into(), None), "it did not wait");
}
