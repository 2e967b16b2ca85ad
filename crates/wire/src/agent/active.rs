//! Active checks: the agent asks what to measure, the server answers with a list.
//!
//! Shapes and version differences measured against a 7.0.22 server.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::json;

use crate::agent::{PORT, passive::parse_seconds};
use crate::message::{Members, MessageError, Version};
use crate::sender::check_session;

/// The request `active checks`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActiveChecks<'a> {
    /// Technical host name.
    pub host: Cow<'a, str>,
    /// For autoregistration; empty = none.
    pub host_metadata: Cow<'a, str>,
    /// IP address or DNS name the agent wants to be polled at; empty = none.
    pub interface: Cow<'a, str>,
    /// The agent's listen address; empty = none.
    pub ip: Cow<'a, str>,
    /// The agent's listen port; `None` = [`PORT`].
    pub port: Option<u16>,
    /// Revision of the list that the agent has; 0 = none.
    pub config_revision: u64,
    /// 32 characters that change when the agent starts; empty = none.
    pub session: Cow<'a, str>,
    /// The agent's version as it tells it; empty = none.
    pub version: Cow<'a, str>,
    /// 1 = agent, 2 = agent 2.
    pub variant: u8,
}

impl<'a> ActiveChecks<'a> {
    /// Reads the request.
    pub fn parse(text: &'a str) -> Result<Self, MessageError> {
        let members = Members::parse(text)?;
        let of = |name| members.text(name).unwrap_or_default();
        let request = Self {
            host: members.text("host").ok_or(MessageError::Missing("host"))?,
            host_metadata: of("host_metadata"),
            interface: of("interface"),
            ip: of("ip"),
            port: port(&members)?,
            config_revision: members.number("config_revision").unwrap_or(0),
            session: of("session"),
            version: of("version"),
            variant: members.number("variant").and_then(|v| u8::try_from(v).ok()).unwrap_or(1),
        };
        check_session(&request.session)?;
        Ok(request)
    }

    /// The port to poll the agent at.
    pub fn port(&self) -> u16 {
        self.port.unwrap_or(PORT)
    }

    /// The version to answer for.
    pub fn version(&self) -> Version {
        Version::parse(&self.version)
    }

    /// Writes the request, as an agent does.
    pub fn encode(&self) -> String {
        let mut json = json!({ "request": "active checks", "host": self.host });
        for (name, value) in [
            ("host_metadata", &self.host_metadata),
            ("interface", &self.interface),
            ("ip", &self.ip),
        ] {
            if !value.is_empty() {
                json[name] = json!(value);
            }
        }
        if let Some(port) = self.port.filter(|port| *port != PORT) {
            json["port"] = json!(port);
        }
        json["config_revision"] = json!(self.config_revision);
        json["session"] = json!(self.session);
        json["version"] = json!(self.version);
        json["variant"] = json!(self.variant);
        json.to_string()
    }
}

fn port(members: &Members<'_>) -> Result<Option<u16>, MessageError> {
    let Some(text) = members.text("port") else { return Ok(None) };
    match text.parse() {
        Ok(0) | Err(_) => Err(MessageError::Port(text.into_owned())),
        Ok(port) => Ok(Some(port)),
    }
}

/// One item of the list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActiveItem<'a> {
    /// Item key with macros resolved.
    pub key: Cow<'a, str>,
    /// Item id; 0 from servers that do not tell it.
    pub itemid: u64,
    /// Update interval with suffixes and flexible parts, macros resolved.
    pub delay: Cow<'a, str>,
    /// Where the agent goes on in a log file, bytes.
    pub lastlogsize: u64,
    /// Modification time of the log file, seconds since 1970.
    pub mtime: u64,
    /// With unit, `3s`; empty = the agent's own.
    pub timeout: Cow<'a, str>,
}

impl ActiveItem<'_> {
    /// The interval before flexible and scheduling parts, for agents before 4.4.
    fn delay_s(&self) -> u64 {
        self.delay.split(';').next().and_then(parse_seconds).unwrap_or(0)
    }
}

/// One expression of a global regular expression that a log item names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalRegexp<'a> {
    /// Name without `@`.
    pub name: Cow<'a, str>,
    pub expression: Cow<'a, str>,
    /// 0 included, 1 any included, 2 not included, 3 true, 4 false.
    pub expression_type: u8,
    /// Separates the texts of type 1.
    pub exp_delimiter: char,
    /// Letters differ by case.
    pub case_sensitive: bool,
}

/// A remote command for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteCommand<'a> {
    /// Comes back with the result.
    pub id: u64,
    /// The command line.
    pub command: Cow<'a, str>,
    /// Wait for its output.
    pub wait: bool,
}

/// The list of a host.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActiveList<'a> {
    /// Revision of this list.
    pub config_revision: u64,
    pub items: Vec<ActiveItem<'a>>,
    /// The global regular expressions that the items name.
    pub regexps: Vec<GlobalRegexp<'a>>,
}

/// The answer to `active checks`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActiveAnswer<'a> {
    /// A list, or none because session and revision show that the agent has it.
    Success {
        /// `None` = unchanged.
        list: Option<ActiveList<'a>>,
        /// Commands to run.
        commands: Vec<RemoteCommand<'a>>,
        /// The server is full: keep values.
        upload_disabled: bool,
    },
    /// Refused, and why.
    Failed(Cow<'a, str>),
}

/// Does the agent already have the list? True if its session is the one last seen for the host
/// and its revision is not older than the list's.
pub fn is_unchanged(request: &ActiveChecks<'_>, known_session: &str, list_revision: u64) -> bool {
    !request.session.is_empty()
        && request.session == known_session
        && request.config_revision != 0
        && request.config_revision >= list_revision
}

/// Why that is not a name of a host.
pub fn wrong_name(host: &str) -> Option<String> {
    let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ');
    let wrong = host.chars().find(|c| !fits(c))?;
    Some(format!("invalid host name [{host}]: name contains invalid character '{wrong}'"))
}

/// The info of a refusal because of an unknown host.
pub fn host_not_found(host: &str) -> String {
    format!("host [{host}] not found")
}

impl<'a> ActiveAnswer<'a> {
    /// Writes the answer for an agent of `version`.
    pub fn encode(&self, version: Version) -> String {
        let (list, commands, upload_disabled) = match self {
            Self::Failed(info) => return crate::message::failed(info),
            Self::Success { list, commands, upload_disabled } => (list, commands, upload_disabled),
        };
        let mut json = json!({ "response": "success" });
        if *upload_disabled {
            json["upload"] = json!("disabled");
        }
        if let Some(list) = list {
            json["config_revision"] = json!(list.config_revision);
            json["data"] = list.items.iter().map(|item| item_json(item, version)).collect();
            if version == Version::new(4, 4) || version == Version::new(5, 0) {
                json["refresh_unsupported"] = json!(600);
            }
            if !list.regexps.is_empty() {
                json["regexp"] = list.regexps.iter().map(regexp_json).collect();
            }
        }
        if !commands.is_empty() {
            json["commands"] = commands
                .iter()
                .map(|c| json!({ "command": c.command, "id": c.id, "wait": u8::from(c.wait) }))
                .collect();
        }
        json.to_string()
    }

    /// The answer to the text request `ZBX_GET_ACTIVE_CHECKS`: sent without a frame.
    pub fn encode_old_text(items: &[ActiveItem<'_>]) -> String {
        let mut out = String::new();
        for item in items {
            let _ = writeln!(out, "{}:{}:{}", item.key, item.delay_s(), item.lastlogsize);
        }
        out.push_str("ZBX_EOF\n");
        out
    }

    /// Reads an answer, as an agent does.
    pub fn parse(text: &'a str) -> Result<Self, MessageError> {
        let members = Members::parse(text)?;
        match members.text("response").as_deref() {
            Some("success") => (),
            Some("failed") => {
                return Ok(Self::Failed(members.text("info").unwrap_or_default()));
            }
            _ => return Err(MessageError::Missing("response")),
        }
        let list = match members.raw("data") {
            None => None,
            Some(_) => Some(ActiveList {
                config_revision: members.number("config_revision").unwrap_or(0),
                items: rows(&members, "data")?.iter().filter_map(parse_item).collect(),
                regexps: rows(&members, "regexp")?.iter().filter_map(parse_regexp).collect(),
            }),
        };
        Ok(Self::Success {
            list,
            commands: rows(&members, "commands")?.iter().filter_map(parse_command).collect(),
            upload_disabled: members.text("upload").as_deref() == Some("disabled"),
        })
    }
}

fn item_json(item: &ActiveItem<'_>, version: Version) -> serde_json::Value {
    let mut json = json!({ "key": item.key });
    if version >= Version::WITH_ITEMID {
        json["itemid"] = json!(item.itemid);
        json["delay"] = json!(item.delay);
    } else {
        json["delay"] = json!(item.delay_s());
    }
    json["lastlogsize"] = json!(item.lastlogsize);
    json["mtime"] = json!(item.mtime);
    if !item.timeout.is_empty() {
        json["timeout"] = json!(item.timeout);
    }
    json
}

fn regexp_json(regexp: &GlobalRegexp<'_>) -> serde_json::Value {
    json!({
        "name": regexp.name,
        "expression": regexp.expression,
        "expression_type": regexp.expression_type,
        "exp_delimiter": regexp.exp_delimiter,
        "case_sensitive": u8::from(regexp.case_sensitive),
    })
}

fn rows<'a>(members: &Members<'a>, name: &str) -> Result<Vec<Members<'a>>, MessageError> {
    members.raw(name).map_or_else(
        || Ok(Vec::new()),
        |raw| serde_json::from_str(raw.get()).map_err(|error| MessageError::not_json(&error)),
    )
}

fn parse_item<'a>(row: &Members<'a>) -> Option<ActiveItem<'a>> {
    Some(ActiveItem {
        key: row.text("key")?,
        itemid: row.number("itemid").unwrap_or(0),
        delay: row.text("delay")?,
        lastlogsize: row.number("lastlogsize").unwrap_or(0),
        mtime: row.number("mtime").unwrap_or(0),
        timeout: row.text("timeout").unwrap_or_default(),
    })
}

fn parse_regexp<'a>(row: &Members<'a>) -> Option<GlobalRegexp<'a>> {
    Some(GlobalRegexp {
        name: row.text("name")?,
        expression: row.text("expression")?,
        expression_type: u8::try_from(row.number("expression_type")?).ok()?,
        exp_delimiter: row.text("exp_delimiter")?.chars().next().unwrap_or(','),
        case_sensitive: row.number("case_sensitive") == Some(1),
    })
}

fn parse_command<'a>(row: &Members<'a>) -> Option<RemoteCommand<'a>> {
    Some(RemoteCommand {
        id: row.number("id")?,
        command: row.text("command")?,
        wait: row.number("wait") == Some(1),
    })
}

/// The message `active check heartbeat`; there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat<'a> {
    /// Technical host name.
    pub host: Cow<'a, str>,
    /// Seconds until the next one.
    pub heartbeat_freq: u32,
    /// The agent's version as it tells it; empty = none.
    pub version: Cow<'a, str>,
    /// 1 = agent, 2 = agent 2.
    pub variant: u8,
}

impl<'a> Heartbeat<'a> {
    /// Reads the message.
    pub fn parse(text: &'a str) -> Result<Self, MessageError> {
        let members = Members::parse(text)?;
        Ok(Self {
            host: members.text("host").ok_or(MessageError::Missing("host"))?,
            heartbeat_freq: members
                .number("heartbeat_freq")
                .and_then(|seconds| u32::try_from(seconds).ok())
                .ok_or(MessageError::Missing("heartbeat_freq"))?,
            version: members.text("version").unwrap_or_default(),
            variant: members.number("variant").and_then(|v| u8::try_from(v).ok()).unwrap_or(1),
        })
    }

    /// Writes the message, as an agent does.
    pub fn encode(&self) -> String {
        json!({
            "request": "active check heartbeat",
            "host": self.host,
            "heartbeat_freq": self.heartbeat_freq,
            "version": self.version,
            "variant": self.variant,
        })
        .to_string()
    }
}

/// A value that an active agent sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentValue {
    /// The item.
    pub itemid: u64,
    /// The value, or why there is none.
    pub value: Result<String, String>,
    /// Number of the value within the session, from 1.
    pub id: u64,
    /// When.
    pub at: crate::Moment,
}

/// Writes `agent data`, as an agent does.
pub fn encode_agent_data(
    host: &str,
    session: &str,
    version: &str,
    values: &[AgentValue],
    now: crate::Moment,
) -> String {
    let row = |value: &AgentValue| {
        let mut row = json!({ "itemid": value.itemid });
        match &value.value {
            Ok(text) => row["value"] = json!(text),
            Err(reason) => {
                row["value"] = json!(reason);
                row["state"] = json!(1);
            }
        }
        row["id"] = json!(value.id);
        row["clock"] = json!(value.at.clock);
        row["ns"] = json!(value.at.ns);
        row
    };
    json!({
        "request": "agent data",
        "session": session,
        "version": version,
        "variant": 1,
        "host": host,
        "data": values.iter().map(row).collect::<Vec<_>>(),
        "clock": now.clock,
        "ns": now.ns,
    })
    .to_string()
}
