//! Messages that users are spared.

use model::alert::outlook::{Pause, Running, Waits};

use super::*;

const WITHHELD: &str = "SELECT eventid, userid, sendto, subject, status, esc_step, withheld, nextcheck \
                        FROM alerts WHERE withheld <> 0 ORDER BY alertid";
const NONE: Vec<String> = Vec::new();

impl World {
    /// What comes next for the problem.
    fn running(&self, event: u64) -> Running {
        let explainer =
            Explainer::new(Arc::clone(&self.config), self.clock.clone(), Box::new(Echo));
        explainer.outlook(event).unwrap().unwrap().actions.remove(0).running.unwrap()
    }

    /// The trigger had problems of these durations, and the action has these settings from now on.
    fn calming(settings: &str, durations: &[u64]) -> Self {
        let mut world = Self::new();
        for seconds in durations {
            world.problem(TRIGGER);
            world.clock.advance(Duration::from_secs(*seconds));
            world.recovery(TRIGGER);
            world.clock.advance(Duration::from_secs(7_200));
        }
        while !world.sent().is_empty() {}
        world.run(&format!("UPDATE actions SET calming = '{settings}'"));
        world
    }
    /// The action holds problems back while a more severe one has the same values of these tags.
    fn inhibiting(tags: &str) -> Self {
        let world = Self::new();
        world.run(&format!("UPDATE actions SET inhibition = '{{\"tags\": {tags}}}'"));
        world
    }
}

#[test]
fn a_more_severe_problem_holds_back_others() {
    let mut world = World::inhibiting(r#"["service", "site"]"#);
    let shop = [("service", "shop"), ("site", "a")];
    let cause = world.tagged_problem(DISASTER, &shop);
    assert_eq!(world.sent(), ["alice PROBLEM"], "nothing is more severe");
    let held = world.tagged_problem(TRIGGER, &shop);
    assert_eq!(world.sent(), NONE);
    let row = |event, step| format!("{event}|101|alice|PROBLEM|4|{step}|2|0");
    assert_eq!(world.rows(WITHHELD), [row(held, 1)]);
    let running = world.running(held);
    assert_eq!((running.pauses, running.inhibited_by), (vec![Pause::Inhibited], Some(cause)));
    assert_eq!(world.after(600).len(), 2, "steps about the cause");
    world.after(60);
    assert_eq!(world.rows(WITHHELD), [row(held, 1)], "each step is withheld once");
    world.recovery(DISASTER);
    assert_eq!(world.sent(), ["alice OK", "bob OK"]);
    assert_eq!(world.sent(), ["alice PROBLEM"], "at once");
    assert_eq!(world.after(60), ["alice PROBLEM", "bob SECOND"]);
    world.tagged_problem(DISASTER, &shop);
    assert_eq!(world.after(60), ["alice PROBLEM"], "of the new one");
    assert_eq!(world.rows(WITHHELD), [row(held, 1), row(held, 3)]);
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), ["alice OK", "bob OK"], "they know it");
}

#[test]
fn problems_that_differ_in_a_tag_are_told() {
    let mut world = World::inhibiting(r#"["service", "site"]"#);
    world.tagged_problem(DISASTER, &[("service", "shop"), ("site", "a")]);
    world.sent();
    for tags in [&[("service", "shop"), ("site", "b")][..], &[("service", "shop")], &[]] {
        world.tagged_problem(TRIGGER, tags);
        assert_eq!(world.sent(), ["alice PROBLEM"], "{tags:?}");
        world.recovery(TRIGGER);
        assert_eq!(world.sent(), ["alice OK"]);
    }
    assert_eq!(world.rows(WITHHELD), NONE);
}

#[test]
fn the_end_of_a_held_problem_is_not_told() {
    let mut world = World::inhibiting(r#"["service"]"#);
    world.tagged_problem(DISASTER, &[("service", "shop")]);
    let held = world.tagged_problem(TRIGGER, &[("service", "shop")]);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), NONE);
    assert_eq!(world.rows("SELECT status, esc_step FROM escalations"), ["0|1"], "of the cause");
    assert_eq!(world.rows(WITHHELD), [format!("{held}|101|alice|PROBLEM|4|1|2|0")]);
    world.tagged_problem(TRIGGER, &[("service", "shop")]);
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), NONE, "both in one look");
    assert_eq!(world.rows(WITHHELD).len(), 2);
}

#[test]
fn a_disabled_trigger_inhibits_up_to_a_minute_longer() {
    let mut world = World::inhibiting(r#"["service"]"#);
    world.tagged_problem(DISASTER, &[("service", "shop")]);
    world.sent();
    world.tagged_problem(TRIGGER, &[("service", "shop")]);
    assert_eq!(world.sent(), NONE);
    world.run(&format!("UPDATE triggers SET status = 1 WHERE triggerid = {DISASTER}"));
    assert_eq!(world.sent(), NONE);
    let sent = world.after(60);
    assert!(sent.contains(&"alice PROBLEM".to_owned()), "{sent:?}");
}

#[test]
fn a_restart_forgets_nothing_that_is_held() {
    let mut world = World::inhibiting(r#"["service"]"#);
    world.tagged_problem(DISASTER, &[("service", "shop")]);
    let held = world.tagged_problem(TRIGGER, &[("service", "shop")]);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    let mut world = world.restarted();
    assert_eq!(world.sent(), NONE);
    assert_eq!(world.rows(WITHHELD).len(), 1, "not again");
    world.recovery(DISASTER);
    let mut world = world.restarted();
    world.sent();
    world.sent();
    let told =
        format!("SELECT esc_step, status FROM alerts WHERE eventid = {held} ORDER BY alertid");
    assert_eq!(world.rows(&told), ["1|4", "1|3"]);
}

const TRANSIENTS: &str = r#"{"transients": 1, "flapping": 0, "max_hold": "10m"}"#;

#[test]
fn a_problem_that_ends_soon_as_most_is_not_told() {
    let mut world = World::calming(TRANSIENTS, &[40, 20, 30, 25, 35, 90_000]);
    let event = world.problem(TRIGGER);
    assert_eq!(world.sent(), NONE);
    let row = format!("{event}|101|alice|PROBLEM|4|1|4|0");
    assert_eq!(world.rows(WITHHELD), [row.as_str()]);
    let running = world.running(event);
    let until = i64::from(world.now().clock) + 45;
    assert_eq!(
        (running.pauses, running.waits),
        (vec![Pause::Transient], Waits::PausedUntil(until))
    );
    assert_eq!(world.after(44), NONE);
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), NONE);
    assert_eq!(world.rows(WITHHELD), [row.as_str()], "it stays");
    assert_eq!(world.rows("SELECT * FROM escalations"), NONE);
}

#[test]
fn a_problem_that_lasts_longer_than_most_is_told() {
    let mut world = World::calming(TRANSIENTS, &[40, 20, 30, 25, 35]);
    let event = world.problem(TRIGGER);
    assert_eq!(world.sent(), NONE);
    let steps = |world: &World| {
        let explainer =
            Explainer::new(Arc::clone(&world.config), world.clock.clone(), Box::new(Echo));
        let steps = explainer.outlook(event).unwrap().unwrap().actions.remove(0).steps;
        Vec::from_iter(steps.iter().map(|step| step.at - i64::from(world.now().clock)))
    };
    assert_eq!(steps(&world), [45, 105, 165], "the forecast has the hold");
    assert_eq!(world.after(45), ["alice PROBLEM"]);
    assert_eq!(world.after(60), ["alice PROBLEM", "bob SECOND"], "later steps do not wait");
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), ["alice OK", "bob OK"]);
    assert_eq!(world.rows(WITHHELD).len(), 1);
}

#[test]
fn late_looks_know_whether_a_problem_was_transient() {
    let mut world = World::calming(TRANSIENTS, &[40, 20, 30, 25, 35]);
    world.problem(TRIGGER);
    world.clock.advance(Duration::from_secs(30));
    world.recovery(TRIGGER);
    assert_eq!(world.after(3_600), NONE, "it ended in time");
    assert_eq!(world.rows(WITHHELD).len(), 1);
    world.problem(TRIGGER);
    world.clock.advance(Duration::from_secs(60));
    world.recovery(TRIGGER);
    assert_eq!(world.after(3_600), ["alice PROBLEM", "alice OK"], "it lasted");
}

#[test]
fn holds_need_experience_and_have_a_limit() {
    let short = r#"{"transients": 1, "max_hold": "39s"}"#;
    let long = r#"{"transients": 1, "max_hold": "2h"}"#;
    for (settings, durations, held) in [
        (TRANSIENTS, &[40, 20, 30, 25][..], false),
        (TRANSIENTS, &[40, 20, 30, 25, 35], true),
        (short, &[40, 20, 30, 25, 35], false),
        (TRANSIENTS, &[601, 20, 30, 25, 35], false),
        (long, &[601, 20, 30, 25, 35], true),
        (r#"{"transients": 0}"#, &[40, 20, 30, 25, 35], false),
        ("", &[40, 20, 30, 25, 35], false),
        ("no JSON", &[40, 20, 30, 25, 35], false),
    ] {
        let mut world = World::calming(settings, durations);
        world.problem(TRIGGER);
        assert_eq!(world.sent().is_empty(), held, "{settings} {durations:?}");
        world.problem(DISASTER);
        assert_eq!(world.sent(), ["alice PROBLEM"], "each trigger for itself");
    }
}

#[test]
fn problems_that_users_closed_teach_nothing() {
    let mut world = World::calming(TRANSIENTS, &[40, 20, 30, 25]);
    let event = world.problem(TRIGGER);
    let close = ProblemUpdate { user: UserId(ALICE), close: true, ..ProblemUpdate::default() };
    world.clock.advance(Duration::from_secs(10));
    world.update(event, close);
    world.sent();
    world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    let explainer = Explainer::new(Arc::clone(&world.config), world.clock.clone(), Box::new(Echo));
    let learnt = explainer.learnt(&[TRIGGER, DISASTER]).unwrap();
    let shown = learnt.iter().map(|one| (one.trigger, one.problems, one.typical, one.within));
    assert_eq!(Vec::from_iter(shown), [(TRIGGER, 4, Some(30), None), (DISASTER, 0, None, None)]);
}

const FLAPPING: &str = r#"{"transients": 0, "flapping": 1, "max_hold": "10m"}"#;

impl World {
    /// The trigger opens a problem, which ends after 20 s, so often; what is sent meanwhile.
    fn flap(&mut self, times: usize) -> Vec<String> {
        let mut sent = Vec::new();
        for _ in 0..times {
            self.problem(TRIGGER);
            sent.extend(self.after(20));
            self.recovery(TRIGGER);
            sent.extend(self.after(40));
        }
        sent
    }
}

#[test]
fn a_flapping_trigger_has_one_message_until_it_is_quiet() {
    let mut world = World::calming(FLAPPING, &[]);
    assert_eq!(world.flap(4), ["alice PROBLEM", "alice OK"].repeat(4));
    let first = world.problem(TRIGGER);
    assert_eq!(world.after(20), ["alice Flapping: PROBLEM"]);
    let message = &world.rows(&format!("SELECT message FROM alerts WHERE eventid = {first}"))[0];
    assert!(message.starts_with("Flapping: 9 changes in 30 minutes."), "{message}");
    assert!(message.ends_with(&format!("\n\ntext {first} Asia/Tokyo")), "{message}");
    world.recovery(TRIGGER);
    assert_eq!(world.after(40), NONE);
    let end = first + 1;
    assert_eq!(world.rows(WITHHELD), [format!("{end}|101|alice|OK|4|1|5|0")]);
    assert_eq!(world.running(first).pauses, [Pause::Flapping], "it waits for the quiet");
    assert_eq!(world.flap(20), NONE);
    assert_eq!(world.rows(WITHHELD).len(), 21);
    let mut world = world.restarted();
    assert_eq!(world.after(1_759), NONE, "40 s have passed");
    assert_eq!(world.after(1), ["alice OK"], "the state as it is");
    assert_eq!(world.rows("SELECT * FROM escalations"), NONE);
    assert_eq!(world.flap(1), ["alice PROBLEM", "alice OK"], "it is like any other again");
}

#[test]
fn a_problem_that_outlasts_the_flapping_is_told() {
    let mut world = World::calming(FLAPPING, &[]);
    assert_eq!(world.flap(5).last().unwrap(), "alice Flapping: PROBLEM");
    let event = world.problem(TRIGGER);
    assert_eq!(world.sent(), NONE);
    let running = world.running(event);
    let until = i64::from(world.now().clock) + 1_800;
    let paused = (vec![Pause::Flapping], Waits::PausedUntil(until));
    assert_eq!((running.pauses, running.waits), paused);
    assert_eq!(world.after(1_799), NONE);
    assert_eq!(world.after(1), ["alice PROBLEM"], "and no end of the one before");
    assert_eq!(world.rows("SELECT COUNT(*) FROM escalations"), ["1"]);
    world.recovery(TRIGGER);
    assert_eq!(world.sent(), ["alice OK"]);
}

#[test]
fn flapping_during_a_pause_is_told_after_it() {
    let mut world = World::calming(FLAPPING, &[]);
    world.run("UPDATE actions SET inhibition = '{\"tags\": [\"a\"]}'");
    world.tagged_problem(DISASTER, &[("a", "b")]);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    world.run("DELETE FROM trigger_depends");
    for _ in 0..7 {
        world.tagged_problem(TRIGGER, &[("a", "b")]);
        world.clock.advance(Duration::from_secs(5));
        world.work();
        world.recovery(TRIGGER);
        world.work();
    }
    world.tagged_problem(TRIGGER, &[("a", "b")]);
    world.work();
    lock(&world.sink.taken).clear();
    world.recovery(DISASTER);
    world.work();
    let sent = world.sent();
    assert!(sent.contains(&"alice Flapping: PROBLEM".to_owned()), "{sent:?}");
}

#[test]
fn a_late_look_at_a_flapping_trigger_tells_it_once() {
    let mut world = World::calming(FLAPPING, &[]);
    for _ in 0..9 {
        world.problem(TRIGGER);
        world.clock.advance(Duration::from_secs(10));
        world.recovery(TRIGGER);
    }
    let sent = world.sent();
    let flapping = sent.iter().filter(|one| one.contains("Flapping")).count();
    assert_eq!((sent.len(), flapping), (9, 1), "four as usual: {sent:?}");
    assert_eq!(world.rows(WITHHELD).len(), 5, "an end and four problems");
    assert_eq!(world.after(1_800), ["alice OK"]);
}

#[test]
fn without_the_setting_each_problem_is_told() {
    let mut world = World::calming(TRANSIENTS, &[]);
    world.run("UPDATE actions SET calming = ''");
    assert_eq!(world.flap(8), ["alice PROBLEM", "alice OK"].repeat(8));
    let explainer = Explainer::new(Arc::clone(&world.config), world.clock.clone(), Box::new(Echo));
    let flapping = explainer.learnt(&[TRIGGER]).unwrap()[0].flapping.unwrap();
    let until = i64::from(world.now().clock) - 40 + 1_800;
    assert_eq!((flapping.changes, flapping.until), (16, until));
}

impl World {
    /// Open problems of a trigger with the tag, as events that nothing has looked at yet.
    fn many(&self, trigger: u64, severity: u64, (first, count): (u64, u64)) {
        let numbers = format!(
            "WITH RECURSIVE n (i) AS (SELECT {first} UNION ALL SELECT i + 1 FROM n \
             WHERE i < {})",
            first + count - 1
        );
        let clock = self.now().clock;
        for table in ["events", "problems"] {
            let value = if table == "events" { ", value" } else { "" };
            let one = if table == "events" { ", 1" } else { "" };
            self.run_state(&format!(
                "INSERT INTO {table} (eventid, objectid, clock, severity, name{value}) {numbers} \
                 SELECT i, {trigger}, {clock}, {severity}, 'many'{one} FROM n"
            ));
        }
        self.run_state(&format!(
            "INSERT INTO event_tags (eventtagid, eventid, tag, value) {numbers} \
             SELECT i, i, 'service', 'shop' FROM n"
        ));
    }
}

#[test]
fn a_storm_of_held_problems_is_freed_in_portions() {
    let mut world = World::inhibiting(r#"["service"]"#);
    world.run("DELETE FROM trigger_depends");
    world.run("UPDATE operations SET esc_step_to = 1 WHERE operationid = 401");
    world.many(DISASTER, 5, (20_000, 1_000));
    let work = |world: &mut World| {
        let mut sent = 0;
        while world.work() == 0 {
            sent += lock(&world.sink.taken).drain(..).count();
            world.report_all();
        }
        sent + lock(&world.sink.taken).drain(..).count()
    };
    work(&mut world);
    world.many(TRIGGER, 4, (30_000, 2_500));
    let sent = world.rows("SELECT COUNT(*) FROM alerts WHERE status <> 4");
    work(&mut world);
    assert_eq!(world.rows("SELECT COUNT(*) FROM alerts WHERE status <> 4"), sent);
    let held = "SELECT COUNT(*), COUNT(DISTINCT eventid) FROM alerts WHERE withheld = 2";
    assert_eq!(world.rows(held), ["2500|2500"], "one row each");
    world.run_state("UPDATE problems SET r_eventid = 19999 WHERE severity = 5");
    world.run_state("UPDATE events SET r_eventid = 29999 WHERE severity = 5");
    world.clock.advance(Duration::from_secs(60));
    work(&mut world);
    let told = "SELECT COUNT(*) FROM alerts WHERE eventid >= 30000 AND status <> 4";
    assert_eq!(world.rows(told), ["2500"], "each is told when the cause has ended");
    assert_eq!(world.rows(held), ["2500|2500"]);
}
