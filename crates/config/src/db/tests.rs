//! The same cases on every database. PostgreSQL runs where `VEDETTE_TEST_POSTGRES` names one
//! (the test scripts start it); without it the cases run on SQLite alone.

use super::*;

fn sqlite() -> (tempfile::TempDir, Db) {
    let dir = tempfile::tempdir().unwrap();
    let db = Db::open(Location::Sqlite(dir.path().join("config.db"))).unwrap();
    (dir, db)
}

#[test]
fn a_failed_transaction_leaves_nothing() {
    let (_dir, db) = sqlite();
    let failed: DbResult<()> = db.write(|c| {
        c.execute("INSERT INTO settings (name, value) VALUES (?, ?)", &["x".into(), "1".into()])?;
        Err(DbError::Constraint("for the test".into()))
    });
    assert!(failed.is_err());
    let rows: DbResult<_> = db.read(|c| c.query("SELECT * FROM settings WHERE name = 'x'", &[]));
    assert!(rows.unwrap().is_empty());
}

#[test]
fn a_constraint_violation_is_recognized() {
    let (_dir, db) = sqlite();
    let insert = |c: &mut dyn Connection| {
        c.execute("INSERT INTO settings (name, value) VALUES (?, ?)", &["x".into(), "1".into()])
    };
    assert!(db.write(insert).is_ok());
    assert!(matches!(db.write(insert), Err(DbError::Constraint(_))));
}

#[test]
fn many_readers_share_few_connections() {
    let (_dir, db) = sqlite();
    std::thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                let rows: DbResult<_> = db.read(|c| c.query("SELECT 1 AS one", &[]));
                assert_eq!(rows.unwrap()[0].int("one"), 1);
            });
        }
    });
    assert!(lock(&db.readers).open <= READERS_MAX);
}

#[test]
fn ids_beyond_one_portion() {
    let (_dir, db) = sqlite();
    let ids: Vec<u64> = (1..=12_345).collect();
    let rows: DbResult<_> = db.read(|c| {
        query_by_ids(c, "SELECT COUNT(*) AS n FROM hosts WHERE hostid NOT IN ({ids})", &[], &ids)
    });
    assert_eq!(rows.unwrap().len(), 3);
}

#[test]
fn error_says_whether_the_values_or_the_database_are_at_fault() {
    let (_dir, db) = sqlite();
    let insert = "INSERT INTO settings (name, value) VALUES ('x', '1')";
    for (sql, of_values) in [
        (vec![insert, insert], true),
        (vec!["INSERT INTO nowhere (a) VALUES (1)"], false),
        (vec!["PRAGMA query_only = 1", insert], false),
        (
            vec![
                "PRAGMA query_only = 0",
                "PRAGMA max_page_count = 1",
                "INSERT INTO settings (name, value) VALUES ('y', HEX(ZEROBLOB(10000000)))",
            ],
            false,
        ),
    ] {
        let run = |c: &mut dyn Connection| sql.iter().try_for_each(|sql| c.batch(sql));
        let error: DbError = db.write(run).unwrap_err();
        assert_eq!(error.is_of_values(), of_values, "{error}");
    }
}

#[test]
fn checkpoint_moves_everything_into_the_main_file() {
    let (dir, db) = sqlite();
    let insert = "INSERT INTO settings (name, value) VALUES ('x', '1')";
    let written: DbResult<()> = db.write(|c| c.batch(insert));
    written.unwrap();
    db.sync().unwrap();
    db.checkpoint().unwrap();
    let log = dir.path().join("config.db-wal");
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
    drop(db);
    assert!(log.exists(), "a start that finds no log knows that it was lost");
    std::fs::remove_file(log).unwrap();
    let db = Db::open(Location::Sqlite(dir.path().join("config.db"))).unwrap();
    let rows: DbResult<_> = db.read(|c| c.query("SELECT value FROM settings", &[]));
    assert_eq!(rows.unwrap().len(), 1);
}

/// Numbers without end, as a statement that runs until it is stopped.
const ENDLESS: &str =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";

#[test]
fn rows_are_read_until_the_reader_breaks_off() {
    let (_dir, db) = sqlite();
    let mut seen = Vec::new();
    let read: DbResult<()> = db.read(|c| {
        c.each_until(ENDLESS, &[], &mut |row| {
            seen.push(row.int(0));
            if seen.len() == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    });
    assert!(read.is_ok());
    assert_eq!(seen, [1, 2, 3]);
}

#[test]
fn a_cancelled_statement_leaves_the_connection_usable() {
    let (_dir, db) = sqlite();
    let flag = Arc::new(AtomicBool::new(false));
    let sql = ENDLESS.replace("SELECT i FROM n", "SELECT COUNT(*) AS n FROM n");
    let stopped: DbResult<()> = db.read_until(Some(Arc::clone(&flag)), |c| {
        assert_eq!(c.query("SELECT 1 AS one", &[])?[0].int("one"), 1);
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(matches!(c.query(&sql, &[]), Err(DbError::Unavailable { .. })));
        Ok(())
    });
    assert!(stopped.is_ok());
    let usable: DbResult<_> = db.read(|c| Ok(c.query("SELECT 1 AS one", &[])?[0].int("one")));
    assert_eq!(usable.unwrap(), 1);
}

/// A storm of problems is one transaction of the state after the other. A sign-in waits for the one under
/// way, and perhaps for the next, not for the storm's end.
#[test]
fn a_storm_of_transactions_lets_others_in() {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    let (_dir, db) = sqlite();
    let (transactions, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let waited = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                let write: DbResult<()> = db.write_state(|_| {
                    transactions.fetch_add(1, Ordering::SeqCst);
                    std::thread::sleep(Duration::from_millis(2));
                    Ok(())
                });
                write.unwrap();
            }
        });
        let mut waited: Vec<usize> = (0..25)
            .map(|_| {
                let before = transactions.load(Ordering::SeqCst);
                let write: DbResult<usize> =
                    db.write_state(|_| Ok(transactions.load(Ordering::SeqCst) - before));
                write.unwrap()
            })
            .collect();
        is_over.store(true, Ordering::SeqCst);
        waited.sort_unstable();
        waited
    });
    // Some may have been interrupted on their way to the lock.
    assert!(waited[waited.len() / 2] <= 2, "{waited:?}");
}

#[test]
fn rows_are_found_by_what_tells_them_apart() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(dir.path().join("config.db"));
    drop(Db::open(location.clone()).unwrap());
    let db = Db::open(location).unwrap();
    let noted = db.read(|c| c.query("SELECT idx FROM main.sqlite_stat1", &[])).unwrap();
    assert_eq!(noted.len(), 11, "once each");
    let plan = |sql: &str| {
        let rows = db.read(|c| c.query(&format!("EXPLAIN QUERY PLAN {sql}"), &[])).unwrap();
        rows.iter().map(|row| row.text("detail").to_owned()).collect::<Vec<_>>()
    };
    for (sql, index) in [
        ("SELECT name FROM items WHERE hostid = 5 AND templateid = 0", "items_hostid_key_"),
        ("SELECT name FROM hosts WHERE kind = 0 AND host = 'a'", "hosts_host"),
        ("SELECT status FROM alerts WHERE p_eventid = 0 AND eventid IN (1, 2)", "alerts_eventid"),
        // Alone they still find rows.
        ("SELECT name FROM items WHERE templateid = 7", "items_templateid"),
        ("SELECT name FROM hosts WHERE kind = 1", "hosts_kind"),
    ] {
        let plan = plan(sql);
        assert!(plan.iter().any(|step| step.contains(&format!(" INDEX {index} "))), "{plan:?}");
    }
}
