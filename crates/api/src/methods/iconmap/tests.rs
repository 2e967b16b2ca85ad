use serde_json::{Value as Json, json};

use crate::testing::Server;

fn icon(server: &Server) -> String {
    server.text("SELECT imageid FROM images WHERE name = 'Server_(64)'")
}

fn mapping(server: &Server, link: i64, expression: &str) -> Json {
    json!({ "iconid": icon(server), "inventory_link": link, "expression": expression })
}

#[test]
fn mappings_keep_their_order() {
    let server = Server::start();
    let mappings = json!([mapping(&server, 5, "Debian"), mapping(&server, 1, "^switch")]);
    let new = json!({ "name": "icons", "default_iconid": icon(&server), "mappings": mappings });
    let id = server.create("iconmap.create", &new);
    let shown = || {
        let params = json!({ "iconmapids": id, "selectMappings": ["expression", "sortorder"] });
        server.call("iconmap.get", &params).unwrap()[0]["mappings"].clone()
    };
    let row = |expression: &str, sortorder: &str| json!({ "expression": expression, "sortorder": sortorder });
    assert_eq!(shown(), json!([row("Debian", "0"), row("^switch", "1")]));
    let mappings = json!([mapping(&server, 1, "^switch"), mapping(&server, 1, "b")]);
    server.call("iconmap.update", &json!({ "iconmapid": id, "mappings": mappings })).unwrap();
    assert_eq!(shown(), json!([row("^switch", "0"), row("b", "1")]));
}

#[test]
fn wrong_icon_maps_are_refused() {
    let server = Server::start();
    let new = |mapping: Json| json!({ "name": "icons", "default_iconid": icon(&server), "mappings": [mapping] });
    let of = |link: i64, expression: &str| new(mapping(&server, link, expression));
    let mut sorted = of(1, "a");
    sorted["mappings"][0]["sortorder"] = 1.into();
    let mut strange = of(1, "a");
    strange["default_iconid"] = "99999".into();
    server.refuses(&[
        ("iconmap.create", of(0, "a"), -32602, "inventory_link"),
        ("iconmap.create", of(71, "a"), -32602, "inventory_link"),
        ("iconmap.create", of(1, ""), -32602, "expression"),
        ("iconmap.create", of(1, "("), -32602, "invalid regular expression"),
        ("iconmap.create", of(1, "@no"), -32602, "\"no\" does not exist"),
        ("iconmap.create", sorted, -32602, "unexpected parameter \"sortorder\""),
        ("iconmap.create", strange, -32602, "99999"),
        ("iconmap.create", json!({ "name": "icons" }), -32602, "default_iconid"),
    ]);
    server.create("iconmap.create", &of(1, "a"));
    server.refuses(&[("iconmap.create", of(1, "a"), -32602, "already exists")]);
}

#[test]
fn icon_maps_in_use_stay() {
    let server = Server::start();
    let new = json!({ "name": "icons", "default_iconid": icon(&server),
                      "mappings": [mapping(&server, 1, "a")] });
    let id = server.create("iconmap.create", &new);
    let map = json!({ "name": "plan", "width": 9, "height": 9, "iconmapid": id });
    let map = server.create("map.create", &map);
    let found = server.call("map.get", &json!({ "sysmapids": map, "selectIconMap": ["name"] }));
    assert_eq!(found.unwrap()[0]["iconmap"]["name"], "icons");
    let refused = server.call("iconmap.delete", &json!([id])).unwrap_err();
    assert!(refused.1.contains("plan"), "{}", refused.1);
    server.call("map.delete", &json!([map])).unwrap();
    server.call("iconmap.delete", &json!([id])).unwrap();
}
