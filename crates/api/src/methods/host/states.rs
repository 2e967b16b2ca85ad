//! `host.states`, `hostgroup.states` and `host.summary`, which are ours: what a page shows as the state
//! of hosts, counted on the server.

use objects::Status;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use const_format::formatcp;
use model::{HostId, ItemId};
use objects::sql::{FLAGS_REAL, GROUP_OF_HOSTS, KIND_HOST, STATUS_ENABLED};
use serde_json::json;

use super::HOST;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::methods::event::{SEVERITIES, by_group, by_host};
use crate::params;
use crate::permission::{Need, and, on_groups, on_hosts};

/// Hosts of one `host.states` and groups of one `hostgroup.states`: more than any screen has rows.
const IDS_MAX: usize = 1_000;
/// Hosts with problems that `host.summary` names.
const WORST_MAX: i64 = 1_000;
/// Items whose newest values are read together.
const ITEMS_AT_ONCE: usize = 10_000;
/// Seconds after which a host without values is looked at again, and one with values.
const UNKNOWN_S: u64 = 10;
const KNOWN_S: u64 = 300;

/// Which hosts have values, remembered for a short time: looking at every item of every host
/// costs too much for each page that is opened.
#[derive(Debug, Default)]
pub(crate) struct WithValues(Mutex<HashMap<u64, Looked>>);

#[derive(Debug, Clone, Copy)]
struct Looked {
    at: u64,
    /// An item that had a value.
    item: Option<u64>,
}

/// Per host: `data` 1 if any of its enabled items has a value, and its open, unsuppressed
/// problems by severity, 0 to 5.
pub(super) fn states(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = given(input, "hostids")?;
    let hosts = readable(call, Some(("t.hostid IN ({ids})", &ids)))?;
    let hosts: Vec<u64> = hosts.into_iter().map(|host| host.id).collect();
    let problems: BTreeMap<u64, [i64; SEVERITIES]> =
        by_host(call, Some(&hosts))?.into_iter().collect();
    let with_values = with_values(call, &hosts)?;
    let rows = hosts.iter().map(|id| {
        let counts = problems.get(id).copied().unwrap_or_default();
        json!({
            "hostid": id.to_string(),
            "data": if with_values.contains(id) { "1" } else { "0" },
            "problems": counts.map(|count| count.to_string()),
        })
    });
    Ok(rows.collect())
}

/// Per host group: its `hosts`, of these the `monitored` ones and of these those `with_data`; and their
/// open, unsuppressed problems by severity, 0 to 5.
pub(crate) fn of_groups(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = given(input, "groupids")?;
    let sql = format!(
        "SELECT groupid FROM groups_ WHERE type = {GROUP_OF_HOSTS} AND groupid IN ({{ids}}){} \
         ORDER BY groupid",
        and(on_groups(call.user(), Need::Read, "groupid"))
    );
    let groups = call.rows_by_ids(&sql, &ids)?;
    let groups: Vec<u64> = groups.iter().map(|row| row.id("groupid")).collect();
    let of_groups = "t.hostid IN (SELECT hostid FROM host_groups WHERE groupid IN ({ids}))";
    let hosts = readable(call, Some((of_groups, &groups)))?;
    let readable: HashSet<u64> = hosts.iter().map(|host| host.id).collect();
    let monitored: Vec<u64> =
        hosts.iter().filter(|host| !host.disabled).map(|host| host.id).collect();
    let with_data = with_values(call, &monitored)?;
    let monitored: HashSet<u64> = monitored.into_iter().collect();
    let mut members: BTreeMap<u64, [usize; 3]> = BTreeMap::new();
    let sql = "SELECT groupid, hostid FROM host_groups WHERE groupid IN ({ids})";
    for (group, host) in call.pairs(sql, &groups)? {
        let numbers = members.entry(group).or_default();
        for (number, set) in numbers.iter_mut().zip([&readable, &monitored, &with_data]) {
            *number += usize::from(set.contains(&host));
        }
    }
    let problems: BTreeMap<u64, [i64; SEVERITIES]> = by_group(call, &groups)?.into_iter().collect();
    let rows = groups.iter().map(|id| {
        let [hosts, monitored, with_data] = members.get(id).copied().unwrap_or_default();
        json!({
            "groupid": id.to_string(),
            "hosts": hosts.to_string(),
            "monitored": monitored.to_string(),
            "with_data": with_data.to_string(),
            "problems": problems.get(id).copied().unwrap_or_default().map(|n| n.to_string()),
        })
    });
    Ok(rows.collect())
}

/// All hosts in numbers: `hosts`, `disabled`, and of the monitored ones those with `problems`, those
/// with values and without problems (`ok`) and those about which nothing is known (`unknown`);
/// `worst` are the `limit` hosts with the most severe problems.
pub(super) fn summary(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    known(input, &["limit"])?;
    let limit = match input.get("limit").filter(|v| !v.is_null()) {
        None => WORST_MAX,
        Some(value) => params::int(value, "/limit")?.clamp(0, WORST_MAX),
    };
    let hosts = readable(call, None)?;
    let disabled = hosts.iter().filter(|host| host.disabled).count();
    let monitored: HashMap<u64, &str> =
        hosts.iter().filter(|host| !host.disabled).map(|host| (host.id, &*host.name)).collect();
    let mut bad = by_host(call, None)?;
    bad.retain(|(id, _)| monitored.contains_key(id));
    // The most severe first, then the most of that severity.
    bad.sort_by(|(a, one), (b, other)| {
        other.iter().rev().cmp(one.iter().rev()).then_with(|| a.cmp(b))
    });
    let troubled: HashSet<u64> = bad.iter().map(|(id, _)| *id).collect();
    let mut others: Vec<u64> =
        monitored.keys().copied().filter(|id| !troubled.contains(id)).collect();
    others.sort_unstable();
    let ok = with_values(call, &others)?.len();
    let worst = bad.iter().take(usize::try_from(limit).unwrap_or_default());
    let worst: Vec<Json> = worst
        .map(|(id, counts)| {
            json!({
                "hostid": id.to_string(),
                "name": monitored.get(id),
                "problems": counts.map(|count| count.to_string()),
            })
        })
        .collect();
    Ok(json!({
        "hosts": hosts.len().to_string(),
        "disabled": disabled.to_string(),
        "problems": bad.len().to_string(),
        "ok": ok.to_string(),
        "unknown": (others.len() - ok).to_string(),
        "worst": worst,
    }))
}

/// The ids of the only option, which is required.
fn given(input: &Json, option: &str) -> ApiResult<Vec<u64>> {
    known(input, &[option])?;
    let ids = params::ids(input, option)?
        .ok_or_else(|| ApiError::at("/", format_args!("the parameter \"{option}\" is missing")))?;
    if ids.len() > IDS_MAX {
        let why = format!("maximum allowed array size is {IDS_MAX}");
        return Err(ApiError::at(&format!("/{option}"), why));
    }
    Ok(ids)
}

fn known(input: &Json, options: &[&str]) -> ApiResult<()> {
    let mut members = input.as_object().into_iter().flat_map(|members| members.keys());
    match members.find(|name| !options.contains(&name.as_str())) {
        Some(name) => Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\""))),
        None => Ok(()),
    }
}

struct Readable {
    id: u64,
    name: String,
    disabled: bool,
}

/// Hosts that the user may see: those that meet a condition for these ids, or all.
fn readable(call: &Call<'_>, among: Option<(&str, &[u64])>) -> ApiResult<Vec<Readable>> {
    let input = json!({});
    let mut get = Get::new(call, &input, &HOST, &[])?;
    get.and(formatcp!("t.kind = {KIND_HOST}"), []);
    if let Some((condition, ids)) = among {
        get.in_ids(condition, ids);
    }
    if let Some(condition) = on_hosts(call.user(), Need::Read, "t.hostid") {
        get.and(condition, []);
    }
    let (condition, values) = get.condition()?;
    let sql = format!(
        "SELECT t.hostid, t.name, t.status FROM hosts t WHERE {condition} ORDER BY t.hostid"
    );
    let rows = call.rows(&sql, &values)?;
    let host = |row: &config::db::Row| Readable {
        id: row.id("hostid"),
        name: row.text("name").to_owned(),
        disabled: Status::Disabled.is(row.int("status")),
    };
    Ok(rows.iter().map(host).collect())
}

/// Those of the hosts of which any enabled item has a value. What the server once collected says nothing
/// about hosts that a proxy monitors now.
fn with_values(call: &Call<'_>, hosts: &[u64]) -> ApiResult<HashSet<u64>> {
    let now = call.now();
    let snapshot = call.config().snapshot();
    let of_server = |id: &u64| snapshot.hosts.get(&HostId(*id)).is_none_or(|h| h.is_of_server());
    let hosts: Vec<u64> = hosts.iter().copied().filter(of_server).collect();
    let memory = &call.api.with_values.0;
    let looked = |id: &u64| {
        let memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.get(id).copied()
    };
    let mut found = HashSet::new();
    let (mut again, mut whole) = (Vec::new(), Vec::new());
    for host in &hosts {
        match looked(host) {
            Some(Looked { at, item: Some(_) }) if now < at + KNOWN_S => {
                found.insert(*host);
            }
            Some(Looked { at, item: None }) if now < at + UNKNOWN_S => {}
            Some(Looked { item: Some(item), .. }) => again.push((*host, item)),
            _ => whole.push(*host),
        }
    }
    // The item that had a value most probably still has one.
    let still = valued(call, &again);
    whole.extend(again.iter().map(|(host, _)| *host).filter(|host| !still.contains_key(host)));
    let pairs = call.pairs(
        formatcp!("SELECT hostid, itemid FROM items WHERE status = {STATUS_ENABLED} AND flags IN {FLAGS_REAL} \
         AND hostid IN ({{ids}}) ORDER BY hostid, itemid"),
        &whole,
    )?;
    let fresh = valued(call, &pairs);
    let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
    for (host, item) in still.iter().chain(&fresh) {
        found.insert(*host);
        memory.insert(*host, Looked { at: now, item: Some(*item) });
    }
    for host in whole.iter().filter(|host| !fresh.contains_key(host)) {
        memory.insert(*host, Looked { at: now, item: None });
    }
    Ok(found)
}

/// Of pairs of host and item: hosts with an item that has a value. Looks at the first items of all
/// hosts before it looks at the others, which most hosts do not need.
fn valued(call: &Call<'_>, pairs: &[(u64, u64)]) -> HashMap<u64, u64> {
    let mut found = HashMap::new();
    let mut rank = HashMap::<u64, usize>::new();
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for pair in pairs {
        let rank = rank.entry(pair.0).or_default();
        *rank += 1;
        if *rank <= 2 { first.push(*pair) } else { others.push(*pair) }
    }
    for round in [first, others] {
        let left: Vec<(u64, u64)> =
            round.into_iter().filter(|(host, _)| !found.contains_key(host)).collect();
        for chunk in left.chunks(ITEMS_AT_ONCE) {
            let items: Vec<ItemId> = chunk.iter().map(|(_, item)| ItemId(*item)).collect();
            let states = call.api.deps.live.item_states(&items);
            for ((host, item), state) in chunk.iter().zip(states) {
                if state.last.is_some() {
                    found.entry(*host).or_insert(*item);
                }
            }
        }
    }
    found
}
