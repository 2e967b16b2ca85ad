//! Hosts that a proxy monitors, as `proxy.create` and `proxy.update` list them.

use std::collections::BTreeSet;

use config::Edit;
use config::table;
use objects::MonitoredBy;

use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::owned::discovered;
use crate::permission::Need;
use crate::plain::Draft;
use crate::write::{Target, nested_ids, no_object_at};

/// Makes the proxy monitor exactly the hosts that are listed, if any list is given. Hosts that are no
/// longer listed are monitored by the server.
pub(super) fn assign(call: &Call<'_>, edit: &mut Edit<'_>, draft: &Draft<'_>) -> ApiResult<()> {
    let Some(list) = draft.input.get("hosts") else { return Ok(()) };
    let path = format!("{}/hosts", draft.path);
    let listed = nested_ids(list, &path, "hostid")?;
    let wanted: BTreeSet<u64> = listed.iter().copied().collect();
    let sql = "SELECT hostid FROM hosts WHERE proxyid = ? ORDER BY hostid";
    let rows = edit.query(sql, &[draft.id.into()])?;
    let now: BTreeSet<u64> = rows.iter().map(|row| row.id("hostid")).collect();
    let new: Vec<u64> = wanted.difference(&now).copied().collect();
    let gone: Vec<u64> = now.difference(&wanted).copied().collect();
    let allowed = call.allowed(edit, Target::Host, Need::Write, &new)?;
    if let Some(n) = listed.iter().position(|id| !now.contains(id) && !allowed.contains(id)) {
        return Err(no_object_at(&format!("{path}/{}/hostid", n + 1)));
    }
    if let Some((_, host)) = discovered::names(edit, &new)?.first_key_value() {
        let text = format!("Cannot update proxy for discovered host \"{host}\".");
        return Err(ApiError::params(text));
    }
    for (hosts, by, proxy) in
        [(&new, MonitoredBy::Proxy, draft.id), (&gone, MonitoredBy::Server, 0)]
    {
        let columns = [
            ("monitored_by", by.number().into()),
            ("proxyid", proxy.into()),
            ("proxy_groupid", 0.into()),
        ];
        edit.update_many(&table::HOSTS, hosts, &columns)?;
    }
    Ok(())
}
