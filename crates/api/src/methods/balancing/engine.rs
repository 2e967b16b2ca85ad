//! Engines: processes that serve the virtual services of their group.

use config::table;
use std::collections::BTreeMap;

use config::Edit;
use config::db::Row;
use config::db::Value;
use config::engines::{self, Desired};
use serde_json::{Value as Json, json};

use super::{Reference, refused, require};
use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Get;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};
use crate::plain::{self, Draft, Plain, Spec, Unique};
use crate::{params, session};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("engine.get", plain::get::<Engine>),
    Method::super_admin("engine.create", plain::create::<Engine>),
    Method::super_admin("engine.update", plain::update::<Engine>),
    Method::super_admin("engine.delete", plain::delete::<Engine>),
];

/// An enrolment token works for an hour.
const ENROLMENT_S: u64 = 3_600;

const FIELDS: &[Field] = &[
    field("engineid", Id, ReadOnly, "Id of the engine."),
    field("name", Name(128), Required, "Name, also in records of requests."),
    field("description", Text(65_535), Optional, "Description."),
    field("enginegroupid", Id, Required, "Engine group."),
    field(
        "drain",
        OneOf(&[0, 1]),
        Optional,
        "1 = its VIPs move to other engines, and it gets no others.",
    ),
    field("enrolment_expires_at", Int(0, i64::MAX), ReadOnly, "End of its token; 0 = it has none."),
    field("lastaccess", Int(0, i64::MAX), ReadOnly, "Unix time of its last report; 0 = none."),
    field("address", Text(0), ReadOnly, "Address that it reports from."),
    field("running_hash", Text(64), ReadOnly, "Hash of the configuration that it runs."),
    field("error", Text(0), ReadOnly, "Why it does not run the newest configuration."),
    field("desired_hash", Nested, ReadOnly, "Hash of the configuration of its group."),
    field("version", Text(64), ReadOnly, "Version of its program."),
    field("connected_at", Int(0, i64::MAX), ReadOnly, "Unix time of the begin of its connection."),
    field(
        "certificate_until",
        Int(0, i64::MAX),
        ReadOnly,
        "Unix time of the end of its certificate, which it renews before.",
    ),
];

/// Reports are written as state.
const SOURCE: &str = "(SELECT e.*, COALESCE(s.lastaccess, 0) AS lastaccess, \
                      COALESCE(s.address, '') AS address, \
                      COALESCE(s.running_hash, '') AS running_hash, \
                      COALESCE(s.error, '') AS error, COALESCE(s.version, '') AS version, \
                      COALESCE(s.connected_at, 0) AS connected_at, \
                      COALESCE(s.certificate_until, 0) AS certificate_until \
                      FROM engines e LEFT JOIN engine_states s ON s.engineid = e.engineid)";

pub(crate) static ENGINE: Object = Object {
    name: "engine",
    table: SOURCE,
    key: "engineid",
    keys: "engineids",
    fields: FIELDS,
    strict: true,
    sort: &["engineid", "name", "lastaccess"],
};

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Engine \"{name}\" already exists.",
    }),
    ..Spec::new(
        &ENGINE,
        &table::ENGINES,
        &[("engineids", "t.engineid IN ({ids})"), ("enginegroupids", "t.enginegroupid IN ({ids})")],
    )
};

#[derive(Default)]
struct Engine;

impl Plain for Engine {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, _call: &Call<'_>, _input: &Json) -> ApiResult<()> {
        get.need(&["enginegroupid"]);
        Ok(())
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        if !found.output.has("desired_hash") {
            return Ok(());
        }
        let mut hashes: BTreeMap<u64, String> = BTreeMap::new();
        for row in &mut found.rows {
            let group = row.row.id("enginegroupid");
            let hash = match hashes.get(&group) {
                Some(hash) => hash.clone(),
                None => {
                    let desired = found.call.read(|connection| {
                        Desired::of_group(connection, group).map_err(|error| refused("", error))
                    })?;
                    hashes.entry(group).or_insert(desired.hash).clone()
                }
            };
            row.out.insert("desired_hash", hash.into());
        }
        Ok(())
    }

    fn write(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        _before: Option<&Row>,
    ) -> ApiResult<()> {
        const REFERENCES: &[Reference] = &[Reference {
            column: "enginegroupid",
            table: "enginegroups",
            key: "enginegroupid",
            optional: false,
        }];
        require(edit, draft, REFERENCES)
    }
}

/// Makes enrolment tokens, each for one engine; the older ones stop to work. A token is shown here only. It
/// ends with the fingerprint of the authority by which the engine recognises this server.
pub(super) fn generate(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    let Some(authority) = &call.api.deps.engine_authority else {
        return Err(ApiError::params(
            "The server does not listen for engines: start it with --engines ADDRESS.",
        ));
    };
    let expires_at = call.now() + ENROLMENT_S;
    call.write(|edit| {
        plain::rows(&SPEC, edit, &ids)?;
        let mut out = Vec::new();
        for id in &ids {
            let token = session::random_hex(32)?;
            let columns = [
                ("enrolment_digest", Value::from(engines::digest(&token))),
                ("enrolment_expires_at", expires_at.into()),
            ];
            edit.update(&table::ENGINES, *id, &columns)?;
            out.push(json!({
                "engineid": id.to_string(),
                "token": format!("{token}.{authority}"),
                "expires_at": expires_at.to_string(),
            }));
        }
        Ok(Json::Array(out))
    })
}
