//! Changes of templates that hosts take over some hosts at a time.

use crate::table;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::Once;
use std::sync::mpsc::sync_channel;

use serde_json::json;

use super::*;
use crate::Config;
use crate::db::Location;
use crate::objects::*;
use crate::snapshot::reload_tests::compare;

mod checks;
mod graphs;
mod links;
mod unlinks;

struct Box {
    config: Config,
    location: Location,
    template: u64,
    hosts: Vec<u64>,
    _dir: tempfile::TempDir,
}

fn host(edit: &mut Edit<'_>, name: &str, kind: i64) -> DbResult<u64> {
    let row = [("host", name.into()), ("name", name.into()), ("kind", Value::from(kind))];
    edit.insert_new(&table::HOSTS, &row)
}

fn item(host: u64, key: &str) -> NewItem {
    NewItem {
        columns: vec![
            ("hostid", host.into()),
            ("key_", key.into()),
            ("name", key.into()),
            ("type", Value::from(2)),
            ("value_type", Value::from(3)),
        ],
        tags: vec![Tag { tag: "key".into(), value: key.into() }],
        ..NewItem::default()
    }
}

impl Box {
    /// Hosts of a template that is linked to another one, `base`, which [`Box::template`] is.
    fn new(hosts: usize) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(dir.path().join("c.db"));
        let config = Config::open(location.clone()).unwrap();
        let (template, hosts) = config
            .write(|edit| {
                let (base, app) = (host(edit, "base", 1)?, host(edit, "app", 1)?);
                super::super::link_templates(edit, &[app], &[base])?;
                let hosts: DbResult<Vec<u64>> =
                    (0..hosts).map(|n| host(edit, &format!("h{n}"), 0)).collect();
                let hosts = hosts?;
                super::super::link_templates(edit, &hosts, &[app])?;
                Ok::<_, LinkError>((base, hosts))
            })
            .unwrap();
        config.set_portion(1);
        Self { config, location, template, hosts, _dir: dir }
    }

    fn create(&self, keys: &[&str]) -> Result<Vec<u64>, LinkError> {
        let items: Vec<NewItem> = keys.iter().map(|key| item(self.template, key)).collect();
        self.config.write(|edit| create_items(edit, &items))
    }

    /// The column `v` of the rows.
    fn read(&self, sql: &str) -> Vec<String> {
        let rows = self.config.read(|c| c.query(sql, &[])).unwrap();
        rows.iter().map(|row| row.get("v").unwrap().to_string()).collect()
    }

    /// Items of hosts as `value count`, by a column of them.
    fn on_hosts(&self, column: &str) -> Vec<String> {
        self.read(&format!(
            "SELECT i.{column} || ' ' || COUNT(*) AS v FROM items i \
             JOIN hosts h ON h.hostid = i.hostid WHERE h.kind = 0 GROUP BY i.{column}"
        ))
    }

    fn left(&self) -> usize {
        self.read("SELECT inheritanceid AS v FROM inheritance").len()
    }

    /// Lets the work of a change stop after the first host, as a crash does.
    fn stopped_after_one_host<T>(
        &self,
        change: impl FnOnce(&mut Edit<'_>) -> Result<T, LinkError>,
    ) -> T {
        let result = self.config.write(|edit| {
            let result = change(edit)?;
            assert!(edit.inheritance.left.take().is_some(), "the hosts inherit later");
            Ok::<_, LinkError>(result)
        });
        self.config.write(|edit| take_over(edit, u64::MAX)).unwrap();
        result.unwrap()
    }

    /// The same configuration in a server that starts now.
    fn start_again(self) -> Self {
        drop(self.config);
        Self { config: Config::open(self.location.clone()).unwrap(), ..self }
    }
}

#[test]
fn another_change_is_made_between_two_hosts() {
    let b = Box::new(200);
    // The work goes on when the other thread runs.
    let ((first, inherited), once) = (sync_channel(0), Once::new());
    let order = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&order);
    b.config.subscribe(std::boxed::Box::new(move |_, touched| {
        let items = touched.items.iter().map(|_| "item");
        let hosts = touched.hosts.iter().map(|_| "host");
        let mut order = seen.lock().unwrap();
        order.extend(items.chain(hosts));
        // The change of the template itself is told first. It touches no host.
        if !order.is_empty() {
            once.call_once(|| first.send(()).unwrap());
        }
    }));
    let config = &b.config;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            inherited.recv().unwrap();
            config.write(|edit| host(edit, "other", 0)).unwrap();
        });
        b.create(&["a"]).unwrap();
    });
    let order = order.lock().unwrap();
    assert_eq!(order.len(), 201, "one item in each transaction");
    let at = order.iter().position(|what| *what == "host").unwrap();
    assert!((1..200).contains(&at), "the host waited for the whole work: {at}");
    assert_eq!((b.on_hosts("key_"), b.left()), (vec!["a 200".to_owned()], 0));
}

#[test]
fn a_start_completes_what_a_crash_has_left() {
    let b = Box::new(3);
    let id = b.stopped_after_one_host(|edit| create_items(edit, &[item(b.template, "a")]))[0];
    assert_eq!((b.on_hosts("key_"), b.left()), (vec!["a 1".to_owned()], 1));
    let b = b.start_again();
    assert_eq!((b.on_hosts("key_"), b.left()), (vec!["a 3".to_owned()], 0));
    b.config.set_portion(1);
    let change = ItemChange {
        id,
        columns: vec![("key_", "b".into()), ("units", "B".into())],
        preprocessing: None,
        tags: Some(vec![Tag { tag: "new".into(), value: String::new() }]),
    };
    b.stopped_after_one_host(|edit| update_items(edit, &[change]));
    assert_eq!(b.on_hosts("key_"), ["a 2", "b 1"]);
    let b = b.start_again();
    assert_eq!((b.on_hosts("key_"), b.on_hosts("units")), (vec!["b 3".into()], vec!["B 3".into()]));
    let tags = "SELECT tag || COUNT(*) AS v FROM item_tags GROUP BY tag";
    assert_eq!((b.read(tags), b.left()), (vec!["new5".to_owned()], 0));
    compare(&b.config, "the hosts have inherited everything");
}

#[test]
fn a_conflict_on_any_host_changes_nothing() {
    let b = Box::new(3);
    let id = b.create(&["a"]).unwrap()[0];
    b.config
        .write(|edit| {
            let mut rule = item(b.hosts[2], "taken");
            rule.columns.push(("flags", Value::from(1)));
            create_items(edit, &[rule])
        })
        .unwrap();
    let refused = b.create(&["free", "taken"]).unwrap_err().to_string();
    assert!(refused.starts_with("Cannot inherit item with key \"taken\""), "{refused}");
    let columns = vec![("key_", "taken".into())];
    let change = ItemChange { id, columns, ..ItemChange::default() };
    let refused = b.config.write(|edit| update_items(edit, &[change])).unwrap_err().to_string();
    assert_eq!(refused, "An LLD rule with key \"taken\" already exists on the host \"h2\".");
    let items = b.read("SELECT key_ || ' ' || COUNT(*) AS v FROM items GROUP BY key_");
    assert_eq!((items, b.left()), (vec!["a 5".to_owned(), "taken 1".to_owned()], 0));
}

#[test]
fn inherited_type_is_refused_without_its_interface() {
    let b = Box::new(3);
    let id = b.create(&["a"]).unwrap()[0];
    let interface = |host: u64| {
        let row = [("hostid", host.into()), ("type", Value::from(1)), ("main", Value::from(1))];
        b.config.write(|edit| edit.insert_new(&table::INTERFACES, &row)).unwrap()
    };
    let change = || ItemChange { id, columns: vec![("type", 0.into())], ..ItemChange::default() };
    for host in &b.hosts[..2] {
        interface(*host);
    }
    let refused = b.config.write(|edit| update_items(edit, &[change()])).unwrap_err().to_string();
    assert!(
        refused
            .ends_with("to host \"h2\", because a host interface of type \"Agent\" is required."),
        "{refused}"
    );
    assert_eq!((b.on_hosts("type"), b.left()), (vec!["2 3".to_owned()], 0));
    interface(b.hosts[2]);
    b.stopped_after_one_host(|edit| update_items(edit, &[change()]));
    assert_eq!(b.on_hosts("type"), ["0 1", "2 2"]);
    let b = b.start_again();
    assert_eq!((b.on_hosts("type"), b.left()), (vec!["0 3".to_owned()], 0));
    let placed = "SELECT i.itemid AS v FROM items i JOIN interfaces f \
                  ON f.interfaceid = i.interfaceid AND f.hostid = i.hostid";
    assert_eq!(b.read(placed).len(), 3, "each on its host's interface");
    compare(&b.config, "the hosts have inherited everything");
}

fn trigger(edit: &mut Edit<'_>, name: &str, expression: &str) -> Result<u64, LinkError> {
    let resolved = resolve(edit, expression, "", false).unwrap();
    let new = NewTrigger {
        columns: vec![("description", name.into())],
        expression: resolved.expression,
        functions: resolved.functions,
        ..NewTrigger::default()
    };
    Ok(create_triggers(edit, &[new])?[0])
}

/// Changes on top of what hosts have not inherited yet: an item, a trigger of it, other names and
/// expressions, and a new item with the old key.
#[test]
fn a_second_change_follows_the_first_on_each_host() {
    let b = Box::new(3);
    let of = b.template;
    let first = b.stopped_after_one_host(|edit| create_items(edit, &[item(of, "a")]))[0];
    b.config
        .write(|edit| {
            let down = trigger(edit, "down", "last(/base/a)=0")?;
            let columns = vec![("key_", "b".into())];
            update_items(edit, &[ItemChange { id: first, columns, ..ItemChange::default() }])?;
            create_items(edit, &[item(of, "a")])?;
            let resolved = resolve(edit, "last(/base/a)=1 or last(/base/b)=2", "", false).unwrap();
            let change = TriggerChange {
                id: down,
                columns: vec![("priority", Value::from(4))],
                expressions: Some((resolved.expression, String::new(), resolved.functions)),
                tags: Some(vec![Tag { tag: "t".into(), value: "v".into() }]),
                depends_on: None,
            };
            update_triggers(edit, &[change])?;
            trigger(edit, "second", "last(/base/b)=3")
        })
        .unwrap();
    assert_eq!((b.on_hosts("key_"), b.left()), (vec!["a 3".to_owned(), "b 3".to_owned()], 0));
    let triggers = "SELECT t.description || t.priority || ' ' || COUNT(*) AS v FROM triggers t \
                    JOIN functions f ON f.triggerid = t.triggerid JOIN items i \
                    ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid WHERE h.kind = 0 \
                    GROUP BY t.description, t.priority ORDER BY v";
    assert_eq!(b.read(triggers), ["down4 6", "second0 3"], "two functions and one");
    assert_eq!(b.read("SELECT COUNT(*) AS v FROM trigger_tags"), ["5"]);
    compare(&b.config, "the hosts have inherited everything");
}

#[test]
fn host_prototypes_follow_their_rules() {
    let b = Box::new(3);
    let names = || {
        b.read(
            "SELECT p.host || ' ' || COUNT(*) AS v FROM hosts p JOIN host_discovery d \
             ON d.hostid = p.hostid WHERE p.kind = 2 GROUP BY p.host",
        )
    };
    let id = b
        .config
        .write(|edit| {
            let mut rule = item(b.template, "rule");
            rule.columns.push(("flags", Value::from(1)));
            let rule = create_items(edit, &[rule])?[0];
            let columns = vec![("host", "{#N}".into()), ("name", "{#N}".into())];
            create_host_prototype(edit, rule, &columns, &HostPrototypeParts::default())
        })
        .unwrap();
    assert_eq!((names(), b.left()), (vec!["{#N} 5".to_owned()], 0));
    let columns = vec![("host", "x{#N}".into())];
    let parts = HostPrototypeParts::default();
    b.config.write(|edit| update_host_prototype(edit, id, &columns, &parts)).unwrap();
    assert_eq!((names(), b.left()), (vec!["x{#N} 5".to_owned()], 0));
}

#[test]
fn work_is_read_back() {
    let changed = || Changed { ids: vec![1, 2], columns: vec!["key_".to_owned()] };
    for (work, text, objects) in [
        (Work::NewItems(vec![7]), json!({ "NewItems": [7] }), 1),
        (
            Work::Items(vec![changed(), changed()]),
            json!({ "Items": [{ "ids": [1, 2], "columns": ["key_"] }, { "ids": [1, 2], "columns": ["key_"] }] }),
            4,
        ),
        (
            Work::HostPrototypes(changed()),
            json!({ "HostPrototypes": { "ids": [1, 2], "columns": ["key_"] } }),
            2,
        ),
    ] {
        assert_eq!(serde_json::to_string(&work).unwrap(), text.to_string());
        assert_eq!(serde_json::from_value::<Work>(text).unwrap(), work);
        assert_eq!(work.objects(), objects);
    }
    assert_eq!([hosts_max(5_000, 20), hosts_max(5_000, 1), hosts_max(5, 20)], [250, 250, 1]);
}
