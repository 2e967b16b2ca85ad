//! Passive checks over TLS with PSK, from end to end.

mod common;

use std::pin::Pin;

use common::{Rig, host, item, snapshot};
use config::snapshot::{Host, ItemType};
use openssl::ssl::{Ssl, SslContext, SslMethod};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
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
