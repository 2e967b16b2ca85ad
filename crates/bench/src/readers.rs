//! Readers: simulated users of the UI. Each signs in and opens one page after the other, with the calls that the page makes for
//! its first rows. The calls are those that a Zabbix server has, too, each on a new connection.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::Duration;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stdx::clock::SharedClock;

use crate::Login;
use crate::api::{Api, scalar_text};
use crate::stats::Histogram;

/// Between a page and the next.
const PAUSE: Duration = Duration::from_secs(1);
/// How long a reader waits for one call.
const PATIENCE: Duration = Duration::from_secs(30);
/// Rows of a window of a list.
const ROWS: usize = 100;
/// What the page of a graph shows.
const GRAPH_S: u64 = 3600;
/// Hosts whose graphs are opened, spread evenly over all.
const HOSTS: usize = 1000;
/// Readers begin with hosts far from each other.
const APART: usize = 7919;

/// What readers open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Page {
    /// Newest open problems with their hosts and items.
    Problems,
    /// The first hosts by name.
    Hosts,
    /// The last hour of an item of a host.
    Graph,
}

impl Page {
    const ALL: [Self; 3] = [Self::Problems, Self::Hosts, Self::Graph];

    fn open(self, api: &Api, hostid: &str, now_s: u64) -> anyhow::Result<()> {
        match self {
            Self::Problems => problems(api),
            Self::Hosts => hosts(api),
            Self::Graph => graph(api, hostid, now_s),
        }
    }
}

fn problems(api: &Api) -> anyhow::Result<()> {
    let rows = api.call(
        "problem.get",
        &json!({
            "output": "extend", "source": 0, "object": 0, "recent": true, "selectTags": ["tag", "value"],
            "sortfield": ["eventid"], "sortorder": "DESC", "limit": ROWS,
        }),
    )?;
    let triggerids = texts(&rows, "objectid");
    if !triggerids.is_empty() {
        api.call(
            "trigger.get",
            &json!({
                "output": ["triggerid", "manual_close"], "triggerids": triggerids,
                "selectHosts": ["hostid", "name"],
                "selectItems": ["itemid", "name", "lastvalue", "lastclock", "units", "value_type"],
            }),
        )?;
    }
    Ok(())
}

fn hosts(api: &Api) -> anyhow::Result<()> {
    api.call("host.get", &json!({ "countOutput": true }))?;
    api.call(
        "host.get",
        &json!({
            "output": ["hostid", "host", "name", "status", "maintenance_status"],
            "selectInterfaces": ["interfaceid", "type", "main", "ip", "dns", "port", "available", "error"],
            "selectTags": ["tag", "value"], "selectParentTemplates": ["templateid", "name"],
            "selectItems": "count", "selectTriggers": "count", "sortfield": "name", "limit": ROWS,
        }),
    )?;
    Ok(())
}

fn graph(api: &Api, hostid: &str, now_s: u64) -> anyhow::Result<()> {
    let items = api.call(
        "item.get",
        &json!({
            "output": ["itemid", "name", "lastvalue", "lastclock", "units", "value_type"],
            "hostids": [hostid], "sortfield": "name", "limit": ROWS,
        }),
    )?;
    let item = items.get(0).context("the host has no item")?;
    let value_type: u8 = scalar_text(&item["value_type"])
        .and_then(|text| text.parse().ok())
        .context("item.get gave no value type")?;
    api.call(
        "history.get",
        &json!({
            "output": ["itemid", "clock", "ns", "value"], "history": value_type,
            "itemids": texts(&items, "itemid").first(), "time_from": now_s.saturating_sub(GRAPH_S),
            "time_till": now_s, "sortfield": "clock", "sortorder": "DESC", "limit": 5000,
        }),
    )?;
    Ok(())
}

fn texts(rows: &Value, member: &str) -> Vec<String> {
    rows.as_array().into_iter().flatten().filter_map(|row| scalar_text(&row[member])).collect()
}

/// How long readers waited for a kind of page, milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
}

impl From<&Histogram> for Latency {
    fn from(all: &Histogram) -> Self {
        Self { p50_ms: all.percentile_ms(0.5), p99_ms: all.percentile_ms(0.99) }
    }
}

/// How long readers waited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reads {
    pub(crate) sign_in: Latency,
    /// All pages.
    pub(crate) pages: Latency,
    pub(crate) problems: Latency,
    pub(crate) hosts: Latency,
    pub(crate) graph: Latency,
    /// Sign-ins and pages that failed or took longer than 30 s for a call.
    pub(crate) failed: u64,
}

/// What one reader, or all of them, waited for.
#[derive(Default)]
struct Tally {
    sign_in: Histogram,
    /// In the order of [`Page::ALL`].
    pages: [Histogram; Page::ALL.len()],
    failed: u64,
}

impl Tally {
    fn merge(&mut self, other: &Self) {
        self.sign_in.merge(&other.sign_in);
        for (mine, theirs) in self.pages.iter_mut().zip(&other.pages) {
            mine.merge(theirs);
        }
        self.failed += other.failed;
    }

    fn reads(&self) -> Reads {
        let mut all = Histogram::default();
        self.pages.iter().for_each(|page| all.merge(page));
        let [problems, hosts, graph] = self.pages.each_ref().map(Latency::from);
        let (sign_in, pages) = (Latency::from(&self.sign_in), Latency::from(&all));
        Reads { sign_in, pages, problems, hosts, graph, failed: self.failed }
    }
}

/// One reader.
struct Reader {
    login: Login,
    clock: SharedClock,
    stop: Arc<AtomicBool>,
    hostids: Arc<[String]>,
    number: usize,
}

impl Reader {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Signs in, then opens pages until it is stopped.
    fn browse(&self) -> Tally {
        let mut tally = Tally::default();
        let Some(api) = self.sign_in(&mut tally) else { return tally };
        for round in self.number * APART.. {
            let hostid = &self.hostids[round % self.hostids.len()];
            for (index, page) in Page::ALL.into_iter().enumerate() {
                if self.stopped() {
                    // The session; a server that does not end it forgets it later.
                    drop(api.call("user.logout", &json!([])));
                    return tally;
                }
                let begin = self.clock.monotonic();
                let opened = page.open(&api, hostid, self.clock.unix().as_secs());
                tally.pages[index].add(self.clock.monotonic() - begin);
                tally.failed += u64::from(opened.is_err());
                sleep(PAUSE);
            }
        }
        tally
    }

    /// `None`: stopped before a sign-in succeeded. It tries at least once.
    fn sign_in(&self, tally: &mut Tally) -> Option<Api> {
        loop {
            let begin = self.clock.monotonic();
            let signed = Api::login_within(&self.login, PATIENCE);
            tally.sign_in.add(self.clock.monotonic() - begin);
            match signed {
                Ok(api) => return Some(api),
                Err(_) => tally.failed += 1,
            }
            sleep(PAUSE);
            if self.stopped() {
                return None;
            }
        }
    }
}

/// Readers at work; dropped, they end after the page that they have open.
pub(crate) struct Readers {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Tally>>,
}

impl Readers {
    /// Lets so many readers open the pages of these hosts, of which there is at least one.
    pub(crate) fn start(
        count: usize,
        login: &Login,
        hostids: &[String],
        clock: &SharedClock,
    ) -> anyhow::Result<Self> {
        let every = hostids.len().div_ceil(HOSTS).max(1);
        let hostids: Arc<[String]> = hostids.iter().step_by(every).cloned().collect();
        anyhow::ensure!(!hostids.is_empty(), "there is no host whose graphs readers could open");
        let stop = Arc::new(AtomicBool::new(false));
        let mut readers = Self { stop, threads: Vec::new() };
        for number in 0..count {
            let (stop, hostids) = (Arc::clone(&readers.stop), Arc::clone(&hostids));
            let reader =
                Reader { login: login.clone(), clock: clock.clone(), stop, hostids, number };
            let thread = std::thread::Builder::new().name(format!("reader {number}"));
            readers.threads.push(thread.spawn(move || reader.browse())?);
        }
        Ok(readers)
    }

    /// Stops them; what they waited for.
    pub(crate) fn finish(mut self) -> anyhow::Result<Reads> {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Tally::default();
        for thread in self.threads.drain(..) {
            let tally = thread.join().map_err(|_| anyhow::anyhow!("BUG: a reader panicked"))?;
            all.merge(&tally);
        }
        Ok(all.reads())
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use stdx::clock::RealClock;

    use super::*;

    /// An API that knows one host, item and problem. `history.get` fails.
    fn api() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = Vec::new();
                let mut part = [0; 4096];
                while !request.ends_with(b"}") {
                    let n = stream.read(&mut part).unwrap();
                    assert!(n > 0, "the request has no end");
                    request.extend_from_slice(&part[..n]);
                }
                let text = String::from_utf8(request).unwrap();
                let body: Value =
                    serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
                let member = match body["method"].as_str().unwrap() {
                    "apiinfo.version" => r#""result":"7.0.0""#,
                    "user.login" => r#""result":"token""#,
                    "problem.get" => r#""result":[{"eventid":"1","objectid":"5"}]"#,
                    "item.get" => r#""result":[{"itemid":"9","value_type":"3"}]"#,
                    "history.get" => r#""error":{"code":1,"message":"No","data":""}"#,
                    _ => r#""result":[]"#,
                };
                let body = format!(r#"{{"jsonrpc":"2.0","id":1,{member}}}"#);
                let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ";
                write!(stream, "{head}{}\r\n\r\n{body}", body.len()).unwrap();
            }
        });
        url
    }

    fn login(url: &str) -> Login {
        Login { url: url.to_owned(), user: "Admin".to_owned(), password: "p".to_owned() }
    }

    #[test]
    fn pages_make_the_calls_that_they_need() {
        let api = Api::login_within(&login(&api()), PATIENCE).unwrap();
        Page::Problems.open(&api, "7", 10_000).unwrap();
        Page::Hosts.open(&api, "7", 10_000).unwrap();
        let wrong = Page::Graph.open(&api, "7", 10_000).unwrap_err().to_string();
        assert!(wrong.starts_with("history.get"), "{wrong}");
    }

    #[test]
    fn readers_are_counted_with_their_failures() {
        let start = |url: &str, hosts: &[String]| {
            Readers::start(2, &login(url), hosts, &RealClock::shared())
        };
        let hosts = ["7".to_owned()];
        let reads = start(&api(), &hosts).unwrap().finish().unwrap();
        assert!(reads.failed == 0 && reads.sign_in.p50_ms > 0.0, "{reads:?}");
        let reads = start("http://127.0.0.1:1", &hosts).unwrap().finish().unwrap();
        assert!(reads.failed >= 2, "{reads:?}");
        assert!(start("http://127.0.0.1:1", &[]).is_err());
    }

    #[test]
    fn pages_of_all_readers_count_together() {
        let mut all = Tally::default();
        for (ms, failed) in [(10, 0), (30, 2)] {
            let mut tally = Tally { failed, ..Tally::default() };
            tally.pages[1].add(Duration::from_millis(ms));
            tally.sign_in.add(Duration::from_millis(ms));
            all.merge(&tally);
        }
        let reads = all.reads();
        assert_eq!((reads.failed, reads.hosts.p99_ms, reads.pages.p99_ms), (2, 30.0, 30.0));
        assert!(reads.sign_in.p50_ms < 11.0 && reads.graph == Latency::default());
    }
}
