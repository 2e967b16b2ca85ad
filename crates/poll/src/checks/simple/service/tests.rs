//! Against small peers on loopback.

use eval::key::ItemKey;
use openssl::asn1::Asn1Time;
use openssl::hash::MessageDigest;
use openssl::pkey::PKey;
use openssl::rsa::Rsa;
use openssl::ssl::SslContextBuilder;
use openssl::x509::X509;
use stdx::clock::RealClock;
use tokio::net::TcpListener;

use super::*;

/// Long enough for a busy machine where an answer is expected.
const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

fn of(service: &str, port: u16) -> ServiceCheck {
    let key = match service {
        "ntp" => format!("net.udp.service[ntp,,{port}]"),
        _ => format!("net.tcp.service[{service},,{port}]"),
    };
    ServiceCheck::parse(&ItemKey::parse(&key).unwrap()).unwrap()
}

async fn asked(service: &str, host: &str, port: u16, limit: Duration) -> bool {
    let clock = RealClock::shared();
    let resolver = Resolver::new(clock.clone());
    let asker = Asker { resolver: &resolver, source: None, clock: &*clock };
    ask(&of(service, port), host, limit, &asker).await.unwrap().is_some()
}

/// Greets the first who comes, and gives what was said to it until the end.
async fn peer(greeting: &'static [u8]) -> (u16, tokio::task::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(greeting).await.unwrap();
        let mut heard = Vec::new();
        // The other side may hang up rudely.
        let _end = stream.read_to_end(&mut heard).await;
        heard
    });
    (port, task)
}

#[tokio::test]
async fn services_that_greet() {
    for (service, greeting, up, heard) in [
        ("ssh", &b"SSH-2.0-x\r\n"[..], true, &b"SSH-2.0-vedette\r\n"[..]),
        ("smtp", b"220-a\r\n220 b\r\n", true, b"QUIT\r\n"),
        ("smtp", b"554 no\r\n", false, b""),
        ("pop", b"+OK\r\n", true, b"QUIT\r\n"),
        ("imap", b"* OK\r\n", true, b"a1 LOGOUT\r\n"),
        ("telnet", b"\xff\xfd\x01login: ", true, b"\xff\xfc\x01"),
        ("tcp", b"", true, b""),
        ("http", b"junk", true, b""),
    ] {
        let (port, task) = peer(greeting).await;
        assert_eq!(asked(service, "127.0.0.1", port, LONG).await, up, "{service}");
        assert_eq!(task.await.unwrap(), heard, "{service}");
    }
}

#[tokio::test]
async fn closed_ports_and_silent_services_are_down() {
    let (port, task) = peer(b"").await;
    for service in ["ssh", "ldap", "https"] {
        assert!(!asked(service, "127.0.0.1", port, SHORT).await, "{service}");
    }
    drop(task);
    let free = stdx::listening::free_address().unwrap().port();
    assert!(!asked("tcp", "127.0.0.1", free, LONG).await);
    assert!(!asked("tcp", "no.such.invalid", free, LONG).await);
    assert!(!asked("tcp", "127.0.0.1 ", free, LONG).await);
    assert!(!asked("tcp", "127.0.0.1", 0, LONG).await);
}

fn tls_server() -> SslContext {
    let key = PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap();
    let mut builder = X509::builder().unwrap();
    builder.set_not_before(&Asn1Time::days_from_now(0).unwrap()).unwrap();
    builder.set_not_after(&Asn1Time::days_from_now(1).unwrap()).unwrap();
    builder.set_pubkey(&key).unwrap();
    builder.sign(&key, MessageDigest::sha256()).unwrap();
    let mut context = SslContextBuilder::new(SslMethod::tls_server()).unwrap();
    context.set_certificate(&builder.build()).unwrap();
    context.set_private_key(&key).unwrap();
    context.build()
}

#[tokio::test]
async fn a_web_server_behind_tls() {
    let context = tls_server();
    for (answer, up) in [("HTTP/1.1 404 Not Found\r\n\r\n", true), ("no web\r\n", false)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let ssl = Ssl::new(&context).unwrap();
        let task = tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut stream = SslStream::new(ssl, stream).unwrap();
            Pin::new(&mut stream).accept().await.unwrap();
            let mut room = [0; 1_000];
            let length = stream.read(&mut room).await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            let _gone = stream.read(&mut [0; 10]).await;
            String::from_utf8(room[..length].to_vec()).unwrap()
        });
        assert_eq!(asked("https", "https://127.0.0.1/some", port, LONG).await, up, "{answer}");
        let heard = task.await.unwrap();
        assert!(heard.starts_with("HEAD /some HTTP/1.1\r\n"), "{heard}");
        assert!(heard.contains(&format!("\r\nHost: 127.0.0.1:{port}\r\n")), "{heard}");
    }
}

#[test]
fn addresses_of_the_web() {
    for (target, host, path) in [
        ("h", "h", ""),
        ("https://h", "h", ""),
        ("https://h/a/b?c", "h", "a/b?c"),
        ("[::1]/x", "::1", "x"),
        ("::1", "::1", ""),
    ] {
        assert_eq!(web_parts(target), (host, path), "{target}");
    }
    let clock = RealClock::shared();
    let resolver = Resolver::new(clock.clone());
    let asker = Asker { resolver: &resolver, source: None, clock: &*clock };
    let place = |host, port| Where { host, port, asker: &asker };
    assert_eq!(place("h", 443).host_header(), "h");
    assert_eq!(place("::1", 444).host_header(), "[::1]:444");
}

#[tokio::test]
async fn a_time_server() {
    for (stratum, up) in [(2, true), (16, false)] {
        let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let port = server.local_addr().unwrap().port();
        let task = tokio::spawn(async move {
            let mut room = [0; 100];
            let (length, from) = server.recv_from(&mut room).await.unwrap();
            assert_eq!(length, ntp::PACKET_BYTES);
            let mut reply = [0; ntp::PACKET_BYTES];
            (reply[0], reply[1], reply[47]) = (0x1c, stratum, 1);
            reply[24..32].copy_from_slice(&room[40..48]);
            server.send_to(&reply, from).await.unwrap();
        });
        assert_eq!(asked("ntp", "127.0.0.1", port, LONG).await, up, "{stratum}");
        task.await.unwrap();
    }
    assert!(!asked("ntp", "127.0.0.1", 9, SHORT).await);
}
