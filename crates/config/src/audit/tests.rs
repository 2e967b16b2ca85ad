//! Entries as they are read back.

use super::*;
use crate::snapshot::tests::{author, host, item, open, write};
use crate::table;
use crate::{Config, Edit};

/// Action, type, id, name and details of all entries, in order.
fn entries(config: &Config) -> Vec<String> {
    let sql = "SELECT * FROM auditlog ORDER BY auditid";
    let rows: Vec<Row> = config.read(|connection| connection.query(sql, &[])).unwrap();
    let shown = |row: &Row| {
        let [action, kind, id] = ["action", "resourcetype", "resourceid"].map(|name| row.int(name));
        format!("{action} {kind} {id} {} {}", row.text("resourcename"), row.text("details"))
    };
    rows.iter().map(shown).collect()
}

fn change(config: &Config, work: impl FnOnce(&mut Edit<'_>) -> DbResult<()>) -> Vec<String> {
    let before = entries(config).len();
    config.write_as(author(7), work).unwrap();
    entries(config).split_off(before)
}

#[test]
fn entries_have_values_before_and_after() {
    let (_dir, config) = open();
    let h = write(&config, |edit| host(edit, "h"));
    assert!(entries(&config).is_empty(), "changes without an author are not in it");
    let new = change(&config, |edit| {
        let tag = [("hosttagid", 5.into()), ("hostid", h.into()), ("tag", "t".into())];
        edit.insert(&table::HOST_TAGS, &tag)?;
        edit.update(&table::HOSTS, h, &[("name", "other".into()), ("status", 0.into())])
    });
    let details = r#"{"host.tags[5]":["add"],"host.tags[5].hosttagid":["add","5"],"host.tags[5].tag":["add","t"],"host.name":["update","other","h"]}"#;
    assert_eq!(new, [format!("1 4 {h} h {details}")]);
    let mut id = 0;
    let new = change(&config, |edit| {
        id = item(edit, h, "k", &[])?;
        edit.update(&table::ITEMS, id, &[("units", "B".into())])
    });
    let start =
        format!(r#"0 15 {id} k {{"item.itemid":["add","{id}"],"item.hostid":["add","{h}"]"#);
    let [entry] = &new[..] else { panic!("{new:?}") };
    assert!(entry.starts_with(&start) && entry.contains(r#""item.key_":["add","k"]"#), "{entry}");
    assert!(entry.contains(r#""item.units":["update","B",""]"#), "{entry}");
    assert_eq!(
        change(&config, |edit| edit.delete(&table::ITEMS, "itemid", &[id])),
        [format!("2 15 {id} k ")]
    );
    let nothing =
        change(&config, |edit| edit.update(&table::HOSTS, h, &[("name", "other".into())]));
    assert!(nothing.is_empty(), "{nothing:?}");
}

#[test]
fn secrets_are_not_in_the_log() {
    let (_dir, config) = open();
    let h = write(&config, |edit| host(edit, "h"));
    let all = change(&config, |edit| {
        let secret = [
            ("hostid", h.into()),
            ("macro", "{$S}".into()),
            ("value", "geheim".into()),
            ("type", 1.into()),
        ];
        let id = edit.insert_new(&table::HOSTMACROS, &secret)?;
        edit.update(&table::HOSTMACROS, id, &[("value", "geheim2".into())])?;
        edit.update(&table::HOSTMACROS, id, &[("type", 0.into()), ("value", "plain".into())])?;
        edit.update(&table::HOSTS, h, &[("tls_psk", "geheim".into())])?;
        edit.insert_new(&table::USERS, &[("username", "u".into()), ("passwd", "geheim".into())])?;
        Ok(())
    });
    assert!(!all.concat().contains("geheim") && all.concat().contains("******"), "{all:?}");
    assert!(all.concat().contains(r#"["update","plain","******"]"#), "{all:?}");
}

#[test]
fn what_is_refused_or_inherited_is_not_in_the_log() {
    let (_dir, config) = open();
    let h = write(&config, |edit| host(edit, "h"));
    let new = change(&config, |edit| {
        let refused: DbResult<()> = edit.attempt(|edit| {
            edit.update(&table::HOSTS, h, &[("name", "x".into())])?;
            edit.insert(&table::HOSTS, &[("hostid", h.into())])
        });
        assert!(refused.is_err());
        edit.inheriting(|edit| item(edit, h, "k", &[])).map(drop)
    });
    assert!(new.is_empty(), "{new:?}");
}

#[test]
fn settings_are_in_the_log_under_their_object() {
    let (_dir, config) = open();
    let setting = |name, stored, before, after| {
        let (object, is_secret) = (SettingsObject::Autoregistration, name == "tls_psk");
        Setting { object, name, stored, is_secret, before, after }
    };
    let new = change(&config, |edit| {
        edit.set(&setting("tls_accept", "autoreg_tls_accept", "1", "2"))?;
        edit.set(&setting("tls_psk", "autoreg_tls_psk", "", "geheim"))
    });
    let details = r#"{"autoregistration.tls_accept":["update","2","1"],"autoregistration.tls_psk":["update","******",""]}"#;
    assert_eq!(new, [format!("1 38 1  {details}")]);
    let settings = config.snapshot().settings.autoregistration.clone();
    assert_eq!((settings.accept, &*settings.psk), (2, "geheim"));
}

#[test]
fn changes_of_the_server_are_logged_if_enabled() {
    let (_dir, config) = open();
    let h = write(&config, |edit| host(edit, "h"));
    let add = |author: Author, key: &str| {
        let before = entries(&config).len();
        config.write_as(author, |edit| item(edit, h, key, &[])).unwrap();
        entries(&config).len() - before
    };
    assert_eq!(add(Author::system(1_700_000_000), "a"), 1);
    let sql = "SELECT userid, username, ip FROM auditlog";
    let rows = config.read(|connection| connection.query(sql, &[])).unwrap();
    let by = (rows[0].id("userid"), rows[0].text("username"), rows[0].text("ip"));
    assert_eq!(by, (0, "System", ""));
    let off = [("name", "auditlog_mode".into()), ("value", "0".into())];
    write(&config, |edit| edit.insert(&table::SETTINGS, &off));
    assert_eq!(add(Author::system(1_700_000_000), "b"), 0);
    assert_eq!(add(author(7), "c"), 1);
}

#[test]
fn values_of_many_rows_are_in_the_log() {
    let (_dir, config) = open();
    let h = write(&config, |edit| host(edit, "h"));
    let (a, b) = write(&config, |edit| Ok((item(edit, h, "a", &[])?, item(edit, h, "b", &[])?)));
    let new = change(&config, |edit| {
        edit.update_each(&table::ITEMS, "units", &[(b, "B".into()), (a, "".into())])
    });
    assert_eq!(new, [format!(r#"1 15 {b} b {{"item.units":["update","B",""]}}"#)]);
}

#[test]
fn ids_have_the_form_of_the_reference_and_sort_by_time() {
    let mut ids = Vec::new();
    for at_s in [1_700_000_000, 1_700_000_001] {
        let mut more = Cuids::new(at_s);
        ids.extend((0..100).map(|_| more.next().unwrap()));
    }
    assert!(ids.iter().all(|id| id.len() == 25 && id.starts_with('c')), "{ids:?}");
    assert!(ids[0] < ids[199]);
    assert!(ids.iter().collect::<std::collections::BTreeSet<_>>().len() == ids.len());
}

#[test]
fn the_last_value_counts_and_stays_at_the_place_of_the_first() {
    let (_dir, config) = open();
    let h = write(&config, |edit| host(edit, "h"));
    let tag = |value: &str| {
        let (h, value) = (Value::from(h), Value::from(value));
        [("hosttagid", 5.into()), ("hostid", h), ("tag", "a\"\\\u{1}é\0".into()), ("value", value)]
    };
    let new = change(&config, |edit| {
        edit.update(&table::HOSTS, h, &[("name", "one".into())])?;
        edit.attempt(|edit| edit.insert(&table::HOST_TAGS, &tag("x")))?;
        edit.delete(&table::HOST_TAGS, "hosttagid", &[5])?;
        edit.insert(&table::HOST_TAGS, &tag("y"))?;
        edit.update(&table::HOSTS, h, &[("name", "two".into()), ("status", 1.into())])?;
        let columns = ["hostmacroid", "hostid", "macro", "value", "type"];
        let of = |id: u64, name: &str, value: &str, kind: i64| {
            vec![id.into(), h.into(), name.into(), value.into(), kind.into()]
        };
        let rows = [of(1, "{$A}", "open", 0), of(2, "{$B}", "geheim", 1), of(3, "{$C}", "", 1)];
        edit.insert_many(&table::HOSTMACROS, &columns, &rows)
    });
    let details = r#"{"host.name":["update","two","one"],"host.tags[5]":["add"],"host.tags[5].hosttagid":["add","5"],"host.tags[5].tag":["add","a\"\\\u0001é\u0000"],"host.tags[5].value":["add","y"],"host.status":["update","1","0"],"host.macros[1]":["add"],"host.macros[1].hostmacroid":["add","1"],"host.macros[1].macro":["add","{$A}"],"host.macros[1].value":["add","open"],"host.macros[2]":["add"],"host.macros[2].hostmacroid":["add","2"],"host.macros[2].macro":["add","{$B}"],"host.macros[2].value":["add","******"],"host.macros[2].type":["add","1"],"host.macros[3]":["add"],"host.macros[3].hostmacroid":["add","3"],"host.macros[3].macro":["add","{$C}"],"host.macros[3].type":["add","1"]}"#;
    assert_eq!(new, [format!("1 4 {h} h {details}")]);
}

#[test]
fn a_large_transaction_hides_no_object() {
    let (_dir, config) = open();
    let (h, other) = write(&config, |edit| Ok((host(edit, "h")?, host(edit, "other")?)));
    let mut id = 0;
    let new = change(&config, |edit| {
        let columns = ["hosttagid", "hostid", "tag", "value"];
        let tag = |n: u64| vec![n.into(), h.into(), "t".into(), n.to_string().into()];
        let tags: Vec<_> = (1..=ROWS_MAX as u64).map(tag).collect();
        edit.insert_many(&table::HOST_TAGS, &columns, &tags)?;
        id = item(edit, h, "k", &[])?;
        let one = [("hosttagid", 0.into()), ("hostid", other.into()), ("tag", "t".into())];
        edit.insert(&table::HOST_TAGS, &one)
    });
    let [tags, item, member] = &new[..] else { panic!("{}", new.len()) };
    assert!(tags.starts_with(&format!("1 4 {h} h {{")) && tags.contains("truncated"));
    let cut = r#"{"truncated":["update","1","0"]}"#;
    assert_eq!(*item, format!("0 15 {id} k {cut}"));
    assert_eq!(*member, format!("1 4 {other} other {cut}"));
}
