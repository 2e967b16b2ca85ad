//! Random work against a model that is obviously right.

use crate::common::*;
use model::{ItemId, Sample, Timestamp, Trend};
use proptest::prelude::*;
use std::time::Duration;
use tsdb::{Class, Day};

#[derive(Debug, Clone)]
enum Step {
    Append(Vec<Sample>),
    Trends(Vec<Trend>),
    Clear(Vec<ItemId>),
    Flush,
    /// Seconds pass, and background care is taken until it rests.
    Maintain(u64),
    Reopen,
    Drop(Class, Day),
}

fn sample() -> impl Strategy<Value = Sample> {
    // Mostly near `NOW`, so that there are duplicates and late values; some days or years away.
    let clock = prop_oneof![
        8 => NOW - 30..NOW + 30,
        2 => NOW - 3 * DAY..NOW,
        1 => (0u32..40).prop_map(|day| NOW - day * DAY),
        1 => any::<u32>(),
    ];
    let ns = prop_oneof![Just(0), (0u32..3).prop_map(|ms| ms * 1_000_000), 0u32..1_000_000_000];
    (0..ITEMS, clock, ns, any::<u32>()).prop_map(|(item, clock, ns, seed)| Sample {
        item: ItemId(item),
        at: Timestamp { clock, ns },
        value: value(seed.into()),
    })
}

fn step() -> impl Strategy<Value = Step> {
    let trends = (0..ITEMS, 0u32..60, 0u64..9)
        .prop_map(|(item, hour, seed)| trend(item, NOW - NOW % 3600 - hour * 3600, seed));
    let class = prop_oneof![Just(Class(3)), Just(Class(31)), Just(Class(365))];
    prop_oneof![
        8 => prop::collection::vec(sample(), 0..30).prop_map(Step::Append),
        2 => prop::collection::vec(trends, 0..6).prop_map(Step::Trends),
        1 => prop::collection::vec((0..ITEMS).prop_map(ItemId), 0..4).prop_map(Step::Clear),
        1 => Just(Step::Flush),
        2 => (0u64..200_000).prop_map(Step::Maintain),
        1 => Just(Step::Reopen),
        1 => (class, 0u32..5).prop_map(|(class, days)| Step::Drop(class, Day(TODAY - days))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_holds_what_the_model_holds(steps in prop::collection::vec(step(), 1..40)) {
        let dir = tempfile::tempdir().unwrap();
        let clock = sim_clock();
        let (mut engine, _) = open(dir.path(), small(), &clock);
        let mut model = Model::default();
        for (place, step) in steps.iter().enumerate() {
            match step {
                Step::Append(samples) => {
                    let done = engine.append(samples).unwrap();
                    prop_assert_eq!(done.rows, samples.len());
                    model.append(samples);
                }
                Step::Trends(trends) => {
                    engine.append_trends(trends).unwrap();
                    model.append_trends(trends);
                }
                Step::Clear(items) => {
                    engine.clear(items).unwrap();
                    model.clear(items);
                }
                Step::Flush => engine.flush().unwrap(),
                Step::Maintain(seconds) => {
                    clock.advance(Duration::from_secs(*seconds));
                    // Each round ends when the merges it started are taken in.
                    for _ in 0..3 {
                        engine.maintain().unwrap();
                        engine.flush().unwrap();
                    }
                }
                Step::Reopen => {
                    drop(engine);
                    let (opened, recovery) = open(dir.path(), small(), &clock);
                    prop_assert_eq!(recovery.torn_bytes, 0);
                    prop_assert_eq!(recovery.damaged_blocks, 0);
                    engine = opened;
                }
                Step::Drop(class, day) => {
                    // Only sealed days can be dropped; and far stamps share a segment, which
                    // would make the model complicated.
                    engine.flush().unwrap();
                    let far = |s: &Sample| Day::of(s.at.clock).0.abs_diff(TODAY) > 3;
                    if model.samples.values().any(far) {
                        continue;
                    }
                    engine.drop_before(*class, *day);
                    model.drop_before(*class, *day);
                }
            }
            if place % 5 == 0 {
                model.check(&engine, &format!("step {place}"));
            }
        }
        model.check(&engine, "before the end");
        drop(engine);
        let (mut engine, recovery) = open(dir.path(), small(), &clock);
        prop_assert!(recovery.set_aside.is_empty());
        model.check(&engine, "after the end");
        engine.flush().unwrap();
        model.check(&engine, "all sealed");
    }
}
