//! Engine groups: engines with the same configuration.

use balancing::Pem;
use config::Edit;
use config::db::Row;
use config::engines::{Desired, Objects};
use config::table;
use serde_json::{Value as Json, json};

use super::{Use, refuse_used, refused};
use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::methods::balancing::{engine, virtualservice};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Name, Text};
use crate::object::{Field, Object, field};
use crate::plain::{self, Plain, Related, Spec, Unique};
use crate::relate::Relation;
use crate::write::{only, required_list};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("enginegroup.get", plain::get::<EngineGroup>),
    Method::super_admin("enginegroup.create", plain::create::<EngineGroup>),
    Method::super_admin("enginegroup.update", plain::update::<EngineGroup>),
    Method::super_admin("enginegroup.delete", plain::delete::<EngineGroup>),
];

const FIELDS: &[Field] = &[
    field("enginegroupid", Id, ReadOnly, "Id of the engine group."),
    field("name", Name(128), Required, "Name."),
    field("description", Text(65_535), Optional, "Description."),
];

pub(crate) static ENGINE_GROUP: Object = Object {
    name: "enginegroup",
    table: "enginegroups",
    key: "enginegroupid",
    keys: "enginegroupids",
    fields: FIELDS,
    strict: true,
    sort: &["enginegroupid", "name"],
};

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Engine group \"{name}\" already exists.",
    }),
    relations: &[
        Related {
            select: "selectEngines",
            counts: true,
            relation: Relation::new("engines", &engine::ENGINE),
            pairs: "SELECT enginegroupid, engineid FROM engines WHERE enginegroupid IN ({ids}) \
                    ORDER BY engineid",
        },
        Related {
            select: "selectVirtualServices",
            counts: true,
            relation: Relation::new("virtualservices", &virtualservice::VIRTUAL_SERVICE),
            pairs: "SELECT enginegroupid, virtualserviceid FROM virtualservices \
                    WHERE enginegroupid IN ({ids}) ORDER BY virtualserviceid",
        },
    ],
    ..Spec::new(
        &ENGINE_GROUP,
        &table::ENGINEGROUPS,
        &[("enginegroupids", "t.enginegroupid IN ({ids})")],
    )
};

#[derive(Default)]
struct EngineGroup;

impl Plain for EngineGroup {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        const USES: &[Use] = &[
            Use {
                kind: "virtual service",
                name: "SELECT name FROM virtualservices WHERE enginegroupid = ? ORDER BY name",
            },
            Use {
                kind: "engine",
                name: "SELECT name FROM engines WHERE enginegroupid = ? ORDER BY name",
            },
        ];
        refuse_used(edit, rows, "Engine group", "enginegroupid", USES)?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}

/// The configuration that the engines of groups should run, with its hash. Private keys and other secrets are
/// hidden.
pub(super) fn configuration(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = input.as_object().ok_or_else(|| ApiError::at("/", "an object is expected"))?;
    only(members, "/", &["enginegroupids"])?;
    let ids = required_list(input, "enginegroupids")?;
    let known = "SELECT enginegroupid FROM enginegroups WHERE enginegroupid = ?";
    call.read(|connection| {
        let mut out = Vec::new();
        for id in ids {
            if connection.query(known, &[id.into()])?.is_empty() {
                return Err(ApiError::no_object());
            }
            let failed = |error| refused("/enginegroupids", error);
            let objects = Objects::of_group(connection, id).map_err(failed)?;
            let mut shown = objects.config();
            for certificate in &mut shown.certificates {
                certificate.key = Pem::Text("******".to_owned());
            }
            for service in &mut shown.virtual_services {
                if let Some(policies) = &mut service.authentication {
                    policies.hide();
                }
            }
            out.push(json!({
                "enginegroupid": id.to_string(),
                "hash": Desired::of(&objects).hash,
                "configuration": serde_json::to_value(shown).expect("BUG: plain data is JSON"),
            }));
        }
        Ok(Json::Array(out))
    })
}
