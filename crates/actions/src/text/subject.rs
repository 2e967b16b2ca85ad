//! Reads what an event is about.

use std::collections::BTreeSet;
use std::sync::Arc;

use config::Snapshot;
use config::db::{DbResult, Reader, Row, query_by_ids};
use const_format::formatcp;
use model::{EventOrigin, GroupId, HostId, ItemId, TriggerId};
use objects::sql::{OBJECT_TRIGGER, SOURCE_TRIGGER};
use objects::{DiscoveryCheckType, DiscoveryState};

use super::Needs;
use super::facts::{
    Agent, Counts, Device, DeviceService, Event, HostTexts, ItemTexts, Monitored, Right, Subject,
    Template, TriggerTexts,
};
use super::row::number;

/// Templates above each other that are followed.
const TEMPLATE_DEPTH_MAX: usize = 64;

pub(super) fn read_subject(
    c: &mut dyn Reader,
    snapshot: &Snapshot,
    event: &Event,
    needs: &Needs,
) -> DbResult<Subject> {
    let mut facts = match event.origin {
        EventOrigin::Trigger(id) | EventOrigin::InternalTrigger(id) => {
            let Some(trigger) = snapshot.triggers.get(&id) else { return Ok(Subject::Gone) };
            let functions = trigger.problem_functions();
            Monitored {
                trigger: Some(Arc::clone(trigger)),
                items: functions.iter().map(|f| snapshot.items.get(&f.item).cloned()).collect(),
                hosts: snapshot.hosts_of(trigger),
                ..Monitored::default()
            }
        }
        EventOrigin::InternalItem(id) | EventOrigin::InternalLldRule(id) => {
            let Some(item) = snapshot.items.get(&id) else { return Ok(Subject::Gone) };
            Monitored {
                items: vec![Some(Arc::clone(item))],
                hosts: vec![item.host],
                // The event's name is the error.
                error: event.name.clone(),
                ..Monitored::default()
            }
        }
        EventOrigin::DiscoveredHost(_) | EventOrigin::DiscoveredService(_) => {
            return Ok(read_device(c, event.origin)?.map_or(Subject::Gone, Subject::Device));
        }
        EventOrigin::AutoregisteredHost(id) => {
            return Ok(read_agent(c, id)?.map_or(Subject::Gone, Subject::Agent));
        }
        EventOrigin::Service(id) => {
            let service = super::service::read(c, snapshot, id, needs)?;
            return Ok(service.map_or(Subject::Gone, Subject::Service));
        }
    };
    add_texts(c, &mut facts, needs)?;
    if let Some(id) = facts.trigger.as_ref().map(|trigger| trigger.id) {
        add_of_trigger(c, &mut facts, id, needs)?;
    }
    if needs.rights {
        facts.rights = read_rights(c, snapshot, &facts)?;
    }
    Ok(Subject::Monitored(Box::new(facts)))
}

/// What the snapshot does not have of hosts and items.
fn add_texts(c: &mut dyn Reader, facts: &mut Monitored, needs: &Needs) -> DbResult<()> {
    if needs.item_texts {
        let ids: Vec<u64> = facts.items.iter().flatten().map(|item| item.id.0).collect();
        let sql = "SELECT itemid, name, key_, description FROM items WHERE itemid IN ({ids})";
        for row in query_by_ids(c, sql, &[], &ids)? {
            let texts = ItemTexts {
                name: row.text("name").to_owned(),
                key: row.text("key_").to_owned(),
                description: row.text("description").to_owned(),
            };
            facts.item_texts.insert(ItemId(row.id("itemid")), texts);
        }
    }
    if needs.host_texts {
        let ids: Vec<u64> = facts.hosts.iter().map(|id| id.0).collect();
        let sql = "SELECT h.hostid, h.description, COALESCE(p.name, '') AS proxy, \
                   COALESCE(p.description, '') AS proxy_description FROM hosts h \
                   LEFT JOIN proxies p ON p.proxyid = h.proxyid WHERE h.hostid IN ({ids})";
        for row in query_by_ids(c, sql, &[], &ids)? {
            let texts = HostTexts {
                description: row.text("description").to_owned(),
                proxy: row.text("proxy").to_owned(),
                proxy_description: row.text("proxy_description").to_owned(),
            };
            facts.host_texts.insert(HostId(row.id("hostid")), texts);
        }
    }
    Ok(())
}

/// What the snapshot does not have of the trigger.
fn add_of_trigger(
    c: &mut dyn Reader,
    facts: &mut Monitored,
    id: TriggerId,
    needs: &Needs,
) -> DbResult<()> {
    if needs.trigger_texts {
        let sql = "SELECT comments, url, url_name FROM triggers WHERE triggerid = ?";
        if let Some(row) = c.query(sql, &[id.0.into()])?.first() {
            facts.trigger_texts = TriggerTexts {
                comments: row.text("comments").to_owned(),
                url: row.text("url").to_owned(),
                url_name: row.text("url_name").to_owned(),
            };
        }
    }
    if needs.error {
        let sql = "SELECT error FROM trigger_states WHERE triggerid = ?";
        let rows = c.query(sql, &[id.0.into()])?;
        facts.error = rows.first().map_or_else(String::new, |row| row.text("error").to_owned());
    }
    if needs.counts {
        facts.counts = read_counts(c, id)?;
    }
    if needs.templates {
        facts.templates = read_templates(c, id)?;
    }
    Ok(())
}

fn read_counts(c: &mut dyn Reader, id: TriggerId) -> DbResult<Counts> {
    let sql = formatcp!(
        "SELECT value, acknowledged, COUNT(*) AS events FROM events \
         WHERE source = {SOURCE_TRIGGER} AND object = {OBJECT_TRIGGER} AND objectid = ? GROUP BY value, acknowledged"
    );
    let mut counts = Counts::default();
    for row in c.query(sql, &[id.0.into()])? {
        let events = row.id("events");
        let problem = row.int("value") == 1;
        if row.int("acknowledged") == 1 {
            counts.acknowledged += events;
            counts.problems_acknowledged += if problem { events } else { 0 };
        } else {
            counts.unacknowledged += events;
            counts.problems_unacknowledged += if problem { events } else { 0 };
        }
    }
    Ok(counts)
}

/// The templates whose trigger is the first of those that the trigger comes from.
fn read_templates(c: &mut dyn Reader, id: TriggerId) -> DbResult<Vec<Template>> {
    let mut first = id.0;
    for _ in 0..TEMPLATE_DEPTH_MAX {
        let sql = "SELECT templateid FROM triggers WHERE triggerid = ?";
        let above = c.query(sql, &[first.into()])?.first().map_or(0, |row| row.id("templateid"));
        if above == 0 {
            break;
        }
        first = above;
    }
    if first == id.0 {
        return Ok(Vec::new());
    }
    let sql = "SELECT DISTINCT h.hostid AS hostid, h.name AS name FROM functions f \
               JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid \
               WHERE f.triggerid = ?";
    let rows = c.query(sql, &[first.into()])?;
    let ids: Vec<u64> = rows.iter().map(|row| row.id("hostid")).collect();
    let sql = "SELECT hostid, groupid FROM host_groups WHERE hostid IN ({ids})";
    let groups = query_by_ids(c, sql, &[], &ids)?;
    let template = |row: &Row| Template {
        name: row.text("name").to_owned(),
        groups: groups
            .iter()
            .filter(|group| group.id("hostid") == row.id("hostid"))
            .map(|group| GroupId(group.id("groupid")))
            .collect(),
    };
    Ok(rows.iter().map(template).collect())
}

/// Who may read the groups of the hosts and templates.
fn read_rights(c: &mut dyn Reader, snapshot: &Snapshot, facts: &Monitored) -> DbResult<Vec<Right>> {
    let hosts = facts.hosts.iter().filter_map(|id| snapshot.hosts.get(id));
    let templates = facts.templates.iter().flat_map(|template| &template.groups);
    let groups: BTreeSet<u64> =
        hosts.flat_map(|host| host.groups.iter()).chain(templates).map(|id| id.0).collect();
    let sql = "SELECT usrgrpid, groupid, permission FROM group_rights WHERE groupid IN ({ids})";
    let rows = query_by_ids(c, sql, &[], &Vec::from_iter(groups))?;
    let right = |row: &Row| Right {
        user_group: row.id("usrgrpid"),
        group: GroupId(row.id("groupid")),
        reads: row.int("permission") > 0,
    };
    Ok(rows.iter().map(right).collect())
}

fn read_device(c: &mut dyn Reader, origin: EventOrigin) -> DbResult<Option<Device>> {
    let column = match origin {
        EventOrigin::DiscoveredService(_) => "s.dserviceid",
        _ => "s.dhostid",
    };
    let sql = format!(
        "SELECT r.name AS rule, s.ip, s.dns, s.port, s.status, s.lastup, s.lastdown, k.type, \
         d.status AS d_status, d.lastup AS d_lastup, d.lastdown AS d_lastdown \
         FROM dservices s JOIN dhosts d ON d.dhostid = s.dhostid \
         JOIN drules r ON r.druleid = d.druleid JOIN dchecks k ON k.dcheckid = s.dcheckid \
         WHERE {column} = ? ORDER BY s.dserviceid LIMIT 1"
    );
    let rows = c.query(&sql, &[origin.object_id().into()])?;
    let Some(row) = rows.first() else { return Ok(None) };
    let state = |status: &str, up: &str, down: &str| {
        let status = DiscoveryState::from_number(row.int(status)).unwrap_or(DiscoveryState::Down);
        (status, number(row, if status == DiscoveryState::Up { up } else { down }))
    };
    let (status, since) = state("d_status", "d_lastup", "d_lastdown");
    let of_service = matches!(origin, EventOrigin::DiscoveredService(_));
    let check = DiscoveryCheckType::from_number(row.int("type")).filter(|_| of_service);
    let service = check.map(|check| {
        let (status, since) = state("status", "lastup", "lastdown");
        let port = u16::try_from(row.int("port")).unwrap_or(0);
        DeviceService { check, port, status, since }
    });
    Ok(Some(Device {
        rule: row.text("rule").to_owned(),
        ip: row.text("ip").to_owned(),
        dns: row.text("dns").to_owned(),
        status,
        since,
        service,
    }))
}

fn read_agent(c: &mut dyn Reader, id: u64) -> DbResult<Option<Agent>> {
    let sql = "SELECT host, listen_ip, listen_port, host_metadata FROM autoreg_hosts \
               WHERE autoreg_hostid = ?";
    let rows = c.query(sql, &[id.into()])?;
    Ok(rows.first().map(|row| Agent {
        host: row.text("host").to_owned(),
        ip: row.text("listen_ip").to_owned(),
        port: u16::try_from(row.int("listen_port")).unwrap_or(0),
        metadata: row.text("host_metadata").to_owned(),
    }))
}
