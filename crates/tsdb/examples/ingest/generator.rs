//! A workload like that of a monitored estate, the same in every run.
//!
//! 40 % counters (noisy increments), 30 % gauges with two decimals (a random walk that often
//! stands), 15 % states 0/1, 10 % noisy floats with six decimals, 5 % log lines. Stamps have a
//! fixed offset per item and up to 10 ms of jitter, as an asynchronous poller gives.

use model::{ItemId, Sample, SampleValue, Timestamp};

/// The first second.
pub(crate) const START: u32 = 1_700_006_400;

/// Which workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// 450,000 items each 10 s for 4 min.
    A,
    /// 4,500 items each 60 s for 40 h.
    B,
    /// Like A, for an hour: 162 million values.
    L,
}

impl Shape {
    pub(crate) fn parse(word: &str) -> Result<Self, String> {
        match word {
            "A" => Ok(Self::A),
            "B" => Ok(Self::B),
            "L" => Ok(Self::L),
            other => Err(format!("no shape {other}: A, B or L")),
        }
    }

    pub(crate) fn items(self) -> u64 {
        match self {
            Self::A | Self::L => 450_000,
            Self::B => 4_500,
        }
    }

    fn interval(self) -> u32 {
        match self {
            Self::A | Self::L => 10,
            Self::B => 60,
        }
    }

    pub(crate) fn seconds(self) -> u32 {
        match self {
            Self::A => 240,
            Self::B => 144_000,
            Self::L => 3600,
        }
    }

    /// Seconds that make a batch of 45,000 values.
    fn batch_seconds(self) -> u32 {
        match self {
            Self::A | Self::L => 1,
            Self::B => 600,
        }
    }
}

/// The id of the item with this number.
pub(crate) fn item_id(number: u64) -> ItemId {
    ItemId(10_000 + number * 3)
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
    fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }
    /// Between 0 and 1.
    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// What an item measures.
enum Source {
    Counter { value: u64, rate: f64 },
    Gauge { hundredths: i64, step: f64 },
    State(u64),
    Noise { scale: f64 },
    Log,
}

impl Source {
    fn new(random: &mut Random) -> Self {
        match random.below(100) {
            0..40 => {
                let idle = random.fraction() < 0.1;
                let rate = if idle { 0.02 } else { 10f64.powf(random.fraction() * 7.0) };
                let bits = 20 + random.below(20);
                Self::Counter { value: random.below(1 << bits), rate }
            }
            40..70 => Self::Gauge {
                hundredths: random.below(10_000) as i64,
                step: 1.0 + random.fraction() * 20.0,
            },
            70..85 => Self::State(random.below(2)),
            85..95 => Self::Noise { scale: 10f64.powf(random.fraction() * 4.0 - 3.0) },
            _ => Self::Log,
        }
    }

    fn next(&mut self, interval: u32, item: u64, random: &mut Random) -> SampleValue {
        match self {
            Self::Counter { value, rate } => {
                let spread = 0.8 + 0.4 * random.fraction();
                let more = *rate * f64::from(interval) * spread + random.fraction();
                *value = value.wrapping_add(more as u64);
                SampleValue::Unsigned(*value)
            }
            Self::Gauge { hundredths, step } => {
                if random.below(2) == 1 {
                    let move_by = (random.fraction() - 0.5) * 2.0 * *step;
                    *hundredths = (*hundredths + move_by as i64).clamp(0, 10_000);
                }
                SampleValue::Float(*hundredths as f64 / 100.0)
            }
            Self::State(value) => {
                *value ^= u64::from(random.below(1000) == 0);
                SampleValue::Unsigned(*value)
            }
            Self::Noise { scale } => {
                let burst = if random.below(50) == 0 { random.fraction() * 10.0 } else { 0.0 };
                let value = *scale * (0.5 + random.fraction() + burst);
                SampleValue::Float((value * 1e6).round() / 1e6)
            }
            Self::Log => SampleValue::Text(log_line(item, random).into()),
        }
    }
}

fn log_line(item: u64, random: &mut Random) -> String {
    let what = [
        "connection accepted from",
        "session closed for user",
        "disk quota warning on",
        "worker finished job",
        "cache miss for key",
    ];
    let what = what[random.below(5) as usize];
    let (id, ms) = (random.below(1_000_000), random.below(500));
    format!("{what} {} id={id} t={ms}ms", item % 997)
}

struct Item {
    source: Source,
    offset_ns: u32,
}

/// Batches in the order of time.
pub(crate) struct Batches {
    shape: Shape,
    ms: bool,
    second: u32,
    random: Random,
    items: Vec<Item>,
    /// Items by the second of the interval in which they are due, in mixed order.
    due: Vec<Vec<u64>>,
}

impl Batches {
    pub(crate) fn new(shape: Shape, ms: bool) -> Self {
        let mut random = Random(42);
        let mut order: Vec<u64> = (0..shape.items()).collect();
        for place in (1..order.len()).rev() {
            order.swap(place, random.below(place as u64 + 1) as usize);
        }
        let mut due = vec![Vec::new(); shape.interval() as usize];
        for item in order {
            due[(item % u64::from(shape.interval())) as usize].push(item);
        }
        let items = (0..shape.items())
            .map(|_| {
                let offset_ns = random.below(980_000_000) as u32;
                Item { source: Source::new(&mut random), offset_ns }
            })
            .collect();
        Self { shape, ms, second: 0, random, items, due }
    }
}

impl Iterator for Batches {
    type Item = Vec<Sample>;

    fn next(&mut self) -> Option<Vec<Sample>> {
        let mut batch = Vec::with_capacity(45_000);
        for _ in 0..self.shape.batch_seconds() {
            if self.second >= self.shape.seconds() {
                break;
            }
            let now = START + self.second;
            let due = &self.due[(self.second % self.shape.interval()) as usize];
            self.second += 1;
            let first = self.random.below(due.len() as u64) as usize;
            for &number in due[first..].iter().chain(&due[..first]) {
                let item = &mut self.items[number as usize];
                let late = self.random.below(100) == 0;
                let mut ns = item.offset_ns + self.random.below(10_000_000) as u32;
                if self.ms {
                    ns -= ns % 1_000_000;
                }
                let at = Timestamp { clock: now + u32::from(late), ns };
                let value = item.source.next(self.shape.interval(), number, &mut self.random);
                batch.push(Sample { item: item_id(number), at, value });
            }
        }
        (!batch.is_empty()).then_some(batch)
    }
}
