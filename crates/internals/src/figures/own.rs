//! `zabbix[vedette,…]`: figures that other servers do not have.

use std::sync::atomic::Ordering;

use eval::key::ItemKey;
use history::spool::Reading;
use poll::InternalValue;

use super::server::{Answer, ServerFigures, invalid, unsigned};

impl ServerFigures {
    pub(super) fn own(&self, key: &ItemKey) -> Answer {
        let param = |at: usize| key.param(at).unwrap_or_default();
        let (figure, of) = (param(2), param(3));
        match param(1).as_str() {
            "stores" => self.stores(&figure, &of),
            "service" => self.service(&figure),
            "export" if figure == "dropped" => self.dropped(&of),
            "media" => {
                let (queues, now) = (self.meter.media(), self.meter.now());
                self.meter.alerting().figure(&figure, &of, queues, now).map(unsigned)
            }
            "escalator" if figure == "delay" => Ok(unsigned(self.meter.alerting().delay_s)),
            "heartbeat" if figure == "missed" => Ok(unsigned(self.meter.missed_heartbeats())),
            "history" if figure == "damaged" => Ok(unsigned(self.meter.damaged())),
            "configuration" if figure == "hold" => {
                Ok(InternalValue::Float(self.config.longest_hold().as_secs_f64()))
            }
            _ => Err(invalid("second")),
        }
    }

    /// Stores to which history is copied, one by its name or all together.
    fn stores(&self, figure: &str, name: &str) -> Answer {
        let mut stores = self.meter.stores();
        if !name.is_empty() {
            stores.retain(|store| store.name == name);
            if stores.is_empty() {
                return Err("Invalid fourth parameter: no such history store.".to_owned());
            }
        }
        let of: fn(&Reading) -> u64 = match figure {
            "lag" => |store| store.lag_s,
            "rows" => |store| store.behind_rows,
            "spool" => |store| store.behind_bytes,
            "written" => |store| store.written,
            "batches" => |store| store.batches,
            "errors" => |store| store.errors,
            "retries" => |store| store.retries,
            "refused" => |store| store.refused,
            "missed" => |store| store.missed,
            _ => return Err(invalid("third")),
        };
        let figures = stores.iter().map(of);
        let figure = if figure == "lag" { figures.max().unwrap_or(0) } else { figures.sum() };
        Ok(unsigned(figure))
    }

    /// Records that were not exported: all, or by what dropped them.
    fn dropped(&self, by: &str) -> Answer {
        let figures = self.meter.exports();
        let all = [
            ("shards", &figures.dropped_by_shards),
            ("files", &figures.dropped_by_files),
            ("connectors", &figures.dropped_by_connectors),
        ];
        let wanted = all.iter().filter(|(name, _)| by.is_empty() || *name == by);
        let counts: Vec<u64> = wanted.map(|(_, count)| count.load(Ordering::Relaxed)).collect();
        match counts.is_empty() {
            true => Err(invalid("fourth")),
            false => Ok(unsigned(counts.iter().sum())),
        }
    }

    /// What other programs write and read through the history service.
    fn service(&self, figure: &str) -> Answer {
        let service = self.meter.service();
        Ok(unsigned(match figure {
            "writes" => service.writes,
            "reads" => service.reads,
            "failed" => service.failed,
            "kept" => service.kept,
            "refused" => service.refused,
            "sent" => service.sent,
            "streams" => service.streams,
            "answers" => service.answers,
            _ => return Err(invalid("third")),
        }))
    }
}
