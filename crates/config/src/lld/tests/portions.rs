//! Values that are worked off in windows of rows.

use std::sync::Mutex;

use super::*;
use crate::lld::Counts;

/// A row, some rows, all rows.
const PORTIONS: [usize; 3] = [1, 7, 1_000_000];

/// Tests that have to have the same result in all portions.
const TESTS: &[fn()] = &[
    making::rows_become_items,
    making::steps_take_macros_as_they_are_meant,
    making::changes_of_prototypes_follow,
    making::dependent_items_hang_on_the_items_of_their_row,
    making::filters_decide_about_rows,
    making::overrides_by_row_and_name,
    making::triggers_with_dependencies,
    making::conflicts_are_reported_and_the_rest_is_created,
    making::values_that_are_refused_change_nothing,
    fates::lost_by_lifetimes,
    fates::found_again,
    fates::objects_of_an_undiscovered_prototype_are_lost,
    fates::a_wrong_lifetime_is_reported,
    fates::the_audit_log_has_what_discovery_does,
    shipped::file_systems_and_network_interfaces,
    cost::the_usual_value_reads_nothing,
];

/// Calls `test` with each portion for the configurations that it opens.
fn in_portions(test: impl Fn(usize)) {
    for portion in PORTIONS {
        PORTION.set(portion);
        test(portion);
        PORTION.set(0);
    }
}

#[test]
fn a_value_leads_to_the_same_in_portions_of_any_size() {
    in_portions(|_| TESTS.iter().for_each(|test| test()));
}

/// A rule that makes an item, one that depends on it and two triggers, of which one depends on the
/// other. Lost objects are disabled at once and deleted after an hour.
fn boxed() -> Box {
    let b = Box::new(&[
        ("lifetime_type", Value::from(0)),
        ("lifetime", "1h".into()),
        ("enabled_lifetime_type", Value::from(2)),
    ]);
    let master = b.item("k[{#N}]", &[]);
    b.item("d[{#N}]", &[("type", Value::from(18)), ("master_itemid", master.into())]);
    let low = b.trigger("low {#N}", "last(/h/d[{#N}])>1", &[], &[]);
    b.trigger("high {#N}", "last(/h/k[{#N}])>2", &[], &[low]);
    b
}

fn counts(items: usize, triggers: usize) -> Counts {
    Counts { items, triggers, ..Counts::default() }
}

#[test]
fn no_transaction_has_more_objects_than_a_portion() {
    let b = boxed();
    b.config.set_portion(9);
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sizes);
    b.config.subscribe(std::boxed::Box::new(move |_, touched| {
        seen.lock().unwrap().push(touched.items.len() + touched.triggers.len());
    }));
    let transactions = || std::mem::take(&mut *sizes.lock().unwrap());
    let all = rows("a b c d e f g");
    assert_eq!(b.discover(&all).created, counts(14, 14));
    assert_eq!(transactions(), [8, 8, 8, 4], "two rows of four objects");
    b.edit(|e| {
        let prototypes = [("flags", &[Value::from(2)][..])];
        Ok(e.update_rows(&table::ITEMS, &prototypes, &[("units", "B".into())])?)
    });
    transactions();
    assert_eq!(b.discover(&all).updated, counts(14, 0));
    assert_eq!(transactions(), [4, 4, 4, 2]);
    assert_eq!(b.discover_at(&rows("a"), 2_000).lost, counts(12, 12));
    assert_eq!(transactions(), [3, 3, 3, 3, 9, 3], "items with room for their triggers");
    assert_eq!(b.discover_at(&rows("a"), 5_600).deleted, counts(12, 12));
    // Dependent items with their triggers, from which others are free then; masters with the others.
    assert_eq!(transactions(), [9, 9, 6, 6]);
    assert_eq!(b.keys(), "d[a]|k[a]");
    assert_eq!(b.config.snapshot().items.len(), b.config.read_all().unwrap().items.len());
}

/// Lets SQLite refuse a change of a table's rows.
fn refuse(b: &Box, change: &str, when: &str) {
    let sql = format!(
        "CREATE TRIGGER refuse BEFORE {change} WHEN {when} \
         BEGIN SELECT RAISE(ABORT, 'refused'); END"
    );
    sql_on(b, &sql);
}

fn sql_on(b: &Box, sql: &str) {
    let file = rusqlite::Connection::open(b.dir.path().join("c.db")).unwrap();
    file.execute_batch(sql).unwrap();
}

#[test]
fn the_next_value_completes_what_the_database_refused() {
    let all = rows("a b c d e");
    for (table, when) in [
        ("items", "NEW.key_ = 'k[c]'"),
        ("items", "NEW.key_ = 'd[c]'"),
        ("triggers", "NEW.description = 'high c'"),
        (
            "trigger_depends",
            "(SELECT description FROM triggers WHERE triggerid = NEW.triggerid) = 'high c'",
        ),
    ] {
        let b = boxed();
        b.config.set_portion(4);
        refuse(&b, &format!("INSERT ON {table}"), when);
        assert!(b.try_discover(b.rule, &all, 1_000).is_err(), "{when}");
        assert_eq!(b.keys(), "d[a]|d[b]|k[a]|k[b]", "whole rows: {when}");
        assert_eq!(b.dependencies(), "high a>low a|high b>low b", "{when}");
        assert!(b.try_discover(b.rule, &all, 1_000).is_err(), "it is not remembered: {when}");
        sql_on(&b, "DROP TRIGGER refuse");
        assert_eq!(b.discover(&all).created, counts(6, 6), "{when}");
        assert_eq!(b.dependencies().split('|').count(), 5);
        b.stays(&all);
    }
}

#[test]
fn the_next_value_completes_what_is_lost() {
    let lost = |b: &Box| {
        b.shown(
            "SELECT i.key_ AS v FROM items i JOIN item_discovery d ON d.itemid = i.itemid \
             WHERE d.status = 1 AND d.disable_source = 1 AND i.status = 1",
        )
    };
    let b = boxed();
    b.config.set_portion(3);
    b.discover(&rows("a b c"));
    let when = "NEW.status = 1 AND (SELECT key_ FROM items WHERE itemid = NEW.itemid) = 'k[c]'";
    refuse(&b, "UPDATE ON item_discovery", when);
    assert!(b.try_discover(b.rule, &rows("a"), 2_000).is_err());
    assert_eq!(lost(&b), "d[b]|d[c]");
    sql_on(&b, "DROP TRIGGER refuse");
    let summary = b.discover_at(&rows("a"), 2_000);
    assert_eq!(summary.lost, counts(2, 4));
    assert_eq!(lost(&b), "d[b]|d[c]|k[b]|k[c]");
    assert!(!b.discover_at(&rows("a"), 2_000).changed());
}

/// The prototype of each discovered item.
fn origins(b: &Box) -> String {
    b.shown(
        "SELECT i.key_ || '<' || p.name AS v FROM item_discovery d \
         JOIN items i ON i.itemid = d.itemid JOIN items p ON p.itemid = d.parent_itemid",
    )
}

#[test]
fn a_key_given_twice_is_the_first_prototypes_in_all_portions() {
    in_portions(|portion| {
        let b = Box::new(&[]);
        let agent = ("type", Value::from(0));
        b.item("k[{#N}]", &[("name", "first".into()), ("delay", "{#D}".into()), agent]);
        b.item("k[{#T}]", &[("name", "second".into())]);
        // The first prototype makes no item of the last row: its delay is none.
        let row =
            |n: &str, t: &str, d: &str| serde_json::json!({ "{#N}": n, "{#T}": t, "{#D}": d });
        let all =
            [row("x", "a", "1m"), row("a", "y", "1m"), row("z", "v", "1m"), row("v", "w", "?")];
        let all = serde_json::Value::from(all.to_vec()).to_string();
        let summary = b.discover_at(&all, 1_000);
        let expected = "k[a]<first|k[v]<second|k[w]<second|k[x]<first|k[y]<second|k[z]<first";
        assert_eq!(origins(&b), expected, "{portion}");
        let errors: Vec<&str> = summary.error.lines().collect();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors[0].starts_with("Cannot make item with key \"k[v]\""), "{errors:?}");
        assert!(errors[1].ends_with("\"k[a]\": another row gives the same key."), "{errors:?}");
        b.stays(&all);
        assert_eq!(b.discover_at(&all, 1_000).error, summary.error);
    });
}

/// Gives prototypes other keys, in any order.
fn rename(b: &Box, keys: &[(u64, &str)]) {
    b.edit(|e| {
        for (id, key) in keys {
            e.update(&table::ITEMS, *id, &[("key_", (*key).into())])?;
        }
        Ok(())
    });
}

#[test]
fn items_that_would_swap_keys_keep_them_in_all_portions() {
    in_portions(|portion| {
        let b = Box::new(&[]);
        let k = b.item("k[{#N}]", &[("name", "was k".into())]);
        let j = b.item("j[{#N}]", &[("name", "was j".into())]);
        let all = rows("a:b b:a");
        b.discover(&all);
        // Each needs a key of the other row.
        rename(&b, &[(k, "j[{#T}]"), (j, "k[{#T}]")]);
        for _ in 0..2 {
            let summary = b.discover_at(&all, 1_000);
            assert!(!summary.changed(), "{portion} {summary:?}");
            let keys = ["j[b]", "j[a]", "k[b]", "k[a]"].map(|key| {
                format!(
                    "Cannot make item with key \"{key}\": another discovered item of the host has \
                     this key."
                )
            });
            assert_eq!(summary.error, keys.join("\n"), "{portion}");
            let origins = origins(&b);
            assert_eq!(origins, "j[a]<was j|j[b]<was j|k[a]<was k|k[b]<was k", "{portion}");
            b.config.lld().objects_changed();
        }
    });
}

#[test]
fn a_key_that_becomes_free_is_taken_by_the_next_value() {
    in_portions(|portion| {
        // The first row's item leaves the key that the second row's needs.
        let b = Box::new(&[]);
        let k = b.item("k[{#N}]", &[("description", "{#N}".into())]);
        let all = rows("b:c a:b");
        b.discover(&all);
        rename(&b, &[(k, "k[{#T}]")]);
        let ids = "SELECT itemid AS v FROM items WHERE flags = 4";
        let before = b.shown(ids);
        b.discover_at(&all, 1_000);
        b.discover(&all);
        let made = "SELECT key_ || ' ' || description AS v FROM items WHERE flags = 4";
        assert_eq!(b.shown(made), "k[b] a|k[c] b", "{portion}");
        assert_eq!(b.shown(ids), before, "{portion}");
        b.stays(&all);

        // A master of a later row leaves the key that a dependent item of an earlier row needs.
        let b = Box::new(&[]);
        let m = b.item("k[{#N}]", &[]);
        let d = b.item("d[{#N}]", &[("type", Value::from(18)), ("master_itemid", m.into())]);
        let all = rows("a:b b:a");
        b.discover(&all);
        rename(&b, &[(m, "m[{#N}]"), (d, "k[{#T}]")]);
        let before = b.shown(ids);
        b.discover_at(&all, 1_000);
        b.discover(&all);
        assert_eq!(b.keys(), "k[a]|k[b]|m[a]|m[b]", "{portion}");
        assert_eq!(b.shown(ids), before, "{portion}");
        b.stays(&all);
    });
}
