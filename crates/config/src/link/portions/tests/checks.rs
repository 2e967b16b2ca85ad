//! Hosts that are checked beside the transaction.

use super::*;
use crate::audit::Author;
use crate::sources::Checks;

/// Makes the items of the template in a transaction that is undone; returns what it wants to have checked.
fn asked(b: &Box, keys: &[&str], checks: Checks) -> Checks {
    let mut checks = Some(checks);
    let items: Vec<NewItem> = keys.iter().map(|key| item(b.template, key)).collect();
    let undone = b.config.write(|edit| {
        edit.inheritance.checks = checks.take();
        Checks::begin(edit)?;
        create_items(edit, &items)?;
        checks = edit.inheritance.checks.take();
        Err::<(), _>(LinkError::conflict("undone"))
    });
    assert_eq!(undone.unwrap_err().to_string(), "undone");
    checks.unwrap()
}

/// The same with what was checked, and without being undone.
fn made(b: &Box, keys: &[&str], checks: Checks) -> Result<(), LinkError> {
    let items: Vec<NewItem> = keys.iter().map(|key| item(b.template, key)).collect();
    b.config.write(|edit| {
        edit.inheritance.checks = Some(checks);
        Checks::begin(edit)?;
        create_items(edit, &items)?;
        let checks = edit.inheritance.checks.take().unwrap();
        assert!(!checks.are_asked(), "all hosts are checked");
        Ok(())
    })
}

fn rule(b: &Box, host: u64, key: &str) {
    let mut rule = item(host, key);
    rule.columns.push(("flags", Value::from(1)));
    b.config.write(|edit| create_items(edit, &[rule])).unwrap();
}

#[test]
fn many_hosts_are_checked_beside_the_transaction() {
    let b = Box::new(3);
    let mut checks = asked(&b, &["a"], Checks::default());
    assert!(checks.are_asked());
    assert_eq!(b.read("SELECT itemid AS v FROM items").len(), 0, "nothing is made");
    checks.make(b.config.db(), 1).unwrap();
    made(&b, &["a"], checks).unwrap();
    assert_eq!((b.on_hosts("key_"), b.left()), (vec!["a 3".to_owned()], 0));
}

#[test]
fn a_host_that_changed_since_its_check_is_checked_again() {
    let b = Box::new(3);
    let mut checks = asked(&b, &["a", "taken"], Checks::default());
    checks.make(b.config.db(), 1).unwrap();
    rule(&b, b.hosts[1], "taken");
    let refused = made(&b, &["a", "taken"], checks).unwrap_err().to_string();
    assert!(refused.starts_with("Cannot inherit item with key \"taken\""), "{refused}");
    assert_eq!(b.on_hosts("key_"), ["taken 1"]);
}

#[test]
fn a_host_that_was_linked_since_the_check_is_checked() {
    let b = Box::new(3);
    let mut checks = asked(&b, &["taken"], Checks::default());
    checks.make(b.config.db(), 1).unwrap();
    let new = b.config.write(|edit| host(edit, "new", 0)).unwrap();
    rule(&b, new, "taken");
    let app = b.read("SELECT hostid AS v FROM hosts WHERE host = 'app'")[0].parse().unwrap();
    let link = |edit: &mut Edit<'_>| super::super::super::link_templates(edit, &[new], &[app]);
    b.config.write(link).unwrap();
    let refused = made(&b, &["taken"], checks).unwrap_err().to_string();
    assert!(refused.contains("to host \"new\""), "{refused}");
}

#[test]
fn conflicts_that_exist_before_the_call_refuse_it() {
    let b = Box::new(3);
    rule(&b, b.hosts[2], "taken");
    let author = Author { userid: 1, username: "u".into(), ip: "::1".into(), at_s: 1 };
    let items = [item(b.template, "free"), item(b.template, "taken")];
    let mut rounds = 0;
    let refused = b.config.write_checked_as(author.clone(), |edit| {
        rounds += 1;
        create_items(edit, &items)
    });
    let refused = refused.unwrap_err().to_string();
    assert!(refused.starts_with("Cannot inherit item with key \"taken\""), "{refused}");
    assert_eq!((rounds, b.on_hosts("key_")), (2, vec!["taken 1".to_owned()]));
    b.config.write_checked_as(author, |edit| create_items(edit, &items[..1])).unwrap();
    assert_eq!((b.on_hosts("key_"), b.left()), (vec!["free 3".into(), "taken 1".into()], 0));
    compare(&b.config, "the hosts have inherited everything");
}

#[test]
fn a_rename_in_the_same_transaction_frees_the_key() {
    let b = Box::new(3);
    let id = b.create(&["a"]).unwrap()[0];
    let author = Author { userid: 1, username: "u".into(), ip: "::1".into(), at_s: 1 };
    b.config
        .write_checked_as(author, |edit| {
            let columns = vec![("key_", "b".into())];
            update_items(edit, &[ItemChange { id, columns, ..ItemChange::default() }])?;
            create_items(edit, &[item(b.template, "a")])
        })
        .unwrap();
    assert_eq!((b.on_hosts("key_"), b.left()), (vec!["a 3".to_owned(), "b 3".to_owned()], 0));
    compare(&b.config, "the hosts have inherited everything");
}
