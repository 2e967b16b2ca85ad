//! What only the running server can tell. `item.test` and `queue.get` are requests of the trapper
//! port at the field's server, methods here, so that a browser can ask; `capacity.get` is ours.

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::params;
use crate::permission::{Need, on_hosts};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("item.test", test_item),
    Method::super_admin("capacity.get", capacity),
    Method::super_admin("queue.get", queue),
];

/// Tests an item or preprocessing steps. Fetching a value needs the right to change the host,
/// since users who change an item can fetch any value.
fn test_item(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    if !input.is_object() {
        return Err(ApiError::at("/", "an object is expected"));
    }
    if let Some(condition) = on_hosts(call.user(), Need::Write, "h.hostid") {
        match input.pointer("/host/hostid") {
            Some(host) => {
                let id = params::id(host, "/host/hostid")?;
                let sql = format!("SELECT h.hostid FROM hosts h WHERE h.hostid = {id}");
                if call.rows(&format!("{sql} AND {condition}"), &[])?.is_empty() {
                    return Err(ApiError::no_object());
                }
            }
            None if input.pointer("/item/value").is_none() => {
                return Err(ApiError::at("/host", "the parameter \"hostid\" is missing"));
            }
            None => {}
        }
    }
    crate::item_test::test(call.api, input).map_err(ApiError::params)
}

fn queue(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let kind = match input.get("type") {
        Some(kind) => params::text(kind, "/type")?,
        None => return Err(ApiError::at("/", "the parameter \"type\" is missing")),
    };
    let limit = match input.get("limit") {
        None | Some(Json::Null) => None,
        Some(limit) => Some(params::id(limit, "/limit")?),
    };
    call.api.deps.live.queue(&kind, limit).map_err(ApiError::params)
}

fn capacity(call: &Call<'_>, _input: &Json) -> ApiResult<Json> {
    Ok(call.api.deps.live.capacity())
}

#[cfg(test)]
mod tests {
    use objects::ItemType;
    use serde_json::json;

    use super::Json;
    use crate::testing::Server;

    #[test]
    fn who_may_ask() {
        let server = Server::start();
        let test = json!({ "item": { "value": "5", "value_type": 3 } });
        let fetch = |host: &str| {
            let item = json!({ "key": "k", "type": ItemType::External.number(), "value_type": 4 });
            json!({ "item": item, "host": { "hostid": host } })
        };
        server.answers(&[
            ("item.test", test.clone(), json!({ "preprocessing": { "steps": [], "result": "5" } })),
            (
                "item.test",
                fetch("99999"),
                json!({
                    "item": { "result": "k of 99999", "eol": "LF" },
                    "preprocessing": { "steps": [], "result": "k of 99999" },
                }),
            ),
            ("queue.get", json!({ "type": "overview", "limit": "7" }), json!(7)),
            ("capacity.get", json!({}), json!({ "resources": [] })),
        ]);
        server.refuses(&[
            ("item.test", json!([]), -32602, "an object is expected"),
            ("queue.get", json!({}), -32602, "\"type\" is missing"),
            ("queue.get", json!({ "type": "details" }), -32602, "no such queue"),
        ]);
        let group = server.create("usergroup.create", &json!({ "name": "admins" }));
        let hosts = server.create("hostgroup.create", &json!({ "name": "theirs" }));
        let host =
            server.create("host.create", &json!({ "host": "h", "groups": [{ "groupid": hosts }] }));
        for (name, role) in [("user", "1"), ("admin", "2")] {
            server.create(
                "user.create",
                &json!({
                    "username": name, "passwd": "Long-enough-1", "roleid": role,
                    "usrgrps": [{ "usrgrpid": group }],
                }),
            );
        }
        let user = server.login("user", "Long-enough-1");
        let admin = server.login("admin", "Long-enough-1");
        let may = |session: &str, method: &str, params: Json| {
            server.call_as(Some(session), method, &params).is_ok()
        };
        assert!(!may(&user, "item.test", test.clone()));
        assert!(may(&admin, "item.test", test));
        assert!(!may(&admin, "item.test", json!({ "item": { "key": "k" } })));
        assert!(!may(&admin, "item.test", fetch(&host)));
        let rights = json!({
            "usrgrpid": group, "hostgroup_rights": [{ "id": hosts, "permission": 3 }],
        });
        server.call("usergroup.update", &rights).unwrap();
        assert!(may(&admin, "item.test", fetch(&host)));
        assert!(!may(&admin, "queue.get", json!({ "type": "overview" })));
        assert!(!may(&admin, "capacity.get", json!({})));
    }
}
