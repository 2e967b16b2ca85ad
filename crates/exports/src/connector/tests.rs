use std::future::pending;

use config::snapshot::connector::{ConnectorAuth, ConnectorData, Receiver, TagFilter, ValueTypes};
use objects::EvalType;
use poll::WebFiles;
use stdx::clock::RealClock;
use stdx::queue::{Receiver as Taken, bounded};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio::task::LocalSet;

use super::*;

const ROOM: usize = 1 << 20;

/// A receiver; `statuses` are those of its responses in their order, then 200. 0 = no response.
async fn receiver(statuses: &[u16]) -> (String, Taken<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (bodies, taken) = bounded("bodies", 100);
    let statuses = Rc::new(RefCell::new(statuses.iter().copied().collect::<VecDeque<_>>()));
    tokio::task::spawn_local(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let (bodies, statuses) = (bodies.clone(), Rc::clone(&statuses));
            tokio::task::spawn_local(async move {
                let mut stream = BufReader::new(stream);
                while let Some(body) = request(&mut stream).await {
                    let _ = bodies.send(body).await;
                    let status = statuses.borrow_mut().pop_front().unwrap_or(200);
                    if status == 0 {
                        pending::<()>().await;
                    }
                    let head = format!("HTTP/1.1 {status} x\r\nContent-Length: 0\r\n\r\n");
                    stream.write_all(head.as_bytes()).await.unwrap();
                }
            });
        }
    });
    (url, taken)
}

/// The body of the next request.
async fn request(stream: &mut BufReader<tokio::net::TcpStream>) -> Option<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    String::from_utf8(body).ok()
}

fn connector(url: &str) -> Connector {
    Connector {
        id: 1,
        name: "c".to_owned(),
        data: ConnectorData::Values(ValueTypes::ALL),
        tags: TagFilter { eval: EvalType::AndOr, conditions: Vec::new() },
        receiver: Receiver {
            url: url.to_owned(),
            timeout: Duration::from_secs(60),
            auth: ConnectorAuth::Bearer("t".to_owned()),
            proxy: String::new(),
            verify_peer: true,
            verify_host: true,
            cert_file: String::new(),
            key_file: String::new(),
            key_password: String::new(),
        },
        records_max: None,
        senders: 1,
        attempts: 1,
        attempt_interval: Duration::ZERO,
    }
}

fn tools() -> Rc<Tools> {
    let clock = RealClock::shared();
    Rc::new(Tools {
        poster: Poster::new(Arc::clone(&clock), WebFiles::default()),
        clock,
        figures: Arc::default(),
        sending: Cell::default(),
    })
}

fn push(stream: &Stream, object: u64, line: &str) {
    stream.push(object, &line.into());
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, test);
}

fn figures(tools: &Tools) -> (u64, u64) {
    let figures = &tools.figures;
    let read = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    (read(&figures.queued), read(&figures.dropped_by_connectors))
}

#[test]
fn messages_have_up_to_the_limit_of_records() {
    run(async {
        let (url, mut bodies) = receiver(&[]).await;
        let tools = tools();
        let settings = Connector { records_max: Some(2), ..connector(&url) };
        let mut stream = Stream::start(&Arc::new(settings), &tools, ROOM);
        for line in ["a\n", "b\n", "c\n"] {
            push(&stream, 7, line);
        }
        assert_eq!(figures(&tools), (3, 0));
        stream.end();
        stream.ended().await;
        assert_eq!(bodies.recv().await.as_deref(), Some("a\nb\n"));
        assert_eq!(bodies.recv().await.as_deref(), Some("c\n"));
        assert_eq!(figures(&tools), (0, 0));
    });
}

#[test]
fn temporary_failures_are_retried_and_others_dropped() {
    run(async {
        let (url, mut bodies) = receiver(&[503, 500, 200, 400, 503, 503, 503]).await;
        let tools = tools();
        let settings = Connector { records_max: Some(1), attempts: 3, ..connector(&url) };
        let mut stream = Stream::start(&Arc::new(settings), &tools, ROOM);
        ["a\n", "b\n", "c\n", "d\n"].iter().for_each(|line| push(&stream, 7, line));
        stream.end();
        stream.ended().await;
        let mut sent = String::new();
        while let Some(body) = bodies.try_recv() {
            sent += &body;
        }
        assert_eq!(sent, "a\na\na\nb\nc\nc\nc\nd\n");
        assert_eq!(figures(&tools), (0, 2));
    });
}

#[test]
fn a_full_queue_drops_the_newest_records() {
    run(async {
        let tools = tools();
        let line = "x".repeat(1_000);
        let settings = Arc::new(connector("http://127.0.0.1:1/"));
        let stream = Stream::start(&settings, &tools, 2_500);
        (0..5).for_each(|_| push(&stream, 1, &line));
        assert_eq!(figures(&tools), (2, 3));
        stream.abort();
        assert_eq!(figures(&tools), (0, 3));
    });
}

#[test]
fn an_item_without_a_response_delays_only_its_lane() {
    run(async {
        let (url, mut bodies) = receiver(&[0]).await;
        let tools = tools();
        let settings = Connector { senders: 2, ..connector(&url) };
        let stream = Stream::start(&Arc::new(settings), &tools, ROOM);
        push(&stream, 2, "hangs\n");
        assert_eq!(bodies.recv().await.as_deref(), Some("hangs\n"));
        push(&stream, 4, "waits\n");
        push(&stream, 3, "other\n");
        assert_eq!(bodies.recv().await.as_deref(), Some("other\n"));
        stream.abort();
        assert_eq!(bodies.try_recv(), None);
    });
}

#[test]
fn changed_settings_apply_to_what_is_queued() {
    run(async {
        let (first, mut failed) = receiver(&[503]).await;
        let (second, mut bodies) = receiver(&[]).await;
        let tools = tools();
        let settings = Connector {
            attempts: 2,
            attempt_interval: Duration::from_millis(50),
            ..connector(&first)
        };
        let stream = Stream::start(&Arc::new(settings.clone()), &tools, ROOM);
        push(&stream, 1, "a\n");
        assert_eq!(failed.recv().await.as_deref(), Some("a\n"));
        push(&stream, 1, "b\n");
        push(&stream, 2, "c\n");
        let moved = Connector { senders: 3, receiver: connector(&second).receiver, ..settings };
        let mut stream = stream.configure(&Arc::new(moved), ROOM);
        // The message that was being sent comes first.
        assert_eq!(bodies.recv().await.as_deref(), Some("a\n"));
        stream.end();
        stream.ended().await;
        let mut rest = [bodies.recv().await.unwrap(), bodies.recv().await.unwrap()];
        rest.sort();
        assert_eq!(rest, ["b\n", "c\n"]);
        assert_eq!(figures(&tools), (0, 0));
    });
}
