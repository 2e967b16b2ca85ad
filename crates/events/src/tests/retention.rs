//! How long events are kept, and what goes with deleted triggers.

use super::*;

#[test]
fn problems_of_deleted_triggers_and_old_events_go() {
    let world = World::new();
    let old = u32::try_from(NOW_S).unwrap() - 100_000;
    let found = [
        problem(1, old, &[]),
        problem(2, old, &[]),
        problem(4, old, &[]),
        recovery(2, old + 1, &[]),
    ];
    world.problems.write(&found).unwrap();
    let deleted: Result<(), DbError> =
        world.config.write(|edit| edit.delete(&table::TRIGGERS, "triggerid", &[1]));
    deleted.unwrap();
    world.changes();
    world.problems.remove_orphans().unwrap();
    assert_eq!(world.changes(), [(1, Fine)]);
    world.problems.write(&[problem(3, old + 2, &[])]).unwrap();
    assert_eq!(world.changes(), [(3, Bad)]);
    world.problems.remove_of(&[TriggerId(3), TriggerId(9)]).unwrap();
    assert_eq!(world.changes(), [(3, Fine)]);
    assert_eq!(world.rows("SELECT objectid FROM problems ORDER BY eventid"), ["2", "4"]);
    // The recovered one is older than a day; of the events only the open problem's is kept.
    world.set("hk_events_mode", "0");
    world.set("hk_events_trigger", "1d");
    assert_eq!(world.problems.housekeep().unwrap(), 0);
    world.set("hk_events_mode", "1");
    assert_eq!(world.problems.housekeep().unwrap(), 4);
    assert_eq!(world.rows("SELECT objectid FROM problems"), ["4"]);
    assert_eq!(world.rows("SELECT objectid, value FROM events"), ["4|1"]);
    assert_eq!(world.problems.stats().open, 1);
}

#[test]
fn events_of_each_source_have_their_own_retention() {
    let world = World::new();
    let hour = |hours: u64| NOW_S - hours * 3_600;
    let insert = |id: u64, (source, object, age): (u8, u8, u64)| {
        world.run(&format!(
            "INSERT INTO events (eventid, source, object, objectid, clock, name) \
             VALUES ({id}, {source}, {object}, 1, {}, 'event {id}')",
            hour(age)
        ));
    };
    // Source, object, age in hours; the ids grow with time, but for the last.
    let events =
        [(0, 0, 900), (1, 1, 60), (1, 2, 50), (2, 3, 30), (4, 6, 23), (0, 0, 1), (2, 3, 31)];
    for (id, event) in (1..).zip(events) {
        insert(id, event);
    }
    world.set("hk_events_discovery", "2d");
    assert_eq!(world.problems.housekeep().unwrap(), 3);
    assert_eq!(
        world.rows("SELECT name FROM events ORDER BY eventid"),
        ["event 1", "event 5", "event 6", "event 7"]
    );
    // The last goes as soon as an event with a greater id has expired.
    insert(8, (0, 0, 25));
    world.set("hk_events_trigger", "30d");
    assert_eq!(world.problems.housekeep().unwrap(), 2);
    assert_eq!(
        world.rows("SELECT name FROM events ORDER BY eventid"),
        ["event 5", "event 6", "event 8"]
    );
}
