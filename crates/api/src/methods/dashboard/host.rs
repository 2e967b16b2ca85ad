//! Dashboards of hosts: those of all templates above them, with the hosts' own items and graphs.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use config::db::{Reader, Row, query_by_ids};
use objects::WidgetFieldType;
use serde_json::{Map, json};

use super::Stored;
use super::stored::wanted_pages;
use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::exchange::natural;
use crate::get::{Get, Output};
use crate::methods::host::Above;
use crate::object::Access::ReadOnly;
use crate::object::FieldKind::{Id, Name, OneOf};
use crate::object::{Object, field};
use crate::{params, rpc};

pub(crate) const METHODS: &[Method] = &[Method::user("hostdashboard.get", get)];

pub(crate) static HOST_DASHBOARD: Object = Object {
    name: "hostdashboard",
    table: "(SELECT dashboardid, name, display_period, auto_start, hostid AS templateid \
            FROM dashboards WHERE hostid <> 0)",
    key: "dashboardid",
    keys: "dashboardids",
    fields: &[
        field("hostid", Id, ReadOnly, "The host."),
        field("dashboardid", Id, ReadOnly, "Id of the dashboard."),
        field("name", Name(255), ReadOnly, "Name."),
        field(
            "display_period",
            super::fields::PERIOD,
            ReadOnly,
            "Seconds for which a page is shown.",
        ),
        field("auto_start", OneOf(&[0, 1]), ReadOnly, "1 = pages change by themselves."),
        field("templateid", Id, ReadOnly, "Template of the dashboard."),
    ],
    strict: true,
    sort: SORT,
};

const SORT: &[&str] = &["hostid", "dashboardid", "name"];
const OPTIONS: &[&str] = &["hostids", "dashboardids", "selectPages", "groupCount"];

/// A dashboard of a template as a host has it.
struct OfHost<'r> {
    host: u64,
    row: &'r Row,
}

/// Refuses what other methods take.
fn check_options(input: &Json) -> ApiResult<()> {
    for (path, option, given) in [
        ("/", "preservekeys", input.get("preservekeys")),
        ("/filter", "hostid", input.get("filter").and_then(|filter| filter.get("hostid"))),
    ] {
        if given.is_some() {
            return Err(ApiError::at(path, format_args!("unexpected parameter \"{option}\"")));
        }
    }
    Ok(())
}

/// Dashboards of hosts with their pages in one answer: each needs the host's own items and graphs.
const WITH_PAGES_MAX: usize = 10_000;

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    check_options(input)?;
    let mut get = Get::new(call, input, &HOST_DASHBOARD, OPTIONS)?;
    get.by_ids("dashboardids", "t.dashboardid IN ({ids})")?;
    let wanted = output(input)?;
    let pages = wanted_pages(input)?;
    let order = order(input)?;
    let limit = match input.get("limit") {
        None | Some(Json::Null) => usize::MAX,
        Some(limit) => match params::int(limit, "/limit")? {
            limit @ 1.. => usize::try_from(limit).unwrap_or(usize::MAX),
            _ => {
                return Err(ApiError::at(
                    "/limit",
                    format_args!("value must be one of 1-{}", i32::MAX),
                ));
            }
        },
    };
    let (condition, values) = get.condition()?;
    let hosts = hosts(call, input)?;
    if hosts.is_empty() {
        return Ok(json!([]));
    }
    let above = Above::of(call, hosts.clone())?;
    let templates: Vec<u64> = above.all().into_iter().collect();
    let table = HOST_DASHBOARD.table;
    let sql = format!("SELECT * FROM {table} t WHERE {condition} AND t.templateid IN ({{ids}})");
    let mut rows =
        call.read(|connection| Ok(query_by_ids(connection, &sql, &values, &templates)?))?;
    rows.sort_by_key(|row| row.id("dashboardid"));
    let of_hosts: Vec<(u64, BTreeSet<u64>)> =
        hosts.into_iter().map(|host| (host, above.templates(host))).collect();
    let has = |templates: &BTreeSet<u64>, row: &Row| templates.contains(&row.id("templateid"));
    if params::flag(input.get("countOutput")) {
        let counts = of_hosts
            .iter()
            .map(|(host, templates)| (host, rows.iter().filter(|row| has(templates, row)).count()));
        if params::flag(input.get("groupCount")) {
            let count = |(host, n): (&u64, usize)| json!({ "hostid": host.to_string(), "rowscount": n.to_string() });
            return Ok(counts.map(count).take(limit).collect());
        }
        return Ok(counts.map(|(_, n)| n).sum::<usize>().to_string().into());
    }
    let mut found: Vec<OfHost<'_>> = Vec::new();
    for row in &rows {
        let with = of_hosts.iter().filter(|(_, templates)| has(templates, row));
        found.extend(with.map(|(host, _)| OfHost { host: *host, row }));
    }
    found.sort_by(|one, other| compare(&order, one, other));
    found.truncate(limit);
    if pages.is_some() && found.len() > WITH_PAGES_MAX {
        return Err(ApiError::at(
            "/selectPages",
            format_args!(
                "{} dashboards of hosts have their pages, at most {WITH_PAGES_MAX} are possible: set hostids or limit",
                found.len()
            ),
        ));
    }
    shown(call, &found, &wanted, pages.as_ref())
}

/// The hosts of the call that the user may read, or change.
fn hosts(call: &Call<'_>, input: &Json) -> ApiResult<Vec<u64>> {
    let mut wanted = json!({ "output": ["hostid"], "preservekeys": true });
    for option in ["hostids", "editable"] {
        if let Some(value) = input.get(option) {
            wanted[option] = value.clone();
        }
    }
    let found = rpc::run_inner(call, "host.get", &wanted)?;
    let ids = found.as_object().into_iter().flatten();
    Ok(ids.filter_map(|(id, _)| id.parse().ok()).collect())
}

fn output(input: &Json) -> ApiResult<Output> {
    let Some(value) = input.get("output") else { return Ok(Output::Extend) };
    let wanted = match Output::parse(value, "/output")? {
        Some(Output::Count) => return Err(ApiError::at("/output", "value must be \"extend\"")),
        wanted => wanted.unwrap_or(Output::Extend),
    };
    let names: Vec<&str> = HOST_DASHBOARD.fields.iter().map(|field| field.name).collect();
    wanted.only("output", &names)?;
    Ok(wanted)
}

/// Fields to sort by, each with whether it descends.
fn order(input: &Json) -> ApiResult<Vec<(&'static str, bool)>> {
    let fields = input.get("sortfield").filter(|value| !value.is_null());
    let orders = input.get("sortorder").filter(|value| !value.is_null());
    let many = orders.is_some_and(Json::is_array);
    let orders = orders.map(params::list).unwrap_or_default();
    let mut order = Vec::new();
    for (n, value) in fields.map(params::list).unwrap_or_default().into_iter().enumerate() {
        let Some(name) = SORT.iter().find(|name| value == **name) else {
            let list: Vec<String> = SORT.iter().map(|name| format!("\"{name}\"")).collect();
            let text = format!("value must be one of {}", list.join(", "));
            return Err(ApiError::at(&format!("/sortfield/{}", n + 1), text));
        };
        let at = if many { n } else { 0 };
        order.push((*name, orders.get(at).is_some_and(|order| **order == "DESC")));
    }
    Ok(order)
}

fn compare(order: &[(&str, bool)], one: &OfHost<'_>, other: &OfHost<'_>) -> Ordering {
    for (name, descends) in order {
        let found = match *name {
            "hostid" => one.host.cmp(&other.host),
            "dashboardid" => one.row.id(name).cmp(&other.row.id(name)),
            _ => natural(one.row.text(name)).cmp(&natural(other.row.text(name))),
        };
        if found != Ordering::Equal {
            return if *descends { found.reverse() } else { found };
        }
    }
    Ordering::Equal
}

fn shown(
    call: &Call<'_>,
    found: &[OfHost<'_>],
    wanted: &Output,
    pages: Option<&Output>,
) -> ApiResult<Json> {
    let dashboards: BTreeSet<u64> = found.iter().map(|one| one.row.id("dashboardid")).collect();
    let stored = match pages {
        Some(_) => call.read(|c| Stored::load(c, &Vec::from_iter(dashboards)))?,
        None => Stored::default(),
    };
    let mut objects: BTreeMap<u64, BTreeMap<u64, u64>> = BTreeMap::new();
    if pages.is_some_and(|pages| pages.has("widgets")) {
        for one in found {
            let of_host = objects.entry(one.host).or_default();
            of_host.extend(call.read(|c| resolved(c, &stored, one))?);
        }
    }
    let one = |one: &OfHost<'_>| {
        let names = HOST_DASHBOARD.fields.iter().map(|field| field.name);
        let mut out: Map<String, Json> = Map::new();
        for name in names.filter(|name| wanted.has(name)) {
            let value = match name {
                "hostid" => one.host.to_string(),
                _ => one.row.get(name).map(ToString::to_string).unwrap_or_default(),
            };
            out.insert(name.to_owned(), value.into());
        }
        if let Some(pages) = pages {
            let of_host = objects.get(&one.host).cloned().unwrap_or_default();
            let pages = stored.shown(one.row.id("dashboardid"), pages, &of_host);
            out.insert("pages".to_owned(), pages);
        }
        Json::Object(out)
    };
    Ok(found.iter().map(one).collect())
}

/// Items and graphs of the host for those of the template, by the id of the field. An inherited item has the key of
/// the template's item, an inherited graph its name. Fields of which the host has none keep theirs.
fn resolved(
    connection: &mut dyn Reader,
    stored: &Stored,
    of: &OfHost<'_>,
) -> ApiResult<Vec<(u64, u64)>> {
    let (mut items, mut graphs) = (Vec::new(), Vec::new());
    for field in stored.fields_of(of.row.id("dashboardid")) {
        let list = match field.kind {
            WidgetFieldType::Item | WidgetFieldType::ItemPrototype => &mut items,
            WidgetFieldType::Graph | WidgetFieldType::GraphPrototype => &mut graphs,
            _ => continue,
        };
        list.extend(field.object().map(|object| (field.id, object)));
    }
    let mut own: HashMap<u64, u64> = HashMap::new();
    let ids: Vec<u64> = items.iter().map(|(_, id)| *id).collect();
    let sql = "SELECT t.itemid AS above, i.itemid AS id FROM items t \
               JOIN items i ON i.hostid = ? AND i.key_ = t.key_ WHERE t.itemid IN ({ids})";
    let rows = query_by_ids(connection, sql, &[of.host.into()], &ids)?;
    own.extend(rows.iter().map(|row| (row.id("above"), row.id("id"))));
    let mut found: Vec<(u64, u64)> = Vec::new();
    found.extend(items.iter().filter_map(|(field, id)| Some((*field, *own.get(id)?))));
    own.clear();
    if !graphs.is_empty() {
        let ids: Vec<u64> = graphs.iter().map(|(_, id)| *id).collect();
        let sql = "SELECT graphid, name FROM graphs WHERE graphid IN ({ids})";
        let above = query_by_ids(connection, sql, &[], &ids)?;
        let sql = "SELECT DISTINCT g.graphid, g.name FROM items i \
                   JOIN graph_items f ON f.itemid = i.itemid JOIN graphs g ON g.graphid = f.graphid \
                   WHERE g.templateid <> 0 AND i.hostid = ?";
        let rows = connection.query(sql, &[of.host.into()])?;
        let named: HashMap<&str, u64> =
            rows.iter().map(|row| (row.text("name"), row.id("graphid"))).collect();
        let pair = |row: &Row| Some((row.id("graphid"), *named.get(row.text("name"))?));
        own.extend(above.iter().filter_map(pair));
        found.extend(graphs.iter().filter_map(|(field, id)| Some((*field, *own.get(id)?))));
    }
    Ok(found)
}
