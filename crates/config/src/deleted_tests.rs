//! What follows from deletions comes from the record of changes, however the rows go.

use crate::table;
use std::sync::{Arc, Mutex};

use model::{HostId, ItemId, LldValue, Timestamp, TriggerId};

use crate::Config;
use crate::change::Deleted;
use crate::db::{DbError, DbResult, Location};
use crate::objects::{delete_hosts, delete_items, delete_triggers};
use crate::snapshot::tests::{host, item, open, trigger, write};

/// What the hook has learned since the last call.
fn follow(config: &Config) -> impl Fn() -> Deleted {
    let told: Arc<Mutex<Deleted>> = Arc::default();
    let seen = Arc::clone(&told);
    config.tell_deleted(Arc::new(move |deleted| seen.lock().unwrap().extend(deleted.clone())));
    move || std::mem::take(&mut *told.lock().unwrap())
}

fn of(items: &[u64], triggers: &[u64]) -> Deleted {
    Deleted {
        items: items.iter().map(|id| ItemId(*id)).collect(),
        triggers: triggers.iter().map(|id| TriggerId(*id)).collect(),
        actions: Vec::new(),
    }
}

#[test]
fn items_that_the_database_deletes_with_their_host_are_told() {
    let (_dir, config) = open();
    let (h, a, b, t) = write(&config, |edit| {
        let h = host(edit, "h")?;
        let (a, b) = (item(edit, h, "a", &[])?, item(edit, h, "b", &[])?);
        Ok((h, a, b, trigger(edit, &[a])?))
    });
    let told = follow(&config);
    write(&config, |edit| delete_hosts(edit, &[h]));
    assert_eq!(told(), of(&[a, b], &[t]));
    let h = write(&config, |edit| host(edit, "h"));
    let c = write(&config, |edit| item(edit, h, "c", &[]));
    let revision = config.snapshot().revision;
    write(&config, |edit| edit.delete_rows(&table::HOSTS, &[("host", &["h".into()])]));
    assert_eq!(told(), of(&[c], &[]), "by the owner's row alone");
    let sql = "SELECT subjects FROM changes WHERE name = 'items' AND operation = 'delete' \
               ORDER BY revision DESC LIMIT 1";
    let rows = config.read(|connection| connection.query(sql, &[])).unwrap();
    assert_eq!(rows[0].text("subjects"), c.to_string(), "others that follow the record know, too");
    assert_eq!(config.snapshot().revision, revision + 1);
}

#[test]
fn deleted_actions_are_told() {
    let (_dir, config) = open();
    let action = write(&config, |edit| edit.insert_new(&table::ACTIONS, &[("name", "a".into())]));
    let told = follow(&config);
    write(&config, |edit| edit.delete(&table::ACTIONS, "actionid", &[action]));
    assert_eq!(told(), Deleted { actions: vec![action], ..Deleted::default() });
}

#[test]
fn nothing_is_told_of_what_is_taken_back() {
    let (_dir, config) = open();
    let (a, b) = write(&config, |edit| {
        let h = host(edit, "h")?;
        Ok((item(edit, h, "a", &[])?, item(edit, h, "b", &[])?))
    });
    let told = follow(&config);
    let failed: DbResult<()> = config.write(|edit| {
        delete_items(edit, &[a])?;
        Err(DbError::statement("(test)", "fails"))
    });
    assert!(failed.is_err());
    write(&config, |edit| {
        let part: DbResult<()> = edit.attempt(|edit| {
            delete_items(edit, &[a])?;
            Err(DbError::statement("(test)", "fails"))
        });
        assert!(part.is_err());
        delete_items(edit, &[b])
    });
    assert_eq!(told(), of(&[b], &[]));
}

#[test]
fn the_whole_change_is_live_when_it_is_told() {
    let (_dir, config) = open();
    let config = Arc::new(config);
    let hosts: Vec<u64> = write(&config, |edit| {
        (0..5)
            .map(|n| {
                let h = host(edit, &format!("h{n}"))?;
                item(edit, h, "a", &[]).map(|_| h)
            })
            .collect()
    });
    config.set_portion(1);
    let left: Arc<Mutex<Vec<usize>>> = Arc::default();
    let (seen, live, all) = (Arc::clone(&left), Arc::downgrade(&config), hosts.clone());
    config.tell_deleted(Arc::new(move |deleted| {
        assert_eq!(deleted.items.len(), all.len());
        let snapshot = live.upgrade().unwrap().snapshot();
        let monitored = all.iter().filter(|id| snapshot.hosts.get(&HostId(**id)).is_some());
        seen.lock().unwrap().push(monitored.count());
    }));
    write(&config, |edit| delete_hosts(edit, &hosts));
    assert_eq!(*left.lock().unwrap(), [0], "no shard stores values of deleted items any more");
}

#[test]
fn a_deletion_without_a_hook_is_told_to_the_first_one() {
    let dir = tempfile::tempdir().unwrap();
    let config = Config::open(Location::Sqlite(dir.path().join("config.db"))).unwrap();
    let t = write(&config, |edit| {
        let h = host(edit, "h")?;
        let i = item(edit, h, "a", &[])?;
        trigger(edit, &[i])
    });
    write(&config, |edit| delete_triggers(edit, &[t]));
    let told = follow(&config);
    assert_eq!(told(), of(&[], &[t]));
    assert!(follow(&config)().is_empty(), "once");
}

#[test]
fn a_hook_may_change_the_configuration() {
    let (_dir, config) = open();
    let config = Arc::new(config);
    let (a, b) = write(&config, |edit| {
        let h = host(edit, "h")?;
        Ok((item(edit, h, "a", &[])?, item(edit, h, "b", &[])?))
    });
    let (writer, told) = (Arc::downgrade(&config), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&told);
    config.tell_deleted(Arc::new(move |deleted| {
        seen.lock().unwrap().extend(deleted.items.clone());
        if deleted.items == [ItemId(a)] {
            write(&writer.upgrade().unwrap(), |edit| delete_items(edit, &[b]));
        }
    }));
    write(&config, |edit| delete_items(edit, &[a]));
    assert_eq!(*told.lock().unwrap(), [ItemId(a), ItemId(b)]);
}

#[test]
fn low_level_discovery_tells_what_it_deletes() {
    let (_dir, config) = open();
    let (rule, lost) = write(&config, |edit| {
        let h = host(edit, "h")?;
        let flags = |flags: i64| ("flags", flags.into());
        let at_once = [flags(1), ("type", 2.into()), ("lifetime_type", 2.into())];
        let rule = item(edit, h, "rule", &at_once)?;
        let more = [flags(2), ("type", 2.into()), ("ruleid", rule.into())];
        let prototype = item(edit, h, "p[{#N}]", &more)?;
        let lost = item(edit, h, "p[a]", &[flags(4), ("type", 2.into())])?;
        let row = [
            ("itemid", lost.into()),
            ("parent_itemid", prototype.into()),
            ("key_", "p[{#N}]".into()),
        ];
        edit.insert(&table::ITEM_DISCOVERY, &row)?;
        Ok((rule, lost))
    });
    let told = follow(&config);
    let value = LldValue {
        rule: ItemId(rule),
        at: Timestamp { clock: 2_000, ns: 0 },
        rows: Ok("[]".into()),
    };
    let summary = crate::lld::process(&config, &value, 2_000).unwrap();
    assert_eq!((summary.error.as_str(), summary.deleted.items), ("", 1));
    assert_eq!(told(), of(&[lost], &[]));
}
