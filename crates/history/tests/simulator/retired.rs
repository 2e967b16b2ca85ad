//! Directories of shards that no longer exist, and a power cut after items were cleared there.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use history::{Driver, Embedded, Options, open_shards};
use model::{ItemId, Sample, SampleValue, Timestamp};
use stdx::clock::{SharedClock, SimClock};

use crate::disk::SimDisk;

const NOW_S: u32 = 1_700_049_600;
const ITEMS: u64 = 6;

/// What makes a deletion safe.
type Settle = fn(&mut Embedded) -> Result<(), history::Error>;

fn open(root: &Path, shards: usize, disk: &SimDisk) -> Vec<Embedded> {
    let options = Options {
        sync_interval: None,
        background: false,
        disk: Arc::new(disk.clone()),
        ..Options::default()
    };
    let clock: SharedClock = SimClock::at(Duration::from_secs(NOW_S.into()));
    open_shards(root, shards, &options, &clock, None).unwrap().0
}

/// Number of items of retired directories, all cleared, that have a value again after a power cut.
fn returned(seed: u64, settle: Settle) -> usize {
    let (folder, disk) = (tempfile::tempdir().unwrap(), SimDisk::new(seed));
    let mut drivers = open(folder.path(), 3, &disk);
    for item in 0..ITEMS {
        let value = SampleValue::Unsigned(item);
        let sample = Sample { item: ItemId(item), at: Timestamp::from_s(NOW_S), value };
        drivers[item as usize % 3].write(&[sample]).unwrap();
    }
    drivers.iter_mut().for_each(|driver| driver.close().unwrap());
    drop(drivers);
    let items: Vec<ItemId> = (0..ITEMS).map(ItemId).collect();
    let with_value = |driver: &Embedded| {
        let retired = items.iter().filter(|item| item.0 % 3 != 0);
        retired.filter(|item| !driver.newest(**item, 1).unwrap().is_empty()).count()
    };
    let mut drivers = open(folder.path(), 1, &disk);
    assert_eq!(with_value(&drivers[0]), 4);
    drivers[0].clear(&items).unwrap();
    settle(&mut drivers[0]).unwrap();
    disk.end_after(1);
    drop(drivers);
    disk.cut_power();
    with_value(&open(folder.path(), 1, &disk)[0])
}

#[test]
fn cleared_items_of_retired_folders_survive_a_power_cut() {
    for seed in 1..=20 {
        assert_eq!(returned(seed, Embedded::sync), 0, "seed {seed}, sync");
        // What a shard does each second: retired engines have no thread that syncs.
        assert_eq!(returned(seed, Embedded::maintain), 0, "seed {seed}, maintenance");
    }
    let unsynced: usize = (1..=20).map(|seed| returned(seed, |_| Ok(()))).sum();
    assert!(unsynced > 0, "the power cut of this test costs what was not synced");
}
