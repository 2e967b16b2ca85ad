//! What a measurement of alerting makes through the API: hosts whose values open problems, and an action that
//! reports these problems to a webhook.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::api::{Api, scalar_text};
use crate::register::{Estate, ItemSpec, Registered, Through, Wanted};
use crate::{Context, Login};

/// How all names start.
const NAME: &str = "Vedette bench";
/// Longest time of an attempt.
const TIMEOUT_S: u64 = 60;
/// Sends a message as it is.
const SCRIPT: &str = "var p = JSON.parse(value), r = new HttpRequest();
r.addHeader('Content-Type: application/json');
r.post(p.URL, JSON.stringify({name: p.Name, to: p.To, subject: p.Subject, message: p.Message}));
if (r.getStatus() !== 200) { throw 'HTTP status ' + r.getStatus(); }
return 'OK';";
/// Text of the messages: what the templates of the field's media types have.
const SUBJECT: &str = "Problem: {EVENT.NAME}";
const MESSAGE: &str = "Problem started at {EVENT.TIME} on {EVENT.DATE}\nProblem name: {EVENT.NAME}\n\
    Host: {HOST.NAME}\nSeverity: {EVENT.SEVERITY}\nOperational data: {EVENT.OPDATA}\n\
    Original problem ID: {EVENT.ID}\n{TRIGGER.URL}";

/// What was made.
pub(super) struct Objects {
    pub(super) hosts: Registered,
    /// Items of each host. Each positive value of one opens a problem.
    pub(super) items: usize,
    pub(super) media_type: String,
    action: String,
    user: String,
    group: String,
}

/// A kind of objects whose names start with [`NAME`], in the order in which they are removed.
const KINDS: [(&str, &str, &str); 4] = [
    ("action", "actionid", "name"),
    ("user", "userid", "username"),
    ("usergroup", "usrgrpid", "name"),
    ("mediatype", "mediatypeid", "name"),
];

impl Objects {
    /// The action is disabled.
    pub(super) fn make(
        api: &Api,
        sizes: [usize; 2],
        sessions: u32,
        sink: SocketAddr,
        context: &mut Context<'_>,
    ) -> anyhow::Result<Self> {
        let [hosts, items] = sizes;
        let made = make_hosts(api, hosts, items, context)?;
        // That of the template is unique.
        let name = made.template_name.clone();
        let media_type = media_type(api, &name, sessions, sink)?;
        let group = create(api, "usergroup", "usrgrpids", &json!({ "name": name }))?;
        let user = json!({
            "username": name, "passwd": format!("q8-{:x}", context.clock.unix().as_nanos()),
            "roleid": "3", "usrgrps": [{ "usrgrpid": group }],
            "medias": [{ "mediatypeid": media_type, "sendto": "sink" }],
        });
        let user = create(api, "user", "userids", &user)?;
        let host_group = host_group(api, &made)?;
        let action = json!({
            "name": name, "eventsource": 0, "status": 1, "esc_period": "1h",
            "filter": { "evaltype": 0, "conditions": [
                { "conditiontype": 0, "operator": 0, "value": host_group }
            ]},
            "operations": [{
                "operationtype": 0, "esc_step_from": 1, "esc_step_to": 1,
                "opmessage": { "default_msg": 1, "mediatypeid": media_type },
                "opmessage_usr": [{ "userid": user }],
            }],
        });
        let action = create(api, "action", "actionids", &action)?;
        Ok(Self { hosts: made, items, media_type, action, user, group })
    }

    /// Switches the action on or off.
    pub(super) fn enable(&self, api: &Api, enabled: bool) -> anyhow::Result<()> {
        let params = json!({ "actionid": self.action, "status": u8::from(!enabled) });
        api.call("action.update", &params).map(drop)
    }

    /// One message for the problems of each host, `wait` after the first one. False: the server has no grouping.
    pub(super) fn group(&self, api: &Api, wait: Duration) -> bool {
        let wait = format!("{}s", wait.as_secs());
        let grouping = json!({ "by": ["{HOST.HOST}"], "wait": wait, "interval": "1h" });
        let params = json!({ "actionid": self.action, "grouping": grouping });
        api.call("action.update", &params).is_ok()
    }

    /// Messages that the server has stored.
    pub(super) fn stored(&self, api: &Api) -> anyhow::Result<u64> {
        let params = json!({ "countOutput": true, "mediatypeids": [self.media_type] });
        count(api, "alert.get", &params)
    }

    /// Open problems of the hosts.
    pub(super) fn open(&self, api: &Api) -> anyhow::Result<u64> {
        let params = json!({ "countOutput": true, "hostids": self.hosts.hostids });
        count(api, "problem.get", &params)
    }

    pub(super) fn remove(&self, api: &Api) -> anyhow::Result<()> {
        for (object, id) in [
            ("action", &self.action),
            ("user", &self.user),
            ("usergroup", &self.group),
            ("mediatype", &self.media_type),
        ] {
            api.call(&format!("{object}.delete"), &json!([id]))?;
        }
        self.hosts.remove(api)
    }
}

/// Removes what broken measurements have left, except hosts and templates.
///
/// # Errors
/// The server cannot be reached, or refuses.
pub fn clean(login: &Login) -> anyhow::Result<()> {
    let api = Api::login(login)?;
    for (object, id, name) in KINDS {
        let params = json!({ "output": [id], "search": { name: NAME }, "startSearch": true });
        let found = api.call(&format!("{object}.get"), &params)?;
        let ids: Vec<String> = found
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|row| scalar_text(&row[id]))
            .collect();
        if !ids.is_empty() {
            api.call(&format!("{object}.delete"), &json!(ids))?;
        }
    }
    Ok(())
}

fn make_hosts(
    api: &Api,
    hosts: usize,
    items: usize,
    context: &mut Context<'_>,
) -> anyhow::Result<Registered> {
    let item = |number: usize| {
        let key = key(number);
        let params = json!({ "name": key, "key_": key, "type": 2, "value_type": 3 });
        ItemSpec { params }
    };
    let wanted = Wanted {
        hosts,
        items: (0..items).map(item).collect(),
        through: Through::Template,
        interfaces: Vec::new(),
        snmp: None,
        trigger_every: 0,
    };
    let mut estate = Estate::prepare(api, wanted, context)?;
    let template = estate.made.template_name.clone();
    let trigger = |number: usize| {
        json!({
            "description": format!("{{HOST.HOST}} problem {number}"), "priority": 4, "type": 1,
            "expression": format!("last(/{template}/{})>0", key(number)),
        })
    };
    let triggers: Vec<Value> = (0..items).map(trigger).collect();
    api.create("trigger.create", &json!(triggers), "triggerids")?;
    estate.grow(api, hosts, context)?;
    Ok(estate.made)
}

/// Key of an item.
pub(super) fn key(number: usize) -> String {
    format!("bench.alert[{number}]")
}

/// Name of the problem of an item.
pub(super) fn problem(host: &str, number: usize) -> String {
    format!("{host} problem {number}")
}

fn media_type(api: &Api, name: &str, sessions: u32, sink: SocketAddr) -> anyhow::Result<String> {
    let parameter = |name: &str, value: &str| json!({ "name": name, "value": value });
    let params = json!({
        "name": name, "type": 4, "status": 0, "script": SCRIPT, "maxsessions": sessions,
        "timeout": format!("{TIMEOUT_S}s"),
        "parameters": [
            parameter("URL", &format!("http://{sink}/")), parameter("Name", "{EVENT.NAME}"),
            parameter("To", "{ALERT.SENDTO}"), parameter("Subject", "{ALERT.SUBJECT}"),
            parameter("Message", "{ALERT.MESSAGE}"),
        ],
        "message_templates": [
            { "eventsource": 0, "recovery": 0, "subject": SUBJECT, "message": MESSAGE }
        ],
    });
    create(api, "mediatype", "mediatypeids", &params)
}

fn host_group(api: &Api, made: &Registered) -> anyhow::Result<String> {
    let params = json!({ "output": ["groupid"], "hostids": made.hostids.first() });
    let found = api.call("hostgroup.get", &params)?;
    scalar_text(&found[0]["groupid"]).context("the hosts have no group")
}

fn create(api: &Api, object: &str, ids: &str, params: &Value) -> anyhow::Result<String> {
    let method = format!("{object}.create");
    let made = api.create(&method, params, ids)?.into_iter().next();
    made.with_context(|| format!("{method} gave no id"))
}

fn count(api: &Api, method: &str, params: &Value) -> anyhow::Result<u64> {
    let found = api.call(method, params)?;
    let number = scalar_text(&found).and_then(|text| text.parse().ok());
    number.with_context(|| format!("{method} gave {found} instead of a number"))
}
