//! Requests whose parts come late or in another order, and responses that take long.

use crate::TLS;
use crate::attacks::{CONTROL, end, unidirectional};
use crate::bed::{Bed, TIMEOUT};

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

/// Waits until the engine has said which request of a connection is the last one.
async fn last_is_known(control: &mut quinn::RecvStream) {
    let mut bytes = Vec::new();
    // GOAWAY with the largest number, which warns, and another one.
    while !bytes.windows(3).any(|window| window[0] == 7 && window[1] <= 2 && window[2] > 0) {
        let chunk = tokio::time::timeout(TIMEOUT, control.read_chunk(100, true)).await.unwrap();
        bytes.extend_from_slice(&chunk.unwrap().unwrap().bytes);
    }
}

#[tokio::test]
async fn the_last_response_arrives_whole() {
    const SIZE: usize = 1 << 20;
    let mut bed = Bed::start(TLS);
    let (_endpoint, connection) = bed.quic().await;
    let _control = unidirectional(&connection, CONTROL).await;
    let mut control = connection.accept_uni().await.unwrap();
    let (mut request, mut response) = connection.open_bi().await.unwrap();
    // HEADERS: POST https://a/size/SIZE
    let path = format!("/size/{SIZE}");
    let length = u8::try_from(path.len()).unwrap();
    let head = [1, 9 + length, 0, 0, 0xd4, 0xd7, 0x50, 1, b'a', 0x51, length];
    request.write_all(&[&head[..], path.as_bytes(), &[0, 1, b'x']].concat()).await.unwrap();
    let (mut other, answered) = connection.open_bi().await.unwrap();
    other.write_all(GET).await.unwrap();
    other.finish().unwrap();
    succeeds(answered).await;
    bed.apply(", tls: {certificates: [c], alpn: [h2, http/1.1]}");
    last_is_known(&mut control).await;
    request.finish().unwrap();
    let whole = tokio::time::timeout(TIMEOUT, response.read_to_end(2 * SIZE)).await.unwrap();
    assert!(whole.unwrap().len() > SIZE);
    end(&connection).await;
    bed.engine.stop();
}
