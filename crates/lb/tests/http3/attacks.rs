//! Clients that break the rules, with frames of the tests' own: their connection or stream ends with the code of the
//! standard, and others are served.

use std::net::UdpSocket;
use std::sync::Arc;

use quinn::{Connection, ConnectionError, ReadToEndError, VarInt};

use crate::TLS;
use crate::bed::{Bed, NAME, TIMEOUT};

/// A control stream with empty SETTINGS.
pub(crate) const CONTROL: &[u8] = &[0, 4, 0];
/// HEADERS: GET https://a/ with names and values of the static table and one literal.
const GET: &[u8] = &[1, 8, 0, 0, 0xd1, 0xd7, 0xc1, 0x50, 1, b'a'];

pub(crate) async fn unidirectional(connection: &Connection, bytes: &[u8]) -> quinn::SendStream {
    let mut stream = connection.open_uni().await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream
}

/// The code that the engine closes the connection with. `None`: a client that has not run for a while sends a probe before
/// it reads what has arrived. If the engine has forgotten the connection by then, it answers with a reset, for which the
/// client's library forgets the code.
pub(crate) async fn end(connection: &Connection) -> Option<u64> {
    match tokio::time::timeout(TIMEOUT, connection.closed()).await.unwrap() {
        ConnectionError::ApplicationClosed(closed) => Some(closed.error_code.into_inner()),
        ConnectionError::Reset if connection.stats().frame_rx.connection_close > 0 => None,
        other => panic!("{other}"),
    }
}

/// The code that a connection ends with for what a client does; what that returns stays open.
async fn code_of<Open>(bed: &Bed, act: impl AsyncFn(&Connection) -> Open) -> u64 {
    loop {
        let (_endpoint, connection) = bed.quic().await;
        let _open = act(&connection).await;
        if let Some(code) = end(&connection).await {
            return code;
        }
    }
}

/// The code for a request of these bytes; `last`: nothing follows them.
async fn code_of_request(bed: &Bed, bytes: &[u8], last: bool) -> u64 {
    code_of(bed, async |connection| {
        let control = unidirectional(connection, CONTROL).await;
        let (mut request, response) = connection.open_bi().await.unwrap();
        request.write_all(bytes).await.unwrap();
        if last {
            request.finish().unwrap();
        }
        (control, request, response)
    })
    .await
}

/// The code for a unidirectional stream of these bytes; `last`: nothing follows them.
async fn code_of_stream(bed: &Bed, bytes: &[u8], last: bool) -> u64 {
    code_of(bed, async |connection| {
        let mut stream = unidirectional(connection, bytes).await;
        if last {
            stream.finish().unwrap();
        }
        stream
    })
    .await
}

#[tokio::test]
async fn broken_connections_end_with_the_codes_of_the_standard() {
    let bed = Bed::start(TLS);
    for (bytes, end, code, why) in [
        (&[0, 1, b'x'][..], false, 0x105, "DATA before HEADERS"),
        (&[4, 0], false, 0x105, "SETTINGS on a request"),
        (&[2, 0], false, 0x105, "a frame of HTTP/2"),
        (&[1, 9, 0], true, 0x106, "a frame without its end"),
        (&[1, 2, 1, 0], false, 0x200, "an entry of a dynamic table"),
        (
            &[1, 13, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
            false,
            0x200,
            "a huge integer",
        ),
        (&[1, 0x80, 0x10, 0, 0, 0, 0], false, 0x107, "a header block of a mebibyte"),
    ] {
        assert_eq!(code_of_request(&bed, bytes, end).await, code, "{why}");
    }
    for (bytes, end, code, why) in [
        (&[0, 7, 1, 0][..], false, 0x10a, "GOAWAY before SETTINGS"),
        (&[0, 4, 0, 4, 0], false, 0x105, "SETTINGS twice"),
        (&[0, 4, 2, 2, 1], false, 0x109, "a setting of HTTP/2"),
        (&[0, 4, 0, 0, 0], false, 0x105, "DATA on the control stream"),
        (&[0, 4, 0, 3, 1, 0], false, 0x108, "a push that was never announced"),
        (&[0, 4, 0], true, 0x104, "the control stream ends"),
        (&[2], true, 0x104, "the encoder's stream ends"),
        (&[2, 0x3f, 0xe1, 0x1f], false, 0x201, "a table that was not allowed"),
        (&[3, 1], false, 0x202, "entries that were never sent are known"),
        (&[1, 0], false, 0x103, "a client pushes"),
    ] {
        assert_eq!(code_of_stream(&bed, bytes, end).await, code, "{why}");
    }
    let twice = async |connection: &Connection| {
        [unidirectional(connection, CONTROL).await, unidirectional(connection, CONTROL).await]
    };
    assert_eq!(code_of(&bed, twice).await, 0x103, "two control streams");
    assert_eq!(bed.connect().await.get("/").await.0.status(), 200);
    bed.engine.stop();
}

#[tokio::test]
async fn malformed_requests_end_alone() {
    let bed = Bed::start(", timeouts: {client_header: 2s}, tls: {certificates: [c], alpn: [h3]}");
    let (_endpoint, connection) = bed.quic().await;
    let _control = unidirectional(&connection, CONTROL).await;
    // An unknown stream is refused, unknown frames are skipped.
    let unknown = unidirectional(&connection, &[0x21, 1, 2, 3]).await;
    assert_eq!(unknown.stopped().await.unwrap(), Some(VarInt::from_u32(0x103)));
    for (bytes, end, code, why) in [
        (&[][..], true, 0x10d, "no head"),
        (&[1, 3, 0, 0, 0xd1], true, 0x10e, "a head without a path"),
        (&[1, 4], false, 0x10d, "a head that does not go on"),
    ] {
        let (mut request, mut response) = connection.open_bi().await.unwrap();
        request.write_all(bytes).await.unwrap();
        if end {
            request.finish().unwrap();
        }
        let ended = tokio::time::timeout(TIMEOUT, response.read_to_end(1000)).await.unwrap();
        let Err(ReadToEndError::Read(quinn::ReadError::Reset(got))) = ended else {
            panic!("{why}: {ended:?}");
        };
        assert_eq!(got.into_inner(), code, "{why}");
    }
    let (mut request, mut response) = connection.open_bi().await.unwrap();
    request.write_all(&[&[0x21, 2, 9, 9][..], GET, &[0x40, 0x21, 0]].concat()).await.unwrap();
    request.finish().unwrap();
    let response = tokio::time::timeout(TIMEOUT, response.read_to_end(10_000)).await.unwrap();
    // :status 200 is entry 25 of the static table.
    assert_eq!(response.unwrap()[2..5], [0, 0, 0xd9]);
    bed.engine.stop();
}

#[tokio::test]
async fn a_client_that_resets_streams_rapidly_is_stopped() {
    let bed = Bed::start(TLS);
    let attack = async |connection: &Connection| {
        let control = unidirectional(connection, CONTROL).await;
        let requests = async {
            for _ in 0..100_000 {
                let (mut request, mut response) = connection.open_bi().await?;
                request.write_all(GET).await.ok();
                request.reset(VarInt::from_u32(0x10c)).ok();
                response.stop(VarInt::from_u32(0x10c)).ok();
            }
            Ok::<_, ConnectionError>(())
        };
        tokio::time::timeout(TIMEOUT, requests).await.unwrap().unwrap_err();
        control
    };
    assert_eq!(code_of(&bed, attack).await, 0x107);
    assert_eq!(bed.connect().await.get("/").await.0.status(), 200);
    bed.engine.stop();
}

#[tokio::test]
async fn unknown_frames_are_skipped_only_so_often() {
    let bed = Bed::start(TLS);
    let flood = [0x21, 0].repeat(10_000);
    assert_eq!(code_of_request(&bed, &[GET, &flood].concat(), false).await, 0x107);
    let control = [CONTROL, &flood].concat();
    assert_eq!(code_of_stream(&bed, &control, false).await, 0x107);
    bed.engine.stop();
}

/// The first datagram of a connection that goes no further.
fn initial(bed: &Bed) -> Vec<u8> {
    let config = Arc::new(quinn_proto::EndpointConfig::default());
    let mut endpoint = quinn_proto::Endpoint::new(config, None, false, None);
    let now = stdx::clock::Instants::new().at(std::time::Duration::ZERO);
    let (_, mut connection) = endpoint.connect(now, bed.client(), bed.service, NAME).unwrap();
    let mut datagram = Vec::new();
    let _written = connection.poll_transmit(now, 1, &mut datagram).unwrap();
    datagram
}

#[tokio::test]
async fn thousands_of_half_open_handshakes_cost_little() {
    const ATTACKS: usize = 3000;
    let bed = Bed::start(TLS);
    let mut good = bed.connect().await;
    let attacker = UdpSocket::bind("127.0.0.1:0").unwrap();
    attacker.set_read_timeout(Some(TIMEOUT)).unwrap();
    let (mut retries, mut handshakes) = (0, 0);
    let mut datagram = [0; 2048];
    for _ in 0..ATTACKS {
        attacker.send_to(&initial(&bed), bed.service).unwrap();
        // Packets of other handshakes may come before this one's.
        let (length, _) = attacker.recv_from(&mut datagram).unwrap();
        match (datagram[0] >> 4) & 3 {
            3 => retries += 1,
            _ => handshakes += 1,
        }
        assert!(length <= 1200, "the response is not longer than three times the request");
    }
    // Those that got no token were let in; what they get is sent again.
    assert!(retries > 0, "{handshakes} packets of handshakes");
    assert_eq!(good.get("/").await.0.status(), 200);
    // A new client comes back with its token.
    assert_eq!(bed.connect().await.get("/").await.0.status(), 200);
    bed.engine.stop();
}
