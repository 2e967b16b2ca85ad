//! Encrypted connections in both directions, and commands over the port.
#![allow(clippy::unwrap_used, reason = "a test may fail loudly, its helpers too")]

use std::sync::Arc;
use std::time::Duration;

use agent::{Agent, AgentConfig, AgentTls};
use collect::tls::{self, Identity, TlsConfig, TlsContexts};
use config::snapshot::Tls;
use stdx::clock::RealClock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use wire::zbxd::{self, Decoder, Limits};

/// Only fails a test that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

fn rule(connect: u8, accept: u8, identity: &str, digits: &str) -> Tls {
    let psk = digits.repeat(16).as_str().into();
    Tls { connect, accept, psk_identity: identity.into(), psk, ..Tls::default() }
}

fn config(rule: Tls) -> AgentConfig {
    AgentConfig {
        listen: vec!["127.0.0.1:0".parse().unwrap()],
        tls: AgentTls { rule, ..AgentTls::default() },
        ..AgentConfig::default()
    }
}

async fn start(config: AgentConfig) -> std::net::SocketAddr {
    let agent = Agent::new(config, RealClock::shared()).unwrap();
    let listeners = agent.bind().unwrap();
    let address = listeners[0].local_addr().unwrap();
    tokio::spawn(async move { agent.run(listeners).await });
    address
}

/// Sends a key over a connection and reads the response; `None` = there is none.
async fn ask<S>(mut stream: S, key: &str) -> Option<String>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    stream.write_all(&zbxd::encode(key.as_bytes(), 0)).await.ok()?;
    let mut bytes = Vec::new();
    let read = stream.read_to_end(&mut bytes);
    let _ = tokio::time::timeout(PATIENCE, read).await.unwrap();
    let progress = Decoder::new(Limits::ANSWER).feed(&bytes).ok()?;
    Some(progress.only().ok()??.text().into_owned())
}

#[tokio::test]
async fn passive_checks_are_encrypted_as_configured() {
    let both = tls::NONE | tls::PSK;
    for (accept, plain, encrypted) in
        [(tls::NONE, true, false), (tls::PSK, false, true), (both, true, true)]
    {
        let address = start(config(rule(tls::NONE, accept, "me", "1f"))).await;
        let stream = TcpStream::connect(address).await.unwrap();
        assert_eq!(ask(stream, "agent.ping").await.is_some(), plain, "{accept}");
        for (identity, digits, good) in
            [("me", "1f", true), ("me", "2e", false), ("x", "1f", false)]
        {
            let server = TlsContexts::of_rule(&TlsConfig::default(), &Tls::default()).unwrap();
            let stream = TcpStream::connect(address).await.unwrap();
            let rule = rule(tls::PSK, tls::NONE, identity, digits);
            let value = match server.connect(stream, &rule).await {
                Ok(stream) => ask(stream, "agent.ping").await,
                Err(_) => None,
            };
            assert_eq!(value.is_some(), encrypted && good, "{accept} {identity} {digits}");
        }
        // A peer that fails leaves the agent as it was.
        let stream = TcpStream::connect(address).await.unwrap();
        assert_eq!(ask(stream, "agent.ping").await.is_some(), plain);
    }
}

#[tokio::test]
async fn active_checks_are_encrypted_as_configured() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut config = config(rule(tls::PSK, tls::NONE, "me", "1f"));
    config.active.servers = vec![vec![listener.local_addr().unwrap().to_string()]];
    config.active.source = Some("127.0.0.3".parse().unwrap());
    start(config).await;
    let of_server = |digits: &str| {
        TlsContexts::of_rule(&TlsConfig::default(), &rule(tls::NONE, tls::PSK, "me", digits))
    };
    // With another PSK, the agent sends nothing; it connects again and again.
    let (wrong, right) = (Arc::new(of_server("2e").unwrap()), Arc::new(of_server("1f").unwrap()));
    let serve = async {
        let (stream, peer) = listener.accept().await.unwrap();
        assert_eq!(peer.ip().to_string(), "127.0.0.3");
        assert!(wrong.accept(stream).await.is_err());
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let (mut stream, identity) = right.accept(stream).await.unwrap();
            assert_eq!((identity.kind, &*identity.psk_identity), (tls::PSK, "me"));
            assert_ne!(identity, Identity::unencrypted());
            let mut head = [0; 1024];
            let n = stream.read(&mut head).await.unwrap();
            if head[..n].windows(13).any(|part| part == b"active checks") {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, serve).await.unwrap();
}

/// Commands that hang, fork or print without end cost their time limit and nothing else.
#[tokio::test]
async fn hostile_commands_do_not_stop_the_agent() {
    let mut config = config(Tls::default());
    config.timeout = Duration::from_secs(1);
    for line in
        ["hang,sleep 1000", "fork,sleep 1000 & sleep 1000 & echo 1", "flood,yes", "ok,echo 1"]
    {
        config.keys.commands.add(line).unwrap();
    }
    let address = start(config).await;
    let value = |key: &'static str| async move {
        let stream = TcpStream::connect(address).await.unwrap();
        ask(stream, key).await.unwrap()
    };
    let slow = "ZBX_NOTSUPPORTED\0Timeout while executing a shell script.";
    let (hang, fork, flood, ok) =
        tokio::join!(value("hang"), value("fork"), value("flood"), value("ok"));
    assert_eq!((hang.as_str(), fork.as_str(), ok.as_str()), (slow, slow, "1"));
    assert!(flood.starts_with("ZBX_NOTSUPPORTED\0"), "{flood:.100}");
    assert_eq!(value("ok").await, "1");
}
