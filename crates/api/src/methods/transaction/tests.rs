//! Searches of records by the API.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::Ordering;

use serde_json::json;
use transactions::{
    Builder, Cached, Client, Course, Encoder, End, Position, Protocol, Request, Response, Stream,
    Target, Timings, Transaction,
};

use super::*;
use crate::call::User;
use crate::testing::Server;

const BEGIN_US: u64 = 1_700_000_000_000_000;

/// One request per second; every fifth fails at the server.
fn transaction(number: u64) -> Transaction<'static> {
    let none: &[u8] = b"";
    let status = if number.is_multiple_of(5) { 503 } else { 200 };
    Transaction {
        began_us: BEGIN_US + number * US,
        target: Target {
            engine: "lb-1",
            service: "shop",
            pool: "web",
            server: if number.is_multiple_of(2) { "app1" } else { "app2" },
        },
        client: Client { address: IpAddr::V4(Ipv4Addr::LOCALHOST), port: 1, tls: "", user: none },
        request: Request {
            protocol: Protocol::Http11,
            stream: 0,
            method: b"GET",
            host: b"shop.example",
            path: if number < 50 { b"/old" } else { b"/new" },
            query: none,
            user_agent: none,
            referer: none,
            bytes: 10,
        },
        response: Response { status, server_status: status, bytes: 100 },
        timings: Timings { total_us: 1_000 * (number + 1), ..Timings::default() },
        course: Course {
            end: End::Complete,
            tries: 1,
            reused: false,
            rules: "",
            cached: Cached::Unused,
        },
    }
}

fn server() -> Server {
    server_with((0..100).map(transaction))
}

fn server_with(all: impl Iterator<Item = Transaction<'static>>) -> Server {
    let server = Server::start();
    let mut builder = Builder::default();
    all.for_each(|one| builder.push(&one));
    let block = builder.finish(&mut Encoder::new().unwrap());
    let at = Position { file: 1, offset: 0 };
    let archive = &server.api.deps.transactions;
    archive.keep(Stream { engine: 1, ring: 1 }, at, &block, BEGIN_US).unwrap();
    server
}

#[test]
fn records_are_found_newest_first() {
    let server = server();
    let row =
        |number: u64| json!({ "began": (BEGIN_US + number * US).to_string(), "status": "503" });
    server.answers(&[
        (
            "transaction.get",
            json!({ "filter": "status=5xx", "output": ["began", "status"], "limit": 2 }),
            json!([row(95), row(90)]),
        ),
        (
            "transaction.get",
            json!({
                "filter": "fault=server path=/old", "output": ["began", "status"],
                "time_from": 1_700_000_040, "time_till": "1700000045",
            }),
            json!([row(45), row(40)]),
        ),
        ("transaction.get", json!({ "countOutput": true, "filter": "server=app1" }), json!("50")),
        ("transaction.get", json!({ "countOutput": true, "time_from": 1_700_000_098 }), json!("2")),
        ("transaction.get", json!({ "time_from": 1_800_000_000 }), json!([])),
    ]);
    let all = server.call("transaction.get", &json!({})).unwrap();
    assert_eq!(all.as_array().unwrap().len(), 100);
    assert_eq!(all[0].as_object().unwrap().len(), COLUMNS.len());
    assert_eq!((&all[0]["client"], &all[0]["total"]), (&json!("127.0.0.1"), &json!("100000")));
}

#[test]
fn pages_by_time_miss_no_record_of_the_same_time() {
    // Ten requests begin in each second.
    let of_second = |n| Transaction { began_us: BEGIN_US + n / 10 * US, ..transaction(n) };
    let server = server_with((0..50).map(of_second));
    let mut params = json!({ "output": ["began", "total"], "limit": 13 });
    let (mut pages, mut seen) = (Vec::new(), std::collections::BTreeSet::new());
    loop {
        let page = server.call("transaction.get", &params).unwrap();
        let page = page.as_array().unwrap();
        pages.push(page.len());
        let Some(last) = page.last() else { break };
        params["filter"] = format!("began<{}", last["began"].as_str().unwrap()).into();
        seen.extend(page.iter().map(|row| row["total"].as_str().unwrap().to_owned()));
    }
    assert_eq!((pages, seen.len()), (vec![20, 20, 10, 0], 50));
    let none = json!({ "output": ["began"], "limit": 0, "histogram": 2 });
    let none = server.call("transaction.get", &none).unwrap();
    assert_eq!((&none["transactions"], &none["count"]), (&json!([]), &json!("50")));
}

#[test]
fn groups_a_histogram_and_percentiles_come_along() {
    let server = server();
    let params = json!({
        "output": ["path"], "limit": 1, "histogram": 4, "percentiles": true, "group": "server",
        "groupLimit": 1, "filter": "path=/new",
    });
    let found = server.call("transaction.get", &params).unwrap();
    assert_eq!(found["transactions"], json!([{ "path": "/new" }]));
    assert_eq!((&found["count"], &found["scanned"]), (&json!("50"), &json!("100")));
    let counts = found["histogram"]["bars"].as_array().unwrap().iter();
    let counts: Vec<_> = counts.map(|bar| bar["count"].as_str().unwrap()).collect();
    assert_eq!(counts, ["0", "0", "25", "25"]);
    let max: u64 = found["percentiles"]["total"]["max"].as_str().unwrap().parse().unwrap();
    assert!((100_000..=101_000).contains(&max), "{max}");
    assert_eq!(found["percentiles"]["connect"]["p99"], "0");
    let groups = found["groups"].as_array().unwrap();
    assert_eq!((groups.len(), &groups[0]["server"]), (1, &json!("app1")));
    assert_eq!((&groups[0]["count"], &groups[0]["faults"]), (&json!("25"), &json!("5")));
    assert_eq!(found["other"]["count"], "25");
}

#[test]
fn errors_say_where_and_what_is_allowed() {
    let server = server();
    let get = |params: Json, text: &'static str| ("transaction.get", params, -32602, text);
    server.refuses(&[
        get(json!({ "filter": "status=200 stat=5" }), "columns are began, engine, service"),
        get(json!({ "filter": "status=200 stat=5" }), "at character 12: \"stat=5\""),
        get(json!({ "filter": { "status": 200 } }), "/filter"),
        get(json!({ "group": "nix" }), "/group\": value must be one of began, engine"),
        get(json!({ "output": ["began", "nix"] }), "/output/2\": value must be one of began"),
        get(json!({ "output": "count" }), "/output"),
        get(json!({ "limit": 1_001 }), "/limit\": value must be from 0 to 1000"),
        get(json!({ "histogram": -1 }), "value must be from 0 to 1000"),
        get(json!({ "groupLimit": 0 }), "value must be from 1 to 1000"),
        get(json!({ "time_from": -1 }), "seconds since 1970"),
        get(json!({ "hostids": "1" }), "unexpected parameter \"hostids\""),
        get(json!([1]), "an object is expected"),
    ]);
}

#[test]
fn only_super_admins_may_search_and_a_role_can_forbid_it() {
    let server = server();
    let refused = |role: &str, name: &str| {
        let session = server.user(name, role, &[]);
        server.call_as(Some(&session), "transaction.get", &json!({})).is_err()
    };
    assert!(refused("1", "user"));
    assert!(refused("2", "admin"));
    assert!(!refused("3", "super"));
    let rules = json!({ "api.access": 1, "api.mode": 0, "api": ["transaction.get"] });
    let role = server.create("role.create", &json!({ "name": "r", "type": 3, "rules": rules }));
    assert!(refused(&role, "restricted"));
}

#[test]
fn a_search_ends_when_its_client_leaves_and_few_run_at_once() {
    let server = server();
    server.with_call(User::system(), |call| {
        assert_eq!(get(call, &json!({ "countOutput": true })).unwrap(), json!("100"));
        let seats: Vec<_> = (0..SEARCHES_MAX).map(|_| call.api.searches.enter().unwrap()).collect();
        let error = get(call, &json!({})).unwrap_err();
        assert!(error.to_string().contains("Other searches"), "{error}");
        drop(seats);
        assert_eq!(call.api.searches.0.load(Ordering::Relaxed), 0);
        call.gone.leave();
        let error = get(call, &json!({ "countOutput": true })).unwrap_err();
        assert!(error.to_string().contains("closed the connection"), "{error}");
        assert_eq!(call.api.searches.0.load(Ordering::Relaxed), 0);
    });
}
