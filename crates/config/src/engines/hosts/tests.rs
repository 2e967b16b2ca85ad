use super::*;
use crate::db::{DbError, DbResult, Value};
use crate::snapshot::tests::{host, item, open, write};
use crate::table;
use crate::{Config, Edit};

/// A pool with a server that is a host with a trigger, and a monitor of its problems.
struct Scene {
    config: Config,
    _dir: tempfile::TempDir,
    pool: u64,
    host: u64,
    trigger: u64,
}

fn filter(text: &str) -> TriggerFilter {
    serde_json::from_str(text).unwrap()
}

impl Scene {
    fn new(filter: &str, maintenance: &str) -> Self {
        let (dir, config) = open();
        let (pool, host, trigger) = write(&config, |edit| Self::add(edit, filter, maintenance));
        Self { config, _dir: dir, pool, host, trigger }
    }

    fn add(edit: &mut Edit<'_>, filter: &str, maintenance: &str) -> DbResult<(u64, u64, u64)> {
        let host = host(edit, "app1")?;
        let item = item(edit, host, "cpu", &[])?;
        let trigger = [("description", "High CPU".into()), ("priority", 4.into())];
        let trigger = edit.insert_new(&table::TRIGGERS, &trigger)?;
        let function =
            [("triggerid", trigger.into()), ("itemid", item.into()), ("name", "last".into())];
        let function = edit.insert_new(&table::FUNCTIONS, &function)?;
        let expression = [("expression", format!("{{{function}}}>0").into())];
        edit.update(&table::TRIGGERS, trigger, &expression)?;
        let tag =
            [("triggerid", trigger.into()), ("tag", "scope".into()), ("value", "load".into())];
        edit.insert_new(&table::TRIGGER_TAGS, &tag)?;
        let monitor =
            [("name", "cpu".into()), ("type", TRIGGER.into()), ("trigger_filter", filter.into())];
        let monitor = edit.insert_new(&table::HEALTHMONITORS, &monitor)?;
        let pool = [
            ("name", "app".into()),
            ("healthmonitorid", monitor.into()),
            ("host_maintenance", maintenance.into()),
        ];
        let pool = edit.insert_new(&table::POOLS, &pool)?;
        for (position, (name, id)) in [("a", host), ("b", 0)].into_iter().enumerate() {
            let server = [
                ("poolid", pool.into()),
                ("position", (position as u64).into()),
                ("name", name.into()),
                ("address", "192.0.2.1".into()),
                ("port", 80.into()),
                ("hostid", id.into()),
            ];
            edit.insert(&table::POOL_SERVERS, &server)?;
        }
        Ok((pool, host, trigger))
    }

    fn state(&self, sql: &str, values: &[Value]) {
        self.config.write_state(|state| state.execute(sql, values).map(drop)).unwrap();
    }

    fn open_problem(&self) {
        let of = [self.trigger.into()];
        self.state("INSERT INTO events (eventid, objectid, value) VALUES (7, ?, 1)", &of);
        let sql = "INSERT INTO problems (eventid, objectid, name, severity) \
                   VALUES (7, ?, 'High CPU on app1', 4)";
        self.state(sql, &of);
        let tag = "INSERT INTO event_tags (eventtagid, eventid, tag, value) VALUES (1, 7, 'scope', 'load')";
        self.state(tag, &[]);
    }

    fn change_host(&self, column: &str, value: impl Into<Value>) {
        let value = value.into();
        write(&self.config, |edit| edit.update(&table::HOSTS, self.host, &[(column, value)]));
    }

    /// The server without a host.
    fn change_other(&self, row: &[(&str, Value)]) {
        let position = [1.into()];
        write(&self.config, |edit| {
            edit.update_rows(&table::POOL_SERVERS, &[("position", &position)], row)
        });
    }

    fn asked(&self) -> Asked {
        let all = self.config.read(|connection| asked(connection, &[self.pool])).unwrap();
        assert!(!all.contains_key(&(self.pool, 1)), "a server without a host");
        all.get(&(self.pool, 0)).cloned().unwrap_or_default()
    }

    /// The only check: result and reason.
    fn check(&self) -> (Option<bool>, String) {
        let [check] = &self.asked().checks[..] else { panic!("one check") };
        (check.passes, check.reason.clone())
    }

    fn server_state(&self) -> String {
        let objects = self
            .config
            .read(|connection| super::super::Objects::of_pools(connection, &[self.pool]))
            .unwrap();
        let pool = &objects.pools[&self.pool];
        assert!(pool.health.is_empty(), "engines do not check problems");
        serde_json::to_value(pool.servers[0].state).unwrap().as_str().unwrap().to_owned()
    }
}

#[test]
fn a_problem_that_matches_takes_the_server_out_of_use() {
    for (filter, expected) in [
        ("{}", "down"),
        (r#"{"name": "high cpu", "min_severity": 4}"#, "down"),
        (r#"{"tags": [{"tag": "scope", "value": "load"}], "effect": "drain"}"#, "drain"),
        (r#"{"tags": [{"tag": "scope"}]}"#, "down"),
        (r#"{"name": "disk"}"#, "up"),
        (r#"{"min_severity": 5}"#, "up"),
        (r#"{"tags": [{"tag": "scope", "value": "other"}]}"#, "up"),
    ] {
        let scene = Scene::new(filter, "ignore");
        assert_eq!(scene.server_state(), "up");
        scene.open_problem();
        assert_eq!(scene.server_state(), expected, "{filter}");
        scene.state("UPDATE problems SET r_eventid = 8", &[]);
        assert_eq!(scene.server_state(), "up", "the problem is resolved");
    }
}

#[test]
fn what_is_unknown_asks_for_nothing_and_does_not_pass() {
    let scene = Scene::new(r#"{"name": "cpu"}"#, "ignore");
    assert_eq!(scene.check(), (Some(true), String::new()));
    let unknown = "INSERT INTO trigger_states (triggerid, state, error) VALUES (?, 1, 'no data')";
    scene.state(unknown, &[scene.trigger.into()]);
    assert_eq!(scene.check(), (None, "trigger High CPU is unknown: no data".to_owned()));
    assert_eq!((scene.asked().effect(), scene.server_state().as_str()), (None, "up"));
    // The last known state stays while the trigger is unknown.
    scene.open_problem();
    assert_eq!(scene.check(), (Some(false), "problem: High CPU on app1".to_owned()));
    write(&scene.config, |edit| {
        edit.update(&table::TRIGGERS, scene.trigger, &[("status", 1.into())])
    });
    assert_eq!(scene.check(), (None, "no enabled trigger of the host matches".to_owned()));
    scene.change_host("status", 1);
    assert_eq!(scene.check(), (None, "the host is not monitored".to_owned()));
}

#[test]
fn problems_of_uncalculated_triggers_do_not_count() {
    let scene = Scene::new("{}", "ignore");
    scene.open_problem();
    assert_eq!(scene.server_state(), "down");
    for (table, key) in [(&table::TRIGGERS, "triggerid"), (&table::ITEMS, "itemid")] {
        let set = |status: u64| {
            let sql = format!("SELECT {key} FROM {table}");
            let rows = scene.config.read::<_, DbError>(|all| all.query(&sql, &[])).unwrap();
            let id = rows[0].id(key);
            write(&scene.config, |edit| edit.update(table, id, &[("status", status.into())]));
        };
        set(1);
        assert_eq!(scene.server_state(), "up", "{table}");
        assert_eq!(scene.check().0, None, "{table}");
        set(0);
        assert_eq!(scene.server_state(), "down", "{table}");
    }
}

#[test]
fn hosts_leave_a_pool_one_server_at_least() {
    for (state, weight, backup, expected) in [
        ("up", 1, 0, "down"),
        ("up", 1, 1, "down"),
        ("up", 0, 0, "up"),
        ("drain", 1, 0, "up"),
        ("down", 1, 0, "up"),
    ] {
        let scene = Scene::new("{}", "drain");
        scene.open_problem();
        scene.change_other(&[
            ("state", state.into()),
            ("weight", weight.into()),
            ("backup", backup.into()),
        ]);
        assert_eq!(scene.server_state(), expected, "{state} {weight} {backup}");
        let asked = scene.asked();
        assert_eq!((asked.ignored, asked.effect().is_some()), (expected == "up", expected != "up"));
    }
}

#[test]
fn draining_servers_are_used_if_hosts_disable_all() {
    let scene = Scene::new("{}", "drain");
    scene.open_problem();
    let other = write(&scene.config, |edit| host(edit, "app2"));
    scene.change_other(&[("hostid", other.into())]);
    write(&scene.config, |edit| {
        edit.update(&table::HOSTS, other, &[("maintenance_status", 1.into())])
    });
    let effects = || {
        let all = scene.config.read(|connection| asked(connection, &[scene.pool])).unwrap();
        [0, 1].map(|position| all[&(scene.pool, position)].effect())
    };
    assert_eq!(effects(), [Some(Effect::Down), None]);
    scene.change_other(&[("hostid", scene.host.into())]);
    assert_eq!(effects(), [None, None], "one problem of both");
}

#[test]
fn maintenance_drains_where_the_pool_says_so() {
    for (maintenance, expected) in [("ignore", "up"), ("drain", "drain")] {
        let scene = Scene::new(r#"{"name": "cpu"}"#, maintenance);
        let row = [("name", "patches".into())];
        let id = write(&scene.config, |edit| edit.insert_new(&table::MAINTENANCES, &row));
        scene.change_host("maintenanceid", id);
        scene.change_host("maintenance_status", 1);
        assert_eq!(scene.server_state(), expected);
        // Of two effects the stronger one wins, and the configured state stays if it is stronger.
        scene.open_problem();
        assert_eq!(scene.server_state(), "down");
        let looking = scene.config.read::<_, DbError>(looking_pools).unwrap();
        assert_eq!(looking, [scene.pool]);
    }
    assert_eq!(stricter("down", Some(Effect::Drain)), "down");
    assert_eq!(stricter("drain", Some(Effect::Down)), "down");
    assert_eq!(stricter("drain", None), "drain");
}

#[test]
fn impossible_filters_are_errors() {
    assert_eq!(filter("{}").check(), Ok(()));
    assert!(filter(r#"{"min_severity": 6}"#).check().unwrap_err().contains("from 0 to 5"));
    let nameless = filter(r#"{"tags": [{"tag": ""}]}"#).check();
    assert!(nameless.unwrap_err().contains("without a name"));
}
