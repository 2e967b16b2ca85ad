//! Health monitors: how engines check the servers of pools.

use balancing::{HealthKind, Time};
use config::Edit;
use config::db::Row;

use super::members::{self, Member, word};
use super::{Use, refuse_used};
use crate::call::{Call, Method};
use crate::error::ApiResult;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Text};
use crate::object::{Field, Object, field};
use crate::plain::{self, Draft, Plain, Spec, Unique};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("healthmonitor.get", plain::get::<HealthMonitor>),
    Method::super_admin("healthmonitor.create", plain::create::<HealthMonitor>),
    Method::super_admin("healthmonitor.update", plain::update::<HealthMonitor>),
    Method::super_admin("healthmonitor.delete", plain::delete::<HealthMonitor>),
];

const FIELDS: &[Field] = &[
    field("healthmonitorid", Id, ReadOnly, "Id of the health monitor."),
    field("name", Name(128), Required, "Name."),
    field("description", Text(65_535), Optional, "Description."),
    field("type", Name(16), Required, "`\"tcp\"`: connects; `\"http\"`: requests a path."),
    field("path", Text(2048), Optional, "Path and query of the request.")
        .tested(|_, text| if balancing::is_path(text) { Ok(()) } else { Err(NO_PATH) }),
    field("status", Int(100, 599), Optional, "Expected status."),
    field("body", Text(255), Optional, "Text that the first 16 KiB of the response contain."),
    field("interval", Text(16), Optional, "Time between two checks, such as `\"5s\"`."),
    field("timeout", Text(16), Optional, "Time of one check, such as `\"500ms\"`."),
    field("up", Int(1, 100), Optional, "Successes until the server is used."),
    field("down", Int(1, 100), Optional, "Failures until the server is no longer used."),
];

pub(crate) static HEALTH_MONITOR: Object = Object {
    name: "healthmonitor",
    table: "healthmonitors",
    key: "healthmonitorid",
    keys: "healthmonitorids",
    fields: FIELDS,
    strict: true,
    sort: &["healthmonitorid", "name"],
};

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Health monitor \"{name}\" already exists.",
    }),
    ..Spec::new(
        &HEALTH_MONITOR,
        "healthmonitors",
        &[("healthmonitorids", "t.healthmonitorid IN ({ids})")],
    )
};

const NO_PATH: &str = "a path that begins with / and has no spaces is expected";

const MEMBERS: &[Member] =
    &[("type", word::<HealthKind>), ("interval", word::<Time>), ("timeout", word::<Time>)];

#[derive(Default)]
struct HealthMonitor;

impl Plain for HealthMonitor {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        members::read(draft, MEMBERS)
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        const USES: &[Use] = &[Use {
            kind: "pool",
            name: "SELECT name FROM pools WHERE healthmonitorid = ? ORDER BY name",
        }];
        refuse_used(edit, rows, "Health monitor", "healthmonitorid", USES)?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}
