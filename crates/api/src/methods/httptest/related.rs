//! Web scenarios of hosts and templates.

use const_format::formatcp;
use objects::sql::TYPE_WEB;

use super::HTTPTEST;
use crate::error::ApiResult;
use crate::get::Found;
use crate::relate::Relation;

/// Items that scenarios hang on.
const ROWS: &str = formatcp!("items p WHERE p.type = {TYPE_WEB} AND p.params <> ''");

/// Condition on hosts: those that have a scenario.
pub(crate) fn of_hosts(column: &str) -> String {
    format!("{column} IN (SELECT p.hostid FROM {ROWS})")
}

/// Condition on hosts: those whose scenario has one of `{ids}`.
pub(crate) fn of_hosts_by_id(column: &str) -> String {
    format!("{column} IN (SELECT p.hostid FROM {ROWS} AND p.itemid IN ({{ids}}))")
}

/// `selectHttpTests` of hosts and templates.
pub(crate) fn attach_to_hosts(found: &mut Found<'_, '_>) -> ApiResult<()> {
    const SQL: &str = formatcp!(
        "SELECT p.hostid, p.itemid FROM {ROWS} AND p.hostid IN ({{ids}}) ORDER BY p.itemid"
    );
    let Some(wanted) = found.wants("selectHttpTests")? else { return Ok(()) };
    let pairs = found.call.pairs(SQL, &found.ids())?;
    let relation = Relation::new("httpTests", &HTTPTEST).bare().sorted("name");
    found.relate_as(&relation, &wanted, &pairs)
}
