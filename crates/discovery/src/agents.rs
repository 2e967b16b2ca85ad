//! Active agents that announce themselves.

use config::Edit;
use config::db::{DbResult, Value};
use config::table;
use const_format::formatcp;
use model::{EventOrigin, NewEvent, SeenAgent};
use objects::sql::KIND_HOST;

/// An agent without a host that repeats itself makes an event only after this time, as with 7.0.
const REPEATED_AFTER_S: u32 = 120;

/// Keeps what an agent told of itself, and makes an event where there is no such host, or where the
/// agent tells something else than before.
pub(super) fn agent(
    edit: &mut Edit<'_>,
    seen: &SeenAgent,
    events: &mut Vec<NewEvent>,
) -> DbResult<()> {
    let columns = [
        ("host_metadata", Value::from(seen.metadata.as_str())),
        ("listen_ip", seen.ip.as_str().into()),
        ("listen_dns", seen.dns.as_str().into()),
        ("listen_port", u32::from(seen.port).into()),
        ("flags", seen.interface.into()),
        ("tls_accepted", seen.tls.into()),
    ];
    let sql = "SELECT * FROM autoreg_hosts WHERE host = ?";
    let rows = edit.query(sql, &[seen.host.as_str().into()])?;
    let id = match rows.first() {
        Some(row) => {
            let id = row.id("autoreg_hostid");
            // Where the agent has not chosen its address, another one is no news.
            let told = |name: &str| match seen.interface {
                0 => ["host_metadata", "flags"].contains(&name),
                1 => name != "listen_dns" && name != "tls_accepted",
                _ => name != "tls_accepted",
            };
            let mut told = columns.iter().filter(|(name, _)| told(name));
            let same = told.all(|(name, value)| row.get(name) == Some(value));
            if same && (known(edit, &seen.host)? || is_recent(edit, id, seen.at.clock)?) {
                return Ok(());
            }
            if !same {
                edit.update(&table::AUTOREG_HOSTS, id, &columns)?;
            }
            id
        }
        None => {
            let mut row = vec![("host", Value::from(seen.host.as_str()))];
            row.extend(columns);
            edit.insert_new(&table::AUTOREG_HOSTS, &row)?
        }
    };
    events.push(NewEvent { origin: EventOrigin::AutoregisteredHost(id), at: seen.at, value: 1 });
    Ok(())
}

fn known(edit: &mut Edit<'_>, host: &str) -> DbResult<bool> {
    let sql = formatcp!("SELECT hostid FROM hosts WHERE kind = {KIND_HOST} AND host = ?");
    Ok(!edit.query(sql, &[host.into()])?.is_empty())
}

/// The agent made an event a moment before `now`.
fn is_recent(edit: &mut Edit<'_>, agent: u64, now: u32) -> DbResult<bool> {
    let origin = EventOrigin::AutoregisteredHost(agent);
    let sql = "SELECT COALESCE(MAX(clock), 0) AS clock FROM events WHERE source = ? AND object = ? AND objectid = ?";
    let params = [origin.source().number().into(), origin.object().number().into(), agent.into()];
    let rows = edit.query(sql, &params)?;
    let newest = rows.first().map_or(0, |row| row.int("clock"));
    Ok(newest > 0 && i64::from(now) - newest <= REPEATED_AFTER_S.into())
}
