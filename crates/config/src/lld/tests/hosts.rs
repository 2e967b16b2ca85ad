//! Hosts from rows.

use crate::table;
use serde_json::json;

use super::*;
use crate::objects::{
    HostPrototypeParts, create_host_prototype, delete_items, update_host_prototype,
};

pub(super) fn boxed(more: More<'_>) -> Box {
    let mut all = vec![("enabled_lifetime_type", Value::from(1))];
    all.extend_from_slice(more);
    let b = Box::new(&all);
    let template = b.new_host("T", 1);
    b.item_on(template, "t.item", &[], &[]);
    b.new_host("U", 1);
    b.edit(|e| {
        let all = e.insert_new(&table::GROUPS, &[("name", "All".into())])?;
        let columns = vec![
            ("host", "vm-{#N}".into()),
            ("name", "Machine {#N}".into()),
            ("status", Value::from(1)),
        ];
        let parts = HostPrototypeParts {
            group_links: Some(vec![all]),
            group_prototypes: Some(vec!["Of {#T}".into()]),
            templates: Some(vec![template]),
            tags: Some(vec![Tag { tag: "vm".into(), value: "{#N}".into() }]),
            macros: Some(vec![vec![("macro", "{$VM}".into()), ("value", "{#N}".into())]]),
            interfaces: None,
        };
        create_host_prototype(e, b.rule, &columns, &parts).unwrap();
        for (kind, ip) in [(1, "10.0.0.1"), (2, "10.0.0.2")] {
            let row = [("hostid", b.host.into()), ("type", Value::from(kind)), ("ip", ip.into())];
            e.insert_new(&table::INTERFACES, &row)?;
        }
        Ok(())
    });
    b
}

/// What each discovered host is and has.
pub(super) fn hosts(b: &Box) -> String {
    let parts = [
        "SELECT host || '=' || name || '=' || status AS v FROM hosts WHERE flags = 4",
        "SELECT h.host || ' in ' || g.name AS v FROM host_groups hg JOIN hosts h \
         ON h.hostid = hg.hostid JOIN groups_ g ON g.groupid = hg.groupid WHERE h.flags = 4",
        "SELECT h.host || ' is ' || t.host AS v FROM host_templates l JOIN hosts h \
         ON h.hostid = l.hostid JOIN hosts t ON t.hostid = l.templateid WHERE h.flags = 4",
        "SELECT h.host || ' tag ' || t.value AS v FROM host_tags t JOIN hosts h \
         ON h.hostid = t.hostid WHERE h.flags = 4",
        "SELECT h.host || ' ' || m.macro || m.value AS v FROM hostmacros m JOIN hosts h \
         ON h.hostid = m.hostid WHERE h.flags = 4",
        "SELECT h.host || ' at ' || i.ip AS v FROM interfaces i JOIN hosts h \
         ON h.hostid = i.hostid WHERE h.flags = 4",
    ];
    parts.map(|sql| b.shown(sql)).join("; ")
}

#[test]
pub(super) fn rows_become_hosts() {
    let b = boxed(&[]);
    let summary = b.discover(&rows("a b:y"));
    assert_eq!(summary.created.hosts, 2);
    let expected = "vm-a=Machine a=1|vm-b=Machine b=1; \
        vm-a in All|vm-a in Of x|vm-b in All|vm-b in Of y; vm-a is T|vm-b is T; \
        vm-a tag a|vm-b tag b; vm-a {$VM}a|vm-b {$VM}b; \
        vm-a at 10.0.0.1|vm-a at 10.0.0.2|vm-b at 10.0.0.1|vm-b at 10.0.0.2";
    assert_eq!(hosts(&b), expected);
    let snapshot = b.config.snapshot();
    let a = snapshot.host_by_name("vm-a").unwrap();
    assert!(!a.monitored && a.item("t.item").is_some());
    b.stays(&rows("a b:y"));
    // Another group and tag; the status is the user's.
    b.edit(|e| {
        Ok(e.update_rows(&table::HOSTS, &[("flags", &[4.into()])], &[("status", 0.into())])?)
    });
    assert_eq!(b.discover(&rows("a b:z")).updated.hosts, 1);
    assert!(hosts(&b).contains("vm-b=Machine b=0; "), "{}", hosts(&b));
    assert!(hosts(&b).contains("vm-b in All|vm-b in Of z;"), "{}", hosts(&b));
    b.stays(&rows("a b:z"));
}

#[test]
pub(super) fn lost_hosts_go_with_what_they_have() {
    let b = boxed(&[("lifetime", "1h".into())]);
    b.discover(&rows("a b"));
    let marks = "SELECT h.host || ' ' || h.status || ' ' || d.ts_delete AS v \
                 FROM host_discovery d JOIN hosts h ON h.hostid = d.hostid WHERE h.kind = 0";
    for (clock, present, expected) in [
        (2_000, "a", "vm-a 1 0|vm-b 1 5600"),
        (3_000, "a b", "vm-a 1 0|vm-b 1 0"),
        (4_000, "a", "vm-a 1 0|vm-b 1 7600"),
        (7_600, "a", "vm-a 1 0"),
    ] {
        let summary = b.discover_at(&rows(present), clock);
        assert_eq!((summary.error.as_str(), b.shown(marks)), ("", expected.into()), "{clock}");
        assert_eq!(summary.deleted.hosts, usize::from(clock == 7_600));
        assert_eq!(summary.deleted.items, usize::from(clock == 7_600));
    }
    assert!(b.config.snapshot().host_by_name("vm-b").is_none());
    let left = "SELECT key_ AS v FROM items WHERE key_ = 't.item'";
    assert_eq!(b.shown(left), "t.item|t.item");
}

#[test]
pub(super) fn overrides_and_clashes() {
    let operation = json!({ "operationobject": "3", "operator": "2", "value": "vm-a",
        "opstatus": { "status": "0" }, "opinventory": { "inventory_mode": "1" },
        "optag": [{ "tag": "o", "value": "p" }],
        "optemplate": [{ "name": "U" }, { "name": "None" }] });
    let hide = json!({ "operationobject": "3", "operator": "0", "value": "vm-c",
        "opdiscover": { "discover": "1" } });
    let visible = json!({ "operationobject": "3", "operator": "2", "value": "Machine",
        "optag": [{ "tag": "visible", "value": "v" }] });
    let overrides = json!([{ "name": "o", "step": "1", "stop": "0",
        "filter": { "evaltype": "0", "formula": "", "conditions": [] },
        "operations": [operation, hide, visible] }]);
    let b = boxed(&[("overrides", overrides.to_string().into())]);
    b.new_host("vm-b", 0);
    // A host that is not to be discovered may have any name.
    b.edit(|e| {
        let name = [("name", "{#T}Machine {#N}".into())];
        let id = e.query("SELECT hostid FROM hosts WHERE kind = 2", &[])?[0].id("hostid");
        Ok(e.update(&table::HOSTS, id, &name)?)
    });
    let long = "l".repeat(200);
    let list = format!("a: b: c:{long} d?d");
    let summary = b.discover_at(&rows(&list), 1_000);
    let lines: Vec<&str> = summary.error.lines().collect();
    assert_eq!(
        lines,
        [
            "Cannot make host \"vm-d?d\": its technical name holds what no host name may.",
            "Host \"vm-a\": there is no template \"None\".",
            "Cannot make host \"vm-b\": another host or template has its name.",
        ]
    );
    let shown = hosts(&b);
    assert!(shown.starts_with("vm-a=Machine a=0; "), "{shown}");
    assert!(shown.contains("vm-a is T|vm-a is U; vm-a tag a|vm-a tag p; "), "{shown}");
    let mode = "SELECT inventory_mode AS v FROM hosts WHERE flags = 4";
    assert_eq!(b.shown(mode), "1");
    b.stays(&rows(&list));
}

#[test]
pub(super) fn own_interfaces_come_from_the_row() {
    let b = boxed(&[]);
    b.edit(|e| {
        let prototypes = e.query("SELECT hostid FROM hosts WHERE kind = 2", &[])?;
        let snmp = json!({ "version": "2", "community": "{#T}" }).to_string();
        let parts = HostPrototypeParts {
            interfaces: Some(vec![
                vec![("main", 1.into()), ("ip", "{#N}".into()), ("port", "1".into())],
                vec![("type", 2.into()), ("dns", "d".into()), ("details", snmp.into())],
            ]),
            ..HostPrototypeParts::default()
        };
        let columns = vec![("custom_interfaces", Value::from(1))];
        let id = prototypes[0].id("hostid");
        update_host_prototype(e, id, &columns, &parts).unwrap();
        Ok(())
    });
    b.discover(&rows("h1:public"));
    let made = "SELECT i.type || ' ' || i.main || ' ' || i.ip || i.dns || ' ' || i.port || \
                i.details AS v FROM interfaces i JOIN hosts h ON h.hostid = i.hostid \
                WHERE h.flags = 4";
    let details = "{\"version\":\"2\",\"community\":\"public\"}";
    assert_eq!(b.shown(made), format!("1 1 h1 1|2 0 127.0.0.1d 10050{details}"));
}

#[test]
fn a_rule_takes_its_prototypes_and_hosts_along() {
    let b = boxed(&[]);
    b.discover(&rows("a b"));
    let gone = b.edit(|e| {
        delete_items(e, &[b.rule])?;
        Ok(e.changes.deleted())
    });
    assert!(gone.items.len() > 2, "items of the discovered hosts too: {gone:?}");
    assert_eq!(b.shown("SELECT host AS v FROM hosts WHERE kind = 2 OR flags = 4"), "");
    assert_eq!(b.shown("SELECT name AS v FROM group_prototypes"), "");
    assert!(b.config.snapshot().host_by_name("vm-a").is_none());
}

#[test]
fn a_refused_template_is_tried_again() {
    let b = boxed(&[]);
    b.discover(&rows("a"));
    // Of T and of U: a host cannot have both.
    let id = |name: &str| b.shown(&format!("SELECT hostid AS v FROM hosts WHERE host = '{name}'"));
    let clash = b.item_on(id("U").parse().unwrap(), "t.item", &[], &[]);
    let templates = [id("T").parse().unwrap(), id("U").parse().unwrap()];
    b.edit(|e| {
        let prototype = e.query("SELECT hostid FROM hosts WHERE kind = 2", &[])?[0].id("hostid");
        let parts =
            HostPrototypeParts { templates: Some(templates.to_vec()), ..Default::default() };
        update_host_prototype(e, prototype, &Columns::new(), &parts)
    });
    let links = "SELECT h.host || ' is ' || t.host AS v FROM host_templates l JOIN hosts h \
                 ON h.hostid = l.hostid JOIN hosts t ON t.hostid = l.templateid WHERE h.flags = 4";
    let refused = b.discover_at(&rows("a b"), 1_000);
    assert!(refused.error.contains("t.item"), "{}", refused.error);
    assert_eq!((refused.created.hosts, refused.updated.hosts), (1, 0));
    assert_eq!(b.shown(links), "vm-a is T", "all of a host's new templates or none");
    b.stays(&rows("a b"));
    let again = b.discover_at(&rows("a b"), 1_000).error;
    assert_eq!(again.lines().count(), 2, "told while it lasts: {again}");
    b.edit(|e| Ok(delete_items(e, &[clash])?));
    assert_eq!(b.discover(&rows("a b")).updated.hosts, 2);
    assert_eq!(b.shown(links), "vm-a is T|vm-a is U|vm-b is T|vm-b is U");
    let kinds = "SELECT DISTINCT l.link_type AS v FROM host_templates l JOIN hosts h \
                 ON h.hostid = l.hostid WHERE h.flags = 4";
    assert_eq!(b.shown(kinds), "1");
    b.stays(&rows("a b"));
}
