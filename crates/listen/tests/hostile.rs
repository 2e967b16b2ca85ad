//! Strangers on the trapper port: oversized, cut short, endlessly slow, bombs, floods.

mod common;

use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{Rig, counts, host, item, read_answer, snapshot};
use config::snapshot::ItemType;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use wire::zbxd;

fn estate() -> config::Snapshot {
    snapshot(1, vec![host(1, "web", 1, vec![item(1, "trap.a", ItemType::Trapper, "")])])
}

/// Closes connections that do not send for this time: longer than a busy machine needs to send a request.
const PATIENCE: Duration = Duration::from_secs(5);

async fn strict() -> Rig {
    Rig::start_with(estate(), |config| {
        config.limits.frame_bytes_max = 1 << 20;
        config.limits.message_bytes_max = 2 << 20;
        config.limits.bytes_in_flight = 16 << 20;
        config.limits.first_byte = PATIENCE;
        config.limits.receive = PATIENCE;
        config.limits.connections = 64;
        config.limits.connections_per_peer = 48;
    })
    .await
}

async fn is_well(rig: &Rig) {
    let request = json!({ "request": "sender data", "data": [{ "host": "web", "key": "trap.a", "value": "1" }] });
    assert_eq!(counts(&rig.json(request).await), (1, 0));
}

fn header(flags: u8, bytes: u32, reserved: u32) -> Vec<u8> {
    let mut header = b"ZBXD".to_vec();
    header.push(flags);
    header.extend_from_slice(&bytes.to_le_bytes());
    header.extend_from_slice(&reserved.to_le_bytes());
    header
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_refused() {
    let rig = strict().await;
    let bomb = {
        // 2 MiB of zeros said to be 64 KiB, and the reverse.
        let mut frame = zbxd::encode(&vec![b'0'; 2 << 20], zbxd::COMPRESSED);
        frame[9..13].copy_from_slice(&(64_u32 << 10).to_le_bytes());
        frame
    };
    let liar = {
        let mut frame =
            zbxd::encode(b"{\"request\":\"sender data\",\"data\":[]}", zbxd::COMPRESSED);
        frame[9..13].copy_from_slice(&(1_u32 << 20).to_le_bytes());
        frame
    };
    let damaged = {
        let mut frame = zbxd::encode(&vec![b'x'; 5000], zbxd::COMPRESSED);
        frame[15] ^= 0x55;
        frame[16] ^= 0x55;
        frame
    };
    for (name, bytes, answer) in [
        ("oversized", header(1, 50 << 20, 0), Some("more than the 1048576 bytes allowed")),
        ("inflates too far", header(3, 1000, 50 << 20), Some("when uncompressed, more than")),
        ("bomb", bomb, Some("cannot be uncompressed")),
        ("liar", liar, Some("cannot be uncompressed")),
        ("damaged", damaged, Some("cannot be uncompressed")),
        ("no header", b"GET / HTTP/1.1\r\n\r\n".to_vec(), None),
        ("bad flags", header(0x41, 10, 0), None),
        ("not JSON", zbxd::encode(b"{\"request\": sender", zbxd::PROTOCOL), Some("failed")),
        ("deep", zbxd::encode(deep().as_bytes(), zbxd::PROTOCOL), Some("failed")),
        ("binary", zbxd::encode(&[0xff, 0xfe, 0, 1], zbxd::PROTOCOL), Some("unknown request")),
    ] {
        let seen = rig.ask_bytes(&bytes).await.map(|(text, _)| text);
        match answer {
            Some(part) => {
                let seen = seen.unwrap_or_default();
                assert!(seen.contains(part) && seen.contains("failed"), "{name}: {seen}");
            }
            None => assert_eq!(seen, None, "{name}"),
        }
        is_well(&rig).await;
    }
    assert!(rig.shards.texts().iter().all(|(_, text)| text == "1"));
}

fn deep() -> String {
    format!(
        "{{\"request\":\"sender data\",\"data\":[{{\"host\":{}1{}}}]}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_short_is_not_taken() {
    let rig = strict().await;
    let request = json!({ "request": "sender data", "data": [{ "host": "web", "key": "trap.a", "value": "1" }] });
    let frame = zbxd::encode(request.to_string().as_bytes(), zbxd::PROTOCOL);
    for length in [0, 1, 4, 5, 12, 13, 20, frame.len() - 1] {
        let mut stream = TcpStream::connect(rig.address()).await.unwrap();
        stream.write_all(&frame[..length]).await.unwrap();
        stream.shutdown().await.unwrap();
        assert_eq!(read_answer(&mut stream).await, None, "{length} bytes");
    }
    assert!(rig.shards.texts().is_empty());
    // One byte more than announced.
    let mut longer = frame.clone();
    longer.push(b'x');
    assert_eq!(rig.ask_bytes(&longer).await, None);
    is_well(&rig).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_senders_lose_their_place_and_delay_no_other() {
    let rig = strict().await;
    let mut slow = Vec::new();
    for n in 0..40 {
        let mut stream = TcpStream::connect(rig.address()).await.unwrap();
        // Some say nothing, some start a frame, some start a TLS handshake.
        match n % 3 {
            0 => {}
            1 => stream.write_all(&header(1, 1 << 20, 0)).await.unwrap(),
            _ => stream.write_all(&[0x16, 3, 1]).await.unwrap(),
        }
        slow.push(stream);
    }
    for _ in 0..20 {
        is_well(&rig).await;
    }
    for stream in &mut slow {
        assert_eq!(read_answer(stream).await, None);
    }
    is_well(&rig).await;
    let slow = rig.context.counters.slow.load(Ordering::SeqCst);
    assert_eq!(slow, 40);
}

/// A rig whose idle connections end by nothing but eviction.
async fn patient() -> Rig {
    Rig::start_with(estate(), |config| {
        config.limits.first_byte = Duration::from_secs(600);
        config.limits.receive = Duration::from_secs(600);
        config.limits.connections = 64;
        config.limits.connections_per_peer = 48;
    })
    .await
}

/// Connections from 127.0.0.`last` that send nothing or a part of a message.
#[allow(clippy::unwrap_used, reason = "this is test code")]
async fn idle(rig: &Rig, last: u8, count: usize) -> Vec<TcpStream> {
    let mut open = Vec::new();
    for n in 0..count {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(([127, 0, 0, last], 0).into()).unwrap();
        let accepted = rig.context.counters.accepted.load(Ordering::SeqCst);
        let mut stream = socket.connect(rig.address()).await.unwrap();
        if n % 2 == 1 {
            stream.write_all(&header(1, 1 << 20, 0)).await.unwrap();
        }
        while rig.context.counters.accepted.load(Ordering::SeqCst) == accepted {
            tokio::task::yield_now().await;
        }
        open.push(stream);
    }
    open
}

async fn is_closed(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    match tokio::time::timeout(Duration::from_millis(1), stream.read(&mut byte)).await {
        Ok(Ok(n)) => n == 0,
        Ok(Err(_)) => true,
        Err(_) => false,
    }
}

/// These connections are closed, and no others.
async fn assert_closed(streams: &mut [TcpStream], expected: &[usize]) {
    for n in expected {
        assert_eq!(read_answer(&mut streams[*n]).await, None);
    }
    for (n, stream) in streams.iter_mut().enumerate() {
        assert_eq!(is_closed(stream).await, expected.contains(&n), "{n}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn full_table_closes_an_idle_connection_of_the_biggest_address() {
    let rig = patient().await;
    let mut biggest = idle(&rig, 2, 45).await;
    let mut other = idle(&rig, 3, 19).await;
    is_well(&rig).await;
    assert_closed(&mut biggest, &[0]).await;
    assert_closed(&mut other, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn address_with_too_many_connections_loses_its_oldest() {
    let rig = patient().await;
    let mut open = idle(&rig, 2, 50).await;
    is_well(&rig).await;
    assert_closed(&mut open, &[0, 1]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn proxies_are_answered_in_their_protocol() {
    let rig = strict().await;
    for name in ["proxy config", "proxy data", "proxy heartbeat", "proxy tasks"] {
        let request = json!({ "request": name, "host": "p", "version": "7.0.22",
            "session": "0123456789abcdef0123456789abcdef", "config_revision": 0 });
        let (answer, flags) =
            rig.ask_flags(&request.to_string(), zbxd::PROTOCOL | zbxd::COMPRESSED).await.unwrap();
        assert_eq!(flags, zbxd::PROTOCOL | zbxd::COMPRESSED, "{name}");
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["response"], "failed", "{name}");
        assert_eq!(answer["upload"], "disabled", "{name}");
        let info = answer["info"].as_str().unwrap();
        assert!(info.contains("does not support proxies yet"), "{name}: {info}");
    }
}

/// Many large messages at one time: all are served, one after the other where the budget says so.
#[tokio::test(flavor = "multi_thread")]
async fn large_messages_share_the_budget() {
    let rig = std::sync::Arc::new(
        Rig::start_with(estate(), |config| {
            config.limits.frame_bytes_max = 4 << 20;
            config.limits.message_bytes_max = 4 << 20;
            config.limits.bytes_in_flight = 8 << 20;
        })
        .await,
    );
    let rows: Vec<_> = (0..20_000)
        .map(|n| json!({ "host": "web", "key": "trap.a", "value": n.to_string(), "clock": 1_700_000_000 }))
        .collect();
    let text = json!({ "request": "sender data", "data": rows }).to_string();
    assert!(text.len() > 1 << 20);
    let asking: Vec<_> = (0..12)
        .map(|n| {
            let (rig, text) = (std::sync::Arc::clone(&rig), text.clone());
            let flags = if n % 2 == 0 { zbxd::PROTOCOL } else { zbxd::COMPRESSED };
            tokio::spawn(async move { rig.ask_flags(&text, flags).await.unwrap().0 })
        })
        .collect();
    for answer in asking {
        let answer: serde_json::Value = serde_json::from_str(&answer.await.unwrap()).unwrap();
        assert_eq!(counts(&answer), (20_000, 0));
    }
    assert_eq!(rig.shards.texts().len(), 240_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_shard_makes_the_sender_wait() {
    let rig = std::sync::Arc::new(strict().await);
    rig.shards.hold.store(true, Ordering::SeqCst);
    let asking: Vec<_> = (0..30)
        .map(|_| {
            let rig = std::sync::Arc::clone(&rig);
            tokio::spawn(async move { is_well(&rig).await })
        })
        .collect();
    while rig.context.counters.accepted.load(Ordering::SeqCst) < 30 {
        tokio::task::yield_now().await;
    }
    assert!(asking.iter().all(|task| !task.is_finished()));
    rig.shards.hold.store(false, Ordering::SeqCst);
    for task in asking {
        task.await.unwrap();
    }
    assert_eq!(rig.shards.texts().len(), 30);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_answers_what_is_in_hand() {
    let rig = strict().await;
    let address = rig.address();
    rig.shards.hold.store(true, Ordering::SeqCst);
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = json!({ "request": "sender data", "data": [{ "host": "web", "key": "trap.a", "value": "1" }] });
    stream.write_all(&zbxd::encode(request.to_string().as_bytes(), zbxd::PROTOCOL)).await.unwrap();
    while rig.shards.batches.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let shards = std::sync::Arc::clone(&rig.shards);
    let stopping = tokio::spawn(rig.handle.stop());
    shards.hold.store(false, Ordering::SeqCst);
    let answer = read_answer(&mut stream).await.unwrap().0;
    assert!(answer.contains("processed: 1"), "{answer}");
    tokio::time::timeout(collect::testing::rig::WAIT, stopping).await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err(), "the listener is closed");
}

/// Longer than the thread of short requests waits for one.
const DAWDLE: Duration = Duration::from_millis(150);

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_drip_are_answered_as_others() {
    let rig = patient().await;
    let request = json!({ "request": "sender data", "data": [{ "host": "web", "key": "trap.a", "value": "1" }] });
    let frame = zbxd::encode(request.to_string().as_bytes(), zbxd::PROTOCOL);
    let packed = zbxd::encode(request.to_string().as_bytes(), zbxd::COMPRESSED);
    for (frame, cuts) in [
        (&frame, vec![1]),
        (&frame, vec![4, 5, 12, 13]),
        (&frame, vec![13, 20, frame.len() - 1]),
        (&packed, vec![5]),
        (&packed, vec![3, 13]),
    ] {
        let mut stream = TcpStream::connect(rig.address()).await.unwrap();
        let mut from = 0;
        for cut in cuts {
            stream.write_all(&frame[from..cut]).await.unwrap();
            from = cut;
            tokio::time::sleep(DAWDLE).await;
            is_well(&rig).await;
        }
        stream.write_all(&frame[from..]).await.unwrap();
        let answer = read_answer(&mut stream).await.unwrap().0;
        assert!(answer.contains("processed: 1; failed: 0"), "{answer}");
    }
    // A byte at a time, as fast as they go.
    let mut stream = TcpStream::connect(rig.address()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for byte in &frame {
        stream.write_all(&[*byte]).await.unwrap();
    }
    assert!(read_answer(&mut stream).await.unwrap().0.contains("processed: 1; failed: 0"));
    assert_eq!(rig.context.counters.slow.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn peers_that_do_not_read_their_answer_get_it_later() {
    // More than sockets hold.
    let name = "a".repeat(200);
    let items = (1..=40_000)
        .map(|id| item(id, &format!("{name}[{id}]"), ItemType::AgentActive, "60s"))
        .chain([item(90_000, "trap.a", ItemType::Trapper, "")]);
    let estate = snapshot(1, vec![host(1, "web", 1, items.collect())]);
    let rig = Rig::start(estate).await;
    let request = json!({ "request": "active checks", "host": "web", "version": "7.0.0" });
    let frame = zbxd::encode(request.to_string().as_bytes(), zbxd::PROTOCOL);
    let mut lazy = Vec::new();
    for _ in 0..3 {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let mut stream = socket.connect(rig.address()).await.unwrap();
        stream.write_all(&frame).await.unwrap();
        lazy.push(stream);
    }
    for _ in 0..20 {
        is_well(&rig).await;
    }
    for stream in &mut lazy {
        let answer = read_answer(stream).await.unwrap().0;
        let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
        assert_eq!(answer["data"].as_array().unwrap().len(), 40_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_does_not_wait_for_those_that_send_nothing() {
    let rig = patient().await;
    let mut open = idle(&rig, 2, 10).await;
    tokio::time::sleep(DAWDLE).await;
    open.extend(idle(&rig, 3, 10).await);
    tokio::time::timeout(collect::testing::rig::WAIT, rig.handle.stop()).await.unwrap();
}
