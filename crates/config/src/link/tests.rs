//! Linkage on a real database.

use crate::table;
use std::collections::BTreeMap;

use objects::{OnFail, StepKind};

use model::ItemId;

use super::*;
use crate::Config;
use crate::db::{Location, Row};
use crate::objects::*;

struct Box {
    config: Config,
    _dir: tempfile::TempDir,
}

impl Box {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::open(Location::Sqlite(dir.path().join("c.db"))).unwrap();
        Self { config, _dir: dir }
    }

    fn edit<T>(&self, work: impl FnOnce(&mut Edit<'_>) -> Result<T, LinkError>) -> T {
        self.config.write(work).unwrap()
    }

    fn refused<T: std::fmt::Debug>(
        &self,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, LinkError>,
    ) -> String {
        match self.config.write(work) {
            Err(LinkError::Conflict(text)) => text,
            other => panic!("expected a conflict, got {other:?}"),
        }
    }

    fn host(&self, name: &str, kind: i64) -> u64 {
        self.edit(|e| {
            let row = [("host", name.into()), ("name", name.into()), ("kind", Value::from(kind))];
            Ok(e.insert_new(&table::HOSTS, &row)?)
        })
    }

    fn interface(&self, host: u64, kind: i64) -> u64 {
        self.edit(|e| {
            let row =
                [("hostid", host.into()), ("type", Value::from(kind)), ("main", Value::from(1))];
            Ok(e.insert_new(&table::INTERFACES, &row)?)
        })
    }

    fn item(&self, host: u64, key: &str, more: &[(&'static str, i64)]) -> u64 {
        self.edit(|e| Ok(create_items(e, &[new_item(host, key, more)])?[0]))
    }

    fn link(&self, hosts: &[u64], templates: &[u64]) {
        self.edit(|e| link_templates(e, hosts, templates));
    }

    /// `key templateid` of a host's items.
    fn items(&self, host: u64) -> BTreeMap<String, u64> {
        self.edit(|e| {
            let rows =
                e.query("SELECT key_, templateid FROM items WHERE hostid = ?", &[host.into()])?;
            Ok(rows.iter().map(|r| (r.text("key_").to_owned(), r.id("templateid"))).collect())
        })
    }

    fn one(&self, sql: &str, params: &[Value]) -> String {
        self.edit(|e| {
            let rows = e.query(sql, params)?;
            Ok(rows.iter().map(|r| r.text("v").to_owned()).collect::<Vec<_>>().join("|"))
        })
    }

    /// `expression` of the host's triggers, functions written as `itemkey:name(parameter)`.
    fn triggers(&self, host: u64) -> Vec<String> {
        self.edit(|e| {
            let rows = e.query(
                "SELECT DISTINCT t.triggerid, t.expression FROM triggers t \
                 JOIN functions f ON f.triggerid = t.triggerid \
                 JOIN items i ON i.itemid = f.itemid WHERE i.hostid = ? ORDER BY t.triggerid",
                &[host.into()],
            )?;
            let calls = e.query(
                "SELECT f.functionid, i.key_, h.host, f.name, f.parameter FROM functions f \
                 JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid",
                &[],
            )?;
            let calls: BTreeMap<u64, String> = calls
                .iter()
                .map(|r| {
                    let query = format!("/{}/{}", r.text("host"), r.text("key_"));
                    let params = r.text("parameter").replacen('$', &query, 1);
                    (r.id("functionid"), format!("{}({params})", r.text("name")))
                })
                .collect();
            let shown = |r: &Row| replace_ids(r.text("expression"), &mut |id| calls[&id].clone());
            Ok(rows.iter().map(shown).collect())
        })
    }

    fn trigger(&self, description: &str, expression: &str, depends_on: &[u64]) -> u64 {
        self.edit(|e| {
            let resolved = resolve(e, expression, "", false).unwrap();
            let new = NewTrigger {
                columns: vec![("description", description.into())],
                expression: resolved.expression,
                recovery: resolved.recovery,
                functions: resolved.functions,
                tags: vec![Tag { tag: "t".into(), value: description.into() }],
                depends_on: depends_on.to_vec(),
            };
            Ok(create_triggers(e, &[new])?[0])
        })
    }
}

fn new_item(host: u64, key: &str, more: &[(&'static str, i64)]) -> NewItem {
    let mut columns: Columns = vec![
        ("hostid", host.into()),
        ("key_", key.into()),
        ("name", key.into()),
        ("type", Value::from(2)),
        ("value_type", Value::from(3)),
    ];
    for (name, value) in more {
        columns.retain(|(known, _)| known != name);
        columns.push((*name, Value::from(*value)));
    }
    NewItem {
        columns,
        preprocessing: vec![Step {
            kind: StepKind::Multiplier,
            params: "8".into(),
            error_handler: OnFail::Original,
            error_handler_params: String::new(),
        }],
        tags: vec![Tag { tag: "component".into(), value: key.into() }],
    }
}

#[test]
fn items_come_down_and_changes_follow() {
    let b = Box::new();
    let (base, app) = (b.host("base", 1), b.host("app", 1));
    let (one, two) = (b.host("one", 0), b.host("two", 0));
    let iface = b.interface(one, 1);
    b.interface(two, 1);
    b.link(&[app], &[base]);
    b.link(&[one, two], &[app]);
    let master = b.item(base, "master", &[("type", 0)]);
    let dependent = b.item(base, "dep", &[("type", 18)]);
    let master_of = |id: u64| vec![("master_itemid", Value::from(id))];
    let change = |id, columns| ItemChange { id, columns, ..ItemChange::default() };
    b.edit(|e| update_items(e, &[change(dependent, master_of(master))]));
    for host in [app, one, two] {
        assert_eq!(b.items(host).len(), 2, "{host}");
    }
    let sql = "SELECT CAST(i.interfaceid AS TEXT) || ' ' || m.key_ AS v FROM items i \
               JOIN items d ON d.master_itemid = i.itemid JOIN items m ON m.itemid = i.itemid \
               WHERE d.hostid = ?";
    assert_eq!(b.one(sql, &[one.into()]), format!("{iface} master"));
    let steps = "SELECT p.params AS v FROM item_preprocessing p JOIN items i \
                 ON i.itemid = p.itemid WHERE i.hostid = ? AND i.key_ = ?";
    assert_eq!(b.one(steps, &[two.into(), "dep".into()]), "8");
    b.edit(|e| {
        let change = ItemChange {
            id: master,
            columns: vec![("key_", "renamed".into()), ("history", "7d".into())],
            preprocessing: Some(Vec::new()),
            tags: Some(vec![Tag { tag: "x".into(), value: "y".into() }]),
        };
        update_items(e, &[change])
    });
    let sql = "SELECT i.history || t.tag || t.value AS v FROM items i JOIN item_tags t \
               ON t.itemid = i.itemid WHERE i.hostid = ? AND i.key_ = 'renamed'";
    assert_eq!(b.one(sql, &[two.into()]), "7dxy");
    assert_eq!(b.one(steps, &[two.into(), "renamed".into()]), "");
    let deleted = b.edit(|e| {
        delete_items(e, &[master])?;
        Ok(e.changes.deleted())
    });
    assert_eq!(deleted.items.len(), 8, "dependents go along, on all four");
    assert!(b.items(two).is_empty());
}

#[test]
fn what_is_refused() {
    let b = Box::new();
    let (t1, t2, t3) = (b.host("T1", 1), b.host("T2", 1), b.host("T3", 1));
    let (h1, h2, h3) = (b.host("H1", 0), b.host("H2", 0), b.host("H3", 0));
    b.item(t1, "a", &[]);
    b.item(t2, "a", &[]);
    b.item(t3, "agent", &[("type", 0)]);
    b.item(h2, "a", &[("flags", 1)]);
    b.link(&[h1], &[t1]);
    for (hosts, templates, text) in [
        (
            &[h1][..],
            &[t2][..],
            "Cannot inherit item with key \"a\" of template \"T2\" to host \"H1\", because an item \
             with the same key is already inherited from template \"T1\".",
        ),
        (
            &[h3],
            &[t1, t2],
            "Cannot inherit items with key \"a\" of both \"T1\" and \"T2\" templates, because the \
             key must be unique on host \"H3\".",
        ),
        (
            &[h2],
            &[t1],
            "Cannot inherit item with key \"a\" of template \"T1\" to host \"H2\", because an LLD \
             rule with the same key already exists.",
        ),
        (
            &[h3],
            &[t3],
            "Cannot inherit item with key \"agent\" of template \"T3\" to host \"H3\", because a \
             host interface of type \"Agent\" is required.",
        ),
        (
            &[t1],
            &[t1],
            "Cannot link template \"T1\" to template \"T1\", because a circular linkage (\"T1\" -> \
             \"T1\") would occur.",
        ),
    ] {
        assert_eq!(b.refused(|e| link_templates(e, hosts, templates)), text);
    }
    let text = b.refused(|e| create_items(e, &[new_item(t1, "a", &[])]));
    assert_eq!(text, "An item with key \"a\" already exists on the template \"T1\".");
    let top = b.host("Top", 1);
    b.link(&[t3], &[top]);
    b.link(&[t1], &[top]);
    let text = b.refused(|e| link_templates(e, &[top], &[t3]));
    assert!(text.ends_with("(\"T3\" -> \"Top\" -> \"T3\") would occur."), "{text}");
    let text = b.refused(|e| link_templates(e, &[h1], &[top]));
    assert_eq!(
        text,
        "Cannot link template \"T1\" to host \"H1\", because its parent template \"Top\" would be \
         linked twice."
    );
    assert_eq!(b.items(h3).len(), 0, "nothing of a refused link stays");
}

#[test]
fn own_items_are_taken_over_and_given_back() {
    let b = Box::new();
    let (t, h) = (b.host("T", 1), b.host("H", 0));
    let parent = b.item(t, "a", &[]);
    let own = b.item(h, "a", &[("value_type", 0)]);
    b.item(h, "b", &[]);
    b.link(&[h], &[t]);
    assert_eq!(b.items(h), [("a".to_owned(), parent), ("b".to_owned(), 0)].into());
    let sql = "SELECT CAST(value_type AS TEXT) || uuid AS v FROM items WHERE itemid = ?";
    assert_eq!(b.one(sql, &[own.into()]), "3", "same id, the template's fields, no uuid");
    b.edit(|e| unlink_templates(e, &[h], &[t], false));
    assert_eq!(b.items(h), [("a".to_owned(), 0), ("b".to_owned(), 0)].into());
    b.link(&[h], &[t]);
    let deleted = b.edit(|e| {
        unlink_templates(e, &[h], &[t], true)?;
        Ok(e.changes.deleted())
    });
    assert_eq!((deleted.items, b.items(h)), (vec![ItemId(own)], [("b".to_owned(), 0)].into()));
}

#[test]
fn triggers_come_down_with_their_dependencies() {
    let b = Box::new();
    let (base, app) = (b.host("base", 1), b.host("app", 1));
    let (one, two) = (b.host("one", 0), b.host("two", 0));
    b.item(base, "a", &[]);
    b.item(base, "b", &[]);
    let down = b.trigger("down", "last(/base/a)=0", &[]);
    let slow = b.trigger("slow", "avg(/base/b,5m)>{$M} and last(/base/a)=1", &[down]);
    b.trigger("own", "last(/base/a)=2", &[]);
    b.link(&[app], &[base]);
    b.link(&[one, two], &[app]);
    assert_eq!(
        b.triggers(two),
        ["last(/two/a)=0", "avg(/two/b,5m)>{$M} and last(/two/a)=1", "last(/two/a)=2"]
    );
    let depends = "SELECT d.description || ' on ' || o.description AS v FROM trigger_depends x \
                   JOIN triggers d ON d.triggerid = x.triggerid \
                   JOIN triggers o ON o.triggerid = x.depends_on";
    assert_eq!(b.one(depends, &[]), ["slow on down"; 4].join("|"));
    let tags = "SELECT DISTINCT tag || value AS v FROM trigger_tags ORDER BY v";
    assert_eq!(b.one(tags, &[]), "tdown|town|tslow");
    b.edit(|e| {
        let resolved = resolve(e, "max(/base/b,#3)>1", "", false).unwrap();
        let change = TriggerChange {
            id: slow,
            columns: vec![("priority", Value::from(4))],
            expressions: Some((resolved.expression, resolved.recovery, resolved.functions)),
            tags: None,
            depends_on: Some(Vec::new()),
        };
        update_triggers(e, &[change])
    });
    assert_eq!(b.triggers(one)[1], "max(/one/b,#3)>1");
    assert_eq!(b.one(depends, &[]), "");
    b.edit(|e| unlink_templates(e, &[one], &[app], false));
    let left = b.edit(|e| {
        delete_triggers(e, &[slow])?;
        Ok(e.changes.deleted().triggers)
    });
    assert_eq!((left.len(), b.triggers(one).len(), b.triggers(two).len()), (3, 3, 2));
    let gone = b.edit(|e| {
        unlink_templates(e, &[two], &[app], true)?;
        Ok(e.changes.deleted())
    });
    assert_eq!((gone.items.len(), gone.triggers.len()), (2, 2));
}

#[test]
fn expressions_that_are_refused() {
    let b = Box::new();
    let h = b.host("H", 0);
    b.item(h, "n", &[]);
    b.item(h, "t", &[("value_type", 4)]);
    for (expression, text) in [
        ("1=1", "trigger expression must contain at least one /host/key reference"),
        ("nosuch(/H/n)=0", "unknown function \"nosuch\""),
        ("avg(/H/n)=1", "mandatory parameter is missing in function \"avg\""),
        ("last(/H/n,#1,3)=1", "invalid number of parameters in function \"last\""),
        ("last(/H/n)={#X}", "incorrect expression starting from \"{#X}\""),
        (
            "last(/X/n)=1",
            "Incorrect trigger expression. Host \"X\" does not exist or you have no access to \
             this host.",
        ),
        ("last(/H/x)=1", "Incorrect item key \"x\" provided for trigger expression on \"H\"."),
        (
            "avg(/H/t,5m)=1",
            "Incorrect item value type \"Text\" provided for trigger function \"avg\".",
        ),
    ] {
        let got = b.edit(|e| Ok(resolve(e, expression, "", false)));
        assert_eq!(got.map_err(|e| e.to_string()), Err(text.to_owned()), "{expression}");
    }
    let ok = b.edit(|e| Ok(resolve(e, "last(/H/n)=1 or last(/H/n)=2", "last(/H/n)=3", false)));
    let ok = ok.unwrap();
    assert_eq!((ok.expression.as_str(), ok.recovery.as_str()), ("{0}=1 or {0}=2", "{0}=3"));
}

#[test]
fn discovered_hosts_inherit_no_host_prototypes() {
    let b = Box::new();
    let (template, child) = (b.host("T", 1), b.host("U", 1));
    let rule = b.item(template, "rule", &[("flags", 1), ("type", 2)]);
    b.edit(|e| {
        let columns = vec![("host", "{#N}".into()), ("name", "{#N}".into())];
        create_host_prototype(e, rule, &columns, &HostPrototypeParts::default())
    });
    b.link(&[child], &[template]);
    let hosts = ["by people", "found", "other"].map(|name| b.host(name, 0));
    b.edit(|e| Ok(e.update(&table::HOSTS, hosts[1], &[("flags", Value::from(4))])?));
    b.link(&hosts[..1], &[child]);
    b.edit(|e| link_automatically(e, hosts[1], &[child]));
    b.edit(|e| link_automatically(e, hosts[2], &[child]));
    let with = "SELECT h.host AS v FROM host_discovery d JOIN items r ON r.itemid = d.parent_itemid \
                JOIN hosts h ON h.hostid = r.hostid ORDER BY h.hostid";
    assert_eq!(b.one(with, &[]), "T|U|by people|other");
    assert!(hosts.iter().all(|host| b.items(*host).contains_key("rule")));
}

#[test]
fn a_template_of_seventy_items_on_a_thousand_hosts() {
    let b = Box::new();
    let t = b.host("T", 1);
    let items: Vec<NewItem> = (0..70).map(|n| new_item(t, &format!("k[{n}]"), &[])).collect();
    b.edit(|e| create_items(e, &items));
    for n in 0..20 {
        b.trigger(&format!("t{n}"), &format!("last(/T/k[{n}])>{n}"), &[]);
    }
    let hosts: Vec<u64> = b.edit(|e| {
        (0..1_000)
            .map(|n| {
                let name = format!("h{n}");
                Ok(e.insert_new(
                    &table::HOSTS,
                    &[("host", name.as_str().into()), ("name", name.into())],
                )?)
            })
            .collect()
    });
    b.link(&hosts, &[t]);
    let count = |sql: &str| b.one(sql, &[]);
    assert_eq!(count("SELECT CAST(COUNT(*) AS TEXT) AS v FROM items"), "70070");
    assert_eq!(count("SELECT CAST(COUNT(*) AS TEXT) AS v FROM item_tags"), "70070");
    assert_eq!(count("SELECT CAST(COUNT(*) AS TEXT) AS v FROM functions"), "20020");
}

#[test]
fn triggers_of_one_name_are_not_compared_with_each_other() {
    let b = Box::new();
    let (t, h) = (b.host("T", 1), b.host("h", 0));
    let items: Vec<NewItem> = (0..300).map(|n| new_item(t, &format!("k[{n}]"), &[])).collect();
    let items = b.edit(|e| create_items(e, &items));
    for n in 0..300 {
        b.trigger("down", &format!("last(/T/k[{n}])=0"), &[]);
    }
    b.link(&[h], &[t]);
    assert_eq!(b.triggers(h).len(), 300);
    let names = BTreeSet::from(["down"]);
    let found = |items: &[u64]| b.edit(|e| Ok(existing(e, items, &names)?.len()));
    assert_eq!((found(&items[..1]), found(&items[..7]), found(&items)), (1, 7, 300));
    // The same trigger is still found.
    let again = b.config.write(|e| {
        let resolved = resolve(e, "last(/T/k[7])=0", "", false).unwrap();
        let new = NewTrigger {
            columns: vec![("description", "down".into())],
            expression: resolved.expression,
            functions: resolved.functions,
            ..NewTrigger::default()
        };
        create_triggers(e, &[new])
    });
    let expected = "Trigger \"down\" already exists on \"T\".";
    assert!(matches!(again, Err(LinkError::Conflict(text)) if text == expected));
}
