//! `virtualservice.purge`: removes stored responses from the caches of engines.

use std::collections::BTreeMap;

use balancing::{Order, Purge};
use config::db::query_by_ids;
use serde_json::{Map, Value as Json, json};

use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::params;
use crate::write::{only, required_list};

/// Virtual services of one call.
const SERVICES_MAX: usize = 100;

/// A virtual service with the engines that may have its responses.
struct Found {
    name: String,
    /// Ids and names.
    engines: Vec<(u64, String)>,
}

pub(super) fn purge(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = input.as_object().ok_or_else(|| ApiError::at("/", "an object is expected"))?;
    only(members, "/", &["virtualserviceids", "uri", "prefix", "all"])?;
    let ids = required_list(input, "virtualserviceids")?;
    if ids.len() > SERVICES_MAX {
        let path = "/virtualserviceids";
        return Err(ApiError::at(path, format_args!("limited to {SERVICES_MAX} virtual services")));
    }
    let purge = what(members)?;
    let services = found(call, &ids)?;
    let services = ids.iter().map(|id| services.get(id).ok_or_else(ApiError::no_object));
    let services: Vec<&Found> = services.collect::<ApiResult<_>>()?;
    let live = &call.api.deps.live;
    let all = ids.iter().zip(services).map(|(id, service)| {
        let order = Order { service: Some(service.name.clone()), purge: purge.clone() };
        let engines: Vec<u64> = service.engines.iter().map(|(id, _)| *id).collect();
        let purged = live.purge(&engines, &order);
        let removed: u64 = purged.iter().filter_map(|(_, purged)| purged.as_ref().ok()).sum();
        let engines = purged.iter().zip(&service.engines).map(|((id, purged), (_, name))| {
            let (count, error) = match purged {
                Ok(count) => (*count, ""),
                Err(error) => (0, &**error),
            };
            json!({
                "engineid": id.to_string(),
                "name": name,
                "purged": count.to_string(),
                "error": error,
            })
        });
        json!({
            "virtualserviceid": id.to_string(),
            "purged": removed.to_string(),
            "engines": engines.collect::<Vec<_>>(),
        })
    });
    Ok(all.collect())
}

/// Exactly one of the members names what is removed.
fn what(members: &Map<String, Json>) -> ApiResult<Purge> {
    let (uri, prefix) = (members.get("uri"), members.get("prefix"));
    let (path, purge) = match (uri, prefix, params::flag(members.get("all"))) {
        (Some(uri), None, false) => ("/uri", Purge::Uri(params::text(uri, "/uri")?)),
        (None, Some(prefix), false) => ("/prefix", Purge::Prefix(params::text(prefix, "/prefix")?)),
        (None, None, true) => ("/all", Purge::All),
        _ => {
            let text = "one of \"uri\", \"prefix\" and \"all\" is expected";
            return Err(ApiError::at("/", text));
        }
    };
    purge.check().map_err(|problem| ApiError::at(path, problem))?;
    Ok(purge)
}

/// The virtual services with these ids.
fn found(call: &Call<'_>, ids: &[u64]) -> ApiResult<BTreeMap<u64, Found>> {
    call.read(|connection| {
        let mut services = BTreeMap::new();
        let sql = "SELECT virtualserviceid, name FROM virtualservices \
                   WHERE virtualserviceid IN ({ids})";
        for row in query_by_ids(connection, sql, &[], ids)? {
            let found = Found { name: row.text("name").to_owned(), engines: Vec::new() };
            services.insert(row.id("virtualserviceid"), found);
        }
        let sql = "SELECT v.virtualserviceid, e.engineid, e.name FROM virtualservices v \
                   JOIN engines e ON e.enginegroupid = v.enginegroupid \
                   WHERE v.virtualserviceid IN ({ids}) ORDER BY e.engineid";
        for row in query_by_ids(connection, sql, &[], ids)? {
            if let Some(found) = services.get_mut(&row.id("virtualserviceid")) {
                found.engines.push((row.id("engineid"), row.text("name").to_owned()));
            }
        }
        Ok(services)
    })
}
