//! Methods of discovery rules.

use config::Edit;
use config::db::query_by_ids;
use config::objects::copy_discovery_rule;
use objects::sql::FLAGS_RULE;

use super::fields::Kind;
use super::{get, write};
use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::methods::hostprototype::check_copies;
use crate::params;
use crate::permission::{Need, and, on_hosts};
use crate::write::Target;

pub(crate) const METHODS: &[Method] = &[
    Method::user("discoveryrule.get", |call, input| get::get(call, input, Kind::Rule)),
    Method::admin("discoveryrule.create", |call, input| write::create(call, input, Kind::Rule)),
    Method::admin("discoveryrule.update", |call, input| write::update(call, input, Kind::Rule)),
    Method::admin("discoveryrule.copy", copy),
    Method::admin("discoveryrule.delete", |call, input| {
        write::delete(call, input, Kind::Rule, "ruleids")
    }),
];

/// `discoveryrule.copy`: each of the rules to each of the hosts and templates.
fn copy(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = |name: &str, what: &str| match params::ids(input, name)? {
        Some(ids) if !ids.is_empty() => Ok(ids),
        _ => Err(ApiError::params(format!("No {what} IDs given."))),
    };
    let rules = ids("discoveryids", "discovery rule")?;
    let hosts = ids("hostids", "host")?;
    call.write(|edit| {
        let right = and(on_hosts(call.user(), Need::Read, "hostid"));
        let sql = format!(
            "SELECT itemid FROM items WHERE flags = {FLAGS_RULE}{right} AND itemid IN ({{ids}})"
        );
        let found = query_by_ids(edit, &sql, &[], &rules)?;
        // An id that comes twice is one too many here.
        if found.len() != rules.len() {
            return Err(ApiError::no_object());
        }
        call.require(edit, Target::HostOrTemplate, Need::Write, &hosts)?;
        for rule in &rules {
            for host in &hosts {
                refuse_without_master(edit, *rule, *host)?;
                let templates = check_copies(call, edit, *rule, *host)?;
                copy_discovery_rule(edit, *rule, *host, &templates)?;
            }
        }
        Ok(true.into())
    })
}

fn refuse_without_master(edit: &mut Edit<'_>, rule: u64, host: u64) -> ApiResult<()> {
    let sql = "SELECT r.name FROM items r JOIN items m ON m.itemid = r.master_itemid \
               WHERE r.itemid = ? AND NOT EXISTS \
               (SELECT 1 FROM items n WHERE n.key_ = m.key_ AND n.hostid = ?)";
    match edit.query(sql, &[rule.into(), host.into()])?.first() {
        None => Ok(()),
        Some(row) => Err(ApiError::application(format!(
            "Discovery rule \"{}\" cannot be copied without its master item.",
            row.text("name")
        ))),
    }
}
