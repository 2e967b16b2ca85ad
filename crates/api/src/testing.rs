//! A whole API on a temporary database, for the tests of methods.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use balancing::placement::State;
use config::db::{Location, Reader};
use model::alert::learnt::{Flapping, Learnt};
use model::alert::outlook::{OfAction, Outlook};
use model::alert::rehearsal::{Rehearsed, Span};
use model::alert::{Outcome, Outgoing, ScriptLine, Trial};
use model::{
    Available, HostId, InterfaceId, InterfaceState, ItemId, ProblemUpdate, Push, Sample,
    SampleValue, Timestamp,
};
use serde_json::json;
use stdx::clock::SimClock;
use wire::history_service::Failure;

use crate::call::{Call, User};
use crate::item_test::Probe;
use crate::live::{Execution, ItemState, ScriptRun};
use crate::{Api, Deps, Json, Live, LiveHub, Rehearse};

/// A server in a box: nothing runs, but calls are answered.
pub(crate) struct Server {
    pub(crate) api: Api,
    pub(crate) clock: Arc<SimClock>,
    /// What methods asked the running parts to do.
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    /// Items that have a newest value.
    pub(crate) valued: Arc<Mutex<Vec<ItemId>>>,
    /// What actions do about each event.
    pub(crate) outlook: Arc<Mutex<Vec<OfAction>>>,
    /// What each rehearsal finds.
    pub(crate) rehearsed: Arc<Mutex<Rehearsed>>,
    session: String,
    _dir: tempfile::TempDir,
}

struct Idle {
    asked: Arc<Mutex<Vec<String>>>,
    valued: Arc<Mutex<Vec<ItemId>>>,
    outlook: Arc<Mutex<Vec<OfAction>>>,
    rehearsed: Arc<Mutex<Rehearsed>>,
}

impl Idle {
    fn note(&self, what: String) {
        self.asked.lock().unwrap().push(what);
    }
}

impl Live for Idle {
    fn item_states(&self, items: &[ItemId]) -> Vec<ItemState> {
        let valued = self.valued.lock().unwrap();
        let value = |item: &ItemId| Sample {
            item: *item,
            at: Timestamp { clock: 1_800_000_000, ns: 0 },
            value: SampleValue::Unsigned(1),
        };
        let last = |item: &ItemId| valued.contains(item).then(|| value(item));
        items.iter().map(|item| ItemState { last: last(item), ..ItemState::default() }).collect()
    }
    fn interfaces(&self, interfaces: &[InterfaceId]) -> Vec<InterfaceState> {
        vec![InterfaceState::default(); interfaces.len()]
    }
    fn active_checks(&self, hosts: &[HostId]) -> Vec<Available> {
        vec![Available::Unknown; hosts.len()]
    }
    fn push(&self, push: Push) -> Vec<Result<(), Failure>> {
        self.note(format!("push {:?}", push.values));
        vec![Ok(()); push.values.len()]
    }
    fn sync(&self) -> Result<(), String> {
        self.note("sync".to_owned());
        Ok(())
    }
    fn update_problems(&self, update: &ProblemUpdate) -> Result<(), String> {
        self.note(format!("update {update:?}"));
        Ok(())
    }
    fn engine_state(&self, _engine: u64, _hold_s: u32) -> State {
        State::Up
    }
    fn outlook(&self, event: u64) -> Result<Option<Outlook>, String> {
        let actions = self.outlook.lock().unwrap().clone();
        Ok(Some(Outlook { event, at: 1_800_000_000, actions }))
    }
    fn learnt(&self, triggers: &[u64]) -> Result<Vec<Learnt>, String> {
        let one = |trigger: &u64| Learnt {
            trigger: *trigger,
            problems: 6,
            typical: Some(30),
            within: Some(40),
            share: 83,
            flapping: Some(Flapping { changes: 7, until: 1_800_001_800, since: None }),
        };
        Ok(triggers.iter().map(one).collect())
    }
    fn prepare(
        &self,
        connection: &mut dyn Reader,
        action: u64,
    ) -> Result<Option<Box<dyn Rehearse>>, String> {
        let sql = "SELECT name, eventsource FROM actions WHERE actionid = ?";
        let rows = connection.query(sql, &[action.into()]).map_err(|error| error.to_string())?;
        let row = rows.first().filter(|row| row.int("eventsource") == 0);
        Ok(row.map(|row| {
            self.note(format!("prepare {}", row.text("name")));
            let found = self.rehearsed.lock().unwrap().clone();
            Box::new(Rehearsal(found)) as Box<dyn Rehearse>
        }))
    }
    fn end_suppressions(&self, maintenances: &[u64]) -> Result<(), String> {
        self.note(format!("end suppressions {maintenances:?}"));
        Ok(())
    }
    fn check_now(&self, items: &[ItemId]) {
        self.note(format!("check {items:?}"));
    }
    fn fetch(&self, probe: Probe) -> Result<String, String> {
        Ok(format!("{} of {}", probe.item.key, probe.host.id))
    }
    fn run_script(&self, execution: &Execution) -> ScriptRun {
        self.note(format!("run {execution:?}"));
        let Execution { script, host, .. } = execution;
        ScriptRun {
            result: match execution.input.as_deref() {
                Some("fail") => Err("exit 5".to_owned()),
                _ => Ok("done".to_owned()),
            },
            command: format!("command of {script} on {host}"),
            log: vec![(4, 5, "logged".to_owned())],
            took_ms: execution.event.map(|_| 7),
        }
    }
    fn script_texts(
        &self,
        execution: &Execution,
        templates: &[String],
    ) -> Result<Vec<String>, String> {
        let host = execution.host.to_string();
        Ok(templates.iter().map(|text| text.replace("{HOST.ID}", &host)).collect())
    }
    fn test_media(&self, message: &Outgoing) -> Result<Trial, String> {
        let again = None;
        let error = "because".to_owned();
        let outcome = match message.subject.as_str() {
            "busy" => return Err("4 tests of media types are running: try later".to_owned()),
            "failed" => Outcome::Failed { error, again },
            "impossible" => Outcome::Impossible { error },
            "unknown" => Outcome::Unknown { error },
            _ => Outcome::SENT,
        };
        let Outgoing { sendto, subject, message, parameters, .. } = message;
        let line = ScriptLine { level: 4, at: Duration::from_millis(7), text: "logged".to_owned() };
        Ok(Trial {
            outcome,
            response: format!("{sendto:?} {subject} {message} {parameters:?}"),
            log: vec!["> x".to_owned()],
            script_log: vec![line],
            took: Duration::from_millis(12),
        })
    }
    fn queue(&self, kind: &str, limit: Option<u64>) -> Result<Json, String> {
        if kind == "overview" { Ok(Json::from(limit)) } else { Err("no such queue".to_owned()) }
    }
    fn capacity(&self) -> Json {
        serde_json::json!({ "resources": [] })
    }
    fn history_gaps(&self, items: &[ItemId], span: history::Span) -> Vec<history::damage::Gap> {
        let reason: Arc<str> = "1.wal: gone".into();
        let gap =
            |&item| history::damage::Gap { item, span, is_of_item: true, reason: reason.clone() };
        items.iter().map(gap).collect()
    }
    fn clear_history(&self, items: &[ItemId]) -> Result<(), String> {
        self.note(format!("clear {items:?}"));
        Ok(())
    }
}

/// Has happened already.
struct Rehearsal(Rehearsed);

impl Rehearse for Rehearsal {
    fn run(&self, _: Span, _: u64, _: &dyn Fn() -> bool) -> Result<Option<Rehearsed>, String> {
        Ok(Some(self.0.clone()))
    }
}

const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

impl Server {
    /// A fresh server with the initial objects, signed in as `Admin` with password `zabbix`.
    pub(crate) fn start() -> Self {
        Self::over(Arc::new(history::Null::default()))
    }

    /// The same with a history.
    pub(crate) fn over(history: Arc<dyn history::Reader>) -> Self {
        Self::with(history, Arc::new(std::fs::File::sync_data))
    }

    /// The same with a disk that takes no sync while `full` is set.
    pub(crate) fn with_failing_disk(full: &Arc<AtomicBool>) -> Self {
        let full = Arc::clone(full);
        let sync = move |file: &std::fs::File| match full.load(Ordering::SeqCst) {
            true => Err(std::io::Error::other("input/output error")),
            false => file.sync_data(),
        };
        Self::with(Arc::new(history::Null::default()), Arc::new(sync))
    }

    fn with(history: Arc<dyn history::Reader>, sync: config::db::SharedDisk) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(dir.path().join("config.db"));
        let config = config::Config::open_with(location, sync).unwrap();
        // Cost 4 is bcrypt's lowest: tests sign in often.
        let hash = bcrypt::hash("zabbix", 4).unwrap();
        let seeded: config::db::DbResult<bool> = config.write(|edit| config::seed(edit, &hash));
        assert!(seeded.unwrap());
        let clock = SimClock::at(Duration::from_secs(1_800_000_000));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let valued = Arc::new(Mutex::new(Vec::new()));
        let outlook = Arc::new(Mutex::new(Vec::new()));
        let rehearsed = Arc::new(Mutex::new(Rehearsed::default()));
        let live = Idle {
            asked: Arc::clone(&asked),
            valued: Arc::clone(&valued),
            outlook: Arc::clone(&outlook),
            rehearsed: Arc::clone(&rehearsed),
        };
        let gone = Arc::clone(&asked);
        config.tell_deleted(Arc::new(move |deleted| {
            let mut asked = gone.lock().unwrap();
            if !deleted.triggers.is_empty() {
                asked.push(format!("gone {:?}", deleted.triggers));
            }
            if !deleted.items.is_empty() {
                asked.push(format!("clear {:?}", deleted.items));
            }
        }));
        let limits = transactions::Limits { bytes: u64::MAX, age_us: u64::MAX };
        let archive =
            transactions::Archive::open(&dir.path().join("transactions"), limits).unwrap();
        let api = Api::new(Deps {
            config: Arc::new(config),
            history,
            live: Arc::new(live),
            transactions: Arc::new(archive),
            engine_authority: Some("0b".repeat(32)),
            hub: LiveHub::default(),
            clock: clock.clone(),
        });
        let mut server = Self {
            api,
            clock,
            asked,
            valued,
            outlook,
            rehearsed,
            session: String::new(),
            _dir: dir,
        };
        server.session = server.login("Admin", "zabbix");
        server
    }

    /// The API, and what has to stay alive as long as it is used.
    pub(crate) fn split(self) -> (Api, Box<dyn std::any::Any>) {
        (self.api, Box::new(self._dir))
    }

    /// Signs in; returns the session id.
    pub(crate) fn login(&self, username: &str, password: &str) -> String {
        let params = json!({ "username": username, "password": password });
        self.call_as(None, "user.login", &params).unwrap().as_str().unwrap().to_owned()
    }

    /// Makes a user with a role (1 user, 2 administrator, 3 super administrator, or one of the
    /// test's own) and rights on groups; returns a session of that user.
    pub(crate) fn user(&self, name: &str, role: &str, rights: &[(&str, i64)]) -> String {
        let rights: Vec<Json> = rights
            .iter()
            .map(|(group, permission)| json!({ "id": group, "permission": permission }))
            .collect();
        let group = self.create("usergroup.create", &json!({ "name": name, "rights": rights }));
        let user = json!({
            "username": name, "passwd": "Pa55word-x", "roleid": role,
            "usrgrps": { "usrgrpid": group },
        });
        self.create("user.create", &user);
        self.login(name, "Pa55word-x")
    }

    /// A call as `Admin`: the result, or the error's code and data.
    pub(crate) fn call(&self, method: &str, params: &Json) -> Result<Json, (i64, String)> {
        self.call_as(Some(&self.session), method, params)
    }

    /// A call with another session, or none.
    pub(crate) fn call_as(
        &self,
        session: Option<&str>,
        method: &str,
        params: &Json,
    ) -> Result<Json, (i64, String)> {
        let body = json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": 1 });
        let answer = self.api.handle(body.to_string().as_bytes(), session, PEER).unwrap();
        let mut answer: Json = serde_json::from_str(&answer).unwrap();
        match answer.get("error") {
            Some(error) => Err((
                error["code"].as_i64().unwrap(),
                error["data"].as_str().unwrap_or_default().to_owned(),
            )),
            None => Ok(answer["result"].take()),
        }
    }

    /// Gives a call in progress of this user to `work`.
    pub(crate) fn with_call<T>(&self, user: User, work: impl FnOnce(&Call<'_>) -> T) -> T {
        work(&Call {
            api: &self.api,
            user: Some(Arc::new(user)),
            peer: PEER,
            gone: crate::call::Gone::default(),
            written: crate::call::Written::default(),
            has_header: false,
            has_auth: false,
            transaction: None,
            answer: std::cell::Cell::default(),
            memory: None,
        })
    }

    /// Calls that must be refused: method, parameters, code, a part of the text.
    pub(crate) fn refuses(&self, calls: &[(&str, Json, i64, &str)]) {
        for (method, params, code, text) in calls {
            match self.call(method, params) {
                Ok(result) => panic!("{method} {params} is not refused: {result}"),
                Err((found, data)) => assert!(
                    found == *code && data.contains(text),
                    "{method} {params}: {found} {data}"
                ),
            }
        }
    }

    /// Calls with their exact results.
    pub(crate) fn answers(&self, calls: &[(&str, Json, Json)]) {
        for (method, params, result) in calls {
            let found =
                self.call(method, params).unwrap_or_else(|e| panic!("{method} {params}: {e:?}"));
            assert_eq!(found, *result, "{method} {params}");
        }
    }

    /// Rows of a table, as text, for what no method shows.
    pub(crate) fn count(&self, sql: &str) -> i64 {
        let rows = self.api.deps.config.read(|c| c.query(sql, &[])).unwrap();
        rows[0].int("n")
    }

    /// The first column of the first row, for what no method shows.
    pub(crate) fn text(&self, sql: &str) -> String {
        let rows = self.api.deps.config.read(|c| c.query(sql, &[])).unwrap();
        rows[0].iter().next().unwrap().1.to_string()
    }

    /// Writes the database without a method.
    pub(crate) fn write_sql(&self, statements: &[&str]) {
        let work = |edit: &mut config::Edit<'_>| {
            statements.iter().try_for_each(|sql| edit.unrecorded().execute(sql, &[]).map(drop))
        };
        let result: config::db::DbResult<()> = self.api.deps.config.write(work);
        result.unwrap();
    }

    /// Writes the state without a method.
    pub(crate) fn write_state_sql(&self, statements: &[&str]) {
        let work = |state: &mut config::Statements<'_>| {
            statements.iter().try_for_each(|sql| state.execute(sql, &[]).map(drop))
        };
        let result: config::db::DbResult<()> = self.api.deps.config.write_state(work);
        result.unwrap();
    }

    /// The first id of a create call's result.
    pub(crate) fn create(&self, method: &str, params: &Json) -> String {
        let result = self.call(method, params).unwrap();
        let ids = result.as_object().unwrap().values().next().unwrap();
        ids[0].as_str().unwrap().to_owned()
    }
}

#[test]
fn only_admin_can_sign_in_to_a_new_server() {
    let server = Server::start();
    assert_eq!(server.call_as(None, "apiinfo.version", &json!([])).unwrap(), "7.0.22");
    let refused = server.call_as(None, "hostgroup.get", &json!({})).unwrap_err();
    assert_eq!(refused, (-32602, "Not authorized.".to_owned()));
    for (user, password) in [("Admin", "wrong"), ("guest", ""), ("nobody", "x")] {
        let params = json!({ "username": user, "password": password });
        assert_eq!(server.call_as(None, "user.login", &params).unwrap_err().0, -32500, "{user}");
    }
    let id = server.create("hostgroup.create", &json!({ "name": "Linux" }));
    let found = server.call("hostgroup.get", &json!({ "output": ["name"], "groupids": id }));
    assert_eq!(found.unwrap(), json!([{ "name": "Linux" }]));
    assert_eq!(server.call("user.logout", &json!([])).unwrap(), true);
    let refused = server.call("hostgroup.get", &json!({})).unwrap_err();
    assert_eq!(refused.1, "Session terminated, re-login, please.");
}

#[test]
fn a_stranger_does_not_keep_a_user_out() {
    let server = Server::start();
    let login = |peer: [u8; 4], name: &str, password: &str| {
        let body = json!({ "jsonrpc": "2.0", "method": "user.login", "id": 1,
            "params": { "username": name, "password": password } });
        let answer = server.api.handle(body.to_string().as_bytes(), None, peer.into()).unwrap();
        let answer: Json = serde_json::from_str(&answer).unwrap();
        answer["error"]["data"].as_str().map(str::to_owned)
    };
    let (stranger, home) = ([192, 0, 2, 1], [192, 0, 2, 2]);
    let refused = Some(crate::session::BAD_LOGIN.to_owned());
    let shown = || server.count("SELECT attempt_failed AS n FROM users WHERE username = 'Admin'");
    for name in ["Admin", "nobody", "guest"] {
        for _ in 0..9 {
            assert_eq!(login(stranger, name, "wrong"), refused, "{name}");
        }
        assert_eq!(login(stranger, name, "zabbix"), refused, "{name} is blocked for 30 s");
    }
    assert!(server.api.is_signed_in(&server.session));
    server.api.write_accesses();
    assert_eq!(shown(), 5, "blocked attempts do not count");
    assert_eq!(login(home, "Admin", "zabbix"), None, "another address");
    server.api.write_accesses();
    assert_eq!(shown(), 0);
    assert_eq!(login(stranger, "Admin", "zabbix"), refused);
    server.clock.advance(Duration::from_secs(31));
    assert_eq!(login(stranger, "Admin", "zabbix"), None);
    for _ in 0..5 {
        assert_eq!(login(stranger, "Admin", "wrong"), refused);
    }
    server.call("user.unblock", &json!(["1"])).unwrap();
    assert_eq!(login(stranger, "Admin", "zabbix"), None);
}

#[test]
fn batch_signs_in_once() {
    let server = Server::start();
    let login = |id: u64| {
        json!({ "jsonrpc": "2.0", "method": if id == 3 { "USER.login" } else { "user.login" },
            "params": { "username": "Admin", "password": "zabbix" }, "id": id })
    };
    let version = json!({ "jsonrpc": "2.0", "method": "apiinfo.version", "params": [], "id": 2 });
    let batch = json!([login(1), version, login(3), login(4)]);
    let answer = server.api.handle(batch.to_string().as_bytes(), None, PEER).unwrap();
    let answer: Vec<Json> = serde_json::from_str(&answer).unwrap();
    assert!(answer[0]["result"].is_string());
    assert_eq!(answer[1]["result"], "7.0.22");
    for (answer, id) in answer[2..].iter().zip([3, 4]) {
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(id)));
        let text = answer["error"]["data"].as_str().unwrap();
        assert!(text.contains("only one \"user.login\""), "{text}");
    }
    assert_eq!(server.count("SELECT COUNT(*) AS n FROM sessions"), 2);
}
