//! Loopback handshakes with keys and certificates made on the spot.

use std::path::Path;
use std::sync::Arc;

use config::snapshot::Host;
use openssl::asn1::Asn1Time;
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::ssl::{SslConnector, SslConnectorBuilder};
use openssl::x509::extension::BasicConstraints;
use openssl::x509::{X509, X509NameBuilder};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::snapshots::Snapshots;
use crate::testing;

const KEY_A: &str = "1f87b595725ac58dd977beef14b97461a7c1045b9a1c963065002c5473194952";
const KEY_B: &str = "00112233445566778899aabbccddeeff";

fn key_pair() -> PKey<Private> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1).unwrap();
    PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap()
}

/// A certificate of `name`, signed by `by` or by itself.
fn certificate(name: &str, key: &PKey<Private>, by: Option<(&X509, &PKey<Private>)>) -> X509 {
    let mut subject = X509NameBuilder::new().unwrap();
    subject.append_entry_by_text("O", "Example").unwrap();
    subject.append_entry_by_text("CN", name).unwrap();
    let subject = subject.build();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    let serial = BigNum::from_u32(u32::try_from(name.len()).unwrap()).unwrap();
    builder.set_serial_number(&serial.to_asn1_integer().unwrap()).unwrap();
    builder.set_subject_name(&subject).unwrap();
    builder.set_issuer_name(by.map_or(&subject, |(ca, _)| ca.subject_name())).unwrap();
    builder.set_not_before(&Asn1Time::days_from_now(0).unwrap()).unwrap();
    builder.set_not_after(&Asn1Time::days_from_now(1).unwrap()).unwrap();
    builder.set_pubkey(key).unwrap();
    if by.is_none() {
        builder.append_extension(BasicConstraints::new().critical().ca().build().unwrap()).unwrap();
    }
    builder.sign(by.map_or(key, |(_, key)| key), MessageDigest::sha256()).unwrap();
    builder.build()
}

/// Writes CA, certificate and key of `name` into `dir`.
fn files(dir: &Path, name: &str, ca: &(X509, PKey<Private>)) -> TlsConfig {
    let key = key_pair();
    let certificate = certificate(name, &key, Some((&ca.0, &ca.1)));
    let path = |what: &str| dir.join(format!("{name}.{what}"));
    std::fs::write(path("ca"), ca.0.to_pem().unwrap()).unwrap();
    std::fs::write(path("crt"), certificate.to_pem().unwrap()).unwrap();
    std::fs::write(path("key"), key.private_key_to_pem_pkcs8().unwrap()).unwrap();
    TlsConfig {
        ca_file: Some(path("ca")),
        crl_file: None,
        cert_file: Some(path("crt")),
        key_file: Some(path("key")),
    }
}

fn authority() -> (X509, PKey<Private>) {
    let key = key_pair();
    (certificate("Test CA", &key, None), key)
}

fn psk_host(id: u64, identity: &str, psk: &str) -> Host {
    let mut host = testing::host(id, vec![]);
    host.tls.connect = PSK;
    host.tls.accept = PSK;
    host.tls.psk_identity = identity.into();
    host.tls.psk = psk.into();
    host
}

/// Contexts of a server that knows two hosts with PSK.
fn contexts(config: &TlsConfig) -> Arc<TlsContexts> {
    let hosts = vec![psk_host(1, "a", KEY_A).into(), psk_host(2, "b", KEY_B).into()];
    let snapshot = testing::snapshot(1, hosts);
    let snapshots: Arc<dyn Snapshots> = Arc::new(move || Arc::clone(&snapshot));
    let table = PskTable::new(snapshots);
    Arc::new(TlsContexts::new(config, move |identity| table.key(identity)).unwrap())
}

fn rule(connect: u8, identity: &str, psk: &str) -> Tls {
    Tls { connect, psk_identity: identity.into(), psk: psk.into(), ..Tls::default() }
}

/// Both ends of a handshake: what the server saw, what the client saw.
async fn handshake(
    server: &Arc<TlsContexts>,
    client: &Arc<TlsContexts>,
    tls: Tls,
) -> (Result<Identity, String>, Result<(), String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let accepting = tokio::spawn({
        let server = Arc::clone(server);
        async move {
            let (stream, _) = listener.accept().await.unwrap();
            let (mut stream, identity) = server.accept(stream).await.map_err(|e| e.to_string())?;
            stream.write_all(b"hello").await.map_err(|e| e.to_string())?;
            stream.shutdown().await.map_err(|e| e.to_string())?;
            Ok(identity)
        }
    });
    let stream = TcpStream::connect(address).await.unwrap();
    let client = async {
        let mut stream = client.connect(stream, &tls).await.map_err(|e| e.to_string())?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await.map_err(|e| e.to_string())?;
        if text == "hello" { Ok(()) } else { Err(format!("got \"{text}\"")) }
    };
    let client = client.await;
    (accepting.await.unwrap(), client)
}

#[tokio::test]
async fn psk_both_ways() {
    let dir = tempfile::tempdir().unwrap();
    let with_certificate = contexts(&files(dir.path(), "server", &authority()));
    let without = contexts(&TlsConfig::default());
    // A certificate beside the PSK changes nothing.
    for server in [&without, &with_certificate] {
        for (identity, key) in [("a", KEY_A), ("b", KEY_B)] {
            let (seen, client) = handshake(server, &without, rule(PSK, identity, key)).await;
            let seen = seen.unwrap();
            assert_eq!((seen.kind, seen.psk_identity.as_str(), client), (PSK, identity, Ok(())));
        }
        for (identity, key) in [("a", KEY_B), ("nobody", KEY_A), ("", KEY_A)] {
            let (seen, client) = handshake(server, &without, rule(PSK, identity, key)).await;
            assert!(client.is_err(), "{identity}: {client:?}");
            if let Ok(seen) = seen {
                assert_ne!(seen.kind, PSK, "{identity}");
            }
        }
    }
    let (_, client) = handshake(&without, &without, rule(PSK, "a", "abc")).await;
    assert_eq!(client.unwrap_err(), TlsError::BadPsk.to_string());
}

/// The trap: a client with PSK and the default TLS 1.3 suites must get PSK from a server that
/// has a certificate too, and a wrong identity must not end in an anonymous connection.
#[tokio::test]
async fn an_agent_knows_one_psk() {
    let agent = |rule: &Tls| TlsContexts::of_rule(&TlsConfig::default(), rule).map(Arc::new);
    let own = rule(PSK, "a", KEY_A);
    for (identity, key, good) in [("a", KEY_A, true), ("a", KEY_B, false), ("b", KEY_A, false)] {
        let (client, server) = (agent(&Tls::default()).unwrap(), agent(&own).unwrap());
        let (seen, client) = handshake(&server, &client, rule(PSK, identity, key)).await;
        assert_eq!((seen.is_ok(), client.is_ok()), (good, good), "{identity} {key}");
    }
    assert!(matches!(agent(&rule(PSK, "a", "abc")), Err(TlsError::BadPsk)));
}

#[tokio::test]
async fn psk_with_default_suites_and_with_tls_1_2() {
    let dir = tempfile::tempdir().unwrap();
    let server = contexts(&files(dir.path(), "server", &authority()));
    type Change = fn(&mut SslConnectorBuilder);
    let default_suites: Change = |_| {};
    let old: Change = |b| {
        b.set_max_proto_version(Some(SslVersion::TLS1_2)).unwrap();
        b.set_cipher_list("PSK-AES128-CBC-SHA256:PSK-AES128-GCM-SHA256").unwrap();
    };
    let old_ecdhe: Change = |b| {
        b.set_max_proto_version(Some(SslVersion::TLS1_2)).unwrap();
        b.set_cipher_list("ECDHE-PSK-AES128-CBC-SHA256").unwrap();
    };
    for (name, change) in [("1.3", default_suites), ("1.2", old), ("1.2 ECDHE", old_ecdhe)] {
        for (identity, good) in [("a", true), ("nobody", false)] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let accepting = tokio::spawn({
                let server = Arc::clone(&server);
                async move {
                    let (stream, _) = listener.accept().await.unwrap();
                    server.accept(stream).await.map(|(_, identity)| identity)
                }
            });
            let mut builder = SslConnector::builder(SslMethod::tls_client()).unwrap();
            builder.set_verify(SslVerifyMode::NONE);
            change(&mut builder);
            builder.set_psk_client_callback(move |_, _, id, key| {
                id[..identity.len()].copy_from_slice(identity.as_bytes());
                id[identity.len()] = 0;
                Ok(Psk::from_hex(KEY_A).unwrap().copy_to(key))
            });
            let ssl = builder.build().configure().unwrap().into_ssl("localhost").unwrap();
            let stream = TcpStream::connect(address).await.unwrap();
            let mut stream = SslStream::new(ssl, stream).unwrap();
            let _ = Pin::new(&mut stream).connect().await;
            drop(stream);
            match (accepting.await.unwrap(), good) {
                (Ok(seen), true) => {
                    assert_eq!((seen.kind, seen.psk_identity.as_str()), (PSK, "a"), "{name}");
                }
                (Err(_), false) => {}
                (other, _) => panic!("{name} {identity}: {:?}", other.map_err(|e| e.to_string())),
            }
        }
    }
}

#[tokio::test]
async fn certificates_both_ways() {
    let dir = tempfile::tempdir().unwrap();
    let ca = authority();
    let server = contexts(&files(dir.path(), "server", &ca));
    let agent = contexts(&files(dir.path(), "agent", &ca));
    let stranger = contexts(&files(dir.path(), "stranger", &authority()));
    let named = |issuer: &str, subject: &str| Tls {
        connect: CERT,
        issuer: issuer.into(),
        subject: subject.into(),
        ..Tls::default()
    };
    let (ca_name, server_name) = ("CN=Test CA,O=Example", "CN=server,O=Example");
    for (issuer, subject, good) in [
        ("", "", true),
        (ca_name, server_name, true),
        (ca_name, "CN=other,O=Example", false),
        ("CN=Other CA,O=Example", "", false),
    ] {
        let (seen, client) = handshake(&server, &agent, named(issuer, subject)).await;
        assert_eq!(client.is_ok(), good, "{issuer} {subject}: {client:?}");
        if good {
            let seen = seen.unwrap();
            let names = (seen.kind, seen.issuer.as_str(), seen.subject.as_str());
            assert_eq!(names, (CERT, ca_name, "CN=agent,O=Example"));
        }
    }
    for (server, client) in [(&server, &stranger), (&stranger, &agent)] {
        let (seen, client) = handshake(server, client, named("", "")).await;
        assert!(client.is_err() || seen.is_err(), "{client:?}");
    }
    // No certificate at all, neither here nor there.
    let none = contexts(&TlsConfig::default());
    let (_, client) = handshake(&server, &none, named("", "")).await;
    assert_eq!(client.unwrap_err(), TlsError::NoCertificate.to_string());
}

#[test]
fn rules_of_hosts() {
    let mut host = psk_host(1, "a", KEY_A);
    host.host = "web".into();
    let psk = |identity: &str| Identity {
        kind: PSK,
        psk_identity: identity.into(),
        ..Identity::unencrypted()
    };
    let cert = Identity {
        kind: CERT,
        psk_identity: String::new(),
        issuer: "CN=CA".into(),
        subject: "CN=agent".into(),
    };
    assert_eq!(psk("a").allowed_for(&host), Ok(()));
    assert!(psk("b").allowed_for(&host).is_err());
    assert_eq!(
        Identity::unencrypted().allowed_for(&host).unwrap_err(),
        "connection of type \"unencrypted\" is not allowed for host \"web\""
    );
    assert_eq!(
        cert.allowed_for(&host).unwrap_err(),
        "connection of type \"cert\" is not allowed for host \"web\""
    );
    host.tls.accept = NONE | CERT;
    host.tls.subject = "CN=agent".into();
    assert_eq!(
        (Identity::unencrypted().allowed_for(&host), cert.allowed_for(&host)),
        (Ok(()), Ok(()))
    );
    host.tls.issuer = "CN=Other".into();
    assert!(cert.allowed_for(&host).unwrap_err().contains("issuer"));
    assert!(psk("a").allowed_for(&host).is_err());
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let good = files(dir.path(), "server", &authority());
    let error = |config: &TlsConfig| match TlsContexts::new(config, |_| None) {
        Ok(_) => String::from("no error"),
        Err(error) => error.to_string(),
    };
    let missing = TlsConfig { cert_file: Some("/nonexistent/x.crt".into()), ..good.clone() };
    assert!(error(&missing).contains("/nonexistent/x.crt"), "{}", error(&missing));
    let half = TlsConfig { key_file: None, ..good.clone() };
    assert_eq!(error(&half), TlsError::Incomplete.to_string());
    let other = files(dir.path(), "other", &authority());
    let mixed = TlsConfig { key_file: other.key_file, ..good };
    assert!(error(&mixed).contains("private key"), "{}", error(&mixed));
}
