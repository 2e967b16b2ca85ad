//! What the server says of itself, by internal items that any Zabbix-compatible server has.

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::api::{Api, scalar_text};

/// Checks that are late by more than five seconds, as the server counts them.
const QUEUE_KEY: &str = "zabbix[queue,5s]";
/// Utilisation of the processes for passive agent checks: `agent poller` since 7.0, `poller` before and,
/// for other checks, beside it. A server that has no such process does not support the item.
const BUSY_KEYS: [&str; 2] =
    ["zabbix[process,agent poller,avg,busy]", "zabbix[process,poller,avg,busy]"];

/// Internal items on a host of ours, collected each second.
pub(crate) struct Probe {
    queue: String,
    busy: Vec<String>,
}

/// The newest values.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Said {
    /// Late checks.
    pub(crate) queue: Option<u64>,
    /// Busiest kind of poller, 0 to 1.
    pub(crate) busy: Option<f64>,
}

impl Probe {
    /// Makes the items; they go with the host.
    pub(crate) fn place(api: &Api, hostid: &str) -> anyhow::Result<Self> {
        let item = |key: &str, value_type: u8| {
            json!({
                "hostid": hostid, "name": key, "key_": key, "type": 5, "value_type": value_type,
                "delay": "1s",
            })
        };
        let mut items = vec![item(QUEUE_KEY, 3)];
        items.extend(BUSY_KEYS.iter().map(|key| item(key, 0)));
        let mut ids = api.create("item.create", &json!(items), "itemids")?.into_iter();
        let queue = ids.next().context("item.create gave no id")?;
        Ok(Self { queue, busy: ids.collect() })
    }

    /// Reads the newest values; what the server does not tell stays open.
    pub(crate) fn read(&self, api: &Api) -> anyhow::Result<Said> {
        let ids: Vec<&String> = std::iter::once(&self.queue).chain(&self.busy).collect();
        let params =
            json!({ "output": ["itemid", "lastclock", "lastvalue", "state"], "itemids": ids });
        let found = api.call("item.get", &params)?;
        let rows = found.as_array().context("item.get gave no array")?;
        Ok(self.said(rows))
    }

    fn said(&self, rows: &[Value]) -> Said {
        let text = |row: &Value, member: &str| scalar_text(&row[member]).unwrap_or_default();
        let value = |id: &String| {
            let row = rows.iter().find(|row| text(row, "itemid") == *id)?;
            let told = text(row, "lastclock") != "0" && text(row, "state") != "1";
            text(row, "lastvalue").parse::<f64>().ok().filter(|_| told)
        };
        Said {
            queue: value(&self.queue).map(|queue| queue as u64),
            busy: self
                .busy
                .iter()
                .filter_map(value)
                .map(|percent| percent / 100.0)
                .reduce(f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reported_changes_count() {
        let probe = Probe { queue: "1".to_owned(), busy: vec!["2".to_owned(), "3".to_owned()] };
        let row = |id: &str, clock: &str, value: &str, state: &str| json!({ "itemid": id, "lastclock": clock, "lastvalue": value, "state": state });
        let all = [row("3", "9", "80", "0"), row("1", "9", "12", "0"), row("2", "9", "99.5", "0")];
        assert_eq!(probe.said(&all), Said { queue: Some(12), busy: Some(0.995) });
        let few = [row("1", "0", "0", "0"), row("2", "0", "0", "1"), row("3", "9", "80", "0")];
        assert_eq!(probe.said(&few), Said { queue: None, busy: Some(0.8) });
        assert_eq!(probe.said(&[]), Said::default());
    }
}
