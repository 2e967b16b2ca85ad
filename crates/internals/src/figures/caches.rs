//! Caches: how full they are, and how often they help.

use eval::key::ItemKey;
use poll::InternalValue;
use serde_json::{Value as Json, json};

use super::server::{Answer, ServerFigures, invalid, size, unsigned};

/// Bytes of a trend in memory: minimum, average, maximum, count, hour and item.
const TREND_BYTES: u64 = 48;

/// How full something is, in bytes or in what it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Buffer {
    used: u64,
    total: u64,
}

impl Buffer {
    /// Something without a limit of its own: it can have as much as is free besides.
    const fn beside(used: u64, free: u64) -> Self {
        Self { used, total: used.saturating_add(free) }
    }

    /// Share in use, per cent; 0 of nothing.
    fn used_percent(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "for a share")]
        let (used, total) = (self.used as f64, self.total.max(1) as f64);
        (used / total * 100.0).min(100.0)
    }

    const fn free(self) -> u64 {
        self.total.saturating_sub(self.used)
    }

    fn value(self, mode: &str) -> Answer {
        Ok(match mode {
            "total" => unsigned(self.total),
            "used" => unsigned(self.used),
            "free" => unsigned(self.free()),
            "pused" => InternalValue::Float(self.used_percent()),
            "pfree" => InternalValue::Float(100.0 - self.used_percent()),
            _ => return Err(invalid("third")),
        })
    }

    /// The value of a mode whose default is `pfree`.
    fn value_or_free(self, mode: &str) -> Answer {
        self.value(if mode.is_empty() { "pfree" } else { mode })
    }

    pub(super) fn json(self) -> Json {
        let pused = self.used_percent();
        json!({
            "total": self.total, "free": self.free(), "pfree": 100.0 - pused,
            "used": self.used, "pused": pused,
        })
    }
}

/// Services of VMware are read as a whole, without a cache of a fixed size.
pub(super) const VMWARE: Buffer = Buffer { used: 0, total: 0 };

pub(super) fn vmware(key: &ItemKey) -> Answer {
    match part_and_mode(key) {
        (part, mode) if part == "buffer" => VMWARE.value(&mode),
        _ => Err(invalid("second")),
    }
}

fn part_and_mode(key: &ItemKey) -> (String, String) {
    (key.param(1).unwrap_or_default(), key.param(2).unwrap_or_default())
}

impl ServerFigures {
    pub(super) fn write_cache(&self, key: &ItemKey) -> Answer {
        let (part, mode) = part_and_mode(key);
        match part.as_str() {
            "values" => {
                let name = if mode.is_empty() { "all" } else { &mode };
                let all = self.values();
                let found = all.iter().find(|(known, _)| *known == name);
                found.map(|(_, n)| unsigned(*n)).ok_or_else(|| invalid("third"))
            }
            // Our own: values that a start could not read to fold trends again; a disk fails.
            "trend" if mode == "unread" => Ok(unsigned(self.meter.shards().trends_unread)),
            _ => {
                let parts = self.write_caches();
                let found = parts.iter().find(|(known, _)| *known == part);
                found.ok_or_else(|| invalid("second"))?.1.value_or_free(&mode)
            }
        }
    }

    /// Values since the start, by type.
    pub(super) fn values(&self) -> [(&'static str, u64); 8] {
        let gauges = self.meter.shards();
        let [float, str, log, uint, text, bin] = gauges.by_type;
        [
            ("all", gauges.values + gauges.unsupported),
            ("float", float),
            ("uint", uint),
            ("str", str),
            ("log", log),
            ("text", text),
            ("bin", bin),
            ("not supported", gauges.unsupported),
        ]
    }

    /// The queue in front of the shards is what other servers call the history cache: it fills when
    /// values come faster than they are written. It needs no index.
    pub(super) fn write_caches(&self) -> [(&'static str, Buffer); 3] {
        let (used, total) = self.meter.value_queue();
        let queue = Buffer { used: size(used), total: size(total) };
        let trends = self.meter.shards().trends_waiting.saturating_mul(TREND_BYTES);
        [
            ("history", queue),
            ("index", Buffer { used: 0, ..queue }),
            ("trend", Buffer::beside(trends, self.meter.free_memory())),
        ]
    }

    pub(super) fn configuration_cache(&self, key: &ItemKey) -> Answer {
        match part_and_mode(key) {
            (part, mode) if part == "buffer" => self.configuration_buffer().value_or_free(&mode),
            _ => Err(invalid("second")),
        }
    }

    /// The configuration is held whole in memory.
    pub(super) fn configuration_buffer(&self) -> Buffer {
        Buffer::beside(size(self.meter.configuration_bytes()), self.meter.free_memory())
    }

    pub(super) fn value_cache(&self, key: &ItemKey) -> Answer {
        let (part, mode) = part_and_mode(key);
        let cache = self.meter.shards().cache;
        match (part.as_str(), mode.as_str()) {
            ("buffer", mode) => self.value_buffer().value(mode),
            ("cache", "hits") => Ok(unsigned(cache.hits)),
            ("cache", "misses") => Ok(unsigned(cache.misses)),
            ("cache", "requests") => Ok(unsigned(cache.hits + cache.misses)),
            // There is no mode for a lack of memory: values that are used least leave first.
            ("cache", "mode") => Ok(unsigned(0)),
            ("cache", _) => Err(invalid("third")),
            _ => Err(invalid("second")),
        }
    }

    pub(super) fn value_buffer(&self) -> Buffer {
        let cache = self.meter.shards().cache;
        Buffer { used: size(cache.bytes), total: size(cache.bytes_max) }
    }

    /// Trend functions read the store, which answers in less than a millisecond: there is no
    /// cache in between, so each question is a miss.
    pub(super) fn trend_cache(&self, key: &ItemKey) -> Answer {
        if key.param(1).as_deref() != Some("cache") {
            return Err(invalid("second"));
        }
        let reads = self.meter.shards().trend_reads;
        Ok(match key.param(2).as_deref() {
            None | Some("all" | "misses") => unsigned(reads),
            Some("hits" | "items" | "requests") => unsigned(0),
            Some("pmisses") => InternalValue::Float(missed_percent(reads)),
            Some("phits" | "pitems") => InternalValue::Float(0.0),
            Some(_) => return Err(invalid("third")),
        })
    }

    pub(super) fn trend_cache_json(&self) -> Json {
        let reads = self.meter.shards().trend_reads;
        json!({
            "hits": 0, "misses": reads, "all": reads, "phits": 0.0,
            "pmisses": missed_percent(reads), "items": 0, "requests": 0, "pitems": 0.0,
        })
    }
}

const fn missed_percent(reads: u64) -> f64 {
    if reads > 0 { 100.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_of_a_buffer() {
        let buffer = Buffer::beside(1, 3);
        for (mode, value) in [
            ("total", unsigned(4)),
            ("used", unsigned(1)),
            ("free", unsigned(3)),
            ("pused", InternalValue::Float(25.0)),
            ("pfree", InternalValue::Float(75.0)),
        ] {
            assert_eq!(buffer.value(mode), Ok(value), "{mode}");
        }
        assert_eq!(buffer.value(""), Err("Invalid third parameter.".to_owned()));
        assert_eq!(buffer.value_or_free(""), Ok(InternalValue::Float(75.0)));
        assert_eq!(VMWARE.value("pused"), Ok(InternalValue::Float(0.0)));
        let json = json!({ "total": 4, "free": 3, "pfree": 75.0, "used": 1, "pused": 25.0 });
        assert_eq!(buffer.json(), json);
    }
}
