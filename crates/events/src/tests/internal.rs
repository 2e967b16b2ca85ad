//! Internal events.

use model::ItemId;

use super::*;
use crate::not_supported;

const EVENTS: &str =
    "SELECT source, object, objectid, clock, value, name FROM events ORDER BY eventid";

impl World {
    fn internal_action(&self, is_on: bool) {
        let written: Result<(), DbError> = self.config.write(|edit| {
            edit.delete(&table::ACTIONS, "actionid", &[1])?;
            let status = Value::from(i64::from(!is_on));
            edit.insert(
                &table::ACTIONS,
                &[("actionid", 1_u64.into()), ("eventsource", 3_i64.into()), ("status", status)],
            )
        });
        written.unwrap();
    }

    fn item(&self, clock: u32, error: &str) {
        self.item_or_rule(false, clock, error);
    }

    fn item_or_rule(&self, is_rule: bool, clock: u32, error: &str) {
        let at = Timestamp { clock, ns: 1 };
        let error = error.to_owned();
        let state = TriggerFinding::ItemState { item: ItemId(50), is_rule, at, error };
        self.problems.write(&[state]).unwrap();
    }

    fn event_count(&self) -> usize {
        self.rows("SELECT eventid FROM events").len()
    }
}

#[test]
fn there_are_none_without_an_internal_action() {
    let world = World::new();
    world.internal_action(false);
    world.problems.write(&[state(1, "why")]).unwrap();
    let written = *world.written.lock().unwrap();
    world.item(1, "why");
    world.item(2, "");
    world.item_or_rule(true, 3, "why");
    assert_eq!(world.event_count(), 0);
    assert_eq!(*world.written.lock().unwrap(), written);
    // What is unknown by then makes no event when an action is switched on, but its end does.
    world.internal_action(true);
    world.problems.write(&[state(1, "another")]).unwrap();
    assert_eq!(world.event_count(), 0);
    world.problems.write(&[state(1, "")]).unwrap();
    assert_eq!(world.rows(EVENTS), ["3|0|1|7|0|"]);
    assert!(world.rows("SELECT eventid FROM problems").is_empty());
}

#[test]
fn an_item_becomes_unsupported_and_supported_again() {
    let world = World::new();
    world.internal_action(true);
    let tagged: Result<(), DbError> = world.config.write(|edit| {
        for (table, column, id) in
            [(&table::ITEM_TAGS, "itemid", 50_u64), (&table::HOST_TAGS, "hostid", 10)]
        {
            let row = [(column, id.into()), ("tag", column.into()), ("value", "v".into())];
            edit.insert_new(table, &row)?;
        }
        Ok(())
    });
    tagged.unwrap();
    world.item(10, "bad value");
    world.item(11, "another bad value");
    assert_eq!(world.rows(EVENTS), ["3|4|50|10|1|bad value"]);
    assert_eq!(world.rows("SELECT tag FROM event_tags ORDER BY tag"), ["hostid", "itemid"]);
    assert_eq!(
        world.rows("SELECT source, object, objectid, name, severity, r_eventid FROM problems"),
        ["3|4|50|bad value|0|0"]
    );
    assert_eq!(world.problems.stats().open, 0, "it is no problem of a trigger");
    assert!(world.changes().is_empty());
    assert_eq!(*world.written.lock().unwrap(), 1, "those who follow the events are told");
    world.item(12, "");
    assert_eq!(world.rows(EVENTS)[1..], ["3|4|50|12|0|"]);
    assert_eq!(world.rows("SELECT r_eventid, r_clock FROM problems"), ["10001|12"]);
    assert_eq!(world.rows("SELECT r_eventid FROM events WHERE eventid = 10000"), ["10001"]);
    assert_eq!(world.rows("SELECT tag FROM event_tags WHERE eventid = 10001").len(), 2);
}

#[test]
fn a_trigger_becomes_unknown_and_known_again() {
    let world = World::new();
    world.internal_action(true);
    world
        .problems
        .write(&[state(1, "why"), state(1, "other"), state(1, ""), state(1, "third")])
        .unwrap();
    assert_eq!(world.rows(EVENTS), ["3|0|1|7|1|why", "3|0|1|7|0|", "3|0|1|7|1|third"]);
    assert_eq!(world.rows("SELECT DISTINCT tag, value FROM event_tags"), ["t|v"]);
    assert_eq!(world.rows("SELECT r_eventid FROM problems ORDER BY eventid"), ["10001", "0"]);
}

#[test]
fn problems_survive_a_restart_and_end_without_action() {
    let world = World::new();
    world.internal_action(true);
    world.item(10, "bad value");
    world.item_or_rule(true, 10, "no JSON");
    world.problems.write(&[state(1, "why")]).unwrap();
    world.internal_action(false);
    let world = world.restarted();
    for (is_rule, error) in [(false, "bad value"), (true, "no JSON")] {
        let known = not_supported(&world.config, is_rule).unwrap();
        assert_eq!(known, [(ItemId(50), error.into())]);
    }
    world.item(20, "still bad");
    assert_eq!(world.event_count(), 3);
    world.item(21, "");
    world.item_or_rule(true, 22, "");
    world.problems.write(&[state(1, "")]).unwrap();
    assert_eq!(world.rows(EVENTS)[3..], ["3|4|50|21|0|", "3|5|50|22|0|", "3|0|1|7|0|"]);
    assert!(world.rows("SELECT eventid FROM problems WHERE r_eventid = 0").is_empty());
    assert!(not_supported(&world.config, false).unwrap().is_empty());
}

#[test]
fn problems_of_deleted_objects_are_removed() {
    let world = World::new();
    world.internal_action(true);
    world.item(10, "bad value");
    world.item_or_rule(true, 10, "no JSON");
    world.problems.write(&[state(1, "why")]).unwrap();
    world.problems.remove_of_items(&[ItemId(50)]).unwrap();
    assert_eq!(world.rows("SELECT object FROM problems"), ["0"]);
    world.problems.remove_of(&[TriggerId(1)]).unwrap();
    assert!(world.rows("SELECT object FROM problems").is_empty());
    world.item(10, "bad value");
    let deleted: Result<(), DbError> =
        world.config.write(|edit| edit.delete(&table::ITEMS, "itemid", &[50]));
    deleted.unwrap();
    world.problems.remove_orphans().unwrap();
    assert!(world.rows("SELECT object FROM problems").is_empty());
    let before = world.event_count();
    world.item(30, "of an item that does not exist");
    assert_eq!(world.event_count(), before);
}

#[test]
fn internal_events_have_a_retention_of_their_own() {
    let world = World::new();
    world.internal_action(true);
    let at = u32::try_from(NOW_S).unwrap();
    for (clock, error) in [(at - 200_000, "old"), (at - 190_000, ""), (at - 1_000, "new"), (at, "")]
    {
        world.item(clock, error);
    }
    world.item(at - 180_000, "open");
    world.run("DELETE FROM problems WHERE r_eventid <> 0");
    assert_eq!(world.problems.housekeep().unwrap(), 2, "older than a day");
    assert_eq!(world.rows("SELECT name FROM events WHERE value = 1"), ["new", "open"]);
    world.set("hk_events_internal", "100d");
    world.item(at - 150_000, "");
    world.run("DELETE FROM problems");
    assert_eq!(world.problems.housekeep().unwrap(), 0);
}
