//! Against a double, which says what a real server says only to others: with rights that are
//! missing, limits that are reached, settings of younger releases.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use model::{SampleValue, Timestamp};
use stdx::clock::RealClock;

use super::*;
use history::Fault;

struct Classes;

impl Retention for Classes {
    fn class(&self, _: ItemId, _: Kind) -> Class {
        Class(31)
    }
}

/// What to answer to a request's first line and body; `None` = what is usual.
type Answers = dyn Fn(&str) -> Option<(u16, &'static str)> + Send;

/// A server with the database, whose tables are made; and what it was asked.
fn double(
    release: &'static str,
    answers: Box<Answers>,
) -> (Box<dyn Driver>, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://u:p@{}/x", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let request = request(&stream);
            let usual = || match &request {
                asks if asks.contains("system.databases") => (200, "1"),
                asks if asks.contains("max(version)") => (200, "1"),
                asks if asks.contains("SELECT version()") => (200, release),
                _ => (200, ""),
            };
            let (status, body) = answers(&request).unwrap_or_else(usual);
            lock(&log).push(request);
            let len = body.len();
            let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {len}\r\nConnection: close");
            stream.write_all(format!("{head}\r\n\r\n{body}").as_bytes()).unwrap();
        }
    });
    (ClickHouse::new(&url, Arc::new(Classes), RealClock::shared()).unwrap().driver(), asked)
}

fn request(stream: &TcpStream) -> String {
    let mut lines = BufReader::new(stream);
    let (mut first, mut len) = (String::new(), 0);
    lines.read_line(&mut first).unwrap();
    loop {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        match line.trim().to_ascii_lowercase().split_once(": ") {
            Some(("content-length", bytes)) => len = bytes.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; len];
    lines.read_exact(&mut body).unwrap();
    first + &String::from_utf8_lossy(&body)
}

fn sample() -> Sample {
    let at = Timestamp { clock: 20_000 * 86_400, ns: 0 };
    Sample { item: ItemId(7), at, value: SampleValue::Unsigned(1) }
}

const DENIED: (u16, &str) = (500, "Code: 497. DB::Exception: u: Not enough privileges");

#[test]
fn a_database_that_is_there_needs_no_right_to_make_it() {
    let denied = |asks: &str| asks.contains("CREATE DATABASE").then_some(DENIED);
    let (mut driver, _) = double("26.3.1.1", Box::new(denied));
    driver.write(&[sample()]).unwrap();
    // A missing table that may not be created is an error.
    let (mut driver, _) = double(
        "26.3.1.1",
        Box::new(move |asks| {
            denied(asks).or(asks.contains("system.databases").then_some((200, "0")))
        }),
    );
    let error = driver.write(&[sample()]).unwrap_err();
    assert!(error.retry && error.message.contains("497"), "{error}");
}

#[test]
fn inserts_are_not_gathered_where_the_release_knows_how() {
    for (release, expected) in [("18.16.1", false), ("21.8.1.1", false), ("26.3.1.1", true)] {
        let (mut driver, asked) = double(release, Box::new(|_| None));
        driver.write(&[sample()]).unwrap();
        let asked = lock(&asked);
        let insert = asked.iter().find(|asks| asks.contains("INSERT")).unwrap();
        assert_eq!(insert.contains("&async_insert=0"), expected, "{release}: {insert}");
    }
}

#[test]
fn a_question_has_an_end_unless_the_user_may_not_say_so() {
    let limit = "max_execution_time=18";
    for refusal in [None, Some("Code: 164. Cannot modify setting"), Some("Code: 452. Should not")] {
        let answers =
            move |asks: &str| refusal.filter(|_| asks.contains(limit)).map(|said| (500, said));
        let (mut driver, asked) = double("26.3.1.1", Box::new(answers));
        driver.write(&[sample()]).unwrap();
        for _ in 0..2 {
            let all = Span { from: 0, till: u32::MAX };
            driver.view(&[ItemId(7)], all).samples(ItemId(7), Kind::Unsigned.into()).unwrap();
        }
        let asked = lock(&asked);
        let questions = asked.iter().filter(|asks| asks.contains("FROM history_uint"));
        let limited: Vec<bool> = questions.map(|asks| asks.contains(limit)).collect();
        let expected = if refusal.is_none() { vec![true; 2] } else { vec![true, false, false] };
        assert_eq!(limited, expected, "{refusal:?}");
        // What else is given up may go on.
        let others = asked.iter().filter(|asks| !asks.contains("SELECT"));
        assert!(others.into_iter().all(|asks| !asks.contains(limit)));
    }
}

#[test]
fn only_rows_that_were_sent_are_to_blame() {
    let odd = (500_u16, "Code: 53. DB::Exception: Type mismatch");
    let of_tables = move |asks: &str| asks.contains("CREATE TABLE").then_some(odd);
    let of_rows = move |asks: &str| asks.contains("INSERT").then_some(odd);
    for (answers, is_row) in
        [(Box::new(of_tables) as Box<Answers>, false), (Box::new(of_rows) as Box<Answers>, true)]
    {
        let (mut driver, _) = double("26.3.1.1", answers);
        let error = driver.write(&[sample()]).unwrap_err();
        assert_eq!((error.retry, error.fault == Fault::Us), (!is_row, is_row), "{error}");
    }
}

#[test]
fn a_partition_that_cannot_be_dropped_keeps_no_other() {
    let parts = "history_uint\t(31,10)\t5\nhistory_uint\t(31,11)\t6\nhistory_uint\t(31,99)\t7\n";
    let large = (500_u16, "Code: 359. DB::Exception: Table or Partition was not dropped");
    for (release, settings) in
        [("18.16.1", ""), ("26.3.1", " SETTINGS max_partition_size_to_drop = 0")]
    {
        let answers = move |asks: &str| match asks {
            asks if asks.contains("system.parts") => Some((200, parts)),
            asks if asks.contains("(31,10)") => Some(large),
            _ => None,
        };
        let (mut driver, asked) = double(release, Box::new(answers));
        assert_eq!(driver.classes().unwrap(), [Class(31)]);
        let error = driver.drop_before(Class(31), Day(50)).unwrap_err();
        assert!(error.retry && error.message.contains("359"), "{error}");
        let asked = lock(&asked);
        let dropped: Vec<&str> = asked
            .iter()
            .filter_map(|asks| asks.split_once("DROP PARTITION "))
            .map(|(_, p)| p)
            .collect();
        assert_eq!(dropped, [10, 11].map(|day| format!("(31,{day}){settings}")), "{release}");
    }
}

#[test]
fn partitions_of_any_number_and_size_are_dropped() {
    let parts = "history_uint\t(31,1)\t18446744073709551615\nhistory_uint\t(31,2)\t9\n\
                 history_uint\t(31,4294967295)\t1\n";
    let answers = move |asks: &str| asks.contains("system.parts").then_some((200, parts));
    let (mut driver, _) = double("26.3.1.1", Box::new(answers));
    assert_eq!(driver.drop_before(Class(31), Day(50)).unwrap(), u64::MAX);
}

#[test]
fn unknown_classes_are_an_error() {
    let denied = |asks: &str| asks.contains("system.parts").then_some(DENIED);
    let (driver, _) = double("26.3.1.1", Box::new(denied));
    assert!(driver.classes().unwrap_err().message.contains("497"));
}

#[test]
fn table_of_other_servers_gets_only_complete_rows() {
    let given = |settings: &str| {
        let url = format!("http://h/d{settings}");
        let store = ClickHouse::new(&url, Arc::new(Classes), RealClock::shared()).unwrap();
        [Kind::Float, Kind::Text, Kind::Log, Kind::FloatAvg]
            .map(|kind| (store.takes(ItemId(1), kind), store.extent(kind)))
    };
    assert_eq!(given(""), [(true, Extent::All); 4]);
    let [float, text, log, trend] = given("?legacy=history");
    assert_eq!([float, text], [(true, Extent::All); 2]);
    assert_eq!([log, trend], [(false, Extent::Some), (false, Extent::Nothing)]);
}
