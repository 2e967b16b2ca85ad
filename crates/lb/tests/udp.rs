//! UDP services through a running engine, with real sockets.

mod datagrams;

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use lb::config::Config;

use datagrams::{
    Patience, Server, TIMEOUT, ask, ask_until, client, clients, engine, file, first_records,
    receive, records, socket,
};

#[test]
fn a_session_has_one_server_and_sessions_take_turns() {
    let servers = [Server::start("a"), Server::start("b")];
    let (text, to) = file(2, "", "", &servers.each_ref().map(|server| server.address));
    let engine = engine(&text);
    let mut counts = BTreeMap::new();
    for client in &clients::<10>() {
        let first = ask(client, to, "1");
        let name = first.split(':').next().expect("a name").to_owned();
        for number in 2..20 {
            assert_eq!(ask(client, to, &number.to_string()), format!("{name}:{number}"));
        }
        *counts.entry(name).or_insert(0) += 1;
    }
    assert_eq!(Vec::from_iter(counts), [("a".to_owned(), 5), ("b".to_owned(), 5)]);
    engine.stop();
}

#[test]
fn datagrams_keep_their_sizes() {
    let server = Server::start("");
    let (text, to) = file(1, "", "", &[server.address]);
    let engine = engine(&text);
    let client = client();
    for length in [0, 1, 1_500, 9_000, 65_506] {
        let datagram = "x".repeat(length);
        assert_eq!(ask(&client, to, &datagram).len(), length + 1);
    }
    engine.stop();
}

#[test]
fn responses_leave_from_the_address_that_was_asked() {
    let server = Server::start("a");
    for (wildcard, local) in [("0.0.0.0", "127.0.0.9"), ("[::]", "127.0.0.9"), ("[::]", "[::1]")] {
        let (text, to) = file(2, "", "", &[server.address]);
        let Ok(client) = UdpSocket::bind(format!("{local}:0")) else { continue };
        client.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        let port = to.port();
        let engine = engine(&text.replace(&to.to_string(), &format!("{wildcard}:{port}")));
        let asked = format!("{local}:{port}").parse().expect("an address");
        assert_eq!(ask(&client, asked, "x"), "a:x", "{wildcard}");
        engine.stop();
    }
}

#[test]
fn a_refused_datagram_goes_to_another_server() {
    let (dead, alive) = (Server::start("dead").stop(), Server::start("b"));
    let folder = tempfile::tempdir().expect("a folder");
    let (text, to) = file(1, "", ", eject: {failures: 3, for: 1h}", &[dead, alive.address]);
    let records_in = format!("transactions: {{folder: {}}}\n", folder.path().display());
    let engine = engine(&(records_in + &text));
    for client in &clients::<20>() {
        assert_eq!(ask(client, to, "x"), "b:x");
    }
    engine.stop();
    let records = records(folder.path());
    let moved = records.iter().filter(|record| record.ends_with(" 2")).count();
    assert_eq!((records.len(), moved), (20, 3), "it is ejected after three failures: {records:?}");
    assert!(records.iter().all(|record| record.starts_with("s2 stopped 1 3 ")), "{records:?}");
}

#[test]
fn an_open_session_moves_when_its_server_ends() {
    let (first, other) = (Server::start("a"), Server::start("b"));
    let (text, to) = file(1, "", "", &[first.address, other.address]);
    let engine = engine(&text);
    let client = client();
    assert_eq!(ask(&client, to, "x"), "a:x");
    let address = first.stop();
    assert_eq!(ask_until(&client, to, |response| response == "b:x"), "b:x");
    let _again = Server::on(UdpSocket::bind(address).expect("the port"), "a");
    let mut response = ask(&client, to, "y");
    // Responses to datagrams that were sent again may have been on their way.
    while response == "b:x" {
        response = receive(&client, to);
    }
    assert_eq!(response, "b:y", "it stays there");
    engine.stop();
}

#[test]
fn without_a_server_a_session_ends_and_a_later_one_is_served() {
    let server = Server::start("a");
    let folder = tempfile::tempdir().expect("a folder");
    let (text, to) = file(1, "", "", &[server.address]);
    let records_in = format!("transactions: {{folder: {}}}\n", folder.path().display());
    let engine = engine(&(records_in + &text));
    let client = client();
    assert_eq!(ask(&client, to, "x"), "a:x");
    let address = server.stop();
    client.send_to(b"xyz", to).expect("a datagram that is sent");
    assert_eq!(first_records(folder.path()), ["s1 no server 4 3 1"]);
    let _again = Server::on(UdpSocket::bind(address).expect("the port"), "again");
    assert_eq!(ask_until(&client, to, |response| response == "again:x"), "again:x");
    engine.stop();
}

#[test]
fn a_session_ends_with_its_last_response() {
    let server = Server::start("a");
    let folder = tempfile::tempdir().expect("a folder");
    let (text, to) = file(1, ", limits: {responses: 1}", "", &[server.address]);
    let records_in = format!("transactions: {{folder: {}}}\n", folder.path().display());
    let engine = engine(&(records_in + &text));
    let client = client();
    for _ in 0..3 {
        assert_eq!(ask(&client, to, "x"), "a:x");
    }
    // Two queries of one socket at once, as resolvers of hosts send them.
    client.send_to(b"A", to).expect("a datagram that is sent");
    client.send_to(b"AAAA", to).expect("a datagram that is sent");
    let mut both = [receive(&client, to), receive(&client, to)];
    both.sort_unstable();
    assert_eq!(both, ["a:A", "a:AAAA"]);
    engine.stop();
    let records = records(folder.path());
    assert!(records.iter().all(|record| record.starts_with("s1 complete ")), "{records:?}");
    assert!(matches!(records.len(), 4 | 5), "one for each request, or one for both: {records:?}");
}

#[test]
fn sessions_end_by_time() {
    let (silent, server) = (socket("127.0.0.1:0"), Server::start("a"));
    let silent = silent.local_addr().expect("bound");
    for (address, service, end) in [
        // Longer than a server may need for its response.
        (server.address, ", timeouts: {session: 5s}", "s1 complete 1 3 1"),
        (silent, ", timeouts: {session: 50ms}", "s1 complete 1 0 1"),
        (silent, ", timeouts: {session: 50ms}, limits: {responses: 1}", "s1 server timeout 1 0 1"),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let (text, to) = file(1, service, "", &[address]);
        let records_in = format!("transactions: {{folder: {}}}\n", folder.path().display());
        let engine = engine(&(records_in + &text));
        client().send_to(b"x", to).expect("a datagram that is sent");
        assert_eq!(first_records(folder.path()), [end]);
        engine.stop();
    }
}

#[test]
fn a_flood_of_one_client_does_not_displace_others() {
    let server = Server::start("a");
    let limits = ", limits: {sessions: 100, client_sessions: 40}";
    let folder = tempfile::tempdir().expect("a folder");
    let (text, to) = file(2, limits, "", &[server.address]);
    let records_in = format!("transactions: {{folder: {}}}\n", folder.path().display());
    let engine = engine(&(records_in + &text));
    let other = socket("127.0.0.2:0");
    assert_eq!(ask(&other, to, "1"), "a:1");
    for client in &clients::<200>() {
        assert_eq!(ask(client, to, "x"), "a:x", "the newest session of the client is served");
    }
    assert_eq!(ask(&other, to, "2"), "a:2");
    engine.stop();
    let records = records(folder.path());
    let stopped = records.iter().filter(|record| record.contains(" stopped ")).count();
    assert_eq!((records.len(), stopped), (201, 41), "forty of the client, and the other one");
    assert!(records.contains(&"s1 stopped 2 6 1".to_owned()), "the other one was never displaced");
}

#[test]
fn beyond_the_limit_the_longest_silent_session_makes_room() {
    let server = Server::start("a");
    let folder = tempfile::tempdir().expect("a folder");
    let (text, to) = file(1, ", limits: {sessions: 20}", "", &[server.address]);
    let records_in = format!("transactions: {{folder: {}}}\n", folder.path().display());
    let engine = engine(&(records_in + &text));
    let active = client();
    for number in 1..=100_u8 {
        let flood = socket(format!("127.0.1.{number}:0"));
        assert_eq!(ask(&flood, to, "x"), "a:x");
        assert_eq!(ask(&active, to, "y"), "a:y");
    }
    engine.stop();
    let records = records(folder.path());
    let displaced = records.iter().filter(|record| record.contains(" displaced ")).count();
    assert_eq!((records.len(), displaced), (101, 81));
    assert!(records.contains(&"s1 stopped 100 300 1".to_owned()), "the active one stays");
}

#[test]
fn a_reload_keeps_sessions() {
    let servers = [Server::start("a"), Server::start("b"), Server::start("c")];
    let addresses = servers.each_ref().map(|server| server.address);
    let (text, to) = file(2, "", "", &addresses);
    let mut engine = engine(&text);
    let clients = clients::<30>();
    let before: Vec<String> = clients.iter().map(|client| ask(client, to, "x")).collect();
    for algorithm in ["random", "least_connections", "round_robin"] {
        let text = text.replace("name: p,", &format!("name: p, algorithm: {algorithm},"));
        engine.apply(&Config::parse(&text).expect("a valid file")).expect("a change");
        let after: Vec<String> = clients.iter().map(|client| ask(client, to, "x")).collect();
        assert_eq!(after, before, "{algorithm}");
    }
    let with = |state: &str| text.replace("name: s1,", &format!("name: s1, state: {state},"));
    engine.apply(&Config::parse(&with("drain")).expect("a valid file")).expect("a change");
    let after: Vec<String> = clients.iter().map(|client| ask(client, to, "x")).collect();
    assert_eq!(after, before, "a draining server keeps its sessions");
    assert!((0..10).all(|_| ask(&client(), to, "x") != "a:x"), "and gets no others");
    for text in [with("down"), with("up").replace("name: s1,", "name: new,")] {
        engine.apply(&Config::parse(&text).expect("a valid file")).expect("a change");
        for (client, before) in clients.iter().zip(&before) {
            let after = ask(client, to, "x");
            assert!(after == *before || before == "a:x", "{before} {after}");
            assert!(text.contains("new") || after != "a:x", "a server that is down gets nothing");
        }
    }
    engine.stop();
}

#[test]
fn a_renamed_service_serves_at_its_address() {
    let server = Server::start("a");
    let (text, to) = file(2, "", "", &[server.address]);
    let mut engine = engine(&text);
    let known = client();
    assert_eq!(ask(&known, to, "x"), "a:x");
    let name = Config::parse(&text).expect("a valid file").virtual_services[0].name.clone();
    let text = text.replace(&format!("name: {name},"), "name: renamed,");
    let config = Config::parse(&text).expect("a valid file");
    assert_eq!(config.virtual_services[0].name, "renamed");
    engine.apply(&config).expect("a change");
    assert_eq!(ask_until(&known, to, |response| response == "a:x"), "a:x");
    assert_eq!(ask_until(&client(), to, |response| response == "a:x"), "a:x");
    engine.stop();
}

#[test]
fn a_removed_service_ends_its_sessions_and_frees_the_address() {
    let server = Server::start("a");
    let (text, to) = file(2, "", "", &[server.address]);
    let mut engine = engine(&text);
    assert_eq!(ask(&client(), to, "x"), "a:x");
    engine
        .apply(&Config::parse("virtual_services: []\npools: []\n").expect("valid"))
        .expect("a change");
    let until = Patience::new();
    while UdpSocket::bind(to).is_err() {
        assert!(until.lasts(), "the address is still in use");
        std::thread::yield_now();
    }
    engine.apply(&Config::parse(&text).expect("a valid file")).expect("a change");
    assert_eq!(ask_until(&client(), to, |response| response == "a:x"), "a:x");
    engine.stop();
}

#[test]
fn clients_of_other_networks_are_refused() {
    let server = Server::start("a");
    let (text, to) = file(1, ", allow: [127.0.0.1/32]", "", &[server.address]);
    let engine = engine(&text);
    let other = socket("127.0.0.2:0");
    other.send_to(b"x", to).expect("a datagram that is sent");
    assert_eq!(ask(&client(), to, "x"), "a:x");
    other.set_nonblocking(true).expect("a socket");
    assert!(other.recv(&mut [0; 8]).is_err());
    engine.stop();
}

#[test]
fn a_client_address_has_one_server() {
    let servers = [Server::start("a"), Server::start("b"), Server::start("c")];
    let addresses = servers.each_ref().map(|server| server.address);
    for pool in [", algorithm: source_hash", ", persistence: {type: source_ip}"] {
        let (text, to) = file(2, "", pool, &addresses);
        let engine = engine(&text);
        let mut all = Vec::new();
        for number in 1..20 {
            let ask = || ask(&socket(format!("127.0.2.{number}:0")), to, "x");
            let first = ask();
            assert_eq!([ask(), ask()], [first.clone(), first.clone()], "{pool}");
            all.push(first);
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 3, "{pool}: different addresses have different servers");
        engine.stop();
    }
}

#[test]
fn datagrams_that_claim_to_come_from_a_service_are_refused() {
    // Two services whose servers respond to everything would feed each other for ever.
    let server = socket("127.0.0.1:0");
    let (text, to) = file(1, "", "", &[server.local_addr().expect("a bound socket")]);
    let other = SocketAddr::from(([127, 0, 0, 2], to.port()));
    let engine = engine(&text.replace(&format!("'{to}'"), &format!("['{to}', '{other}']")));
    // A socket of the test has the address of the service, too.
    let kind = socket2::Type::DGRAM;
    let own = socket2::Socket::new(socket2::Domain::IPV4, kind, None).expect("a socket");
    own.set_reuse_port(true).expect("a shared port");
    own.bind(&other.into()).expect("the address of the service");
    UdpSocket::from(own).send_to(b"own", to).expect("a datagram that is sent");
    client().send_to(b"client", to).expect("a datagram that is sent");
    let mut datagram = [0; 16];
    let length = server.recv(&mut datagram).expect("a datagram of the client");
    assert_eq!(&datagram[..length], b"client", "the first that the server gets");
    engine.stop();
}

#[test]
fn tcp_and_udp_services_may_have_one_port() {
    let server = Server::start("a");
    let (text, to) = file(1, "", "", &[server.address]);
    let both =
        format!("virtual_services: [{{name: t, type: tcp, listen: '{to}', pool: p}}, {{name: u,");
    let engine = engine(&text.replace("virtual_services: [{name: u,", &both));
    assert_eq!(ask(&client(), to, "x"), "a:x");
    std::net::TcpStream::connect(to).expect("a connection");
    engine.stop();
}

#[test]
fn monitors_of_datagrams_take_servers_out() {
    let server = Server::start("a");
    let dead = Server::start("dead").stop();
    for monitor in [
        "{type: udp, udp: {send: ping}, interval: 1s, timeout: 900ms, up: 1, down: 1}",
        "{type: udp, udp: {send: ping, expect: ':ping'}, interval: 1s, timeout: 900ms, down: 1}",
    ] {
        let pool = format!(", retries: {{count: 0}}, eject: {{failures: 0}}, health: {monitor}");
        let (text, to) = file(1, "", &pool, &[dead, server.address]);
        let engine = engine(&text);
        let until = Patience::new();
        // Without retries and ejection, every second session fails until the monitor has spoken.
        let mut in_a_row = 0;
        while in_a_row < 6 {
            assert!(until.lasts(), "{monitor}");
            let client = client();
            client.set_read_timeout(Some(Duration::from_millis(500))).expect("a timeout");
            client.send_to(b"x", to).expect("a datagram that is sent");
            in_a_row = if client.recv(&mut [0; 8]).is_ok() { in_a_row + 1 } else { 0 };
        }
        engine.stop();
    }
}
