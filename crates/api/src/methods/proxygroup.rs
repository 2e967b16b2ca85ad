//! Proxy groups. No proxy can connect yet, so none of them has a known state.

use config::Edit;
use config::db::{Row, id_params, placeholders};
use config::table;
use eval::macros::UserMacro;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult, NO_OBJECT};
use crate::found::Found;
use crate::get::Get;
use crate::methods::proxy::{self, PROXY};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Text};
use crate::object::{Field, Object, field};
use crate::plain::{self, Draft, Plain, Spec, Unique};
use crate::relate::{Relation, wanted_of};
use crate::single::Time;

pub(crate) const METHODS: &[Method] = &[
    Method::user("proxygroup.get", plain::get::<ProxyGroup>),
    Method::super_admin("proxygroup.create", plain::create::<ProxyGroup>),
    Method::super_admin("proxygroup.update", plain::update::<ProxyGroup>),
    Method::super_admin("proxygroup.delete", plain::delete::<ProxyGroup>),
];

const FIELDS: &[Field] = &[
    field("proxy_groupid", Id, ReadOnly, "Id of the proxy group."),
    field("name", Name(255), Required, "Name."),
    field(
        "failover_delay",
        Name(255),
        Optional,
        "Proxies without contact are offline after this time, 10s to 15m (default: 1m).",
    ),
    field(
        "min_online",
        Name(255),
        Optional,
        "Proxies online that the group needs, 1 to 1000 (default: 1).",
    ),
    field("description", Text(0), Optional, "Description."),
    field(
        "state",
        Int(0, 4),
        ReadOnly,
        "0 unknown, 1 offline, 2 recovering, 3 online, 4 degrading.",
    ),
];

/// Fields that `proxy.get` shows of a group.
pub(crate) const FIELDS_OF_PROXY: &[&str] =
    &["name", "failover_delay", "min_online", "description", "state"];

pub(crate) static PROXY_GROUP: Object = Object {
    name: "proxygroup",
    table: "(SELECT g.*, 0 AS state FROM proxy_groups g)",
    key: "proxy_groupid",
    keys: "proxy_groupids",
    fields: FIELDS,
    strict: true,
    sort: &["proxy_groupid", "name"],
};

const FAILOVER_DELAY: Time =
    Time { min: 10, max: 900, or_zero: false, years: false, or_macro: true };

/// Proxies online that a group may need.
const MIN_ONLINE_MAX: i64 = 1_000;

static SPEC: Spec = Spec {
    options: &["selectProxies"],
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Proxy group \"{name}\" already exists.",
    }),
    ..Spec::new(
        &PROXY_GROUP,
        &table::PROXY_GROUPS,
        &[
            ("proxy_groupids", "t.proxy_groupid IN ({ids})"),
            (
                "proxyids",
                "t.proxy_groupid IN (SELECT proxy_groupid FROM proxies WHERE proxyid IN ({ids}))",
            ),
        ],
    )
};

#[derive(Default)]
struct ProxyGroup;

impl Plain for ProxyGroup {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
        if get.flag("editable") && !call.is_super_admin() {
            get.and("1 = 0", []);
        }
        wanted_of(input, "selectProxies", &proxy::fields_in_group()).map(drop)
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        let fields = proxy::fields_in_group();
        if let Some(wanted) = wanted_of(found.params, "selectProxies", &fields)? {
            let sql = "SELECT proxy_groupid, proxyid FROM proxies WHERE proxy_groupid IN ({ids}) \
                       ORDER BY proxyid";
            let pairs = found.call.pairs(sql, &found.ids())?;
            found.relate_as(&Relation::new("proxies", &PROXY).bare(), &wanted, &pairs)?;
        }
        Ok(())
    }

    fn given(&self, call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        let sql = "SELECT proxy_groupid FROM proxy_groups WHERE proxy_groupid = ?";
        if draft.id != 0 && call.rows(sql, &[draft.id.into()])?.is_empty() {
            return Err(ApiError::params(NO_OBJECT));
        }
        if draft.gives("failover_delay") {
            let path = format!("{}/failover_delay", draft.path);
            FAILOVER_DELAY.check(&draft.text("failover_delay", None), &path)?;
        }
        if draft.gives("min_online") {
            let given = draft.text("min_online", None);
            let number = min_online(&given, &format!("{}/min_online", draft.path))?;
            draft.set("min_online", number);
        }
        Ok(())
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        refuse_used(edit, rows)?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}

/// A number of proxies, without leading zeros, or a user macro.
fn min_online(text: &str, path: &str) -> ApiResult<String> {
    if UserMacro::parse(text).is_ok() {
        return Ok(text.to_owned());
    }
    match text.parse::<i64>().ok().filter(|_| !text.starts_with('+')) {
        Some(number) if (1..=MIN_ONLINE_MAX).contains(&number) => Ok(number.to_string()),
        Some(_) => Err(ApiError::at(path, format_args!("value must be one of 1-{MIN_ONLINE_MAX}"))),
        None => Err(ApiError::at(path, format_args!("incorrect syntax near \"{text}\""))),
    }
}

/// Refuses to delete groups with proxies or hosts.
fn refuse_used(edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
    let marks = placeholders(rows.len());
    let mut first = |table: &str| {
        let sql = format!(
            "SELECT name, proxy_groupid FROM {table} WHERE proxy_groupid IN ({marks}) LIMIT 1"
        );
        let ids = id_params(rows.iter().map(|row| row.id("proxy_groupid")));
        edit.query(&sql, &ids).map(|found| {
            let found = found.into_iter().next()?;
            let of = |row: &&Row| row.id("proxy_groupid") == found.id("proxy_groupid");
            let group = rows.iter().find(of)?.text("name").to_owned();
            Some((group, found.text("name").to_owned()))
        })
    };
    if let Some((group, proxy)) = first("proxies")? {
        let text = format!("Proxy group \"{group}\" is used by proxy \"{proxy}\".");
        return Err(ApiError::params(text));
    }
    if let Some((group, host)) = first("hosts")? {
        let text = format!("Host \"{host}\" is monitored by proxy group \"{group}\".");
        return Err(ApiError::params(text));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
