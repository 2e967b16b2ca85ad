//! Links of many hosts, and of templates that have many.

use super::super::super::{link_templates, unlink_templates};
use super::*;

impl Box {
    /// A template with an item of this key, a trigger on it, and a host prototype.
    pub(super) fn another(&self, name: &str, key: &str) -> u64 {
        self.config
            .write(|edit| {
                let template = host(edit, name, 1)?;
                let mut rule = item(template, &format!("{name}.rule"));
                rule.columns.push(("flags", Value::from(1)));
                let rule = create_items(edit, &[item(template, key), rule])?[1];
                let columns = vec![("host", "{#N}".into()), ("name", "{#N}".into())];
                create_host_prototype(edit, rule, &columns, &HostPrototypeParts::default())?;
                trigger(edit, name, &format!("last(/{name}/{key})=0"))?;
                Ok::<_, LinkError>(template)
            })
            .unwrap()
    }

    pub(super) fn app(&self) -> u64 {
        self.read("SELECT hostid AS v FROM hosts WHERE host = 'app'")[0].parse().unwrap()
    }

    pub(super) fn link(&self, to: &[u64], template: u64) -> Result<(), LinkError> {
        self.config.write(|edit| link_templates(edit, to, &[template]))
    }

    /// Hosts with an item of this key, with triggers, and with host prototypes.
    pub(super) fn inherited(&self, key: &str) -> [usize; 3] {
        let items = format!(
            "SELECT i.itemid AS v FROM items i JOIN hosts h ON h.hostid = i.hostid \
             WHERE h.kind = 0 AND i.templateid > 0 AND i.key_ = '{key}'"
        );
        let triggers = "SELECT f.triggerid AS v FROM functions f JOIN items i \
                        ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid WHERE h.kind = 0";
        let prototypes = "SELECT d.hostid AS v FROM host_discovery d JOIN items i \
                          ON i.itemid = d.parent_itemid JOIN hosts h ON h.hostid = i.hostid \
                          WHERE h.kind = 0";
        [items.as_str(), triggers, prototypes].map(|sql| self.read(sql).len())
    }

    pub(super) fn links(&self) -> usize {
        self.read("SELECT hostid AS v FROM host_templates").len()
    }

    /// Links `to` while another host is created, which does not wait for the end.
    fn check_between(&self, to: &[u64], template: u64) {
        // The work goes on when the other thread runs.
        let ((begun, changed), once) = (sync_channel(0), Once::new());
        let order = Arc::new(Mutex::new(Vec::new()));
        let (seen, known) = (Arc::clone(&order), self.hosts.clone());
        self.config.subscribe(std::boxed::Box::new(move |_, touched| {
            let items = touched.items.iter().map(|_| "item");
            let hosts = touched.hosts.iter().filter(|host| !known.contains(&host.0));
            seen.lock().unwrap().extend(items.chain(hosts.map(|_| "host")));
            once.call_once(|| begun.send(()).unwrap());
        }));
        let config = &self.config;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                changed.recv().unwrap();
                config.write(|edit| host(edit, "other", 0)).unwrap();
            });
            self.link(to, template).unwrap();
        });
        let order = order.lock().unwrap();
        let at = order.iter().rposition(|what| *what == "host").unwrap();
        let after = order[at..].iter().filter(|what| **what == "item").count();
        assert!(after > 0, "the host waited for the whole work");
        assert_eq!((self.inherited("s"), self.left()), ([200; 3], 0));
    }
}

#[test]
fn another_change_is_made_while_hosts_are_linked() {
    let b = Box::new(200);
    let second = b.another("second", "s");
    b.check_between(&b.hosts, second);
}

#[test]
fn another_change_gets_in_while_many_hosts_are_linked() {
    let b = Box::new(200);
    let second = b.another("second", "s");
    b.check_between(&[b.app()], second);
}

#[test]
fn a_start_completes_links_that_a_crash_has_left() {
    for of_template in [false, true] {
        let b = Box::new(3);
        let second = b.another("second", "s");
        let to = if of_template { vec![b.app()] } else { b.hosts.clone() };
        b.stopped_after_one_host(|edit| link_templates(edit, &to, &[second]));
        assert_eq!(b.inherited("s")[0], 1, "of a template: {of_template}");
        let b = b.start_again();
        assert_eq!((b.inherited("s"), b.left()), ([3; 3], 0), "of a template: {of_template}");
        compare(&b.config, "the hosts have inherited everything");
    }
}

#[test]
fn a_conflict_on_any_host_refuses_the_link() {
    let b = Box::new(3);
    let second = b.another("second", "s");
    let rule = |edit: &mut Edit<'_>| {
        let mut rule = item(b.hosts[2], "s");
        rule.columns.push(("flags", Value::from(1)));
        create_items(edit, &[rule])
    };
    b.config.write(rule).unwrap();
    let before = b.links();
    for to in [b.hosts.clone(), vec![b.app()]] {
        let refused = b.link(&to, second).unwrap_err().to_string();
        assert!(refused.starts_with("Cannot inherit item with key \"s\""), "{refused}");
        assert_eq!((b.links(), b.inherited("s")[0], b.left()), (before, 0, 0));
    }
}

/// Links, unlinking and changes of hosts that have not inherited through an earlier link yet.
#[test]
fn a_second_change_follows_an_unfinished_link() {
    let b = Box::new(3);
    let (second, third) = (b.another("second", "s"), b.another("third", "s"));
    b.stopped_after_one_host(|edit| link_templates(edit, &b.hosts, &[second]));
    for to in [&b.hosts[2..], &b.hosts] {
        let refused = b.link(to, third).unwrap_err().to_string();
        assert!(refused.contains("\"s\""), "{refused}");
    }
    let unlinked = &b.hosts[2..];
    b.config.write(|edit| unlink_templates(edit, unlinked, &[second], false)).unwrap();
    let own = "SELECT h.host AS v FROM items i JOIN hosts h ON h.hostid = i.hostid \
               WHERE i.templateid = 0 AND h.kind = 0 AND i.key_ = 's'";
    assert_eq!(b.read(own), ["h2"]);
    let sql = format!("SELECT itemid AS v FROM items WHERE hostid = {second} AND key_ = 's'");
    let id = b.read(&sql)[0].parse().unwrap();
    let columns = vec![("key_", "new".into())];
    let change = ItemChange { id, columns, ..ItemChange::default() };
    b.config.write(|edit| update_items(edit, &[change])).unwrap();
    let b = b.start_again();
    assert_eq!((b.inherited("new")[0], b.inherited("s")[0], b.left()), (2, 0, 0));
    compare(&b.config, "the hosts have inherited everything");
}
