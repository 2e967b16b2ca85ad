//! `hanode.get`: the nodes of a high-availability cluster. A server is a cluster of its own.

use serde_json::json;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::object::Access::ReadOnly;
use crate::object::FieldKind::{Int, OneOf, Text};
use crate::object::{Object, field};
use crate::params;

pub(crate) const METHODS: &[Method] = &[Method::user("hanode.get", get)];

/// Options of other objects that nodes do not have.
const NO_SEARCH: [&str; 5] =
    ["search", "searchByAny", "startSearch", "excludeSearch", "searchWildcardsEnabled"];

/// Id of the only node.
const NODE: &str = "c000000000000000000000001";

pub(crate) static HA_NODE: Object = Object {
    name: "hanode",
    table: "(SELECT 'c000000000000000000000001' AS ha_nodeid, '' AS name, 'localhost' AS address, \
            10051 AS port, 0 AS lastaccess, 3 AS status)",
    key: "ha_nodeid",
    keys: "ha_nodeids",
    fields: &[
        field("ha_nodeid", Text(25), ReadOnly, "Id of the node."),
        field(
            "name",
            Text(255),
            ReadOnly,
            "Name; empty for a server that is no part of a cluster.",
        ),
        field("address", Text(255), ReadOnly, "Address."),
        field("port", Int(0, 65_535), ReadOnly, "Port."),
        field("lastaccess", Int(0, i64::MAX), ReadOnly, "Unix time at which it was alive."),
        field(
            "status",
            OneOf(&[0, 1, 2, 3]),
            ReadOnly,
            "0 standby, 1 stopped, 2 unavailable, 3 active.",
        ),
    ],
    strict: true,
    sort: &["name", "lastaccess", "status"],
};

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    if !call.is_super_admin() {
        return Err(ApiError::application("You do not have permission to perform this operation."));
    }
    if let Some(name) = NO_SEARCH.iter().find(|name| input.get(name).is_some()) {
        return Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\"")));
    }
    let mut get = Get::new(call, input, &HA_NODE, &["ha_nodeids"])?;
    if let Some(ids) = input.get("ha_nodeids").filter(|ids| !ids.is_null()) {
        for (n, id) in params::list(ids).into_iter().enumerate() {
            let path = format!("/ha_nodeids/{}", n + 1);
            let id = params::text(id, &path)?;
            if id.len() != NODE.len() {
                let error = format_args!("must be {} characters long", NODE.len());
                return Err(ApiError::at(&path, error));
            }
        }
        if !params::list(ids).contains(&&json!(NODE)) {
            get.and("1 = 0", []);
        }
    }
    let mut found = get.run()?;
    if found.output.has("lastaccess") {
        for row in &mut found.rows {
            row.out.insert("lastaccess", call.now().to_string().into());
        }
    }
    let keyed = params::flag(input.get("preservekeys"));
    match (found.total, keyed && !found.rows.is_empty()) {
        (None, true) => {
            let node = found.rows.remove(0).out.into_json();
            Ok(json!({ NODE: node }))
        }
        _ => Ok(found.finish()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Server;

    #[test]
    fn the_server_is_the_only_node() {
        let server = Server::start();
        let output = json!(["name", "status", "lastaccess"]);
        let node = json!({ "name": "", "lastaccess": "1800000000", "status": "3" });
        let id = server.call("hanode.get", &json!({})).unwrap()[0]["ha_nodeid"].clone();
        let id = id.as_str().unwrap();
        server.answers(&[
            ("hanode.get", json!({ "output": output }), json!([node])),
            (
                "hanode.get",
                json!({ "output": output, "ha_nodeids": id, "preservekeys": true }),
                json!({ id: node }),
            ),
            ("hanode.get", json!({ "ha_nodeids": "c000000000000000000000002" }), json!([])),
            ("hanode.get", json!({ "countOutput": true }), json!("1")),
        ]);
        server.refuses(&[
            ("hanode.get", json!({ "ha_nodeids": ["x"] }), -32602, "must be 25 characters long"),
            ("hanode.get", json!({ "search": { "port": 1 } }), -32602, "unexpected parameter"),
        ]);
        let user = server.user("u", "1", &[]);
        assert!(server.call_as(Some(&user), "hanode.get", &json!({})).is_err());
    }
}
