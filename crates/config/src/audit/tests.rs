//! Entries as they are read back.

use super::*;
use crate::Config;
use crate::snapshot::tests::{author, host, item, open, write};

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
    assert!(entries(&config).is_empty(), "the server's own changes are not in it");
    let new = change(&config, |edit| {
        let tag = [("hosttagid", 5.into()), ("hostid", h.into()), ("tag", "t".into())];
        edit.insert("host_tags", &tag)?;
        edit.update("hosts", h, &[("name", "other".into()), ("status", 0.into())])
    });
    let details = r#"{"host.tags[5]":["add"],"host.tags[5].hosttagid":["add","5"],"host.tags[5].tag":["add","t"],"host.name":["update","other","h"]}"#;
    assert_eq!(new, [format!("1 4 {h} h {details}")]);
    let mut id = 0;
    let new = change(&config, |edit| {
        id = item(edit, h, "k", &[])?;
        edit.update("items", id, &[("units", "B".into())])
    });
    let start =
        format!(r#"0 15 {id} k {{"item.itemid":["add","{id}"],"item.hostid":["add","{h}"]"#);
    let [entry] = &new[..] else { panic!("{new:?}") };
    assert!(entry.starts_with(&start) && entry.contains(r#""item.key_":["add","k"]"#), "{entry}");
    assert!(entry.contains(r#""item.units":["update","B",""]"#), "{entry}");
    assert_eq!(
        change(&config, |edit| edit.delete("items", "itemid", &[id])),
        [format!("2 15 {id} k ")]
    );
    let nothing = change(&config, |edit| edit.update("hosts", h, &[("name", "other".into())]));
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
        let id = edit.insert_new("hostmacros", &secret)?;
        edit.update("hostmacros", id, &[("value", "geheim2".into())])?;
        edit.update("hostmacros", id, &[("type", 0.into()), ("value", "plain".into())])?;
        edit.update("hosts", h, &[("tls_psk", "geheim".into())])?;
        edit.insert_new("users", &[("username", "u".into()), ("passwd", "geheim".into())])?;
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
            edit.update("hosts", h, &[("name", "x".into())])?;
            edit.insert("hosts", &[("hostid", h.into())])
        });
        assert!(refused.is_err());
        edit.inheriting(|edit| item(edit, h, "k", &[])).map(drop)
    });
    assert!(new.is_empty(), "{new:?}");
}

#[test]
fn ids_have_the_form_of_the_reference_and_sort_by_time() {
    let ids: Vec<String> = (0..200).map(|n| cuid(1_700_000_000 + n / 100).unwrap()).collect();
    assert!(ids.iter().all(|id| id.len() == 25 && id.starts_with('c')), "{ids:?}");
    assert!(ids[0] < ids[199]);
    assert!(ids.iter().collect::<std::collections::BTreeSet<_>>().len() == ids.len());
}
