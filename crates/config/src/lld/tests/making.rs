//! What is made and changed.

use crate::table;
use serde_json::json;

use super::*;
use crate::lld::Counts;

#[test]
pub(super) fn rows_become_items() {
    let b = Box::new(&[]);
    b.item(
        "k[{#N}]",
        &[
            ("name", "Size of {#N}".into()),
            ("params", "{#N}{{#N}.uppercase()}".into()),
            ("query_fields", "[{\"q\":\"{#N}\"}]".into()),
            ("posts", "<a>{#N}</a>".into()),
            ("post_type", Value::from(3)),
            ("history", "7d".into()),
            ("units", "{#T}".into()),
            ("status", Value::from(1)),
        ],
    );
    b.item(
        "avg[{#N}]",
        &[
            ("type", Value::from(15)),
            ("delay", "1m".into()),
            ("params", "last(//k[{#N}])+{#T}".into()),
        ],
    );
    b.item("none[{#N}]", &[("discover", Value::from(1))]);
    let summary = b.discover(&rows("a:5 b,c&:x a:5"));
    assert_eq!(summary.created, Counts { items: 4, ..Counts::default() });
    assert_eq!(b.keys(), "avg[\"b,c&\"]|avg[a]|k[\"b,c&\"]|k[a]");
    for (key, column, value) in [
        ("k[a]", "name", "Size of a"),
        ("k[a]", "params", "aA"),
        ("k[a]", "history", "7d"),
        ("k[a]", "units", "5"),
        ("k[a]", "status", "1"),
        ("k[a]", "flags", "4"),
        ("k[a]", "ruleid", "0"),
        ("k[a]", "uuid", ""),
        ("k[\"b,c&\"]", "query_fields", "[{\"q\":\"b,c&\"}]"),
        ("k[\"b,c&\"]", "posts", "<a>b,c&amp;</a>"),
        ("avg[a]", "params", "last(//k[a])+5"),
        ("avg[\"b,c&\"]", "params", "last(//k[\"b,c&\"])+\"x\""),
    ] {
        assert_eq!(b.of(key, column), value, "{key} {column}");
    }
    let tags = "SELECT t.tag || '=' || t.value AS v FROM item_tags t \
                JOIN items i ON i.itemid = t.itemid WHERE i.key_ = 'k[a]'";
    assert_eq!(b.shown(tags), "component=5");
    let steps = "SELECT p.params AS v FROM item_preprocessing p \
                 JOIN items i ON i.itemid = p.itemid WHERE i.key_ = 'k[a]'";
    assert_eq!(b.shown(steps), "$['a']");
    let parents = "SELECT p.key_ || ' ' || d.key_ || ' ' || d.lastcheck AS v \
                   FROM item_discovery d JOIN items p ON p.itemid = d.parent_itemid \
                   JOIN items i ON i.itemid = d.itemid WHERE i.key_ = 'k[a]'";
    assert_eq!(b.shown(parents), "k[{#N}] k[{#N}] 1000");
    let snapshot = b.config.snapshot();
    assert!(snapshot.hosts.get(&model::HostId(b.host)).unwrap().item("k[a]").is_some());
    b.stays(&rows("a:5 b,c&:x a:5"));
}

#[test]
pub(super) fn steps_take_macros_as_they_are_meant() {
    for (kind, params, value, made) in [
        (5, "^{#T}\n{#T}", r"a.b\-", Some("^a\\.b\\\\\\-\na.b\\\\-")),
        (14, "{#T}", "(#", Some(r"\(\#")),
        (12, "$['{#T}']", "it's", Some(r"$['it\'s']")),
        (12, "$.{#T}", "a[", None),
        (23, "m{l=\"{#T}\"}", "q\"", Some(r#"m{l="q\""}"#)),
        (23, "{#T}", "m{", None),
        (11, "{#T}", "//[", None),
        (1, "{#T}", "x", None),
        (1, "{#T}", "{$X}", Some("{$X}")),
        (21, "{#T}", "", Some("")),
    ] {
        let b = Box::new(&[]);
        let prototype = b.item("k[{#N}]", &[]);
        b.edit(|e| {
            let row = [("type", kind.into()), ("params", params.into())];
            Ok(e.update_rows(&table::ITEM_PREPROCESSING, &[("itemid", &[prototype.into()])], &row)?)
        });
        let rows = serde_json::json!([{ "{#N}": "a", "{#T}": value }]).to_string();
        let error = b.discover_at(&rows, 1_000).error;
        assert_eq!(error.contains("preprocessing step 1"), made.is_none(), "{params}: {error}");
        let steps = "SELECT p.params AS v FROM item_preprocessing p \
                     JOIN items i ON i.itemid = p.itemid WHERE i.flags = 4";
        assert_eq!(b.shown(steps), made.unwrap_or(""), "{kind} {params} {value}");
    }
}

#[test]
pub(super) fn changes_of_prototypes_follow() {
    let b = Box::new(&[]);
    let proto = b.item("k[{#N}]", &[("units", "B".into())]);
    let all = rows("a b");
    b.discover(&all);
    let id = b.of("k[a]", "itemid");
    // The user's: stays.
    b.edit(|e| {
        Ok(e.update_rows(&table::ITEMS, &[("key_", &["k[a]".into()])], &[("status", 1.into())])?)
    });
    for (columns, key, column, value) in [
        (vec![("units", "bit".into())], "k[a]", "units", "bit"),
        (vec![("delay", "{#T}".into())], "k[b]", "delay", "x"),
        (vec![("key_", "new[{#N},size]".into())], "new[a,size]", "itemid", &*id),
        (vec![("status", Value::from(1))], "new[b,size]", "status", "0"),
    ] {
        let change = ItemChange { id: proto, columns, ..ItemChange::default() };
        b.edit(|e| update_items(e, &[change]));
        b.discover(&all);
        assert_eq!(b.of(key, column), value, "{key} {column}");
        b.stays(&all);
    }
    assert_eq!(b.of("new[a,size]", "status"), "1");
    let tag = Tag { tag: "new".into(), value: "{#N}".into() };
    let change = ItemChange {
        id: proto,
        preprocessing: Some(vec![]),
        tags: Some(vec![tag]),
        ..ItemChange::default()
    };
    b.edit(|e| update_items(e, &[change]));
    assert_eq!(b.discover(&all).updated.items, 2);
    let tags = "SELECT t.tag || '=' || t.value AS v FROM item_tags t JOIN items i \
                ON i.itemid = t.itemid WHERE i.flags = 4";
    assert_eq!(b.shown(tags), "new=a|new=b");
    let steps = "SELECT p.itemid AS v FROM item_preprocessing p JOIN items i \
                 ON i.itemid = p.itemid WHERE i.flags = 4";
    assert_eq!(b.shown(steps), "");
    b.stays(&all);
}

#[test]
pub(super) fn dependent_items_hang_on_the_items_of_their_row() {
    let b = Box::new(&[]);
    let plain = b.item_on(b.host, "plain", &[], &[]);
    let master = b.item("m[{#N}]", &[]);
    let of = |id: u64| [("type", Value::from(18)), ("master_itemid", Value::from(id))];
    let middle = b.item("d[{#N}]", &of(master));
    b.item("e[{#N}]", &of(middle));
    b.item("p[{#N}]", &of(plain));
    assert_eq!(b.discover(&rows("a b")).created.items, 8);
    let masters = "SELECT i.key_ || '<' || m.key_ AS v FROM items i \
                   JOIN items m ON m.itemid = i.master_itemid WHERE i.flags = 4";
    assert_eq!(b.shown(masters), "d[a]<m[a]|d[b]<m[b]|e[a]<d[a]|e[b]<d[b]|p[a]<plain|p[b]<plain");
    let snapshot = b.config.snapshot();
    let host = snapshot.hosts.get(&model::HostId(b.host)).unwrap();
    assert_eq!(*host.item("m[a]").unwrap().dependents, [host.item("d[a]").unwrap().id]);
    b.stays(&rows("a b"));
}

#[test]
pub(super) fn filters_decide_about_rows() {
    let all = rows("a:x b:y c:z");
    for (filter, keys, error) in [
        (filter("{#T}", 8, "^[xy]$"), "k[a]|k[b]", ""),
        (filter("{#T}", 9, "{$NOT}"), "k[a]|k[c]", ""),
        (filter("{#T}", 8, "@some"), "k[b]", ""),
        (filter("{#T}", 12, ""), "k[a]|k[b]|k[c]", ""),
        (filter("{#X}", 13, ""), "k[a]|k[b]|k[c]", ""),
        (
            filter("{#X}", 8, "x"),
            "",
            "Cannot accurately apply filter: no value received for macro \"{#X}\".",
        ),
        (filter("{#T}", 8, "("), "", "Cannot apply filter"),
        (
            json!({ "evaltype": "3", "formula": "A or not B", "conditions": [
                { "macro": "{#N}", "operator": "8", "value": "a", "formulaid": "A" },
                { "macro": "{#T}", "operator": "8", "value": "[xy]", "formulaid": "B" },
            ]}),
            "k[a]|k[c]",
            "",
        ),
        (json!({ "evaltype": "3", "formula": "A or", "conditions": [] }), "", "Invalid filter"),
    ] {
        let b = Box::new(&[("filter", filter.to_string().into())]);
        b.item("k[{#N}]", &[]);
        b.edit(|e| {
            let row =
                [("hostid", b.host.into()), ("macro", "{$NOT}".into()), ("value", "y".into())];
            e.insert_new(&table::HOSTMACROS, &row)?;
            let id = e.insert_new(&table::REGEXPS, &[("name", "some".into())])?;
            let row = [
                ("regexpid", id.into()),
                ("expression", "Y".into()),
                ("expression_type", Value::from(0)),
            ];
            e.insert(&table::REGEXP_EXPRESSIONS, &row)?;
            Ok(())
        });
        let summary = b.discover_at(&all, 1_000);
        assert!(summary.error.starts_with(error), "{filter}: {}", summary.error);
        assert_eq!(summary.error.is_empty(), error.is_empty(), "{filter}: {}", summary.error);
        assert_eq!(b.keys(), keys, "{filter}");
    }
}

#[test]
pub(super) fn overrides_by_row_and_name() {
    let overrides = json!([
        { "name": "second", "step": "2", "stop": "0", "filter": filter("{#N}", 8, "."),
          "operations": [
            { "operationobject": "0", "operator": "2", "value": "", "optrends": {"trends": "0"} },
        ]},
        { "name": "first", "step": "1", "stop": "1", "filter": filter("{#N}", 8, "^[ab]$"),
          "operations": [
            { "operationobject": "0", "operator": "0", "value": "size {#N}",
              "opstatus": { "status": "1" }, "opperiod": { "delay": "{#T}m" },
              "ophistory": { "history": "1d" },
              "optag": [{ "tag": "o", "value": "{#N}" }, { "tag": "component", "value": "5" }] },
            { "operationobject": "0", "operator": "8", "value": "^free",
              "opdiscover": { "discover": "1" } },
            { "operationobject": "0", "operator": "3", "value": "e",
              "opdiscover": { "discover": "0" } },
            { "operationobject": "1", "operator": "1", "value": "nothing",
              "opseverity": { "severity": "5" }, "opstatus": { "status": "1" },
              "optag": [{ "tag": "o", "value": "p" }] },
        ]},
    ]);
    let b = Box::new(&[("overrides", overrides.to_string().into())]);
    b.item("size[{#N}]", &[("name", "size {#N}".into()), ("delay", "9m".into())]);
    b.item("free[{#N}]", &[("name", "free {#N}".into())]);
    b.item("no[{#N}]", &[("name", "no {#N}".into()), ("discover", Value::from(1))]);
    b.trigger("full {#N}", "last(/h/size[{#N}])=0", &[("priority", Value::from(2))], &[]);
    b.discover(&rows("a:5 c:6"));
    assert_eq!(b.keys(), "free[c]|no[a]|size[a]|size[c]");
    let shown = "SELECT key_ || ' ' || status || ' ' || delay || ' ' || history || ' ' || trends \
                 AS v FROM items WHERE flags = 4 AND key_ LIKE 'size%'";
    assert_eq!(b.shown(shown), "size[a] 1 5m 1d 365d|size[c] 0 9m 31d 0");
    let tags = "SELECT t.tag || '=' || t.value AS v FROM item_tags t \
                JOIN items i ON i.itemid = t.itemid WHERE i.key_ = 'size[a]'";
    assert_eq!(b.shown(tags), "component=5|o=a");
    let triggers = "SELECT description || ' ' || priority || ' ' || status AS v FROM triggers \
                    WHERE flags = 4";
    assert_eq!(b.shown(triggers), "full a 5 1|full c 2 0");
    b.stays(&rows("a:5 c:6"));
}

#[test]
pub(super) fn triggers_with_dependencies() {
    let b = Box::new(&[]);
    b.item_on(b.host, "plain", &[], &[]);
    b.item("k[{#N}]", &[]);
    b.item("j[{#N}]", &[]);
    let plain = b.trigger("plain", "last(/h/plain)=0", &[], &[]);
    let high = b.trigger(
        "high {#N}",
        "last(/h/k[{#N}])>{#T} and last(/h/plain)>{$MAX:\"{#N}\"}",
        &[("opdata", "{#T}".into())],
        &[],
    );
    let low = b.trigger("low {#N}", "count(/h/k[{#N}],5m,,\"{#T}\")>1", &[], &[high, plain]);
    let all = rows("a:5 b:x");
    assert_eq!(b.discover(&all).created, Counts { items: 4, triggers: 4, ..Counts::default() });
    let expected = "high a: last(k[a])>5 and last(plain)>{$MAX:\"a\"}\
                    |high b: last(k[b])>\"x\" and last(plain)>{$MAX:\"b\"}\
                    |low a: count(k[a],5m,,\"5\")>1|low b: count(k[b],5m,,\"x\")>1";
    assert_eq!(b.triggers(), expected);
    assert_eq!(b.dependencies(), "low a>high a|low a>plain|low b>high b|low b>plain");
    let tags = "SELECT t.value AS v FROM trigger_tags t JOIN triggers r \
                ON r.triggerid = t.triggerid WHERE r.description LIKE 'low%'";
    assert_eq!(b.shown(tags), "a|b|{#N}");
    assert_eq!(b.config.snapshot().triggers.len(), 5);
    b.stays(&all);

    // Another item in the expression, another name, no dependency on the plain one.
    let before = b.shown("SELECT triggerid AS v FROM triggers WHERE flags = 4");
    b.edit(|e| {
        let r = resolve(e, "last(/h/j[{#N}])>1", "", true).unwrap();
        let change = TriggerChange {
            id: low,
            columns: vec![("description", "lower {#N}".into())],
            expressions: Some((r.expression, r.recovery, r.functions)),
            tags: None,
            depends_on: Some(vec![high]),
        };
        update_triggers(e, &[change])
    });
    assert_eq!(b.discover(&all).updated.triggers, 2);
    assert_eq!(before, b.shown("SELECT triggerid AS v FROM triggers WHERE flags = 4"));
    assert!(b.triggers().ends_with("lower a: last(j[a])>1|lower b: last(j[b])>1"));
    assert_eq!(b.dependencies(), "lower a>high a|lower b>high b");
    b.stays(&all);
}

#[test]
pub(super) fn conflicts_are_reported_and_the_rest_is_created() {
    let b = Box::new(&[]);
    b.item_on(b.host, "k[a]", &[], &[]);
    b.item("k[{#N}]", &[("delay", "{#T}".into()), ("type", Value::from(0))]);
    b.item("same[{#T}]", &[]);
    b.trigger("t {#N}", "last(/h/k[{#N}])=0", &[], &[]);
    let long = format!("long{}:1m", "g".repeat(300));
    let all = rows(&format!("a:1m b:1m c:x {long} d:5m"));
    let summary = b.discover_at(&all, 1_000);
    assert!(summary.supported);
    assert_eq!(summary.created, Counts { items: 5, triggers: 2, ..Counts::default() });
    assert_eq!(b.keys(), "k[b]|k[d]|same[1m]|same[5m]|same[x]");
    let lines: Vec<&str> = summary.error.lines().collect();
    assert_eq!(lines.len(), 4, "{lines:#?}");
    for (line, part) in [
        (0, "Cannot make item with key \"k[c]\""),
        (1, "longer than 255 characters"),
        (2, "key \"same[1m]\": another row gives the same key"),
        (3, "key \"k[a]\": an item of the host has this key"),
    ] {
        assert!(lines[line].contains(part), "{}", lines[line]);
    }
    b.stays(&all);
    assert_eq!(b.discover_at(&all, 1_000).error, summary.error);
}

#[test]
pub(super) fn values_that_are_refused_change_nothing() {
    let b = Box::new(&[]);
    b.item("k[{#N}]", &[]);
    b.discover(&rows("a"));
    for value in ["", "5", "{", "{}", "{\"data\":1}", &format!("[{}", "[".repeat(100_000))] {
        let summary = b.discover_at(value, 1_000);
        assert!(!summary.supported && !summary.error.is_empty(), "{value:.20}");
        assert!(!summary.changed());
    }
    let too_many = format!("[{}1]", "1,".repeat(eval::lld::ROWS_MAX));
    assert!(b.discover_at(&too_many, 1_000).error.contains("more than"));
    let reason = Err("agent is silent".to_owned());
    let value = LldValue { rule: ItemId(b.rule), at: Timestamp::default(), rows: reason };
    let summary = process(&b.config, &value, 1_000).unwrap();
    assert_eq!((summary.supported, &*summary.error), (false, "agent is silent"));
    assert_eq!(b.keys(), "k[a]");
    assert!(!b.discover_rule(99, "[]", 1_000).changed());
}
