//! Many bytes through a running engine: they arrive, and they are counted, whether they are copied or
//! moved through pipes.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::Duration;

use lb::Engine;
use lb::config::Config;
use proxying::engine_link::analytics::Counter;
use stdx::clock::RealClock;
use stdx::sync::lock;

/// One test at a time: they count the pipes of the process.
static ALONE: Mutex<()> = Mutex::new(());
/// How long anything may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Sizes around the limits of buffers, and beyond which pipes are used.
const SIZES: [usize; 8] = [0, 1, 10_000, 32_768, 262_144, 263_168, 1_000_003, 4 << 20];

fn pattern(length: usize, first: usize) -> Vec<u8> {
    (first..first + length).map(|at| (at % 251) as u8).collect()
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("a bound socket");
    (listener, address)
}

/// An engine that counts, its address, and the folder of its records.
fn start(kind: &str, server: SocketAddr) -> (Engine, SocketAddr, tempfile::TempDir) {
    let address = stdx::listening::free_address().expect("a free port");
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "threads: 1\ntransactions: {{folder: {}}}\n\
         virtual_services: [{{name: bulk, type: {kind}, listen: '{address}', pool: app}}]\n\
         pools: [{{name: app, servers: [{{name: s, address: '{server}'}}]}}]\n",
        folder.path().display()
    );
    let config = Config::parse(&text).expect("a valid file");
    let engine = Engine::start(&config, &RealClock::shared()).expect("an engine");
    (engine, address, folder)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a connection");
    stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    stream
}

/// Counters of the service once this many connections have ended.
fn counted(engine: &Engine, ended: u64) -> [u64; 2] {
    let count = |counter: Counter| {
        let measured = engine.measured(Duration::ZERO);
        let service = measured.into_iter().find(|one| &*one.name == "bulk").expect("the service");
        service.counts.counters[counter]
    };
    let done = (0..6_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        count(Counter::Requests) == ended
    });
    assert!(done, "{} of {ended} have ended", count(Counter::Requests));
    [Counter::BytesIn, Counter::BytesOut].map(count)
}

fn write(mut stream: TcpStream, bytes: Vec<u8>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        stream.write_all(&bytes).expect("an open connection");
        stream.shutdown(Shutdown::Write).expect("an open connection");
    })
}

/// Reads to the end; slowly at first, so that the engine must wait.
fn read(mut stream: TcpStream) -> Vec<u8> {
    let (mut bytes, mut chunk) = (Vec::new(), [0; 5_000]);
    for _ in 0..100 {
        let length = stream.read(&mut chunk).expect("an open connection");
        bytes.extend_from_slice(&chunk[..length]);
        std::thread::yield_now();
    }
    stream.read_to_end(&mut bytes).expect("an open connection");
    bytes
}

/// Pipes that are open in this process.
fn pipes() -> usize {
    let files = std::fs::read_dir("/proc/self/fd").expect("a folder of files");
    let links = files.flatten().filter_map(|file| std::fs::read_link(file.path()).ok());
    links.filter(|link| link.to_string_lossy().starts_with("pipe:")).count()
}

#[test]
fn tcp_carries_all_bytes_both_ways() {
    let _alone = lock(&ALONE);
    let (listener, server) = listener();
    let (engine, address, _records) = start("tcp", server);
    let before = pipes();
    let (mut up, mut down) = (0, 0);
    for (round, size) in SIZES.into_iter().enumerate() {
        let other = SIZES[(round * 3) % SIZES.len()];
        let client = connect(address);
        let writer = write(client.try_clone().expect("a socket"), pattern(size, 0));
        let (far, _) = listener.accept().expect("a connection");
        let answer = write(far.try_clone().expect("a socket"), pattern(other, 7));
        let asked = std::thread::spawn(move || read(far));
        assert!(read(client) == pattern(other, 7), "{other} bytes to the client");
        assert!(asked.join().expect("no panic") == pattern(size, 0), "{size} bytes to the server");
        writer.join().expect("no panic");
        answer.join().expect("no panic");
        (up, down) = (up + size as u64, down + other as u64);
        assert_eq!(counted(&engine, round as u64 + 1), [up, down], "{size} and {other}");
    }
    assert!(pipes() > before, "no pipe was used for any of them");
    engine.stop();
}

#[test]
fn a_half_closed_client_gets_what_follows() {
    let _alone = lock(&ALONE);
    let (listener, server) = listener();
    let (engine, address, _records) = start("tcp", server);
    let client = connect(address);
    write(client.try_clone().expect("a socket"), b"all".to_vec()).join().expect("no panic");
    let (mut far, _) = listener.accept().expect("a connection");
    let mut asked = Vec::new();
    far.read_to_end(&mut asked).expect("an open connection");
    assert_eq!(asked, b"all");
    let answer = write(far, pattern(8 << 20, 3));
    assert!(read(client) == pattern(8 << 20, 3));
    answer.join().expect("no panic");
    assert_eq!(counted(&engine, 1), [3, 8 << 20]);
    engine.stop();
}

#[test]
fn a_reset_ends_both_sides() {
    let _alone = lock(&ALONE);
    let (listener, server) = listener();
    let (engine, address, _records) = start("tcp", server);
    for of_client in [true, false] {
        let client = connect(address);
        let (far, _) = listener.accept().expect("a connection");
        far.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        let (from, mut to) = if of_client { (client, far) } else { (far, client) };
        // More than the sockets accept: the rest is in the engine when the sender disappears.
        let mut sender = from.try_clone().expect("a socket");
        sender.set_nonblocking(true).expect("a socket");
        let chunk = pattern(1 << 20, 0);
        let (mut sent, mut refused) = (Vec::new(), 0);
        while refused < 20 {
            match sender.write(&chunk) {
                Ok(length) => {
                    sent.extend_from_slice(&chunk[..length]);
                    refused = 0;
                }
                Err(_) => {
                    refused += 1;
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
        let linger = socket2::SockRef::from(&from);
        linger.set_linger(Some(Duration::ZERO)).expect("a socket");
        drop((from, sender));
        let mut bytes = Vec::new();
        // The end or an error, but no silence.
        if let Err(error) = to.read_to_end(&mut bytes) {
            assert_ne!(error.kind(), std::io::ErrorKind::WouldBlock, "no end after a reset");
        }
        assert!(sent.starts_with(&bytes), "what arrives is what was sent");
    }
    counted(&engine, 2);
    engine.stop();
}

/// A server of HTTP that sends bodies of these sizes on one connection.
fn http_server(listener: TcpListener, sizes: Vec<usize>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        for size in sizes {
            if stream.read_exact(&mut [0; 16]).is_err() {
                panic!("the engine has closed the connection, which it could use again");
            }
            let mut last = [0; 4];
            while last != *b"\r\n\r\n" {
                last.rotate_left(1);
                stream.read_exact(&mut last[3..]).expect("a request");
            }
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n");
            stream.write_all(head.as_bytes()).expect("an open connection");
            stream.write_all(&pattern(size, size)).expect("an open connection");
        }
    })
}

fn head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).expect("a response");
        head.push(byte[0]);
    }
    String::from_utf8(head).expect("text")
}

#[test]
fn long_bodies_of_http_keep_their_limits() {
    let _alone = lock(&ALONE);
    let (listener, server) = listener();
    let (engine, address, _records) = start("http", server);
    let sizes: Vec<usize> = [&SIZES[..], &[3 << 20, 5, 2 << 20, 0]].concat();
    let served = http_server(listener, sizes.clone());
    let before = pipes();
    let mut client = connect(address);
    let mut out = 0;
    for size in &sizes {
        client.write_all(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n").expect("an open connection");
        out += head(&mut client).len() + size;
        let mut body = vec![0; *size];
        client.read_exact(&mut body).expect("the whole body");
        assert!(body == pattern(*size, *size), "{size} bytes");
    }
    assert!(pipes() > before, "no pipe was used for any of them");
    assert_eq!(counted(&engine, sizes.len() as u64)[1], out as u64);
    served.join().expect("no panic");
    engine.stop();
}

#[test]
fn a_long_body_that_breaks_off_is_not_complete() {
    let _alone = lock(&ALONE);
    let (listener, server) = listener();
    let (engine, address, _records) = start("http", server);
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.read_exact(&mut [0; 16]).expect("a request");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 9 << 20);
        stream.write_all(head.as_bytes()).expect("an open connection");
        stream.write_all(&pattern(8 << 20, 0)).expect("an open connection");
        stream.shutdown(Shutdown::Write).expect("an open connection");
        let mut rest = Vec::new();
        let _end = stream.read_to_end(&mut rest);
    });
    let mut client = connect(address);
    client.write_all(b"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n").expect("an open connection");
    let head_length = head(&mut client).len();
    let body = read(client);
    assert!(body == pattern(8 << 20, 0), "all that the server sent, and then the end");
    assert_eq!(counted(&engine, 1)[1], (head_length + body.len()) as u64);
    served.join().expect("no panic");
    engine.stop();
}

#[test]
fn bytes_behind_urgent_data_arrive() {
    let _alone = lock(&ALONE);
    let (listener, server) = listener();
    let (engine, address, _records) = start("tcp", server);
    for of_client in [true, false] {
        let client = connect(address);
        let (far, _) = listener.accept().expect("a connection");
        far.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
        let (mut from, to) = if of_client { (client, far) } else { (far, client) };
        // Without the byte that is urgent: sockets drop it, unless another one follows.
        let chunk: Vec<u8> = pattern(2 << 20, 0).into_iter().map(|byte| byte & 31).collect();
        let sent = chunk.repeat(8);
        let other = to.try_clone().expect("a socket");
        let writer = std::thread::spawn(move || {
            for _ in 0..8 {
                from.write_all(&chunk).expect("an open connection");
                let urgent = socket2::SockRef::from(&from).send_out_of_band(b"!");
                urgent.expect("an open connection");
            }
            from.shutdown(Shutdown::Write).expect("an open connection");
            from
        });
        let mut bytes = read(to);
        bytes.retain(|byte| *byte != b'!');
        assert!(bytes == sent, "{} of {} bytes", bytes.len(), sent.len());
        other.shutdown(Shutdown::Write).expect("an open connection");
        writer.join().expect("no panic");
    }
    counted(&engine, 2);
    engine.stop();
}
