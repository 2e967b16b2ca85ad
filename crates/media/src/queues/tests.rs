//! Queues with real sessions: webhooks, programs and a mail server that hangs.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Condvar;

use model::{AlertId, EventId};
use stdx::clock::RealClock;

use super::*;
use crate::lane::WAITING_MAX;
use crate::settings::{Mail, Program, Security, Webhook};

/// Reports in the order in which they come.
#[derive(Default)]
struct Inbox {
    reports: Mutex<Vec<Report>>,
    news: Condvar,
}

impl Reports for Inbox {
    fn report(&self, report: Report) {
        lock(&self.reports).push(report);
        self.news.notify_all();
    }
}

impl Inbox {
    /// Waits for so many reports.
    fn wait(&self, count: usize) -> Vec<Report> {
        let long = Duration::from_secs(60);
        let few = |reports: &mut Vec<Report>| reports.len() < count;
        let waited = self.news.wait_timeout_while(lock(&self.reports), long, few).unwrap();
        assert!(!waited.1.timed_out(), "{:?}", waited.0);
        waited.0.clone()
    }
}

fn setup(programs: Option<PathBuf>) -> Setup {
    let clock = RealClock::shared();
    Setup {
        resolver: Resolver::new(Arc::clone(&clock)),
        clock,
        programs,
        authorities: None,
        instance: String::from("0123456789abcdef0123456789abcdef"),
        attempt_max: Duration::from_secs(60),
    }
}

fn start(types: Vec<MediaType>, programs: Option<PathBuf>) -> (Queues, Arc<Inbox>) {
    let reports = Arc::new(Inbox::default());
    let queues = Queues::new(setup(programs), Arc::<Inbox>::clone(&reports));
    queues.configure(types);
    (queues, reports)
}

fn media_type(id: u64, kind: Kind) -> MediaType {
    let interval = Duration::from_secs(10);
    MediaType { id: MediaTypeId(id), enabled: true, kind, sessions: 1, attempts: 3, interval }
}

fn hook(id: u64, script: &str) -> MediaType {
    let timeout = Duration::from_secs(60);
    media_type(
        id,
        Kind::Webhook(Webhook { script: script.to_owned(), timeout, tags: true, living: false }),
    )
}

fn alert(number: u64, media_type: u64) -> Outgoing {
    Outgoing {
        alert: AlertId(number),
        media_type: MediaTypeId(media_type),
        sendto: String::from("alice@vedette.test"),
        subject: String::from("subject"),
        message: String::from("message"),
        parameters: vec![(String::from("n"), number.to_string())],
        problem: EventId(1),
        reply_to: String::new(),
        failures: 0,
    }
}

fn failed(error: &str, again: Option<Duration>) -> Outcome {
    Outcome::Failed { error: error.to_owned(), again }
}

#[test]
fn each_attempt_is_reported_once_and_in_order() {
    let script = "var n = JSON.parse(value).n; if (n % 2) throw 'odd ' + n; return '{\"tags\":{\"n\":' + n + '}}'";
    let (queues, reports) = start(vec![hook(1, script)], None);
    for number in 0..100 {
        let failures = u32::try_from(number % 3).unwrap();
        queues.send(Outgoing { failures, ..alert(number, 1) }).unwrap();
    }
    let reports = reports.wait(100);
    for (number, report) in (0..).zip(&reports) {
        assert_eq!(report.alert, AlertId(number));
        let again = (number % 3 < 2).then_some(Duration::from_secs(10));
        let expected = match number % 2 {
            0 => Outcome::Sent {
                tags: vec![(String::from("n"), number.to_string())],
                message_id: String::new(),
            },
            _ => failed(&format!("odd {number}"), again),
        };
        assert_eq!(report.outcome, expected);
    }
    queues.stop(Duration::from_secs(60), Duration::from_secs(60));
    let figures = queues.figures();
    assert_eq!(figures, Figures { waiting: 0, in_flight: 0, sent: 50, failed: 50 });
}

#[test]
fn what_no_attempt_can_send_is_impossible() {
    let off = MediaType { enabled: false, ..hook(2, "return 1") };
    let (queues, reports) = start(vec![hook(1, "return (;"), off], None);
    for media_type in 1..=3 {
        queues.send(alert(media_type, media_type)).unwrap();
    }
    for Report { alert, outcome } in reports.wait(3) {
        let Outcome::Impossible { error } = outcome else { panic!("{outcome:?}") };
        let expected = if alert.0 == 1 { "SyntaxError: " } else { "Media type disabled." };
        assert!(error.starts_with(expected), "{error}");
    }
}

/// A mail server that accepts connections and says nothing.
fn silent_server() -> (TcpListener, MediaType) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mail = Mail {
        server: String::from("127.0.0.1"),
        port: listener.local_addr().unwrap().port(),
        helo: String::new(),
        from: String::from("monitor@vedette.test"),
        security: Security::None,
        login: None,
        html: false,
    };
    (listener, media_type(1, Kind::Mail(Box::new(mail))))
}

#[test]
fn a_slow_media_type_delays_no_other() {
    let (listener, mail) = silent_server();
    let slow = hook(2, "Zabbix.sleep(50000); return 1");
    let (queues, reports) = start(vec![mail, slow, hook(3, "return 1")], None);
    for number in 0..50 {
        queues.send(alert(number, 1)).unwrap();
        queues.send(alert(number, 2)).unwrap();
    }
    let held = listener.accept().unwrap();
    for number in 1_000..1_200 {
        queues.send(alert(number, 3)).unwrap();
    }
    let reports = reports.wait(200);
    assert!(reports.iter().all(|report| report.alert.0 >= 1_000), "{reports:?}");
    drop(held);
}

#[test]
fn a_full_queue_refuses_and_has_room_after_a_report() {
    let (listener, mail) = silent_server();
    let (queues, reports) = start(vec![mail, hook(2, "return 1")], None);
    queues.send(alert(0, 1)).unwrap();
    // The attempt for the first message is made: its place is free.
    let (held, _) = listener.accept().unwrap();
    let mut number = 0;
    let refused = loop {
        number += 1;
        if let Err(refused) = queues.send(alert(number, 1)) {
            break refused;
        }
    };
    assert_eq!(number, WAITING_MAX as u64 + 1);
    assert_eq!(refused, Refused::Full(Box::new(alert(number, 1))));
    assert_eq!(queues.send(alert(1, 2)), Ok(()), "other media types have room");
    assert_eq!(reports.wait(1)[0].outcome, Outcome::SENT);
    assert_eq!(queues.figures().waiting, WAITING_MAX);
    drop(held);
    reports.wait(2);
    // The session takes the next message after its report.
    while queues.figures().waiting == WAITING_MAX {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(queues.send(alert(number, 1)), Ok(()));
    drop(listener);
}

#[test]
fn sessions_send_at_the_same_time() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let script = format!("return new HttpRequest().post('{url}', value)");
    let wide = MediaType { sessions: 0, ..hook(1, &script) };
    let (queues, reports) = start(vec![wide], None);
    for number in 0..8 {
        queues.send(alert(number, 1)).unwrap();
    }
    // Eight requests are on their way before one is answered.
    let held: Vec<_> = (0..8).map(|_| listener.accept().unwrap().0).collect();
    for mut stream in held {
        let _request = stream.read(&mut [0; 4_096]).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK").unwrap();
    }
    let mut alerts: Vec<_> = reports.wait(8).iter().map(|report| report.alert.0).collect();
    alerts.sort_unstable();
    assert_eq!(alerts, (0..8).collect::<Vec<_>>());
}

#[test]
fn more_sessions_take_what_waits() {
    let (listener, mail) = silent_server();
    let (queues, reports) = start(vec![mail.clone()], None);
    for number in 0..4 {
        queues.send(alert(number, 1)).unwrap();
    }
    let first = listener.accept().unwrap();
    queues.configure(vec![MediaType { sessions: 4, ..mail }]);
    let others: Vec<_> = (0..3).map(|_| listener.accept().unwrap()).collect();
    assert!(lock(&reports.reports).is_empty());
    drop((first, others));
    reports.wait(4);
}

#[test]
fn a_stop_accounts_for_every_message() {
    let (listener, mail) = silent_server();
    let script = "Zabbix.sleep(30000); return 1";
    let (queues, reports) = start(vec![mail, hook(2, script)], None);
    for number in 0..3 {
        queues.send(alert(number, 1)).unwrap();
        queues.send(alert(10 + number, 2)).unwrap();
    }
    let held = listener.accept().unwrap();
    while queues.figures().in_flight < 2 {
        std::thread::sleep(Duration::from_millis(1));
    }
    queues.stop(Duration::ZERO, Duration::ZERO);
    assert_eq!(queues.send(alert(7, 1)), Err(Refused::Stopping(Box::new(alert(7, 1)))));
    let mut reports: Vec<_> =
        reports.wait(6).into_iter().map(|Report { alert, outcome }| (alert.0, outcome)).collect();
    reports.sort_by_key(|(alert, _)| *alert);
    let alerts: Vec<_> = reports.iter().map(|(alert, _)| *alert).collect();
    assert_eq!(alerts, [0, 1, 2, 10, 11, 12]);
    for (alert, outcome) in reports {
        match alert {
            // The script cannot be interrupted, and may have sent.
            10 => assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}"),
            // The mail server has nothing of the message.
            _ => assert_eq!(outcome, Outcome::NotStarted, "{alert}"),
        }
    }
    drop(held);
}

#[test]
fn a_stop_waits_for_webhooks_longer_than_for_mails() {
    let (listener, mail) = silent_server();
    let hooked = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", hooked.local_addr().unwrap());
    let script = format!("return new HttpRequest().post('{url}', value)");
    let (queues, reports) = start(vec![mail, hook(2, &script)], None);
    queues.send(alert(1, 1)).unwrap();
    queues.send(alert(2, 2)).unwrap();
    let held = listener.accept().unwrap();
    let (mut stream, _) = hooked.accept().unwrap();
    let stopping = std::thread::spawn(move || queues.stop(Duration::ZERO, Duration::from_secs(60)));
    // The mail is given up at once; the receiver of the webhook answers after that.
    assert_eq!(reports.wait(1)[0].outcome, Outcome::NotStarted);
    let _request = stream.read(&mut [0; 4_096]).unwrap();
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK").unwrap();
    stopping.join().unwrap();
    assert_eq!(reports.wait(2)[1].outcome, Outcome::SENT);
    drop(held);
}

#[test]
fn settings_in_the_database_apply_to_the_next_attempt() {
    use config::db::{Location, Value};
    let folder = tempfile::tempdir().unwrap();
    let config = Arc::new(Config::open(Location::Sqlite(folder.path().join("c.db"))).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let row = [
        ("mediatypeid", Value::from(901)),
        ("type", Value::from(4)),
        ("name", Value::from("w")),
        ("status", Value::from(0)),
        ("timeout", Value::from("60s")),
        ("script", Value::from(format!("new HttpRequest().get('{url}'); throw 'old'").as_str())),
    ];
    config.write(|edit| edit.insert(&config::table::MEDIA_TYPES, &row)).unwrap();
    let reports = Arc::new(Inbox::default());
    let queues = Queues::following(Arc::clone(&config), setup(None), Arc::<Inbox>::clone(&reports));
    queues.send(alert(1, 901)).unwrap();
    queues.send(alert(2, 901)).unwrap();
    // The second message waits while the first one is sent.
    let (mut stream, _) = listener.accept().unwrap();
    let change = [("script", Value::from("throw 'new'"))];
    config.write(|edit| edit.update(&config::table::MEDIA_TYPES, 901, &change)).unwrap();
    let _request = stream.read(&mut [0; 4_096]).unwrap();
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK").unwrap();
    let errors: Vec<_> = reports.wait(2).into_iter().map(|report| report.outcome).collect();
    let again = Some(Duration::from_secs(10));
    assert_eq!(errors, [failed("old", again), failed("new", again)]);
}

#[test]
fn changed_settings_apply_to_what_waits() {
    let (queues, reports) = start(vec![hook(1, "return (;")], None);
    queues.send(alert(1, 1)).unwrap();
    reports.wait(1);
    queues.configure(vec![hook(1, "return 1")]);
    queues.send(alert(2, 1)).unwrap();
    assert_eq!(reports.wait(2)[1].outcome, Outcome::SENT);
    queues.configure(Vec::new());
    queues.send(alert(3, 1)).unwrap();
    assert!(matches!(reports.wait(3)[2].outcome, Outcome::Impossible { .. }));
    assert_eq!(queues.figures().sent + queues.figures().failed, 3);
}

#[test]
fn a_test_returns_what_was_said() {
    let folder = tempfile::tempdir().unwrap();
    let (queues, reports) = start(Vec::new(), Some(folder.path().to_owned()));
    let off = MediaType { enabled: false, ..hook(1, "Zabbix.log(4, 'x'); throw 'no'") };
    let trial = queues.test(&off, &alert(5, 1)).unwrap();
    assert_eq!(trial.outcome, failed("no", None));
    assert_eq!(trial.log, ["> {\"n\":\"5\"}", "4: x"]);
    assert_eq!((trial.script_log[0].level, trial.script_log[0].text.as_str()), (4, "x"));
    let trial = queues.test(&hook(1, "return value"), &alert(5, 1)).unwrap();
    assert_eq!(trial.response, "{\"n\":\"5\"}");
    let program =
        media_type(2, Kind::Program(Program { name: String::from("none"), living: false }));
    let trial = queues.test(&program, &alert(5, 2)).unwrap();
    assert!(matches!(trial.outcome, Outcome::Impossible { .. }), "{trial:?}");
    assert!(lock(&reports.reports).is_empty(), "tests are no alerts");
    let (listener, mail) = silent_server();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"554 go away\r\n").unwrap();
    });
    let trial = queues.test(&mail, &alert(5, 1)).unwrap();
    assert_eq!(trial.outcome, failed("wrong answer on welcome message \"554 go away\"", None));
    assert_eq!(trial.log, ["< 554 go away"]);
    server.join().unwrap();
}
