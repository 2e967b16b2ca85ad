//! Clients whose address changes, and datagrams that belong to no connection.

use std::net::UdpSocket;

use crate::TLS;
use crate::bed::{Bed, TIMEOUT, ask};

/// Another address of the client.
const ELSEWHERE: &str = "127.0.0.2:0";

#[tokio::test]
async fn a_client_that_moves_keeps_the_proven_address() {
    let bed = Bed::start(TLS);
    let mut client = bed.connect().await;
    client.endpoint.rebind(UdpSocket::bind(ELSEWHERE).unwrap()).unwrap();
    for _ in 0..3 {
        let (_, body) = client.get("/").await;
        let text = String::from_utf8(body).unwrap();
        assert!(text.contains("\r\nX-Forwarded-For: 127.0.0.1\r\n"), "{text}");
    }
    bed.engine.stop();
}

#[tokio::test]
async fn a_client_cannot_move_to_a_denied_address() {
    let bed = Bed::start(&format!("{TLS}, deny: [127.0.0.2]"));
    let mut client = bed.connect().await;
    client.get("/").await;
    client.endpoint.rebind(UdpSocket::bind(ELSEWHERE).unwrap()).unwrap();
    let request = tokio::spawn(ask(client.requests.clone(), "GET", "/size/7", &[]));
    let mut other = bed.connect().await;
    for _ in 0..100 {
        other.get("/").await;
    }
    assert!(!request.is_finished());
    client.endpoint.rebind(UdpSocket::bind("127.0.0.1:0").unwrap()).unwrap();
    let (_, body) = tokio::time::timeout(TIMEOUT, request).await.unwrap().unwrap();
    assert_eq!(body.len(), 7);
    bed.engine.stop();
}

#[test]
fn a_client_of_another_version_hears_at_once() {
    let bed = Bed::start(TLS);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(TIMEOUT)).unwrap();
    // A long header with a version that does not exist, and two ids of eight bytes.
    let mut datagram = vec![0; 1200];
    datagram[..6].copy_from_slice(&[0xc0, 0xfa, 0xce, 0xb0, 0x0c, 8]);
    datagram[14] = 8;
    socket.send_to(&datagram, bed.service).unwrap();
    let mut response = [0; 2048];
    let (length, _) = socket.recv_from(&mut response).unwrap();
    assert!(length < datagram.len() && response[1..5] == [0; 4], "a list of versions");
    bed.engine.stop();
}
