use serde_json::json;

use crate::testing::Server;

#[test]
fn interfaces_of_a_host() {
    let server = Server::start();
    let g = server.create("hostgroup.create", &json!({ "name": "g" }));
    let h = server.create("host.create", &json!({ "host": "h", "groups": { "groupid": g } }));
    let other = server.create("host.create", &json!({ "host": "o", "groups": { "groupid": g } }));
    let interface = |main: i64, port: &str| json!({ "hostid": h, "type": 1, "main": main, "useip": 1, "ip": "1.1.1.1", "dns": "", "port": port });
    server.refuses(&[(
        "hostinterface.create",
        interface(0, "1"),
        -32602,
        "No default interface for \"agent\" type on \"h\".",
    )]);
    let first = server.create("hostinterface.create", &interface(1, "1"));
    let second = server.create("hostinterface.create", &interface(0, "2"));
    server.write_sql(&[&format!(
        "INSERT INTO items (itemid, hostid, name, interfaceid) VALUES (1, {h}, 'i', {first})"
    )]);
    let mut wrong = interface(0, "1");
    wrong["hostid"] = json!("999");
    server.refuses(&[
        ("hostinterface.create", wrong, -32602, "No permissions"),
        ("hostinterface.create", json!({ "hostid": h }), -32602, "is missing"),
        ("hostinterface.create", interface(1, "3"), -32602, "more than one default"),
        (
            "hostinterface.update",
            json!({ "interfaceid": first, "main": 0 }),
            -32602,
            "No default interface",
        ),
        (
            "hostinterface.update",
            json!({ "interfaceid": first, "hostid": other }),
            -32602,
            "Cannot switch host",
        ),
        (
            "hostinterface.update",
            json!({ "interfaceid": first, "ip": "" }),
            -32602,
            "IP and DNS cannot be empty",
        ),
        (
            "hostinterface.update",
            json!({ "interfaceid": "999", "port": "1" }),
            -32602,
            "No permissions",
        ),
        (
            "hostinterface.delete",
            json!([first]),
            -32602,
            "Interface is linked to item \"i\" on \"h\".",
        ),
        (
            "hostinterface.get",
            json!({ "sortfield": "port" }),
            -32500,
            "Sorting by field \"port\" not allowed.",
        ),
    ]);
    server.answers(&[
        ("hostinterface.update", json!({ "interfaceid": second, "port": "{$P}" }), json!({ "interfaceids": [second] })),
        ("hostinterface.get", json!({ "interfaceids": second, "output": ["port", "details", "error"], "selectHosts": ["host"] }),
            json!([{ "interfaceid": second, "port": "{$P}", "error": "", "details": [], "hosts": [{ "hostid": h, "host": "h" }] }])),
        ("hostinterface.get", json!({ "itemids": 1, "output": "refer" }), json!([{ "interfaceid": first }])),
        ("hostinterface.delete", json!([second]), json!({ "interfaceids": [second] })),
    ]);
}
