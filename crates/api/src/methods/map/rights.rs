//! Who sees and who changes maps, and what of them a user sees.
//!
//! Sharing counts for users of the lowest type: they see public maps, their own and shared ones. Beyond that
//! a map is seen by those who may read one of its elements, and changed by those who may change all of them.

use std::collections::{BTreeMap, BTreeSet};

use config::Edit;
use config::db::{Reader, Row, query_by_ids};
use const_format::formatcp;
use objects::sql::{FLAGS_REAL, GROUP_OF_HOSTS, KIND_HOST};
use objects::{MapElementType, UserType};

use super::nesting::Nesting;
use crate::call::Call;
use crate::error::{ApiError, ApiResult};
use crate::object::Columns;
use crate::permission::{Need, and, on_groups, on_hosts, on_triggers};
use crate::plain::{Draft, number};

/// What elements of maps show, and what of it the user has the right on.
pub(super) struct Access {
    /// `None` = all.
    allowed: Option<BTreeMap<MapElementType, BTreeSet<u64>>>,
}

impl Access {
    /// The user's right on what these show: hosts, groups and triggers by type; maps among all.
    pub(super) fn load(
        call: &Call<'_>,
        connection: &mut dyn Reader,
        need: Need,
        shown: &BTreeMap<MapElementType, BTreeSet<u64>>,
    ) -> ApiResult<Self> {
        if call.is_super_admin() {
            return Ok(Self { allowed: None });
        }
        let mut allowed = BTreeMap::new();
        for (kind, ids) in shown {
            let ids = Vec::from_iter(ids.iter().copied());
            let found = match kind {
                MapElementType::Map => {
                    let maps = maps(call, connection, need, &ids)?.unwrap_or_default();
                    ids.into_iter().filter(|id| maps.contains(id)).collect()
                }
                MapElementType::Image => continue,
                _ => found(connection, &readable(call, need, *kind), &ids)?,
            };
            allowed.insert(*kind, found);
        }
        Ok(Self { allowed: Some(allowed) })
    }

    /// The user has the right on this object.
    pub(super) fn allows(&self, kind: MapElementType, id: u64) -> bool {
        let Some(allowed) = &self.allowed else { return true };
        allowed.get(&kind).is_some_and(|known| known.contains(&id))
    }

    /// The user has the right on what an element shows: to read any of it, to change all of it. Images show
    /// nothing.
    pub(super) fn opens(&self, need: Need, kind: MapElementType, ids: &[u64]) -> bool {
        let mut allowed = ids.iter().map(|id| self.allows(kind, *id));
        match (kind, need) {
            (MapElementType::Image, _) => true,
            (_, Need::Read) => allowed.any(|one| one),
            (_, Need::Write) => allowed.all(|one| one),
        }
    }
}

/// Selects those of `{ids}` on which the user has the right, without prototypes. For maps: those that
/// exist.
pub(super) fn readable(call: &Call<'_>, need: Need, kind: MapElementType) -> String {
    let user = call.user();
    match kind {
        MapElementType::Host => format!(
            "SELECT hostid AS id FROM hosts WHERE kind = {KIND_HOST} AND hostid IN ({{ids}}){}",
            and(on_hosts(user, need, "hostid"))
        ),
        MapElementType::HostGroup => format!(
            "SELECT groupid AS id FROM groups_ WHERE type = {GROUP_OF_HOSTS} AND groupid IN ({{ids}}){}",
            and(on_groups(user, need, "groupid"))
        ),
        MapElementType::Trigger => format!(
            "SELECT t.triggerid AS id FROM triggers t WHERE t.flags IN {FLAGS_REAL} \
             AND t.triggerid IN ({{ids}}){}",
            and(on_triggers(user, need, "t.triggerid"))
        ),
        MapElementType::Map | MapElementType::Image => {
            "SELECT sysmapid AS id FROM maps WHERE sysmapid IN ({ids})".to_owned()
        }
    }
}

/// The ids that a statement finds.
pub(super) fn found(
    connection: &mut dyn Reader,
    sql: &str,
    ids: &[u64],
) -> ApiResult<BTreeSet<u64>> {
    let rows = query_by_ids(connection, sql, &[], ids)?;
    Ok(rows.iter().map(|row| row.id("id")).collect())
}

/// What an element shows: its type and ids.
type Shown = (MapElementType, Vec<u64>);

/// Ids of those of `among` that the user may read, or change; `None` = all. Maps that these show may be
/// among them.
pub(super) fn maps(
    call: &Call<'_>,
    connection: &mut dyn Reader,
    need: Need,
    among: &[u64],
) -> ApiResult<Option<BTreeSet<u64>>> {
    if call.is_super_admin() {
        return Ok(None);
    }
    let nesting = Nesting::load(connection, among)?;
    let all = nesting.maps();
    let shared = shared(call, connection, need, &all)?;
    let elements = elements(connection, &all)?;
    let mut shown: BTreeMap<MapElementType, BTreeSet<u64>> = BTreeMap::new();
    for (kind, ids) in elements.values().flatten() {
        shown.entry(*kind).or_default().extend(ids);
    }
    let access = Access::load(call, connection, need, &shown)?;
    let order = nesting.order();
    let mut open = BTreeSet::new();
    // Maps that show each other are no reason for each other.
    for map in order.ordered.into_iter().chain(order.circular) {
        let own = elements.get(&map).into_iter().flatten();
        let own = own.map(|(kind, ids)| access.opens(need, *kind, ids));
        let mut allowed = own.chain(nesting.shown(map).map(|id| open.contains(&id))).peekable();
        let is_open = match need {
            Need::Read => allowed.peek().is_none() || allowed.any(|one| one),
            Need::Write => allowed.all(|one| one),
        };
        if is_open && shared.contains(&map) {
            open.insert(map);
        }
    }
    Ok(Some(open))
}

/// Those of the maps that sharing lets the user read, or change.
fn shared(
    call: &Call<'_>,
    connection: &mut dyn Reader,
    need: Need,
    maps: &[u64],
) -> ApiResult<BTreeSet<u64>> {
    let me = call.user().id;
    let condition = match (call.user().kind, need) {
        (UserType::User, Need::Read) => "m.private = 0 OR ",
        (UserType::User, Need::Write) => "",
        _ => "1 = 1 OR ",
    };
    let least = if need == Need::Read { 2 } else { 3 };
    let sql = format!(
        "SELECT m.sysmapid AS id FROM maps m WHERE m.sysmapid IN ({{ids}}) AND ({condition}m.userid = {me} \
         OR EXISTS (SELECT 1 FROM map_users u WHERE u.sysmapid = m.sysmapid AND u.userid = {me} \
           AND u.permission >= {least}) \
         OR EXISTS (SELECT 1 FROM map_user_groups g JOIN user_groups o ON o.usrgrpid = g.usrgrpid \
           WHERE g.sysmapid = m.sysmapid AND o.userid = {me} AND g.permission >= {least}))"
    );
    found(connection, &sql, maps)
}

/// The elements of maps, without those that show maps.
fn elements(connection: &mut dyn Reader, maps: &[u64]) -> ApiResult<BTreeMap<u64, Vec<Shown>>> {
    let sql = formatcp!(
        "SELECT e.sysmapid, e.selementid, e.elementtype, e.elementid, \
         COALESCE(t.triggerid, 0) AS triggerid FROM map_elements e \
         LEFT JOIN map_element_triggers t ON t.selementid = e.selementid \
         WHERE e.sysmapid IN ({{ids}}) AND e.elementtype <> {} \
         ORDER BY e.sysmapid, e.selementid",
        MapElementType::Map.number()
    );
    let mut of_map: BTreeMap<u64, Vec<Shown>> = BTreeMap::new();
    let mut last = 0;
    for row in query_by_ids(connection, sql, &[], maps)? {
        let list = of_map.entry(row.id("sysmapid")).or_default();
        let kind = kind(&row);
        let id = if kind == MapElementType::Trigger { "triggerid" } else { "elementid" };
        match list.last_mut().filter(|_| last == row.id("selementid")) {
            Some((_, ids)) => ids.push(row.id(id)),
            None => list.push((kind, vec![row.id(id)])),
        }
        last = row.id("selementid");
    }
    Ok(of_map)
}

/// The type of an element.
pub(super) fn kind(element: &Row) -> MapElementType {
    MapElementType::from_number(element.int("elementtype")).unwrap_or(MapElementType::Image)
}

/// Refuses unless the user may change all of these maps.
pub(super) fn require_writable(call: &Call<'_>, edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<()> {
    match maps(call, edit, Need::Write, ids)? {
        Some(maps) if !ids.iter().all(|id| maps.contains(id)) => Err(ApiError::no_object()),
        _ => Ok(()),
    }
}

/// Refuses an owner that the user does not see; users of the lowest type make maps for themselves.
pub(super) fn check_owner(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    draft: &Draft<'_>,
    before: Option<&Row>,
) -> ApiResult<()> {
    if !draft.gives("userid") {
        return Ok(());
    }
    let id = u64::try_from(draft.value("userid", None).as_int()).unwrap_or(0);
    let owner = before.map_or(call.user().id, |row| row.id("userid"));
    if call.user().kind == UserType::User && owner != id {
        return Err(ApiError::params("Only administrators can set map owner."));
    }
    check_users(call, edit, &[vec![("userid", id.into())]], "")
}

/// Refuses users that the caller does not see.
pub(super) fn check_users(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    rows: &[Columns],
    _path: &str,
) -> ApiResult<()> {
    let mut sql = "SELECT u.userid AS id FROM users u WHERE u.userid IN ({ids})".to_owned();
    if !call.is_super_admin() {
        let me = call.user().id;
        sql += &format!(
            " AND (u.userid = {me} OR u.userid IN (SELECT o.userid FROM user_groups o \
             JOIN user_groups mine ON mine.usrgrpid = o.usrgrpid WHERE mine.userid = {me}))"
        );
    }
    require(edit, &sql, "userid", "user", rows)
}

/// The same of user groups.
pub(super) fn check_user_groups(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    rows: &[Columns],
    _path: &str,
) -> ApiResult<()> {
    let mut sql =
        "SELECT g.usrgrpid AS id FROM usergroups g WHERE g.usrgrpid IN ({ids})".to_owned();
    if !call.is_super_admin() {
        let me = call.user().id;
        sql +=
            &format!(" AND g.usrgrpid IN (SELECT usrgrpid FROM user_groups WHERE userid = {me})");
    }
    require(edit, &sql, "usrgrpid", "user group", rows)
}

fn require(
    edit: &mut Edit<'_>,
    sql: &str,
    column: &str,
    word: &str,
    rows: &[Columns],
) -> ApiResult<()> {
    let ids: Vec<u64> =
        rows.iter().filter_map(|row| u64::try_from(number(row, column)).ok()).collect();
    let known = found(edit, sql, &ids)?;
    match ids.iter().all(|id| known.contains(id)) {
        true => Ok(()),
        false => Err(ApiError::params(format!("Incorrect {word} ID specified for map."))),
    }
}
