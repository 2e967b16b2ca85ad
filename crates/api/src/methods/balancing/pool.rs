//! Pools: servers of one kind, and how one of them is chosen.

use std::net::IpAddr;

use balancing::{Algorithm, Eject, Persistence, ProxyVersion, Retries, ServerTls, State};
use config::Edit;
use config::db::Row;
use config::engines::Objects;
use serde_json::Value as Json;

use super::members::{
    self, Member, check_authorities, optional, optional_word, settings, typed, word,
};
use super::{Reference, Use, refuse_used, refused, require};
use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Document, Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Columns, Field, Object, field};
use crate::permission::Need;
use crate::plain::{self, Child, Draft, Key, Plain, Spec, Unique, number, refuse_twin, text};
use crate::write::Target;

pub(crate) const METHODS: &[Method] = &[
    Method::admin("pool.get", plain::get::<Pool>),
    Method::super_admin("pool.create", plain::create::<Pool>),
    Method::super_admin("pool.update", plain::update::<Pool>),
    Method::super_admin("pool.delete", plain::delete::<Pool>),
];

const FIELDS: &[Field] = &[
    field("poolid", Id, ReadOnly, "Id of the pool."),
    field("name", Name(128), Required, "Name, also in records of requests."),
    field("description", Text(65_535), Optional, "Description."),
    field("algorithm", Text(32), Optional, "How a server is chosen, such as `\"round_robin\"`."),
    field("hash_key", Text(255), Optional, "Header of the algorithm `header_hash`."),
    field("healthmonitorid", Id, Optional, "Health monitor; 0 = none."),
    field("persistence", Document, Optional, "`{type, name}`; `{}`: none."),
    field("retries", Document, Optional, "`{count, on, budget_percent}`."),
    field("eject", Document, Optional, "`{failures, for}`."),
    field("send_proxy", Text(16), Optional, "`\"v1\"`, `\"v2\"`, or `\"\"`: none."),
    field("tls", Document, Optional, "`{ca, sni}`, the authorities as PEM text; `{}`: none."),
    field("servers", Nested, Required, "Servers, at least one."),
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
    field("hostid", Id, Optional, "Monitored host that it is; 0 = none."),
];

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Pool \"{name}\" already exists.",
    }),
    children: &[Child {
        select: Some("selectServers"),
        counts: true,
        required: true,
        check: check_server,
        refer: require_hosts,
        ..Child::new("servers", "pool_servers", "poolid", Key::Position("position"), SERVER)
    }],
    ..Spec::new(
        &POOL,
        "pools",
        &[
            ("poolids", "t.poolid IN ({ids})"),
            ("healthmonitorids", "t.healthmonitorid IN ({ids})"),
            ("hostids", "t.poolid IN (SELECT poolid FROM pool_servers WHERE hostid IN ({ids}))"),
        ],
    )
};

fn check_server(rows: &[Columns], row: &mut Columns, path: &str) -> ApiResult<()> {
    if let Some(state) = text(row, "state") {
        word::<State>(&state.into(), &format!("{path}/state"))?;
    }
    refuse_twin(rows, row, &["name"], path)
}

fn require_hosts(
    call: &Call<'_>,
    edit: &mut Edit<'_>,
    rows: &[Columns],
    path: &str,
) -> ApiResult<()> {
    for (n, row) in rows.iter().enumerate() {
        let id = u64::try_from(number(row, "hostid")).unwrap_or(0);
        if id != 0 && call.allowed(edit.connection(), Target::Host, Need::Read, &[id])?.is_empty() {
            let path = format!("{path}/{}/hostid", n + 1);
            return Err(crate::write::no_object_at(&path));
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

const MEMBERS: &[Member] = &[
    ("algorithm", word::<Algorithm>),
    ("persistence", optional::<Persistence>),
    ("retries", settings::<Retries>),
    ("eject", settings::<Eject>),
    ("send_proxy", optional_word::<ProxyVersion>),
    ("tls", tls),
];

fn tls(value: &Json, path: &str) -> ApiResult<String> {
    let text = optional::<ServerTls>(value, path)?;
    if text != "{}" {
        let tls: ServerTls = typed(value, path)?;
        check_authorities(Some(&tls.ca), &format!("{path}/ca"))?;
    }
    Ok(text)
}

#[derive(Default)]
struct Pool;

impl Plain for Pool {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        members::read(draft, MEMBERS)
    }

    fn write(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        _before: Option<&Row>,
    ) -> ApiResult<()> {
        require(edit, draft, REFERENCES)
    }

    fn written(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
    ) -> ApiResult<()> {
        for draft in drafts {
            let objects = Objects::of_pools(edit.connection(), &[draft.id])
                .map_err(|error| refused(&draft.path, error))?;
            for pool in objects.pools.values() {
                pool.check().map_err(|problem| ApiError::at(&draft.path, problem))?;
            }
        }
        Ok(())
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        // Stored rules are JSON without spaces, and quotes within its texts are escaped.
        const USES: &[Use] = &[Use {
            kind: "virtual service",
            name: "SELECT name FROM virtualservices WHERE poolid = ? \
                   OR rules LIKE '%\"poolid\":\"{id}\"%' ORDER BY name",
        }];
        refuse_used(edit, rows, "Pool", "poolid", USES)?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}
