//! What widgets refer to must exist, and the user must be able to read it.

use std::collections::BTreeMap;

use objects::WidgetFieldType;
use serde_json::{Map, json};

use super::layout::Page;
use super::stored::Stored;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::methods::{action, graph, group, host, item, map, mediatype, service, sla, user};
use crate::object::Object;
use crate::rpc;

/// In the order in which errors are reported.
const ORDER: [WidgetFieldType; 12] = [
    WidgetFieldType::Item,
    WidgetFieldType::ItemPrototype,
    WidgetFieldType::Graph,
    WidgetFieldType::GraphPrototype,
    WidgetFieldType::HostGroup,
    WidgetFieldType::Host,
    WidgetFieldType::Map,
    WidgetFieldType::Service,
    WidgetFieldType::Sla,
    WidgetFieldType::User,
    WidgetFieldType::Action,
    WidgetFieldType::MediaType,
];

fn object_of(kind: WidgetFieldType) -> Option<&'static Object> {
    Some(match kind {
        WidgetFieldType::Integer | WidgetFieldType::Text => return None,
        WidgetFieldType::HostGroup => &group::HOST_GROUP,
        WidgetFieldType::Host => &host::HOST,
        WidgetFieldType::Item => &item::ITEM,
        WidgetFieldType::ItemPrototype => &item::PROTOTYPE,
        WidgetFieldType::Graph => &graph::GRAPH,
        WidgetFieldType::GraphPrototype => &graph::PROTOTYPE,
        WidgetFieldType::Map => &map::MAP,
        WidgetFieldType::Service => &service::SERVICE,
        WidgetFieldType::Sla => &sla::SLA,
        WidgetFieldType::User => &user::USER,
        WidgetFieldType::Action => &action::ACTION,
        WidgetFieldType::MediaType => &mediatype::MEDIA_TYPE,
    })
}

/// Those of these objects that the user can read, by id. Items and graphs come with their hosts.
pub(crate) fn readable(
    call: &Call<'_>,
    kind: WidgetFieldType,
    ids: &[u64],
) -> ApiResult<Map<String, Json>> {
    let Some(object) = object_of(kind) else { return Ok(Map::new()) };
    let method = format!("{}.get", object.name);
    if rpc::lowest_type(&method).is_some_and(|lowest| call.user().kind < lowest) {
        return Ok(Map::new());
    }
    let mut params = json!({ object.keys: ids, "output": [object.key], "preservekeys": true });
    match kind {
        WidgetFieldType::Item => {
            params["webitems"] = true.into();
            params["output"] = json!([object.key, "hostid"]);
        }
        WidgetFieldType::ItemPrototype => params["output"] = json!([object.key, "hostid"]),
        WidgetFieldType::Graph | WidgetFieldType::GraphPrototype => {
            params["selectHosts"] = json!(["hostid"]);
        }
        _ => {}
    }
    match rpc::run_inner(call, &method, &params)? {
        Json::Object(found) => Ok(found),
        _ => Ok(Map::new()),
    }
}

/// Whether an item or graph is one of this host or template. Other objects are of none.
fn is_on(kind: WidgetFieldType, object: &Json, host: &str) -> bool {
    let is_host = |node: &Json| node.get("hostid").and_then(Json::as_str) == Some(host);
    match kind {
        WidgetFieldType::Item | WidgetFieldType::ItemPrototype => is_host(object),
        WidgetFieldType::Graph | WidgetFieldType::GraphPrototype => {
            object.get("hosts").and_then(Json::as_array).into_iter().flatten().any(is_host)
        }
        _ => true,
    }
}

/// The error about an object of this name.
pub(super) fn not_available(name: &str, id: u64) -> ApiError {
    ApiError::params(format!("{name} with ID \"{id}\" is not available."))
}

/// Refuses widgets that refer to what the user cannot read, or a template's dashboard to items and
/// graphs of others. What a stored widget refers to already is not checked again.
pub(super) fn check(
    call: &Call<'_>,
    pages: &[Page],
    template: Option<u64>,
    stored: &Stored,
) -> ApiResult<()> {
    let mut wanted: BTreeMap<WidgetFieldType, Vec<u64>> = BTreeMap::new();
    for widget in pages.iter().flat_map(|page| page.widgets.iter().flatten()) {
        let known = stored.fields(widget.id.unwrap_or(0));
        for field in widget.fields.iter().flatten() {
            let Some(id) = field.object() else { continue };
            let is_known =
                known.iter().any(|one| one.kind == field.kind && one.object() == Some(id));
            let ids = wanted.entry(field.kind).or_default();
            if !is_known && !ids.contains(&id) {
                ids.push(id);
            }
        }
    }
    let template = template.map(|id| id.to_string());
    for kind in ORDER {
        let Some(ids) = wanted.get(&kind).filter(|ids| !ids.is_empty()) else { continue };
        let found = readable(call, kind, ids)?;
        let is_available = |id: &&u64| {
            let object = found.get(&id.to_string());
            object.is_some_and(|one| template.as_deref().is_none_or(|host| is_on(kind, one, host)))
        };
        if let Some(id) = ids.iter().find(|id| !is_available(id)) {
            return Err(not_available(kind.label(), *id));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_reference_is_checked() {
        for kind in WidgetFieldType::ALL {
            assert_eq!(ORDER.contains(kind), kind.refers(), "{kind:?}");
            assert_eq!(object_of(*kind).is_some(), kind.refers(), "{kind:?}");
        }
    }
}
