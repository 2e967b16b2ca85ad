//! Objects of hosts and templates that are kept but not yet served by methods of their own
//! (table `parts`): shown as related objects, none until a `get` method serves them.

use const_format::formatcp;
use objects::sql::TYPE_WEB;

use crate::error::ApiResult;
use crate::get::Found;
use crate::methods::httptest;
use crate::relate::Relation;

/// A kind of these objects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UnservedKind {
    /// Column `kind` of `parts`.
    pub(crate) kind: &'static str,
    /// The `select…` option that shows it.
    option: &'static str,
    relation: Relation,
}

/// Web scenarios.
pub(crate) const WEB_SCENARIO: UnservedKind = UnservedKind {
    kind: "httptest",
    option: "selectHttpTests",
    relation: Relation::new("httpTests", &httptest::HTTPTEST).bare().sorted("name"),
};

/// Dashboards of templates.
pub(crate) const DASHBOARD: UnservedKind = UnservedKind {
    kind: "dashboard",
    option: "selectDashboards",
    relation: Relation::unserved("dashboards").bare().sorted("name"),
};

impl UnservedKind {
    /// Hosts and what they have of this kind. Web scenarios hang on items.
    fn rows(&self) -> String {
        match self.kind {
            "httptest" => formatcp!(
                "(SELECT hostid, itemid AS partid FROM items \
                           WHERE type = {TYPE_WEB} AND params <> '') p"
            )
            .to_owned(),
            kind => format!("(SELECT hostid, partid FROM parts WHERE kind = '{kind}') p"),
        }
    }

    /// Condition on hosts: those that have an object of this kind.
    pub(crate) fn of_hosts(&self, column: &str) -> String {
        format!("{column} IN (SELECT p.hostid FROM {})", self.rows())
    }

    /// Condition on hosts: those whose object of this kind has one of `{ids}`.
    pub(crate) fn of_hosts_by_id(&self, column: &str) -> String {
        format!("{column} IN (SELECT p.hostid FROM {} WHERE p.partid IN ({{ids}}))", self.rows())
    }

    /// Answers the option of this kind for hosts or templates.
    pub(crate) fn attach(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        let Some(wanted) = found.wants(self.option)? else { return Ok(()) };
        let sql = format!(
            "SELECT p.hostid, p.partid FROM {} WHERE p.hostid IN ({{ids}}) ORDER BY p.partid",
            self.rows()
        );
        let pairs = found.call.pairs(&sql, &found.ids())?;
        found.relate_as(&self.relation, &wanted, &pairs)
    }
}
