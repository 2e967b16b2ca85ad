//! `pool.health`: how engines see the servers of pools, with the result of each monitor, and what the monitored
//! hosts of servers ask for.

use std::collections::BTreeMap;

use config::db::query_by_ids;
use config::engines::hosts::{self, Asked};
use serde_json::{Value as Json, json};

use super::refused;
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::permission::Need;
use crate::write::{Target, only, required_list};

/// Pools of one call.
const POOLS_MAX: usize = 1_000;

/// A server as it is configured.
struct Server {
    name: String,
    host: u64,
    asked: Asked,
}

/// Servers of pools, in their order.
pub(super) fn health(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = input.as_object().ok_or_else(|| ApiError::at("/", "an object is expected"))?;
    only(members, "/", &["poolids"])?;
    let ids = required_list(input, "poolids")?;
    if ids.len() > POOLS_MAX {
        return Err(ApiError::at("/poolids", format_args!("limited to {POOLS_MAX} pools")));
    }
    let (pools, seen) = call.read(|connection| {
        let mut asked =
            hosts::asked(connection, &ids).map_err(|error| refused("/poolids", error))?;
        let sql = "SELECT poolid, position, name, hostid FROM pool_servers \
                   WHERE poolid IN ({ids}) ORDER BY poolid, position";
        let mut pools: BTreeMap<u64, Vec<Server>> = BTreeMap::new();
        for row in query_by_ids(connection, sql, &[], &ids)? {
            let place = (row.id("poolid"), row.int("position"));
            pools.entry(place.0).or_default().push(Server {
                name: row.text("name").to_owned(),
                host: row.id("hostid"),
                asked: asked.remove(&place).unwrap_or_default(),
            });
        }
        let with_hosts = pools.values().flatten().map(|server| server.host);
        let mut with_hosts: Vec<u64> = with_hosts.filter(|host| *host != 0).collect();
        with_hosts.sort_unstable();
        with_hosts.dedup();
        let seen = call.allowed(connection, Target::Host, Need::Read, &with_hosts)?;
        Ok((pools, seen))
    })?;
    let all = ids.iter().filter_map(|id| Some((id, pools.get(id)?)));
    let shown = all.map(|(id, servers)| {
        let reported = call.api.deps.live.pool_health(*id);
        let servers = servers.iter().map(|server| {
            let found = reported.as_ref().and_then(|all| {
                all.as_array()?.iter().find(|one| one["name"] == server.name.as_str())
            });
            // What no engine reports is unknown.
            let (state, engines) = match found {
                Some(one) => (one["state"].clone(), one["engines"].clone()),
                None => (json!("unknown"), json!([])),
            };
            json!({
                "name": server.name,
                "state": state,
                "engines": engines,
                "host_effect_ignored": server.asked.ignored,
                "host_effect": server.asked.effect().map_or("", hosts::Effect::word),
                "host_checks": host_checks(&server.asked, seen.contains(&server.host)),
            })
        });
        json!({ "poolid": id.to_string(), "servers": servers.collect::<Vec<_>>() })
    });
    Ok(shown.collect())
}

/// Problems are shown to users who may see the host.
fn host_checks(asked: &Asked, may_see: bool) -> Vec<Json> {
    let checks = asked.checks.iter().map(|check| {
        let result = match check.passes {
            None => "unknown",
            Some(true) => "passes",
            Some(false) => "fails",
        };
        json!({
            "name": check.name,
            "result": result,
            "reason": if may_see { check.reason.as_str() } else { "" },
            "effect": check.effect.word(),
        })
    });
    checks.collect()
}
