//! `zabbix[process,…]`: utilisation of the processes that other servers have, as that of the threads
//! which do their work here.

use eval::key::ItemKey;
use pipeline::Stage;
use poll::InternalValue;
use serde_json::{Map, Value as Json, json};
use stdx::worktime::Shares;

use super::server::{Answer, ServerFigures, invalid, size, unsigned};
use crate::work::Work;

/// All processes of a server 7.0.
const PROCESSES: [(&str, Work); 44] = [
    ("agent poller", Work::Collection),
    ("alert manager", Work::Threads("escalator")),
    ("alert syncer", Work::Threads("problems")),
    ("alerter", Work::Threads("media")),
    ("availability manager", Work::Nothing),
    ("browser poller", Work::Collection),
    ("configuration syncer", Work::Shards(Stage::Command)),
    ("configuration syncer worker", Work::Nothing),
    ("connector manager", Work::Exporter),
    ("connector worker", Work::Connectors),
    ("discovery manager", Work::Threads("discoverer")),
    ("discovery worker", Work::Threads("discoverer")),
    ("escalator", Work::Threads("escalator")),
    ("ha manager", Work::Nothing),
    ("history poller", Work::Shards(Stage::Calculate)),
    ("history syncer", Work::Shards(Stage::Sync)),
    ("housekeeper", Work::Housekeeping),
    ("http agent poller", Work::Collection),
    ("http poller", Work::Collection),
    ("icmp pinger", Work::Collection),
    ("internal poller", Work::Collection),
    ("ipmi manager", Work::Nothing),
    ("ipmi poller", Work::Collection),
    ("java poller", Work::Collection),
    ("lld manager", Work::Discovery),
    ("lld worker", Work::Discovery),
    ("odbc poller", Work::Collection),
    ("poller", Work::Collection),
    ("preprocessing manager", Work::Shards(Stage::Preprocess)),
    ("preprocessing worker", Work::Shards(Stage::Preprocess)),
    ("proxy group manager", Work::Nothing),
    ("proxy poller", Work::Nothing),
    ("report manager", Work::Nothing),
    ("report writer", Work::Nothing),
    ("self-monitoring", Work::Meter),
    ("service manager", Work::Threads("services")),
    ("snmp poller", Work::Collection),
    ("snmp trapper", Work::Collection),
    ("task manager", Work::Nothing),
    ("timer", Work::Shards(Stage::Timer)),
    ("trapper", Work::Collection),
    ("trigger housekeeper", Work::Threads("deletions")),
    ("unreachable poller", Work::Nothing),
    ("vmware collector", Work::Threads("vmware")),
];

/// Names of processes of agents, which no server starts.
const OF_AGENTS: [&str; 4] = ["active checks", "collector", "listener", "main"];

/// One figure about the workers of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Average,
    Least,
    Most,
    /// One worker by its number, from 1.
    One(u16),
}

impl Mode {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "" | "avg" => Self::Average,
            "min" => Self::Least,
            "max" => Self::Most,
            _ => {
                let digits = text.bytes().all(|byte| byte.is_ascii_digit());
                let number = text.parse::<u16>().ok().filter(|number| digits && *number > 0)?;
                Self::One(number)
            }
        })
    }
}

/// The value of `zabbix[process,name,mode,state]` for these workers.
fn utilisation(name: &str, shares: &Shares, key: &ItemKey) -> Answer {
    let mode = key.param(2).unwrap_or_default();
    if mode == "count" {
        return match key.param_count() {
            3 => Ok(unsigned(size(shares.count()))),
            _ => Err("Invalid number of parameters.".to_owned()),
        };
    }
    let mode = Mode::parse(&mode).ok_or_else(|| invalid("third"))?;
    if shares.count() == 0 {
        return Err(format!("No \"{name}\" processes started."));
    }
    // The worker that is busy most is idle least.
    let (busy, idle) = match mode {
        Mode::Average => (shares.average(), shares.average()),
        Mode::Least => (shares.least(), shares.most()),
        Mode::Most => (shares.most(), shares.least()),
        Mode::One(number) => {
            let share = shares.of(number.into());
            let share =
                share.ok_or_else(|| format!("Process \"{name} #{number}\" is not started."))?;
            (share, share)
        }
    };
    match key.param(3).as_deref() {
        None | Some("" | "busy") => Ok(InternalValue::Float(busy)),
        Some("idle") => Ok(InternalValue::Float(100.0 - idle)),
        Some(_) => Err(invalid("fourth")),
    }
}

impl ServerFigures {
    pub(super) fn process(&self, key: &ItemKey) -> Answer {
        let name = key.param(1).unwrap_or_default();
        if OF_AGENTS.contains(&name.as_str()) {
            return utilisation(&name, &Shares::default(), key);
        }
        let process = PROCESSES.iter().find(|(known, _)| *known == name);
        let (name, work) = process.ok_or_else(|| invalid("second"))?;
        utilisation(name, &self.meter.shares(name, *work), key)
    }

    /// All processes, for the statistics.
    pub(super) fn processes(&self) -> Json {
        let row = |(name, work): &(&str, Work)| {
            let shares = self.meter.shares(name, *work);
            let (average, least, most) = (shares.average(), shares.least(), shares.most());
            let row = json!({
                "busy": { "avg": average, "max": most, "min": least },
                "idle": { "avg": 100.0 - average, "max": 100.0 - least, "min": 100.0 - most },
                "count": shares.count(),
            });
            ((*name).to_owned(), row)
        };
        Json::Object(PROCESSES.iter().map(row).collect::<Map<_, _>>())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn modes_and_states() {
        let second = Duration::from_secs(1);
        let shares = Shares::between(&[0, 0], &[250_000_000, 500_000_000], second);
        let value = |more: &str| {
            let key = ItemKey::parse(&format!("zabbix[process,trapper{more}]")).unwrap();
            utilisation("trapper", &shares, &key)
        };
        for (more, share) in [
            ("", 37.5),
            (",,", 37.5),
            (",avg,idle", 62.5),
            (",min", 25.0),
            (",min,idle", 50.0),
            (",max,busy", 50.0),
            (",max,idle", 75.0),
            (",1", 25.0),
            (",02,idle", 50.0),
        ] {
            assert_eq!(value(more), Ok(InternalValue::Float(share)), "{more}");
        }
        assert_eq!(value(",count"), Ok(unsigned(2)));
        for (more, error) in [
            (",3", "Process \"trapper #3\" is not started."),
            (",3,x", "Process \"trapper #3\" is not started."),
            (",0", "Invalid third parameter."),
            (",+1", "Invalid third parameter."),
            (",65536", "Invalid third parameter."),
            (",AVG", "Invalid third parameter."),
            (",avg,x", "Invalid fourth parameter."),
            (",count,busy", "Invalid number of parameters."),
        ] {
            assert_eq!(value(more), Err(error.to_owned()), "{more}");
        }
        let key = ItemKey::parse("zabbix[process,main,avg,busy]").unwrap();
        let none = Err("No \"main\" processes started.".to_owned());
        assert_eq!(utilisation("main", &Shares::default(), &key), none);
    }
}
