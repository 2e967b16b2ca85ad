//! Databases of earlier versions.

use std::path::Path;

use super::*;
use crate::db::{Db, Location, Value};

/// What version [`TOGETHER`] had and today's configuration does not: the state among its tables.
const TOGETHER_AGAIN: &str = "\
    ALTER TABLE triggers ADD COLUMN value BIGINT NOT NULL DEFAULT 0;
    ALTER TABLE triggers ADD COLUMN lastchange BIGINT NOT NULL DEFAULT 0;
    ALTER TABLE triggers ADD COLUMN state BIGINT NOT NULL DEFAULT 0;
    ALTER TABLE triggers ADD COLUMN error TEXT NOT NULL DEFAULT '';
    CREATE INDEX triggers_value ON triggers (value);
    ALTER TABLE tokens ADD COLUMN lastaccess BIGINT NOT NULL DEFAULT 0;
    ALTER TABLE users DROP COLUMN session_epoch;
    CREATE TABLE sessions (digest TEXT NOT NULL DEFAULT '',
      userid BIGINT NOT NULL DEFAULT 0 REFERENCES users (userid) ON DELETE CASCADE,
      created BIGINT NOT NULL DEFAULT 0, lastaccess BIGINT NOT NULL DEFAULT 0,
      status BIGINT NOT NULL DEFAULT 0, secret TEXT NOT NULL DEFAULT '', PRIMARY KEY (digest));
    CREATE TABLE event_suppress (
      eventid BIGINT NOT NULL DEFAULT 0 REFERENCES events (eventid) ON DELETE CASCADE,
      maintenanceid BIGINT NOT NULL DEFAULT 0
        REFERENCES maintenances (maintenanceid) ON DELETE CASCADE,
      suppress_until BIGINT NOT NULL DEFAULT 0, PRIMARY KEY (eventid, maintenanceid));";

/// Some state of that version, and objects that it is about.
const STATE: &str = "\
    INSERT INTO roles (roleid, name, rules) VALUES (1, 'r', '{}');
    INSERT INTO users (userid, username) VALUES (1, 'u');
    INSERT INTO triggers (triggerid, value, lastchange) VALUES (5, 1, 700);
    INSERT INTO triggers (triggerid, state, error) VALUES (6, 1, 'no value');
    INSERT INTO triggers (triggerid) VALUES (7);
    INSERT INTO events (eventid, objectid, value, clock, name) VALUES (10000, 5, 1, 700, 'p');
    INSERT INTO event_tags (eventtagid, eventid, tag) VALUES (10000, 10000, 't');
    INSERT INTO problems (eventid, objectid, clock) VALUES (10000, 5, 700);
    INSERT INTO acknowledges (acknowledgeid, eventid, message) VALUES (10000, 10000, 'seen');
    INSERT INTO maintenances (maintenanceid, name) VALUES (2, 'm');
    INSERT INTO event_suppress (eventid, maintenanceid) VALUES (10000, 2);
    INSERT INTO sessions (digest, userid, lastaccess) VALUES ('d', 1, 690);
    INSERT INTO tokens (tokenid, userid, lastaccess) VALUES (3, 1, 650);
    INSERT INTO ids (name, next) VALUES ('events', 10001), ('event_tags', 10001), ('hosts', 10050);
    INSERT INTO settings (name, value) VALUES ('findings_written', '699');";

/// A database of `version` in `dir`, and what `sql` makes of it.
fn older(dir: &Path, version: i64, sql: &str) -> Location {
    let path = dir.join("config.db");
    drop(Db::open(Location::Sqlite(path.clone())).unwrap());
    for log in ["config-state.db", "config-state.db-wal", "config-state.db-shm"] {
        std::fs::remove_file(dir.join(log)).unwrap();
    }
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(TOGETHER_AGAIN).unwrap();
    for name in ["events", "event_tags", "problems", "acknowledges"] {
        connection.execute_batch(&Table::named(name).create()).unwrap();
    }
    let version = format!(
        "DELETE FROM schema_version; INSERT INTO schema_version (version) VALUES ({version});"
    );
    connection.execute_batch(&(version + sql)).unwrap();
    Location::Sqlite(path)
}

fn shown(db: &Db, sql: &str) -> Vec<String> {
    let rows = db.read(|c| c.query(sql, &[])).unwrap();
    let text = |row: &crate::db::Row| {
        row.iter().map(|(_, value)| value.to_string()).collect::<Vec<_>>().join(" ")
    };
    rows.iter().map(text).collect()
}

#[test]
fn an_older_database_gets_the_new_tables() {
    let dir = tempfile::tempdir().unwrap();
    let location = older(
        dir.path(),
        1,
        "DROP TABLE group_prototypes; DROP TABLE action_conditions; DROP TABLE event_suppress;",
    );
    let db = Db::open(location).unwrap();
    let work = |c: &mut dyn Connection| {
        c.execute("INSERT INTO hosts (hostid, host) VALUES (1, 'h')", &[])?;
        c.execute("INSERT INTO group_prototypes (group_prototypeid, hostid) VALUES (1, 1)", &[])?;
        c.execute("DELETE FROM hosts", &[])?;
        c.query("SELECT * FROM group_prototypes", &[])
    };
    assert!(db.write(work).unwrap().is_empty(), "goes with its host");
    for table in ["action_conditions", "event_suppress"] {
        assert!(shown(&db, &format!("SELECT * FROM {table}")).is_empty());
    }
}

#[test]
fn databases_of_all_versions_get_the_first_rows() {
    for version in [1, 4, TOGETHER, SEPARATE, 16, 17, VERSION - 1] {
        let dir = tempfile::tempdir().unwrap();
        let location = match version < SEPARATE {
            true => {
                let first = if version == 1 { "DROP TABLE group_prototypes;" } else { "" };
                older(dir.path(), version, &format!("{first} {}", without_alerting()))
            }
            false => {
                let location = Location::Sqlite(dir.path().join("config.db"));
                drop(Db::open(location.clone()).unwrap());
                let sql = format!(
                    "DELETE FROM schema_version; \
                     INSERT INTO schema_version (version) VALUES ({version});"
                );
                let file = rusqlite::Connection::open(dir.path().join("config.db")).unwrap();
                file.execute_batch(&sql).unwrap();
                location
            }
        };
        let db = Db::open(location).unwrap();
        let count = |table: &str| shown(&db, &format!("SELECT COUNT(*) FROM {table}"));
        assert_eq!(count("images"), ["187"], "version {version}");
        let types = if version < 17 { "2" } else { "0" };
        assert_eq!(count("media_types"), [types], "version {version}");
        let kept = "SELECT value FROM settings WHERE name = 'hk_events_service'";
        assert_eq!(shown(&db, kept), ["365d"], "version {version}");
    }
}

#[test]
fn migration_keeps_which_templates_discovery_linked() {
    let dir = tempfile::tempdir().unwrap();
    let rows = "INSERT INTO hosts (hostid, flags) VALUES (2, 4), (3, 0); \
                INSERT INTO host_templates (hostid, templateid) VALUES (2, 9), (3, 9);";
    let db = Db::open(older(dir.path(), 3, rows)).unwrap();
    assert_eq!(shown(&db, "SELECT link_type FROM host_templates ORDER BY hostid"), ["1", "0"]);
}

/// All that is moved, read through a connection that sees both parts.
fn check_moved(db: &Db) {
    for (sql, expected) in [
        (
            "SELECT triggerid, value, lastchange, state, error FROM trigger_states ORDER BY triggerid",
            &["5 1 700 0 ", "6 0 0 1 no value"][..],
        ),
        (
            "SELECT e.name, p.objectid, t.tag, a.message, s.maintenanceid FROM events e \
          JOIN problems p ON p.eventid = e.eventid JOIN event_tags t ON t.eventid = e.eventid \
          JOIN acknowledges a ON a.eventid = e.eventid JOIN event_suppress s ON s.eventid = e.eventid",
            &["p 5 t seen 2"],
        ),
        (
            "SELECT s.digest, s.lastaccess FROM sessions s JOIN users u ON u.userid = s.userid \
          WHERE s.epoch >= u.session_epoch",
            &["d 690"],
        ),
        ("SELECT tokenid, lastaccess FROM token_accesses", &["3 650"]),
        ("SELECT name, next FROM state_ids ORDER BY name", &["event_tags 10001", "events 10001"]),
        ("SELECT name FROM ids", &["hosts"]),
        ("SELECT name, value FROM state_settings", &["findings_written 699"]),
        ("SELECT name FROM settings WHERE name = 'findings_written'", &[]),
    ] {
        assert_eq!(shown(db, sql), expected, "{sql}");
    }
}

#[test]
fn the_state_moves_out_of_an_older_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let location = older(dir.path(), TOGETHER, STATE);
    check_moved(&Db::open(location.clone()).unwrap());
    check_moved(&Db::open(location).unwrap());
}

#[test]
fn databases_of_the_versions_before_get_new_indexes() {
    const INDEXES: [&str; 2] =
        ["problems_r_eventid_source_object_eventid", "triggers_priority_triggerid_status_flags"];
    let dir = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(dir.path().join("config.db"));
    drop(Db::open(location.clone()).unwrap());
    let files = ["config-state.db", "config.db"].map(|name| dir.path().join(name));
    let tables = [("state_version", 1), ("schema_version", 6)];
    let narrow = ["CREATE INDEX events_clock ON events (clock);", ""];
    for (((file, index), (table, version)), old) in
        files.iter().zip(INDEXES).zip(tables).zip(narrow)
    {
        let sql = format!(
            "DROP INDEX {index}; {old} DELETE FROM {table}; INSERT INTO {table} (version) VALUES ({version});"
        );
        rusqlite::Connection::open(file).unwrap().execute_batch(&sql).unwrap();
    }
    let db = Db::open(location).unwrap();
    let of = |schema: &str| {
        format!(
            "SELECT name FROM {schema}.sqlite_master WHERE name IN ('{}', '{}')",
            INDEXES[0], INDEXES[1]
        )
    };
    assert_eq!(shown(&db, &of("state")), [INDEXES[0]]);
    assert_eq!(shown(&db, &of("main")), [INDEXES[1]]);
    let of_time = "SELECT name FROM state.sqlite_master WHERE name LIKE 'events_clock%'";
    assert_eq!(shown(&db, of_time), ["events_clock_eventid_source_object_value_severity_objectid"]);
    assert_eq!(shown(&db, "SELECT MAX(version) FROM schema_version"), ["19"]);
    assert_eq!(shown(&db, "SELECT MAX(version) FROM state_version"), ["7"]);
}

#[test]
fn triggers_get_an_index_on_their_description() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(dir.path().join("config.db"));
    drop(Db::open(location.clone()).unwrap());
    let sql = format!(
        "DROP INDEX triggers_description; ALTER TABLE virtualservices DROP COLUMN cache; {} \
         DELETE FROM schema_version; INSERT INTO schema_version (version) VALUES (13);",
        without_placement()
    );
    let file = rusqlite::Connection::open(dir.path().join("config.db")).unwrap();
    file.execute_batch(&sql).unwrap();
    drop(file);
    let db = Db::open(location).unwrap();
    let index = "SELECT name FROM main.sqlite_master WHERE name = 'triggers_description'";
    assert_eq!(shown(&db, index), ["triggers_description"]);
    assert_eq!(shown(&db, "SELECT MAX(version) FROM schema_version"), ["19"]);
}

#[test]
fn databases_of_the_version_before_get_the_load_balancer() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(dir.path().join("config.db"));
    drop(Db::open(location.clone()).unwrap());
    for (file, tables, version, number) in [
        (
            "config.db",
            "pool_servers pools virtualservice_tags engine_certificates",
            "schema_version",
            8,
        ),
        ("config-state.db", "engine_states", "state_version", 2),
    ] {
        let drops = tables.split(' ').map(|table| format!("DROP TABLE {table};"));
        let sql = format!(
            "{} DELETE FROM {version}; INSERT INTO {version} (version) VALUES ({number});",
            drops.collect::<String>()
        );
        rusqlite::Connection::open(dir.path().join(file)).unwrap().execute_batch(&sql).unwrap();
    }
    let db = Db::open(location).unwrap();
    for table in ["pool_servers", "virtualservice_tags", "engine_certificates", "engine_states"] {
        assert!(shown(&db, &format!("SELECT * FROM {table}")).is_empty());
    }
}

#[test]
fn objects_of_the_load_balancer_get_new_columns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.db");
    drop(Db::open(Location::Sqlite(path.clone())).unwrap());
    let older = |sql: &str, version| {
        let sql = format!(
            "{sql} DELETE FROM schema_version; INSERT INTO schema_version (version) VALUES ({version});"
        );
        rusqlite::Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
        Db::open(Location::Sqlite(path.clone())).unwrap()
    };
    let version_11 = "ALTER TABLE healthmonitors DROP COLUMN script; \
                      ALTER TABLE healthmonitors DROP COLUMN trigger_filter; \
                      ALTER TABLE pools DROP COLUMN min_monitors; \
                      ALTER TABLE pools DROP COLUMN host_maintenance; DROP TABLE pool_monitors; \
                      ALTER TABLE virtualservices DROP COLUMN authentication; \
                      ALTER TABLE virtualservices DROP COLUMN compression; \
                      ALTER TABLE virtualservices DROP COLUMN mirror; \
                      ALTER TABLE virtualservices DROP COLUMN cache; \
                      ALTER TABLE certificates DROP COLUMN acme; \
                      ALTER TABLE certificates DROP COLUMN requested_at; \
                      ALTER TABLE engine_certificates DROP COLUMN next_fingerprint;";
    let version_10 = "ALTER TABLE healthmonitors DROP COLUMN udp; \
                      ALTER TABLE healthmonitors DROP COLUMN dns; \
                      ALTER TABLE pools DROP COLUMN slow_start; DROP INDEX virtualservices_poolgroupid; \
                      ALTER TABLE virtualservices DROP COLUMN poolgroupid; \
                      DROP TABLE pool_group_members; DROP TABLE pool_groups;";
    let first = "ALTER TABLE virtualservices DROP COLUMN rate_limit; \
                 INSERT INTO healthmonitors (healthmonitorid, name) VALUES (1, 'm'); \
                 INSERT INTO virtualservices (virtualserviceid, name) VALUES (1, 'web'); \
                 INSERT INTO pools (poolid, name) VALUES (1, 'app');";
    let version_11 = format!("{version_11} {}", without_placement());
    let version_10 = format!("{version_10} {version_11}");
    let db = older(&format!("{first} {version_10}"), 9);
    assert_eq!(shown(&db, "SELECT name, rate_limit FROM virtualservices"), ["web {}"]);
    assert_eq!(shown(&db, "SELECT name, udp, dns FROM healthmonitors"), ["m {} {}"]);
    assert_eq!(shown(&db, "SELECT name, slow_start FROM pools"), ["app "]);
    drop(db);
    let db = older(&version_10, 10);
    assert_eq!(shown(&db, "SELECT name, slow_start FROM pools"), ["app "]);
    drop(db);
    let db = older(&version_11, 11);
    let pools = "SELECT name, min_monitors, host_maintenance FROM pools";
    assert_eq!(shown(&db, pools), ["app 0 ignore"]);
    assert_eq!(shown(&db, "SELECT script, trigger_filter FROM healthmonitors"), ["{} {}"]);
    assert!(shown(&db, "SELECT * FROM pool_monitors").is_empty());
    let columns = "SELECT name, authentication, compression FROM virtualservices";
    assert_eq!(shown(&db, columns), ["web {} {}"]);
    drop(db);
    let version_15 = without_placement();
    let version_14 = format!("ALTER TABLE virtualservices DROP COLUMN cache; {version_15}");
    let db = older(&format!("ALTER TABLE virtualservices DROP COLUMN mirror; {version_14}"), 12);
    assert_eq!(shown(&db, "SELECT name, mirror FROM virtualservices"), ["web {}"]);
    drop(db);
    let db = older(&version_14, 14);
    assert_eq!(shown(&db, "SELECT name, cache FROM virtualservices"), ["web {}"]);
    drop(db);
    let group = "INSERT INTO enginegroups (enginegroupid, name) VALUES (1, 'edge');";
    let db = older(&format!("{version_15} {group}"), 15);
    let columns = "SELECT name, ha_mode, failover_after, announce FROM enginegroups";
    assert_eq!(shown(&db, columns), ["edge 0 3 {}"]);
}

/// Removes what version 16 added.
fn without_placement() -> String {
    let groups = "ha_mode placement engines_per_vip spare_engines vips_per_engine rebalance \
                  failover_after announce";
    let of_groups = groups.split_whitespace().map(|column| ("enginegroups", column));
    let columns = of_groups.chain([("engines", "drain")]);
    columns.map(|(table, column)| format!("ALTER TABLE {table} DROP COLUMN {column};")).collect()
}

/// Removes what version 17 added to the configuration, and adds what it removed.
fn without_alerting() -> String {
    let tables = "media_type_messages media_type_params media media_types";
    let drops: String =
        tables.split_whitespace().map(|table| format!("DROP TABLE {table};")).collect();
    let columns = "esc_period esc_step_from esc_step_to evaltype recovery";
    let columns: String = columns
        .split_whitespace()
        .map(|column| format!("ALTER TABLE operations DROP COLUMN {column};"))
        .collect();
    format!("{drops} {columns} ALTER TABLE users ADD COLUMN medias TEXT NOT NULL DEFAULT '';")
}

#[test]
fn media_of_users_get_a_table_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.db");
    let location = Location::Sqlite(path.clone());
    drop(Db::open(location.clone()).unwrap());
    let medias = r#"[{"mediaid":"5","mediatypeid":"1","sendto":["a@b.c","O''Hara <o@b.c>"],"active":"1",
        "severity":"7","period":"1-5,09:00-18:00"},{"mediaid":"6","mediatypeid":"3","sendto":"+49"}]"#;
    let older = without_alerting();
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute_batch(&format!(
            "{older} INSERT INTO roles (roleid, name) VALUES (1, 'r'); \
             INSERT INTO users (userid, username, medias) VALUES (1, 'u', '{medias}'), (2, 'v', ''); \
             INSERT INTO actions (actionid, name) VALUES (1, 'a'); \
             INSERT INTO operations (operationid, actionid, operationtype) VALUES (1, 1, 2); \
             DELETE FROM schema_version; INSERT INTO schema_version (version) VALUES (16);"
        ))
        .unwrap();
    let db = Db::open(location).unwrap();
    assert_eq!(
        shown(
            &db,
            "SELECT mediaid, userid, mediatypeid, sendto, active, severity, period FROM media"
        ),
        ["5 1 1 a@b.c\nO'Hara <o@b.c> 1 7 1-5,09:00-18:00"],
        "the other was of a media type that did not exist"
    );
    let types = "SELECT mediatypeid, name, status FROM media_types ORDER BY mediatypeid";
    assert_eq!(shown(&db, types), ["1 Email 1", "4 Email (HTML) 1"]);
    let steps =
        "SELECT operationtype, esc_period, esc_step_from, esc_step_to, recovery FROM operations";
    assert_eq!(shown(&db, steps), ["2 0 1 1 0"]);
    assert!(shown(&db, "SELECT * FROM alerts").is_empty());
}

#[test]
fn databases_of_the_version_before_get_what_they_lack() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(dir.path().join("config.db"));
    drop(Db::open(location.clone()).unwrap());
    let sql = "INSERT INTO events (eventid) VALUES (1); \
               INSERT INTO alerts (alertid, eventid, subject) VALUES (5, 1, 'down'); \
               DROP INDEX alerts_bundleid_status_carrierid; DROP INDEX alerts_carrierid; DROP TABLE bundles; \
               ALTER TABLE alerts DROP COLUMN withheld; ALTER TABLE alerts DROP COLUMN carrierid; \
               DELETE FROM state_version; INSERT INTO state_version (version) VALUES (6);";
    let state = rusqlite::Connection::open(dir.path().join("config-state.db")).unwrap();
    state.execute_batch(sql).unwrap();
    drop(state);
    let db = Db::open(location).unwrap();
    let kept = "SELECT alertid, eventid, subject, withheld, carrierid FROM alerts";
    assert_eq!(shown(&db, kept), ["5 1 down 0 0"]);
    let indexes = "SELECT COUNT(*) FROM state.sqlite_master WHERE name LIKE 'alerts_%carrierid'";
    assert_eq!(
        (shown(&db, indexes), shown(&db, "SELECT * FROM bundles").len()),
        (vec!["2".to_owned()], 0)
    );
    assert_eq!(shown(&db, "SELECT MAX(version) FROM state_version"), [STATE_VERSION.to_string()]);
}

#[test]
fn a_crash_while_the_state_moves_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let location = older(dir.path(), TOGETHER, STATE);
    // The state is there; the configuration still has its own.
    let mut state = location.connect_to_state().unwrap();
    migrate_state(state.as_mut(), Before::Together).unwrap();
    drop(state);
    check_moved(&Db::open(location).unwrap());
}

#[test]
fn a_lost_state_is_reported_and_an_empty_one_is_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let location = Location::Sqlite(dir.path().join("config.db"));
    let db = Db::open(location.clone()).unwrap();
    let row = "INSERT INTO roles (roleid, name, rules) VALUES (1, 'r', '{}')";
    db.write(|c| c.execute(row, &[])).unwrap();
    drop(db);
    let path = location.state_file().unwrap();
    std::fs::remove_file(&path).unwrap();
    let lost = Db::open(location.clone()).unwrap_err();
    assert!(matches!(&lost, DbError::StateLost { path: told } if *told == path), "{lost}");
    std::fs::write(&path, "").unwrap();
    let db = Db::open(location).unwrap();
    assert!(shown(&db, "SELECT eventid FROM events").is_empty());
    assert_eq!(shown(&db, "SELECT roleid FROM roles"), [Value::from(1_u64).to_string()]);
}
