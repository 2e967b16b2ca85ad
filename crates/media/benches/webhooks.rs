//! Webhooks per second to an HTTP server on loopback, which shares the machine's cores. The goal is 5,000 on two.
//!
//! `cargo bench -p media`; the number behind `--` is that of messages.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for developers")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use collect::resolver::Resolver;
use media::{ATTEMPT_MAX, Kind, MediaType, Queues, Setup, Webhook};
use model::alert::{Media as _, Outcome, Outgoing, Refused, Report, Reports};
use model::{AlertId, EventId, MediaTypeId};
use stdx::clock::RealClock;
use stdx::sync::lock;

const SCRIPT: &str = "var p = JSON.parse(value), r = new HttpRequest();
    r.addHeader('Content-Type: application/json');
    var url = p.url;
    delete p.url;
    var answer = r.post(url, JSON.stringify(p));
    if (r.getStatus() != 200) throw 'status ' + r.getStatus();
    return answer;";

#[derive(Default)]
struct Count {
    ended: Mutex<u64>,
    news: Condvar,
    failed: AtomicU64,
}

impl Reports for Count {
    fn report(&self, report: Report) {
        if !matches!(report.outcome, Outcome::Sent { .. }) {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        *lock(&self.ended) += 1;
        self.news.notify_all();
    }
}

fn answer(stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    loop {
        let mut length = 0;
        loop {
            line.clear();
            if stream.read_line(&mut line)? == 0 {
                return Ok(());
            }
            let lower = line.trim_end().to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            if lower.is_empty() {
                break;
            }
        }
        std::io::copy(&mut stream.by_ref().take(length), &mut std::io::sink())?;
        stream.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK")?;
    }
}

fn main() {
    let count = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(20_000_u64);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || answer(stream.unwrap()));
        }
    });
    for sessions in [1, 2, 4, 16] {
        let clock = RealClock::shared();
        let reports = Arc::new(Count::default());
        let setup = Setup {
            resolver: Resolver::new(Arc::clone(&clock)),
            clock: Arc::clone(&clock),
            programs: None,
            authorities: None,
            instance: String::new(),
            attempt_max: ATTEMPT_MAX,
        };
        let queues = Queues::new(setup, Arc::<Count>::clone(&reports));
        let timeout = Duration::from_secs(60);
        let kind = Kind::Webhook(Webhook {
            script: SCRIPT.to_owned(),
            timeout,
            tags: false,
            living: false,
        });
        let (id, interval) = (MediaTypeId(1), Duration::ZERO);
        queues.configure([MediaType { id, enabled: true, kind, sessions, attempts: 1, interval }]);
        let (start, cpu) = (clock.monotonic(), stdx::sys::cpu_time());
        for number in 0..count {
            let mut attempt = message(number, &url);
            while let Err(Refused::Full(refused)) = queues.send(attempt) {
                attempt = *refused;
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        let all = |ended: &mut u64| *ended < count;
        drop(reports.news.wait_while(lock(&reports.ended), all).unwrap());
        let took = (clock.monotonic() - start).as_secs_f64();
        let cpu = (stdx::sys::cpu_time() - cpu).as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "for people")]
        let (rate, each) = (count as f64 / took, cpu * 1e6 / count as f64);
        let failed = reports.failed.load(Ordering::Relaxed);
        println!(
            "{sessions:>2} sessions: {rate:>6.0} webhooks/s, {each:.0} µs of CPU each with the server, {failed} failed"
        );
        queues.stop(Duration::ZERO, Duration::ZERO);
    }
}

fn message(number: u64, url: &str) -> Outgoing {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Outgoing {
        alert: AlertId(number),
        media_type: MediaTypeId(1),
        sendto: String::from("alice"),
        subject: String::from("PROBLEM Load is high on Web"),
        message: String::from("value 1"),
        parameters: vec![
            pair("url", url),
            pair("to", "alice"),
            pair("subject", "PROBLEM Load is high on Web"),
            pair("message", "Problem started at 12:00:00 on 2026.11.29\nHost: Web\nSeverity: High"),
        ],
        problem: EventId(number),
        reply_to: String::new(),
        failures: 0,
    }
}
