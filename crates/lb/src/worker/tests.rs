//! Clients of HTTP/3 that hold as much of a thread as it lets them: it runs here, so that what it holds can be counted.

use std::sync::mpsc::{Receiver, sync_channel};

use quinn::{Connection, VarInt};

use super::*;
use crate::config::Config;
use crate::quic::Ids;
use crate::session::State;

const NAME: &str = "www.example.com";
/// Longest wait for anything.
const TIMEOUT: Duration = Duration::from_secs(60);
const CONNECTIONS: usize = 3;
/// Requests at once of a connection, as configured.
const STREAMS: usize = 100;
/// HEADERS: POST https://a/, and the begin of DATA of 1 GiB.
const POST: &[u8] = &[1, 8, 0, 0, 0xd4, 0xd7, 0xc1, 0x50, 1, b'a', 0, 0xc0, 0, 0, 0, 0x40, 0, 0, 0];
/// HEADERS: GET https://a/
const GET: &[u8] = &[1, 8, 0, 0, 0xd1, 0xd7, 0xc1, 0x50, 1, b'a'];

/// A thread of an engine, and the server behind it.
struct Bed {
    worker: Worker,
    events: Events,
    service: std::net::SocketAddr,
    roots: rustls::RootCertStore,
    _folder: tempfile::TempDir,
}

/// What the thread holds for clients.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Held {
    connections: usize,
    requests: usize,
    sessions: usize,
    /// Bytes of content that no session has read.
    unread: usize,
    /// Bytes that the transport has not taken.
    waiting: usize,
}

impl Bed {
    /// `server`: where requests go; `more`: further members of it.
    fn start(server: std::net::SocketAddr, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().display();
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate =
            rcgen::CertificateParams::new([NAME.to_owned()]).unwrap().self_signed(&key).unwrap();
        std::fs::write(folder.path().join("cert.pem"), certificate.pem()).unwrap();
        std::fs::write(folder.path().join("key.pem"), key.serialize_pem()).unwrap();
        let service = stdx::listening::free_address().unwrap();
        let text = format!(
            "certificates: [{{name: c, cert: '{path}/cert.pem', key: '{path}/key.pem'}}]
virtual_services:
  - name: web
    type: http
    listen: '{service}'
    pool: app
    tls: {{certificates: [c], alpn: [h3]}}
    limits: {{h2_streams: {STREAMS}}}
    timeouts: {{client_header: 10m, client_body: 10m, queue: 10m, server: 10m}}
pools:
  - {{name: app, servers: [{{name: s, address: '{server}'{more}}}]}}
"
        );
        let config = Config::parse(&text).unwrap();
        let clock = stdx::clock::RealClock::shared();
        let before = Snapshot::empty(1, Some(&clock));
        let snapshot = Snapshot::compile(&config, Some(&before), 0).unwrap();
        let poll = Poll::new().unwrap();
        let mailbox = Arc::new(Mailbox::new(poll.registry(), Who::Waker.into()).unwrap());
        let threads =
            Threads { ids: Ids::new(1), mailboxes: Arc::new([Arc::clone(&mailbox)]), own: 0 };
        let snapshot = Arc::new(ArcSwap::from_pointee(snapshot));
        let mut worker = Worker::new(snapshot, clock, &Checkers::new(1), poll, threads).unwrap();
        let listener = std::net::TcpListener::bind(service).unwrap();
        listener.set_nonblocking(true).unwrap();
        lock(&mailbox.listeners).push(listener);
        lock(&mailbox.datagrams).push(crate::udp::bind(service, false).unwrap());
        worker.reconfigure();
        let mut roots = rustls::RootCertStore::empty();
        roots.add(certificate.der().clone()).unwrap();
        let events = Events::with_capacity(64);
        Self { worker, events, service, roots, _folder: folder }
    }

    fn held(&mut self) -> Held {
        let mut held = Held::default();
        let places = self.worker.sessions.places();
        let sessions = places.iter().filter_map(|place| self.worker.sessions.get(*place));
        held.sessions = sessions.filter(|session| session.state != State::Spare).count();
        let muxes = &mut self.worker.core.hub.muxes;
        for place in muxes.places() {
            let mux = muxes.get_mut(place).unwrap();
            held.unread += mux.held_by_all();
            let link = mux.connection.link().unwrap();
            held.connections += 1;
            held.requests += link.frames.requests();
            held.waiting += link.frames.waiting();
        }
        held
    }

    /// Lets the thread run until this holds, and checks another thing all the time.
    fn run_until(&mut self, done: impl Fn(Held) -> bool, bound: impl Fn(Held)) -> Held {
        let began = self.worker.clock.monotonic();
        loop {
            self.worker.turn(&mut self.events).unwrap();
            let held = self.held();
            bound(held);
            if done(held) {
                return held;
            }
            assert!(self.worker.clock.monotonic() < began + TIMEOUT, "{held:?}");
        }
    }

    /// Clients that begin all streams that they may, each with these bytes, and go on with content as long as it is
    /// accepted. They read nothing, and stay until the sender is dropped.
    fn attack(&self, bytes: &'static [u8], content: usize) -> Attack {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let mut tls = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots.clone())
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"h3".to_vec()];
        let tls = quinn::crypto::rustls::QuicClientConfig::try_from(tls).unwrap();
        let mut config = quinn::ClientConfig::new(Arc::new(tls));
        let mut transport = quinn::TransportConfig::default();
        // It accepts little of a response.
        transport.stream_receive_window(VarInt::from_u32(1000));
        config.transport_config(Arc::new(transport));
        let (service, (stay, end)) = (self.service, sync_channel::<()>(1));
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(flood(service, config, Load { bytes, content }, end));
        });
        Attack { stay: Some(stay), thread: Some(thread) }
    }
}

/// Clients in a thread.
struct Attack {
    stay: Option<std::sync::mpsc::SyncSender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Attack {
    fn drop(&mut self) {
        self.stay = None;
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

/// What a client sends on each stream.
struct Load {
    bytes: &'static [u8],
    /// Bytes of content that follow.
    content: usize,
}

async fn flood(
    service: std::net::SocketAddr,
    config: quinn::ClientConfig,
    Load { bytes, content }: Load,
    end: Receiver<()>,
) {
    let endpoint = quinn::Endpoint::client("127.0.0.1:0".parse().unwrap()).unwrap();
    let mut connections: Vec<Connection> = Vec::new();
    for _ in 0..CONNECTIONS {
        let connecting = endpoint.connect_with(config.clone(), service, NAME).unwrap();
        connections.push(connecting.await.unwrap());
    }
    for connection in &connections {
        for _ in 0..STREAMS {
            let (mut request, response) = connection.open_bi().await.unwrap();
            tokio::spawn(async move {
                let content = vec![b'x'; content];
                let sent = async {
                    request.write_all(bytes).await?;
                    request.write_all(&content).await
                };
                let _until_the_end = sent.await;
                std::future::pending::<()>().await;
                drop(response);
            });
        }
    }
    let end = tokio::task::spawn_blocking(move || end.recv());
    let _dropped = end.await;
}

const ALL: usize = CONNECTIONS * STREAMS;

/// A server that accepts connections and says nothing.
fn silent() -> (std::net::TcpListener, std::net::SocketAddr) {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    (server, address)
}

#[test]
fn streams_without_data_hold_nothing_but_their_state() {
    let (_server, address) = silent();
    let mut bed = Bed::start(address, "");
    // The type of a frame, without its length.
    let _attack = bed.attack(&[1], 0);
    let held = bed.run_until(
        |held| held.requests == ALL,
        |held| assert!(held.requests <= ALL && held.connections <= CONNECTIONS),
    );
    let wanted = Held { connections: CONNECTIONS, requests: ALL, ..Held::default() };
    assert_eq!(held, wanted);
    assert_eq!(
        bed.worker.core.services[0].as_ref().unwrap().connections.load(Relaxed) as usize,
        CONNECTIONS
    );
}

#[test]
fn uploads_to_a_server_that_is_stuck_are_bounded() {
    /// Content of a connection that is not read, and what the heads' parts may add.
    const MOST: usize = CONNECTIONS * ((1 << 20) + STREAMS * (4 << 10));
    let (_server, address) = silent();
    let mut bed = Bed::start(address, ", max_connections: 1");
    let _attack = bed.attack(POST, 4 << 20);
    let bound = |held: Held| assert!(held.unread <= MOST, "{held:?}");
    let held = bed.run_until(|held| held.unread >= CONNECTIONS << 20, bound);
    assert!(held.sessions <= ALL && held.requests <= ALL, "{held:?}");
}

#[test]
fn responses_that_nobody_reads_are_bounded() {
    /// Output of a connection's streams, one more part, and heads.
    const MOST: usize = CONNECTIONS * ((256 << 10) + (64 << 10) + STREAMS * 1000);
    let (server, address) = silent();
    std::thread::spawn(move || {
        for mut socket in server.incoming().flatten() {
            std::thread::spawn(move || {
                use std::io::Write;
                let head = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n";
                let content = vec![b'x'; 64 << 10];
                let mut sent = socket.write_all(head);
                while sent.is_ok() {
                    sent = socket.write_all(&content);
                }
            });
        }
    });
    let mut bed = Bed::start(address, "");
    let _attack = bed.attack(GET, 0);
    let bound = |held: Held| assert!(held.waiting <= MOST, "{held:?}");
    bed.run_until(|held| held.waiting >= CONNECTIONS * (256 << 10), bound);
}
