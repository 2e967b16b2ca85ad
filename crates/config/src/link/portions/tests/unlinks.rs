//! Unlinks of many hosts, and of templates that have many.

use super::super::super::{link_templates, unlink_templates};
use super::*;

impl Box {
    fn unlink(&self, from: &[u64], template: u64, clear: bool) {
        self.config.write(|edit| unlink_templates(edit, from, &[template], clear)).unwrap();
    }

    /// Unlinks `from` while another host is created, which does not wait for the end.
    fn check_host_between(&self, from: &[u64], template: u64) {
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
            self.unlink(from, template, true);
        });
        let order = order.lock().unwrap();
        let at = order.iter().rposition(|what| *what == "host").unwrap();
        let after = order[at..].iter().filter(|what| **what == "item").count();
        assert!(after > 0, "the host waited for the whole work");
    }

    /// Items of the key that are the hosts' own.
    fn own(&self, key: &str) -> usize {
        let sql = format!(
            "SELECT i.itemid AS v FROM items i JOIN hosts h ON h.hostid = i.hostid \
             WHERE h.kind = 0 AND i.templateid = 0 AND i.key_ = '{key}'"
        );
        self.read(&sql).len()
    }
}

#[test]
fn another_change_is_made_while_hosts_are_unlinked() {
    let b = Box::new(200);
    let second = b.another("second", "s");
    b.link(&b.hosts, second).unwrap();
    b.check_host_between(&b.hosts, second);
    assert_eq!((b.inherited("s")[0], b.own("s"), b.left()), (0, 0, 0));
    compare(&b.config, "the hosts are unlinked");
}

#[test]
fn what_hosts_keep_of_a_template_is_their_own_at_once() {
    let b = Box::new(3);
    let second = b.another("second", "s");
    b.link(&b.hosts, second).unwrap();
    b.unlink(&b.hosts, second, false);
    assert_eq!((b.inherited("s")[0], b.own("s"), b.left()), (0, 3, 0));
    compare(&b.config, "the hosts are unlinked");
}

#[test]
fn deleted_template_leaves_nothing_on_unlinked_hosts() {
    let b = Box::new(3);
    let second = b.another("second", "s");
    b.link(&b.hosts, second).unwrap();
    b.stopped_after_one_host(|edit| unlink_templates(edit, &b.hosts, &[second], true));
    b.config.write(|edit| delete_hosts(edit, &[second])).unwrap();
    assert_eq!((b.inherited("s")[0], b.own("s")), (0, 0));
    let dangling = "SELECT itemid AS v FROM items WHERE templateid > 0 \
                    AND templateid NOT IN (SELECT itemid FROM items)";
    assert_eq!(b.read(dangling), [""; 0]);
    let b = b.start_again();
    assert_eq!(b.left(), 0);
    compare(&b.config, "the template is deleted");
}

#[test]
fn another_change_gets_in_while_many_hosts_are_unlinked() {
    let b = Box::new(200);
    let second = b.another("second", "s");
    b.link(&[b.app()], second).unwrap();
    assert_eq!(b.inherited("s"), [200; 3]);
    b.check_host_between(&[b.app()], second);
    assert_eq!((b.inherited("s"), b.own("s"), b.left()), ([0; 3], 0, 0));
    assert_eq!(b.read("SELECT itemid AS v FROM items WHERE key_ = 's'").len(), 1, "the template's");
}

#[test]
fn a_start_completes_unlinks_that_a_crash_has_left() {
    for of_template in [false, true] {
        let what = format!("of a template: {of_template}");
        let b = Box::new(3);
        let second = b.another("second", "s");
        let from = if of_template { vec![b.app()] } else { b.hosts.clone() };
        b.link(&from, second).unwrap();
        b.stopped_after_one_host(|edit| unlink_templates(edit, &from, &[second], true));
        assert_eq!(b.inherited("s")[0], 2, "{what}");
        let b = b.start_again();
        assert_eq!((b.inherited("s"), b.own("s"), b.left()), ([0; 3], 0, 0), "{what}");
        compare(&b.config, "the hosts are unlinked");
    }
}

#[test]
fn deleted_objects_are_told_after_each_portion() {
    let b = Box::new(3);
    let second = b.another("second", "s");
    b.link(&b.hosts, second).unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&told);
    b.config.tell_deleted(Arc::new(move |deleted| {
        seen.lock().unwrap().push((deleted.items.len(), deleted.triggers.len()));
    }));
    b.unlink(&b.hosts, second, true);
    assert_eq!(*told.lock().unwrap(), [(2, 1); 3], "an item, a rule and a trigger of each host");
}

/// Changes of hosts that have yet to lose what they inherited.
#[test]
fn a_second_change_follows_an_unfinished_unlink() {
    let b = Box::new(4);
    let (second, third) = (b.another("second", "s"), b.another("third", "s"));
    b.link(&b.hosts, second).unwrap();
    b.stopped_after_one_host(|edit| unlink_templates(edit, &b.hosts, &[second], true));
    // Few hosts: in the transaction of the link.
    b.config.set_portion(5_000);
    b.config
        .write(|edit| {
            link_templates(edit, &b.hosts[3..], &[third])?;
            assert!(edit.inheritance.left.is_none());
            // An item of the host's own with the same key.
            create_items(edit, &[item(b.hosts[2], "s")])
        })
        .unwrap();
    assert_eq!((b.own("s"), b.inherited("s")[0]), (1, 2), "one host has yet to lose its own");
    // Many hosts: after what they lose.
    b.config.set_portion(1);
    b.link(&b.hosts[..2], third).unwrap();
    assert_eq!((b.own("s"), b.inherited("s")[0], b.left()), (1, 3, 0));
    let of = format!(
        "SELECT p.hostid AS v FROM items c JOIN items p ON p.itemid = c.templateid \
         JOIN hosts h ON h.hostid = c.hostid WHERE h.kind = 0 AND p.hostid <> {third}"
    );
    assert_eq!(b.read(&of), [""; 0], "nothing of the template before");
    compare(&b.config, "the hosts have changed the template");
}

#[test]
fn template_is_replaced_by_one_with_the_same_keys() {
    let b = Box::new(3);
    let (second, third) = (b.another("second", "s"), b.another("third", "s"));
    b.link(&b.hosts, second).unwrap();
    b.config
        .write(|edit| {
            unlink_templates(edit, &b.hosts, &[second], true)?;
            link_templates(edit, &b.hosts, &[third])
        })
        .unwrap();
    assert_eq!((b.inherited("s")[0], b.inherited("third.rule")[0], b.left()), (3, 3, 0));
    assert_eq!(b.inherited("second.rule")[0], 0);
    compare(&b.config, "the hosts have changed the template");
}
