//! Virtual services: what clients connect to.

use balancing::{Cache, Compression, Forwarded, Kind, Limits, Network, RateLimit, Timeouts, Tls};
use config::Edit;
use config::db::{Row, Value};
use config::engines::Objects;
use config::table;
use serde_json::{Value as Json, json};

use super::members::{
    self, Member, check_authorities, check_revocations, list, object, optional, settings, typed,
    word,
};
use super::{Reference, authentication, poolgroup, refused, require, rules};
use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Get;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Document, Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};
use crate::plain::{self, Child, Draft, Key, Plain, Select, Spec, Unique, number};
use crate::tags;
use crate::write::{names, no_object_at};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("virtualservice.get", plain::get::<VirtualService>),
    Method::super_admin("virtualservice.create", plain::create::<VirtualService>),
    Method::super_admin("virtualservice.update", plain::update::<VirtualService>),
    Method::super_admin("virtualservice.delete", plain::delete::<VirtualService>),
];

const FIELDS: &[Field] = &[
    field("virtualserviceid", Id, ReadOnly, "Id of the virtual service."),
    field("name", Name(128), Required, "Name, also in records of requests."),
    field("description", Text(65_535), Optional, "Description."),
    field("status", OneOf(&[0, 1]), Optional, "1 = disabled: engines do not have it."),
    field("type", Text(16), Optional, "`\"http\"`, `\"tcp\"` or `\"udp\"`."),
    field("enginegroupid", Id, Required, "Engine group that serves it."),
    field("vipid", Id, Required, "VIP with its addresses."),
    field("port", Int(1, 65_535), Required, "Port on all addresses of the VIP."),
    field("poolid", Id, Optional, "Default pool; 0 = none, there is a pool group."),
    field("poolgroupid", Id, Optional, "Default pool group; 0 = none, there is a pool."),
    field("accept_proxy", OneOf(&[0, 1]), Optional, "1 = connections begin with a PROXY header."),
    field(
        "tls",
        Document,
        Optional,
        "`{alpn, alt_svc, min_version, strict_sni, client_ca, client_auth, client_crl, expired_crl}`.",
    ),
    field(
        "timeouts",
        Document,
        Optional,
        "`{client_header, client_body, keepalive, server, connect, queue, tunnel, session}`.",
    ),
    field(
        "limits",
        Document,
        Optional,
        "`{uri, header_bytes, headers, body, connections, h2_streams, sessions, client_sessions, \
         responses}`.",
    ),
    field("rate_limit", Document, Optional, "`{by, name, requests, per, status}`; `{}`: none."),
    field(
        "authentication",
        Document,
        Optional,
        "`{require, basic, jwt}`; `{}`: none. Hashes of passwords and secrets are shown as `******`, which \
         keeps them in an update.",
    ),
    field(
        "compression",
        Document,
        Optional,
        "`{algorithms, types, min_length, level, streams}`; `{}`: none.",
    ),
    field(
        "cache",
        Document,
        Optional,
        "Responses that engines keep in memory: `{size, max_object, max_objects, key_headers, stale_if_error, \
         stale_while_revalidate, collapse, status_header}`; `{}`: none.",
    ),
    field(
        "mirror",
        Document,
        Optional,
        "Copies of requests for another pool: `{poolid, percent, max_body, concurrent}`, or `poolgroupid` instead; \
         `{}`: none.",
    ),
    field(
        "forwarded",
        Document,
        Optional,
        "`{x_forwarded_for, x_forwarded_proto, x_forwarded_port, forwarded, via, client_cert}`.",
    ),
    field(
        "rules",
        Document,
        Optional,
        "`[{if, then}]`; `then.poolid` or `then.poolgroupid` chooses. `then.mirror` is like `mirror`. \
         `then.script`: `{request, response, pools, timeout, on_error}`; `pools` is `[{poolid}]`, or `poolgroupid` instead.",
    ),
    field("allow", Document, Optional, "Networks that may connect; empty: all."),
    field("deny", Document, Optional, "Networks that may not connect."),
    field("certificates", Nested, Optional, "`[{certificateid}]`, the default first; TLS if any."),
    field("tags", Nested, Optional, "`[{tag, value}]`."),
];

pub(crate) static VIRTUAL_SERVICE: Object = Object {
    name: "virtualservice",
    table: "virtualservices",
    key: "virtualserviceid",
    keys: "virtualserviceids",
    fields: FIELDS,
    strict: true,
    sort: &["virtualserviceid", "name", "port", "status"],
};

const CERTIFICATE: &[Field] = &[field("certificateid", Id, Required, "Certificate.")];

const TAG: &[Field] = &[
    field("tag", Name(255), Required, "Name of the tag."),
    field("value", Text(255), Optional, "Value of the tag."),
];

static SPEC: Spec = Spec {
    options: &["tags", "evaltype"],
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Virtual service \"{name}\" already exists.",
    }),
    children: &[
        Child {
            select: Some(Select::Rows("selectCertificates")),
            unique: &["certificateid"],
            refer: |_, edit, rows, path| {
                for (n, row) in rows.iter().enumerate() {
                    let id = u64::try_from(number(row, "certificateid")).unwrap_or(0);
                    if names(edit, "certificates", "certificateid", "name", &[id])?.is_empty() {
                        return Err(no_object_at(&format!("{path}/{}/certificateid", n + 1)));
                    }
                }
                Ok(())
            },
            ..Child::new(
                "certificates",
                &table::VIRTUALSERVICE_CERTIFICATES,
                "virtualserviceid",
                Key::Position("position"),
                CERTIFICATE,
            )
        },
        Child {
            select: Some(Select::Rows("selectTags")),
            unique: &["tag", "value"],
            ..Child::new(
                "tags",
                &table::VIRTUALSERVICE_TAGS,
                "virtualserviceid",
                Key::Id("virtualservicetagid"),
                TAG,
            )
        },
    ],
    ..Spec::new(
        &VIRTUAL_SERVICE,
        &table::VIRTUALSERVICES,
        &[
            ("virtualserviceids", "t.virtualserviceid IN ({ids})"),
            ("enginegroupids", "t.enginegroupid IN ({ids})"),
            ("vipids", "t.vipid IN ({ids})"),
            ("poolids", "t.poolid IN ({ids})"),
            ("poolgroupids", "t.poolgroupid IN ({ids})"),
            (
                "certificateids",
                "t.virtualserviceid IN (SELECT virtualserviceid FROM virtualservice_certificates \
                 WHERE certificateid IN ({ids}))",
            ),
        ],
    )
};

const REFERENCES: &[Reference] = &[
    Reference {
        column: "enginegroupid",
        table: "enginegroups",
        key: "enginegroupid",
        optional: false,
    },
    Reference { column: "vipid", table: "vips", key: "vipid", optional: false },
    Reference { column: "poolid", table: "pools", key: "poolid", optional: true },
    Reference { column: "poolgroupid", table: "pool_groups", key: "poolgroupid", optional: true },
];

const MEMBERS: &[Member] = &[
    ("type", word::<Kind>),
    ("tls", tls),
    ("timeouts", settings::<Timeouts>),
    ("limits", settings::<Limits>),
    ("rate_limit", optional::<RateLimit>),
    ("authentication", authentication::read),
    ("compression", optional::<Compression>),
    ("cache", optional::<Cache>),
    ("mirror", rules::read_mirror),
    ("forwarded", settings::<Forwarded>),
    ("rules", rules::read),
    ("allow", list::<Network>),
    ("deny", list::<Network>),
];

/// Certificates are objects, so they are a list of their own.
fn tls(value: &Json, path: &str) -> ApiResult<String> {
    let members = object(value, path)?;
    if members.get("certificates").is_some() {
        let text =
            "unexpected parameter \"certificates\"; set the member \"certificates\" of the service";
        return Err(ApiError::at(path, text));
    }
    let mut of_engine = members.clone();
    of_engine["certificates"] = json!(["of the service"]);
    let tls: Tls = typed(&of_engine, path)?;
    check_authorities(tls.client_ca.as_ref(), &format!("{path}/client_ca"))?;
    check_revocations(tls.client_crl.as_ref(), &format!("{path}/client_crl"))?;
    Ok(members.to_string())
}

#[derive(Default)]
struct VirtualService;

impl Plain for VirtualService {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, _call: &Call<'_>, input: &Json) -> ApiResult<()> {
        let own =
            |test: &str| format!("SELECT virtualserviceid FROM virtualservice_tags WHERE {test}");
        if let Some((condition, values)) = tags::condition(input, "t.virtualserviceid", own)? {
            get.and(condition, values);
        }
        Ok(())
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        authentication::show(found);
        Ok(())
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        members::read(draft, MEMBERS)
    }

    fn write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        poolgroup::require_one_target(draft, before)?;
        require(edit, draft, REFERENCES)?;
        rules::require_pools(edit, draft)?;
        authentication::restore(draft, before);
        match call.checks_uniqueness() {
            true => refuse_same_address(edit, draft, before),
            false => Ok(()),
        }
    }

    fn written(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
    ) -> ApiResult<()> {
        for draft in drafts {
            let objects = Objects::of_services(edit, &[draft.id])
                .map_err(|error| refused(&draft.path, error))?;
            for service in &objects.services {
                let checked = service.config.check();
                checked.map_err(|problem| ApiError::at(&draft.path, problem))?;
            }
            refuse_unsuitable_pools(&objects)
                .map_err(|problem| ApiError::at(&format!("{}/poolid", draft.path), problem))?;
            refuse_ignored_tls(draft, &objects)?;
        }
        Ok(())
    }
}

/// Refuses services whose default pool, or a member of whose group, has what their type has not. The error is
/// without the path.
pub(super) fn refuse_unsuitable_pools(objects: &Objects) -> Result<(), String> {
    for service in &objects.services {
        let target = &service.config.pool;
        let group = objects.pool_groups.values().find(|group| group.name == *target);
        let members = group.into_iter().flat_map(|group| &group.members);
        let names: Vec<&String> = members.map(|member| &member.pool).chain([target]).collect();
        let mut pools = objects.pools.values().filter(|pool| names.contains(&&pool.name));
        pools.try_for_each(|pool| service.config.check_pool(pool))?;
    }
    Ok(())
}

/// Refuses a change of what these services send to. `users` selects `virtualserviceid` by one id.
pub(super) fn refuse_unsuitable_changes(
    edit: &mut Edit<'_>,
    draft: &Draft<'_>,
    users: &str,
) -> ApiResult<()> {
    let users = edit.query(users, &[Value::from(draft.id)])?;
    let users: Vec<u64> = users.iter().map(|row| row.id("virtualserviceid")).collect();
    let objects =
        Objects::of_services(edit, &users).map_err(|error| refused(&draft.path, error))?;
    refuse_unsuitable_pools(&objects).map_err(|problem| ApiError::at(&draft.path, problem))
}

/// Two services cannot have one address and port, also while one of them is disabled. Datagrams and
/// connections have ports of their own.
fn refuse_same_address(
    edit: &mut Edit<'_>,
    draft: &Draft<'_>,
    before: Option<&Row>,
) -> ApiResult<()> {
    let [vip, port] = ["vipid", "port"].map(|column| draft.value(column, before));
    let same = if draft.text("type", before) == "udp" { "=" } else { "<>" };
    let sql = &format!(
        "SELECT name FROM virtualservices WHERE vipid = ? AND port = ? \
         AND virtualserviceid <> ? AND type {same} 'udp'"
    );
    let rows = edit.query(sql, &[vip, port.clone(), Value::from(draft.id)])?;
    rows.first().map_or(Ok(()), |row| {
        Err(ApiError::at(
            &format!("{}/port", draft.path),
            format_args!(
                "port {port} of this VIP belongs to virtual service \"{}\"; choose another port or VIP",
                row.text("name")
            ),
        ))
    })
}

/// Refuses TLS settings of a service without certificates: they would have no effect, and a service
/// that is meant to check client certificates would accept every client.
fn refuse_ignored_tls(draft: &Draft<'_>, objects: &Objects) -> ApiResult<()> {
    let given = draft.gives("tls") && draft.text("tls", None) != "{}";
    if given && objects.services.iter().any(|service| service.config.tls.is_none()) {
        let text = "TLS needs at least one certificate; set \"certificates\"";
        return Err(ApiError::at(&format!("{}/tls", draft.path), text));
    }
    Ok(())
}
