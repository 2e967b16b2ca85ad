//! Pools: servers of one kind, and how one of them is chosen.

use config::table;
use std::net::IpAddr;

use balancing::{Algorithm, Eject, Persistence, ProxyVersion, Retries, ServerTls, State, Time};
use config::Edit;
use config::db::Row;
use config::engines::Objects;
use serde_json::Value as Json;

use super::members::{
    self, Member, check_authorities, check_revocations, optional, optional_word, settings, typed,
    word,
};
use super::virtualservice::refuse_unsuitable_changes;
use super::{Reference, Use, poolgroup, refuse_used, refused, require, rules};
use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Document, Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Columns, Field, Object, field};
use crate::permission::{Need, and, on_hosts};
use crate::plain::{self, Child, Draft, Key, Plain, Seen, Select, Spec, Unique, number, text};
use crate::write::{Target, names, no_object_at};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("pool.get", plain::get::<Pool>),
    Method::super_admin("pool.create", plain::create::<Pool>),
    Method::super_admin("pool.update", plain::update::<Pool>),
    Method::super_admin("pool.delete", plain::delete::<Pool>),
];

const SLOW_START: &str = "Time in which the share of a server that comes back grows, such as \
                          `\"30s\"`; `\"\"`: it is whole at once.";

const MIN_MONITORS: &str =
    "Monitors that a server must pass, without those of type `trigger`; 0 = all.";

const HOST_MAINTENANCE: &str = "What a maintenance of the monitored host does to its server: `\"ignore\"` or \
                                `\"drain\"`.";

const FIELDS: &[Field] = &[
    field("poolid", Id, ReadOnly, "Id of the pool."),
    field(
        "name",
        Name(128),
        Required,
        "Name, also in records; unique among pools and pool groups.",
    ),
    field("description", Text(65_535), Optional, "Description."),
    field("algorithm", Text(32), Optional, "How a server is chosen, such as `\"round_robin\"`."),
    field("hash_key", Text(255), Optional, "Header of the algorithm `header_hash`."),
    field("healthmonitorid", Id, Optional, "First health monitor; 0 = none."),
    field("min_monitors", Int(0, 16), Optional, MIN_MONITORS),
    field("host_maintenance", Text(16), Optional, HOST_MAINTENANCE),
    field("persistence", Document, Optional, "`{type, name}`; `{}`: none."),
    field("retries", Document, Optional, "`{count, on, budget_percent}`."),
    field("eject", Document, Optional, "`{failures, for}`."),
    field("slow_start", Text(16), Optional, SLOW_START),
    field("send_proxy", Text(16), Optional, "`\"v1\"`, `\"v2\"`, or `\"\"`: none."),
    field(
        "tls",
        Document,
        Optional,
        "`{ca, sni, crl, expired_crl}`, authorities and revocation lists as PEM text; `{}`: none.",
    ),
    field("servers", Nested, Required, "Servers, at least one."),
    field("further_monitors", Nested, Optional, "Health monitors beside the first one."),
];

pub(crate) static POOL: Object = Object {
    name: "pool",
    table: "pools",
    key: "poolid",
    keys: "poolids",
    fields: FIELDS,
    strict: true,
    sort: &["poolid", "name"],
};

const SERVER: &[Field] = &[
    field("name", Name(128), Required, "Name, unique in the pool."),
    field("address", Name(45), Required, "IPv4 or IPv6 address.").tested(|_, text| {
        let parsed = text.parse::<IpAddr>();
        parsed.map(drop).map_err(|_| "an IPv4 or IPv6 address is expected")
    }),
    field("port", Int(1, 65_535), Required, "Port."),
    field("weight", Int(0, 65_535), Optional, "Share of requests; 0: only clients that persist."),
    field("max_connections", Int(0, 65_535), Optional, "Requests at once; 0 = unlimited."),
    field("backup", OneOf(&[0, 1]), Optional, "1 = used if no other server is available."),
    field("state", Text(16), Optional, "`up`, `drain` or `down`."),
    field("hostid", Id, Optional, "Monitored host that it is; 0 = none.").of_host(),
];

const MONITOR: &[Field] = &[field("healthmonitorid", Id, Required, "Health monitor.")];

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Pool \"{name}\" already exists.",
    }),
    children: &[
        Child {
            select: Some(Select::RowsOrCount("selectServers")),
            required: true,
            unique: &["name"],
            check: check_server,
            refer: require_hosts,
            ..Child::new(
                "servers",
                &table::POOL_SERVERS,
                "poolid",
                Key::Position("position"),
                SERVER,
            )
        },
        Child {
            select: Some(Select::RowsOrCount("selectFurtherMonitors")),
            unique: &["healthmonitorid"],
            refer: require_monitors,
            ..Child::new(
                "further_monitors",
                &table::POOL_MONITORS,
                "poolid",
                Key::Position("position"),
                MONITOR,
            )
        },
    ],
    options: &["hostids"],
    ..Spec::new(
        &POOL,
        &table::POOLS,
        &[
            ("poolids", "t.poolid IN ({ids})"),
            (
                "healthmonitorids",
                "t.poolid IN (SELECT u.poolid FROM (SELECT poolid, healthmonitorid FROM pools \
                 UNION ALL SELECT poolid, healthmonitorid FROM pool_monitors) u \
                 WHERE u.healthmonitorid IN ({ids}))",
            ),
        ],
    )
};

fn check_server(_: &mut Seen, row: &mut Columns, path: &str) -> ApiResult<()> {
    if let Some(state) = text(row, "state") {
        word::<State>(&state.into(), &format!("{path}/state"))?;
    }
    Ok(())
}

fn require_hosts(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    rows: &[Columns],
    path: &str,
) -> ApiResult<()> {
    for (n, row) in rows.iter().enumerate() {
        let id = u64::try_from(number(row, "hostid")).unwrap_or(0);
        if id != 0 && call.allowed(edit, Target::Host, Need::Read, &[id])?.is_empty() {
            let path = format!("{path}/{}/hostid", n + 1);
            return Err(no_object_at(&path));
        }
    }
    Ok(())
}

fn require_monitors(
    _call: &Call<'_>,
    edit: &mut Edit<'_>,
    rows: &[Columns],
    path: &str,
) -> ApiResult<()> {
    for (n, row) in rows.iter().enumerate() {
        let id = u64::try_from(number(row, "healthmonitorid")).unwrap_or(0);
        if names(edit, "healthmonitors", "healthmonitorid", "name", &[id])?.is_empty() {
            return Err(no_object_at(&format!("{path}/{}/healthmonitorid", n + 1)));
        }
    }
    Ok(())
}

const REFERENCES: &[Reference] = &[Reference {
    column: "healthmonitorid",
    table: "healthmonitors",
    key: "healthmonitorid",
    optional: true,
}];

/// What a maintenance of a host does to its server.
#[derive(serde::Deserialize)]
#[serde(rename_all = "lowercase")]
enum HostMaintenance {
    Ignore,
    Drain,
}

const MEMBERS: &[Member] = &[
    ("host_maintenance", word::<HostMaintenance>),
    ("algorithm", word::<Algorithm>),
    ("persistence", optional::<Persistence>),
    ("retries", settings::<Retries>),
    ("eject", settings::<Eject>),
    ("slow_start", optional_word::<Time>),
    ("send_proxy", optional_word::<ProxyVersion>),
    ("tls", tls),
];

fn tls(value: &Json, path: &str) -> ApiResult<String> {
    let text = optional::<ServerTls>(value, path)?;
    if text != "{}" {
        let tls: ServerTls = typed(value, path)?;
        check_authorities(Some(&tls.ca), &format!("{path}/ca"))?;
        check_revocations(tls.crl.as_ref(), &format!("{path}/crl"))?;
    }
    Ok(text)
}

#[derive(Default)]
struct Pool;

impl Plain for Pool {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, _input: &Json) -> ApiResult<()> {
        let seen = and(on_hosts(call.user(), Need::Read, "hostid"));
        let condition = format!(
            "t.poolid IN (SELECT poolid FROM pool_servers WHERE hostid IN ({{ids}}){seen})"
        );
        get.by_ids("hostids", &condition)
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        members::read(draft, MEMBERS)
    }

    fn write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        _before: Option<&Row>,
    ) -> ApiResult<()> {
        poolgroup::refuse_name_of(call, edit, draft, "pool_groups", "pool group")?;
        require(edit, draft, REFERENCES)
    }

    fn written(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
    ) -> ApiResult<()> {
        for draft in drafts {
            let objects = Objects::of_pools(edit, &[draft.id])
                .map_err(|error| refused(&draft.path, error))?;
            for pool in objects.pools.values() {
                pool.check().map_err(|problem| ApiError::at(&draft.path, problem))?;
            }
            let users = "WITH changed (poolid) AS (SELECT CAST(? AS BIGINT)) \
                         SELECT virtualserviceid FROM virtualservices \
                         WHERE poolid IN (SELECT poolid FROM changed) OR poolgroupid IN \
                           (SELECT m.poolgroupid FROM pool_group_members m \
                            JOIN changed c ON c.poolid = m.poolid)";
            refuse_unsuitable_changes(edit, draft, users)?;
        }
        Ok(())
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        const USES: &[Use] = &[
            Use {
                kind: "virtual service",
                name: "SELECT name FROM virtualservices WHERE poolid = ? ORDER BY name",
            },
            Use {
                kind: "pool group",
                name: "SELECT name FROM pool_groups WHERE poolgroupid IN \
                       (SELECT poolgroupid FROM pool_group_members WHERE poolid = ?) ORDER BY name",
            },
        ];
        refuse_used(edit, rows, "Pool", "poolid", USES)?;
        rules::refuse_chosen(edit, rows, "Pool", "poolid")?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}
