//! `template.get`.

use objects::sql::KIND_HOST;

use super::TEMPLATE;
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::{Found, Get};
use crate::methods::dashboard::template::TEMPLATE_DASHBOARD;
use crate::methods::{graph, group, host, httptest};
use crate::owned::shown;
use crate::permission::{Need, on_hosts};
use crate::relate::Relation;
use crate::{tags, with};

/// Only templates that are linked to hosts, not only to templates, which the user sees.
const WITH_HOSTS: &str = "with_hosts";

pub(super) fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let mut get = Get::new(call, input, &TEMPLATE, &[])?;
    for (option, condition) in [
        ("templateids", "t.templateid IN ({ids})"),
        ("groupids", "t.templateid IN (SELECT hostid FROM host_groups WHERE groupid IN ({ids}))"),
        (
            "parentTemplateids",
            "t.templateid IN (SELECT hostid FROM host_templates WHERE templateid IN ({ids}))",
        ),
        (
            "hostids",
            "t.templateid IN (SELECT templateid FROM host_templates WHERE hostid IN ({ids}))",
        ),
        ("itemids", "t.templateid IN (SELECT hostid FROM items WHERE itemid IN ({ids}))"),
        (
            "triggerids",
            "t.templateid IN (SELECT i.hostid FROM items i JOIN functions f ON f.itemid = i.itemid \
             WHERE f.triggerid IN ({ids}))",
        ),
    ] {
        get.by_ids(option, condition)?;
    }
    get.by_ids("graphids", &graph::of_hosts_by_id("t.templateid"))?;
    for condition in with::conditions(&get, "t.templateid") {
        get.and(condition, []);
    }
    if get.flag(WITH_HOSTS) {
        let seen = on_hosts(call.user(), Need::Read, "l.hostid").unwrap_or_else(|| "1 = 1".into());
        get.and(
            format!(
                "t.templateid IN (SELECT l.templateid FROM host_templates l \
                   JOIN hosts lh ON lh.hostid = l.hostid \
                 WHERE lh.kind = {KIND_HOST} AND {seen})"
            ),
            [],
        );
    }
    if let Some((condition, values)) = tags::condition(input, "t.templateid", tags::own_host_tags)?
    {
        get.and(condition, values);
    }
    let need = Need::of_get(get.flag("editable"));
    if let Some(condition) = on_hosts(call.user(), need, "t.templateid") {
        get.and(condition, []);
    }
    get.answer(attach)
}

fn attach(found: &mut Found<'_, '_>) -> ApiResult<()> {
    shown::attach_groups(found, "selectTemplateGroups", "templategroups", &group::TEMPLATE_GROUP)?;
    shown::attach_groups(found, "selectGroups", "groups", &group::TEMPLATE_GROUP)?;
    attach_links(found)?;
    shown::attach_monitored(found)?;
    graph::attach_to_hosts(found)?;
    httptest::attach_to_hosts(found)?;
    attach_dashboards(found)?;
    shown::attach_macros(found)?;
    shown::attach_tags(found, &["tag", "value"])?;
    shown::attach_value_maps(found)
}

fn attach_links(found: &mut Found<'_, '_>) -> ApiResult<()> {
    const BELOW: &str = "SELECT templateid, hostid FROM host_templates WHERE templateid IN ({ids}) \
                         ORDER BY hostid";
    const ABOVE: &str = "SELECT hostid, templateid FROM host_templates WHERE hostid IN ({ids}) \
                         ORDER BY templateid";
    let templates = |member| Relation::new(member, &TEMPLATE).sorted("host");
    for (option, relation, sql) in [
        ("selectHosts", Relation::new("hosts", &host::HOST).sorted("host"), BELOW),
        ("selectTemplates", templates("templates"), BELOW),
        ("selectParentTemplates", templates("parentTemplates"), ABOVE),
    ] {
        if let Some(wanted) = found.wants(option)? {
            let pairs = found.call.pairs(sql, &found.ids())?;
            found.relate_as(&relation, &wanted, &pairs)?;
        }
    }
    Ok(())
}

fn attach_dashboards(found: &mut Found<'_, '_>) -> ApiResult<()> {
    const SQL: &str = "SELECT hostid, dashboardid FROM dashboards WHERE hostid IN ({ids}) \
                       ORDER BY dashboardid";
    let Some(wanted) = found.wants("selectDashboards")? else { return Ok(()) };
    let pairs = found.call.pairs(SQL, &found.ids())?;
    let relation = Relation::new("dashboards", &TEMPLATE_DASHBOARD).bare().sorted("name");
    found.relate_as(&relation, &wanted, &pairs)
}
