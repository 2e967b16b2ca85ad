//! Messages that one message summarises.

use super::*;

const GROUPING: &str = r#"{"by":["{HOST.HOST}"],"wait":"30s","interval":"5m","repeat":"4h"}"#;

/// Alice gets one message of each problem, and all who are involved of its end.
fn world(grouping: &str, limit: &str) -> World {
    let world = World::new();
    world.run("DELETE FROM operations WHERE operationid = 402");
    world.run("UPDATE operations SET esc_step_to = 1 WHERE operationid = 401");
    world.run(&format!("UPDATE media_types SET storm_limit = '{limit}'"));
    world.run("INSERT INTO settings (name, value) VALUES ('url', 'https://m.example')");
    world.run(&format!("UPDATE actions SET grouping = '{grouping}'"));
    world
}

impl World {
    /// Problems of as many new triggers.
    fn problems(&self, n: u64) {
        let first: u64 =
            self.rows("SELECT MAX(triggerid) + 1000 AS next FROM triggers")[0].parse().unwrap();
        let written: Result<(), DbError> = self.config.write(|edit| {
            for trigger in first..first + n {
                let name = format!("t{trigger}");
                edit.insert(
                    &table::TRIGGERS,
                    &[
                        ("triggerid", trigger.into()),
                        ("priority", 4_i64.into()),
                        ("description", name.into()),
                        ("expression", "{1}>0".into()),
                    ],
                )?;
                edit.insert(
                    &table::FUNCTIONS,
                    &[
                        ("functionid", trigger.into()),
                        ("triggerid", trigger.into()),
                        ("itemid", ITEM.into()),
                        ("name", "last".into()),
                    ],
                )?;
            }
            Ok(())
        });
        written.unwrap();
        let found = |trigger| TriggerFinding::Problem {
            trigger: TriggerId(trigger),
            at: self.now(),
            name: "bad".to_owned(),
            opdata: String::new(),
            tags: Vec::new(),
        };
        self.problems.write(&(first..first + n).map(found).collect::<Vec<_>>()).unwrap();
    }

    /// All problems end.
    fn recoveries(&self) {
        let found = |trigger: &String| TriggerFinding::Recovery {
            trigger: TriggerId(trigger.parse().unwrap()),
            at: self.now(),
            name: "good".to_owned(),
            tags: Vec::new(),
        };
        let open = self.rows("SELECT objectid FROM problems WHERE r_eventid = 0");
        self.problems.write(&open.iter().map(found).collect::<Vec<_>>()).unwrap();
    }

    /// Status, reason, and whether another message tells of it, of each alert.
    fn alerts(&self) -> Vec<String> {
        self.rows(
            "SELECT status, withheld, CASE WHEN carrierid = 0 THEN 0 ELSE 1 END AS told \
             FROM alerts ORDER BY alertid",
        )
    }

    fn count(&self, sql: &str) -> String {
        self.rows(&format!("SELECT COUNT(*) AS n FROM {sql}")).remove(0)
    }
}

#[test]
fn several_messages_become_one() {
    let mut world = world(GROUPING, "");
    world.problems(2);
    assert_eq!(world.sent(), [""; 0]);
    assert_eq!(world.alerts(), ["4|1|0", "4|1|0"]);
    // A crash while they wait.
    let mut world = world.restarted();
    world.problems(1);
    assert_eq!(world.after(29), [""; 0]);
    assert_eq!(world.after(1), ["alice [3 new] host: web"]);
    world.report_all();
    assert_eq!(world.alerts(), ["4|1|1", "4|1|1", "4|1|1", "1|0|0"]);
    let text = world.rows("SELECT message, parameters FROM alerts WHERE carrierid = 0").remove(0);
    assert!(text.starts_with("Main"), "{text}");
    assert_eq!(text.matches("[High] web: bad (for 30s)").count(), 3, "{text}");
    assert!(text.contains("https://m.example/problems?sort=severity&host=50"), "{text}");
    assert!(text.ends_with(r#"[["to","alice: [3 new] host: web"]]"#), "{text}");
    // Additions come after the interval, and the end of all three is told in one message, too.
    world.recoveries();
    world.problems(1);
    world.sent();
    assert_eq!(world.after(299), [""; 0]);
    assert_eq!(world.after(1), ["alice [1 new, 3 resolved] host: web"]);
    world.report_all();
    // The only message that waits is sent as it is.
    world.recoveries();
    world.sent();
    assert_eq!(world.after(300), ["alice OK"]);
    world.report_all();
    assert_eq!(world.rows("SELECT MAX(withheld) AS w FROM alerts WHERE status = 1"), ["1"]);
    assert_eq!(world.count("bundles"), "1");
    world.after(300);
    assert_eq!(world.count("bundles"), "0", "the group has ended");
    assert_eq!(world.count("alerts WHERE bundleid <> 0"), "0");
    assert_eq!(world.count("alerts WHERE status NOT IN (1, 4)"), "0");
    assert_eq!(world.count("alerts WHERE status = 4 AND carrierid = 0"), "0");
}

#[test]
fn what_is_still_open_is_told_again() {
    let mut world = world(GROUPING, "");
    world.problems(2);
    world.after(0);
    assert_eq!(world.after(30), ["alice [2 new] host: web"]);
    world.report_all();
    let mut told = Vec::new();
    for _ in 0..48 {
        told.extend(world.after(300));
        world.report_all();
    }
    assert_eq!(told, ["alice [2 open] host: web"]);
    // Not at a time when she takes none, nor to one who may not see the problems.
    world.run("UPDATE media SET period = '1-7,00:00-00:01'");
    for _ in 0..5 {
        assert_eq!(world.after(3_600), [""; 0]);
    }
    world.run("UPDATE media SET period = '1-7,00:00-24:00'");
    assert_eq!(world.after(3_600), ["alice [2 open] host: web"]);
    world.report_all();
    world.run("DELETE FROM group_rights");
    for _ in 0..5 {
        assert_eq!(world.after(3_600), [""; 0]);
    }
}

#[test]
fn a_user_who_lost_the_right_gets_no_summary() {
    let mut world = world(GROUPING, "");
    world.problems(2);
    world.sent();
    world.run("DELETE FROM group_rights");
    assert_eq!(world.after(30), [""; 0]);
    let failed = "2|The user can no longer see the problems of this message.";
    assert_eq!(world.rows("SELECT status, error FROM alerts"), [failed; 2]);
}

#[test]
fn a_note_that_cancels_is_sent_at_once() {
    let mut world = world(GROUPING, "");
    world.run("UPDATE operations SET esc_step_to = 2 WHERE operationid = 401");
    world.problems(2);
    world.sent();
    assert_eq!(world.after(30), ["alice [2 new] host: web"]);
    world.report_all();
    world.run("UPDATE hosts SET status = 1");
    let sent = world.after(30);
    assert_eq!(sent.len(), 2, "{sent:?}");
    let notes = world.rows("SELECT message FROM alerts WHERE message LIKE 'NOTE: %'");
    assert_eq!(notes.len(), 2);
}

#[test]
fn a_group_ends_with_its_action() {
    let mut world = world(GROUPING, "");
    world.problems(2);
    world.sent();
    world.run("UPDATE actions SET status = 1");
    assert_eq!(world.after(30), ["alice [2 new] host: web"], "what was withheld is told");
    assert_eq!(world.count("bundles"), "0");
}

#[test]
fn beyond_the_limit_one_digest_tells() {
    let mut world = world("", r#"{"messages":2,"period":"2m"}"#);
    world.problems(5);
    assert_eq!(world.sent(), ["alice PROBLEM"; 2]);
    world.report_all();
    assert_eq!(world.alerts(), ["1|0|0", "1|0|0", "4|3|0", "4|3|0", "4|3|0"]);
    let mut world = world.restarted();
    world.problems(1);
    assert_eq!(world.after(59), [""; 0], "nothing overtakes what waits");
    assert_eq!(world.after(1), ["alice [4 messages withheld] web"]);
    world.report_all();
    let text = world.rows("SELECT message FROM alerts WHERE message LIKE '%withheld%'").remove(0);
    assert!(text.contains("High: 4 problems") && text.contains("web: 4 messages"), "{text}");
    assert_eq!(world.count("alerts WHERE status = 4 AND carrierid <> 0"), "4");
    // A single one goes as it is, once there is room.
    world.problems(1);
    assert_eq!(world.after(0), [""; 0]);
    assert_eq!(world.after(60), ["alice PROBLEM"]);
    world.report_all();
    for _ in 0..4 {
        world.after(60);
    }
    assert_eq!(world.count("bundles"), "0", "a full bucket is forgotten");
}

#[test]
fn summaries_count_as_one_message_of_the_limit() {
    let mut world = world(GROUPING, r#"{"messages":1,"period":"1h"}"#);
    world.problems(2);
    world.after(0);
    assert_eq!(world.after(30), ["alice [2 new] host: web"]);
    world.report_all();
    world.recoveries();
    world.after(0);
    assert_eq!(world.after(300), [""; 0]);
    let held = "SELECT subject, status, withheld FROM alerts ORDER BY alertid DESC LIMIT 1";
    assert_eq!(world.rows(held), ["[2 resolved] host: web|4|3"]);
    world.after(3_000);
    assert_eq!(world.after(300), ["alice [2 resolved] host: web"]);
    world.report_all();
    assert_eq!(world.count("alerts WHERE status = 4 AND carrierid = 0"), "0");
}

#[test]
fn a_limit_that_is_removed_holds_nothing_back() {
    let mut world = world("", r#"{"messages":1,"period":"1h"}"#);
    world.problems(3);
    assert_eq!(world.sent(), ["alice PROBLEM"]);
    world.run("UPDATE media_types SET storm_limit = ''");
    assert_eq!(world.after(3_600), ["alice [2 messages withheld] web"]);
    assert_eq!(world.count("bundles"), "0");
}

#[test]
fn a_clock_that_is_set_back_delays_no_group() {
    let mut world = world(GROUPING, "");
    world.problems(2);
    world.sent();
    world.clock.set_back(Duration::from_secs(1_000));
    assert_eq!(world.sent(), [""; 0]);
    assert_eq!(world.after(30), ["alice [2 new] host: web"]);
}

#[test]
fn thousands_of_messages_become_one() {
    let mut world = world(GROUPING, "");
    let all = 5_000;
    world.problems(all);
    let mut sent = Vec::new();
    // The time passes while there is a backlog: it is still one message.
    for _ in 0..12 {
        sent.extend(world.after(4));
    }
    assert_eq!(sent, [format!("alice [{all} new] host: web")]);
    world.report_all();
    assert_eq!(world.count("alerts WHERE status = 4 AND withheld = 1 AND carrierid <> 0"), "5000");
    let text = world.rows("SELECT message FROM alerts WHERE status = 1").remove(0);
    assert_eq!(text.matches("[High] web: bad").count(), 50);
    assert!(text.contains("and 4950 more"));
    world.recoveries();
    let mut sent = Vec::new();
    for _ in 0..12 {
        sent.extend(world.after(30));
    }
    assert_eq!(sent, [format!("alice [{all} resolved] host: web")]);
}
