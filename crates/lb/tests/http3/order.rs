//! Requests whose parts come late or in another order, and responses that take long.

use bytes::{Buf, Bytes};
use http::Request;

use crate::TLS;
use crate::attacks::{CONTROL, unidirectional};
use crate::bed::{Bed, NAME, TIMEOUT};

/// HEADERS: POST https://a/, without the type of the frame.
const REST_OF_POST: &[u8] = &[8, 0, 0, 0xd4, 0xd7, 0xc1, 0x50, 1, b'a'];
/// HEADERS: GET https://a/
const GET: &[u8] = &[1, 8, 0, 0, 0xd1, 0xd7, 0xc1, 0x50, 1, b'a'];

/// Checks that the rest of a stream is a response with the status 200.
async fn succeeds(mut response: quinn::RecvStream) {
    let response = tokio::time::timeout(TIMEOUT, response.read_to_end(10_000)).await.unwrap();
    // :status 200 is entry 25 of the static table.
    assert_eq!(response.unwrap()[2..5], [0, 0, 0xd9]);
}

#[tokio::test]
async fn heads_may_come_in_another_order_than_streams() {
    let bed = Bed::start(TLS);
    let (_endpoint, connection) = bed.quic().await;
    let _control = unidirectional(&connection, CONTROL).await;
    let mut requests = Vec::new();
    for _ in 0..5 {
        let (mut request, response) = connection.open_bi().await.unwrap();
        request.write_all(&[1]).await.unwrap();
        requests.push((request, response));
    }
    for at in [4, 2, 0, 3, 1] {
        requests[at].0.write_all(REST_OF_POST).await.unwrap();
        // So that the engine has the head.
        let (mut request, response) = connection.open_bi().await.unwrap();
        request.write_all(GET).await.unwrap();
        request.finish().unwrap();
        succeeds(response).await;
    }
    for (mut request, response) in requests {
        request.finish().unwrap();
        succeeds(response).await;
    }
    bed.engine.stop();
}

#[tokio::test]
async fn the_last_response_arrives_whole() {
    const SIZE: usize = 1 << 20;
    let mut bed = Bed::start(TLS);
    let mut client = bed.connect().await;
    let request = Request::builder().method("POST");
    let request = request.uri(format!("https://{NAME}/size/{SIZE}")).body(()).unwrap();
    let mut stream = client.requests.send_request(request).await.unwrap();
    stream.send_data(Bytes::from_static(b"one")).await.unwrap();
    client.get("/").await;
    bed.apply(", tls: {certificates: [c], alpn: [h2, http/1.1]}");
    // The engine has said which request is the last one when it begins no other.
    let mut requests = client.requests.clone();
    let refused = async {
        loop {
            let request = Request::get(format!("https://{NAME}/size/0")).body(()).unwrap();
            let Ok(mut stream) = requests.send_request(request).await else { break };
            if stream.finish().await.is_err() || stream.recv_response().await.is_err() {
                break;
            }
        }
    };
    tokio::time::timeout(TIMEOUT, refused).await.unwrap();
    stream.finish().await.unwrap();
    let whole = async {
        assert_eq!(stream.recv_response().await.unwrap().status(), 200);
        let mut length = 0;
        while let Some(data) = stream.recv_data().await.unwrap() {
            length += data.remaining();
        }
        length
    };
    assert_eq!(tokio::time::timeout(TIMEOUT, whole).await.unwrap(), SIZE);
    drop(stream);
    let why = tokio::time::timeout(TIMEOUT, client.driver).await.unwrap().unwrap();
    assert!(why.contains("H3_NO_ERROR"), "{why}");
    bed.engine.stop();
}
