//! Where scripts can run: `selectHosts`, `selectHostGroups`.

use std::collections::BTreeSet;

use const_format::formatcp;
use objects::sql::GROUP_OF_HOSTS;

use crate::error::ApiResult;
use crate::found::Found;
use crate::methods::{group, host};
use crate::permission::Need;
use crate::relate::Relation;
use crate::write::Target;

/// Scripts, and the host groups in which they run: all, or one with those in it.
const GROUPS: &str = formatcp!(
    "SELECT s.scriptid, sub.groupid FROM scripts s \
    LEFT JOIN groups_ g ON g.groupid = s.groupid \
    JOIN groups_ sub ON sub.type = {GROUP_OF_HOSTS} AND (s.groupid = 0 OR sub.groupid = g.groupid \
      OR substr(sub.name, 1, length(g.name) + 1) = g.name || '/') \
    WHERE s.scriptid IN ({{ids}})"
);

/// Scripts, and the hosts of these groups.
const HOSTS: &str = formatcp!(
    "SELECT DISTINCT s.scriptid, hg.hostid FROM scripts s \
    LEFT JOIN groups_ g ON g.groupid = s.groupid \
    JOIN groups_ sub ON sub.type = {GROUP_OF_HOSTS} AND (s.groupid = 0 OR sub.groupid = g.groupid \
      OR substr(sub.name, 1, length(g.name) + 1) = g.name || '/') \
    JOIN host_groups hg ON hg.groupid = sub.groupid \
    WHERE s.scriptid IN ({{ids}}) ORDER BY s.scriptid, hg.hostid"
);

/// Scripts for which read permission is not enough.
const WRITING: &str =
    "SELECT scriptid, groupid FROM scripts WHERE host_access = 3 AND scriptid IN ({ids})";

/// Adds the hosts and host groups on which the user may run each script.
pub(super) fn show(found: &mut Found<'_, '_>) -> ApiResult<()> {
    let hosts = Relation::new("hosts", &host::HOST);
    let groups = |member| Relation::new(member, &group::HOST_GROUP).bare();
    for (option, relation, target, sql) in [
        ("selectHosts", hosts, Target::Host, HOSTS),
        ("selectHostGroups", groups("hostgroups"), Target::HostGroup, GROUPS),
        // An older name that 7.0 accepts.
        ("selectGroups", groups("groups"), Target::HostGroup, GROUPS),
    ] {
        let Some(wanted) = found.wants_list(option)? else { continue };
        let call = found.call;
        let mut pairs = call.pairs(sql, &found.ids())?;
        let writing = call.pairs(WRITING, &found.ids())?;
        let writing: BTreeSet<u64> = writing.into_iter().map(|(script, _)| script).collect();
        let places = pairs.iter().filter(|(script, _)| writing.contains(script));
        let places: BTreeSet<u64> = places.map(|(_, place)| *place).collect();
        let places = Vec::from_iter(places);
        let writable = call.read(|c| call.allowed(c, target, Need::Write, &places))?;
        pairs.retain(|(script, place)| !writing.contains(script) || writable.contains(place));
        found.relate_as(&relation, &wanted, &pairs)?;
    }
    Ok(())
}
