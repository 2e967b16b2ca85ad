//! Passive checks and internal items against agents in this process.

mod common;

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

use collect::testing::rig::{WAIT, with_extra};
use common::{Behaviour, FakeAgent, LONG, Rig, host, item, snapshot};
use config::snapshot::ItemType;
use model::{Available, HostId, InterfaceId, ItemId, ReachDelays};
use poll::{CheckReply, PollConfig};

fn values(pairs: &[(&str, &str)]) -> HashMap<String, Option<String>> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), Some((*value).to_owned()))).collect()
}

/// The delay of an agent that does not respond.
const NEVER: Duration = Duration::from_secs(600);

/// Short delays, so that a test sees all states.
fn hasty(config: &mut PollConfig) {
    config.reach =
        ReachDelays { unreachable_period_s: 1, unreachable_delay_s: 1, unavailable_delay_s: 1 };
}

#[tokio::test(flavor = "multi_thread")]
async fn json_agents_and_internal_items() {
    let agent = FakeAgent::start(Behaviour {
        values: values(&[("agent.ping", "1"), ("system.hostname", "wéb")]),
        ..Behaviour::default()
    })
    .await;
    let items = vec![
        item(1, "agent.ping", ItemType::Agent, "1"),
        item(2, "system.hostname", ItemType::Agent, "1"),
        item(3, "no.such", ItemType::Agent, "1"),
        item(4, "zabbix[boottime]", ItemType::Internal, "1"),
        item(5, "zabbix[version]", ItemType::Internal, "1"),
        item(6, "zabbix[nonsense]", ItemType::Internal, "1"),
        item(7, "zabbix[host,agent,available]", ItemType::Internal, "1"),
        item(8, "zabbix[host,discovery,interfaces]", ItemType::Internal, "1"),
        item(9, "zabbix[host,,items]", ItemType::Internal, "1"),
        item(10, "zabbix[host,active_agent,available]", ItemType::Internal, "1"),
        item(11, &format!("net.tcp.service[tcp,127.0.0.1,{}]", agent.port), ItemType::Simple, "1"),
        item(12, "net.tcp.service[no.such]", ItemType::Simple, "1"),
        item(13, "vmware.fullname[]", ItemType::Simple, "1"),
    ];
    let rig = Rig::start(snapshot(1, vec![host(5, "web", agent.port, items)])).await;
    let first = |values: &[String]| !values.is_empty();
    for (id, expected) in [
        (1, "1"),
        (2, "wéb"),
        (3, "unsupported:no no.such here"),
        (4, "5"),
        (5, "7.0.0"),
        (6, "unsupported:Invalid first parameter."),
        (9, "13"),
        (10, "0"),
        (11, "1"),
        (12, "unsupported:Invalid first parameter."),
        (13, "unsupported:Empty URL."),
    ] {
        assert_eq!(rig.shards.wait_for(id, first).await[0], expected, "item {id}");
    }
    rig.shards.wait_for(7, |values| values.iter().any(|v| v == "1")).await;
    let rows = rig.shards.wait_for(8, first).await[0].clone();
    assert!(rows.contains("\"{#IF.CONN}\":\"127.0.0.1\"") && rows.contains("AGENT"), "{rows}");
    let state = rig.context.availability.interface(InterfaceId(5));
    assert_eq!((state.available, &*state.error), (Available::Yes, ""));
    let requests = agent.requests.lock().unwrap().clone();
    let json =
        "{\"request\":\"passive checks\",\"data\":[{\"key\":\"agent.ping\",\"timeout\":60}]}";
    assert!(requests.iter().any(|r| r == json), "{requests:?}");
    rig.handle.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_internal_item_without_anything_to_measure_gets_no_value() {
    let items = vec![
        item(1, "zabbix[nothing]", ItemType::Internal, "1"),
        item(2, "zabbix[boottime]", ItemType::Internal, "1"),
    ];
    let rig = Rig::start(snapshot(1, vec![host(5, "web", 1, items)])).await;
    rig.shards.wait_for(2, |values| values.len() >= 3).await;
    let texts = rig.shards.texts();
    assert!(texts.iter().all(|(item, _)| *item == 2), "{texts:?}");
    rig.handle.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_before_json_is_asked_in_json_once() {
    let agent = FakeAgent::start(Behaviour {
        old: true,
        values: values(&[("agent.ping", "1")]),
        ..Behaviour::default()
    })
    .await;
    let items =
        vec![item(1, "agent.ping", ItemType::Agent, "1"), item(2, "no.such", ItemType::Agent, "1")];
    let rig = Rig::start(snapshot(1, vec![host(1, "old", agent.port, items)])).await;
    assert_eq!(rig.shards.wait_for(1, |v| v.len() >= 3).await[0], "1");
    assert_eq!(rig.shards.wait_for(2, |v| !v.is_empty()).await[0], "unsupported:no no.such here");
    let requests = agent.requests.lock().unwrap().clone();
    let json = requests.iter().filter(|request| request.starts_with('{')).count();
    // Both items may have been under way before the first answer came.
    assert!(json <= 2, "{requests:?}");
    assert!(requests.iter().filter(|request| *request == "agent.ping").count() >= 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_goes_away_and_comes_back() {
    let up = || Behaviour { values: values(&[("agent.ping", "1")]), ..Behaviour::default() };
    let agent = FakeAgent::start(up()).await;
    let mut items: Vec<_> =
        (10..40).map(|id| item(id, &format!("key.{id}"), ItemType::Agent, "1")).collect();
    items.push(item(1, "agent.ping", ItemType::Agent, "1"));
    items.push(item(2, "zabbix[host,agent,available]", ItemType::Internal, "1"));
    let snapshot = snapshot(1, vec![host(7, "web", agent.port, items)]);
    let rig = Rig::start_with(snapshot, Duration::from_secs(1), hasty).await;
    rig.shards.wait_for(1, |v| !v.is_empty()).await;
    rig.shards.wait_for(2, |v| v.iter().any(|v| v == "1")).await;
    agent.stop();
    rig.shards.wait_for(2, |v| v.last().is_some_and(|v| v == "0")).await;
    let state = rig.context.availability.interface(InterfaceId(7));
    assert_eq!(state.available, Available::No);
    let expected = format!("[[127.0.0.1]:{}]: [111] Connection refused", agent.port);
    assert!(state.error.ends_with(&expected), "{}", state.error);
    assert!(
        state.error.starts_with("Get value from agent failed: cannot establish TCP connection")
    );
    let checks = |rig: &Rig| rig.context.counters.checks_failed.load(Ordering::SeqCst);
    // However many items: about one attempt a second.
    let (before, start) = (checks(&rig), tokio::time::Instant::now());
    tokio::time::sleep(Duration::from_secs(3)).await;
    let attempts = checks(&rig) - before;
    assert!(attempts <= start.elapsed().as_secs() + 2, "{attempts} attempts in 3 s");
    let report = rig.handle.status().queue(100).await;
    assert_eq!(report.scheduled, 32);
    let seen = rig.shards.wait_for(1, |v| !v.is_empty()).await.len();
    let again = FakeAgent::start_at(agent.port, up()).await;
    rig.shards.wait_for(1, |v| v.len() > seen).await;
    rig.shards.wait_for(2, |v| v.last().is_some_and(|v| v == "1")).await;
    let state = rig.context.availability.interface(InterfaceId(7));
    assert_eq!((state.available, &*state.error), (Available::Yes, ""));
    drop(again);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_denies_access_says_so() {
    let agent = FakeAgent::start(Behaviour { deny: true, ..Behaviour::default() }).await;
    let items = vec![item(1, "agent.ping", ItemType::Agent, "1")];
    let web = host(1, "web", agent.port, items);
    let rig = Rig::start_with(snapshot(1, vec![web.clone()]), LONG, hasty).await;
    let status = rig.handle.status();
    let wait = async {
        loop {
            let state = rig.context.availability.interface(InterfaceId(1));
            if state.available == Available::No {
                return state;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let state = tokio::time::timeout(WAIT, wait).await.unwrap();
    let text = "Received empty response from Zabbix Agent at [127.0.0.1]. Assuming that agent \
                dropped connection because of access permissions.";
    assert_eq!(&*state.error, text);
    assert!(rig.shards.texts().is_empty());
    let web = std::sync::Arc::new(web);
    let ping = item(2, "agent.ping", ItemType::Agent, "1");
    let reply = status.check_once(&web, web.interfaces.first(), &ping).await;
    assert_eq!(reply, CheckReply::NetworkError(text.to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_agent_times_out_and_a_patient_item_does_not() {
    let agent = FakeAgent::start(Behaviour {
        delay: Duration::from_millis(2500),
        values: values(&[("quick", "1"), ("patient", "2")]),
        ..Behaviour::default()
    })
    .await;
    let patient = with_extra(item(2, "patient", ItemType::Agent, "1"), |extra| {
        extra.timeout = String::from("60s");
    });
    let web = host(1, "web", agent.port, vec![patient]);
    let rig = Rig::start_with(snapshot(1, vec![web.clone()]), Duration::from_secs(1), hasty).await;
    assert_eq!(rig.shards.wait_for(2, |v| !v.is_empty()).await[0], "2");
    agent.behaviour.lock().unwrap().delay = NEVER;
    let web = std::sync::Arc::new(web);
    let quick = with_extra(item(3, "quick", ItemType::Agent, "1"), |extra| {
        extra.timeout = String::from("1s");
    });
    let status = rig.handle.status();
    let reply = status.check_once(&web, web.interfaces.first(), &quick).await;
    let text = "Get value from agent failed: cannot read response: timed out";
    assert_eq!(reply, CheckReply::NetworkError(text.to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn many_slow_agents_are_asked_at_the_same_time() {
    let agent = FakeAgent::start(Behaviour {
        delay: Duration::from_millis(1500),
        values: values(&[("k", "1")]),
        ..Behaviour::default()
    })
    .await;
    let hosts = (1..=300).map(|id| {
        host(id, &format!("h{id}"), agent.port, vec![item(id, "k", ItemType::Agent, "1")])
    });
    let rig = Rig::start_with(snapshot(1, hosts.collect()), NEVER, |_| {}).await;
    let wait = async {
        while rig.shards.texts().len() < 600 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(WAIT, wait).await.unwrap();
    agent.behaviour.lock().unwrap().delay = NEVER;
    // From here on, so that the stop below finds them.
    agent.open_max.store(0, Ordering::SeqCst);
    let all = async {
        while agent.open_max.load(Ordering::SeqCst) < 300 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(WAIT, all).await.expect("a connection to each agent at the same time");
    tokio::time::timeout(WAIT, rig.handle.stop()).await.expect("a stop that waits for no agent");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_interface_gets_few_connections_at_first() {
    let agent = FakeAgent::start(Behaviour {
        delay: Duration::from_millis(20),
        values: values(&[]),
        ..Behaviour::default()
    })
    .await;
    // An hour: all are due when they are asked for, and each once.
    let items = (1..=60).map(|id| item(id, &format!("k{id}"), ItemType::Agent, "1h"));
    let rig = Rig::start(snapshot(1, vec![host(1, "web", agent.port, items.collect())])).await;
    let status = rig.handle.status();
    while status.queue(0).await.scheduled < 60 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let all: Vec<ItemId> = (1..=60).map(ItemId).collect();
    assert_eq!(status.check_now(&all).await, 60);
    for id in 1..=60 {
        rig.shards.wait_for(id, |v| !v.is_empty()).await;
    }
    // Five, and one more for each answer that came at once.
    let most = agent.open_max.load(Ordering::SeqCst);
    assert!((5..50).contains(&most), "{most} of 60");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_live_and_check_now_is_now() {
    let agent = FakeAgent::start(Behaviour {
        values: values(&[("a", "1"), ("b", "2")]),
        ..Behaviour::default()
    })
    .await;
    let items = |more: bool| {
        // An hour: nothing comes by itself but the first check.
        let mut items = vec![item(59, "a", ItemType::Agent, "1h")];
        if more {
            items.push(item(119, "b", ItemType::Agent, "1h"));
        }
        items
    };
    let rig = Rig::start(snapshot(1, vec![host(1, "web", agent.port, items(false))])).await;
    let status = rig.handle.status();
    while status.queue(0).await.scheduled < 1 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(status.check_now(&[ItemId(59), ItemId(119)]).await, 1);
    assert_eq!(rig.shards.wait_for(59, |v| !v.is_empty()).await, ["1"]);
    rig.configure(snapshot(2, vec![host(1, "web", agent.port, items(true))]));
    let start = tokio::time::Instant::now();
    while status.queue(0).await.scheduled < 2 {
        assert!(start.elapsed() < WAIT);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(status.check_now(&[ItemId(119)]).await, 1);
    assert_eq!(rig.shards.wait_for(119, |v| !v.is_empty()).await, ["2"]);
    // A host that goes takes its availability with it.
    assert_eq!(rig.context.availability.interface(InterfaceId(1)).available, Available::Yes);
    rig.configure(snapshot(3, vec![]));
    while rig.context.availability.interface(InterfaceId(1)).available != Available::Unknown {
        assert!(start.elapsed() < WAIT);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(status.queue(10).await.scheduled, 0);
    assert_eq!(rig.context.active_available(HostId(1)), Available::Unknown);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_interval_is_reported_once() {
    let mut bad = item(1, "a", ItemType::Agent, "");
    bad.invalid = Some("invalid update interval \"soon\"".into());
    let rig = Rig::start(snapshot(1, vec![host(1, "web", 1, vec![bad])])).await;
    let told = rig.shards.wait_for(1, |v| !v.is_empty()).await;
    assert_eq!(told, ["unsupported:invalid update interval \"soon\""]);
    rig.handle.stop().await;
}
