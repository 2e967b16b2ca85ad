//! Internal events, and problems that correlation rules close.

use model::ItemId;

use super::*;

impl World {
    /// The action is for items that are not supported.
    fn internal() -> Self {
        let world = Self::new();
        world.run("UPDATE actions SET eventsource = 3");
        world.run("UPDATE action_conditions SET conditiontype = 23, operator = 0, value = '0'");
        world
    }

    fn state(&self, is_rule: bool, error: &str) {
        let (item, at, error) = (ItemId(ITEM), self.now(), error.to_owned());
        let found = TriggerFinding::ItemState { item, is_rule, at, error };
        self.problems.write(&[found]).unwrap();
    }
}

#[test]
fn items_that_are_not_supported_have_steps_and_an_end() {
    let mut world = World::internal();
    world.state(true, "of a rule");
    assert_eq!(world.sent(), Vec::<String>::new(), "the condition wants items");
    world.state(false, "why");
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    world.state(false, "another reason");
    assert_eq!(world.after(59), Vec::<String>::new());
    assert_eq!(world.after(1), ["alice PROBLEM", "bob SECOND"]);
    world.report_all();
    world.state(false, "");
    assert_eq!(world.sent(), ["alice OK", "bob OK"]);
    assert_eq!(world.rows("SELECT * FROM escalations"), Vec::<String>::new());
    world.run_state("DELETE FROM problems");
    world.state(false, "");
    assert_eq!(world.after(3_600), Vec::<String>::new());
}

#[test]
fn escalations_of_disabled_items_are_cancelled() {
    let mut world = World::internal();
    world.state(false, "why");
    world.work();
    world.report_all();
    world.run("UPDATE items SET status = 1");
    world.after(60);
    let notes = "SELECT userid, message FROM alerts WHERE message LIKE 'NOTE:%'";
    let notes = world.rows(notes);
    assert_eq!(notes.len(), 1);
    assert!(
        notes[0].starts_with("101|NOTE: Escalation canceled: item \"k\" disabled."),
        "{notes:?}"
    );
    assert_eq!(world.rows("SELECT * FROM escalations"), Vec::<String>::new());
}

#[test]
fn a_problem_that_a_rule_closes_at_once_is_told_to_nobody() {
    let mut world = World::new();
    world.put(&table::CORRELATIONS, &[("correlationid", 1_u64.into()), ("name", "r".into())]);
    let condition =
        [("correlationid", 1_u64.into()), ("type", Value::from(2)), ("groupid", 5000_u64.into())];
    world.put(&table::CORRELATION_CONDITIONS, &condition);
    world.put(
        &table::CORRELATION_OPERATIONS,
        &[("correlationid", 1_u64.into()), ("type", Value::from(1))],
    );
    let event = world.problem(TRIGGER);
    assert_eq!(world.rows("SELECT r_eventid FROM problems"), [(event + 1).to_string()]);
    assert_eq!(world.sent(), Vec::<String>::new());
    world.run("UPDATE correlations SET status = 1");
    world.problem(TRIGGER);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
}
