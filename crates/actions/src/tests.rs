//! Discovery results in, rows, events and hosts out, on an SQLite file.

mod conditions;

use std::sync::{Arc, Mutex};

use config::Config;
use config::db::{DbError, Location, Value};
use config::schema::Table;
use config::table;
use model::{DiscoveryResult, SeenAddress, SeenAgent, SeenService, Timestamp};

use crate::{Bell, DiscoveryWriter};

const NOW: u32 = 1_800_000_000;
const RULE: u64 = 1;
const AGENT: u64 = 11;
const TCP: u64 = 12;

/// Kind, group, template and tag of an operation.
type Operation<'a> = (i64, Option<u64>, Option<u64>, Option<(&'a str, &'a str)>);

struct World {
    config: Arc<Config>,
    writer: DiscoveryWriter,
    gone: Arc<Mutex<usize>>,
    now: u32,
    _dir: tempfile::TempDir,
}

type Columns<'a> = &'a [(&'static str, Value)];

impl World {
    /// A rule with a check of agents and one of a port, a template with an item, a group.
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(dir.path().join("config.db"));
        let config = Arc::new(Config::open(location).unwrap());
        let gone: Arc<Mutex<usize>> = Arc::default();
        let told = Arc::clone(&gone);
        config.tell_deleted(Arc::new(move |deleted| {
            *told.lock().unwrap() += deleted.items.len();
        }));
        let writer = DiscoveryWriter::new(Arc::clone(&config), Bell::default());
        let world = Self { config, writer, gone, now: NOW, _dir: dir };
        world.put(
            &table::DRULES,
            &[("druleid", RULE.into()), ("name", "r".into()), ("iprange", "10.0.0.1-9".into())],
        );
        for (id, kind) in [(AGENT, 9), (TCP, 8)] {
            world.put(
                &table::DCHECKS,
                &[("dcheckid", id.into()), ("druleid", RULE.into()), ("type", Value::from(kind))],
            );
        }
        world.put(&table::GROUPS, &[("groupid", 5_u64.into()), ("name", "Web".into())]);
        world.put(
            &table::HOSTS,
            &[
                ("hostid", 50_u64.into()),
                ("kind", Value::from(1)),
                ("host", "T".into()),
                ("name", "T".into()),
            ],
        );
        world.put(
            &table::ITEMS,
            &[
                ("itemid", 500_u64.into()),
                ("hostid", 50_u64.into()),
                ("key_", "k".into()),
                ("type", Value::from(2)),
            ],
        );
        world
    }

    fn put(&self, table: &'static Table, row: Columns<'_>) {
        let written: Result<(), DbError> = self.config.write(|edit| edit.insert(table, row));
        written.unwrap();
    }

    fn run(&self, sql: &str) {
        let done: Result<u64, DbError> =
            self.config.write(|edit| edit.unrecorded().execute(sql, &[]));
        done.unwrap();
    }

    /// An action with conditions (kind, operator, value) and operations (kind, groups, templates,
    /// tags).
    fn action(
        &self,
        id: u64,
        source: i64,
        conditions: &[(i64, i64, &str)],
        operations: &[Operation<'_>],
    ) {
        self.put(
            &table::ACTIONS,
            &[
                ("actionid", id.into()),
                ("name", format!("a{id}").into()),
                ("eventsource", source.into()),
            ],
        );
        for (n, (kind, operator, value)) in conditions.iter().enumerate() {
            self.put(
                &table::ACTION_CONDITIONS,
                &[
                    ("actionid", id.into()),
                    ("sortorder", Value::from(n as u64)),
                    ("conditiontype", (*kind).into()),
                    ("operator", (*operator).into()),
                    ("value", (*value).into()),
                ],
            );
        }
        for (n, (kind, group, template, tag)) in operations.iter().enumerate() {
            let operation = id * 100 + n as u64;
            self.put(
                &table::OPERATIONS,
                &[
                    ("operationid", operation.into()),
                    ("actionid", id.into()),
                    ("operationtype", (*kind).into()),
                    ("inventory_mode", Value::from(1)),
                ],
            );
            let own = ("operationid", Value::from(operation));
            if let Some(group) = group {
                self.put(&table::OPERATION_GROUPS, &[own.clone(), ("groupid", (*group).into())]);
            }
            if let Some(template) = template {
                self.put(
                    &table::OPERATION_TEMPLATES,
                    &[own.clone(), ("templateid", (*template).into())],
                );
            }
            if let Some((tag, value)) = tag {
                self.put(
                    &table::OPERATION_TAGS,
                    &[own, ("tag", (*tag).into()), ("value", (*value).into())],
                );
            }
        }
    }

    /// A look at an address a minute after the last one: check, port, value where it is up.
    fn look(&mut self, ip: &str, services: &[(u64, u16, Option<&str>)]) {
        self.now += 60;
        let service = |(check, port, value): &(u64, u16, Option<&str>)| SeenService {
            check: *check,
            port: *port,
            up: value.is_some(),
            value: value.unwrap_or_default().to_owned(),
        };
        let seen = SeenAddress {
            rule: RULE,
            ip: ip.parse().unwrap(),
            dns: String::new(),
            at: Timestamp::from_s(self.now),
            services: services.iter().map(service).collect(),
        };
        self.writer.write(&[DiscoveryResult::Address(seen)]).unwrap();
    }

    fn agent(&mut self, host: &str, metadata: &str, ip: &str, interface: u8) {
        self.now += 60;
        let seen = SeenAgent {
            host: host.to_owned(),
            metadata: metadata.to_owned(),
            ip: ip.to_owned(),
            dns: if interface == 2 { "agent.example".to_owned() } else { String::new() },
            port: 10_055,
            interface,
            tls: 1,
            at: Timestamp::from_s(self.now),
        };
        self.writer.write(&[DiscoveryResult::Agent(seen)]).unwrap();
    }

    /// The rows of a query, each as its values separated by spaces.
    fn rows(&self, sql: &str) -> Vec<String> {
        let rows = self.config.read(|connection| connection.query(sql, &[])).unwrap();
        rows.iter()
            .map(|row| row.iter().map(|(_, v)| v.to_string()).collect::<Vec<_>>().join(" "))
            .collect()
    }

    /// Object and value of the events since the last call.
    fn events(&self) -> Vec<String> {
        let found = self.rows("SELECT object, value FROM events ORDER BY eventid");
        let emptied: Result<u64, DbError> =
            self.config.write_state(|state| state.execute("DELETE FROM events", &[]));
        emptied.unwrap();
        found
    }

    fn hosts(&self) -> Vec<String> {
        self.rows("SELECT host FROM hosts WHERE kind = 0 ORDER BY hostid")
    }
}

#[test]
fn discovered_services_make_events_with_their_time() {
    let mut world = World::new();
    let up = [(AGENT, 10_050, Some("v")), (TCP, 80, None)];
    let down = [(AGENT, 10_050, None), (TCP, 80, None)];
    world.look("10.0.0.1", &down);
    assert!(world.events().is_empty(), "nobody was ever there");
    assert!(world.rows("SELECT dhostid FROM dhosts").is_empty());
    // Each look tells that it is up; the first one that it is new. What is not there is not kept.
    world.look("10.0.0.1", &up);
    let since = world.now;
    assert_eq!(world.events(), ["2 2", "2 0", "1 2", "1 0"]);
    world.look("10.0.0.1", &up);
    assert_eq!(world.events(), ["2 0", "1 0"]);
    let times = |table: &str| world.rows(&format!("SELECT status, lastup, lastdown FROM {table}"));
    assert_eq!(times("dhosts"), [format!("0 {since} 0")]);
    assert_eq!(times("dservices"), [format!("0 {since} 0")]);
    world.look("10.0.0.1", &down);
    let since = world.now;
    assert_eq!(world.events(), ["2 3", "2 1", "1 3", "1 1"]);
    world.look("10.0.0.1", &down);
    assert_eq!(world.events(), ["2 1", "1 1"]);
    assert_eq!(world.rows("SELECT status, lastup, lastdown FROM dhosts"), [format!("1 0 {since}")]);
    world.look("10.0.0.1", &[(AGENT, 10_050, Some("w")), (TCP, 80, Some(""))]);
    assert_eq!(world.events(), ["2 2", "2 0", "2 2", "2 0", "1 2", "1 0"]);
    assert_eq!(
        world.rows("SELECT dcheckid, port, value FROM dservices ORDER BY dserviceid"),
        ["11 10050 w", "12 80 "]
    );
    // A rule that was switched off, or a check that has gone, tells nothing any more.
    world.look("10.0.0.1", &[(99, 1, Some("x"))]);
    world.events();
    world.run("UPDATE drules SET status = 1");
    world.look("10.0.0.2", &up);
    assert!(world.events().is_empty());
}

#[test]
fn a_unique_value_distinguishes_hosts_if_the_rule_says_so() {
    let mut world = World::new();
    world.run("UPDATE dchecks SET uniq = 1 WHERE dcheckid = 11");
    let agent = |value| [(AGENT, 10_050, Some(value))];
    world.look("10.0.0.1", &agent("one"));
    world.look("10.0.0.2", &agent("one"));
    world.look("10.0.0.3", &agent("two"));
    let of = "SELECT s.ip, (SELECT COUNT(*) FROM dhosts d WHERE d.dhostid <= s.dhostid) \
              FROM dservices s ORDER BY s.ip";
    assert_eq!(world.rows(of), ["10.0.0.1 1", "10.0.0.2 1", "10.0.0.3 2"]);
    // An address that another machine has now goes to that machine; who has none left is nobody.
    world.look("10.0.0.3", &agent("one"));
    assert_eq!(world.rows(of), ["10.0.0.1 1", "10.0.0.2 1", "10.0.0.3 1"]);
    assert_eq!(world.rows("SELECT COUNT(*) FROM dhosts"), ["1"]);
}

#[test]
fn actions_make_a_host_once() {
    let mut world = World::new();
    world.run("UPDATE dchecks SET host_source = 3, name_source = 2 WHERE dcheckid = 11");
    let operations = [
        (4, Some(5), None, None),
        (6, None, Some(50), None),
        (10, None, None, None),
        (13, None, None, Some(("site", "a"))),
    ];
    world.action(1, 1, &[(8, 0, "9")], &operations);
    let up = [(AGENT, 10_055, Some("web 1/x")), (TCP, 80, Some(""))];
    world.look("10.0.0.7", &up);
    let host = "SELECT host, name, status, inventory_mode FROM hosts WHERE kind = 0";
    assert_eq!(world.rows(host), ["web 1_x 10.0.0.7 0 1"]);
    let groups = "SELECT g.name FROM groups_ g JOIN host_groups hg ON hg.groupid = g.groupid \
                  ORDER BY g.name";
    assert_eq!(world.rows(groups), ["Discovered hosts", "Web"]);
    assert_eq!(world.rows("SELECT tag, value FROM host_tags"), ["site a"]);
    assert_eq!(world.rows("SELECT key_, templateid FROM items WHERE hostid <> 50"), ["k 500"]);
    // A service that is no agent stands for an agent at the usual port, and the last one counts.
    let interfaces = "SELECT type, main, useip, ip, port FROM interfaces ORDER BY interfaceid";
    let first = world.rows(interfaces);
    assert_eq!(first, ["1 1 1 10.0.0.7 10050"]);
    let revision = world.config.snapshot().revision;
    assert!(world.config.snapshot().host_by_name("web 1_x").is_some());
    world.look("10.0.0.7", &up);
    world.look("10.0.0.7", &up);
    assert_eq!((world.hosts().len(), world.rows(interfaces)), (1, first));
    assert_eq!(world.config.snapshot().revision, revision, "nothing has changed");
    // Another machine that says the same name gets another one.
    world.look("10.0.0.8", &up);
    assert_eq!(world.hosts(), ["web 1_x", "web 1_x_2"]);
}

#[test]
fn the_audit_log_has_what_actions_do() {
    let mut world = World::new();
    let operations = [(4, Some(5), None, None), (6, None, Some(50), None)];
    world.action(1, 1, &[(10, 0, "2"), (21, 0, "1")], &operations);
    world.action(2, 1, &[(10, 0, "3"), (21, 0, "1")], &[(9, None, None, None)]);
    world.action(3, 1, &[(10, 0, "1"), (11, 5, "60"), (21, 0, "1")], &[(3, None, None, None)]);
    let (up, down) = ([(AGENT, 10_050, Some("v"))], [(AGENT, 10_050, None)]);
    let log = "SELECT action, resourcetype, username, resourcename FROM auditlog ORDER BY auditid";
    world.look("10.0.0.1", &up);
    let added = ["0 14 System Discovered hosts", "0 4 System 10.0.0.1"];
    let mut found = world.rows(log);
    found.sort();
    assert_eq!(found, added, "items that the host inherits are not in it");
    world.look("10.0.0.1", &up);
    assert_eq!(world.rows(log).len(), 2, "nothing has changed");
    world.look("10.0.0.1", &down);
    let disabled = world.rows(log).pop().unwrap();
    assert_eq!(disabled, "1 4 System 10.0.0.1");
    let details = world.rows("SELECT details FROM auditlog ORDER BY auditid").pop().unwrap();
    assert_eq!(details, r#"{"host.status":["update","1","0"]}"#);
    world.look("10.0.0.1", &down);
    let removed = world.rows(log).pop().unwrap();
    assert_eq!(removed, "2 4 System 10.0.0.1");
}

#[test]
fn actions_remove_lost_hosts() {
    let mut world = World::new();
    world.action(
        1,
        1,
        &[(10, 0, "2"), (21, 0, "1")],
        &[(2, None, None, None), (6, None, Some(50), None), (13, None, None, Some(("a", "b")))],
    );
    world.action(
        2,
        1,
        &[(10, 0, "3"), (21, 0, "1")],
        &[
            (7, None, Some(50), None),
            (9, None, None, None),
            (14, None, None, Some(("a", "b"))),
            (4, Some(5), None, None),
        ],
    );
    world.action(3, 1, &[(10, 0, "1"), (11, 5, "60"), (21, 0, "1")], &[(3, None, None, None)]);
    let (up, down) = ([(AGENT, 10_050, Some("v"))], [(AGENT, 10_050, None)]);
    world.look("10.0.0.1", &up);
    assert_eq!(world.hosts(), ["10.0.0.1"]);
    world.look("10.0.0.1", &down);
    assert_eq!(world.rows("SELECT status FROM hosts WHERE kind = 0"), ["1"]);
    assert_eq!(world.rows("SELECT COUNT(*) FROM items WHERE hostid <> 50"), ["0"]);
    assert_eq!(world.rows("SELECT COUNT(*) FROM host_tags"), ["0"]);
    assert_eq!(*world.gone.lock().unwrap(), 1);
    // Down for a minute: the host goes.
    world.look("10.0.0.1", &down);
    assert!(world.hosts().is_empty());
}

#[test]
fn a_host_keeps_a_group() {
    let mut world = World::new();
    world.action(1, 1, &[(21, 0, "1")], &[(2, None, None, None)]);
    world.look("10.0.0.1", &[(AGENT, 10_050, Some("v"))]);
    let group: u64 = world.rows("SELECT groupid FROM host_groups")[0].parse().unwrap();
    for (id, operations, expected) in [
        (2, vec![(5, Some(group), None, None)], vec![group]),
        (3, vec![(5, Some(5), None, None), (4, Some(5), None, None)], vec![5, group]),
        (4, vec![(5, Some(group), None, None)], vec![5]),
    ] {
        world.action(id, 1, &[(21, 0, "1")], &operations);
        world.look("10.0.0.1", &[(AGENT, 10_050, Some("v"))]);
        let expected: Vec<String> = expected.iter().map(u64::to_string).collect();
        assert_eq!(world.rows("SELECT groupid FROM host_groups"), expected, "{id}");
        world.run("UPDATE actions SET status = 1 WHERE actionid > 1");
    }
}

#[test]
fn templates_that_clash_are_all_left_out() {
    let mut world = World::new();
    for (id, key) in [(51_u64, "other"), (52, "k")] {
        let name = format!("T{id}");
        world.put(
            &table::HOSTS,
            &[
                ("hostid", id.into()),
                ("kind", Value::from(1)),
                ("host", name.as_str().into()),
                ("name", name.as_str().into()),
            ],
        );
        let item = [
            ("itemid", (id * 10).into()),
            ("hostid", id.into()),
            ("key_", key.into()),
            ("type", Value::from(2)),
        ];
        world.put(&table::ITEMS, &item);
    }
    let link = |template| (6, None, Some(template), None);
    world.action(1, 1, &[(21, 0, "1")], &[link(50), link(51), link(52)]);
    world.look("10.0.0.1", &[(AGENT, 10_050, Some("v"))]);
    assert_eq!(world.hosts(), ["10.0.0.1"]);
    let links = "SELECT templateid FROM host_templates ORDER BY templateid";
    assert!(world.rows(links).is_empty());
    assert_eq!(world.rows("SELECT COUNT(*) FROM items WHERE hostid > 99"), ["0"]);
    world.run("UPDATE actions SET status = 1");
    world.action(2, 1, &[(21, 0, "1")], &[link(50), link(51)]);
    world.look("10.0.0.1", &[(AGENT, 10_050, Some("v"))]);
    assert_eq!(world.rows(links), ["50", "51"]);
}

#[test]
fn agents_announce_themselves() {
    let mut world = World::new();
    let operations = [(2, None, None, None), (6, None, Some(50), None)];
    world.action(1, 2, &[(24, 2, "linux")], &operations);
    world.agent("web1", "windows", "10.0.0.1", 0);
    assert_eq!(world.events(), ["3 1"]);
    assert!(world.hosts().is_empty(), "no action applies");
    world.agent("web1", "a linux box", "10.0.0.1", 0);
    assert_eq!(world.hosts(), ["web1"]);
    let interfaces = "SELECT main, useip, ip, dns, port FROM interfaces ORDER BY interfaceid";
    assert_eq!(world.rows(interfaces), ["1 1 10.0.0.1  10055"]);
    assert_eq!(world.rows("SELECT key_ FROM items WHERE hostid <> 50"), ["k"]);
    world.events();
    // Nothing new, or another address that the agent has not chosen: no event. Something new: one,
    // and no second host.
    world.agent("web1", "a linux box", "10.0.0.1", 0);
    world.agent("web1", "a linux box", "10.0.0.9", 0);
    assert!(world.events().is_empty());
    world.agent("web1", "a linux box", "10.0.0.2", 1);
    assert_eq!(world.events(), ["3 1"]);
    assert_eq!(world.rows(interfaces), ["1 1 10.0.0.2  10055"]);
    world.agent("web1", "a linux box", "10.0.0.3", 2);
    assert_eq!(world.rows(interfaces), ["1 0 10.0.0.3 agent.example 10055"]);
    world.agent("web1", "a linux box", "10.0.0.3", 0);
    assert_eq!(world.rows(interfaces), ["1 1 10.0.0.3  10055"]);
    world.run("UPDATE interfaces SET port = '{$PORT}'");
    world.agent("web1", "linux", "10.0.0.3", 0);
    assert_eq!(world.rows(interfaces), ["1 1 10.0.0.3  {$PORT}"]);
    assert_eq!(world.hosts(), ["web1"]);
    // A host that was deleted comes back.
    world.run("DELETE FROM hosts WHERE kind = 0");
    world.agent("web1", "a linux box", "10.0.0.3", 0);
    assert_eq!(world.hosts(), ["web1"]);
    // A template has that name.
    world.agent("T", "linux", "10.0.0.9", 0);
    assert_eq!(world.hosts(), ["web1"]);
}

#[test]
fn rules_tell_what_keeps_them_from_working() {
    let world = World::new();
    for error in ["no such range", "no such range", ""] {
        let round = DiscoveryResult::Round { rule: RULE, error: error.to_owned() };
        world.writer.write(&[round]).unwrap();
        assert_eq!(world.rows("SELECT error FROM drules"), [error]);
    }
}
