//! Against this machine's own answers. Where neither raw nor lent sockets are allowed, the tests
//! see that the error says what to do.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use stdx::clock::RealClock;

use super::*;

fn series(to: IpAddr, packets: u32) -> Series {
    Series {
        to: SocketAddr::new(to, 0),
        packets,
        interval: Duration::from_millis(20),
        size: 56,
        timeout: Duration::from_secs(60),
        redirect: false,
    }
}

/// `false` = this machine lets nobody ping.
fn is_allowed(result: &Result<Outcome, PingError>) -> bool {
    let Err(PingError::Refused(why)) = result else { return true };
    assert!(why.contains("CAP_NET_RAW") && why.contains("AmbientCapabilities"), "{why}");
    false
}

fn pinger() -> Arc<Pinger> {
    Arc::new(Pinger::new(RealClock::shared(), None))
}

#[tokio::test]
async fn this_machine_answers() {
    let pinger = pinger();
    for (to, size) in [("127.0.0.1", 24), ("127.9.8.7", 56), ("127.0.0.1", 60_000), ("::1", 1_400)]
    {
        if std::net::UdpSocket::bind((to, 0)).is_err() {
            continue; // A machine without IPv6.
        }
        let series = Series { size, ..series(to.parse().unwrap(), 3) };
        let result = pinger.ping(series).await;
        if !is_allowed(&result) {
            return;
        }
        let outcome = result.unwrap();
        assert_eq!((outcome.sent, outcome.received), (3, 3), "{to}");
        assert!(outcome.min <= outcome.mean() && outcome.mean() <= outcome.max, "{to}");
        assert!(outcome.max < Duration::from_secs(60));
    }
}

#[tokio::test]
async fn thousands_at_one_time_lose_nothing() {
    let pinger = pinger();
    let tasks: Vec<_> = (0..4_000_u32)
        .map(|n| {
            let to = IpAddr::V4(Ipv4Addr::from(0x7f05_0000 + n));
            let pinger = Arc::clone(&pinger);
            tokio::spawn(async move { pinger.ping(series(to, 2)).await })
        })
        .collect();
    for task in tasks {
        let result = task.await.unwrap();
        if !is_allowed(&result) {
            return;
        }
        let outcome = result.unwrap();
        assert_eq!((outcome.sent, outcome.received), (2, 2));
    }
}

#[tokio::test]
async fn equal_series_go_out_once() {
    let pinger = pinger();
    let to = "127.3.3.3".parse().unwrap();
    let (one, two, other) = tokio::join!(
        pinger.ping(series(to, 5)),
        pinger.ping(series(to, 5)),
        pinger.ping(series(to, 4))
    );
    if !is_allowed(&one) {
        return;
    }
    // Nanoseconds of five packets do not agree by chance.
    assert_eq!(one, two);
    assert_eq!((one.unwrap().received, other.unwrap().received), (5, 4));
}

#[tokio::test]
async fn lost_packets_are_counted() {
    let pinger = pinger();
    // Broadcasts are not allowed without asking for them: nothing leaves, everything is lost.
    let lost = Series {
        timeout: Duration::from_millis(60),
        ..series("255.255.255.255".parse().unwrap(), 2)
    };
    let result = pinger.ping(lost).await;
    if !is_allowed(&result) {
        return;
    }
    let outcome = result.unwrap();
    assert_eq!((outcome.sent, outcome.received, outcome.mean()), (2, 0, Duration::ZERO));
    assert_eq!(outcome.loss(), 100.0);
}
