//! `enginegroup.compare`: which services a change would touch. The change is made and undone within one
//! transaction, so that it is checked like a real one.

use std::collections::BTreeMap;

use config::engines::{Desired, Objects, Service};
use objects::UserType;
use serde_json::{Value as Json, json};

use super::{placement, refused};
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::object::missing;
use crate::write::only;
use crate::{params, permission, rpc};

/// Objects that the configuration of engines is made of.
const OBJECTS: &[&str] = &[
    "certificate",
    "engine",
    "enginegroup",
    "healthmonitor",
    "pool",
    "poolgroup",
    "vip",
    "virtualservice",
];

const ACTIONS: &[&str] = &["create", "update", "delete"];

/// Refuses methods that are no change of such an object, or that the user's role denies.
fn method(call: &Call<'_>, input: &Json) -> ApiResult<String> {
    let given = input.get("method").ok_or_else(|| missing("/", "method"))?;
    let given = params::text(given, "/method")?;
    let method = given.to_ascii_lowercase();
    let known = method
        .split_once('.')
        .is_some_and(|(object, action)| OBJECTS.contains(&object) && ACTIONS.contains(&action));
    if !known {
        let text = format!(
            "value must be one of {} with one of {}, such as \"pool.update\"",
            OBJECTS.join(", "),
            ACTIONS.join(", ")
        );
        return Err(ApiError::at("/method", text));
    }
    permission::check_method(call.user(), &method, UserType::SuperAdmin, &given)?;
    Ok(method)
}

pub(super) fn compare(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = input.as_object().ok_or_else(|| ApiError::at("/", "an object is expected"))?;
    only(members, "/", &["method", "moves", "params"])?;
    let with_moves = params::flag(input.get("moves"));
    let method = method(call, input)?;
    let params = input.get("params").ok_or_else(|| missing("/", "params"))?;
    let mut compared = None;
    let undone: ApiResult<()> = call.together(|call| {
        let all =
            || call.read(|connection| Objects::all(connection).map_err(|error| refused("", error)));
        let placed = || call.read(|connection| Ok(placement::groups(call, connection)?));
        let (before, placed_before) = (all()?, placed()?);
        rpc::run_inner(call, &method, params)?;
        let services = difference(&before, &all()?);
        compared = Some(match with_moves {
            false => services,
            true => {
                let moves = placement::moves(&placed_before, &placed()?, call.now());
                json!({ "services": services, "moves": moves })
            }
        });
        Err(ApiError::application("BUG: a comparison changes nothing"))
    });
    match (compared, undone) {
        (Some(compared), _) => Ok(compared),
        (None, result) => result.map(|()| Json::Null),
    }
}

pub(super) fn difference(before: &Objects, after: &Objects) -> Json {
    let (old, new) = (hashes(before), hashes(after));
    let mut services = Vec::new();
    for (id, (service, hash)) in &new {
        match old.get(id) {
            None => services.push(shown(service, "added")),
            Some((before, of_before)) => {
                if (before.group, of_before) != (service.group, hash) {
                    services.push(shown(service, "changed"));
                }
            }
        }
    }
    let removed = old.iter().filter(|(id, _)| !new.contains_key(id));
    services.extend(removed.map(|(_, (service, _))| shown(service, "removed")));
    Json::Array(services)
}

fn shown(service: &Service, change: &str) -> Json {
    json!({
        "virtualserviceid": service.id.to_string(),
        "name": service.config.name,
        "enginegroupid": service.group.to_string(),
        "change": change,
    })
}

/// Each service with the hash of the configuration of an engine that has it alone.
fn hashes(objects: &Objects) -> BTreeMap<u64, (&Service, String)> {
    let hash = |service: &Service| Desired::of(&objects.alone(service)).hash;
    objects.services.iter().map(|service| (service.id, (service, hash(service)))).collect()
}
