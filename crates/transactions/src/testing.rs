//! Transactions for tests: different in every column, the same for the same number.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::record::{
    Cached, Client, Course, End, Protocol, Request, Response, Target, Timings, Transaction,
};

const PATHS: [&str; 6] = ["/", "/api/users", "/api/orders/17", "/img/logo.svg", "/a b", ""];
const STATUSES: [u16; 5] = [200, 304, 404, 503, 0];
const ENDS: [End; 4] = [End::Complete, End::ClientClosed, End::ServerTimeout, End::Local];

fn pick<T: Copy>(from: &[T], number: u64) -> T {
    let place = usize::try_from(number).unwrap() % from.len();
    from[place]
}

pub(crate) fn transaction(number: u64) -> Transaction<'static> {
    let address = match number % 3 {
        0 => IpAddr::V6(Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(number % 7))),
        _ => IpAddr::V4(Ipv4Addr::from_bits(0x0a00_0000 + u32::try_from(number % 500).unwrap())),
    };
    let total_us = number * 7_919 % 100_000;
    Transaction {
        // Transactions end in another order than they begin.
        began_us: 1_000_000 + number * 100 - total_us.min(number * 100),
        target: Target {
            engine: "engine-1",
            service: pick(&["shop", "blog"], number / 5),
            pool: "web",
            server: pick(&["10.9.0.1:80", "10.9.0.2:80", ""], number),
        },
        client: Client {
            address,
            port: u16::try_from(number % 60_000).unwrap(),
            tls: "TLSv1.3",
            user: pick(&[&b""[..], b"alice", b"bob \"b\" \x1b", b"\xfe\xff"], number / 4),
        },
        request: Request {
            protocol: pick(&[Protocol::Http11, Protocol::Http2], number / 3),
            stream: pick(&[0, 1, 3], number / 3),
            method: pick(&[&b"GET"[..], b"POST"], number / 2),
            host: b"shop.example",
            path: pick(&PATHS, number).as_bytes(),
            query: b"",
            user_agent: pick(&[&b"curl/8"[..], b"Mozilla/5.0 (X11)", b"\xff\xfe"], number / 11),
            referer: b"",
            bytes: 100 + number % 10,
        },
        response: Response {
            status: pick(&STATUSES, number / 7),
            server_status: pick(&STATUSES, number / 7),
            bytes: number * 31 % 5_000,
        },
        timings: Timings {
            client_rtt_us: 40,
            connect_us: number % 2 * 300,
            response_us: total_us / 2,
            transfer_us: total_us / 4,
            total_us,
        },
        course: Course {
            end: pick(&ENDS, number / 13),
            tries: 1,
            reused: number.is_multiple_of(2),
            rules: "",
            cached: pick(&[Cached::Unused, Cached::Hit, Cached::Miss], number / 3),
        },
    }
}
