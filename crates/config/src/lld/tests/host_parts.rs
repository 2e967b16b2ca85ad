//! What discovered hosts have, and what of it follows later changes.

use crate::table;
use serde_json::json;

use super::hosts::{boxed, hosts};
use super::*;
use crate::objects::{
    GroupPrototype, HostPrototypeParts, delete_host_prototypes, update_host_prototype,
};

/// Changes the one prototype.
fn prototype(b: &Box, columns: Columns, parts: HostPrototypeParts) {
    b.edit(|e| {
        let id = e.query("SELECT hostid FROM hosts WHERE kind = 2", &[])?[0].id("hostid");
        update_host_prototype(e, id, &columns, &parts).unwrap();
        Ok(())
    });
}

fn one(n: &str, t: &str) -> String {
    json!([{ "{#N}": n, "{#T}": t }]).to_string()
}

const GROUPS: &str = "SELECT g.name AS v FROM groups_ g WHERE g.flags = 4";
const NAMES: &str = "SELECT host || '=' || name AS v FROM hosts WHERE flags = 4";

#[test]
fn names_lose_the_blanks_around() {
    let b = boxed(&[]);
    let columns = vec![("host", "{#N}".into()), ("name", " {#N} {#T}".into())];
    let parts = HostPrototypeParts {
        group_prototypes: Some(vec!["{#T}".into(), "{#T} / {#N}".into()]),
        ..HostPrototypeParts::default()
    };
    prototype(&b, columns, parts);
    b.discover(&one(" \t\r\na\n", " x "));
    assert_eq!(b.shown(NAMES), "a=a\n  x");
    assert_eq!(b.shown(GROUPS), "x|x  /  \t\r\na");
    b.stays(&one(" \t\r\na\n", " x "));
    // A space of another kind is a part of the name.
    b.discover(&one("b", "\u{a0}y"));
    assert!(b.shown(GROUPS).contains("\u{a0}y"), "{}", b.shown(GROUPS));
}

#[test]
fn invalid_names_are_reported() {
    let long = "v".repeat(129);
    for (n, t, word, made) in [
        (" ", "x", "technical name", ""),
        ("a/b", "x", "technical name", ""),
        (long.as_str(), "x", "technical name", ""),
        ("a", " ", "visible name is empty", ""),
        ("a", long.as_str(), "longer than 128", ""),
        ("h", "x", "has its name", ""),
        ("a", "h", "has its name", ""),
        ("a", &long[1..], "", "a"),
    ] {
        let b = boxed(&[]);
        let columns = vec![("host", "{#N}".into()), ("name", "{#T}".into())];
        let parts = HostPrototypeParts {
            group_prototypes: Some(Vec::new()),
            ..HostPrototypeParts::default()
        };
        prototype(&b, columns, parts);
        let error = b.discover_at(&one(n, t), 1_000).error;
        assert!(error.contains(word) && error.is_empty() == word.is_empty(), "{n} {t}: {error}");
        assert_eq!(b.shown("SELECT host AS v FROM hosts WHERE flags = 4"), made, "{n} {t}");
    }
}

#[test]
fn visible_names_are_given_once() {
    let b = boxed(&[]);
    prototype(&b, vec![("name", "{#T}".into())], HostPrototypeParts::default());
    let summary = b.discover_at(&rows("a:x b:x"), 1_000);
    assert!(summary.error.contains("visible name"), "{}", summary.error);
    assert_eq!(b.shown(NAMES), "vm-a=x");
    // Who cannot get a new name keeps the old one.
    b.discover(&rows("a:x b:y"));
    b.new_host("taken", 0);
    let summary = b.discover_at(&rows("a:x b:taken"), 1_000);
    assert!(summary.error.contains("has its name"), "{}", summary.error);
    assert_eq!(b.shown(NAMES), "vm-a=x|vm-b=y");
}

#[test]
fn groups_that_cannot_be_are_left_out() {
    for (name, groups) in [("/x", ""), ("x/", ""), ("x//y", ""), (" ", ""), (" x ", "x")] {
        let b = boxed(&[]);
        let parts = HostPrototypeParts {
            group_prototypes: Some(vec!["{#T}".into()]),
            ..HostPrototypeParts::default()
        };
        prototype(&b, Columns::new(), parts);
        let error = b.discover_at(&one("a", name), 1_000).error;
        assert_eq!(error.is_empty(), !groups.is_empty(), "{name}: {error}");
        assert_eq!(b.shown(GROUPS), groups, "{name}");
        assert_eq!(b.shown(NAMES), "vm-a=Machine a", "{name}");
    }
    let uuid = "SELECT uuid AS v FROM groups_ WHERE flags = 4";
    let b = boxed(&[]);
    b.discover(&rows("a"));
    assert_eq!(b.shown(uuid), "", "only manual groups have one");
}

#[test]
fn tags_that_cannot_be_keep_the_host_away() {
    let long = "x".repeat(256);
    let tag = |tag: &str, value: &str| Tag { tag: tag.into(), value: value.into() };
    for (t, word) in [("", "no name"), (long.as_str(), "longer"), ("vm", "twice"), ("ok", "")] {
        let b = boxed(&[]);
        let parts = HostPrototypeParts {
            group_prototypes: Some(Vec::new()),
            tags: Some(vec![tag("vm", "1"), tag("{#T}", "1")]),
            ..HostPrototypeParts::default()
        };
        prototype(&b, Columns::new(), parts);
        let error = b.discover_at(&one("a", t), 1_000).error;
        assert!(error.contains(word) && error.is_empty() == word.is_empty(), "{t}: {error}");
        let made = if word.is_empty() { "vm-a=Machine a" } else { "" };
        assert_eq!(b.shown(NAMES), made, "{t}");
        // An existing host is not changed.
        b.discover(&one("a", "fine"));
        assert_eq!(b.discover_at(&one("a", t), 1_000).lost.hosts, 0, "{t}");
    }
}

#[test]
fn the_rules_host_hands_on_macros_and_settings() {
    let b = boxed(&[]);
    b.edit(|e| {
        for (name, value) in [("{$HV}", "1"), ("{$VM}", "hidden by the prototype's")] {
            let row = [("hostid", b.host.into()), ("macro", name.into()), ("value", value.into())];
            e.insert_new(&table::HOSTMACROS, &row)?;
        }
        Ok(())
    });
    b.discover(&rows("a"));
    assert!(hosts(&b).contains("vm-a {$HV}1|vm-a {$VM}a;"), "{}", hosts(&b));
    b.stays(&rows("a"));
    b.edit(|e| {
        let of_people = [("macro", &["{$HV}".into()][..]), ("automatic", &[0.into()])];
        e.update_rows(&table::HOSTMACROS, &of_people, &[("value", "2".into())])?;
        let row = [("tls_accept", Value::from(2)), ("ipmi_username", "u".into())];
        Ok(e.update(&table::HOSTS, b.host, &row)?)
    });
    b.discover(&rows("a"));
    assert!(hosts(&b).contains("vm-a {$HV}2|vm-a {$VM}a;"), "{}", hosts(&b));
    let settings = "SELECT tls_accept || ipmi_username AS v FROM hosts WHERE flags = 4";
    assert_eq!(b.shown(settings), "2u");
    b.stays(&rows("a"));
}

#[test]
fn what_people_gave_stays() {
    let b = boxed(&[]);
    b.discover(&rows("a"));
    b.edit(|e| {
        let id = e.query("SELECT hostid FROM hosts WHERE flags = 4", &[])?[0].id("hostid");
        let templates = e.query("SELECT hostid FROM hosts WHERE host = 'U'", &[])?;
        link_templates(e, &[id], &[templates[0].id("hostid")]).unwrap();
        let row = [("automatic", 0.into()), ("value", "mine".into())];
        e.update_rows(&table::HOSTMACROS, &[("hostid", &[id.into()])], &row)?;
        for value in ["a", "mine"] {
            let row = [("hostid", id.into()), ("tag", "vm".into()), ("value", value.into())];
            e.insert_new(&table::HOST_TAGS, &row)?;
        }
        Ok(())
    });
    b.discover(&rows("a:z"));
    let shown = hosts(&b);
    assert!(shown.contains("vm-a is T|vm-a is U; "), "{shown}");
    assert!(shown.contains("; vm-a tag a|vm-a tag mine; vm-a {$VM}mine; "), "{shown}");
    b.stays(&rows("a:z"));
    // A template that goes from the prototype goes from its hosts; the people's stays.
    let parts = HostPrototypeParts { templates: Some(Vec::new()), ..Default::default() };
    prototype(&b, Columns::new(), parts);
    b.discover(&rows("a:z"));
    assert!(hosts(&b).contains("; vm-a is U; "), "{}", hosts(&b));
}

#[test]
fn interfaces_follow_and_items_keep_theirs() {
    let b = boxed(&[]);
    b.discover(&rows("a"));
    let shown = "SELECT i.type || ' ' || i.ip AS v FROM interfaces i JOIN hosts h \
                 ON h.hostid = i.hostid WHERE h.flags = 4";
    let ids = "SELECT i.interfaceid AS v FROM interfaces i JOIN hosts h \
               ON h.hostid = i.hostid WHERE h.flags = 4 AND i.type = 1";
    let agent = b.shown(ids);
    let agents = ("type", &[Value::from(1)][..]);
    let of_host = ("hostid", &[b.host.into()][..]);
    b.edit(|e| Ok(e.update_rows(&table::INTERFACES, &[agents], &[("ip", "10.9.9.9".into())])?));
    b.edit(|e| {
        Ok(e.update_rows(&table::INTERFACES, &[agents, of_host], &[("ip", "10.8.8.8".into())])?)
    });
    b.discover(&rows("a"));
    assert_eq!((b.shown(shown).as_str(), b.shown(ids)), ("1 10.8.8.8|2 10.0.0.2", agent.clone()));
    // Own ones instead: the agent's becomes the first of its type, the other goes.
    let own = vec![vec![
        ("main", Value::from(1)),
        ("type", Value::from(1)),
        ("useip", Value::from(1)),
        ("ip", "{#T}".into()),
        ("port", "1".into()),
    ]];
    let parts = HostPrototypeParts { interfaces: Some(own), ..Default::default() };
    prototype(&b, vec![("custom_interfaces", Value::from(1))], parts);
    b.discover(&rows("a:10.7.7.7"));
    assert_eq!((b.shown(shown).as_str(), b.shown(ids)), ("1 10.7.7.7", agent));
    b.stays(&rows("a:10.7.7.7"));
    // What items use stays, also where it is one too many.
    b.edit(|e| {
        let rows =
            e.query("SELECT interfaceid, hostid FROM interfaces WHERE ip = '10.7.7.7'", &[])?;
        let row = [("interfaceid", Value::from(rows[0].id("interfaceid")))];
        let sql = "SELECT itemid FROM items WHERE hostid = ?";
        let items = e.query(sql, &[rows[0].id("hostid").into()])?;
        Ok(e.update(&table::ITEMS, items[0].id("itemid"), &row)?)
    });
    let parts = HostPrototypeParts { interfaces: Some(Vec::new()), ..Default::default() };
    prototype(&b, Columns::new(), parts);
    assert_eq!(b.discover_at(&rows("a:10.7.7.7"), 1_000).updated.hosts, 0);
    assert_eq!(b.shown(shown), "1 10.7.7.7");
}

#[test]
fn discovered_groups_go_when_nothing_makes_them() {
    let b = boxed(&[("lifetime", "1h".into())]);
    let origins = "SELECT g.name || ' ' || d.name || ' ' || d.status AS v FROM group_discovery d \
                   JOIN groups_ g ON g.groupid = d.groupid";
    b.discover(&rows("a:x b:y"));
    assert_eq!(b.shown(origins), "Of x Of {#T} 0|Of y Of {#T} 0");
    b.stays(&rows("a:x b:y"));
    b.discover_at(&rows("a:x b:x"), 2_000);
    assert_eq!(b.shown(origins), "Of x Of {#T} 0|Of y Of {#T} 1");
    b.discover_at(&rows("a:x b:y"), 3_000);
    assert_eq!(b.shown(origins), "Of x Of {#T} 0|Of y Of {#T} 0");
    b.discover_at(&rows("a:x b:x"), 4_000);
    b.discover_at(&rows("a:x b:x"), 4_000 + 3_600);
    assert_eq!((b.shown(origins).as_str(), b.shown(GROUPS).as_str()), ("Of x Of {#T} 0", "Of x"));
    b.stays(&rows("a:x b:x"));
}

#[test]
fn groups_of_people_are_not_discovered() {
    let b = boxed(&[]);
    b.edit(|e| Ok(e.insert_new(&table::GROUPS, &[("name", "Of mine".into())])?));
    patterns(&b, &[(Some(0), "Of {#T}"), (None, "{#T}")]);
    let told = |name: &str| {
        format!("Cannot discover group: group with the same name \"{name}\" already exists.")
    };
    // By a link of the prototype hosts are in "All" all the same.
    let list = rows("a:x b:mine c:All d:mine");
    let error = b.discover_at(&list, 1_000).error;
    assert_eq!(error, format!("{}\n{}", told("All"), told("Of mine")));
    let members = "SELECT h.host || ' in ' || g.name AS v FROM host_groups hg JOIN hosts h \
                   ON h.hostid = hg.hostid JOIN groups_ g ON g.groupid = hg.groupid \
                   WHERE g.flags = 0";
    assert_eq!(b.shown(members), "vm-a in All|vm-b in All|vm-c in All|vm-d in All");
    assert_eq!(b.shown(GROUPS), "Of All|Of x|mine|x");
    b.stays(&list);
    // A group that becomes manual does not keep its hosts.
    b.edit(|e| {
        Ok(e.update_rows(&table::GROUPS, &[("name", &["x".into()])], &[("flags", 0.into())])?)
    });
    assert!(b.discover_at(&list, 1_000).error.contains(&told("x")));
    assert!(!b.shown(members).contains("vm-a in x"), "{}", b.shown(members));
}

/// Gives the one prototype these patterns: the place of the one that it was, and the name.
fn patterns(b: &Box, wanted: &[(Option<usize>, &str)]) {
    let ids = b.shown("SELECT group_prototypeid AS v FROM group_prototypes WHERE groupid = 0");
    let ids: Vec<u64> = ids.split('|').filter_map(|id| id.parse().ok()).collect();
    let one = |(at, name): &(Option<usize>, &str)| GroupPrototype {
        id: at.map_or(0, |at| ids[at]),
        name: (*name).to_owned(),
    };
    let groups = Some(wanted.iter().map(one).collect());
    prototype(
        b,
        Columns::new(),
        HostPrototypeParts { group_prototypes: groups, ..Default::default() },
    );
}

#[test]
fn discovered_groups_follow_their_patterns() {
    let b = boxed(&[]);
    let ids = "SELECT groupid AS v FROM groups_ WHERE flags = 4";
    let members = "SELECT h.host || ' in ' || g.name AS v FROM host_groups hg \
                   JOIN hosts h ON h.hostid = hg.hostid \
                   JOIN groups_ g ON g.groupid = hg.groupid WHERE g.flags = 4";
    b.discover(&rows("a:x"));
    let before = b.shown(ids);
    patterns(&b, &[(Some(0), "At {#T}")]);
    assert_eq!(b.shown(GROUPS), "Of x", "until the next value");
    b.discover(&rows("a:x"));
    assert_eq!((b.shown(GROUPS).as_str(), b.shown(ids)), ("At x", before.clone()));
    assert_eq!(b.shown(members), "vm-a in At x");
    let snapshot = b.config.snapshot();
    let known = &snapshot.host_by_name("vm-a").unwrap().group_names;
    assert!(known.iter().any(|name| &**name == "At x"), "{known:?}");
    b.stays(&rows("a:x"));
    // By its name alone it is the same one too.
    patterns(&b, &[(None, "At {#T}"), (None, "In {#N}")]);
    b.discover(&rows("a:x"));
    assert_eq!(b.shown(members), "vm-a in At x|vm-a in In a");
    assert!(b.shown(ids).contains(&before));
    // A name that others have, or no group may have, renames nothing.
    b.edit(|e| Ok(e.insert_new(&table::GROUPS, &[("name", "Of mine".into())])?));
    patterns(&b, &[(Some(0), "Of mine{#X}"), (Some(1), "{#N}//{#N}")]);
    let rows = json!([{ "{#N}": "a", "{#T}": "x", "{#X}": "" }]).to_string();
    assert!(b.discover_at(&rows, 1_000).error.contains("a//a"));
    assert_eq!(b.shown(members), "");
    assert_eq!(b.shown("SELECT flags AS v FROM groups_ WHERE name = 'Of mine'"), "0");
    // Both are lost, and empty.
    assert_eq!(b.shown(GROUPS), "At x|In a");
    // Groups of patterns that are gone go at once.
    patterns(&b, &[(Some(0), "Of mine{#X}")]);
    assert_eq!(b.shown(GROUPS), "At x");
}

/// Who may do what with hosts in groups.
const RIGHTS: &str = "SELECT g.name || ' ' || r.usrgrpid || ' ' || r.permission AS v \
    FROM group_rights r JOIN groups_ g ON g.groupid = r.groupid";

#[test]
fn new_groups_have_the_rights_of_the_one_above() {
    let b = boxed(&[]);
    b.edit(|e| {
        for id in [70, 80] {
            e.insert(&table::USERGROUPS, &[("usrgrpid", Value::from(id))])?;
        }
        for (name, rights) in [("A", &[(70, 2), (80, 3)][..]), ("A/B/C", &[(80, 0)])] {
            let group = e.insert_new(&table::GROUPS, &[("name", name.into())])?;
            for (who, what) in rights {
                let row = [
                    ("usrgrpid", Value::from(*who)),
                    ("groupid", group.into()),
                    ("permission", Value::from(*what)),
                ];
                e.insert(&table::GROUP_RIGHTS, &row)?;
            }
        }
        Ok(())
    });
    patterns(&b, &[(Some(0), "{#T}")]);
    // Nobody has rights on D; A/B is as new as what is below it.
    b.discover(&rows("a:A/B b:A/B/D c:A/B/C/D d:D/E e:Other"));
    let people = "A 70 2|A 80 3|A/B 70 2|A/B 80 3|A/B/C 80 0|A/B/C/D 80 0";
    assert_eq!(b.shown(RIGHTS), people);
    // An existing group keeps its permissions.
    b.edit(|e| Ok(e.delete(&table::GROUP_RIGHTS, "usrgrpid", &[70])?));
    b.discover(&rows("a:A/B b:A/B c:A/B/F"));
    assert_eq!(b.shown(RIGHTS), "A 80 3|A/B 80 3|A/B/C 80 0|A/B/C/D 80 0|A/B/F 80 3");
}

#[test]
fn a_group_that_splits_off_keeps_the_rights() {
    let b = boxed(&[]);
    patterns(&b, &[(Some(0), "One {#T}"), (None, "{#U} {#T}")]);
    let rows = json!([{ "{#N}": "a", "{#T}": "x", "{#U}": "One" }]).to_string();
    b.discover(&rows);
    assert_eq!(b.shown(GROUPS), "One x");
    b.edit(|e| {
        e.insert(&table::USERGROUPS, &[("usrgrpid", Value::from(70))])?;
        let group = e.query("SELECT groupid FROM groups_ WHERE flags = 4", &[])?[0].id("groupid");
        let right = [("usrgrpid", 70.into()), ("groupid", group.into()), ("permission", 3.into())];
        Ok(e.insert(&table::GROUP_RIGHTS, &right)?)
    });
    // The second pattern still makes the old group.
    patterns(&b, &[(Some(0), "Two/{#T}"), (Some(1), "{#U} {#T}")]);
    b.discover(&rows);
    assert_eq!(b.shown(RIGHTS), "One x 70 3|Two/x 70 3");
}

#[test]
fn groups_go_with_their_prototype() {
    let b = boxed(&[]);
    b.discover(&rows("a:x b:y c:z"));
    assert_eq!(b.shown(GROUPS), "Of x|Of y|Of z");
    b.new_host("alone", 0);
    b.new_host("two", 0);
    b.edit(|e| {
        for (host, group) in [("alone", "Of x"), ("two", "Of y"), ("two", "All")] {
            let sql = "SELECT h.hostid, g.groupid FROM hosts h, groups_ g \
                       WHERE h.host = ? AND g.name = ?";
            let row = &e.query(sql, &[host.into(), group.into()])?[0];
            let ids = [("hostid", row.id("hostid").into()), ("groupid", row.id("groupid").into())];
            e.insert(&table::HOST_GROUPS, &ids)?;
        }
        let id = e.query("SELECT hostid FROM hosts WHERE kind = 2", &[])?[0].id("hostid");
        Ok(delete_host_prototypes(e, &[id])?)
    });
    assert_eq!(b.shown(GROUPS), "");
    let left = "SELECT h.host || ' in ' || g.name AS v FROM host_groups hg \
                JOIN hosts h ON h.hostid = hg.hostid JOIN groups_ g ON g.groupid = hg.groupid";
    assert_eq!(b.shown(left), "alone in Of x|two in All");
    assert_eq!(b.shown("SELECT groupid AS v FROM group_discovery"), "");
}

#[test]
fn groups_go_with_inherited_patterns() {
    let b = boxed(&[]);
    let template = b.new_host("Above", 1);
    let rule = b.new_rule(template, "inherited", &[]);
    let prototype = b.edit(|e| {
        let all = e.query("SELECT groupid FROM groups_ WHERE name = 'All'", &[])?[0].id("groupid");
        let columns = vec![("host", "t-{#N}".into()), ("name", "t-{#N}".into())];
        let parts = HostPrototypeParts {
            group_links: Some(vec![all]),
            group_prototypes: Some(vec!["First {#T}".into(), "Second {#T}".into()]),
            ..Default::default()
        };
        create_host_prototype(e, rule, &columns, &parts)
    });
    b.edit(|e| link_templates(e, &[b.host], &[template]));
    let rule = b.shown("SELECT itemid AS v FROM items WHERE flags = 1 AND templateid > 0");
    b.discover_rule(rule.parse().unwrap(), &rows("a:x"), 1_000);
    assert_eq!(b.shown(GROUPS), "First x|Second x");
    let patterns = Some(vec!["Second {#T}".into()]);
    let parts = HostPrototypeParts { group_prototypes: patterns, ..Default::default() };
    b.edit(|e| update_host_prototype(e, prototype, &Columns::new(), &parts));
    assert_eq!(b.shown(GROUPS), "Second x");
}

#[test]
fn another_technical_name_renames() {
    let b = boxed(&[("lifetime_type", Value::from(2))]);
    b.discover(&rows("a b"));
    let ids = "SELECT hostid AS v FROM hosts WHERE flags = 4";
    let before = b.shown(ids);
    let columns = vec![("host", "new-{#N}".into())];
    prototype(&b, columns, HostPrototypeParts::default());
    let summary = b.discover(&rows("a b"));
    assert_eq!((summary.created.hosts, summary.updated.hosts), (0, 2));
    assert_eq!(b.shown(NAMES), "new-a=Machine a|new-b=Machine b");
    assert_eq!(b.shown(ids), before);
    b.stays(&rows("a b"));
}
