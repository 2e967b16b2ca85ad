//! How connections begin, move and end.

use std::io::{Read, Write};
use std::net::TcpStream;

use bytes::Bytes;
use http::Request;
use lb::config::Config;

use crate::TLS;
use crate::bed::{Bed, NAME, TIMEOUT};

#[tokio::test]
async fn a_client_may_change_its_address() {
    let bed = Bed::with_threads(4, TLS);
    let mut client = bed.connect().await;
    // The system spreads ports over the sockets of the threads.
    for number in 0..24 {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        client.endpoint.rebind(socket).unwrap();
        let (response, body) = client.get(&format!("/size/{number}")).await;
        assert_eq!((response.status().as_u16(), body.len()), (200, number));
    }
    assert!(client.connection.close_reason().is_none());
    bed.engine.stop();
}

#[tokio::test]
async fn requests_in_progress_outlive_http3() {
    let mut bed = Bed::start(TLS);
    let mut client = bed.connect().await;
    client.get("/").await;
    let request =
        Request::builder().method("POST").uri(format!("https://{NAME}/a")).body(()).unwrap();
    let mut stream = client.requests.send_request(request).await.unwrap();
    stream.send_data(Bytes::from_static(b"one ")).await.unwrap();
    // So that the engine has the request.
    client.get("/").await;
    bed.apply(", tls: {certificates: [c], alpn: [h2, http/1.1]}");
    stream.send_data(Bytes::from_static(b"two")).await.unwrap();
    stream.finish().await.unwrap();
    let response = tokio::time::timeout(TIMEOUT, stream.recv_response()).await.unwrap().unwrap();
    assert_eq!(response.status(), 200);
    let mut content = Vec::new();
    while let Some(data) = stream.recv_data().await.unwrap() {
        content.extend_from_slice(bytes::Buf::chunk(&data));
    }
    assert!(content.ends_with(b"one two"));
    drop(stream);
    let why = tokio::time::timeout(TIMEOUT, client.driver).await.unwrap().unwrap();
    assert!(why.contains("H3_NO_ERROR"), "{why}");
    // It comes back.
    bed.apply(TLS);
    bed.until_accepted().await;
    let (response, _) = bed.connect().await.get("/").await;
    assert_eq!(response.status(), 200);
    bed.engine.stop();
}

#[tokio::test]
async fn an_idle_connection_is_closed() {
    let bed = Bed::start(", timeouts: {keepalive: 2s}, tls: {certificates: [c], alpn: [h3]}");
    let mut client = bed.connect().await;
    assert_eq!(client.get("/").await.0.status(), 200);
    let why = tokio::time::timeout(TIMEOUT, client.driver).await.unwrap().unwrap();
    assert!(why.contains("H3_NO_ERROR"), "{why}");
    bed.engine.stop();
}

/// The head of a response of HTTP/1.1 over TLS.
fn head_over_tcp(bed: &Bed) -> String {
    use std::sync::Arc;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(bed.roots())
        .with_no_client_auth();
    let name = NAME.try_into().unwrap();
    let tls = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let socket = TcpStream::connect(bed.service).unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut stream = rustls::StreamOwned::new(tls, socket);
    stream.write_all(b"GET /size/0 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = Vec::new();
    let _without_close_notify = stream.read_to_end(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn other_versions_tell_of_http3() {
    for (members, value) in [
        ("alpn: [h3, http/1.1]", Some("h3=\":PORT\"; ma=86400")),
        ("alpn: [h3, http/1.1], alt_svc: 'h3=\":443\"; ma=60'", Some("h3=\":443\"; ma=60")),
        ("alpn: [h3, http/1.1], alt_svc: ''", None),
        ("alpn: [http/1.1]", None),
    ] {
        let bed = Bed::start(&format!(", tls: {{certificates: [c], {members}}}"));
        let head = head_over_tcp(&bed);
        let got = head.lines().find_map(|line| line.strip_prefix("Alt-Svc: "));
        let port = bed.service.port().to_string();
        assert_eq!(got, value.map(|value| value.replace("PORT", &port)).as_deref(), "{members}");
        bed.engine.stop();
    }
}

#[test]
fn impossible_configurations_are_refused() {
    let bed = Bed::start(TLS);
    let (folder, pool) =
        (bed.folder(), "pools: [{name: p, servers: [{name: s, address: '127.0.0.1:1'}]}]");
    let certificates =
        format!("certificates: [{{name: c, cert: '{folder}/cert.pem', key: '{folder}/key.pem'}}]");
    let check = |services: &str| {
        let text = format!("{certificates}\n{pool}\nvirtual_services:\n{services}");
        lb::check(&Config::parse(&text).unwrap()).map_err(|error| error.to_string())
    };
    let web = "  - {name: w, type: http, listen: '127.0.0.1:443', pool: p, tls: {certificates: [c], alpn: [h3]}";
    let udp = "  - {name: u, type: udp, listen: '127.0.0.1:443', pool: p}";
    assert_eq!(check(&format!("{web}}}")), Ok(()));
    for (services, problem) in [
        (format!("{web}}}\n{udp}"), "HTTP/3 needs the UDP port"),
        (format!("{web}, accept_proxy: true}}"), "without 'accept_proxy'"),
        (format!("{web}}}").replace("http,", "tcp,"), "for services of type http"),
    ] {
        let error = check(&services).unwrap_err();
        assert!(error.contains(problem), "{error}");
    }
    bed.engine.stop();
}
