//! Newest rows of segments: with their pages, without, and with some of each.

use crate::common::*;
use model::{ItemId, Sample, Timestamp};
use std::path::{Path, PathBuf};
use tsdb::Kinds;

const FOOTER: usize = 96;

/// Makes of a segment what releases without newest rows wrote.
fn make_old(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let footer = bytes.len() - FOOTER;
    bytes[footer + 44..footer + 52].fill(0);
    let crc = crc32fast::hash(&bytes[footer..footer + FOOTER - 12]);
    bytes[footer + FOOTER - 12..footer + FOOTER - 8].copy_from_slice(&crc.to_le_bytes());
    std::fs::write(path, bytes).unwrap();
}

fn segments(dir: &Path) -> Vec<PathBuf> {
    let paths = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.to_str().unwrap().ends_with(".seg")).collect();
    paths.sort();
    paths
}

fn batch(first: u64) -> Vec<Sample> {
    let samples = (first..first + 70).map(|seed| {
        // Texts short and long, days back, the end of time; several at one moment.
        let clock = match seed % 11 {
            0 => NOW - DAY,
            1 => NOW - 5,
            2 => u32::MAX,
            3 => 0,
            _ => NOW - 200 + u32::try_from(seed % 190).unwrap(),
        };
        let at = Timestamp { clock, ns: u32::try_from(seed % 3).unwrap() * 1_000_000 };
        Sample { item: ItemId(seed * 7 % ITEMS), at, value: value(seed) }
    });
    samples.collect()
}

#[test]
fn newest_rows_are_the_same_with_and_without_their_pages() {
    let dir = tempfile::tempdir().unwrap();
    let clock = sim_clock();
    let (mut engine, _) = open(dir.path(), small(), &clock);
    let mut model = Model::default();
    for round in 0..6 {
        let samples = batch(round * 70);
        engine.append(&samples).unwrap();
        model.append(&samples);
        engine.append_trends(&[trend(round % ITEMS, NOW - NOW % 3600, round)]).unwrap();
        model.append_trends(&[trend(round % ITEMS, NOW - NOW % 3600, round)]);
        if round == 3 {
            let items = [ItemId(1), ItemId(2)];
            engine.clear(&items).unwrap();
            model.clear(&items);
        }
    }
    engine.flush().unwrap();
    model.check(&engine, "with pages");
    model.check(&engine, "with pages in memory");
    drop(engine);
    let paths = segments(dir.path());
    assert!(paths.len() > 4, "{paths:?}");
    for part in [2, 1] {
        paths.iter().step_by(part).for_each(|path| make_old(path));
        let (engine, recovery) = open(dir.path(), small(), &clock);
        assert!(recovery.set_aside.is_empty());
        model.check(&engine, &format!("one of {part} without"));
    }
}

#[test]
fn one_damaged_byte_in_each_segment_costs_no_newest_value() {
    let dir = tempfile::tempdir().unwrap();
    let clock = sim_clock();
    let (mut engine, _) = open(dir.path(), small(), &clock);
    let mut model = Model::default();
    let samples = batch(0);
    engine.append(&samples).unwrap();
    model.append(&samples);
    engine.flush().unwrap();
    drop(engine);
    let paths = segments(dir.path());
    let whole: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    let items: Vec<ItemId> = (0..ITEMS).map(ItemId).collect();
    let longest = whole.iter().map(Vec::len).max().unwrap();
    let mut damage = 0;
    for at in (0..longest).step_by(7) {
        for (path, bytes) in paths.iter().zip(&whole).filter(|(_, bytes)| at < bytes.len()) {
            let mut bytes = bytes.clone();
            bytes[at] ^= 0x10;
            std::fs::write(path, bytes).unwrap();
        }
        let (engine, _) = open(dir.path(), small(), &clock);
        let newest = engine.view_newest(&items, 2).newest_many(&items, Kinds::VALUES, 2).unwrap();
        for (newest, item) in newest.into_iter().zip(&items) {
            let all = model.samples_of(*item, tsdb::Span::ALL);
            let expected: Vec<Sample> = all.iter().rev().take(2).cloned().collect();
            assert_same(&newest, &expected, &format!("byte {at}"));
        }
        damage = engine.damage().all().len();
        drop(engine);
        for path in std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|extension| extension == "damaged") {
                std::fs::remove_file(path).unwrap();
            }
        }
        paths.iter().zip(&whole).for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
    }
    assert!(damage > 0);
}
