//! Deletions while positions move, positions that a crash or a backup set back, slow stores, and
//! numbers that are none.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use history::spool::Policy;
use history::{Driver, Kinds, Span};
use model::{ItemId, Sample, SampleValue, Trend, TrendValues};

use crate::world::{Fake, ITEMS, Mood, NOW, POISON, World, Written};
use crate::world::{check, policy, sample, wait_for, write};

/// The store has what the embedded engine has, no more and no less.
fn check_embedded(world: &mut World, fake: &Fake, what: &str) {
    for item in 0..ITEMS {
        let view = world.of(item).view(&[ItemId(item)], Span::ALL);
        let embedded = view.samples(ItemId(item), Kinds::VALUES).unwrap();
        assert_eq!(fake.samples(item), embedded, "{what}: item {item}");
    }
}

/// Of two shards the second one owns item 3.
const ITEM: u64 = 3;

#[test]
fn a_late_deletion_of_a_shard_deletes_nothing_of_the_owner() {
    for (first, second) in [(1, 0), (0, 1)] {
        let dir = tempfile::tempdir().unwrap();
        let fake = Fake::new();
        let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
        let mut written = Written::new();
        write(&mut world, 0..5, &mut written);
        world.drivers[first].clear(&[ItemId(ITEM)]).unwrap();
        // All waits until the other shard could have told it.
        world.wait();
        write(&mut world, 5..9, &mut written);
        world.wait();
        world.drivers[second].clear(&[ItemId(ITEM)]).unwrap();
        write(&mut world, 9..12, &mut written);
        world.wait();
        let left = if first == 1 { 5 } else { 9 };
        written.get_mut(&ITEM).unwrap().drain(..left);
        check(&fake, &written, "late");
        check_embedded(&mut world, &fake, "late");
    }
}

#[test]
fn old_deletion_of_another_log_deletes_nothing() {
    for restarts in [0, 1] {
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::start(dir.path(), 2, &[], u64::MAX, policy());
        let mut written = Written::new();
        write(&mut world, 0..5, &mut written);
        world.drivers.iter_mut().for_each(|driver| driver.clear(&[ItemId(ITEM)]).unwrap());
        // The log of the owner forgets it; that of the other shard does not.
        world.of(ITEM).flush().unwrap();
        write(&mut world, 5..9, &mut written);
        drop(world);
        let fake = Fake::new();
        let start = || World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
        let mut world = start();
        for _ in 0..restarts {
            wait_for("rows are in the store", || fake.samples(ITEM).len() == 4);
            drop(world);
            world = start();
        }
        world.wait();
        assert_eq!(fake.samples(ITEM), written[&ITEM][5..], "{restarts} restarts");
    }
}

#[test]
fn waiting_deletion_outlives_a_change_of_shards() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let mut written = Written::new();
    let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
    write(&mut world, 0..5, &mut written);
    world.wait();
    fake.set(Mood::Away);
    write(&mut world, 5..9, &mut written);
    world.drivers.iter_mut().for_each(|driver| driver.clear(&[ItemId(ITEM)]).unwrap());
    for number in 0..2 {
        drop(world);
        // The item has another owner, whose log is new.
        world = World::start(dir.path(), 4, &[&fake], u64::MAX, policy());
        write(&mut world, 9 + number..10 + number, &mut written);
    }
    fake.set(Mood::Well);
    world.wait();
    written.get_mut(&ITEM).unwrap().drain(..9);
    check(&fake, &written, "all that came behind it");
    check_embedded(&mut world, &fake, "all that came behind it");
}

/// Items of which the file of deletions tells.
fn remembered(dir: &Path) -> usize {
    let text = std::fs::read_to_string(dir.join("stores/fake-1.deletions")).unwrap();
    text.lines().count() - 2
}

#[test]
fn a_late_deletion_of_a_shard_is_remembered_across_restarts() {
    // What the owner has written since is in the store when the server ends, or waits as well.
    for (rows_wait, restarts) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
        let what = format!("rows wait: {rows_wait}, {restarts} restarts");
        let dir = tempfile::tempdir().unwrap();
        let fake = Fake::new();
        let start = || World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
        let mut world = start();
        let mut written = Written::new();
        write(&mut world, 0..5, &mut written);
        world.drivers[1].clear(&[ItemId(ITEM)]).unwrap();
        world.wait();
        if !rows_wait {
            write(&mut world, 5..9, &mut written);
            world.wait();
        }
        // The other shard tells it, and the store does not hear it before the server ends.
        fake.set(Mood::Away);
        world.drivers[0].clear(&[ItemId(ITEM)]).unwrap();
        write(&mut world, 9..12, &mut written);
        for _ in 0..restarts {
            drop(world);
            world = start();
        }
        assert_eq!(remembered(dir.path()), 1, "{what}");
        fake.set(Mood::Well);
        world.wait();
        written.get_mut(&ITEM).unwrap().drain(..5);
        check(&fake, &written, &what);
        check_embedded(&mut world, &fake, &what);
        // When all of the former process is read, there is nothing to remember any more.
        write(&mut world, 12..15, &mut written);
        world.wait();
        drop(world);
        assert_eq!(remembered(dir.path()), 0, "{what}");
    }
}

#[test]
fn deletions_keep_their_place_over_failures_and_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let mut written = Written::new();
    for round in 0..6u32 {
        let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
        fake.set(if round % 3 == 0 { Mood::Away } else { Mood::Moody });
        for step in 0..4 {
            let first = round * 40 + step * 10;
            write(&mut world, first..first + 10, &mut written);
            let items = [ItemId(u64::from(round + step) % ITEMS), ItemId(9)];
            world.drivers.iter_mut().for_each(|driver| driver.clear(&items).unwrap());
        }
        // The server ends while the store is anywhere.
        if round % 2 == 0 {
            wait_for("some of it", || world.reading(0).written > 0 || round % 3 == 0);
        }
    }
    fake.set(Mood::Well);
    let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
    world.wait();
    check_embedded(&mut world, &fake, "in the end");
    assert_eq!((fake.samples(9).len(), world.reading(0).missed), (0, 0));
}

#[test]
fn positions_that_were_set_back_send_again_and_change_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (fake, mut other) = (Fake::new(), Fake::new());
    other.1 = "fake-2";
    // The log keeps everything for the other one.
    other.set(Mood::Away);
    let cursors = dir.path().join("stores/fake-1.cursors");
    let mut before = Vec::new();
    let mut written = Written::new();
    for round in 0..3 {
        let mut world = World::start(dir.path(), 2, &[&fake, &other], u64::MAX, policy());
        for part in 0..2 {
            let first = round * 40 + part * 20;
            write(&mut world, first..first + 20, &mut written);
            wait_for("the first store", || world.reading(0).behind_bytes == 0);
            before.push(std::fs::read(&cursors).unwrap());
            world.drivers.iter_mut().for_each(|d| d.clear(&[ItemId(ITEM)]).unwrap());
        }
        wait_for("the first store", || world.reading(0).behind_bytes == 0);
    }
    for back in before {
        std::fs::write(&cursors, back).unwrap();
        let taken = fake.state().taken;
        let mut world = World::start(dir.path(), 2, &[&fake, &other], u64::MAX, policy());
        wait_for("the first store", || world.reading(0).behind_bytes == 0);
        check_embedded(&mut world, &fake, "again");
        assert_eq!((fake.samples(ITEM).len(), world.reading(0).missed), (0, 0));
        // All but the newest position are before rows that come again.
        let again = fake.state().taken - taken;
        assert!(again % (20 * ITEMS) == 0 && again <= 100 * ITEMS, "{again}");
    }
}

#[test]
fn a_full_store_gets_room_also_while_a_deletion_waits() {
    for deletion in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let fake = Fake::new();
        let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
        let mut written = Written::new();
        write(&mut world, 0..5, &mut written);
        world.wait();
        fake.set(Mood::Full);
        if deletion {
            world.drivers.iter_mut().for_each(|driver| driver.clear(&[ItemId(ITEM)]).unwrap());
            written.get_mut(&ITEM).unwrap().clear();
        }
        write(&mut world, 5..9, &mut written);
        world.wait();
        check(&fake, &written, "there is room again");
    }
}

#[test]
fn a_store_that_is_too_slow_for_batches_gets_smaller_ones() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    fake.set(Mood::Stuck);
    let policy = Policy { part_min: 3, rows_max: 1_000, ..policy() };
    let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy);
    let mut written = Written::new();
    write(&mut world, 0..120, &mut written);
    fake.set(Mood::Slow(7));
    world.wait();
    check(&fake, &written, "in small parts");
    assert!(fake.state().largest <= 7 && world.reading(0).retries > 0);
    // Nothing was sent twice: a part that was taken stays taken.
    assert_eq!(fake.state().taken, 120 * ITEMS);
    fake.set(Mood::Stuck);
    write(&mut world, 120..400, &mut written);
    fake.set(Mood::Well);
    world.wait();
    check(&fake, &written, "well again");
    assert!(fake.state().largest > 7, "parts grow again");
}

#[test]
fn trends_that_are_too_many_or_odd_block_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    fake.set(Mood::Stuck);
    let policy = Policy { part_min: 3, rows_max: 1_000, ..policy() };
    let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy);
    let values = TrendValues::Unsigned { min: 1, avg: 2, max: 3 };
    let trend = |hour: u32, num| Trend { item: ItemId(ITEM), hour: NOW + 3600 * hour, num, values };
    let trends: Vec<Trend> = (0..120).map(|hour| trend(hour, 4)).collect();
    world.of(ITEM).write_trends(&trends).unwrap();
    fake.set(Mood::Slow(7));
    world.wait();
    assert_eq!(fake.trends(ITEM), trends);
    // Nothing was sent twice.
    let taken = fake.state().taken;
    assert!(taken == 120 && fake.state().largest <= 7, "{taken}");
    fake.set(Mood::Well);
    world.of(ITEM).write_trends(&[trend(120, 4), trend(121, POISON), trend(122, 4)]).unwrap();
    world.wait();
    assert_eq!((fake.trends(ITEM).len(), world.reading(0).refused), (122, 1));
    let kept = std::fs::read_to_string(dir.path().join("stores/fake-1.refused")).unwrap();
    let hour = NOW + 3600 * 121;
    assert_eq!(kept, format!("3\t{hour}.000000000\ttrend of 666: 1 2 3\t\"a row is odd\\n\"\n"));
}

#[test]
fn hung_store_stops_no_value_and_takes_no_memory() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    fake.set(Mood::Stuck);
    let policy = Policy { age_max: Duration::ZERO, ..policy() };
    let mut world = World::start(dir.path(), 1, &[&fake], u64::MAX, policy);
    let mut written = Written::new();
    for number in 0..300 {
        // Blocks of ten values, as the test may have one block more than the policy's rows.
        let samples: Vec<Sample> = (0..ITEMS).map(|item| sample(item, number)).collect();
        world.drivers[0].write(&samples).unwrap();
        samples.into_iter().for_each(|s| written.entry(s.item.0).or_default().push(s));
        let in_hand = world.reading(0).in_hand;
        assert!(in_hand <= 3 * (40 + ITEMS), "{in_hand}");
    }
    wait_for("the feeder has what it may have", || world.reading(0).in_hand >= 40);
    assert_eq!(world.reading(0).written, 0);
    fake.set(Mood::Well);
    world.wait();
    check(&fake, &written, "all");
    assert_eq!(world.reading(0).in_hand, 0);
}

#[test]
fn a_log_that_cannot_be_read_is_passed_and_holds_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    fake.set(Mood::Away);
    let policy = Policy { unreadable: Duration::from_millis(50), ..policy() };
    let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy);
    let mut written = Written::new();
    write(&mut world, 0..60, &mut written);
    world.drivers.iter_mut().for_each(|driver| driver.flush().unwrap());
    // The feeder has not come so far.
    let file = std::fs::OpenOptions::new().write(true).open(dir.path().join("shard-0/3.spool"));
    file.unwrap().set_len(0).unwrap();
    // The other shard owns the item.
    world.drivers.iter_mut().for_each(|driver| driver.clear(&[ItemId(ITEM)]).unwrap());
    write(&mut world, 60..70, &mut written);
    fake.set(Mood::Well);
    world.wait();
    assert_eq!(world.reading(0).missed, 2, "header and rows");
    assert_eq!(fake.samples(ITEM), written[&ITEM][60..]);
    for (item, rows) in written.iter().filter(|(item, _)| **item != ITEM) {
        let arrived = fake.samples(*item);
        if item % 2 == 1 {
            assert_eq!(arrived, *rows, "another log");
        } else {
            assert!(arrived.len() >= 50 && arrived.len() < 70, "{}", arrived.len());
            assert_eq!((&arrived[..10], arrived.last()), (&rows[..10], rows.last()));
        }
    }
}

#[test]
fn a_server_that_stops_does_not_wait_for_a_store() {
    for deletion in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let fake = Fake::new();
        let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
        let mut written = Written::new();
        write(&mut world, 0..5, &mut written);
        world.wait();
        fake.set(Mood::Stuck);
        let before = fake.waits();
        if deletion {
            world.drivers.iter_mut().for_each(|driver| driver.clear(&[ItemId(ITEM)]).unwrap());
            written.get_mut(&ITEM).unwrap().clear();
        }
        write(&mut world, 5..9, &mut written);
        wait_for("a call that does not come back", || fake.waits() > before);
        let feeds = std::mem::take(&mut world.feeds);
        let gauges = Arc::clone(feeds[0].gauges());
        history::spool::end(feeds, Duration::from_millis(50));
        assert!(Arc::strong_count(&gauges) > 1, "the call has come back");
        fake.set(Mood::Well);
        wait_for("the threads end", || Arc::strong_count(&gauges) == 1);
        assert!(gauges.read().behind_bytes > 0, "it has remembered something");
        drop(world);
        let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
        world.wait();
        check(&fake, &written, "after the next start");
    }
}

#[test]
fn what_is_copied_to_a_store_that_is_named_again_stays_there() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let mut written = Written::new();
    let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
    write(&mut world, 0..10, &mut written);
    world.wait();
    drop(world);
    let mut world = World::start(dir.path(), 2, &[], u64::MAX, policy());
    for driver in &mut world.drivers {
        driver.clear(&[ItemId(ITEM)]).unwrap();
        // The log has nothing of that any more.
        driver.flush().unwrap();
    }
    drop(world);
    // As the command that copies does.
    let (stores, mut copier) = (dir.path().join("stores"), fake.clone());
    assert_eq!(history::spool::owed(&stores, "fake-1").unwrap(), 1);
    fake.set(Mood::Away);
    assert!(history::spool::before_copy(&stores, &fake).is_err());
    fake.set(Mood::Well);
    history::spool::before_copy(&stores, &fake).unwrap();
    assert_eq!(history::spool::owed(&stores, "fake-1").unwrap(), 0);
    assert!(fake.samples(ITEM).is_empty());
    copier.write(&[sample(ITEM, 7)]).unwrap();
    let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
    world.wait();
    assert_eq!(fake.samples(ITEM), [sample(ITEM, 7)]);
}

#[test]
fn what_is_copied_to_a_new_store_outlives_old_deletions() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let mut written = Written::new();
    let mut other = Fake::new();
    other.1 = "fake-2";
    let mut world = World::start(dir.path(), 2, &[&other], u64::MAX, policy());
    world.drivers.iter_mut().for_each(|driver| driver.clear(&[ItemId(ITEM)]).unwrap());
    write(&mut world, 0..10, &mut written);
    world.wait();
    // The log of the owner goes on; the other one tells of the deletion as long as it has this file.
    world.of(ITEM).flush().unwrap();
    world.wait();
    drop(world);
    let (stores, mut copier) = (dir.path().join("stores"), fake.clone());
    history::spool::before_copy(&stores, &fake).unwrap();
    copier.write(&written[&ITEM]).unwrap();
    let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
    world.wait();
    assert_eq!(fake.samples(ITEM), written[&ITEM]);
    // What is deleted from now on is news.
    world.sim.advance(Duration::from_secs(1));
    world.drivers.iter_mut().for_each(|driver| driver.clear(&[ItemId(ITEM)]).unwrap());
    world.wait();
    assert!(fake.samples(ITEM).is_empty());
}

#[test]
fn what_is_no_number_arrives_bit_by_bit() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let mut world = World::start(dir.path(), 1, &[&fake], u64::MAX, policy());
    let bits = [0x7ff8_0000_0000_0001, 0xfff8_0000_dead_beef, 0x7ff0_0000_0000_0000, 1 << 63];
    for (number, &bits) in (0..).zip(&bits) {
        let value = SampleValue::Float(f64::from_bits(bits));
        world.of(1).write(&[Sample { value, ..sample(1, number) }]).unwrap();
    }
    world.wait();
    let bits_of = |sample: &Sample| match sample.value {
        SampleValue::Float(value) => value.to_bits(),
        _ => 0,
    };
    assert_eq!(fake.samples(1).iter().map(bits_of).collect::<Vec<_>>(), bits);
}

#[test]
fn removed_store_misses_rows_and_gets_deletions() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let mut written = Written::new();
    for (round, named, missed) in
        [(0, true, 0), (1, true, 0), (2, false, 0), (3, true, 1), (4, true, 0)]
    {
        let stores: &[&Fake] = if named { &[&fake] } else { &[] };
        // Away at first: what it has to hear waits for it.
        fake.set(if round == 3 { Mood::Away } else { Mood::Well });
        let mut world = World::start(dir.path(), 2, stores, u64::MAX, policy());
        if round == 2 {
            world.drivers.iter_mut().for_each(|driver| driver.clear(&[ItemId(ITEM)]).unwrap());
        }
        write(&mut world, round * 10..round * 10 + 10, &mut written);
        if named {
            assert_eq!(world.reading(0).missed, missed, "round {round}");
        }
        if round == 3 {
            wait_for("it was tried", || world.reading(0).errors > 2);
            drop(world);
            world = World::start(dir.path(), 2, stores, u64::MAX, policy());
            fake.set(Mood::Well);
        }
        if named {
            world.wait();
            // Deleted meanwhile, and not in the log that it read.
            let is_old = |sample: &Sample| round > 2 && sample.at.ns < 30;
            assert!(!fake.samples(ITEM).iter().any(is_old), "round {round}");
            let last = fake.samples(ITEM).len();
            assert_eq!(last, [10, 20, 0, 10, 20][round as usize], "round {round}");
        }
        world.drivers.iter_mut().for_each(|driver| driver.flush().unwrap());
    }
}
