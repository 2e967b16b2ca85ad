//! A directory with segments and a WAL, and what can be read of it after damage.

use std::path::{Path, PathBuf};

use model::{ItemId, Sample, Timestamp};
use stdx::clock::SharedClock;
use tsdb::{Engine, Kinds, Span};

use super::{ITEMS, Model, NOW, open, same, sim_clock, small, trend, value};

pub fn sample(number: u32) -> Sample {
    Sample {
        item: ItemId(u64::from(number) % ITEMS),
        at: Timestamp { clock: NOW - 100 + number, ns: number % 3 },
        value: value(u64::from(number) * 31),
    }
}

/// 60 samples in segments, 20 in the WAL, two trends in each.
pub fn fill(dir: &Path) -> Model {
    let mut model = Model::default();
    let (mut engine, _) = open(dir, small(), &sim_clock());
    for (part, numbers) in [0..60, 60..80].into_iter().enumerate() {
        for number in numbers.step_by(5) {
            let batch: Vec<Sample> = (number..number + 5).map(sample).collect();
            engine.append(&batch).unwrap();
            model.append(&batch);
        }
        let part = part as u64;
        let trends = [trend(1, NOW - NOW % 3600, part), trend(9, NOW - NOW % 3600 - 7200, part)];
        engine.append_trends(&trends).unwrap();
        model.append_trends(&trends);
        if part == 0 {
            engine.flush().unwrap();
        }
    }
    engine.close().unwrap();
    model
}

pub fn files(dir: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        all.filter(|path| path.extension().is_some_and(|e| e == "seg" || e == "wal")).collect();
    files.sort();
    files
}

pub fn reopened(dir: &Path) -> Result<(Engine, tsdb::Recovery), tsdb::Error> {
    Engine::open(dir, small(), sim_clock() as SharedClock)
}

/// Samples that were written and cannot be read; all that can be read was written.
pub fn missing(engine: &Engine, model: &Model) -> Vec<Sample> {
    let items: Vec<ItemId> = (0..ITEMS).map(ItemId).collect();
    let view = engine.view(&items, Span::ALL);
    let mut missing = Vec::new();
    for &item in &items {
        let expected = model.samples_of(item, Span::ALL);
        let got = view.samples(item, Kinds::VALUES).unwrap();
        for got in &got {
            assert!(expected.iter().any(|e| same(e, got)), "{got:?} was never written");
        }
        let is_there = |sample: &Sample| got.iter().any(|got| same(got, sample));
        missing.extend(expected.into_iter().filter(|sample| !is_there(sample)));
        view.trends(item).unwrap();
        let newest = view.newest(item, Kinds::VALUES, 2).unwrap();
        // The newest rows are kept twice, so that they may be there where their block is not.
        let truth =
            |sample: &Sample| model.samples_of(item, Span::ALL).iter().any(|s| same(s, sample));
        assert!(newest.iter().all(truth), "{newest:?}");
        for (left, newest) in got.iter().rev().take(2).zip(&newest) {
            assert!(left.at <= newest.at, "{left:?} is newer than {newest:?}");
        }
        assert!(newest.len() >= got.len().min(2), "{newest:?}");
    }
    missing
}

/// Each missing sample lies in a time range that is reported for its item.
pub fn assert_reported(engine: &Engine, missing: &[Sample], what: &str) {
    let damage = engine.damage().all();
    for sample in missing {
        let covers = |damage: &tsdb::Damage| {
            let in_span = damage.span.is_some_and(|span| span.has(sample.at.clock));
            in_span && damage.may_concern(sample.item)
        };
        assert!(damage.iter().any(covers), "{what}: {sample:?} is not in {damage:#?}");
    }
}
