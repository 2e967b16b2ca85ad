//! Commands of operations: who they are for, when they start, and crashes at the worst moments.

use super::*;

const ROWS: &str = "SELECT userid, mediatypeid, message, status, error, alerttype, target_hostid FROM alerts \
                    WHERE alerttype = 1 ORDER BY alertid";
const STATES: &str =
    "SELECT status, error, nextcheck > 0 FROM alerts WHERE alerttype = 1 ORDER BY alertid";
const SCRIPT: u64 = 801;
const UNCERTAIN: &str =
    "2|The server stopped while the command ran. It may have been executed; it is not run again.|0";

fn host(config: &Config, id: u64, group: u64, status: i64) {
    let name = Value::from(format!("h{id}"));
    let row =
        [("hostid", id.into()), ("host", name.clone()), ("name", name), ("status", status.into())];
    put(config, &table::HOSTS, &row);
    put(config, &table::HOST_GROUPS, &[("hostid", id.into()), ("groupid", group.into())]);
}

fn script(config: &Config, id: u64, more: Columns<'_>) {
    let row = [
        ("scriptid", Value::from(id)),
        ("name", format!("s{id}").into()),
        ("type", 0_i64.into()),
        ("execute_on", 1_i64.into()),
        ("command", "run {EVENT.ID} {$SECRET}".into()),
    ];
    let mut row = row.to_vec();
    for (name, value) in more {
        row.retain(|(other, _)| other != name);
        row.push((*name, value.clone()));
    }
    put(config, &table::SCRIPTS, &row);
}

/// An operation that runs a script on hosts (0 = the event's) and host groups.
fn runs(config: &Config, id: u64, mode: i64, script: u64, hosts: &[u64], groups: &[u64]) {
    let row = [
        ("operationid", Value::from(id)),
        ("actionid", ACTION.into()),
        ("operationtype", 1_i64.into()),
        ("esc_step_from", 1_i64.into()),
        ("esc_step_to", 1_i64.into()),
        ("recovery", mode.into()),
    ];
    put(config, &table::OPERATIONS, &row);
    put(
        config,
        &table::OPERATION_COMMANDS,
        &[("operationid", id.into()), ("scriptid", script.into())],
    );
    for host in hosts {
        let row = [("operationid", Value::from(id)), ("hostid", (*host).into())];
        put(config, &table::OPERATION_COMMAND_HOSTS, &row);
    }
    for group in groups {
        let row = [("operationid", Value::from(id)), ("groupid", (*group).into())];
        put(config, &table::OPERATION_COMMAND_GROUPS, &row);
    }
}

impl World {
    /// What starts now, as `host command`.
    fn started(&mut self) -> Vec<String> {
        self.work();
        let taken = std::mem::take(&mut *lock(&self.shell.started));
        let shown = taken.iter().map(|(_, task)| match &task.work {
            Work::Server { command } => format!("{} {command}", task.host.0),
            other => format!("{} {other:?}", task.host.0),
        });
        shown.collect()
    }

    /// The command of an alert ends, and its host has room.
    fn ends(&self, alert: u64, host: u64, outcome: Outcome) {
        lock(&self.shell.full).remove(&HostId(host));
        self.report(alert, outcome);
    }
}

fn done() -> Outcome {
    Outcome::SENT
}

fn with_script() -> World {
    let world = World::new();
    script(&world.config, SCRIPT, &[]);
    world
}

#[test]
fn each_target_runs_it_once_and_disabled_hosts_do_not() {
    let mut world = with_script();
    let config = &world.config;
    put(config, &table::GROUPS, &[("groupid", 5001_u64.into()), ("name", "Web/Inner".into())]);
    host(config, 60, 5000, 0);
    host(config, 61, 5001, 0);
    host(config, 62, 5001, 1);
    runs(config, 405, 0, SCRIPT, &[0, HOST, 60], &[5000]);
    world.renamed();
    let event = world.problem(TRIGGER);
    assert_eq!(world.started(), [HOST, 60, 61].map(|host| format!("{host} run {event} secret")));
    assert_eq!(
        world.rows(ROWS),
        [("web", HOST), ("h60", 60), ("h61", 61)]
            .map(|(name, host)| format!("0|0|{name}:run {event} ******|3||1|{host}"))
    );
    // Commands come before the messages of their step.
    let kinds = world.rows("SELECT alerttype FROM alerts ORDER BY alertid");
    assert_eq!(kinds, ["1", "1", "1", "0"]);
}

#[test]
fn the_end_and_updates_run_their_own() {
    let mut world = with_script();
    runs(&world.config, 405, 1, SCRIPT, &[0], &[]);
    runs(&world.config, 406, 2, SCRIPT, &[0], &[]);
    world.renamed();
    let event = world.problem(TRIGGER);
    assert_eq!(world.started(), Vec::<String>::new());
    let message = "seen".to_owned();
    world.update(event, ProblemUpdate { message, user: UserId(BOB), ..<_>::default() });
    assert_eq!(world.started(), [format!("{HOST} run {event} secret")]);
    let first =
        world.rows("SELECT MIN(alertid) FROM alerts WHERE alerttype = 1")[0].parse().unwrap();
    world.ends(first, HOST, done());
    world.recovery(TRIGGER);
    assert_eq!(world.started(), [format!("{HOST} run {event} secret")]);
    assert_eq!(world.rows(STATES), ["1||0", "3||0"]);
}

#[test]
fn thousands_for_a_busy_host_delay_no_other() {
    let mut world = with_script();
    host(&world.config, 60, 5000, 0);
    runs(&world.config, 405, 0, SCRIPT, &[0], &[]);
    world.renamed();
    let event = world.problem(TRIGGER);
    assert_eq!(world.started(), [format!("{HOST} run {event} secret")]);
    let waiting = |first: u64, count: u64, host: u64| {
        let sql = format!(
            "INSERT INTO alerts (alertid, eventid, scriptid, target_hostid, clock, status, alerttype, nextcheck, parameters) \
             WITH RECURSIVE n(id) AS (SELECT {first} UNION ALL SELECT id + 1 FROM n WHERE id + 1 < {first} + {count}) \
             SELECT id, {event}, {SCRIPT}, {host}, 1, 3, 1, 1, parameters FROM n, (SELECT parameters FROM alerts WHERE alerttype = 1 LIMIT 1)"
        );
        world.run_state(&sql);
    };
    waiting(1_000_000, 6_000, HOST);
    waiting(2_000_000, 1, 60);
    world.escalator.running.add(0);
    assert_eq!(world.started(), [format!("60 run {event} secret")]);
}

#[test]
fn commands_of_one_host_wait_for_each_other() {
    let mut world = with_script();
    host(&world.config, 60, 5000, 0);
    script(&world.config, 802, &[("command", "second".into())]);
    runs(&world.config, 405, 0, SCRIPT, &[0], &[]);
    runs(&world.config, 406, 0, 802, &[0, 60], &[]);
    world.renamed();
    let event = world.problem(TRIGGER);
    // The host that is busy delays no other.
    assert_eq!(world.started(), [format!("{HOST} run {event} secret"), "60 second".to_owned()]);
    assert_eq!(world.started(), Vec::<String>::new());
    assert!(world.work() > 1, "it waits for a report, not for time");
    let ids = world.rows("SELECT alertid FROM alerts WHERE alerttype = 1 ORDER BY alertid");
    let outcome = Outcome::Impossible { error: "exit 5".to_owned() };
    world.ends(ids[0].parse().unwrap(), HOST, outcome);
    assert_eq!(world.started(), [format!("{HOST} second")]);
    assert_eq!(world.rows(STATES), ["2|exit 5|0", "3||0", "3||0"]);
}

#[test]
fn what_ran_at_a_crash_is_not_run_again() {
    let mut world = with_script();
    host(&world.config, 60, 5000, 0);
    runs(&world.config, 405, 0, SCRIPT, &[0, 60], &[]);
    world.renamed();
    lock(&world.shell.full).insert(HostId(60));
    let event = world.problem(TRIGGER);
    assert_eq!(world.started(), [format!("{HOST} run {event} secret")]);
    let mut world = world.restarted();
    // What had not started runs now.
    assert_eq!(world.started(), [format!("60 run {event} secret")]);
    assert_eq!(world.rows(STATES), [UNCERTAIN, "3||0"]);
}

#[test]
fn what_cannot_run_says_why() {
    let mut world = with_script();
    host(&world.config, 60, 5000, 0);
    put(&world.config, &table::GROUPS, &[("groupid", 5002_u64.into()), ("name", "Db".into())]);
    script(&world.config, 802, &[("groupid", 5002_u64.into())]);
    runs(&world.config, 405, 0, 802, &[60], &[]);
    runs(&world.config, 406, 0, SCRIPT, &[0], &[]);
    world.run("UPDATE hosts SET status = 1 WHERE hostid = 50");
    let event = world.problem(TRIGGER);
    world.work();
    // The host of the event is switched off, so its escalation ends.
    assert_eq!(world.rows(ROWS), Vec::<String>::new());
    world.run("UPDATE hosts SET status = 0 WHERE hostid = 50");
    put(
        &world.config,
        &table::ITEMS,
        &[
            ("itemid", 509_u64.into()),
            ("hostid", 60_u64.into()),
            ("key_", "k".into()),
            ("type", 2_i64.into()),
        ],
    );
    put(
        &world.config,
        &table::FUNCTIONS,
        &[
            ("functionid", 9_u64.into()),
            ("triggerid", CHILD.into()),
            ("itemid", 509_u64.into()),
            ("name", "last".into()),
        ],
    );
    // The other trigger, which this one depends on.
    world.recovery(TRIGGER);
    let second = world.problem(CHILD);
    assert_eq!(world.started(), Vec::<String>::new());
    assert!(second > event);
    let denied = "Script does not have permission to be executed on the host.";
    assert_eq!(
        world.rows(ROWS),
        [
            format!("0|0|h60:run {second} ******|2|{denied}|1|60"),
            format!("0|0|:run {second} ******|2|Too many hosts in a trigger expression|1|0"),
        ]
    );
}

#[test]
fn a_script_that_was_deleted_is_not_run() {
    let mut world = with_script();
    runs(&world.config, 405, 0, SCRIPT, &[0], &[]);
    world.renamed();
    lock(&world.shell.full).insert(HostId(HOST));
    world.problem(TRIGGER);
    assert_eq!(world.started(), Vec::<String>::new());
    world.run("DELETE FROM operation_commands");
    world.run("DELETE FROM scripts");
    let mut world = world.restarted();
    assert_eq!(world.started(), Vec::<String>::new());
    assert_eq!(world.rows(STATES), ["2|The script was deleted.|0"]);
}

#[test]
fn commands_of_an_action_that_was_deleted_are_not_run() {
    let mut world = with_script();
    runs(&world.config, 405, 0, SCRIPT, &[0], &[]);
    world.renamed();
    lock(&world.shell.full).insert(HostId(HOST));
    world.problem(TRIGGER);
    assert_eq!(world.started(), Vec::<String>::new());
    // The server stops before it deletes the alerts, too.
    let deleted: Result<(), DbError> =
        world.config.write(|edit| edit.delete(&table::ACTIONS, "actionid", &[ACTION]));
    deleted.unwrap();
    let mut world = world.restarted();
    assert_eq!(world.started(), Vec::<String>::new());
    let error = "The action or the user was deleted. The command is not run.";
    assert_eq!(world.rows(STATES), [format!("2|{error}|0")]);
}

#[test]
fn tasks_have_the_settings_of_their_script() {
    let mut world = World::new();
    for (id, more) in [
        (
            811,
            &[
                ("type", Value::from(5_i64)),
                ("command", "return 1".into()),
                ("timeout", "7s".into()),
            ][..],
        ),
        (812, &[("type", 3_i64.into()), ("username", "u".into()), ("port", "2323".into())][..]),
        (813, &[("execute_on", 0_i64.into())][..]),
        (814, &[("type", 2_i64.into()), ("username", "u".into()), ("port", "x".into())][..]),
    ] {
        script(&world.config, id, more);
        host(&world.config, id, 5000, 0);
        runs(&world.config, id, 0, id, &[id], &[]);
    }
    let row = [
        ("scriptid", Value::from(811_u64)),
        ("position", 0_i64.into()),
        ("name", "p".into()),
        ("value", "{EVENT.ID}".into()),
    ];
    put(&world.config, &table::SCRIPT_PARAMS, &row);
    world.renamed();
    let event = world.problem(TRIGGER);
    world.work();
    let started = lock(&world.shell.started);
    let works: Vec<&Work> = started.iter().map(|(_, task)| &task.work).collect();
    let [webhook, telnet, agent] = works[..] else { panic!("{works:?}") };
    let parameters = vec![("p".to_owned(), event.to_string())];
    let timeout = Duration::from_secs(7);
    assert_eq!(*webhook, Work::Webhook { script: "return 1".to_owned(), parameters, timeout });
    let command = format!("run {event} secret");
    let Work::Telnet(remote) = telnet else { panic!("{telnet:?}") };
    assert_eq!((remote.port, &remote.command), (Some(2323), &command));
    assert_eq!(*agent, Work::Agent { command, wait: false });
    drop(started);
    assert_eq!(world.rows(STATES)[3], "2|Invalid port number \"x\".|0");
    assert_eq!(world.rows(ROWS)[0], "0|0|h811:s811|3||1|811", "a webhook shows its name");
}
