//! Messages that users are spared.

use model::alert::outlook::Pause;

use super::*;

const WITHHELD: &str = "SELECT eventid, userid, sendto, subject, status, esc_step, withheld, nextcheck \
                        FROM alerts WHERE withheld <> 0 ORDER BY alertid";
const NONE: Vec<String> = Vec::new();

impl World {
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
    let explainer = Explainer::new(Arc::clone(&world.config), world.clock.clone(), Box::new(Echo));
    let running = explainer.outlook(held).unwrap().unwrap().actions.remove(0).running.unwrap();
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
