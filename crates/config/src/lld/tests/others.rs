//! What others change between two transactions of a discovery.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, OnceLock, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use super::*;

type Change = std::boxed::Box<dyn FnOnce(&mut Edit<'_>) -> Result<(), LinkError> + Send>;

/// Makes a change on another thread after a transaction of the thread that discovers, which waits until
/// the change is made (the lock of changes has to be free), not until it is on the disk.
struct Others {
    config: OnceLock<Weak<Config>>,
    /// Transactions until the change, and the change.
    plan: Mutex<Option<(usize, Change)>>,
    made: Mutex<Receiver<()>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Others {
    fn boxed(more: More<'_>) -> (Box, Arc<Self>) {
        let (made, receiver) = sync_channel(1);
        let (plan, thread) = (Mutex::default(), Mutex::default());
        let config = OnceLock::new();
        let others = Arc::new(Self { config, plan, made: Mutex::new(receiver), thread });
        let hook = Arc::clone(&others);
        let b = Box::with_sync(
            more,
            Arc::new(move |file: &File| {
                hook.transaction_ended();
                file.sync_data()
            }),
        );
        others.config.set(Arc::downgrade(&b.config)).unwrap();
        let me = std::thread::current().id();
        b.config.subscribe(std::boxed::Box::new(move |_, _| {
            if std::thread::current().id() != me {
                let _ = made.try_send(());
            }
        }));
        (b, others)
    }

    /// `change` is made after this number of transactions from now.
    fn after(
        &self,
        transactions: usize,
        change: impl FnOnce(&mut Edit<'_>) -> Result<(), LinkError> + Send + 'static,
    ) {
        *self.plan.lock().unwrap() = Some((transactions, std::boxed::Box::new(change)));
    }

    fn transaction_ended(&self) {
        let mut plan = self.plan.lock().unwrap();
        let Some((transactions, change)) = plan.take() else { return };
        if transactions > 1 {
            *plan = Some((transactions - 1, change));
            return;
        }
        drop(plan);
        let config = self.config.get().unwrap().upgrade().unwrap();
        let thread = std::thread::spawn(move || config.write(change).unwrap());
        *self.thread.lock().unwrap() = Some(thread);
        let made = self.made.lock().unwrap().recv_timeout(Duration::from_secs(60));
        made.expect("the lock of changes is free");
    }

    /// Waits for the other thread, which has to have made its change.
    fn end(&self) {
        self.thread.lock().unwrap().take().expect("the change was made").join().unwrap();
    }
}

/// `a` to `f`, so that each row is a window of its own.
fn six() -> String {
    rows("a b c d e f")
}

/// A rule that makes an item, one that depends on it and a trigger, in windows of a row.
fn boxed() -> (Box, Arc<Others>) {
    let (b, others) = Others::boxed(&[
        ("lifetime_type", Value::from(0)),
        ("lifetime", "1h".into()),
        ("enabled_lifetime_type", Value::from(2)),
    ]);
    b.config.set_portion(3);
    let master = b.item("k[{#N}]", &[]);
    b.item("d[{#N}]", &[("type", Value::from(18)), ("master_itemid", master.into())]);
    b.trigger("t {#N}", "last(/h/k[{#N}])=0", &[], &[]);
    (b, others)
}

/// Changes prototypes.
fn units(units: &'static str) -> impl FnOnce(&mut Edit<'_>) -> Result<(), LinkError> + Send {
    move |edit| {
        let prototypes = [("flags", &[Value::from(2)][..])];
        Ok(edit.update_rows(&table::ITEMS, &prototypes, &[("units", units.into())])?)
    }
}

const UNITS: &str = "SELECT DISTINCT units AS v FROM items WHERE flags = 4";

#[test]
fn another_change_is_made_between_two_windows() {
    let (b, others) = boxed();
    let order = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&order);
    b.config.subscribe(std::boxed::Box::new(move |_, touched| {
        let mut order = seen.lock().unwrap();
        order.push((touched.hosts.len(), touched.items.len() + touched.triggers.len()));
    }));
    others.after(2, |edit| {
        let row = [("host", "other".into()), ("name", "other".into()), ("kind", Value::from(0))];
        edit.insert_new(&table::HOSTS, &row)?;
        Ok(())
    });
    let summary = b.discover(&six());
    others.end();
    assert_eq!((summary.created.items, summary.created.triggers), (12, 6));
    let (window, host) = ((0, 3), (1, 0));
    let expected = [window, window, host, window, window, window, window];
    assert_eq!(*order.lock().unwrap(), expected);
    b.stays(&six());
}

#[test]
fn a_prototype_changed_between_windows_counts_for_all_rows() {
    let (b, others) = boxed();
    others.after(2, units("B"));
    let summary = b.discover(&six());
    others.end();
    assert_eq!(b.shown(UNITS), "B");
    // Two rows were made before the change and changed after it.
    assert_eq!((summary.created.items, summary.updated.items), (12, 4));
    assert_eq!((summary.created.triggers, summary.updated.triggers), (6, 0));
    b.stays(&six());
}

#[test]
fn a_prototype_deleted_between_windows_makes_no_more_items() {
    let (b, others) = boxed();
    let id = b.of("d[{#N}]", "itemid").parse().unwrap();
    others.after(2, move |edit| Ok(delete_items(edit, &[id])?));
    let summary = b.discover(&six());
    others.end();
    assert_eq!(b.keys(), "k[a]|k[b]|k[c]|k[d]|k[e]|k[f]");
    assert_eq!((summary.created.items, summary.created.triggers), (2 * 2 + 4, 6));
    b.stays(&six());
}

#[test]
fn a_rule_deleted_between_windows_ends_the_turn() {
    let (b, others) = boxed();
    let rule = b.rule;
    others.after(2, move |edit| Ok(delete_items(edit, &[rule])?));
    let summary = b.discover_at(&six(), 1_000);
    others.end();
    assert_eq!((summary.supported, &*summary.error), (false, ""));
    assert_eq!(b.shown("SELECT key_ AS v FROM items"), "");
}

#[test]
fn an_item_deleted_between_windows_is_made_again() {
    let (b, others) = boxed();
    b.discover(&six());
    b.edit(units("B"));
    let id: u64 = b.of("k[e]", "itemid").parse().unwrap();
    others.after(2, move |edit| Ok(delete_items(edit, &[id])?));
    let summary = b.discover(&six());
    others.end();
    assert_eq!((summary.created.items, summary.updated.items), (2, 10));
    assert_eq!(summary.created.triggers, 1);
    assert_eq!(b.keys().split('|').count(), 12);
    assert!(b.of("k[e]", "itemid").parse::<u64>().unwrap() > id);
    b.stays(&six());
}

#[test]
fn an_item_deleted_after_its_window_is_made_by_the_next_value() {
    let (b, others) = boxed();
    b.discover(&six());
    b.edit(units("B"));
    let id: u64 = b.of("k[a]", "itemid").parse().unwrap();
    others.after(2, move |edit| Ok(delete_items(edit, &[id])?));
    assert_eq!(b.discover(&six()).updated.items, 12);
    others.end();
    let summary = b.discover(&six());
    assert_eq!((summary.created.items, summary.created.triggers), (2, 1));
    b.stays(&six());
}

#[test]
fn a_lost_object_is_decided_about_as_it_is_now() {
    let (b, others) = boxed();
    b.discover(&six());
    // Dependent items first, by descending ids: those of rows f to b. Then the masters.
    let id: u64 = b.of("k[b]", "itemid").parse().unwrap();
    others
        .after(1, move |edit| Ok(edit.update(&table::ITEMS, id, &[("status", Value::from(1))])?));
    let summary = b.discover_at(&rows("a"), 2_000);
    others.end();
    assert_eq!((summary.lost.items, summary.lost.triggers), (10, 5));
    let by_discovery = "SELECT i.key_ AS v FROM items i JOIN item_discovery d \
                        ON d.itemid = i.itemid WHERE d.disable_source = 0 AND i.status = 1";
    assert_eq!(b.shown(by_discovery), "k[b]", "it stays disabled when it is found again");
}

#[test]
fn a_rule_changed_again_and_again_leaves_lost_objects_alone() {
    let hook: Arc<OnceLock<std::boxed::Box<dyn Fn() + Send + Sync>>> = Arc::default();
    let called = Arc::clone(&hook);
    let b = Box::with_sync(
        &[("lifetime_type", Value::from(2))],
        Arc::new(move |_: &File| {
            called.get().into_iter().for_each(|hook| hook());
            Ok(())
        }),
    );
    b.config.set_portion(1);
    b.item("k[{#N}]", &[]);
    b.discover(&rows("lost"));
    // A separate connection records no changes, so the test tells the memory that objects have changed.
    let (path, config) = (b.dir.path().join("c.db"), Arc::downgrade(&b.config));
    let changes = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&changes);
    let change = move || {
        let n = counted.fetch_add(1, Ordering::SeqCst);
        if n < 3 {
            let sql = format!("UPDATE items SET units = 'n{n}' WHERE flags = 2");
            rusqlite::Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
            config.upgrade().unwrap().lld().objects_changed();
        }
    };
    assert!(hook.set(std::boxed::Box::new(change)).is_ok());
    let summary = b.discover(&six());
    assert_eq!((summary.created.items, summary.updated.items, summary.deleted.items), (1, 2, 0));
    assert_eq!((changes.load(Ordering::SeqCst), b.keys()), (3, "k[a]|k[lost]".to_owned()));
    let summary = b.discover(&six());
    assert_eq!((summary.created.items, summary.updated.items, summary.deleted.items), (5, 1, 1));
    assert_eq!((b.keys(), b.shown(UNITS)), ("k[a]|k[b]|k[c]|k[d]|k[e]|k[f]".into(), "n2".into()));
    b.stays(&six());
}
