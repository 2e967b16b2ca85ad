//! Hosts and services of the network: which are there, since when, and what has changed.

use config::table;
use std::collections::BTreeMap;

use config::Edit;
use config::db::{DbResult, Reader, Row, Value};
use const_format::formatcp;
use model::{DiscoveryResult, EventOrigin, NewEvent, SeenAddress, SeenService, Timestamp};
use objects::DiscoveryState as State;
use objects::sql::STATUS_ENABLED;

/// What a batch has to know of its rules; `None` = the rule is gone or switched off.
#[derive(Debug, Default)]
pub(super) struct Rules(BTreeMap<u64, Option<Rule>>);

#[derive(Debug, Clone)]
struct Rule {
    checks: Vec<u64>,
    /// Hosts are told apart by this check's value instead of by address.
    unique: Option<u64>,
}

impl Rules {
    fn of(&mut self, edit: &mut Edit<'_>, id: u64) -> DbResult<Option<Rule>> {
        if let Some(known) = self.0.get(&id) {
            return Ok(known.clone());
        }
        let rows = edit.query(
            formatcp!(
                "SELECT c.dcheckid, c.uniq FROM dchecks c JOIN drules r ON r.druleid = c.druleid \
             WHERE r.status = {STATUS_ENABLED} AND r.druleid = ? ORDER BY c.dcheckid"
            ),
            &[id.into()],
        )?;
        let unique = rows.iter().find(|row| row.int("uniq") == 1).map(|row| row.id("dcheckid"));
        let checks: Vec<u64> = rows.iter().map(|row| row.id("dcheckid")).collect();
        let rule = (!checks.is_empty()).then_some(Rule { checks, unique });
        self.0.insert(id, rule.clone());
        Ok(rule)
    }
}

/// The results that change something: an address where nothing is and nothing was does not.
pub fn worth<'s>(
    connection: &mut dyn Reader,
    results: &'s [DiscoveryResult],
) -> DbResult<Vec<&'s DiscoveryResult>> {
    let mut wanted = Vec::new();
    for result in results {
        let worth = match result {
            DiscoveryResult::Address(seen) => {
                let sql = "SELECT s.dserviceid FROM dservices s \
                           JOIN dhosts h ON h.dhostid = s.dhostid \
                           WHERE s.ip = ? AND h.druleid = ? LIMIT 1";
                let params = [seen.ip.to_string().into(), seen.rule.into()];
                seen.services.iter().any(|service| service.up)
                    || !connection.query(sql, &params)?.is_empty()
            }
            DiscoveryResult::Round { rule, error } => {
                let sql = "SELECT druleid FROM drules WHERE druleid = ? AND error <> ?";
                !connection.query(sql, &[(*rule).into(), error.as_str().into()])?.is_empty()
            }
            DiscoveryResult::Agent(_) => true,
            DiscoveryResult::End => false,
        };
        if worth {
            wanted.push(result);
        }
    }
    Ok(wanted)
}

/// A round of a rule is over, or cannot begin.
pub(super) fn round(edit: &mut Edit<'_>, rule: u64, error: &str) -> DbResult<()> {
    edit.update(&table::DRULES, rule, &[("error", error.into())])
}

/// Keeps what was found at one address.
pub(super) fn address(
    edit: &mut Edit<'_>,
    rules: &mut Rules,
    seen: &SeenAddress,
    events: &mut Vec<NewEvent>,
) -> DbResult<()> {
    let Some(rule) = rules.of(edit, seen.rule)? else { return Ok(()) };
    let ip = seen.ip.to_string();
    // The rule may have been changed while it looked.
    let services: Vec<&SeenService> =
        seen.services.iter().filter(|service| rule.checks.contains(&service.check)).collect();
    let known = edit.query(
        "SELECT s.* FROM dservices s JOIN dhosts h ON h.dhostid = s.dhostid \
         WHERE h.druleid = ? AND s.ip = ? ORDER BY s.dserviceid",
        &[seen.rule.into(), ip.as_str().into()],
    )?;
    let up = services.iter().any(|service| service.up);
    let Some(host) = host_of(edit, &rule, seen, &services, &known, up)? else { return Ok(()) };
    let mut left = false;
    for service in services {
        let row = known.iter().find(|row| {
            row.id("dcheckid") == service.check && row.int("port") == i64::from(service.port)
        });
        if let Some(row) = row
            && row.id("dhostid") != host
        {
            edit.update(&table::DSERVICES, row.id("dserviceid"), &[("dhostid", host.into())])?;
            left = true;
        }
        keep_service(edit, seen, &ip, host, service, row, events)?;
    }
    if left {
        // Who had this address before, and nothing else, is nobody any more.
        let sql = "SELECT dhostid FROM dhosts WHERE druleid = ? AND NOT EXISTS \
                   (SELECT 1 FROM dservices s WHERE s.dhostid = dhosts.dhostid)";
        let rows = edit.query(sql, &[seen.rule.into()])?;
        let gone: Vec<u64> = rows.iter().map(|row| row.id("dhostid")).collect();
        edit.delete(&table::DHOSTS, "dhostid", &gone)?;
    }
    let row = edit.query("SELECT * FROM dhosts WHERE dhostid = ?", &[host.into()])?;
    if let Some(row) = row.first() {
        pass(edit, EventOrigin::DiscoveredHost(host), row, up, seen.at, events)?;
    }
    Ok(())
}

/// The host of the address, made where there is none and something is up.
fn host_of(
    edit: &mut Edit<'_>,
    rule: &Rule,
    seen: &SeenAddress,
    services: &[&SeenService],
    known: &[Row],
    up: bool,
) -> DbResult<Option<u64>> {
    let unique = services.iter().find(|service| service.up && Some(service.check) == rule.unique);
    let found = match unique {
        Some(service) => {
            let rows = edit.query(
                "SELECT dhostid FROM dservices WHERE dcheckid = ? AND value = ? \
                 ORDER BY dserviceid LIMIT 1",
                &[service.check.into(), service.value.as_str().into()],
            )?;
            rows.first().map(|row| row.id("dhostid"))
        }
        None => known.first().map(|row| row.id("dhostid")),
    };
    if found.is_some() || !up {
        return Ok(found);
    }
    // What has not been up yet counts as down.
    let row = [("druleid", seen.rule.into()), ("status", Value::from(State::Down.number()))];
    edit.insert_new(&table::DHOSTS, &row).map(Some)
}

/// Keeps one service; one that was never up is not kept.
fn keep_service(
    edit: &mut Edit<'_>,
    seen: &SeenAddress,
    ip: &str,
    host: u64,
    service: &SeenService,
    row: Option<&Row>,
    events: &mut Vec<NewEvent>,
) -> DbResult<()> {
    let new;
    let row = match row {
        Some(row) => row,
        None if !service.up => return Ok(()),
        None => {
            let columns = [
                ("dhostid", Value::from(host)),
                ("port", u32::from(service.port).into()),
                ("status", Value::from(State::Down.number())),
                ("dcheckid", service.check.into()),
                ("ip", ip.into()),
            ];
            let id = edit.insert_new(&table::DSERVICES, &columns)?;
            new = edit.query("SELECT * FROM dservices WHERE dserviceid = ?", &[id.into()])?;
            let Some(row) = new.first() else { return Ok(()) };
            row
        }
    };
    let id = row.id("dserviceid");
    let differs = row.text("value") != service.value || row.text("dns") != seen.dns;
    if service.up && differs {
        let told = [("value", service.value.as_str().into()), ("dns", seen.dns.as_str().into())];
        edit.update(&table::DSERVICES, id, &told)?;
    }
    pass(edit, EventOrigin::DiscoveredService(id), row, service.up, seen.at, events)
}

/// A host or a service, `row` as it was, is up or down now: keeps since when, and makes events.
fn pass(
    edit: &mut Edit<'_>,
    origin: EventOrigin,
    row: &Row,
    up: bool,
    at: Timestamp,
    events: &mut Vec<NewEvent>,
) -> DbResult<()> {
    let was_up = State::Up.is(row.int("status"));
    let is_host = matches!(origin, EventOrigin::DiscoveredHost(_));
    let table = if is_host { &table::DHOSTS } else { &table::DSERVICES };
    let (state, changed, event) = if up {
        (State::Up, !was_up || row.int("lastup") == 0, State::Discovered)
    } else {
        (State::Down, was_up || row.int("lastdown") == 0, State::Lost)
    };
    let mut tell = |state: State| events.push(NewEvent { origin, at, value: state.number() });
    if changed {
        let (since_up, since_down) = if up { (at.clock, 0) } else { (0, at.clock) };
        let columns = [
            ("status", Value::from(state.number())),
            ("lastup", since_up.into()),
            ("lastdown", since_down.into()),
        ];
        edit.update(table, origin.object_id(), &columns)?;
        tell(event);
    }
    tell(state);
    Ok(())
}
