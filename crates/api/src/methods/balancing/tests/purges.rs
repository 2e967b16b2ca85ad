//! Orders to remove stored responses.

use serde_json::json;

use super::Edge;

#[test]
fn a_purge_names_each_engine_of_the_service_with_its_error() {
    let edge = Edge::start();
    let params = json!({ "virtualserviceids": [edge.service], "prefix": "www.example.com/a/" });
    let purged = edge.server.call("virtualservice.purge", &params).unwrap();
    let engine = json!({
        "engineid": edge.engine, "name": "lb-1", "purged": "0",
        "error": "the server does not listen for engines",
    });
    let service = json!({
        "virtualserviceid": edge.service, "purged": "0", "engines": [engine],
    });
    assert_eq!(purged, json!([service]));
}

#[test]
fn a_purge_says_exactly_once_what_it_removes() {
    let edge = Edge::start();
    for (members, text) in [
        (json!({}), "one of \"uri\", \"prefix\" and \"all\" is expected"),
        (json!({ "all": false }), "one of \"uri\", \"prefix\" and \"all\" is expected"),
        (
            json!({ "uri": "a/b", "all": true }),
            "one of \"uri\", \"prefix\" and \"all\" is expected",
        ),
        (json!({ "uri": "/b" }), "needs a host and a path"),
        (json!({ "prefix": "a" }), "needs a host and a path"),
        (json!({ "all": true, "virtualserviceids": [] }), "cannot be empty"),
        (json!({ "all": true, "virtualserviceids": ["77"] }), "No permissions"),
        (json!({ "all": true, "uris": [] }), "unexpected parameter \"uris\""),
    ] {
        let mut params = json!({ "virtualserviceids": [edge.service] });
        for (name, value) in members.as_object().unwrap() {
            params[name] = value.clone();
        }
        let (_, found) = edge.server.call("virtualservice.purge", &params).unwrap_err();
        assert!(found.contains(text), "{members}: {found}");
    }
}
