//! Why users got messages, or none, and what comes next.

use model::alert::outlook::{OfAction, Outlook, Pause, Silence, Verdict, Waits};

use super::*;

impl World {
    fn outlook(&self, event: u64) -> Option<Outlook> {
        let (config, clock) = (Arc::clone(&self.config), self.clock.clone());
        Explainer::new(config, clock, Box::new(Echo)).outlook(event).unwrap()
    }

    fn action(&self, event: u64) -> OfAction {
        self.outlook(event).unwrap().actions.remove(0)
    }

    /// Who gets the first message: user, address and verdict.
    fn cases(&self, event: u64) -> Vec<(u64, String, Verdict)> {
        let operation = self.action(event).operations.remove(0);
        let cases = operation.cases.into_iter();
        cases.map(|one| (one.user, one.address.unwrap_or_default().1, one.verdict)).collect()
    }
}

const NOW: i64 = T as i64;

#[test]
fn the_steps_that_follow_have_their_times() {
    let mut world = World::new();
    let event = world.problem(TRIGGER);
    world.work();
    let action = world.action(event);
    assert!(action.applies && action.enabled);
    let running = action.running.unwrap();
    assert_eq!((running.step, running.waits), (1, Waits::Until(NOW + 60)));
    assert_eq!((running.pauses, running.stopped.as_str()), (Vec::new(), ""));
    let steps = action.steps.iter().map(|step| (step.number, step.at, step.operations.len()));
    assert_eq!(Vec::from_iter(steps), [(2, NOW + 60, 2), (3, NOW + 120, 1)]);
    world.after(60);
    world.after(60);
    let action = world.action(event);
    assert_eq!((action.running.unwrap().waits, action.steps), (Waits::Recovery, Vec::new()));
    world.recovery(TRIGGER);
    world.work();
    assert_eq!(world.action(event).running, None);
}

#[test]
fn each_condition_is_shown_with_what_it_is_compared_to() {
    let mut world = World::new();
    condition(&world.config, 0, 0, "5000");
    let other = [("sortorder", 1.into()), ("value", "5001".into())];
    world.put(&table::ACTION_CONDITIONS, &[&[("actionid", ACTION.into())][..], &other].concat());
    world.renamed();
    let event = world.problem(TRIGGER);
    world.work();
    let action = world.action(event);
    assert_eq!(
        (action.applies, action.conditions),
        (true, vec![true, false, true]),
        "one of a kind"
    );
    world.run("UPDATE actions SET evaltype = 1");
    assert!(!world.action(event).applies, "all of them");
}

#[test]
fn a_user_without_a_message_has_a_reason() {
    let mut world = World::new();
    let event = world.problem(TRIGGER);
    world.work();
    let alice = |verdict| vec![(ALICE, "alice".to_owned(), verdict)];
    let whole = |verdict| vec![(ALICE, String::new(), verdict)];
    assert_eq!(world.cases(event), alice(Verdict::Sent));
    for (change, undo, cases) in [
        (
            "UPDATE media SET severity = 1",
            "UPDATE media SET severity = 63",
            alice(Verdict::Silent(Silence::Severity)),
        ),
        (
            "UPDATE media SET period = '1,00:00-00:01'",
            "UPDATE media SET period = '1-7,00:00-24:00'",
            alice(Verdict::Silent(Silence::Period)),
        ),
        (
            "UPDATE media SET active = 1",
            "UPDATE media SET active = 0",
            alice(Verdict::Silent(Silence::MediaDisabled)),
        ),
        (
            "UPDATE media_types SET status = 1",
            "UPDATE media_types SET status = 0",
            alice(Verdict::MediaTypeDisabled),
        ),
        (
            "UPDATE group_rights SET permission = 0",
            "UPDATE group_rights SET permission = 2",
            whole(Verdict::Silent(Silence::NoRight)),
        ),
        (
            "UPDATE usergroups SET users_status = 1",
            "UPDATE usergroups SET users_status = 0",
            whole(Verdict::Silent(Silence::Disabled)),
        ),
        ("DELETE FROM media", "UPDATE media SET active = 0", whole(Verdict::NoMedia)),
    ] {
        world.run(change);
        assert_eq!(world.cases(event), cases, "{change}");
        world.run(undo);
    }
}

#[test]
fn a_pause_and_a_cancellation_are_told_before_they_act() {
    let mut world = World::new();
    world.problem(TRIGGER);
    world.work();
    let event = world.problem(CHILD);
    world.work();
    let running = world.action(event).running.unwrap();
    assert_eq!((running.waits, running.pauses), (Waits::Paused, vec![Pause::Dependency]));
    world.run("UPDATE actions SET status = 1");
    let stopped = world.action(event).running.unwrap().stopped;
    assert!(stopped.contains("disabled"), "{stopped}");
}

#[test]
fn deleted_events_have_no_outlook() {
    assert_eq!(World::new().outlook(999), None);
}
