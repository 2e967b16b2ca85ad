//! `pool.health`: how engines see the servers of pools, with the result of each monitor, and what the monitored
//! hosts of servers ask for.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{Reader, query_by_ids};
use config::engines::hosts::{self, Asked, Named};
use serde_json::{Value as Json, json};

use super::refused;
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::permission::{Need, and, by_tag_filters, on_triggers};
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
    let (pools, seen, named) = call.read(|connection| {
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
        let shown = pools.values().flatten().filter(|server| seen.contains(&server.host));
        let checks = shown.flat_map(|server| &server.asked.checks);
        let named = checks.filter_map(|check| check.names).collect();
        let named = visible(call, connection, &named)?;
        Ok((pools, seen, named))
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
            // Users who may not see the host do not learn its state.
            let host_checks = match seen.contains(&server.host) {
                true => host_checks(&server.asked, &named),
                false => Vec::new(),
            };
            json!({
                "name": server.name,
                "state": state,
                "engines": engines,
                "host_effect_ignored": server.asked.ignored,
                "host_effect": server.asked.effect().map_or("", hosts::Effect::word),
                "host_checks": host_checks,
            })
        });
        json!({ "poolid": id.to_string(), "servers": servers.collect::<Vec<_>>() })
    });
    Ok(shown.collect())
}

/// Those of these problems and triggers that the user may see: by permission on all their hosts, and by tag filters.
fn visible(
    call: &Call<'_>,
    connection: &mut dyn Reader,
    named: &BTreeSet<Named>,
) -> ApiResult<BTreeSet<Named>> {
    let (mut problems, mut triggers) = (Vec::new(), Vec::new());
    for one in named {
        match one {
            Named::Problem(id) => problems.push(*id),
            Named::Trigger(id) => triggers.push(*id),
        }
    }
    let sql = format!(
        "SELECT eventid AS id FROM problems WHERE eventid IN ({{ids}}){}{}",
        and(on_triggers(call.user(), Need::Read, "problems.objectid")),
        and(by_tag_filters(call.user(), "problems.eventid", "problems.objectid")),
    );
    let problems = query_by_ids(connection, &sql, &[], &problems)?;
    let sql = format!(
        "SELECT triggerid AS id FROM triggers WHERE triggerid IN ({{ids}}){}",
        and(on_triggers(call.user(), Need::Read, "triggers.triggerid")),
    );
    let triggers = query_by_ids(connection, &sql, &[], &triggers)?;
    let problems = problems.iter().map(|row| Named::Problem(row.id("id")));
    Ok(problems.chain(triggers.iter().map(|row| Named::Trigger(row.id("id")))).collect())
}

/// `visible`: problems and triggers that reasons may name.
fn host_checks(asked: &Asked, visible: &BTreeSet<Named>) -> Vec<Json> {
    let checks = asked.checks.iter().map(|check| {
        let result = match check.passes {
            None => "unknown",
            Some(true) => "passes",
            Some(false) => "fails",
        };
        let may_name = check.names.is_none_or(|named| visible.contains(&named));
        json!({
            "name": check.name,
            "result": result,
            "reason": if may_name { check.reason.as_str() } else { "" },
            "effect": check.effect.word(),
        })
    });
    checks.collect()
}
