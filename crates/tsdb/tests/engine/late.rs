//! Hours whose trends are expected outlive the process, until the trends are written.

use crate::common::*;
use model::{ItemId, Sample, Timestamp};
use tsdb::TrendHour;

const HOUR: u32 = NOW - NOW % 3600 - 7200;

fn late(item: u64, hours: u32) -> TrendHour {
    TrendHour { item: ItemId(item), hour: HOUR - hours * 3600, unsigned: false }
}

fn sample(item: u64) -> Sample {
    let at = Timestamp { clock: HOUR, ns: 0 };
    Sample { item: ItemId(item), at, value: model::SampleValue::Float(1.0) }
}

#[test]
fn expected_trends_outlive_the_process_and_their_wal() {
    let dir = tempfile::tempdir().unwrap();
    let all = [late(1, 5), late(1, 0), late(2, 0), late(3, 1)];
    let (mut engine, _) = open(dir.path(), small(), &sim_clock());
    engine.expect_trends(&all);
    assert_eq!(engine.expected_trends(), [], "nothing of them is stored");
    engine.append(&[sample(1)]).unwrap();
    assert_eq!(engine.expected_trends(), all);
    for flush in [false, true, true, false] {
        drop(engine);
        engine = open(dir.path(), small(), &sim_clock()).0;
        assert_eq!(engine.expected_trends(), all, "flushed: {flush}");
        if flush {
            engine.append(&[sample(4)]).unwrap();
            engine.flush().unwrap();
        }
    }
    let float = |item, hour| {
        let values = model::TrendValues::Float { min: 1.0, avg: 1.0, max: 1.0 };
        model::Trend { item: ItemId(item), hour, num: 1, values }
    };
    engine.append_trends(&[float(1, HOUR), float(3, HOUR)]).unwrap();
    engine.clear(&[ItemId(2)]).unwrap();
    for _ in 0..3 {
        assert_eq!(engine.expected_trends(), [all[0], all[3]]);
        engine.flush().unwrap();
        drop(engine);
        engine = open(dir.path(), small(), &sim_clock()).0;
    }
    engine.forget_trends(&all);
    engine.append(&[sample(1)]).unwrap();
    engine.flush().unwrap();
    drop(engine);
    let (engine, recovery) = open(dir.path(), small(), &sim_clock());
    assert_eq!(engine.expected_trends(), []);
    assert!(recovery.clean, "{recovery:?}");
    assert_eq!(engine.view(&[ItemId(1)], tsdb::Span::ALL).trends(ItemId(1)).unwrap().len(), 1);
}
