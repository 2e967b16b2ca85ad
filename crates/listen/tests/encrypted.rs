//! The trapper over TLS with PSK, from end to end.

mod common;

use std::pin::Pin;

use common::{Rig, counts, host, item, snapshot};
use config::snapshot::{Host, ItemType};
use openssl::ssl::{Ssl, SslContext, SslMethod, SslVerifyMode};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_openssl::SslStream;
use wire::zbxd;

const KEY: [u8; 16] = [7; 16];
const KEY_HEX: &str = "07070707070707070707070707070707";
const CONNECT: u8 = 2;

fn protected(mut host: Host, accept: u8) -> Host {
    host.tls.connect = CONNECT;
    host.tls.accept = accept;
    host.tls.psk_identity = "agents".into();
    host.tls.psk = KEY_HEX.into();
    host
}

/// A sender with a PSK.
async fn send(rig: &Rig, identity: &'static str, request: &serde_json::Value) -> Option<String> {
    let mut context = SslContext::builder(SslMethod::tls_client()).expect("context");
    context.set_verify(SslVerifyMode::NONE);
    context.set_psk_client_callback(move |_, _, id, key| {
        id[..identity.len()].copy_from_slice(identity.as_bytes());
        id[identity.len()] = 0;
        key[..KEY.len()].copy_from_slice(&KEY);
        Ok(KEY.len())
    });
    let ssl = Ssl::new(&context.build()).expect("ssl");
    let stream = TcpStream::connect(rig.address()).await.expect("connect");
    let mut stream = SslStream::new(ssl, stream).expect("stream");
    Pin::new(&mut stream).connect().await.ok()?;
    stream.write_all(&zbxd::encode(request.to_string().as_bytes(), 1)).await.ok()?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.ok()?;
    let mut decoder = zbxd::Decoder::new(zbxd::Limits::ANSWER);
    Some(decoder.feed(&bytes).ok()?.only().ok()??.text().into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn values_come_over_the_connection_that_the_host_asks_for() {
    let trap = |id| vec![item(id, "trap", ItemType::Trapper, "")];
    let rig = Rig::start(snapshot(
        1,
        vec![
            protected(host(1, "psk", 1, trap(1)), 2),
            host(2, "plain", 1, trap(2)),
            protected(host(3, "both", 1, trap(3)), 3),
        ],
    ))
    .await;
    let request = json!({ "request": "sender data", "data": [
        { "host": "psk", "key": "trap", "value": "a" },
        { "host": "plain", "key": "trap", "value": "b" },
        { "host": "both", "key": "trap", "value": "c" },
    ]});
    let answer = send(&rig, "agents", &request).await.expect("no answer over TLS");
    assert_eq!(counts(&serde_json::from_str(&answer).expect("JSON")), (2, 1));
    assert_eq!(counts(&rig.json(request.clone()).await), (2, 1));
    let mut texts: Vec<String> = rig.shards.texts().into_iter().map(|(_, text)| text).collect();
    texts.sort();
    assert_eq!(texts, ["a", "b", "c", "c"]);
    assert_eq!(send(&rig, "strangers", &request).await, None);
    let checks = json!({ "request": "active checks", "host": "plain" });
    let answer = send(&rig, "agents", &checks).await.expect("no answer over TLS");
    let text = "connection of type \\\"psk\\\" is not allowed for host \\\"plain\\\"";
    assert!(answer.contains(text), "{answer}");
}

/// A new identity is known as soon as the configuration is.
#[tokio::test(flavor = "multi_thread")]
async fn a_changed_psk_is_live() {
    let trap = || vec![item(1, "trap", ItemType::Trapper, "")];
    let rig = Rig::start(snapshot(1, vec![host(1, "web", 1, trap())])).await;
    let request = json!({ "request": "sender data", "data": [{ "host": "web", "key": "trap", "value": "a" }] });
    assert_eq!(send(&rig, "agents", &request).await, None);
    rig.configure(snapshot(2, vec![protected(host(1, "web", 1, trap()), 2)]));
    assert!(send(&rig, "agents", &request).await.is_some_and(|a| a.contains("processed: 1")));
    rig.configure(snapshot(3, vec![host(1, "web", 1, trap())]));
    assert_eq!(send(&rig, "agents", &request).await, None);
}
