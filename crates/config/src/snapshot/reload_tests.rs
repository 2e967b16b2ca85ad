//! Every change of every table that monitoring reads reaches the snapshot by itself.

use crate::table;
use std::collections::BTreeMap;

use eval::macros::MacroNodes;

use super::tests::{host, item, open, write};
use super::*;
use crate::db::{DbResult, Reader, Row, Value};
use crate::schema::{Column, Kind, Reload, Table, configuration_tables};
use crate::{Conditions, Config, Edit};

/// A host below two templates, with one row at least in each table that monitoring reads.
fn fill(edit: &mut Edit<'_>) -> DbResult<()> {
    let template = |edit: &mut Edit<'_>, name: &str| {
        let row = [("host", name.into()), ("name", name.into()), ("kind", Value::from(1))];
        edit.insert_new(&table::HOSTS, &row)
    };
    let (upper, lower) = (template(edit, "upper")?, template(edit, "lower")?);
    let (one, two) = (host(edit, "one")?, host(edit, "two")?);
    let link = |below: u64, above: u64| vec![Value::from(below), above.into()];
    let links = [link(one, lower), link(lower, upper)];
    edit.insert_many(&table::HOST_TEMPLATES, &["hostid", "templateid"], &links)?;
    for (of, name) in [(one, "OWN"), (lower, "LOW"), (upper, "UP")] {
        let row = [("hostid", of.into()), ("tag", name.into()), ("value", "v".into())];
        edit.insert_new(&table::HOST_TAGS, &row)?;
        let name = format!("{{${name}}}");
        let row = [("hostid", of.into()), ("macro", name.into()), ("value", "1m".into())];
        edit.insert_new(&table::HOSTMACROS, &row)?;
    }
    edit.insert_new(&table::GLOBALMACROS, &[("macro", "{$G}".into()), ("value", "1".into())])?;
    let regexp = edit.insert_new(&table::REGEXPS, &[("name", "r".into())])?;
    edit.insert(
        &table::REGEXP_EXPRESSIONS,
        &[("regexpid", regexp.into()), ("expression", "a".into())],
    )?;
    edit.insert(&table::SETTINGS, &[("name", "default_timezone".into()), ("value", "UTC".into())])?;
    let group = edit.insert_new(&table::GROUPS, &[("name", "g".into())])?;
    edit.insert(&table::HOST_GROUPS, &[("hostid", one.into()), ("groupid", group.into())])?;
    let serial = [("hostid", one.into()), ("name", "os".into()), ("value", "x".into())];
    edit.insert(&table::HOST_INVENTORY, &serial)?;
    let interface =
        edit.insert_new(&table::INTERFACES, &[("hostid", one.into()), ("main", 1.into())])?;
    let map =
        edit.insert_new(&table::VALUEMAPS, &[("hostid", one.into()), ("name", "m".into())])?;
    let mapping = [("valuemapid", map.into()), ("value", "1".into()), ("newvalue", "up".into())];
    edit.insert(&table::VALUEMAP_MAPPINGS, &mapping)?;
    let more = [("interfaceid", interface.into()), ("valuemapid", map.into())];
    let master = item(edit, one, "master[{$UP}]", &more)?;
    let more = [("type", 18.into()), ("master_itemid", Value::from(master))];
    let dependent = item(edit, one, "dependent", &more)?;
    let other = item(edit, two, "other", &[("delay", "{$G}m".into())])?;
    let step =
        [("itemid", master.into()), ("step", 1.into()), ("type", 1.into()), ("params", "2".into())];
    edit.insert(&table::ITEM_PREPROCESSING, &step)?;
    let tag = [("itemid", master.into()), ("tag", "t".into())];
    edit.insert_new(&table::ITEM_TAGS, &tag)?;
    let trigger = |edit: &mut Edit<'_>, items: &[u64]| {
        let id = edit.insert_new(&table::TRIGGERS, &[("description", "x".into())])?;
        let mut terms = Vec::new();
        for item in items {
            let row =
                [("triggerid", id.into()), ("itemid", (*item).into()), ("name", "last".into())];
            terms.push(format!("{{{}}}", edit.insert_new(&table::FUNCTIONS, &row)?));
        }
        let expression = format!("{}>0", terms.join("+"));
        edit.update(&table::TRIGGERS, id, &[("expression", expression.into())])?;
        Ok::<_, crate::db::DbError>(id)
    };
    let (first, second) = (trigger(edit, &[master, dependent])?, trigger(edit, &[master, other])?);
    edit.insert_new(&table::TRIGGER_TAGS, &[("triggerid", first.into()), ("tag", "t".into())])?;
    edit.insert(
        &table::TRIGGER_DEPENDS,
        &[("triggerid", first.into()), ("depends_on", second.into())],
    )?;
    let rule = [("name", "d".into()), ("iprange", "10.0.0.1-9".into())];
    let rule = edit.insert_new(&table::DRULES, &rule)?;
    let check = [("druleid", rule.into()), ("type", 12.into())];
    edit.insert_new(&table::DCHECKS, &check)?;
    let row = [("name", "c".into()), ("url", "http://{$G}/".into())];
    let connector = edit.insert_new(&table::CONNECTORS, &row)?;
    edit.insert(
        &table::CONNECTOR_TAGS,
        &[("connectorid", connector.into()), ("position", 0.into()), ("tag", "t".into())],
    )?;
    let action =
        edit.insert_new(&table::ACTIONS, &[("name", "a".into()), ("eventsource", 2.into())])?;
    edit.insert(
        &table::ACTION_CONDITIONS,
        &[("actionid", action.into()), ("conditiontype", 24.into())],
    )
}

/// The snapshot as text. Value maps and macros of what is gone may stay in one that has seen it.
fn picture(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let mut shown = BTreeMap::new();
    for (id, host) in snapshot.hosts.iter() {
        let host = Host { items: Box::default(), ..Host::clone(host) };
        let maps = snapshot.macros.macros(*id);
        shown.insert(format!("host {}", id.0), format!("{host:?} {maps:?}"));
        for template in snapshot.macros.templates(*id) {
            let own = (snapshot.macros.macros(*template), snapshot.macros.templates(*template));
            shown.insert(format!("template {}", template.0), format!("{own:?}"));
        }
    }
    for item in snapshot.items.values() {
        let map = item.extra.as_ref().and_then(|extra| snapshot.valuemaps.get(&extra.valuemap));
        shown.insert(format!("item {}", item.id.0), format!("{item:?} {map:?}"));
    }
    for trigger in snapshot.triggers.values() {
        shown.insert(format!("trigger {}", trigger.id.0), format!("{trigger:?}"));
    }
    let (regexps, settings) = (&snapshot.regexps, &snapshot.settings);
    let rest = (&snapshot.macros.global, regexps, settings, &snapshot.discovery);
    let rest = (rest, snapshot.internal_actions, &snapshot.connectors);
    shown.insert("rest".to_owned(), format!("{rest:?}"));
    shown
}

/// The snapshot is what a start would find.
pub(crate) fn compare(config: &Config, after: &str) {
    let (live, full) = (picture(&config.snapshot()), picture(&config.read_all().unwrap()));
    for (name, expected) in &full {
        assert_eq!(live.get(name), Some(expected), "{name}, {after}");
    }
    let gone: Vec<&String> = live.keys().filter(|name| !full.contains_key(*name)).collect();
    assert!(gone.is_empty(), "{gone:?} should be gone, {after}");
}

fn monitored_tables() -> impl DoubleEndedIterator<Item = &'static Table> {
    let tables: Vec<_> =
        configuration_tables().filter(|table| table.reload != Reload::Nothing).collect();
    tables.into_iter()
}

fn rows(config: &Config, table: &Table) -> Vec<Row> {
    let sql = format!("SELECT * FROM {}", table.name);
    config.read(|connection| connection.query(&sql, &[])).unwrap()
}

fn value(row: &Row, column: &Column) -> Value {
    match column.kind {
        Kind::Int => row.int(column.name).into(),
        Kind::Text => row.text(column.name).into(),
    }
}

/// The key of a row, as conditions.
fn with_key<T>(table: &Table, row: &Row, work: impl FnOnce(&Conditions<'_>) -> T) -> T {
    let values: Vec<[Value; 1]> =
        table.key.iter().map(|name| [value(row, table.column(name).unwrap())]).collect();
    let key: Vec<(&str, &[Value])> =
        table.key.iter().copied().zip(values.iter().map(|value| &value[..])).collect();
    work(&key)
}

#[test]
fn each_change_of_a_monitored_table_reaches_the_snapshot() {
    let (_dir, config) = open();
    write(&config, fill);
    compare(&config, "filled");
    for table in monitored_tables() {
        let free = |column: &&Column| {
            column.owner.is_none() && !table.key.contains(&column.name) && column.name != "kind"
        };
        for (row, column) in rows(&config, table)
            .iter()
            .flat_map(|row| table.columns.iter().filter(free).map(move |column| (row, column)))
        {
            let before = value(row, column);
            let other = match &before {
                Value::Int(number) => Value::from(if *number == 0 { 1 } else { 0 }),
                Value::Text(text) => format!("{text}2").into(),
            };
            for next in [other, before] {
                let after = format!("{}.{} = {next:?}", table.name, column.name);
                write(&config, |edit| {
                    with_key(table, row, |key| edit.update_rows(table, key, &[(column.name, next)]))
                });
                compare(&config, &after);
            }
        }
    }
    for table in monitored_tables().rev() {
        assert!(
            table.reload == Reload::Discovery || !rows(&config, table).is_empty(),
            "{}",
            table.name
        );
        for row in rows(&config, table) {
            write(&config, |edit| with_key(table, &row, |key| edit.delete_rows(table, key)));
            compare(&config, &format!("a row of {} is gone", table.name));
        }
    }
}

/// Counts the rows that are read.
struct Counting<'a> {
    reader: &'a mut dyn Reader,
    rows: usize,
}

impl Reader for Counting<'_> {
    fn query(&mut self, sql: &str, params: &[Value]) -> DbResult<Vec<Row>> {
        let rows = self.reader.query(sql, params)?;
        self.rows += rows.len();
        Ok(rows)
    }
}

#[test]
fn other_dependents_of_a_master_are_not_read_again() {
    const MANY: usize = 500;
    let (_dir, config) = open();
    let dependent = |edit: &mut Edit<'_>, host: u64, master: u64, key: &str| {
        item(edit, host, key, &[("type", 18.into()), ("master_itemid", Value::from(master))])
    };
    let (master, other, first) = write(&config, |edit| {
        let host = host(edit, "h")?;
        let (master, other) = (item(edit, host, "m", &[])?, item(edit, host, "o", &[])?);
        let first = dependent(edit, host, master, "d")?;
        for n in 1..MANY {
            dependent(edit, host, master, &format!("d{n}"))?;
        }
        Ok((master, other, first))
    });
    let before = config.snapshot();
    let of =
        |snapshot: &Snapshot, id: u64| snapshot.items.get(&ItemId(id)).unwrap().dependents.len();
    assert_eq!((of(&before, master), of(&before, other)), (MANY, 0));
    write(&config, |edit| {
        let host = edit.query("SELECT hostid FROM hosts WHERE host = 'h'", &[])?[0].id("hostid");
        dependent(edit, host, master, "new")?;
        edit.update(&table::ITEMS, first, &[("master_itemid", other.into())])
    });
    let live = config.snapshot();
    let new = live.host_by_name("h").unwrap().item("new").unwrap().id;
    assert_eq!((of(&live, master), of(&live, other)), (MANY, 1));
    assert_eq!(picture(&live), picture(&config.read_all().unwrap()));

    let touched = crate::Touched { items: [new, ItemId(first)].into(), ..Default::default() };
    let read: DbResult<usize> = config.read(|connection| {
        let mut counting = Counting { reader: connection, rows: 0 };
        let next = apply(&mut counting, &before, &touched)?;
        assert_eq!((of(&next, master), of(&next, other)), (MANY, 1));
        Ok(counting.rows)
    });
    let read = read.unwrap();
    assert!(read < 20, "{read} rows");
}
