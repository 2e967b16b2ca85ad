//! All figures as one JSON object: `zabbix.stats` and `zabbix[stats]`.

use serde_json::{Map, Value as Json, json};

use super::caches;
use super::server::{ServerFigures, VERSION};

impl ServerFigures {
    /// The member `data` of a response to `zabbix.stats`, with the members of a server 7.0.
    pub fn statistics(&self) -> Json {
        let gauges = self.meter.shards();
        let waiting = self.meter.value_queue().0;
        json!({
            "boottime": self.meter.started_s(),
            "uptime": self.meter.uptime().as_secs(),
            "hosts": self.hosts(),
            "items": self.items(),
            "items_unsupported": self.meter.unsupported(),
            "requiredperformance": self.required(),
            "preprocessing_queue": waiting,
            "preprocessing": self.preprocessing(),
            "discovery_queue": 0,
            "lld_queue": self.meter.discoveries(),
            "connector_queue": self.connector_queue(),
            "triggers": self.triggers(),
            "vcache": {
                "buffer": self.value_buffer().json(),
                "cache": {
                    "requests": gauges.cache.hits + gauges.cache.misses,
                    "hits": gauges.cache.hits, "misses": gauges.cache.misses, "mode": 0,
                },
            },
            "tcache": self.trend_cache_json(),
            "ha": [],
            "proxy": [],
            "vps": { "status": 0, "written_total": gauges.values, "limit": 0 },
            "rcache": self.configuration_buffer().json(),
            "version": VERSION,
            "wcache": self.write_cache_json(),
            "vmware": caches::VMWARE.json(),
            "process": self.processes(),
        })
    }

    fn write_cache_json(&self) -> Json {
        let values = self.values().map(|(name, n)| (name.to_owned(), n.into()));
        let values = Json::Object(Map::from_iter(values));
        let caches = self.write_caches().map(|(name, buffer)| (name.to_owned(), buffer.json()));
        Json::Object([("values".to_owned(), values)].into_iter().chain(caches).collect())
    }

    /// Values that were preprocessed. Each goes to its shard directly, and their bytes are not
    /// counted.
    pub(super) fn preprocessing(&self) -> Json {
        let gauges = self.meter.shards();
        let direct = gauges.values + gauges.unsupported + gauges.discarded;
        json!({
            "queued": { "count": 0, "size": 0 },
            "direct": { "count": direct, "size": 0 },
            "queue": self.meter.value_queue().0,
        })
    }
}
