//! What the monitors of engines found out about servers.

use std::time::Duration;

use proxying::engine_link::analytics::State as Seen;
use proxying::engine_link::monitors::{Monitored, Verdict};
use serde_json::{Value as Json, json};

use super::figures::{ON_SOME, state};
use super::windows::{Key, Object};
use super::{Figure, State};

/// Longest reason as the value of an item, in characters.
const REASON_MAX: usize = 255;

/// The word for a state in the API.
const fn word(state: Seen) -> &'static str {
    match state {
        Seen::Down => "down",
        Seen::Up => "up",
        Seen::Unchecked => "not_checked",
        Seen::Drain => "drain",
        Seen::Disabled => "disabled",
    }
}

fn monitor(monitored: &Monitored) -> Json {
    json!({
        "name": monitored.name,
        "result": monitored.verdict.word(),
        "reason": monitored.reason,
        "changed_at": monitored.changed_at.to_string(),
        "checked_at": monitored.checked_at.to_string(),
    })
}

impl State {
    /// Engines that have reported a server lately, in the order of their ids.
    fn seen_by(&self, key: &Key, now: Duration) -> Vec<(u64, &str, &Object)> {
        let known = self.catalogue.engines.iter();
        let seen = known.filter_map(|(id, engine)| {
            let object = self.engines.get(id)?.fresh(key, now)?;
            Some((*id, engine.name.as_str(), object))
        });
        seen.collect()
    }

    pub(super) fn health(&self, pool: u64, now: Duration) -> Option<Json> {
        let pool = self.catalogue.pools.get(&pool)?;
        let servers = pool.servers.iter().map(|server| {
            let key = Key::Server(pool.name.as_str().into(), server.as_str().into());
            let seen = self.seen_by(&key, now);
            let states: Vec<Seen> = seen.iter().map(|(_, _, object)| object.state).collect();
            let all = match state(&states) {
                None => "unknown",
                Some(ON_SOME) => "down_on_some",
                Some(number) => {
                    let one = states.iter().find(|state| **state as u64 == number);
                    one.map_or("unknown", |state| word(*state))
                }
            };
            let engines = seen.iter().map(|(id, name, object)| {
                json!({
                    "engineid": id.to_string(),
                    "name": name,
                    "state": word(object.state),
                    "monitors": object.monitors.iter().map(monitor).collect::<Vec<_>>(),
                })
            });
            json!({ "name": server, "state": all, "engines": engines.collect::<Vec<_>>() })
        });
        Some(servers.collect())
    }

    /// Why monitors fail or cannot check a server, by monitor; of several engines, one line for each text.
    pub(super) fn reason(&self, key: &Key, now: Duration) -> Result<Figure, String> {
        self.sum([key], now)?;
        let mut texts: Vec<String> = Vec::new();
        for (_, engine, object) in self.seen_by(key, now) {
            let told = object.monitors.iter().filter(|one| {
                one.verdict == Verdict::Fails
                    || (one.verdict == Verdict::Unknown && !one.reason.is_empty())
            });
            let told: Vec<String> =
                told.map(|one| format!("{}: {}", one.name, one.reason)).collect();
            if !told.is_empty() {
                texts.push(format!("{engine}: {}", told.join("; ")));
            }
        }
        let text: String = texts.join("\n").chars().take(REASON_MAX).collect();
        Ok(if text.is_empty() { Figure::Text("none".to_owned()) } else { Figure::Text(text) })
    }
}
