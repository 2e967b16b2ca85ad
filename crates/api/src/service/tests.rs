use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use history::service::{Asker, Service};
use history::{Class, Driver, Memory, RangeQuery, Reader, Span, newest_of, range_of};
use model::{ItemId, Sample, SampleValue, Timestamp, Trend, TrendValues};
use serde_json::{Value as Json, json};
use wire::history_service::{
    Failure, ItemName, NewestRequest, PAGE_BYTES, PAGE_ROWS, Page, RangeRequest, ReadRequest,
    TrendsRequest, Value, WriteReply, WriteRequest,
};

use crate::testing::Server;

const PEER: IpAddr = IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7));
const CLOCK: u32 = 1_700_000_000;

/// A history in memory that may break.
struct Shelf {
    memory: Mutex<Memory>,
    /// Reads that still succeed.
    good: Mutex<usize>,
    /// Samples that reads of ranges gave.
    given: AtomicUsize,
}

impl Shelf {
    fn new() -> Arc<Self> {
        let memory = Mutex::new(Memory::new(Arc::new(Class(9_999))));
        Arc::new(Self { memory, good: Mutex::new(usize::MAX), given: AtomicUsize::new(0) })
    }

    fn spend(&self) -> Result<(), history::Error> {
        let mut good = self.good.lock().unwrap();
        *good = good.checked_sub(1).ok_or_else(|| history::Error::storage_away("it is gone"))?;
        Ok(())
    }
}

impl Reader for Shelf {
    fn range(&self, query: &RangeQuery) -> Result<Vec<Sample>, history::Error> {
        self.spend()?;
        let a_second = query.span.from == query.span.till;
        assert!(a_second || query.limit.is_some_and(|limit| limit <= PAGE_ROWS + 1), "{query:?}");
        let view = self.memory.lock().unwrap().view(&[query.item], query.span);
        range_of(view.as_ref(), query).inspect(|found| {
            self.given.fetch_add(found.len(), Ordering::Relaxed);
        })
    }
    fn newest(&self, items: &[ItemId], n: usize) -> Result<Vec<Vec<Sample>>, history::Error> {
        self.spend()?;
        let view = self.memory.lock().unwrap().view_newest(items, n);
        let newest = newest_of(view.as_ref(), items, n)?;
        let texts = newest.iter().flatten().filter(|sample| sample.value.as_text().is_some());
        assert!(texts.count() <= 500, "long texts are read in parts");
        Ok(newest)
    }
    fn trends(&self, items: &[ItemId], span: Span) -> Result<Vec<Trend>, history::Error> {
        self.spend()?;
        let view = self.memory.lock().unwrap().view(items, span);
        let mut all = Vec::new();
        for item in items {
            all.extend(view.trends(*item)?);
        }
        Ok(all)
    }
}

struct Site {
    server: Server,
    history: Arc<Shelf>,
    token: String,
    /// Numbers, texts, switched off, polled.
    items: Vec<u64>,
}

const KEYS: [(&str, i32, i32, i32); 4] =
    [("numbers", 3, 2, 0), ("texts", 4, 2, 0), ("off", 3, 2, 1), ("polled", 3, 5, 0)];

impl Site {
    fn new() -> Self {
        let history = Shelf::new();
        let server = Server::over(Arc::clone(&history) as Arc<dyn Reader>);
        let group = server.create("hostgroup.create", &json!({ "name": "g" }));
        let host = json!({ "host": "h", "groups": { "groupid": group } });
        let host = server.create("host.create", &host);
        let item = |(key, value_type, kind, status): (&str, i32, i32, i32)| {
            let delay = if kind == 2 { "0" } else { "1m" };
            let item = json!({ "name": key, "key_": key, "hostid": host, "type": kind,
                "value_type": value_type, "status": status, "delay": delay });
            server.create("item.create", &item).parse().unwrap()
        };
        let items = KEYS.into_iter().map(item).collect();
        let token = server.login("Admin", "zabbix");
        Self { server, history, token, items }
    }

    /// A user with a right (0 = none) on the host; the session.
    fn user(&self, name: &str, permission: i32, role: i64) -> String {
        let group = self.server.count("SELECT groupid AS n FROM groups_ WHERE name = 'g'");
        let rights = match permission {
            0 => json!([]),
            permission => json!([{ "id": group.to_string(), "permission": permission }]),
        };
        let users = json!({ "name": name, "hostgroup_rights": rights });
        let users = self.server.create("usergroup.create", &users);
        let user = json!({ "username": name, "passwd": "Pa55word-x", "roleid": role.to_string(),
            "usrgrps": [{ "usrgrpid": users }] });
        self.server.create("user.create", &user);
        self.server.login(name, "Pa55word-x")
    }

    fn asker(&self, token: &str) -> Asker {
        Asker { token: Some(token.to_owned()), peer: PEER }
    }

    fn write(&self, token: &str, request: Json) -> WriteReply {
        let request: WriteRequest = serde_json::from_str(&request.to_string()).unwrap();
        self.server.api.write(&self.asker(token), request)
    }

    fn read(&self, token: &str, request: ReadRequest) -> Result<Vec<Page>, Failure> {
        let mut pages = self.server.api.read(&self.asker(token), request)?;
        let mut all = Vec::new();
        while let Some(page) = pages.next()? {
            all.push(page);
        }
        Ok(all)
    }

    /// What a range reads of an item, nothing of it often.
    fn range(&self, item: u64, limit: u64, descending: bool) -> Vec<(u32, u32)> {
        let before = self.history.given.load(Ordering::Relaxed);
        let items = vec![ItemName { itemid: item, ..ItemName::default() }];
        let request = RangeRequest { items, limit, descending, ..RangeRequest::default() };
        let pages = self.read(&self.token, ReadRequest::Range(request)).unwrap();
        let mut moments = Vec::new();
        for page in pages {
            let Page::Samples(page) = page else { panic!("{page:?}") };
            assert!((1..=PAGE_ROWS).contains(&page.samples.len()));
            let text = |sample: &wire::history_service::Sample| {
                sample.text.as_ref().map_or(0, String::len)
            };
            let bytes: usize = page.samples.iter().map(text).sum();
            assert!(bytes <= PAGE_BYTES || page.samples.len() == 1, "{bytes}");
            moments.extend(page.samples.iter().map(|sample| (sample.clock, sample.ns)));
        }
        let given = self.history.given.load(Ordering::Relaxed) - before;
        assert!(given <= 2 * moments.len(), "{given} for {}", moments.len());
        moments
    }

    fn keep(&self, item: u64, moments: &[(u32, u32)], value: impl Fn(usize) -> SampleValue) {
        let sample = |(n, &(clock, ns)): (usize, &(u32, u32))| Sample {
            item: ItemId(item),
            at: Timestamp { clock, ns },
            value: value(n),
        };
        let samples: Vec<Sample> = moments.iter().enumerate().map(sample).collect();
        self.history.memory.lock().unwrap().write(&samples).unwrap();
    }
}

fn named(key: &str) -> ItemName {
    ItemName { itemid: 0, host: "h".to_owned(), key: key.to_owned() }
}

fn reasons(reply: &WriteReply) -> Vec<(u32, &str)> {
    reply
        .refused
        .iter()
        .map(|one| (one.index, one.failure.as_ref().map_or("", |failure| &*failure.reason)))
        .collect()
}

#[test]
fn values_reach_the_running_parts_as_senders_send_them() {
    let site = Site::new();
    let id = site.items[0];
    let reply = site.write(
        &site.token,
        json!({ "sequence": 5, "resend": true, "values": [
        { "itemid": id, "clock": CLOCK, "ns": 3, "unsigned": "18446744073709551615" },
        { "host": "h", "key": "texts", "float": 0.1 },
        { "host": "h", "key": "texts", "clock": CLOCK, "log": { "text": "l", "severity": 2 } },
        { "host": "h", "key": "texts", "clock": CLOCK, "float": 1e300 },
    ] }),
    );
    assert_eq!((reply.sequence, reply.kept, reply.failure.as_ref()), (5, 4, None));
    assert_eq!(reasons(&reply), []);
    let asked = site.server.asked.lock().unwrap().pop().unwrap();
    for part in [
        "value: \"18446744073709551615\", log: None, at: Timestamp { clock: 1700000000, ns: 3 }",
        "value: \"0.1\", log: None, at: Timestamp { clock: 1800000000, ns: 0 }",
        "value: \"l\", log: Some(LogMeta { timestamp: 0, source: \"\", severity: 2, eventid: 0 })",
        "value: \"1e+300\"",
    ] {
        assert!(asked.contains(part), "{part} is not in {asked}");
    }
    // Only who wants it waits for the disk, and only when there is something on it.
    let sync = |reply: WriteReply| (reply.kept, site.server.asked.lock().unwrap().pop().unwrap());
    let one = json!({ "itemid": id, "text": "1" });
    assert_eq!(sync(site.write(&site.token, json!({ "synced": true, "values": [one] }))).1, "sync");
    let nothing = sync(site.write(&site.token, json!({ "synced": true, "values": [] })));
    assert_eq!(nothing, (0, "push []".to_owned()));
}

#[test]
fn a_value_that_breaks_a_rule_is_refused_alone() {
    let site = Site::new();
    let id = site.items[0];
    let reply = site.write(
        &site.token,
        json!({ "values": [
        { "itemid": id, "text": "" },
        { "itemid": id },
        { "itemid": id, "text": "", "float": 1 },
        { "text": "1" },
        { "host": "h", "text": "1" },
        { "itemid": id, "key": "numbers", "text": "1" },
        { "itemid": 987_654, "text": "1" },
        { "host": "h", "key": "none", "text": "1" },
        { "host": "none", "key": "numbers", "text": "1" },
        { "itemid": id, "ns": 1, "text": "1" },
        { "itemid": id, "clock": CLOCK, "ns": 1_000_000_000, "text": "1" },
        { "itemid": id, "clock": 2_147_483_648_u32, "text": "1" },
        { "itemid": id, "clock": 2_147_483_647, "ns": 999_999_999, "text": "1" },
    ] }),
    );
    assert_eq!((reply.kept, reply.failure.as_ref()), (2, None));
    let invalid = |range: std::ops::Range<u32>| range.map(|n| (n, "invalid"));
    let expected: Vec<_> =
        invalid(1..6).chain((6..9).map(|n| (n, "no_item"))).chain(invalid(9..12)).collect();
    assert_eq!(reasons(&reply), expected);
}

#[test]
fn rights_and_roles_decide() {
    let site = Site::new();
    let rules = json!({ "api.mode": 0, "api": ["history.*"] });
    let role = json!({ "name": "r", "type": 1, "rules": rules });
    let role: i64 = site.server.create("role.create", &role).parse().unwrap();
    let one = json!({ "values": [{ "itemid": site.items[0], "text": "1" }] });
    let newest = || ReadRequest::Newest(NewestRequest { items: vec![named("numbers")], count: 1 });
    let trends = || {
        let items = vec![named("numbers")];
        ReadRequest::Trends(TrendsRequest { items, ..TrendsRequest::default() })
    };
    let reason = |read: Result<Vec<Page>, Failure>| read.err().map_or(String::new(), |f| f.reason);
    for (name, permission, role, write, read, hours) in [
        ("writer", 3, 1, "", "", ""),
        ("reader", 2, 1, "no_item", "", ""),
        ("none", 0, 1, "no_item", "no_item", "no_item"),
        ("barred", 3, role, "denied", "denied", ""),
    ] {
        let token = site.user(name, permission, role);
        let reply = site.write(&token, one.clone());
        let first = reasons(&reply).first().map(|(_, reason)| (*reason).to_owned());
        let failed = reply.failure.map(|failure| failure.reason);
        assert_eq!(failed.or(first).unwrap_or_default(), write, "{name}");
        assert_eq!(reason(site.read(&token, newest())), read, "{name}");
        assert_eq!(reason(site.read(&token, trends())), hours, "{name}");
    }
    for token in ["", "nobody", &"0".repeat(32), &"0".repeat(64)] {
        let failure = site.write(token, one.clone()).failure.unwrap();
        assert_eq!((&*failure.reason, failure.retry), ("not_signed_in", false), "{token}");
        assert_eq!(reason(site.read(token, newest())), "not_signed_in", "{token}");
    }
}

#[test]
fn what_is_hidden_looks_as_what_is_not_there() {
    let site = Site::new();
    let nobody = site.user("nobody", 0, 1);
    let hidden = site.items[0].to_string();
    let write = |id: &str| {
        let values = json!({ "values": [
            { "itemid": id, "clock": CLOCK, "ns": 1_000_000_000, "text": "1" },
            { "itemid": id, "ns": 1, "text": "1" },
            { "itemid": id },
            { "itemid": id, "text": "1" },
        ] });
        format!("{:?}", site.write(&nobody, values))
    };
    assert_eq!(write(&hidden), write("987654"));
    let read = |names: [&str; 2]| {
        let items = names.map(named).into();
        let newest = NewestRequest { items, ..NewestRequest::default() };
        site.read(&nobody, ReadRequest::Newest(newest)).unwrap_err()
    };
    for names in [["numbers", "none"], ["none", "numbers"], ["numbers", "texts"]] {
        assert_eq!(read(names), read(["none", "neither"]), "{names:?}");
    }
}

#[test]
fn trouble_of_the_database_is_no_fault_of_the_caller() {
    let site = Site::new();
    let session = site.user("writer", 3, 1);
    let token = site.server.create("token.create", &json!({ "name": "t" }));
    let token = site.server.call("token.generate", &json!([token])).unwrap();
    let token = token[0]["token"].as_str().unwrap();
    let one = json!({ "values": [{ "itemid": site.items[0], "text": "1" }] });
    let later = || site.server.clock.advance(std::time::Duration::from_secs(60));
    // It takes no changes.
    let refuse = |table: &str| {
        format!(
            "CREATE TRIGGER full_{table} BEFORE UPDATE ON {table} \
             BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
    };
    site.server.write_state_sql(&[&refuse("token_accesses"), &refuse("sessions")]);
    for token in [token, &session] {
        later();
        assert_eq!(site.write(token, one.clone()).kept, 1);
    }
    // It cannot be read: first of the rights, then of users.
    for table in ["group_rights", "users"] {
        later();
        site.server.write_sql(&[&format!("ALTER TABLE {table} RENAME TO {table}_gone")]);
        let failure = site.write(&session, one.clone()).failure.unwrap();
        let told = (&*failure.reason, &*failure.fault, failure.retry);
        assert_eq!(told, ("not_read", "server", true), "{table}");
    }
}

#[test]
fn a_revoked_right_takes_effect_at_once() {
    let site = Site::new();
    let token = site.user("writer", 3, 1);
    let one = json!({ "values": [{ "itemid": site.items[0], "text": "1" }] });
    assert_eq!(site.write(&token, one.clone()).kept, 1);
    let groups = json!({ "filter": { "name": "writer" } });
    let groups = site.server.call("usergroup.get", &groups).unwrap();
    let change = json!({ "usrgrpid": groups[0]["usrgrpid"], "hostgroup_rights": [] });
    site.server.call("usergroup.update", &change).unwrap();
    assert_eq!(reasons(&site.write(&token, one)), [(0, "no_item")]);
}

#[test]
fn too_much_is_refused_as_a_whole() {
    let site = Site::new();
    let values = vec![Value::default(); 10_001];
    let request = WriteRequest { sequence: 3, values, ..WriteRequest::default() };
    let reply = site.server.api.write(&site.asker(&site.token), request);
    assert_eq!((reply.sequence, reply.failure.unwrap().reason.as_str()), (3, "invalid"));
    let items = |many: usize| vec![named("numbers"); many];
    let range = |items| ReadRequest::Range(RangeRequest { items, ..RangeRequest::default() });
    assert_eq!(site.read(&site.token, range(items(10_001))).unwrap_err().reason, "invalid");
    assert_eq!(site.read(&site.token, range(items(10_000))).unwrap(), []);
    assert_eq!(site.read(&site.token, range(vec![])).unwrap(), []);
    let newest = ReadRequest::Newest(NewestRequest { items: items(1), count: 1_001 });
    assert_eq!(site.read(&site.token, newest).unwrap_err().reason, "invalid");
    let failure = site.read(&site.token, range(vec![named("numbers"), named("no")])).unwrap_err();
    assert_eq!(failure.reason, "no_item");
    assert!(failure.message.starts_with("items[1]: "), "{failure:?}");
}

#[test]
fn pages_together_are_what_is_kept() {
    let site = Site::new();
    let (numbers, texts) = (site.items[0], site.items[1]);
    // A second with more than a page, one with half of it, then one value a second.
    let mut moments: Vec<(u32, u32)> = (0..6_000).map(|n| (CLOCK, n)).collect();
    moments.extend((0..2_500).map(|n| (CLOCK + 1, n)));
    moments.extend((2..4_000).map(|n| (CLOCK + n, 0)));
    site.keep(numbers, &moments, |n| SampleValue::Unsigned(n as u64));
    let reversed: Vec<_> = moments.iter().rev().copied().collect();
    for limit in [0, 1, 4_999, 5_000, 5_001, 6_000, 8_500, 12_498, 20_000] {
        let most = usize::try_from(limit).ok().filter(|&limit| limit > 0).unwrap_or(usize::MAX);
        let up = &moments[..most.min(moments.len())];
        assert_eq!(site.range(numbers, limit, false), up, "{limit}");
        let down = &reversed[..most.min(moments.len())];
        assert_eq!(site.range(numbers, limit, true), down, "{limit}");
    }
    // Long texts: pages by bytes, and by what is held in memory.
    let moments: Vec<(u32, u32)> = (0..1_200).map(|n| (CLOCK + n / 3, n)).collect();
    site.keep(texts, &moments, |n| {
        SampleValue::Text("x".repeat(if n == 1_000 { 2 << 20 } else { n % 450 * 100 }).into())
    });
    // From when it was an item of numbers.
    site.keep(texts, &[(CLOCK + 399, 0)], |_| SampleValue::Unsigned(7));
    assert_eq!(site.range(texts, 0, false), moments);
    let newest = NewestRequest { items: vec![named("texts"), named("numbers")], count: 1_000 };
    let pages = site.read(&site.token, ReadRequest::Newest(newest)).unwrap();
    assert!(pages.len() > 20, "{}", pages.len());
    let mut all = Vec::new();
    for page in pages {
        let Page::Samples(page) = page else { panic!("{page:?}") };
        let bytes = page.samples.iter().map(|sample| sample.text.as_ref().map_or(0, String::len));
        assert!(bytes.sum::<usize>() <= PAGE_BYTES || page.samples.len() == 1);
        all.extend(page.samples.into_iter().map(|one| (page.itemid, (one.clock, one.ns))));
    }
    let mut expected: Vec<_> = moments[201..].iter().rev().map(|at| (texts, *at)).collect();
    expected.insert(3, (texts, (CLOCK + 399, 0)));
    expected.extend(reversed.iter().take(1_000).map(|at| (numbers, *at)));
    assert_eq!(all, expected);
}

#[test]
fn trends_come_item_by_item() {
    let site = Site::new();
    let trend = |item: u64, hour: u32| Trend {
        item: ItemId(item),
        hour: hour * 3600,
        num: 2,
        values: TrendValues::Unsigned { min: 1, avg: 2, max: u64::MAX },
    };
    let many: Vec<Trend> = (0..5_001).map(|hour| trend(site.items[0], hour)).collect();
    site.history.memory.lock().unwrap().write_trends(&many).unwrap();
    site.history.memory.lock().unwrap().write_trends(&[trend(site.items[2], 7)]).unwrap();
    let request = TrendsRequest {
        items: vec![named("off"), named("numbers"), named("texts")],
        ..TrendsRequest::default()
    };
    let pages = site.read(&site.token, ReadRequest::Trends(request)).unwrap();
    let shape = |page: &Page| match page {
        Page::Trends(page) => (page.itemid, page.trends.len()),
        Page::Samples(_) => (0, 0),
    };
    let shapes: Vec<_> = pages.iter().map(shape).collect();
    let numbers = site.items[0];
    assert_eq!(shapes, [(site.items[2], 1), (numbers, 5_000), (numbers, 1)]);
}

#[test]
fn a_read_error_in_the_middle_is_reported() {
    let site = Site::new();
    let moments: Vec<(u32, u32)> = (0..12_000).map(|n| (CLOCK + n, 0)).collect();
    site.keep(site.items[0], &moments, |n| SampleValue::Unsigned(n as u64));
    *site.history.good.lock().unwrap() = 2;
    let items = vec![named("numbers")];
    let request = ReadRequest::Range(RangeRequest { items, ..RangeRequest::default() });
    let mut pages = site.server.api.read(&site.asker(&site.token), request).unwrap();
    assert!(pages.next().unwrap().is_some() && pages.next().unwrap().is_some());
    let failure = pages.next().unwrap_err();
    assert_eq!((&*failure.reason, &*failure.fault, failure.retry), ("not_read", "server", true));
    assert!(failure.message.contains("it is gone"), "{failure:?}");
    assert_eq!(pages.next(), Ok(None), "nothing more after a failure");
}
