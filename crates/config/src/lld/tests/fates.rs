//! What is lost and found again.

use super::*;
use crate::table;

/// `status lost ts_delete ts_disable disable_source` of the item.
fn fate(b: &Box, key: &str) -> String {
    b.shown(&format!(
        "SELECT i.status || ' ' || d.status || ' ' || d.ts_delete || ' ' || d.ts_disable || ' ' \
         || d.disable_source AS v FROM item_discovery d JOIN items i ON i.itemid = d.itemid \
         WHERE i.key_ = '{key}'"
    ))
}

fn trigger_fates(b: &Box) -> String {
    b.shown(
        "SELECT t.description || ' ' || t.status || ' ' || d.status || ' ' || d.ts_delete || ' ' \
         || d.ts_disable || ' ' || d.disable_source AS v \
         FROM trigger_discovery d JOIN triggers t ON t.triggerid = d.triggerid",
    )
}

/// (lifetime_type, lifetime, enabled_lifetime_type, enabled_lifetime)
fn boxed(lifetimes: (i64, &str, i64, &str)) -> Box {
    let b = Box::new(&[
        ("lifetime_type", Value::from(lifetimes.0)),
        ("lifetime", lifetimes.1.into()),
        ("enabled_lifetime_type", Value::from(lifetimes.2)),
        ("enabled_lifetime", lifetimes.3.into()),
    ]);
    b.item("k[{#N}]", &[]);
    b.trigger("t {#N}", "last(/h/k[{#N}])=0", &[], &[]);
    b
}

#[test]
pub(super) fn lost_by_lifetimes() {
    // At 1,000 found, at 2,000 lost, then looked at 2,600 and 5,600.
    for (lifetimes, at_2000, at_2600, at_5600) in [
        ((0, "1h", 0, "10m"), "0 1 5600 2600 0", "1 1 5600 2600 1", ""),
        ((0, "1h", 2, "0"), "1 1 5600 2000 1", "1 1 5600 2000 1", ""),
        ((0, "1h", 1, "0"), "0 1 5600 0 0", "0 1 5600 0 0", ""),
        ((1, "0", 2, "0"), "1 1 0 2000 1", "1 1 0 2000 1", "1 1 0 2000 1"),
        ((1, "0", 1, "0"), "0 1 0 0 0", "0 1 0 0 0", "0 1 0 0 0"),
        ((2, "0", 1, "0"), "", "", ""),
        ((0, "0", 1, "0"), "", "", ""),
    ] {
        let b = boxed(lifetimes);
        b.discover(&rows("a b"));
        for (clock, expected) in [(2_000, at_2000), (2_600, at_2600), (5_600, at_5600)] {
            let summary = b.discover_at(&rows("a"), clock);
            assert_eq!(fate(&b, "k[b]"), expected, "{lifetimes:?} at {clock}");
            assert_eq!(fate(&b, "k[a]"), "0 0 0 0 0");
            let of_trigger = match expected {
                "" => "t a 0 0 0 0 0".to_owned(),
                expected => format!("t a 0 0 0 0 0|t b {expected}"),
            };
            assert_eq!(trigger_fates(&b), of_trigger, "{lifetimes:?} at {clock}");
            assert_eq!(summary.error, "");
            if clock == 2_000 && !expected.is_empty() {
                assert_eq!((summary.lost.items, summary.lost.triggers), (1, 1));
            }
            assert!(!b.discover_at(&rows("a"), clock).changed(), "{lifetimes:?} at {clock}");
        }
        let snapshot = b.config.snapshot();
        let host = snapshot.hosts.get(&model::HostId(b.host)).unwrap();
        let enabled = host.item("k[b]").map(|item| item.enabled);
        let expected = (!at_5600.is_empty()).then(|| at_5600.starts_with('0'));
        assert_eq!(enabled, expected, "{lifetimes:?}");
        assert_eq!(snapshot.triggers.len(), 1 + usize::from(expected.is_some()));
    }
}

#[test]
pub(super) fn found_again() {
    let b = boxed((0, "1h", 2, "0"));
    b.discover(&rows("a b"));
    let id = b.of("k[b]", "itemid");
    b.discover_at(&rows("a"), 2_000);
    let summary = b.discover_at(&rows("a b"), 3_000);
    assert_eq!((summary.updated.items, summary.updated.triggers), (1, 1));
    assert_eq!((fate(&b, "k[b]"), b.of("k[b]", "itemid")), ("0 0 0 0 0".into(), id));
    assert_eq!(trigger_fates(&b), "t a 0 0 0 0 0|t b 0 0 0 0 0");
    // What the user has disabled stays so.
    b.edit(|e| {
        Ok(e.update_rows(&table::ITEMS, &[("key_", &["k[b]".into()])], &[("status", 1.into())])?)
    });
    b.discover_at(&rows("a"), 4_000);
    assert_eq!(fate(&b, "k[b]"), "1 1 7600 4000 0");
    b.discover_at(&rows("a b"), 5_000);
    assert_eq!(fate(&b, "k[b]"), "1 0 0 0 0");
    // A user's deletion is made good.
    let id: u64 = b.of("k[a]", "itemid").parse().unwrap();
    b.edit(|e| Ok(delete_items(e, &[id])?));
    let summary = b.discover_at(&rows("a b"), 5_000);
    assert_eq!((summary.created.items, summary.created.triggers), (1, 1));
}

#[test]
pub(super) fn objects_of_an_undiscovered_prototype_are_lost() {
    let b = boxed((2, "0", 1, "0"));
    let dependent = [
        ("type", Value::from(18)),
        ("master_itemid", {
            let id = b.shown("SELECT itemid AS v FROM items WHERE flags = 2");
            Value::from(id.parse::<u64>().unwrap())
        }),
    ];
    b.item("d[{#N}]", &dependent);
    b.discover(&rows("a b"));
    let never = [("discover", Value::from(1))];
    let prototypes = ("flags", &[Value::from(2)][..]);
    b.edit(|e| Ok(e.update_rows(&table::TRIGGERS, &[prototypes], &never)?));
    let summary = b.discover(&rows("a b"));
    assert_eq!((summary.deleted.items, summary.deleted.triggers), (0, 2));
    let trappers = ("type", &[Value::from(2)][..]);
    b.edit(|e| Ok(e.update_rows(&table::ITEMS, &[prototypes, trappers], &never)?));
    let summary = b.discover(&rows("a b"));
    assert_eq!(summary.deleted.items, 4, "with the dependent ones");
    assert_eq!(b.keys(), "");
    assert!(b.config.snapshot().triggers.is_empty());
}

#[test]
pub(super) fn a_wrong_lifetime_is_reported() {
    let b = boxed((0, "{$NONE}", 2, "0"));
    let summary = b.discover_at(&rows("a"), 1_000);
    assert_eq!(
        (summary.supported, &*summary.error),
        (false, "Cannot process lost resources: \"{$NONE}\" is not a period of time.")
    );
}

#[test]
pub(super) fn the_audit_log_has_what_discovery_does() {
    let b = boxed((0, "1h", 2, "0"));
    let entries = || {
        let sql = "SELECT action, resourcetype, username, resourcename, details FROM auditlog \
                   ORDER BY auditid";
        let rows = b.config.read(|connection| connection.query(sql, &[])).unwrap();
        b.edit(|e| {
            let ids: Vec<Value> = e
                .query("SELECT auditid FROM auditlog", &[])?
                .iter()
                .map(|row| row.text("auditid").into())
                .collect();
            Ok(e.delete_rows(&table::AUDITLOG, &[("auditid", &ids)])?)
        });
        let shown = |row: &crate::db::Row| {
            let details = row.text("details");
            let details = if row.int("action") == 0 { "…" } else { details };
            let [action, kind] = ["action", "resourcetype"].map(|name| row.int(name));
            let [by, name] = ["username", "resourcename"].map(|name| row.text(name));
            format!("{action} {kind} {by} {name} {details}")
        };
        rows.iter().map(shown).collect::<Vec<_>>()
    };
    b.discover(&rows("a"));
    assert_eq!(entries(), ["0 15 System name of k[a] …", "0 13 System t a …"]);
    b.discover_at(&rows("a"), 1_500);
    assert!(entries().is_empty(), "nothing has changed");
    b.discover_at("[]", 2_000);
    let lost = |word: &str| format!(r#"{{"{word}.status":["update","1","0"]}}"#);
    assert_eq!(
        entries(),
        [
            format!("1 15 System name of k[a] {}", lost("item")),
            format!("1 13 System t a {}", lost("trigger"))
        ]
    );
    b.discover_at("[]", 5_600);
    let mut gone = entries();
    gone.sort();
    assert_eq!(gone, ["2 13 System t a ", "2 15 System name of k[a] "]);
}
