//! Hosts of one value in several transactions.

use std::sync::Mutex;

use super::*;
use crate::lld::Counts;

/// Template `T` of the hosts has three items, so a host stands for four objects.
fn boxed(more: More<'_>) -> Box {
    let b = hosts::boxed(more);
    let template = b.shown("SELECT hostid AS v FROM hosts WHERE host = 'T'").parse().unwrap();
    b.item_on(template, "t.two", &[], &[]);
    b.item_on(template, "t.three", &[], &[]);
    b
}

fn hosts_of(created: usize) -> Counts {
    Counts { hosts: created, ..Counts::default() }
}

fn names(b: &Box) -> String {
    b.shown("SELECT host AS v FROM hosts WHERE flags = 4")
}

#[test]
fn no_transaction_has_more_hosts_than_fit_a_portion() {
    let b = boxed(&[("lifetime", "1h".into())]);
    b.config.set_portion(9);
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&sizes);
    b.config.subscribe(std::boxed::Box::new(move |_, touched| {
        seen.lock().unwrap().push(touched.hosts.len());
    }));
    let transactions = || std::mem::take(&mut *sizes.lock().unwrap());
    let all = rows("a b c d e");
    assert_eq!(b.discover(&all).created, hosts_of(5));
    // The last notes where the hosts' groups come from.
    let made: Vec<usize> = transactions().into_iter().filter(|hosts| *hosts > 0).collect();
    assert_eq!(made, [2, 2, 1], "two hosts of four objects");
    b.stays(&all);
    b.edit(|e| {
        let flags = [("flags", &[Value::from(4)][..])];
        Ok(e.update_rows(&table::HOSTS, &flags, &[("name", "renamed by nobody".into())])
            .map(drop)?)
    });
    transactions();
    assert_eq!(b.discover(&all).updated, hosts_of(5));
    let changed: Vec<usize> = transactions().into_iter().filter(|hosts| *hosts > 0).collect();
    assert_eq!(changed, [2, 2, 1]);
    assert_eq!(b.discover_at(&rows("a"), 2_000).lost, hosts_of(4));
    transactions();
    let summary = b.discover_at(&rows("a"), 5_600);
    assert_eq!((summary.deleted.hosts, summary.deleted.items), (4, 12));
    let deleted: Vec<usize> = transactions().into_iter().filter(|hosts| *hosts > 0).collect();
    assert_eq!(deleted, [2, 2], "with their items");
    assert_eq!(names(&b), "vm-a");
    let snapshot = b.config.snapshot();
    assert_eq!(snapshot.hosts.len(), b.config.read_all().unwrap().hosts.len());
}

#[test]
fn a_value_gives_the_same_hosts_in_portions_of_any_size() {
    let tests: &[fn()] = &[
        hosts::rows_become_hosts,
        hosts::lost_hosts_go_with_what_they_have,
        hosts::overrides_and_clashes,
        hosts::own_interfaces_come_from_the_row,
    ];
    for portion in [1, 9, 1_000_000] {
        PORTION.set(portion);
        tests.iter().for_each(|test| test());
        PORTION.set(0);
    }
}

#[test]
fn names_given_twice_are_the_first_rows_in_all_portions() {
    for portion in [1, 9, 1_000_000] {
        PORTION.set(portion);
        let b = boxed(&[]);
        PORTION.set(0);
        let all = rows("a:1 b:1 a:2");
        for _ in 0..2 {
            let summary = b.discover_at(&all, 1_000);
            let error = "Cannot make host \"vm-a\": another row gives the same name.";
            assert_eq!(summary.error, error, "{portion}");
            let tag = "SELECT h.host || ' in ' || g.name AS v FROM host_groups m \
                       JOIN hosts h ON h.hostid = m.hostid JOIN groups_ g ON g.groupid = m.groupid \
                       WHERE h.flags = 4 AND g.name LIKE 'Of%'";
            assert_eq!(b.shown(tag), "vm-a in Of 1|vm-b in Of 1", "{portion}");
            b.config.lld().objects_changed();
        }
    }
}

#[test]
fn the_next_value_completes_hosts_after_a_restart() {
    let b = boxed(&[]);
    b.config.set_portion(4);
    let file = rusqlite::Connection::open(b.dir.path().join("c.db")).unwrap();
    // The items of the third host are refused: nothing of that host stays.
    let refuse = "CREATE TRIGGER refuse BEFORE INSERT ON items \
                  WHEN NEW.key_ = 't.three' AND (SELECT host FROM hosts \
                  WHERE hostid = NEW.hostid) = 'vm-c' BEGIN SELECT RAISE(ABORT, 'refused'); END";
    file.execute_batch(refuse).unwrap();
    let all = rows("a b c d e");
    assert!(b.try_discover(b.rule, &all, 1_000).is_err());
    assert_eq!(names(&b), "vm-a|vm-b");
    let items = "SELECT COUNT(*) AS v FROM items i JOIN hosts h ON h.hostid = i.hostid \
                 WHERE h.flags = 4";
    assert_eq!(b.shown(items), "6", "each host with all its items");
    file.execute_batch("DROP TRIGGER refuse").unwrap();
    drop(file);
    let Box { config, host, rule, dir } = b;
    drop(config);
    let config = Arc::new(Config::open(Location::Sqlite(dir.path().join("c.db"))).unwrap());
    let b = Box { config, host, rule, dir };
    assert_eq!(b.discover(&all).created, hosts_of(3));
    assert_eq!((names(&b).as_str(), b.shown(items).as_str()), ("vm-a|vm-b|vm-c|vm-d|vm-e", "15"));
    b.stays(&all);
}
