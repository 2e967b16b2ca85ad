//! Scripts as they are configured, and what is to be run of them on a host.

use std::collections::BTreeMap;
use std::time::Duration;

use config::Snapshot;
use config::db::{DbResult, Reader, Row, query_by_ids};
use eval::macros::{FunctionEnv, MacroScope, TokenKind, substitute};
use eval::num::parse_seconds;
use model::command::{CommandKind, Remote, Task, Work};
use model::{EventId, GroupId, HostId};
use objects::{ExecuteOn, ScriptType};

use crate::text::{PARAMETER_BYTES_MAX, Person, Quoting, Script};
use crate::{Subject, Texts};

/// A script as it is stored.
#[derive(Clone)]
pub struct Stored {
    /// `scriptid`.
    pub id: u64,
    /// What users see in menus, without the path.
    pub name: String,
    /// What it is.
    pub kind: ScriptType,
    /// Where shell commands run.
    pub execute_on: ExecuteOn,
    /// Host group on which it runs, with its name; `None` = all.
    group: Option<(GroupId, String)>,
    /// The command or the JavaScript, with macros.
    pub command: String,
    /// Names and values of a webhook, with macros.
    pub parameters: Vec<(String, String)>,
    timeout: String,
    port: String,
    login: Login,
}

/// Credentials, with user macros.
#[derive(Clone)]
struct Login {
    by_key: bool,
    username: String,
    password: String,
    public_key: String,
    private_key: String,
}

/// Passwords are in no log.
impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stored")
            .field("id", &self.id)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// Why a script is not run on a host.
pub const NOT_IN_GROUP: &str = "Script does not have permission to be executed on the host.";
/// A text of a script got too long to be run.
pub const TOO_LONG: &str = "The command is too long.";
const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(30);

impl Stored {
    fn from_row(row: &Row) -> Option<Self> {
        let text = |name: &str| row.text(name).to_owned();
        Some(Self {
            id: row.id("scriptid"),
            name: text("name"),
            kind: ScriptType::from_number(row.int("type"))?,
            execute_on: ExecuteOn::from_number(row.int("execute_on"))?,
            group: Some((GroupId(row.id("groupid")), text("group_name")))
                .filter(|(id, _)| id.0 != 0),
            command: row.text("command").replace("\r\n", "\n"),
            parameters: Vec::new(),
            timeout: text("timeout"),
            port: text("port"),
            login: Login {
                by_key: row.int("authtype") == 1,
                username: text("username"),
                password: text("password"),
                public_key: text("publickey"),
                private_key: text("privatekey"),
            },
        })
    }

    /// The kind of its commands; `None` = it is not run.
    pub const fn command_kind(&self) -> Option<CommandKind> {
        Some(match (self.kind, self.execute_on) {
            (ScriptType::Shell, ExecuteOn::Agent) => CommandKind::Agent,
            (ScriptType::Shell, _) => CommandKind::Server,
            (ScriptType::Ipmi, _) => CommandKind::Ipmi,
            (ScriptType::Ssh, _) => CommandKind::Ssh,
            (ScriptType::Telnet, _) => CommandKind::Telnet,
            (ScriptType::Webhook, _) => CommandKind::Webhook,
            (ScriptType::Url, _) => return None,
        })
    }

    /// How values stand in its command.
    pub const fn quoting(&self) -> Quoting {
        match self.kind {
            ScriptType::Shell => Quoting::Shell,
            ScriptType::Ssh | ScriptType::Telnet | ScriptType::Ipmi => Quoting::Terminal,
            ScriptType::Webhook | ScriptType::Url => Quoting::None,
        }
    }

    /// The texts that have macros.
    pub fn templates(&self) -> Vec<(&str, &str)> {
        match self.kind {
            ScriptType::Webhook => self
                .parameters
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str()))
                .collect(),
            _ => vec![("", self.command.as_str())],
        }
    }

    /// These texts, expanded for a host; of a webhook the values of its parameters. `expand` gets one template.
    pub fn texts(
        &self,
        expand: impl Fn(&str, Quoting) -> String,
    ) -> Result<Vec<(String, String)>, String> {
        let one = |(name, value): (&str, &str)| {
            let value = expand(value, self.quoting());
            if value.len() >= PARAMETER_BYTES_MAX {
                return Err(TOO_LONG.to_owned());
            }
            Ok((name.to_owned(), value))
        };
        self.templates().into_iter().map(one).collect()
    }

    /// Whether it may run on a host, by its host group or one that is nested in it.
    pub fn fits(&self, snapshot: &Snapshot, host: HostId) -> bool {
        let Some((group, name)) = &self.group else { return true };
        let Some(host) = snapshot.hosts.get(&host) else { return false };
        let below = |own: &str| own.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
        host.groups.contains(group) || host.group_names.iter().any(|own| below(own))
    }

    /// What is to be run on a host, with [`Stored::texts`]. `wait`: the output is wanted.
    pub fn task(
        &self,
        snapshot: &Snapshot,
        host: HostId,
        texts: Vec<(String, String)>,
        wait: bool,
    ) -> Result<Task, String> {
        let hosts = [host];
        let scope = MacroScope { nodes: &*snapshot.macros, hosts: &hosts };
        let kind = self.command_kind().ok_or("Cannot execute URL type script.")?;
        let of_webhook = kind == CommandKind::Webhook;
        let command =
            || texts.first().map(|(_, value)| value.trim().to_owned()).unwrap_or_default();
        if !of_webhook && command().is_empty() {
            return Err("Script command is empty.".to_owned());
        }
        let work = match kind {
            CommandKind::Agent => Work::Agent { command: command(), wait },
            CommandKind::Server => Work::Server { command: command() },
            CommandKind::Ipmi => Work::Ipmi { command: command() },
            CommandKind::Ssh => Work::Ssh(self.remote(&scope, command())?),
            CommandKind::Telnet => Work::Telnet(self.remote(&scope, command())?),
            CommandKind::Webhook => {
                let timeout = plain(&scope, &self.timeout);
                let timeout = parse_seconds(&timeout).map(|s| Duration::from_secs(s.into()));
                let timeout = timeout.filter(|time| !time.is_zero()).unwrap_or(WEBHOOK_TIMEOUT);
                Work::Webhook { script: self.command.clone(), parameters: texts, timeout }
            }
        };
        Ok(Task { host, work })
    }

    fn remote(&self, scope: &MacroScope<'_>, command: String) -> Result<Remote, String> {
        let port = plain(scope, &self.port);
        let number = port.parse().ok();
        if number.is_none() && !port.is_empty() {
            return Err(format!("Invalid port number \"{port}\"."));
        }
        let login = &self.login;
        let keys = || (plain(scope, &login.public_key), plain(scope, &login.private_key));
        Ok(Remote {
            command,
            port: number.filter(|port| *port != 0),
            username: plain(scope, &login.username),
            password: plain(scope, &login.password),
            keys: login.by_key.then(keys),
        })
    }
}

/// User macros as they are.
fn plain(scope: &MacroScope<'_>, text: &str) -> String {
    let script = Script::default();
    let env = FunctionEnv { tz: &jiff::tz::TimeZone::UTC };
    substitute(text, &env, &mut |token| match &token.kind {
        TokenKind::User(wanted) => script.user_macro(scope, wanted),
        _ => None,
    })
}

/// Scripts by id; those that were deleted are missing.
pub fn read(connection: &mut dyn Reader, ids: &[u64]) -> DbResult<BTreeMap<u64, Stored>> {
    let sql = "SELECT s.*, COALESCE(g.name, '') AS group_name FROM scripts s \
               LEFT JOIN groups_ g ON g.groupid = s.groupid WHERE s.scriptid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[], ids)?;
    let mut scripts: BTreeMap<u64, Stored> =
        rows.iter().filter_map(Stored::from_row).map(|script| (script.id, script)).collect();
    let sql = "SELECT scriptid, name, value FROM script_params WHERE scriptid IN ({ids}) \
               ORDER BY scriptid, position";
    for row in query_by_ids(connection, sql, &[], ids)? {
        if let Some(script) = scripts.get_mut(&row.id("scriptid")) {
            script.parameters.push((row.text("name").to_owned(), row.text("value").to_owned()));
        }
    }
    Ok(scripts)
}

/// What a user runs a script on.
#[derive(Debug, Clone)]
pub struct Occasion<'a> {
    /// Where it runs, and whose macros it has.
    pub host: HostId,
    /// The event, with the one that ended its problem.
    pub event: Option<(EventId, Option<EventId>)>,
    /// Who runs it.
    pub user: &'a Person,
    /// What the user typed.
    pub input: Option<&'a str>,
}

impl Occasion<'_> {
    /// Expands templates, each with its quoting; `shown`: secrets are hidden. `None` = the event was deleted.
    pub fn expand(
        &self,
        connection: &mut dyn Reader,
        texts: &dyn Texts,
        snapshot: &Snapshot,
        templates: &[(&str, Quoting)],
        shown: bool,
    ) -> DbResult<Option<Vec<String>>> {
        let script = |quoting: Quoting| Script {
            target: Some(self.host),
            quoting,
            shown,
            user: Some(self.user),
            input: self.input,
        };
        let Some((event, recovery)) = self.event else {
            let one = |(text, quoting): &(&str, Quoting)| script(*quoting).on_host(text, snapshot);
            return Ok(Some(templates.iter().map(one).collect()));
        };
        let recovery = recovery.map(|id| id.0);
        let subject =
            Subject { action: 0, event: event.0, recovery, update: None, status_changed: false };
        let all: Vec<&str> = templates.iter().map(|(text, _)| *text).collect();
        let Some(texts) = texts.about(connection, subject, &all)? else { return Ok(None) };
        let one = |(text, quoting): &(&str, Quoting)| texts.command(text, &script(*quoting));
        Ok(Some(templates.iter().map(one).collect()))
    }
}

/// A user by id.
pub fn person(connection: &mut dyn Reader, user: u64) -> DbResult<Option<Person>> {
    let sql = "SELECT userid, username, name, surname FROM users WHERE userid = ?";
    let rows = connection.query(sql, &[user.into()])?;
    Ok(rows.first().map(|row| Person {
        id: row.id("userid"),
        username: row.text("username").to_owned(),
        name: row.text("name").to_owned(),
        surname: row.text("surname").to_owned(),
        groups: Vec::new(),
    }))
}
