//! Active checks against a server that is at first not willing.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly, its helpers too")]

use std::time::Duration;

use agent::{ActiveConfig, Agent, AgentConfig, Detail, KeyConfig};
use stdx::clock::RealClock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wire::agent::active::{ActiveAnswer, ActiveItem, ActiveList};
use wire::sender::Outcome;
use wire::trapper::Request;
use wire::zbxd::{self, Decoder, Limits};
use wire::{Content, Moment, Target, Version};

/// Only fails a test that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// The next request: its text, and where to answer.
async fn next(listener: &TcpListener) -> (String, tokio::net::TcpStream) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut decoder = Decoder::new(Limits::TRAPPER);
    let mut buffer = [0; 4096];
    loop {
        let n = stream.read(&mut buffer).await.unwrap();
        if let Some(frame) = decoder.feed(&buffer[..n]).unwrap().only().unwrap() {
            return (frame.text().into_owned(), stream);
        }
    }
}

fn list() -> String {
    let item = |itemid, key: &str| ActiveItem {
        key: key.to_owned().into(),
        itemid,
        delay: "1h".into(),
        ..ActiveItem::default()
    };
    let list = ActiveList {
        config_revision: 7,
        items: vec![item(11, "agent.ping"), item(12, "nope"), item(13, "agent.hostname")],
        regexps: vec![],
    };
    ActiveAnswer::Success { list: Some(list), commands: vec![], upload_disabled: false }
        .encode(Version::new(7, 0))
}

/// An agent with active checks on a server, and texts about the host.
fn config(server: String) -> AgentConfig {
    let active = ActiveConfig {
        // The first node of the cluster is down.
        servers: vec![vec!["127.0.0.1:1".into(), server]],
        refresh: Duration::from_millis(1),
        buffer_send: Duration::from_millis(1),
        metadata: Detail::Item("meta".into()),
        interface: Detail::Text("here.example".into()),
        ..ActiveConfig::default()
    };
    let mut keys = KeyConfig::default();
    keys.commands.add("meta,echo 'a b'").unwrap();
    AgentConfig {
        hostnames: vec!["here".into()],
        listen: vec!["127.0.0.1:0".parse().unwrap()],
        active,
        keys,
        ..AgentConfig::default()
    }
}

#[tokio::test]
async fn values_are_sent_again_with_the_same_ids_until_taken() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = config(listener.local_addr().unwrap().to_string());
    let agent = Agent::new(config, RealClock::shared()).unwrap();
    let own = agent.bind().unwrap();
    let port = own[0].local_addr().unwrap().port();
    tokio::spawn(async move { agent.run(own).await });

    let serve = async {
        let (mut beats, mut revisions, mut sent) = (0, Vec::new(), Vec::new());
        while sent.len() < 3 || revisions.len() < 2 {
            let (text, mut stream) = next(&listener).await;
            let answer = match Request::parse(&text, Moment::default()).unwrap() {
                Request::Heartbeat(beat) => {
                    assert_eq!((beat.host.as_ref(), beat.heartbeat_freq), ("here", 60));
                    beats += 1;
                    continue;
                }
                Request::ActiveChecks(request) => {
                    assert_eq!((request.port, request.session.len()), (Some(port), 32));
                    let about = (request.host_metadata.as_ref(), request.interface.as_ref());
                    assert_eq!(about, ("a b", "here.example"));
                    revisions.push(request.config_revision);
                    list()
                }
                Request::AgentData(data) => {
                    assert_eq!(data.host.as_deref(), Some("here"));
                    let rows: Vec<_> = data
                        .readings
                        .rows
                        .iter()
                        .map(|row| (row.target.clone(), row.id.unwrap(), row.content.clone()))
                        .map(|(target, id, content)| {
                            (format!("{target:?}"), id, format!("{content:?}"))
                        })
                        .collect();
                    sent.push((data.session.into_owned(), rows));
                    match sent.len() {
                        1 => continue,
                        2 => wire::failed("not now"),
                        _ => Outcome { processed: 3, failed: 0, seconds: 0.0 }.answer(false),
                    }
                }
                other => panic!("{other:?}"),
            };
            stream.write_all(&zbxd::encode(answer.as_bytes(), 0)).await.unwrap();
        }
        (beats, revisions, sent)
    };
    let (beats, revisions, sent) = tokio::time::timeout(PATIENCE, serve).await.unwrap();
    assert_eq!(beats, 1);
    assert_eq!(revisions[..2], [0, 7]);
    // A slow agent may have more values than the first ones by then.
    let again =
        |pair: &[(String, Vec<_>)]| pair[1].0 == pair[0].0 && pair[1].1.starts_with(&pair[0].1);
    assert!(sent.windows(2).all(again), "{sent:?}");
    let expected = [
        (Target::Item(11), 1, Content::Value("1".into())),
        (Target::Item(12), 2, Content::NotSupported("Unsupported item key.".into())),
        (Target::Item(13), 3, Content::Value("here".into())),
    ];
    let expected: Vec<_> =
        expected.iter().map(|(t, id, c)| (format!("{t:?}"), *id, format!("{c:?}"))).collect();
    assert!(sent[0].1.starts_with(&expected), "{sent:?}");
}
