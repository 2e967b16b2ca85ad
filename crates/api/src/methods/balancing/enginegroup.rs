//! Engine groups: engines with the same configuration.

use balancing::{Announce, Pem, Speaker};
use config::Edit;
use config::db::Row;
use config::engines::{Desired, Objects};
use config::table;
use serde_json::{Value as Json, json};

use super::members::{self, Member};
use super::{Use, refuse_used, refused};
use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::methods::balancing::{engine, virtualservice};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Document, Id, Int, Name, OneOf, Text};
use crate::object::{Field, Object, field};
use crate::plain::{self, Draft, Plain, Related, Spec, Unique};
use crate::relate::Relation;
use crate::write::{only, required_list};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("enginegroup.get", plain::get::<EngineGroup>),
    Method::super_admin("enginegroup.create", plain::create::<EngineGroup>),
    Method::super_admin("enginegroup.update", plain::update::<EngineGroup>),
    Method::super_admin("enginegroup.delete", plain::delete::<EngineGroup>),
];

/// Values of `ha_mode`.
const N_PLUS_M: i64 = 1;
const ACTIVE_STANDBY: i64 = 2;

const FIELDS: &[Field] = &[
    field("enginegroupid", Id, ReadOnly, "Id of the engine group."),
    field("name", Name(128), Required, "Name."),
    field("description", Text(65_535), Optional, "Description."),
    field("ha_mode", OneOf(&[0, 1, 2]), Optional, HA_MODE),
    field("placement", OneOf(&[0, 1]), Optional, PLACEMENT),
    field("engines_per_vip", Int(0, 1_000), Optional, ENGINES_PER_VIP),
    field("spare_engines", Int(0, 1_000), Optional, SPARE_ENGINES),
    field("vips_per_engine", Int(0, 20_000), Optional, "VIPs of an engine at most; 0 = no limit."),
    field("rebalance", OneOf(&[0, 1]), Optional, REBALANCE),
    field("failover_after", Int(1, 600), Optional, FAILOVER_AFTER),
    field("announce", Document, Optional, ANNOUNCE),
];

const HA_MODE: &str = "0 = active/active: a VIP has several engines; 1 = N+M: room of spare engines \
                       stays free; 2 = active/standby: a VIP has one engine, another takes over.";
const PLACEMENT: &str = "0 = distributed: the engine with the fewest VIPs gets the next one; 1 = compact: the \
                         one with the most that has room.";
const ENGINES_PER_VIP: &str =
    "Engines that announce a VIP; 0 = all with `ha_mode` 0, one with 1. With 2 it is one.";
const SPARE_ENGINES: &str = "Engines whose room stays free for VIPs of failed ones, with `ha_mode` 1; needs \
                             `vips_per_engine`.";
const REBALANCE: &str = "1 = VIPs return to an engine that returns, and spread to a new one; each move \
                         breaks connections.";
const FAILOVER_AFTER: &str =
    "Seconds without connection after which other engines take the VIPs of an engine over.";
const ANNOUNCE: &str = "How engines announce VIPs, as `announce` of the engine's file; `{}` = as the file of \
                        each engine says.";

const MEMBERS: &[Member] = &[("announce", announce)];

fn announce(value: &Json, path: &str) -> ApiResult<String> {
    let text = members::optional::<Announce>(value, path)?;
    if text == "{}" {
        return Ok(text);
    }
    let announce = members::typed::<Announce>(value, path)?;
    announce.check().map_err(|error| ApiError::at(path, error))?;
    if matches!(announce.speaker, Speaker::Keepalived(_)) {
        let problem =
            "keepalived has addresses of one machine; use the file of each engine (--announce)";
        return Err(ApiError::at(path, problem));
    }
    Ok(text)
}

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

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        members::read(draft, MEMBERS)
    }

    fn write(
        &self,
        _call: &Call<'_>,
        _edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        let number = |column| draft.value(column, before).as_int();
        let refuse =
            |column: &str, text: &str| Err(ApiError::at(&format!("{}/{column}", draft.path), text));
        let (mode, spare) = (number("ha_mode"), number("spare_engines"));
        if spare > 0 && mode != N_PLUS_M {
            return refuse(
                "spare_engines",
                "only groups with \"ha_mode\" 1 have spare engines; set 0",
            );
        }
        if spare > 0 && number("vips_per_engine") == 0 {
            let text = "room is counted in VIPs; set \"vips_per_engine\"";
            return refuse("spare_engines", text);
        }
        if number("engines_per_vip") > 1 && mode == ACTIVE_STANDBY {
            let text = "a VIP of an active/standby group has one engine; set 0 or 1";
            return refuse("engines_per_vip", text);
        }
        Ok(())
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
