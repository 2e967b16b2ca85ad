//! When an action applies to what was found.

use super::*;

#[test]
fn conditions() {
    let mut world = World::new();
    world.look("10.0.0.5", &[(AGENT, 10_050, Some("alpha")), (TCP, 80, Some(""))]);
    world.events();
    // Conditions and whether they are met by the next event "up" of the agent, of the host.
    for (n, (kind, operator, value, service, host)) in [
        (7, 0, "10.0.0.1-9", true, true),
        (7, 0, "10.1.0.0/16", false, false),
        (7, 1, "10.1.0.0/8", false, false),
        (7, 1, "192.168.0.0/16", true, true),
        (8, 0, "9", true, false),
        (8, 1, "8", true, false),
        (8, 1, "9", false, false),
        (9, 0, "22,10000-11000", true, false),
        (9, 1, "22,10000-11000", false, false),
        (10, 0, "0", true, true),
        (10, 0, "1", false, false),
        (11, 5, "60", true, true),
        (11, 5, "6000", false, false),
        (11, 6, "6000", true, true),
        (12, 0, "alpha", true, false),
        (12, 1, "alpha", false, false),
        (12, 2, "lph", true, false),
        (12, 3, "lph", false, false),
        (12, 5, "al", true, false),
        (12, 6, "al", false, false),
        (18, 0, "1", true, true),
        (18, 1, "1", false, false),
        (19, 0, "11", true, false),
        (19, 0, "12", false, false),
        (21, 0, "2", true, false),
        (21, 0, "1", false, true),
        (20, 0, "1", false, false),
        (20, 1, "1", true, true),
    ]
    .into_iter()
    .enumerate()
    {
        let id = n as u64 + 1;
        // What it is about tells the two apart.
        for (action, object) in [(id * 10, "2"), (id * 10 + 1, "1")] {
            let tag = if object == "2" { "service" } else { "host" };
            let operations = [(13, None, None, Some((tag, "")))];
            world.action(action, 1, &[(kind, operator, value), (21, 0, object)], &operations);
            // All of them, also two of one kind.
            world.run(&format!("UPDATE actions SET evaltype = 1 WHERE actionid = {action}"));
        }
        world.look("10.0.0.5", &[(AGENT, 10_050, Some("alpha"))]);
        let mut expected = Vec::new();
        if host {
            expected.push("host ");
        }
        if service {
            expected.push("service ");
        }
        let case = (kind, operator, value);
        assert_eq!(
            world.rows("SELECT tag, value FROM host_tags ORDER BY tag"),
            expected,
            "{case:?}"
        );
        world.run("DELETE FROM actions");
        world.run("DELETE FROM hosts WHERE kind = 0");
    }
}

#[test]
fn how_conditions_are_joined() {
    let mut world = World::new();
    world.look("10.0.0.5", &[(AGENT, 10_050, Some("v"))]);
    // Of the host's event: A and B are of one kind, A is met; C is met; D is not.
    let conditions = [(7, 0, "10.0.0.5"), (7, 0, "10.0.0.6"), (18, 0, "1"), (10, 0, "1")];
    for (evaltype, formula, of, expected) in [
        (0, "", &conditions[..3], true),
        (0, "", &conditions[..], false),
        (0, "", &conditions[..0], true),
        (1, "", &conditions[..3], false),
        (1, "", &conditions[2..3], true),
        (2, "", &conditions[..], true),
        (2, "", &conditions[3..], false),
        (3, "A and not B", &conditions[..2], true),
        (3, "(A or B) and not (C and D)", &conditions[..], true),
        (3, "A and (B or D)", &conditions[..], false),
        (3, "A and", &conditions[..], false),
    ] {
        world.action(1, 1, of, &[(2, None, None, None)]);
        for (n, letter) in ["A", "B", "C", "D"].iter().enumerate() {
            let set = format!(
                "UPDATE action_conditions SET formulaid = '{letter}' WHERE sortorder = {n}"
            );
            world.run(&set);
        }
        world.run(&format!("UPDATE actions SET evaltype = {evaltype}, formula = '{formula}'"));
        world.look("10.0.0.5", &[(AGENT, 10_050, Some("v"))]);
        let case = (evaltype, formula, of.len());
        assert_eq!(!world.hosts().is_empty(), expected, "{case:?}");
        world.run("DELETE FROM actions");
        world.run("DELETE FROM hosts WHERE kind = 0");
    }
}
