//! What a change of an object of Avi changes in the objects of the JSON-RPC API. These also have members and
//! values that the object of Avi does not express; they stay.

use serde_json::Value as Json;

use crate::{Members, agrees};

/// For each part of a plan, the position of the object that it is: the one with the same port, otherwise the
/// next one that is left. Objects without ports are one.
#[must_use]
pub fn pair(ports: &[&Json], objects: &[Json]) -> Vec<Option<usize>> {
    let mut free: Vec<usize> = (0..objects.len()).collect();
    let mut take = |is_meant: &dyn Fn(&Json) -> bool| {
        let found = free.iter().position(|n| is_meant(&objects[*n]["port"]))?;
        Some(free.remove(found))
    };
    let mut pairs: Vec<Option<usize>> =
        ports.iter().map(|port| take(&|own| agrees(port, own))).collect();
    for one in pairs.iter_mut().filter(|one| one.is_none()) {
        *one = take(&|_| true);
    }
    pairs
}

/// Documents whose members stand alone. Another document without members switches something off.
const SETTINGS: [&str; 4] = ["eject", "forwarded", "limits", "timeouts"];

/// The parameters of an update of `actual`: what differs between `before` and `after`, both translated from
/// objects of Avi. The name is always that of `after`.
#[must_use]
pub fn changes(actual: &Json, before: &Members, after: &Members) -> Members {
    let mut changes = Members::new();
    for (name, value) in after {
        let old = before.get(name).unwrap_or(&Json::Null);
        if name == "name" && !agrees(value, &actual[name]) {
            changes.insert(name.clone(), value.clone());
        } else if name != "name" && old != value {
            let is_off = value.as_object().is_some_and(Members::is_empty);
            let value = match is_off && !SETTINGS.contains(&name.as_str()) {
                true => value.clone(),
                false => merged(&actual[name], old, value),
            };
            changes.insert(name.clone(), value);
        }
    }
    changes
}

/// `after`, with what `actual` has and `before` does not say.
fn merged(actual: &Json, before: &Json, after: &Json) -> Json {
    match (actual, after) {
        // Another type has other members.
        (Json::Object(own), Json::Object(after)) if own.get("type") == after.get("type") => {
            let old = |name: &str| before.get(name).unwrap_or(&Json::Null);
            let mut out = own.clone();
            for name in before.as_object().into_iter().flat_map(Members::keys) {
                if !after.contains_key(name) {
                    out.shift_remove(name);
                }
            }
            for (name, value) in after {
                if !own.contains_key(name) || old(name) != value {
                    let own = own.get(name).unwrap_or(&Json::Null);
                    let value = merged(own, old(name), value);
                    out.insert(
                        name.clone(),
                        if name == "alpn" { with_http3(own, value) } else { value },
                    );
                }
            }
            out.into()
        }
        (Json::Array(own), Json::Array(after)) => {
            let Some(before) = before.as_array() else { return after.to_owned().into() };
            match after.iter().chain(before).all(|one| one.get("address").is_some()) {
                true => servers(own, before, after).into(),
                false => list(own, before, after).into(),
            }
        }
        _ => after.clone(),
    }
}

/// Protocols of TLS, with HTTP/3 if the service has it: Avi has no member for it.
fn with_http3(own: &Json, mut protocols: Json) -> Json {
    const HTTP3: &str = "h3";
    let has = |list: &Json| list.as_array().is_some_and(|list| list.contains(&HTTP3.into()));
    if has(own)
        && !has(&protocols)
        && let Some(list) = protocols.as_array_mut()
    {
        list.insert(0, HTTP3.into());
    }
    protocols
}

/// Servers keep what Avi has no member for, such as the monitored host that each one is.
fn servers(own: &[Json], before: &[Json], after: &[Json]) -> Vec<Json> {
    use std::collections::HashMap;
    let address = |server: &Json| {
        let port = &server["port"];
        let port = port.as_str().map_or_else(|| port.to_string(), str::to_owned);
        (server["address"].as_str().unwrap_or_default().to_owned(), port)
    };
    let by_address =
        |all: &[Json]| all.iter().map(|one| (address(one), one.clone())).collect::<HashMap<_, _>>();
    let (own, before) = (by_address(own), by_address(before));
    let one = |server: &Json| match own.get(&address(server)) {
        Some(own) => merged(own, before.get(&address(server)).unwrap_or(&Json::Null), server),
        None => server.clone(),
    };
    after.iter().map(one).collect()
}

/// Elements that `before` does not have stay where they are: in front of those of Avi or behind them.
fn list(own: &[Json], before: &[Json], after: &[Json]) -> Vec<Json> {
    let mut gone: Vec<&Json> = before.iter().collect();
    let (mut front, mut behind, mut met) = (Vec::new(), Vec::new(), before.is_empty());
    for one in own {
        // Mostly both have the same order.
        match gone.iter().position(|known| agrees(known, one)) {
            Some(n) => {
                gone.remove(n);
                met = true;
            }
            None if after.iter().any(|new| agrees(new, one)) => {}
            None if met => behind.push(one.clone()),
            None => front.push(one.clone()),
        }
    }
    front.extend(after.iter().cloned());
    front.extend(behind);
    front
}
