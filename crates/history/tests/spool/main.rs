//! Feeding a store from the logs of the shards: whatever the store does, everything acknowledged is
//! in it in the end, and as often as it was written.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod corners;
mod world;

use std::sync::Arc;
use std::time::Duration;

use history::spool::{Policy, Spools};
use history::{Driver, Fault, Kinds, Part, Span, Store};
use model::{ItemId, Sample, SampleValue, Timestamp, Trend, TrendValues};

use crate::world::{Fake, ITEMS, Mood, NOW, World, Written};
use crate::world::{check, policy, sample, wait_for, write};

#[test]
fn everything_arrives_whatever_the_store_does() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
    let mut written = Written::new();
    let moods = [Mood::Well, Mood::Away, Mood::Moody, Mood::Liar, Mood::Well];
    for (mood, first) in moods.into_iter().zip((0..).step_by(30)) {
        fake.set(mood);
        write(&mut world, first..first + 30, &mut written);
        if mood == Mood::Away {
            // It has found out, and waits.
            wait_for("an error", || world.reading(0).errors > 2);
            assert!(world.reading(0).behind_bytes > 0 && !world.reading(0).error.is_empty());
        }
    }
    world.wait();
    check(&fake, &written, "in the end");
    let reading = world.reading(0);
    assert_eq!((reading.refused, reading.missed, reading.behind_rows), (0, 0, 0), "{reading:?}");
    assert_eq!(reading.written, 150 * ITEMS);
    assert!(reading.retries > 0 && reading.error.is_empty(), "{reading:?}");
    let state = fake.state();
    assert!(state.largest > 10 && state.largest <= 40 + 60, "batches: {}", state.largest);
}

#[test]
fn a_store_is_given_its_part_and_passes_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    // Items keep their values for as many days as their number says.
    type IsGiven = fn(u64) -> bool;
    let parts: [(&'static str, &str, IsGiven); 4] = [
        ("floats", "types=float", |item| item % 3 == 1),
        ("some", "types=unsigned,text&days=4-6", |item| item % 3 != 1 && (4..=6).contains(&item)),
        ("logs", "types=log", |_| false),
        ("all", "days=-", |_| true),
    ];
    for round in 0..2 {
        let fakes = parts.map(|(name, _, _)| Fake::named(name));
        let stores = fakes.iter().zip(&parts).map(|(fake, (_, settings, _))| {
            let (part, _) = Part::take_from(&format!("fake://?{settings}")).unwrap();
            let keeps = Arc::new(|item: ItemId, _| u16::try_from(item.0).unwrap());
            part.of(Arc::new(fake.clone()), keeps).unwrap()
        });
        let mut world = World::start_with(dir.path(), 2, stores.collect(), u64::MAX, policy());
        let mut written = Written::new();
        write(&mut world, round * 60..round * 60 + 60, &mut written);
        world.wait();
        for (number, ((name, _, is_given), fake)) in parts.iter().zip(&fakes).enumerate() {
            // Of the round before nothing comes again.
            let rows_of = |item| if is_given(item) { written[&item].clone() } else { Vec::new() };
            let own: Written = (0..ITEMS).map(|item| (item, rows_of(item))).collect();
            check(fake, &own, name);
            let rows: usize = own.values().map(Vec::len).sum();
            let reading = world.reading(number);
            assert_eq!((reading.written, reading.missed), (rows as u64, 0), "{name} {reading:?}");
        }
    }
}

#[test]
fn restart_resumes_at_the_mark_with_any_number_of_shards() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let mut written = Written::new();
    for (round, shards) in [(0, 2), (1, 2), (2, 1), (3, 3), (4, 3)] {
        let mut world = World::start(dir.path(), shards, &[&fake], u64::MAX, policy());
        fake.set(if round % 2 == 0 { Mood::Away } else { Mood::Moody });
        write(&mut world, round * 20..round * 20 + 20, &mut written);
        if round == 3 {
            fake.set(Mood::Well);
            world.wait();
            check(&fake, &written, "in between");
        }
    }
    fake.set(Mood::Well);
    let taken = fake.state().taken;
    let mut world = World::start(dir.path(), 3, &[&fake], u64::MAX, policy());
    world.wait();
    check(&fake, &written, "in the end");
    // Only what was not confirmed came again: the last round.
    let again = fake.state().taken - taken;
    assert_eq!(again, 20 * ITEMS);
    assert_eq!(world.reading(0).missed, 0);
}

#[test]
fn rows_refused_by_the_store_are_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let mut world = World::start(dir.path(), 1, &[&fake], u64::MAX, policy());
    let mut written = Written::new();
    for number in 0..60 {
        write(&mut world, number..number + 1, &mut written);
        if number % 20 == 7 {
            let value = SampleValue::Text(format!("poison\t{number}").into());
            let bad = Sample { value, ..sample(2, 1000 + number) };
            world.of(2).write(&[bad]).unwrap();
        }
    }
    world.wait();
    check(&fake, &written, "but the bad ones");
    assert_eq!(world.reading(0).refused, 3);
    let kept = std::fs::read_to_string(dir.path().join("stores/fake-1.refused")).unwrap();
    let lines: Vec<&str> = kept.lines().collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        lines[0],
        format!("2\t{}.000001007\t\"poison\\t7\"\t\"a row is odd\\n\"", NOW + 100)
    );
}

#[test]
fn when_everything_is_refused_the_store_is_blamed() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let policy = Policy { rows_max: 5_000, age_max: Duration::from_secs(1), ..policy() };
    let mut world = World::start(dir.path(), 1, &[&fake], u64::MAX, policy);
    let bad = |number| Sample { value: SampleValue::Text("poison".into()), ..sample(2, number) };
    let batch: Vec<Sample> = (0..3_000).map(bad).collect();
    world.of(2).write(&batch).unwrap();
    wait_for("it is blamed", || world.reading(0).error.contains("too many rows to blame"));
    assert_eq!(world.reading(0).refused, 0);
    assert!(world.reading(0).behind_bytes > 0);
    // Mended, it takes them.
    fake.set(Mood::Moody);
    world.wait();
    assert_eq!(fake.samples(2).len(), 3_000);
}

#[test]
fn trends_and_deletions_keep_their_place_among_values() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let values = TrendValues::Unsigned { min: 1, avg: 2, max: 3 };
    let trend = |item, hour| Trend { item: ItemId(item), hour, num: 4, values };
    let mut written = Written::new();
    fake.set(Mood::Away);
    let mut world = World::start(dir.path(), 3, &[&fake], u64::MAX, policy());
    for round in 0..4 {
        write(&mut world, round * 10..round * 10 + 10, &mut written);
        world.of(3).write_trends(&[trend(3, NOW), trend(3, NOW + 3600)]).unwrap();
        world.of(4).write_trends(&[trend(4, NOW)]).unwrap();
        if round == 2 {
            // As the server does: every shard hears it, at its own time.
            for shard in [2, 0, 1] {
                world.drivers[shard].clear(&[ItemId(3), ItemId(5)]).unwrap();
                world.drivers[shard].clear(&[ItemId(6), ItemId(99)]).unwrap();
                for item in 0..ITEMS {
                    let late = sample(item, 900 + shard as u32);
                    world.of(item).write(&[late]).unwrap();
                }
            }
        }
        if round == 1 {
            drop(world);
            world = World::start(dir.path(), 3, &[&fake], u64::MAX, policy());
        }
    }
    fake.set(Mood::Moody);
    world.wait();
    // What the embedded engine has is what counts.
    for item in 0..ITEMS {
        let view = world.of(item).view(&[ItemId(item)], Span::ALL);
        let embedded = view.samples(ItemId(item), Kinds::VALUES).unwrap();
        assert_eq!(fake.samples(item), embedded, "item {item}");
        assert_eq!(fake.trends(item), view.trends(ItemId(item)).unwrap(), "item {item}");
        let cleared = [3, 5, 6].contains(&item);
        assert_eq!(embedded.len() < 30, cleared, "item {item}: {}", embedded.len());
    }
    assert_eq!(fake.trends(3).len(), 2);
}

#[test]
fn a_deletion_that_one_shard_never_heard_does_not_block() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
    let mut written = Written::new();
    write(&mut world, 0..5, &mut written);
    world.drivers[1].clear(&[ItemId(3)]).unwrap();
    write(&mut world, 5..9, &mut written);
    world.wait();
    written.get_mut(&3).unwrap().drain(..5);
    check(&fake, &written, "cleared");
}

#[test]
fn beyond_its_bound_the_spool_refuses_and_keeps_what_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    fake.set(Mood::Away);
    let mut world = World::start(dir.path(), 1, &[&fake], 8_000, policy());
    let (mut written, mut refused) = (Written::new(), 0);
    for number in 0..300 {
        let sample = sample(0, number);
        match world.of(0).write(std::slice::from_ref(&sample)) {
            Ok(()) => written.entry(0).or_default().push(sample),
            Err(error) => {
                assert!(error.retry && error.fault == Fault::Storage, "{error}");
                assert!(error.message.contains("wait for a history store"), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused > 50 && written[&0].len() > 50, "{refused}");
    assert!(world.reading(0).behind_bytes <= 8_000 + 200);
    fake.set(Mood::Well);
    world.wait();
    write(&mut world, 400..401, &mut written);
    world.wait();
    check(&fake, &written, "all that was acknowledged");
}

#[test]
fn each_store_has_everything_and_a_new_one_gets_what_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let (one, mut two) = (Fake::new(), Fake::new());
    two.1 = "fake-2";
    let mut written = Written::new();
    let mut world = World::start(dir.path(), 2, &[&one], u64::MAX, policy());
    write(&mut world, 0..3, &mut written);
    world.wait();
    drop(world);
    let mut world = World::start(dir.path(), 2, &[&one, &two], u64::MAX, policy());
    two.set(Mood::Away);
    write(&mut world, 3..30, &mut written);
    wait_for("the first one", || world.reading(0).behind_bytes == 0);
    check(&one, &written, "the other is unavailable");
    two.set(Mood::Well);
    world.wait();
    check(&two, &written, "all that was in the log");
    let stores: Vec<Arc<dyn Store>> = vec![Arc::new(one.clone()), Arc::new(one)];
    let error = Spools::open(&dir.path().join("x"), stores, 1).unwrap_err();
    assert!(error.message.contains("named twice"), "{error}");
}

#[test]
fn a_store_is_not_left_while_the_log_has_values_for_it_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (fake, other) = (Fake::new(), Fake::named("other"));
    let mut written = Written::new();
    let mut write_while_away = |numbers: std::ops::Range<u32>| {
        fake.set(Mood::Away);
        let mut world = World::start(dir.path(), 2, &[&fake], u64::MAX, policy());
        write(&mut world, numbers, &mut written);
        world.drivers.iter_mut().for_each(|driver| driver.flush().unwrap());
    };
    let with = |stores: &[&Fake]| {
        let stores = stores.iter().map(|&fake| Arc::new(fake.clone()) as Arc<dyn Store>).collect();
        Spools::open(&dir.path().join("stores"), stores, u64::MAX).map(drop)
    };
    write_while_away(0..30);
    // Before there were values it may have confirmed that.
    drop(std::fs::remove_file(dir.path().join("stores/fake-1.cursors")));
    let error = with(&[]).unwrap_err();
    assert!(error.message.contains("it has got nothing yet"), "{error}");
    fake.set(Mood::Well);
    World::start(dir.path(), 2, &[&fake], u64::MAX, policy()).wait();
    write_while_away(30..60);
    for (stores, remedy) in [(&[][..], ".spool"), (&[&other][..], "fake-1.cursors")] {
        let error = with(stores).unwrap_err();
        assert!(error.message.contains("fake-1") && error.message.contains(remedy), "{error}");
    }
    fake.set(Mood::Well);
    World::start(dir.path(), 2, &[&fake], u64::MAX, policy()).wait();
    check(&fake, &written, "named again");
    with(&[]).unwrap();
}

#[test]
fn the_lag_counts_deletions_and_values_with_future_times() {
    let dir = tempfile::tempdir().unwrap();
    let fake = Fake::new();
    let mut world = World::start(dir.path(), 1, &[&fake], u64::MAX, policy());
    let ahead = Timestamp { clock: u32::MAX - 7, ns: 0 };
    fake.set(Mood::Away);
    world.drivers[0].clear(&[ItemId(3)]).unwrap();
    wait_for("the deletion waits", || world.reading(0).lag_s > 0);
    fake.set(Mood::Well);
    world.wait();
    wait_for("nothing waits", || world.reading(0).lag_s == 0);
    fake.set(Mood::Away);
    world.drivers[0].write(&[Sample { at: ahead, ..sample(3, 1) }]).unwrap();
    wait_for("the value waits", || world.reading(0).lag_s > 0);
}
