//! The trapper and passive checks over TLS with PSK, from end to end.

mod common;

use std::pin::Pin;

use common::{Rig, counts, host, item, snapshot};
use config::snapshot::{Host, ItemType};
use openssl::ssl::{Ssl, SslContext, SslMethod, SslVerifyMode};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
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

#[tokio::test(flavor = "multi_thread")]
async fn passive_checks_use_the_psk_of_the_host() {
    let mut context = SslContext::builder(SslMethod::tls_server()).expect("context");
    context.set_ciphersuites("TLS_AES_128_GCM_SHA256").expect("suites");
    context.set_psk_server_callback(|_, identity, key| {
        if identity != Some(b"agents") {
            return Ok(0);
        }
        key[..KEY.len()].copy_from_slice(&KEY);
        Ok(KEY.len())
    });
    let context = context.build();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
    let port = listener.local_addr().expect("address").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let mut stream =
                SslStream::new(Ssl::new(&context).expect("ssl"), stream).expect("stream");
            tokio::spawn(async move {
                if Pin::new(&mut stream).accept().await.is_err() {
                    return;
                }
                let mut bytes = [0; 1024];
                let _ = stream.read(&mut bytes).await;
                let answer = "{\"version\":\"7.0.0\",\"data\":[{\"value\":\"secret\"}]}";
                let _ = stream.write_all(&zbxd::encode(answer.as_bytes(), 1)).await;
                let _ = stream.shutdown().await;
            });
        }
    });
    let items = vec![item(1, "agent.ping", ItemType::Agent, "1")];
    let good = protected(host(1, "good", port, items), 1);
    let mut other = protected(host(2, "other", port, vec![]), 1);
    other.tls.psk_identity = "nobody".into();
    let mut broken = protected(host(3, "broken", port, vec![]), 1);
    broken.tls.psk = "xyz".into();
    let rig = Rig::start(snapshot(1, vec![good])).await;
    assert_eq!(rig.shards.wait_for(1, |v| !v.is_empty()).await[0], "secret");
    let status = rig.handle.status();
    let ping = item(1, "agent.ping", ItemType::Agent, "1");
    for (host, part) in [(other, "cannot establish TLS to [[127.0.0.1]:"), (broken, "hexadecimal")]
    {
        let host = std::sync::Arc::new(host);
        let reply = status.check_once(&host, host.interfaces.first(), &ping).await;
        let text = format!("{reply:?}");
        assert!(text.contains(part) && !text.contains("secret"), "{text}");
    }
}
