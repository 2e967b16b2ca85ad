//! Commands of operations: their targets, and the alerts that stand for them.

use std::collections::{BTreeMap, BTreeSet};

use config::db::{DbResult, Reader, Value, query_by_ids};
use const_format::formatcp;
use model::HostId;
use objects::sql::{GROUP_OF_HOSTS, KIND_HOST};
use objects::{EventObject, ScriptType, Status};

use super::alerts::{Kind, NewAlert, NewCommand};
use super::configured::{Action, Command};
use super::events::Event;
use super::texts::Expand;
use super::turn::{About, Look};
use crate::commands::{self, NOT_IN_GROUP, Stored};
use crate::recipients::{Draft, Fate, Text};
use crate::text::{Quoting, Script};

const NO_HOST: &str = "Cannot find a corresponding host";
/// Hosts that are switched on.
const ON: &str = formatcp!("h.kind = {KIND_HOST} AND h.status = {}", Status::Enabled.text());

/// Where a command runs, or why it does not.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    /// With its technical name.
    host: Result<(u64, String), &'static str>,
}

impl Look<'_> {
    /// Makes an alert for each target of a command.
    pub(super) fn run(
        &mut self,
        connection: &mut dyn Reader,
        action: &Action,
        event: &Event,
        about: About,
        command: &Command,
    ) -> DbResult<()> {
        let mut scripts = commands::read(connection, &[command.script])?;
        let Some(script) = scripts.remove(&command.script) else { return Ok(()) };
        let targets = targets(connection, event, command)?;
        let templates = script.templates();
        let templates = templates.iter().map(|(_, template)| *template);
        let templates = Vec::from_iter(templates.chain([script.command.as_str()]));
        let subject = about.subject(action.id, event);
        let texts = self.turn.texts.about(connection, subject, &templates)?;
        let Some(texts) = texts else { return Ok(()) };
        let alerts = targets.iter().map(|target| {
            let fits = |host: u64| script.fits(self.turn.snapshot, HostId(host));
            let (host, name, error) = match &target.host {
                Ok((host, name)) if fits(*host) => (*host, name.as_str(), ""),
                Ok((host, name)) => (*host, name.as_str(), NOT_IN_GROUP),
                Err(why) => (0, "", *why),
            };
            let (shown, parameters) = expanded(&*texts, &script, host);
            let message = format!("{name}:{shown}");
            let (error, parameters) = match parameters {
                Ok(parameters) => (error.to_owned(), parameters),
                Err(why) => (why, Vec::new()),
            };
            let command = NewCommand { script: script.id, host, error };
            let draft = Draft { user: 0, address: None, text: Text::default(), fate: Fate::Send };
            let text = Text { subject: String::new(), message };
            NewAlert {
                kind: Kind::Command(command),
                parameters,
                ..about.alert(action.id, draft, text)
            }
        });
        let alerts = Vec::from_iter(alerts);
        self.changes.alerts.extend(alerts);
        Ok(())
    }
}

/// What users see of a command, and what is run.
fn expanded(
    texts: &dyn Expand,
    script: &Stored,
    host: u64,
) -> (String, Result<Vec<(String, String)>, String>) {
    let target = Some(HostId(host)).filter(|host| host.0 != 0);
    let expand = |template: &str, quoting: Quoting, shown: bool| {
        texts.command(template, &Script { target, quoting, shown, ..Script::default() })
    };
    let shown = match script.kind {
        ScriptType::Webhook => script.name.clone(),
        _ => expand(&script.command, script.quoting(), true),
    };
    (shown, script.texts(|template, quoting| expand(template, quoting, false)))
}

/// Each host once: that of the event first, the others by their ids. Hosts that are switched off are left out.
fn targets(connection: &mut dyn Reader, event: &Event, command: &Command) -> DbResult<Vec<Target>> {
    let mut targets = Vec::new();
    if command.current {
        targets.push(Target { host: current(connection, event)? });
    }
    let mut named: BTreeMap<u64, String> = BTreeMap::new();
    let groups = nested(connection, &command.groups)?;
    for (sql, ids) in [
        (
            formatcp!(
                "SELECT h.hostid AS hostid, h.host AS host FROM hosts h WHERE {ON} AND h.hostid IN ({{ids}})"
            ),
            &command.hosts,
        ),
        (
            formatcp!(
                "SELECT h.hostid AS hostid, h.host AS host FROM hosts h \
                 JOIN host_groups hg ON hg.hostid = h.hostid WHERE {ON} AND hg.groupid IN ({{ids}})"
            ),
            &groups,
        ),
    ] {
        let rows = query_by_ids(connection, sql, &[], ids)?;
        named.extend(rows.iter().map(|row| (row.id("hostid"), row.text("host").to_owned())));
    }
    for host in named {
        let target = Target { host: Ok(host) };
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    Ok(targets)
}

/// The host of the event. 7.0 runs nothing where there are several.
fn current(
    connection: &mut dyn Reader,
    event: &Event,
) -> DbResult<Result<(u64, String), &'static str>> {
    let (from, many) = match event.object {
        EventObject::Trigger => (
            "JOIN items i ON i.hostid = h.hostid JOIN functions f ON f.itemid = i.itemid \
             WHERE f.triggerid = ?",
            "Too many hosts in a trigger expression",
        ),
        EventObject::DiscoveredHost => (
            "JOIN interfaces i ON i.hostid = h.hostid JOIN dservices s ON s.ip = i.ip \
             WHERE s.dhostid = ?",
            "Too many hosts with same IP addresses",
        ),
        EventObject::DiscoveredService => (
            "JOIN interfaces i ON i.hostid = h.hostid JOIN dservices s ON s.ip = i.ip \
             WHERE s.dserviceid = ?",
            "Too many hosts with same IP addresses",
        ),
        EventObject::AutoregisteredHost => (
            "JOIN autoreg_hosts a ON a.host = h.host WHERE a.autoreg_hostid = ?",
            "Too many hosts with same host name",
        ),
        EventObject::Item | EventObject::LldRule => {
            ("JOIN items i ON i.hostid = h.hostid WHERE i.itemid = ?", NO_HOST)
        }
        _ => return Ok(Err(NO_HOST)),
    };
    let sql = format!(
        "SELECT DISTINCT h.hostid AS hostid, h.host AS host FROM hosts h {from} AND {ON} \
         ORDER BY hostid LIMIT 2"
    );
    let rows = connection.query(&sql, &[Value::from(event.object_id)])?;
    Ok(match rows.as_slice() {
        [] => Err(NO_HOST),
        [row] => Ok((row.id("hostid"), row.text("host").to_owned())),
        _ => Err(many),
    })
}

/// These host groups, and those that are nested in them.
fn nested(connection: &mut dyn Reader, groups: &[u64]) -> DbResult<Vec<u64>> {
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let sql = formatcp!("SELECT groupid, name FROM groups_ WHERE type = {GROUP_OF_HOSTS}");
    let rows = connection.query(sql, &[])?;
    let named = rows.iter().filter(|row| groups.contains(&row.id("groupid")));
    let above: Vec<&str> = named.map(|row| row.text("name")).collect();
    let is_below = |name: &str| {
        above.iter().any(|above| name.strip_prefix(above).is_some_and(|rest| rest.starts_with('/')))
    };
    let below = rows.iter().filter(|row| is_below(row.text("name"))).map(|row| row.id("groupid"));
    let all: BTreeSet<u64> = groups.iter().copied().chain(below).collect();
    Ok(Vec::from_iter(all))
}
