//! What a seed is about, and what its run did.

use model::{LogMeta, SampleValue};

use crate::model::NUMBERS;
use crate::random::Random;

/// What this seed is about.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub durable: bool,
    pub kills: bool,
    pub power_cuts: bool,
    pub write_errors: bool,
    pub full_disk: bool,
    pub read_errors: bool,
    pub flips: bool,
}

impl Plan {
    pub fn new(random: &mut Random) -> Self {
        let flips = random.one_in(6);
        Self {
            durable: random.one_in(4),
            kills: random.one_in(2),
            power_cuts: random.one_in(3),
            write_errors: random.one_in(2),
            full_disk: random.one_in(2),
            read_errors: random.one_in(4),
            flips,
        }
    }
}

/// What a run did, so that a test can tell that it did something.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    pub acknowledged: u64,
    pub refused: u64,
    pub restarts: u64,
    pub seals: u64,
    pub merges: u64,
    pub injected: u64,
    pub flips: u64,
    pub missing: u64,
    pub hours: u64,
    pub late: u64,
}

/// A value of the sort that the item has.
pub fn value(random: &mut Random, item: u64) -> SampleValue {
    let bits = random.next();
    match item {
        0..4 => SampleValue::Unsigned(bits >> (bits % 60)),
        4..NUMBERS => SampleValue::Float((bits >> 40) as f64 / 100.0),
        8 => SampleValue::Text("y".repeat(usize::try_from(bits % 300).unwrap()).into()),
        9 => {
            let meta = LogMeta { timestamp: 7, source: "s".into(), severity: 1, eventid: 2 };
            SampleValue::Log(Box::new((format!("line {bits}").into(), meta)))
        }
        _ if bits.is_multiple_of(2) => SampleValue::Unsigned(bits >> 8),
        _ => SampleValue::Float(f64::from_bits(bits)),
    }
}
