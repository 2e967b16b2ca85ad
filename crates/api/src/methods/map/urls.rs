//! URLs that elements have from their map, with macros expanded.

use std::collections::BTreeMap;

use config::db::{Row, query_by_ids};
use objects::MapElementType;
use serde_json::json;

use super::rights::kind;
use crate::call::{Call, Json};
use crate::error::ApiResult;

/// What stands for a macro without a value.
const UNKNOWN: &str = "*UNKNOWN*";

/// URLs by map; each of these maps has an entry.
pub(super) fn of_maps(call: &Call<'_>, maps: &[u64]) -> ApiResult<BTreeMap<u64, Vec<Row>>> {
    let sql = "SELECT * FROM map_urls WHERE sysmapid IN ({ids}) ORDER BY sysmapid, sysmapurlid";
    let rows = call.read(|c| Ok(query_by_ids(c, sql, &[], maps)?))?;
    let mut urls: BTreeMap<u64, Vec<Row>> = maps.iter().map(|map| (*map, Vec::new())).collect();
    for row in rows {
        urls.entry(row.id("sysmapid")).or_default().push(row);
    }
    Ok(urls)
}

/// The macro with the id of what an element of a type shows.
const fn macro_of(kind: MapElementType) -> Option<&'static str> {
    match kind {
        MapElementType::Host => Some("{HOST.ID}"),
        MapElementType::Map => Some("{MAP.ID}"),
        MapElementType::Trigger => Some("{TRIGGER.ID}"),
        MapElementType::HostGroup => Some("{HOSTGROUP.ID}"),
        MapElementType::Image => None,
    }
}

/// The URLs of the map for an element, then its own, with macros expanded. The hosts of a group have the
/// URLs of hosts.
pub(super) fn expanded(own: Json, of_map: &[Row], element: &Row, shown: &[u64]) -> Json {
    let kind = kind(element);
    let is_of_hosts = kind == MapElementType::HostGroup && element.int("elementsubtype") == 1;
    let wanted = if is_of_hosts { MapElementType::Host } else { kind };
    let of_map = of_map.iter().filter(|row| wanted.is(row.int("elementtype")));
    let of_map = of_map.map(|row| {
        json!({
            "sysmapurlid": row.id("sysmapurlid").to_string(),
            "sysmapid": row.id("sysmapid").to_string(),
            "name": row.text("name"),
            "url": row.text("url"),
            "elementtype": row.int("elementtype").to_string(),
        })
    });
    let Json::Array(own) = own else { return own };
    let mut urls: Vec<Json> = of_map.chain(own).collect();
    for url in &mut urls {
        for member in ["name", "url"] {
            let text = url.get(member).and_then(Json::as_str).unwrap_or_default();
            url[member] = filled(text, kind, shown.first().copied()).into();
        }
    }
    urls.into()
}

fn filled(text: &str, kind: MapElementType, id: Option<u64>) -> String {
    let mut text = text.to_owned();
    for one in MapElementType::ALL {
        let Some(name) = macro_of(*one) else { continue };
        let own = id.filter(|_| *one == kind).map(|id| id.to_string());
        text = text.replace(name, own.as_deref().unwrap_or(UNKNOWN));
    }
    text
}
