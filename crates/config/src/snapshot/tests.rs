//! Snapshots against the database they are read from.

use crate::table;
use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use model::{HostId, ItemId, TriggerId};

use super::*;
use crate::db::{DbResult, Location, Value};
use crate::{Config, Edit};

pub(crate) fn open() -> (tempfile::TempDir, Config) {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::open(Location::Sqlite(dir.path().join("config.db"))).unwrap();
    (dir, config)
}

pub(crate) fn write<T>(config: &Config, work: impl FnOnce(&mut Edit<'_>) -> DbResult<T>) -> T {
    config.write(work).unwrap()
}

pub(crate) fn host(edit: &mut Edit<'_>, name: &str) -> DbResult<u64> {
    let id = edit.insert_new(&table::HOSTS, &[("host", name.into()), ("name", name.into())])?;
    Ok(id)
}

pub(crate) fn item(
    edit: &mut Edit<'_>,
    host: u64,
    key: &str,
    more: &[(&str, Value)],
) -> DbResult<u64> {
    let mut row = vec![("hostid", Value::from(host)), ("key_", key.into()), ("name", key.into())];
    if !more.iter().any(|(name, _)| *name == "delay") {
        row.push(("delay", "1m".into()));
    }
    row.extend_from_slice(more);
    let id = edit.insert_new(&table::ITEMS, &row)?;
    Ok(id)
}

pub(crate) fn trigger(edit: &mut Edit<'_>, items: &[u64]) -> DbResult<u64> {
    let id = edit.insert_new(&table::TRIGGERS, &[("description", "x".into())])?;
    let mut expression = Vec::new();
    for item in items {
        let row = [
            ("triggerid", Value::from(id)),
            ("itemid", Value::from(*item)),
            ("name", "last".into()),
        ];
        expression.push(format!("{{{}}}", edit.insert_new(&table::FUNCTIONS, &row)?));
    }
    let expression = format!("{}>0", expression.join("+"));
    edit.update(&table::TRIGGERS, id, &[("expression", expression.into())])?;
    Ok(id)
}

#[test]
fn a_change_of_one_item_shares_everything_else() {
    let (_dir, config) = open();
    let (a, b) = write(&config, |edit| {
        let hosts: Vec<u64> =
            (0..20).map(|n| host(edit, &format!("h{n}"))).collect::<DbResult<_>>()?;
        for id in &hosts {
            item(edit, *id, "agent.ping", &[])?;
        }
        Ok((hosts[0], hosts[1]))
    });
    let before = config.snapshot();
    let new = write(&config, |edit| item(edit, a, "agent.version", &[]));
    let after = config.snapshot();
    assert_eq!(after.revision, before.revision + 1);
    assert!(after.items.get(&ItemId(new)).is_some() && before.items.get(&ItemId(new)).is_none());
    assert_eq!(after.hosts.get(&HostId(a)).unwrap().items.len(), 2);
    let same = |id: u64| {
        let id = HostId(id);
        Arc::ptr_eq(before.hosts.get(&id).unwrap(), after.hosts.get(&id).unwrap())
    };
    assert!(same(b), "an untouched host is shared");
    assert!(!same(a));
}

#[test]
fn a_delta_equals_a_full_load() {
    let (_dir, config) = open();
    let (h, master, old) = write(&config, |edit| {
        let h = host(edit, "h")?;
        let row = [("hostid", h.into()), ("macro", "{$P}".into()), ("value", "/tmp".into())];
        edit.insert_new(&table::HOSTMACROS, &row)?;
        let master = item(edit, h, "vfs.fs.size[{$P},free]", &[])?;
        Ok((h, master, item(edit, h, "old", &[])?))
    });
    let (dependent, t) = write(&config, |edit| {
        let more = [("type", Value::from(18)), ("master_itemid", master.into())];
        let dependent = item(edit, h, "dependent", &more)?;
        Ok((dependent, trigger(edit, &[master, dependent])?))
    });
    write(&config, |edit| {
        edit.delete(&table::ITEMS, "itemid", &[old])?;
        edit.update(&table::ITEMS, dependent, &[("status", Value::from(1))])?;
        Ok(())
    });
    let delta = config.snapshot();
    let full = config.read_all().unwrap();
    let shown = |snapshot: &Snapshot| {
        let mut items: Vec<String> = snapshot.items.values().map(|i| format!("{i:?}")).collect();
        items.sort();
        let triggers: Vec<String> = snapshot.triggers.values().map(|t| format!("{t:?}")).collect();
        let host = format!("{:?}", snapshot.hosts.get(&HostId(h)));
        (items, triggers, host)
    };
    assert_eq!(shown(&delta), shown(&full));
    let item = delta.items.get(&ItemId(master)).unwrap();
    assert_eq!(&*item.key, "vfs.fs.size[/tmp,free]");
    assert_eq!(&*item.dependents, [ItemId(dependent)]);
    assert_eq!(&*item.triggers, [TriggerId(t)]);
    let trigger = delta.triggers.get(&TriggerId(t)).unwrap();
    assert!(!trigger.enabled, "one of its items is switched off");
}

#[test]
fn equal_items_share_their_shape_and_know_their_tags() {
    let (_dir, config) = open();
    let ids = write(&config, |edit| {
        let mut ids = Vec::new();
        for (host_name, tag) in [("a", "cpu"), ("b", "cpu"), ("c", "disk")] {
            let h = host(edit, host_name)?;
            let id = item(edit, h, "k[{HOST.HOST}]", &[("units", "B".into())])?;
            let plain = item(edit, h, "plain", &[("units", "B".into())])?;
            for id in [id, plain] {
                let row = [("itemid", id.into()), ("tag", "part".into()), ("value", tag.into())];
                edit.insert_new(&table::ITEM_TAGS, &row)?;
            }
            ids.push((ItemId(id), ItemId(plain)));
        }
        Ok(ids)
    });
    // A full load may split so few items between its readers, which share nothing.
    for (snapshot, one_reader) in
        [(config.snapshot(), true), (Arc::new(config.read_all().unwrap()), false)]
    {
        let item = |id: ItemId| Arc::clone(snapshot.items.get(&id).unwrap());
        let [a, b, c] = [0, 1, 2].map(|n| item(ids[n].1));
        assert!(!one_reader || Arc::ptr_eq(&a.shape, &b.shape));
        assert!(!Arc::ptr_eq(&a.shape, &c.shape));
        let tags = |item: &Item| {
            let tags = &item.extra.as_ref().unwrap().tags;
            tags.iter().map(|(tag, value)| format!("{tag}:{value}")).collect::<Vec<_>>()
        };
        assert_eq!((tags(&a), tags(&c)), (vec!["part:cpu".into()], vec!["part:disk".into()]));
        assert_eq!((&*item(ids[0].0).key, &*item(ids[1].0).key), ("k[a]", "k[b]"));
    }
}

#[test]
fn the_size_grows_with_items() {
    let (_dir, config) = open();
    write(&config, |edit| host(edit, "h"));
    let empty = config.snapshot().bytes();
    write(&config, |edit| {
        let h = host(edit, "many")?;
        (0..1_000).try_for_each(|n| item(edit, h, &format!("k{n}"), &[]).map(drop))
    });
    let full = config.snapshot().bytes();
    assert!((100_000..600_000).contains(&(full - empty)), "{empty} {full}");
}

#[test]
fn a_deleted_host_is_gone() {
    let (_dir, config) = open();
    let (h, i) = write(&config, |edit| {
        let h = host(edit, "h")?;
        Ok((h, item(edit, h, "agent.ping", &[])?))
    });
    assert!(config.snapshot().host_by_name("h").is_some());
    write(&config, |edit| {
        edit.delete(&table::HOSTS, "hostid", &[h])?;
        Ok(())
    });
    let after = config.snapshot();
    assert!(after.host_by_name("h").is_none() && after.items.get(&ItemId(i)).is_none());
    assert_eq!((after.hosts.len(), after.items.len()), (0, 0));
}

#[test]
fn a_bad_interval_makes_the_item_invalid_and_nothing_else() {
    let (_dir, config) = open();
    let (bad, good) = write(&config, |edit| {
        let h = host(edit, "h")?;
        let bad = item(edit, h, "bad", &[("delay", "often".into())])?;
        Ok((bad, item(edit, h, "good", &[])?))
    });
    let snapshot = config.snapshot();
    let bad = snapshot.items.get(&ItemId(bad)).unwrap();
    assert!(bad.invalid.as_deref().is_some_and(|text| text.contains("often")), "{bad:?}");
    assert!(snapshot.items.get(&ItemId(good)).unwrap().interval.is_some());
}

#[test]
fn macros_of_templates_come_with_the_hosts_they_are_linked_to() {
    use eval::macros::MacroNodes;
    let (_dir, config) = open();
    // host - upper - lower, the macro at the far end, and nothing of it known at the start.
    let (host, lower) = write(&config, |edit| {
        let mut template = |name: &str| {
            let row = [("host", name.into()), ("name", name.into()), ("kind", Value::from(1_u64))];
            edit.insert_new(&table::HOSTS, &row)
        };
        let (upper, lower) = (template("upper")?, template("lower")?);
        let host = host(edit, "h")?;
        for (below, above) in [(host, upper), (upper, lower)] {
            let row = [("hostid", Value::from(below)), ("templateid", above.into())];
            edit.insert(&table::HOST_TEMPLATES, &row)?;
        }
        let row =
            [("hostid", Value::from(lower)), ("macro", "{$M}".into()), ("value", "^lo$".into())];
        edit.insert_new(&table::HOSTMACROS, &row)?;
        Ok((HostId(host), HostId(lower)))
    });
    let value = |config: &Config| -> Vec<String> {
        let snapshot = config.snapshot();
        let defs = snapshot.macros.macros(lower);
        defs.iter().map(|def| def.value.to_string()).collect()
    };
    assert_eq!(value(&config), ["^lo$"]);
    assert_eq!(config.snapshot().macros.templates(host).len(), 1);
    write(&config, |edit| {
        let name = ("macro", &["{$M}".into()][..]);
        edit.update_rows(&table::HOSTMACROS, &[name], &[("value", "new".into())])
    });
    assert_eq!(value(&config), ["new"]);
}

#[test]
fn committed_change_is_live_once_the_database_is_readable() {
    let (_dir, config) = open();
    let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    config.subscribe(Box::new(move |_, touched| {
        hears.lock().unwrap().push(touched.hosts.iter().map(|id| id.0).collect::<Vec<_>>());
    }));
    // The last statement of the change takes a table away that the snapshot is read from.
    let first = write(&config, |edit| {
        let id = host(edit, "first")?;
        edit.unrecorded().batch("ALTER TABLE interfaces RENAME TO away")?;
        Ok(id)
    });
    assert!(config.snapshot().hosts.get(&HostId(first)).is_none());
    assert!(config.catch_up().is_err());
    assert!(heard.lock().unwrap().is_empty());
    let restored: DbResult<()> =
        config.write(|edit| edit.unrecorded().batch("ALTER TABLE away RENAME TO interfaces"));
    restored.unwrap();
    config.catch_up().unwrap();
    assert!(config.snapshot().hosts.get(&HostId(first)).is_some());
    let second = write(&config, |edit| host(edit, "second"));
    config.catch_up().unwrap();
    assert_eq!(*heard.lock().unwrap(), [vec![first], vec![second]]);
}

#[test]
fn a_change_that_the_disk_does_not_confirm_is_made_and_live() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(dir.path().join("config.db"));
    let failed = Arc::new(AtomicU64::new(0));
    let fails = Arc::clone(&failed);
    let sync = move |_: &File| {
        fails.fetch_add(1, Ordering::SeqCst);
        Err(std::io::Error::other("input/output error"))
    };
    let config = Config::open_with(location, Arc::new(sync)).unwrap();
    let first = write(&config, |edit| host(edit, "first"));
    assert!(config.snapshot().hosts.get(&HostId(first)).is_some());
    assert_eq!(failed.load(Ordering::SeqCst), 1);
    config.sync().expect("the log was written into the main file instead");
    assert_eq!(failed.load(Ordering::SeqCst), 1);
}

#[test]
fn problems_do_not_wait_for_the_snapshot_of_a_change() {
    let (_dir, config) = open();
    let (entered, entries) = std::sync::mpsc::sync_channel(0);
    let (proceed, may) = std::sync::mpsc::sync_channel::<()>(0);
    let may = std::sync::Mutex::new(may);
    config.subscribe(Box::new(move |_, _| {
        entered.send(()).unwrap();
        may.lock().unwrap().recv().unwrap();
    }));
    std::thread::scope(|scope| {
        scope.spawn(|| write(&config, |edit| host(edit, "h")));
        // The change is committed and its snapshot is not finished.
        entries.recv().unwrap();
        let (done, dones) = std::sync::mpsc::sync_channel(1);
        let config = &config;
        scope.spawn(move || {
            let sql = "INSERT INTO events (eventid) VALUES (1)";
            let written: DbResult<u64> = config.write_state(|state| state.execute(sql, &[]));
            done.send(written.unwrap()).unwrap();
        });
        let waited = dones.recv_timeout(std::time::Duration::from_secs(60));
        proceed.send(()).unwrap();
        assert_eq!(waited, Ok(1));
    });
}

#[test]
fn problems_do_not_wait_for_a_change_in_progress() {
    let (_dir, config) = open();
    let events = || -> DbResult<u64> {
        let rows = config.read(|c| c.query("SELECT COUNT(*) AS n FROM events", &[]))?;
        Ok(rows[0].id("n"))
    };
    let changed: DbResult<u64> = config.write(|edit| {
        host(edit, "h")?;
        // The change holds its writer; one that needed it as well would never come to an end here.
        let (done, dones) = std::sync::mpsc::sync_channel(1);
        std::thread::scope(|scope| {
            let config = &config;
            scope.spawn(move || {
                let row = [("eventid", Value::from(1_u64))];
                let written: DbResult<()> =
                    config.write_state(|state| state.insert(&table::EVENTS, &row));
                done.send(written.is_ok() && config.sync_state().is_ok()).unwrap();
            });
            assert_eq!(dones.recv_timeout(std::time::Duration::from_secs(60)), Ok(true));
        });
        events()
    });
    assert_eq!(changed.unwrap(), 1, "visible before the change is");
}

#[test]
fn a_change_of_one_part_cannot_touch_the_other() {
    let (_dir, config) = open();
    let row = [("name", Value::from("x"))];
    let wrong: DbResult<()> = config.write(|edit| edit.insert(&table::STATE_SETTINGS, &row));
    assert!(wrong.unwrap_err().to_string().contains("readonly"));
    let wrong: DbResult<()> = config.write_state(|state| state.insert(&table::SETTINGS, &row));
    assert!(wrong.unwrap_err().to_string().contains("readonly"));
}

pub(crate) fn author(userid: u64) -> crate::audit::Author {
    let (username, ip) = ("somebody".to_owned(), "10.0.0.1".to_owned());
    crate::audit::Author { userid, username, ip, at_s: 1_700_000_000 }
}

#[test]
fn a_transaction_is_recorded_with_who_made_it() {
    let (_dir, config) = open();
    let last = |config: &Config| {
        let sql = "SELECT MAX(revision) AS last FROM changes";
        config.read(|c| c.query(sql, &[])).map(|rows: Vec<_>| rows[0].id("last")).unwrap()
    };
    let h = write(&config, |edit| host(edit, "h"));
    let start = last(&config);
    let work = |edit: &mut Edit<'_>| {
        edit.update(
            &table::HOSTS,
            h,
            &[("name", "other".into()), ("maintenance_status", 1.into())],
        )?;
        let (a, b) = (item(edit, h, "a", &[])?, item(edit, h, "b", &[])?);
        edit.insert(&table::ITEM_TAGS, &[("itemtagid", 1.into()), ("itemid", a.into())])?;
        let refused: DbResult<()> = edit.attempt(|edit| {
            edit.delete(&table::ITEMS, "itemid", &[b])?;
            edit.insert(&table::ITEMS, &[("itemid", a.into())])
        });
        assert!(refused.is_err());
        Ok::<_, crate::db::DbError>((a, b))
    };
    let (a, b) = config.write_as(author(7), work).unwrap();
    let shown: Vec<String> = config
        .changes_since(start)
        .unwrap()
        .unwrap()
        .iter()
        .map(|change| {
            let columns: Vec<&str> = change.columns.iter().copied().collect();
            let crate::change::Subjects::Ids(ids) = &change.subjects else { panic!("{change:?}") };
            let ids: Vec<u64> = ids.iter().cloned().flatten().collect();
            format!("{} {:?} {ids:?} {}", change.table, change.operation, columns.join(" "))
        })
        .collect();
    let expected = [
        format!("hosts Update [{h}] maintenance_status name"),
        format!("item_tags Insert [{a}] itemid itemtagid"),
        format!("items Insert [{a}, {b}] delay hostid itemid key_ name"),
    ];
    assert_eq!(shown, expected);
    let by: Vec<u64> =
        config.changes_since(start).unwrap().unwrap().iter().map(|c| c.userid).collect();
    assert_eq!(by, [7, 7, 7]);
    // States of the server, and what is refused, are no changes of the configuration.
    let now = last(&config);
    write(&config, |edit| edit.update(&table::HOSTS, h, &[("maintenance_status", 0.into())]));
    let refused: DbResult<()> = config.write(|edit| {
        edit.delete(&table::ITEMS, "itemid", &[a])?;
        edit.insert(&table::ITEMS, &[("itemid", b.into())])
    });
    assert!(refused.is_err() && last(&config) == now);
    assert_eq!(config.changes_since(now).unwrap(), Some(Vec::new()));
    assert_eq!(config.changes_since(1).unwrap(), None, "before the record begins");
}
