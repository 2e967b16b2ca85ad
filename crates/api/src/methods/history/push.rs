//! `history.push`: values that come through the API.

use objects::Status;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use const_format::formatcp;
use model::{ItemId, Push, PushValue, Timestamp};
use objects::sql::{FLAGS_WITH_VALUES, KIND_HOST};
use serde_json::{Map, json};

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::params;
use crate::permission::{Need, on_hosts};

/// Values that one `history.push` may carry.
const PUSH_VALUES_MAX: usize = 100_000;

/// One value of `history.push` before its item is known to take it.
struct Pushed {
    itemid: Option<u64>,
    host: String,
    key: String,
    value: String,
    at: Timestamp,
}

pub(super) fn push(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let objects = params::objects(input)?;
    if objects.len() > PUSH_VALUES_MAX {
        return Err(ApiError::params(format!(
            "One call may carry {PUSH_VALUES_MAX} values, this one has {}.",
            objects.len()
        )));
    }
    let mut clock = PushClock { now: Timestamp::from_unix(call.api.deps.clock.unix()), ns: 0 };
    let pushed = objects
        .iter()
        .enumerate()
        .map(|(n, (path, object))| read_pushed(object, path, n + 1, &mut clock))
        .collect::<ApiResult<Vec<_>>>()?;
    let takes = Takers::load(call, &pushed)?;
    let mut answers: Vec<Json> = Vec::with_capacity(pushed.len());
    let mut accepted: Vec<(usize, PushValue)> = Vec::new();
    for (n, value) in pushed.into_iter().enumerate() {
        let (itemid, refused) = takes.check(&value);
        match refused {
            None => {
                let item = ItemId(itemid);
                accepted.push((n, PushValue { item, value: value.value, log: None, at: value.at }));
                answers.push(json!({ "itemid": itemid }));
            }
            Some(text) if itemid != 0 && text != NO_RIGHT => {
                answers.push(json!({ "itemid": itemid, "error": text }));
            }
            Some(text) => answers.push(json!({ "error": text })),
        }
    }
    let (places, values): (Vec<usize>, Vec<PushValue>) = accepted.into_iter().unzip();
    // This method has checked the user's rights on the items.
    let client = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let push = Push { values, client, refuse_duplicates: true, resend: false };
    let stored = call.api.deps.live.push(push);
    for (n, result) in places.into_iter().zip(stored) {
        if let (Err(failure), Some(Json::Object(answer))) = (result, answers.get_mut(n)) {
            answer.insert("error".into(), failure.message.into());
        }
    }
    Ok(json!({ "response": "success", "data": answers }))
}

/// Gives times to values that come without.
struct PushClock {
    now: Timestamp,
    ns: u32,
}

fn read_pushed(object: &Json, path: &str, n: usize, clock: &mut PushClock) -> ApiResult<Pushed> {
    let fail = |text: &str| ApiError::application(format!("Cannot parse item #{n} data: {text}"));
    for name in object.as_object().into_iter().flat_map(Map::keys) {
        if !["itemid", "host", "key", "value", "clock", "ns"].contains(&name.as_str()) {
            return Err(ApiError::at(path, format_args!("unexpected parameter \"{name}\"")));
        }
    }
    let value = object
        .get("value")
        .ok_or_else(|| ApiError::at(path, "the parameter \"value\" is missing"))?;
    let value = params::text(value, &format!("{path}/value"))?;
    let itemid = match object.get("itemid") {
        None | Some(Json::Null) => None,
        Some(id) => Some(params::id(id, &format!("{path}/itemid"))?),
    };
    let text = |name: &str| match object.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => params::text(value, &format!("{path}/{name}")).map(Some),
    };
    let (host, key) = (text("host")?, text("key")?);
    if itemid.is_some() && (host.is_some() || key.is_some()) {
        return Err(fail("\"itemid\" tag conflicts with \"host\" and \"itemid\" tags."));
    }
    if itemid.is_none() && (host.is_none() || key.is_none()) {
        return Err(fail("give \"itemid\", or both \"host\" and \"key\"."));
    }
    let number = |name: &str| match object.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(value) => params::int(value, &format!("{path}/{name}")).map(Some),
    };
    let at = match (number("clock")?, number("ns")?) {
        (None, Some(_)) => return Err(fail("\"ns\" needs \"clock\".")),
        (None, None) => clock.now,
        (Some(s), ns) => {
            let seconds = u32::try_from(s).ok().filter(|s| (1..=i32::MAX as u32).contains(s));
            let seconds = seconds.ok_or_else(|| fail("\"clock\" must be from 1 to 2147483647."))?;
            let ns = match ns {
                Some(ns) => u32::try_from(ns).ok().filter(|ns| *ns < 1_000_000_000),
                // Values of one second stay distinct.
                None => {
                    clock.ns += 1;
                    Some(clock.ns - 1)
                }
            };
            let ns = ns.ok_or_else(|| fail("\"ns\" must be from 0 to 999999999."))?;
            Timestamp { clock: seconds, ns }
        }
    };
    Ok(Pushed { itemid, host: host.unwrap_or_default(), key: key.unwrap_or_default(), value, at })
}

const NO_RIGHT: &str = "No permissions to referred object or it does not exist.";

/// Items that values may be pushed to.
struct Takers {
    by_id: HashMap<u64, Taker>,
    by_key: HashMap<(String, String), u64>,
}

struct Taker {
    kind: i64,
    allow_traps: bool,
    item_on: bool,
    host_on: bool,
}

impl Takers {
    fn load(call: &Call<'_>, pushed: &[Pushed]) -> ApiResult<Self> {
        let snapshot = call.config().snapshot();
        let mut ids: Vec<u64> = Vec::new();
        let mut by_key = HashMap::new();
        for value in pushed {
            let found = match value.itemid {
                Some(id) => Some(id),
                None => snapshot
                    .host_by_name(&value.host)
                    .and_then(|host| host.item(&value.key))
                    .map(|item| item.id.0),
            };
            if let Some(id) = found {
                ids.push(id);
                by_key.insert((value.host.clone(), value.key.clone()), id);
            }
        }
        ids.sort_unstable();
        ids.dedup();
        let mut sql = String::from(formatcp!(
            "SELECT i.itemid, i.type, i.status, i.allow_traps, h.status AS host_status FROM items i \
             JOIN hosts h ON h.hostid = i.hostid AND h.kind = {KIND_HOST} WHERE i.flags IN {FLAGS_WITH_VALUES}"
        ));
        if let Some(condition) = on_hosts(call.user(), Need::Read, "i.hostid") {
            sql += &format!(" AND {condition}");
        }
        sql += " AND i.itemid IN ({ids})";
        let rows = call.read(|c| Ok(config::db::query_by_ids(c, &sql, &[], &ids)?))?;
        let by_id = rows
            .iter()
            .map(|row| {
                let taker = Taker {
                    kind: row.int("type"),
                    allow_traps: row.int("allow_traps") == 1,
                    item_on: Status::Enabled.is(row.int("status")),
                    host_on: Status::Enabled.is(row.int("host_status")),
                };
                (row.id("itemid"), taker)
            })
            .collect();
        Ok(Self { by_id, by_key })
    }

    /// The item's id (0 = unknown) and why it does not take the value.
    fn check(&self, value: &Pushed) -> (u64, Option<&'static str>) {
        const TRAPPER: i64 = 2;
        const HTTP_AGENT: i64 = 19;
        let id = value
            .itemid
            .or_else(|| self.by_key.get(&(value.host.clone(), value.key.clone())).copied());
        let Some((id, taker)) = id.and_then(|id| self.by_id.get(&id).map(|taker| (id, taker)))
        else {
            return (id.unwrap_or(0), Some(NO_RIGHT));
        };
        let refused = if taker.kind != TRAPPER && taker.kind != HTTP_AGENT {
            Some("Unsupported item type.")
        } else if taker.kind == HTTP_AGENT && !taker.allow_traps {
            Some("HTTP agent item trapping is not enabled.")
        } else if !taker.item_on {
            Some("Item is disabled.")
        } else if !taker.host_on {
            Some("Host is not monitored.")
        } else {
            None
        };
        (id, refused)
    }
}
