//! Performance counters and their newest values.

use std::collections::HashMap;

use super::{Node, Reference};

/// What counters there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters {
    /// Numbers by `group/name[rollup]`.
    numbers: HashMap<String, u32>,
}

impl Counters {
    /// Reads the property `perfCounter` of the performance manager.
    pub fn parse(list: &[Node]) -> Self {
        let counter = |node: &Node| {
            let number = node.text_at("key").parse().ok()?;
            let group = node.text_at("groupInfo.key");
            let name = node.text_at("nameInfo.key");
            Some((format!("{group}/{name}[{}]", node.text_at("rollupType")), number))
        };
        Self { numbers: list.iter().filter_map(counter).collect() }
    }

    /// The number of the counter at a path.
    pub fn find(&self, path: &str) -> Option<u32> {
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

/// The seconds between two values of an object, from the answer to `QueryPerfProviderSummary`;
/// `None` = it does not measure by itself.
pub fn refresh_rate(answer: &Node) -> Option<u32> {
    let summary = answer.child("returnval")?;
    if summary.text_at("currentSupported") != "true" {
        return None;
    }
    summary.text_at("refreshRate").parse().ok()
}
