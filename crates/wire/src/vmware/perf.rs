//! Performance counters and their newest values.

use std::collections::HashMap;

use super::{Node, Reference};

/// What counters there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters {
    /// Numbers by `group/name[rollup]`.
    numbers: HashMap<String, Counter>,
}

/// A counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// Its number in this service.
    pub number: u32,
    /// Values are hundredths of a percent.
    pub percent: bool,
}

impl Counters {
    /// Reads the property `perfCounter` of the performance manager.
    pub fn parse(list: &[Node]) -> Self {
        let counter = |node: &Node| {
            let number = node.text_at("key").parse().ok()?;
            let group = node.text_at("groupInfo.key");
            let name = node.text_at("nameInfo.key");
            let percent = node.text_at("unitInfo.key") == "percent";
            let path = format!("{group}/{name}[{}]", node.text_at("rollupType"));
            Some((path, Counter { number, percent }))
        };
        Self { numbers: list.iter().filter_map(counter).collect() }
    }

    /// The counter at a path.
    pub fn find(&self, path: &str) -> Option<Counter> {
        self.numbers.get(path).copied()
    }
}

/// The newest value of one counter of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sample {
    /// The object.
    pub entity: Reference,
    /// The counter's number.
    pub counter: u32,
    /// A part of the object; empty = all of it.
    pub instance: Box<str>,
    /// As the service gives it; negative values mean that there is none.
    pub value: i64,
}

/// Reads the answer to `QueryPerf`.
pub fn samples(answer: &Node) -> Vec<Sample> {
    let mut out = Vec::new();
    for metric in answer.all("returnval") {
        let Some(entity) = metric.child("entity").map(Reference::of) else { continue };
        for series in metric.all("value") {
            // Of several moments the last one is the newest.
            let newest = series.all("value").last().and_then(|value| value.text.parse().ok());
            let counter = series.text_at("id.counterId").parse().ok();
            if let (Some(value), Some(counter)) = (newest, counter) {
                let instance = series.text_at("id.instance").into();
                out.push(Sample { entity: entity.clone(), counter, instance, value });
            }
        }
    }
    out
}

/// The seconds between two values of an object: of what it measures by itself, else 300, as the
/// service keeps them.
pub fn refresh_rate(answer: &Node) -> Option<u32> {
    let summary = answer.child("returnval")?;
    if summary.text_at("currentSupported") != "true" {
        return None;
    }
    summary.text_at("refreshRate").parse().ok()
}

/// The counters in the answer to `QueryAvailablePerfMetric`.
pub fn available(answer: &Node) -> Vec<u32> {
    let number = |node: &Node| node.text_at("counterId").parse().ok();
    answer.all("returnval").filter_map(number).collect()
}
