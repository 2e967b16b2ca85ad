//! Rows through an answer that has no room for a second block are the same as rows at once; what a statement may have.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::json;

use crate::answer::{Answer, Hold, Outlet};
use crate::call::{Gone, Json, User};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::object::{Access, Field, FieldKind, Mode, Object, field};
use crate::params;
use crate::rpc::{self, Origin};
use crate::testing::Server;

/// Keeps blocks and says from the first one on that the next would have to wait.
struct Full(Rc<RefCell<Vec<u8>>>);

impl Outlet for Full {
    fn send(&mut self, block: &[u8]) -> ApiResult<()> {
        self.0.borrow_mut().extend_from_slice(block);
        Ok(())
    }
    fn is_full(&self) -> bool {
        !self.0.borrow().is_empty()
    }
    fn hold(&mut self, _bytes: usize) -> ApiResult<Hold> {
        Ok(Hold::default())
    }
    fn end(self: Box<Self>, rest: Vec<u8>) {
        self.0.borrow_mut().extend(rest);
    }
}

fn streamed(server: &Server, calls: &Json) -> Json {
    let text = Rc::default();
    let answer = Answer::through(Box::new(Full(Rc::clone(&text))));
    let token = server.login("Admin", "zabbix");
    let origin = Origin { peer: [127, 0, 0, 1].into(), gone: Gone::default() };
    let body = calls.to_string();
    rpc::handle(&server.api, body.as_bytes(), Some(&token), &origin, &answer).unwrap();
    answer.end();
    serde_json::from_slice(&text.take()).unwrap()
}

#[test]
fn windows_give_what_one_statement_gives() {
    let server = Server::start();
    let groups: Json =
        (0..1_200).map(|n| json!({ "name": format!("{:05}", n * 7 % 1_200) })).collect();
    let group = server.create("hostgroup.create", &groups);
    let one = |n: usize| {
        json!({
            "host": format!("h{n}"), "groups": [{ "groupid": group }], "tags": [{ "tag": "n", "value": "\"" }],
            "interfaces": [{ "type": 1, "main": 1, "useip": 1, "ip": "127.0.0.1", "dns": "", "port": n }],
        })
    };
    let hosts: Json = (0..130).map(one).collect();
    server.call("host.create", &hosts).unwrap();
    let calls = [
        ("hostgroup.get", json!({})),
        ("hostgroup.get", json!({ "output": ["name"], "sortfield": "name", "sortorder": "DESC" })),
        ("hostgroup.get", json!({ "preservekeys": true, "limit": 1_100, "offset": 3 })),
        ("hostgroup.get", json!({ "selectHosts": ["host"], "sortfield": "name" })),
        ("hostgroup.get", json!({ "groupids": ["1"], "preservekeys": true })),
        ("hostgroup.get", json!({ "groupids": ["999999"], "preservekeys": true })),
        ("hostgroup.get", json!({ "countOutput": true })),
        (
            "host.get",
            json!({ "selectInterfaces": "extend", "selectTags": "extend", "sortfield": "name" }),
        ),
        (
            "host.get",
            json!({ "output": ["host"], "selectHostGroups": ["name"], "selectItems": ["name"] }),
        ),
        ("host.get", json!({ "output": [], "selectInterfaces": "count", "preservekeys": true })),
        ("host.get", json!({})),
        ("hostinterface.get", json!({})),
        ("host.get", json!({ "output": "nonsense" })),
        ("hostinterface.get", json!({ "selectHosts": "extend" })),
        ("host.get", json!({ "filter": { "host": "h7" }, "selectInterfaces": ["port"] })),
        ("host.get", json!({ "selectInventory": 5 })),
    ];
    let batch: Json = calls
        .iter()
        .enumerate()
        .map(|(n, (method, params))| {
            json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": n })
        })
        .collect();
    let answers = streamed(&server, &batch);
    let token = server.login("Admin", "zabbix");
    for (n, (method, params)) in calls.iter().enumerate() {
        let alone = streamed(&server, &batch[n]);
        assert_eq!(alone["id"], json!(n));
        assert!(alone == answers[n], "{method} {params} in a batch");
        match server.api.call(method, params, &token, [127, 0, 0, 1].into()) {
            Ok(whole) => assert!(alone["result"] == whole, "{method} {params}"),
            Err(error) => {
                assert_eq!(alone["error"]["data"], json!(error.data), "{method} {params}");
            }
        }
    }
    assert!(answers[0]["result"].as_array().unwrap().len() >= 1_200);
}

const NAMED: &[Field] = &[
    field("groupid", FieldKind::Id, Access::ReadOnly, ""),
    field("name", FieldKind::Name(255), Access::Required, ""),
    field("uuid", FieldKind::Settings, Access::Optional, "").named(),
];

static LOOSE: Object = Object {
    name: "loose",
    table: "(SELECT roleid AS groupid, name, '' AS uuid FROM roles)",
    key: "groupid",
    keys: "groupids",
    fields: NAMED,
    strict: false,
    sort: &["groupid"],
};
static STRICT: Object = Object { name: "strict", strict: true, ..LOOSE };

#[test]
fn fields_of_our_own_are_shown_only_by_name() {
    let server = Server::start();
    let get = |object: &'static Object, output: Json| {
        let params = json!({ "output": output, "limit": 1 });
        server.with_call(User::system(), |call| {
            let found = Get::new(call, &params, object, &[])?.run()?.finish();
            let names = found[0].as_object().map(|row| Vec::from_iter(row.keys().cloned()));
            Ok::<_, ApiError>((names.unwrap_or_default(), found[0]["uuid"].clone()))
        })
    };
    for object in [&LOOSE, &STRICT] {
        assert_eq!(get(object, json!("extend")).unwrap().0, ["groupid", "name"]);
        let (names, value) = get(object, json!(["groupid", "uuid"])).unwrap();
        assert_eq!((names.len(), names[1].as_str(), value), (2, "uuid", Json::Null));
    }
    let error = get(&STRICT, json!(["other"])).unwrap_err().data;
    assert!(error.ends_with("value must be one of \"groupid\", \"name\"."), "{error}");
    let new = json!({ "name": "x", "uuid": { "a": 1 } });
    assert_eq!(LOOSE.validate(&new, "/1", Mode::Create).unwrap().len(), 1);
    let given = |uuid: Json| {
        params::settings(&json!({ "uuid": uuid }), "uuid", "/1").map(|v| v.flatten().is_some())
    };
    assert!(given(json!({ "a": 1 })).unwrap());
    assert!(!given(Json::Null).unwrap() && !given(json!("")).unwrap());
    assert!(given(json!([])).unwrap_err().data.contains("\"/1/uuid\": an object or null"));
}

#[test]
fn more_than_a_statement_may_have_is_refused() {
    let server = Server::start();
    let texts = |n: usize| (0..n).map(|n| format!("t{n}")).collect::<Vec<_>>();
    let tags = |n: usize| texts(n).iter().map(|tag| json!({ "tag": tag })).collect::<Json>();
    let refused = |method: &str, params: Json, error: &str| {
        let expected = format!("Invalid parameter {error}.");
        assert_eq!(server.call(method, &params), Err((-32_602, expected)), "{method}");
    };
    for method in ["host.get", "problem.get", "service.get"] {
        let many = json!({ "search": { "name": texts(801) } });
        refused(method, many, "\"/search/name\": at most 800 values can be given");
        refused(method, json!({ "tags": tags(801) }), "\"/tags\": at most 800 values can be given");
        let long = json!({ "search": { "name": "x".repeat(50_001) } });
        refused(method, long, "\"/search/name\": value is too long");
        let long = json!({ "tags": [{ "tag": "t", "value": "!".repeat(50_001) }] });
        refused(method, long, "\"/tags/1/value\": value is too long");
        let many = json!({ "filter": { "name": texts(32_001) } });
        refused(method, many, "\"/\": at most 32000 values can be given");
        let fitting = json!({
            "search": { "name": texts(800) }, "filter": { "name": texts(20_000) }, "tags": tags(800),
        });
        assert_eq!(server.call(method, &fitting), Ok(json!([])), "{method}");
    }
    let again = json!({ "sortfield": vec!["hostid"; 3_000] });
    assert_eq!(server.call("host.get", &again), server.call("host.get", &json!({})));
}
