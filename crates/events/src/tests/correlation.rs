//! Global correlation: rules of which conditions are written as text, `type key=value …`. Ids of events begin with 10000.

use super::*;

const AND: i64 = 1;
const FORMULA: i64 = 3;
const CLOSE_OLD: &[i64] = &[0];
const CLOSE_NEW: &[i64] = &[1];

impl World {
    fn rule(&self, id: u64, how: (i64, &str), conditions: &[&str], operations: &[i64]) {
        let written: Result<(), DbError> = self.config.write(|edit| {
            edit.insert(
                &table::CORRELATIONS,
                &[
                    ("correlationid", id.into()),
                    ("name", format!("rule {id}").into()),
                    ("evaltype", how.0.into()),
                    ("formula", how.1.into()),
                ],
            )?;
            for (n, text) in conditions.iter().enumerate() {
                let letter = char::from(b'A' + u8::try_from(n).unwrap()).to_string();
                let mut words = text.split(' ');
                let kind: i64 = words.next().unwrap().parse().unwrap();
                let mut row = vec![
                    ("correlationid", Value::from(id)),
                    ("position", (n as u64).into()),
                    ("type", kind.into()),
                    ("formulaid", letter.into()),
                ];
                for (name, value) in words.map(|word| word.split_once('=').unwrap()) {
                    let column = table::CORRELATION_CONDITIONS
                        .columns
                        .iter()
                        .find(|column| column.name == name)
                        .unwrap();
                    let is_number = matches!(name, "operator" | "groupid");
                    let number = || Value::from(value.parse::<i64>().unwrap());
                    row.push((column.name, if is_number { number() } else { value.into() }));
                }
                edit.insert(&table::CORRELATION_CONDITIONS, &row)?;
            }
            for (n, operation) in operations.iter().enumerate() {
                let row = [
                    ("correlationid", id.into()),
                    ("position", Value::from(n as u64)),
                    ("type", (*operation).into()),
                ];
                edit.insert(&table::CORRELATION_OPERATIONS, &row)?;
            }
            Ok(())
        });
        written.unwrap();
    }

    /// Names of open problems.
    fn open(&self) -> Vec<String> {
        self.rows("SELECT name FROM problems WHERE r_eventid = 0 ORDER BY eventid")
    }
}

#[test]
fn a_new_problem_closes_old_ones() {
    let world = World::new();
    world.problems.write(&[problem(1, 10, &[("app", "shop"), ("x", "y")])]).unwrap();
    world.rule(7, (AND, ""), &["3 oldtag=app newtag=service", "5 tag=state value=new"], CLOSE_OLD);
    world.problems.write(&[problem(2, 20, &[("app", "mail")])]).unwrap();
    world.changes();
    world.problems.write(&[problem(2, 25, &[("service", "shop"), ("state", "old")])]).unwrap();
    assert_eq!(world.open().len(), 3, "the second condition is not met");
    let new = [problem(2, 30, &[("service", "shop"), ("state", "new")])];
    world.problems.write(&new).unwrap();
    assert_eq!(world.open(), ["bad 20", "bad 25", "bad 30"]);
    assert_eq!(
        world.rows(
            "SELECT objectid, value, clock, ns, name, correlationid, c_eventid, userid \
             FROM events WHERE value = 0"
        ),
        ["1|0|30|5|bad 10|7|10003|0"]
    );
    assert_eq!(
        world.rows("SELECT r_eventid, r_clock, correlationid FROM problems WHERE eventid = 10000"),
        ["10004|30|7"]
    );
    assert!(world.rows("SELECT tag FROM event_tags WHERE eventid = 10004").is_empty());
    assert_eq!(world.changes(), [(2, Bad), (2, Bad), (1, Fine)]);
    assert_eq!(world.states(), [(1, Fine)]);
    assert_eq!(world.rows("SELECT value FROM trigger_states ORDER BY triggerid"), ["0", "1"]);
    assert_eq!(world.problems.stats().open, 3);
}

#[test]
fn a_new_problem_is_closed_at_once() {
    let world = World::new();
    world.rule(1, (AND, ""), &["0 tag=a", "1 tag=a"], CLOSE_NEW);
    world.problems.write(&[problem(1, 10, &[("a", "1")])]).unwrap();
    assert_eq!(world.open(), ["bad 10"], "nothing was open, itself does not count");
    world.problems.write(&[problem(2, 20, &[("a", "2")])]).unwrap();
    assert_eq!(world.open(), ["bad 10"]);
    assert_eq!(
        world
            .rows("SELECT eventid, objectid, correlationid, c_eventid FROM events WHERE value = 0"),
        ["10002|2|1|10001"]
    );
    assert_eq!(world.states(), [(2, Fine)]);
    // A rule that needs no open problem, and one that closes both.
    world.rule(2, (AND, ""), &["1 tag=b"], CLOSE_NEW);
    world.rule(3, (AND, ""), &["0 tag=a", "1 tag=b"], &[0, 1]);
    world.problems.write(&[problem(2, 30, &[("b", "")])]).unwrap();
    assert!(world.open().is_empty());
    assert_eq!(
        world.rows(
            "SELECT objectid, correlationid FROM events WHERE eventid > 10003 ORDER BY eventid"
        ),
        ["2|2", "1|3"],
        "the new one first"
    );
}

#[test]
fn conditions_are_combined() {
    // Open problems are 1 (a=1), 2 (a=2 c=x), 3 (without tags); which are left besides the new one.
    let check = |how: (i64, &str), conditions: &[&str], expected: &[&str]| {
        let world = World::new();
        world.problems.write(&[problem(1, 1, &[("a", "1")])]).unwrap();
        world.problems.write(&[problem(2, 2, &[("a", "2"), ("c", "x")])]).unwrap();
        world.problems.write(&[problem(3, 3, &[])]).unwrap();
        world.rule(1, how, conditions, CLOSE_OLD);
        world.problems.write(&[problem(4, 4, &[("n", "2"), ("n", "3")])]).unwrap();
        let mut open = world.open();
        assert_eq!(open.pop().as_deref(), Some("bad 4"));
        assert_eq!(open, expected, "{how:?} {conditions:?}");
    };
    const ALL: &[&str] = &["bad 1", "bad 2", "bad 3"];
    check((AND, ""), &["0 tag=a"], &["bad 3"]);
    check((AND, ""), &["0 tag=a", "0 tag=c"], &["bad 1", "bad 3"]);
    check((2, ""), &["0 tag=c", "4 tag=a value=1"], &["bad 3"]);
    check((0, ""), &["0 tag=a", "0 tag=c", "4 tag=a value=1"], &["bad 2", "bad 3"]);
    check((AND, ""), &["3 oldtag=a newtag=n"], &["bad 1", "bad 3"]);
    check((AND, ""), &["3 oldtag=a newtag=nothing"], ALL);
    // Of open problems: no such tag. Of the new one: a tag with another value.
    check((AND, ""), &["4 tag=a value=1 operator=1"], &["bad 1"]);
    check((AND, ""), &["4 tag=c value= operator=2"], &["bad 1", "bad 3"]);
    check((AND, ""), &["4 tag=c value=X operator=3"], &[]);
    check((AND, ""), &["5 tag=n value=2 operator=1"], &[]);
    check((AND, ""), &["5 tag=nothing value=2 operator=1"], ALL);
    check((AND, ""), &["1 tag=n"], &[]);
    check((FORMULA, "A and not B"), &["0 tag=a", "0 tag=c"], &["bad 2", "bad 3"]);
    check((FORMULA, "not (A or B)"), &["0 tag=a", "1 tag=nothing"], &["bad 1", "bad 2"]);
    check((FORMULA, "A or B"), &["0 tag=c", "1 tag=n"], &[]);
    check((FORMULA, "A and C"), &["0 tag=c", "1 tag=n"], ALL);
}

#[test]
fn groups_contain_those_nested_under_them() {
    let world = World::new();
    let written: Result<(), DbError> = world.config.write(|edit| {
        for (id, name) in [(1_u64, "A"), (2, "A/B"), (3, "AB")] {
            let row = [("groupid", id.into()), ("name", name.into()), ("type", Value::from(0))];
            edit.insert(&table::GROUPS, &row)?;
        }
        let member = [("hostid", 10_u64.into()), ("groupid", 2_u64.into())];
        edit.insert(&table::HOST_GROUPS, &member)
    });
    written.unwrap();
    let mut clock = 0;
    for (group, operator, closes) in
        [(1, 0, true), (2, 0, true), (3, 0, false), (1, 1, false), (3, 1, true)]
    {
        let condition = format!("2 groupid={group} operator={operator}");
        world.rule(9, (AND, ""), &[&condition], CLOSE_NEW);
        clock += 1;
        world.problems.write(&[problem(2, clock, &[])]).unwrap();
        let is_open = world.open().contains(&format!("bad {clock}"));
        assert_eq!(is_open, !closes, "{condition}");
        let gone: Result<(), DbError> =
            world.config.write(|edit| edit.delete(&table::CORRELATIONS, "correlationid", &[9]));
        gone.unwrap();
    }
    clock += 1;
    world.problems.write(&[problem(2, clock, &[])]).unwrap();
    assert!(world.open().contains(&format!("bad {clock}")), "there is no rule any more");
}

#[test]
fn a_recovery_closes_other_problems_too() {
    let world = World::new();
    world.rule(1, (AND, ""), &["3 oldtag=a newtag=a"], &[0, 1]);
    let first = [problem(1, 1, &[("a", "1")]), problem(2, 2, &[("a", "2"), ("b", "")])];
    world.problems.write(&first).unwrap();
    world.problems.write(&[recovery(1, 3, &[("a", "2")])]).unwrap();
    assert!(world.open().is_empty());
    assert_eq!(
        world.rows("SELECT objectid, correlationid, c_eventid FROM events WHERE value = 0"),
        ["1|0|0", "2|1|10002"]
    );
    // What a rule closes closes nothing further, and neither does a recovery without an event.
    world.problems.write(&[problem(2, 4, &[("a", "1")]), recovery(1, 5, &[("a", "1")])]).unwrap();
    assert_eq!(world.open(), ["bad 4"]);
}

#[test]
fn tags_that_come_later_and_restarts_count() {
    let world = World::new();
    world.rule(1, (AND, ""), &["4 tag=ticket value=7", "1 tag=n"], CLOSE_OLD);
    world.problems.write(&[problem(1, 1, &[])]).unwrap();
    let added: Result<u64, DbError> = world.config.write_state(|state| {
        let row = [("eventid", 10_000_u64.into()), ("tag", "ticket".into()), ("value", "7".into())];
        state.insert_new(&table::EVENT_TAGS, &row)
    });
    added.unwrap();
    let world = world.restarted();
    world.problems.write(&[problem(3, 2, &[])]).unwrap();
    let added: Result<u64, DbError> = world.config.write_state(|state| {
        let row = [("eventid", 10_001_u64.into()), ("tag", "ticket".into()), ("value", "7".into())];
        state.insert_new(&table::EVENT_TAGS, &row)
    });
    added.unwrap();
    world.problems.write(&[problem(2, 3, &[("n", "")])]).unwrap();
    assert_eq!(world.open(), ["bad 3"]);
}

#[test]
fn many_open_problems_are_not_compared() {
    const MANY: u32 = 2_000;
    let world = World::new();
    world.rule(1, (AND, ""), &["3 oldtag=host newtag=host", "0 tag=all"], CLOSE_OLD);
    world.rule(
        2,
        (FORMULA, "A and (B or not C)"),
        &["4 tag=host value=h5", "0 tag=all", "0 tag=x"],
        CLOSE_NEW,
    );
    let many: Vec<TriggerFinding> =
        (0..MANY).map(|n| problem(2, n, &[("host", &format!("h{n}")), ("all", "")])).collect();
    many.chunks(1_000).for_each(|some| world.problems.write(some).unwrap());
    // Each was compared with none, or with the one that has the value.
    let before = world.problems.comparisons();
    assert!(before <= u64::from(MANY), "{before}");
    world.problems.write(&[problem(4, MANY, &[("host", "h77")])]).unwrap();
    let compared = world.problems.comparisons() - before;
    assert!((1..=2).contains(&compared), "{compared}");
    assert!(!world.open().contains(&"bad 77".to_owned()));
}
