//! Conversations on the trapper port.

mod common;

use std::sync::atomic::Ordering;
use std::time::Duration;

use collect::testing::rig::with_extra;
use common::{Rig, counts, host, item, snapshot};
use config::snapshot::{GlobalRegexp, ItemType, MonitoredBy};
use model::ValueType;
use serde_json::json;
use wire::zbxd;

fn estate() -> config::Snapshot {
    let mut log = item(13, "log[/var/log/x,@errors]", ItemType::AgentActive, "1s");
    log.value_type = ValueType::Log;
    let mut trap_log = item(6, "trap.log", ItemType::Trapper, "");
    trap_log.value_type = ValueType::Log;
    let mut off = item(3, "trap.off", ItemType::Trapper, "");
    off.enabled = false;
    let web = vec![
        item(1, "trap.a", ItemType::Trapper, ""),
        item(2, "trap.b", ItemType::Trapper, ""),
        off,
        with_extra(item(4, "trap.far", ItemType::Trapper, ""), |e| {
            e.trapper_hosts = String::from("192.0.2.0/24");
        }),
        with_extra(item(5, "trap.near", ItemType::Trapper, ""), |e| {
            e.trapper_hosts = String::from("192.0.2.1,localhost");
        }),
        trap_log,
        with_extra(item(7, "http.open", ItemType::HttpAgent, "1m"), |e| e.allow_traps = true),
        item(8, "http.closed", ItemType::HttpAgent, "1m"),
        item(11, "system.uptime", ItemType::AgentActive, "30s;10s/1-5,09:00-18:00"),
        with_extra(item(12, "vfs.fs.get", ItemType::AgentActive, "1m"), |e| {
            e.timeout = String::from("10s");
        }),
        log,
    ];
    let mut dark = host(2, "dark", 1, vec![item(20, "trap.a", ItemType::Trapper, "")]);
    dark.monitored = false;
    let db = host(3, "db", 1, vec![item(30, "trap.a", ItemType::Trapper, "")]);
    let mut secret = host(4, "secret", 1, vec![item(40, "trap.a", ItemType::Trapper, "")]);
    secret.tls.accept = 2;
    let mut remote = host(5, "remote", 1, vec![item(50, "trap.a", ItemType::Trapper, "")]);
    remote.monitored_by = MonitoredBy::Proxy;
    let mut snapshot = snapshot(9, vec![host(1, "web", 1, web), dark, db, secret, remote]);
    let error = GlobalRegexp {
        expression: String::from("ERROR"),
        kind: 0,
        delimiter: ',',
        case_sensitive: true,
    };
    let regexps =
        [(String::from("errors"), vec![error.clone()]), (String::from("other"), vec![error])];
    snapshot.regexps = std::sync::Arc::new(regexps.into_iter().collect());
    snapshot
}

fn row(host: &str, key: &str, value: &str) -> serde_json::Value {
    json!({ "host": host, "key": key, "value": value })
}

#[tokio::test(flavor = "multi_thread")]
async fn sender_data_is_matched_stored_and_counted() {
    let rig = Rig::start(estate()).await;
    let request = json!({ "request": "sender data", "data": [
        row("web", "trap.a", "1"),
        row("db", "trap.a", "2"),
        { "host": "web", "key": "trap.b", "value": 3, "clock": 1_700_000_000, "ns": 5 },
        row("web", "trap.off", "x"),
        row("web", "trap.far", "x"),
        row("web", "trap.near", "4"),
        row("web", "http.open", "5"),
        row("web", "http.closed", "x"),
        row("web", "system.uptime", "x"),
        row("web", "no.such", "x"),
        row("nobody", "trap.a", "x"),
        row("dark", "trap.a", "x"),
        row("secret", "trap.a", "x"),
        row("remote", "trap.a", "x"),
        { "host": "web", "value": "x" },
        { "host": "web", "key": "trap.log", "value": "line", "timestamp": 77 },
    ]});
    let answer = rig.json(request).await;
    assert_eq!(counts(&answer), (6, 10));
    let mut texts = rig.shards.texts();
    texts.sort();
    let expected = [(1, "1"), (2, "3"), (5, "4"), (6, "log:line:77"), (7, "5"), (30, "2")];
    assert_eq!(texts, expected.map(|(id, text)| (id, text.to_owned())));
    let values = rig.shards.values.lock().unwrap();
    let b = values.iter().find(|v| v.item.0 == 2).unwrap();
    assert_eq!((b.at.clock, b.at.ns), (1_700_000_000, 5));
    assert_eq!(rig.context.counters.values_refused.load(Ordering::SeqCst), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_and_odd_requests() {
    let rig = Rig::start(estate()).await;
    for (request, expected) in [
        (
            json!({ "request": "sender data" }),
            json!({ "response": "failed", "info": "cannot open \"data\" token" }),
        ),
        (
            json!({ "request": "active checks", "host": "nobody" }),
            json!({ "response": "failed", "info": "host [nobody] not found" }),
        ),
        (
            json!({ "request": "active checks", "host": "dark" }),
            json!({ "response": "failed", "info": "host \"dark\" not monitored" }),
        ),
        (
            json!({ "request": "active checks", "host": "remote" }),
            json!({ "response": "failed", "info": "host \"remote\" is monitored by a proxy" }),
        ),
        (
            json!({ "request": "active checks", "host": "secret" }),
            json!({ "response": "failed", "info": "connection of type \"unencrypted\" is not allowed for host \"secret\"" }),
        ),
        (
            json!({ "request": "agent data", "host": "web", "session": "short", "data": [] }),
            json!({ "response": "failed", "info": "invalid session token length 5" }),
        ),
        (
            json!({ "request": "dance" }),
            json!({ "response": "failed", "info": "unknown request \"dance\"" }),
        ),
        (
            json!({ "request": "history.push", "sid": "x", "data": [] }),
            json!({ "response": "success", "data": "history.push" }),
        ),
        (
            json!({ "request": "zabbix.stats" }),
            json!({ "response": "failed", "info": "Permission denied." }),
        ),
    ] {
        assert_eq!(rig.json(request.clone()).await, expected, "{request}");
    }
    // Left without an answer, as the field does.
    for request in
        ["{\"request\":\"active check heartbeat\",\"host\":\"nobody\",\"heartbeat_freq\":60}"]
    {
        assert_eq!(rig.ask(request).await, None, "{request}");
    }
    assert_eq!(counts(&rig.json(json!({ "request": "sender data", "data": [] })).await), (0, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_come_as_the_request_came() {
    let rig = Rig::start(estate()).await;
    let text = json!({ "request": "sender data", "data": [row("web", "trap.a", "1")] }).to_string();
    for flags in [zbxd::PROTOCOL, zbxd::PROTOCOL | zbxd::COMPRESSED] {
        let (answer, seen) = rig.ask_flags(&text, flags).await.unwrap();
        assert!(answer.contains("processed: 1; failed: 0; total: 1"), "{answer}");
        assert_eq!(seen, flags);
    }
    // A large packet, as a sender of any size may write it.
    let mut large = b"ZBXD\x05".to_vec();
    large.extend_from_slice(&(text.len() as u64).to_le_bytes());
    large.extend_from_slice(&0_u64.to_le_bytes());
    large.extend_from_slice(text.as_bytes());
    assert!(rig.ask_bytes(&large).await.unwrap().0.contains("processed: 1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn old_text_forms() {
    let rig = Rig::start(estate()).await;
    assert_eq!(rig.ask("web:trap.a:some:text").await.as_deref(), Some("OK"));
    let xml = "<req><host>d2Vi</host><key>dHJhcC5i</key><data>NDI=</data></req>";
    assert_eq!(rig.ask(xml).await.as_deref(), Some("OK"));
    let mut texts = rig.shards.texts();
    texts.sort();
    assert_eq!(texts, [(1, String::from("some:text")), (2, String::from("42"))]);
    let list = rig.ask("ZBX_GET_ACTIVE_CHECKS\nweb\n").await.unwrap();
    assert!(list.contains("system.uptime:30:0\n") && list.ends_with("ZBX_EOF\n"), "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_values_are_not_acknowledged() {
    let rig = Rig::start(estate()).await;
    rig.shards.lose.store(true, Ordering::SeqCst);
    let request = json!({ "request": "sender data", "data": [row("web", "trap.a", "1")] });
    let answer = rig.json(request.clone()).await;
    assert_eq!(answer["response"], "failed");
    assert!(answer["info"].as_str().unwrap().contains("send them again"), "{answer}");
    rig.shards.lose.store(false, Ordering::SeqCst);
    assert_eq!(counts(&rig.json(request).await), (1, 0));
}

const SESSION: &str = "0123456789abcdef0123456789abcdef";

fn agent_data(session: &str, ids: std::ops::RangeInclusive<u64>) -> serde_json::Value {
    let rows: Vec<_> = ids
        .map(|id| json!({ "itemid": 11, "id": id, "value": format!("v{id}"), "clock": 1_700_000_000 + id, "ns": 1 }))
        .collect();
    json!({ "request": "agent data", "session": session, "version": "7.0.0", "variant": 1, "host": "web", "data": rows })
}

#[tokio::test(flavor = "multi_thread")]
async fn resent_agent_data_is_stored_once() {
    let rig = Rig::start(estate()).await;
    assert_eq!(counts(&rig.json(agent_data(SESSION, 1..=3)).await), (3, 0));
    assert_eq!(counts(&rig.json(agent_data(SESSION, 2..=5)).await), (4, 0));
    let other = "f".repeat(32);
    assert_eq!(counts(&rig.json(agent_data(&other, 1..=1)).await), (1, 0));
    let texts: Vec<String> = rig.shards.texts().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["v1", "v2", "v3", "v4", "v5", "v1"]);
    // What was not kept may come again.
    rig.shards.lose.store(true, Ordering::SeqCst);
    assert_eq!(rig.json(agent_data(SESSION, 6..=7)).await["response"], "failed");
    rig.shards.lose.store(false, Ordering::SeqCst);
    assert_eq!(counts(&rig.json(agent_data(SESSION, 6..=7)).await), (2, 0));
    assert_eq!(rig.shards.texts().len(), 8);
}

/// The agent gave up waiting and sends again while the first attempt is still under way.
#[tokio::test(flavor = "multi_thread")]
async fn a_resend_during_the_first_attempt_is_stored_once() {
    let rig = std::sync::Arc::new(Rig::start(estate()).await);
    rig.shards.hold.store(true, Ordering::SeqCst);
    let ask = || {
        let rig = std::sync::Arc::clone(&rig);
        tokio::spawn(async move { counts(&rig.json(agent_data(SESSION, 1..=10)).await) })
    };
    let (first, second) = (ask(), ask());
    while rig.shards.batches.load(Ordering::SeqCst) == 0
        || rig.context.counters.accepted.load(Ordering::SeqCst) < 2
    {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    rig.shards.hold.store(false, Ordering::SeqCst);
    assert_eq!((first.await.unwrap(), second.await.unwrap()), ((10, 0), (10, 0)));
    assert_eq!(rig.shards.texts().len(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_active_agent_is_served() {
    let rig = Rig::start(estate()).await;
    let checks = |revision: u64, session: &str| {
        json!({ "request": "active checks", "host": "web", "version": "7.0.0", "variant": 2,
                "config_revision": revision, "session": session })
    };
    let answer = rig.json(checks(0, SESSION)).await;
    assert_eq!((&answer["response"], &answer["config_revision"]), (&json!("success"), &json!(9)));
    let rows = answer["data"].as_array().unwrap();
    let ids: Vec<u64> = rows.iter().map(|row| row["itemid"].as_u64().unwrap()).collect();
    assert_eq!(ids, [11, 12, 13]);
    assert_eq!(rows[0]["delay"], "30;10/1-5,09:00-18:00");
    assert_eq!((&rows[0]["timeout"], &rows[1]["timeout"]), (&json!("3s"), &json!("10s")));
    assert_eq!((&rows[2]["lastlogsize"], &rows[2]["mtime"]), (&json!(0), &json!(0)));
    let regexps = answer["regexp"].as_array().unwrap();
    assert_eq!(regexps.len(), 1, "only the one that a key names: {answer}");
    assert_eq!(
        (&regexps[0]["name"], &regexps[0]["expression"]),
        (&json!("errors"), &json!("ERROR"))
    );
    // It has the list: no list again, until session or configuration change.
    let unchanged = rig.json(checks(9, SESSION)).await;
    assert_eq!(unchanged, json!({ "response": "success" }));
    assert!(rig.json(checks(9, &"e".repeat(32))).await["data"].is_array());
    assert!(rig.json(checks(0, SESSION)).await["data"].is_array());
    // A change elsewhere is none for this host; a change of this host is.
    assert_eq!(rig.json(checks(9, SESSION)).await, json!({ "response": "success" }));
    let mut next = (**rig.configuration.read().unwrap()).clone();
    next.revision = 10;
    rig.configure(next.clone());
    assert_eq!(rig.json(checks(9, SESSION)).await, json!({ "response": "success" }));
    let changed = (**next.hosts.get(&model::HostId(1)).unwrap()).clone();
    next.hosts.insert(std::sync::Arc::new(changed));
    next.revision = 11;
    rig.configure(next);
    assert_eq!(rig.json(checks(9, SESSION)).await["config_revision"], 11);

    // Log positions come back to the agent.
    let log = json!({ "request": "agent data", "session": SESSION, "version": "7.0.0", "host": "web", "data": [
        { "itemid": 13, "id": 1, "value": "ERROR x", "lastlogsize": 500, "mtime": 70, "timestamp": 9, "clock": 1_700_000_000, "ns": 1 },
        { "itemid": 13, "id": 2, "lastlogsize": 900, "mtime": 71, "clock": 1_700_000_001, "ns": 1 },
        { "itemid": 12, "id": 3, "value": "Unsupported item key.", "state": 1, "clock": 1_700_000_001, "ns": 2 },
        { "itemid": 30, "id": 4, "value": "item of another host", "clock": 1_700_000_001, "ns": 2 },
        { "itemid": 1, "id": 5, "value": "trapper item", "clock": 1_700_000_001, "ns": 2 },
    ]});
    assert_eq!(counts(&rig.json(log).await), (3, 2));
    let expected = [(13, "log:ERROR x:9"), (13, "meta"), (12, "unsupported:Unsupported item key.")];
    assert_eq!(rig.shards.texts(), expected.map(|(id, text)| (id, text.to_owned())));
    let rows = rig.json(checks(0, SESSION)).await["data"].clone();
    assert_eq!((&rows[2]["lastlogsize"], &rows[2]["mtime"]), (&json!(900), &json!(71)));
    let remembered = rig.context.remembered();
    assert_eq!(remembered.log_positions.len(), 1);
    // ... also after a restart.
    let again = Rig::start_again(estate(), remembered, |_| {}).await;
    let rows = again.json(checks(0, SESSION)).await["data"].clone();
    assert_eq!((&rows[2]["lastlogsize"], &rows[2]["mtime"]), (&json!(900), &json!(71)));
}

#[tokio::test(flavor = "multi_thread")]
async fn heartbeats_and_autoregistration() {
    let rig = Rig::start(estate()).await;
    assert_eq!(rig.context.active_available(model::HostId(1)), model::Available::Unknown);
    let beat = json!({ "request": "active check heartbeat", "host": "web", "heartbeat_freq": 60 });
    assert_eq!(rig.ask(&beat.to_string()).await, None);
    assert_eq!(rig.context.active_available(model::HostId(1)), model::Available::Yes);

    let unknown = json!({ "request": "active checks", "host": "new", "host_metadata": "linux",
        "interface": "new.example", "port": 10_060, "version": "7.0.0" });
    assert_eq!(rig.json(unknown.clone()).await["info"], "host [new] not found");
    let seen = rig.backend.registered.lock().unwrap().clone();
    assert_eq!(seen.len(), 1);
    let expected = ("new", "linux", "", "new.example", 10_060, 1);
    let s = &seen[0];
    assert_eq!((&*s.host, &*s.metadata, &*s.ip, &*s.dns, s.port, s.tls), expected);
    let mut next = (**rig.configuration.read().unwrap()).clone();
    let settings = std::sync::Arc::make_mut(&mut next.settings);
    settings.autoregistration.accept = 2;
    rig.configure(next);
    assert_eq!(rig.json(unknown).await["info"], "host [new] not found");
    assert_eq!(rig.backend.registered.lock().unwrap().len(), 1, "not over this connection");
}

#[tokio::test(flavor = "multi_thread")]
async fn values_of_the_api_are_pushed() {
    use listen::PushError;
    use model::{ItemId, Push, PushValue, Timestamp};
    let rig = Rig::start(estate()).await;
    let push = |item: u64| PushValue {
        item: ItemId(item),
        value: item.to_string(),
        log: None,
        at: Timestamp::from_s(1),
    };
    let values = [1, 2, 1, 3, 4, 8, 11, 20, 999, 30, 40].map(push).to_vec();
    let may = |host: &config::snapshot::Host, _: &config::snapshot::Item| &*host.host != "db";
    let client = std::net::IpAddr::from([198, 51, 100, 1]);
    let pushed = Push { values, client, refuse_duplicates: true, resend: false };
    let results = rig.intake.push(pushed.clone(), &may).await;
    assert_eq!(
        results,
        [
            Ok(ItemId(1)),
            Ok(ItemId(2)),
            Err(PushError::Duplicate),
            Err(PushError::Disabled),
            Err(PushError::NotAllowedHere),
            Err(PushError::TrappingOff),
            Err(PushError::WrongType),
            Err(PushError::HostNotMonitored),
            Err(PushError::NoSuchItem),
            Err(PushError::NoSuchItem),
            Ok(ItemId(40)),
        ]
    );
    assert_eq!(rig.shards.texts().len(), 3);
    // A sender's second value of a moment is the shard's to place.
    let again = Push { refuse_duplicates: false, resend: true, ..pushed };
    assert_eq!(rig.intake.push(again.clone(), &may).await[2], Ok(ItemId(1)));
    assert_eq!(rig.shards.texts().len(), 7);
    // Nobody hears that a value is kept which may be the one that the shard refused.
    rig.shards.refuse.store(true, Ordering::SeqCst);
    let results = rig.intake.push(again, &may).await;
    assert_eq!(results[2], Err(PushError::NotStored));
    assert_eq!(results[3], Err(PushError::Disabled));
    assert!(results.iter().all(Result::is_err), "{results:?}");
}

/// Hosts with as many items, of which some have equal keys at other places.
#[tokio::test(flavor = "multi_thread")]
async fn long_messages_over_many_hosts_find_each_item() {
    let of = |id: u64, name: &str, keys: [&str; 2]| {
        let items = keys.iter().enumerate();
        let items = items.map(|(n, key)| item(10 * id + n as u64, key, ItemType::Trapper, ""));
        host(id, name, 1, items.collect())
    };
    let hosts = [("one", ["k", "x"]), ("two", ["a", "k"]), ("three", ["k", "z"])];
    let numbered = (1..).zip(hosts);
    let estate = snapshot(1, numbered.map(|(id, (name, keys))| of(id, name, keys)).collect());
    let rig = Rig::start(estate).await;
    let rows: Vec<_> = (0..99)
        .map(|n| match n % 9 {
            0 => row("none", "k", "x"),
            1 => row("one", "no", "x"),
            2 | 3 => row("two", ["a", "k"][n % 2], &n.to_string()),
            _ => row(hosts[n % 3].0, "k", &n.to_string()),
        })
        .collect();
    let answer = rig.json(json!({ "request": "sender data", "data": rows })).await;
    assert_eq!(counts(&answer), (77, 22));
    for (id, text) in rig.shards.texts() {
        let n: usize = text.parse().unwrap();
        let expected = match n % 9 {
            2 | 3 => 20 + n as u64 % 2,
            _ => [10, 21, 30][n % 3],
        };
        assert_eq!(id, expected, "{n}");
    }
}
