//! Health monitors: how engines check the servers of pools.

use balancing::{DnsMonitor, HealthKind, ScriptMonitor, Time, UdpMonitor};
use config::Edit;
use config::db::Row;
use config::engines::hosts::TriggerFilter;
use config::engines::{Objects, pools_of_monitor};
use config::table;
use serde_json::Value as Json;

use super::members::{self, Member, optional, word};
use super::{Use, refuse_used, refused};
use crate::call::{Call, Method};
use crate::error::{ApiError, ApiResult};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Document, Id, Int, Name, Text};
use crate::object::{Field, Object, field};
use crate::plain::{self, Draft, Plain, Spec, Unique};

pub(crate) const METHODS: &[Method] = &[
    Method::admin("healthmonitor.get", plain::get::<HealthMonitor>),
    Method::super_admin("healthmonitor.create", plain::create::<HealthMonitor>),
    Method::super_admin("healthmonitor.update", plain::update::<HealthMonitor>),
    Method::super_admin("healthmonitor.delete", plain::delete::<HealthMonitor>),
];

const TRIGGER_FILTER: &str = "Of type `trigger`: `{name, tags, min_severity, effect}`; `{}`: any problem, and the \
                              server is down.";

const FIELDS: &[Field] = &[
    field("healthmonitorid", Id, ReadOnly, "Id of the health monitor."),
    field("name", Name(128), Required, "Name."),
    field("description", Text(65_535), Optional, "Description."),
    field(
        "type",
        Name(16),
        Required,
        "`\"tcp\"`: connects; `\"http\"`: requests a path; `\"udp\"`: sends a datagram; \
         `\"dns\"`: sends a query of DNS; `\"smtp\"`: EHLO; `\"icmp\"`: ping; `\"script\"`: runs a program; \
         `\"trigger\"`: problems of the server's monitored host.",
    ),
    field("path", Text(2048), Optional, "Path and query of the request.")
        .tested(|_, text| if balancing::is_path(text) { Ok(()) } else { Err(NO_PATH) }),
    field("status", Int(100, 599), Optional, "Expected status."),
    field("body", Text(255), Optional, "Text that the first 16 KiB of the response contain."),
    field("udp", Document, Optional, "Of type `udp`: `{send, expect}`; `{}`: none."),
    field("dns", Document, Optional, "Of type `dns`: `{name, type, rcodes}`; `{}`: none."),
    field("script", Document, Optional, "Of type `script`: `{program, parameters}`; `{}`: none."),
    field("trigger_filter", Document, Optional, TRIGGER_FILTER),
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
        &table::HEALTHMONITORS,
        &[("healthmonitorids", "t.healthmonitorid IN ({ids})")],
    )
};

const NO_PATH: &str = "a path that begins with / and has no spaces is expected";

const MEMBERS: &[Member] = &[
    ("type", kind),
    ("udp", optional::<UdpMonitor>),
    ("dns", optional::<DnsMonitor>),
    ("script", optional::<ScriptMonitor>),
    ("trigger_filter", optional::<TriggerFilter>),
    ("interval", word::<Time>),
    ("timeout", word::<Time>),
];

/// Types of engines, and the one of the server.
fn kind(value: &Json, path: &str) -> ApiResult<String> {
    const TRIGGER: &str = "trigger";
    if value == TRIGGER { Ok(TRIGGER.to_owned()) } else { word::<HealthKind>(value, path) }
}

#[derive(Default)]
struct HealthMonitor;

impl Plain for HealthMonitor {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        members::read(draft, MEMBERS)
    }

    fn written(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
    ) -> ApiResult<()> {
        for draft in drafts {
            let monitors = config::engines::monitors(edit, &[draft.id])
                .map_err(|error| refused(&draft.path, error))?;
            for monitor in monitors.values() {
                monitor.check().map_err(|problem| ApiError::at(&draft.path, problem))?;
            }
            // A pool may need the monitor as it was: its name, or that engines make it.
            let pools = pools_of_monitor(edit, draft.id)?;
            let objects =
                Objects::of_pools(edit, &pools).map_err(|error| refused(&draft.path, error))?;
            for pool in objects.pools.values() {
                pool.check().map_err(|problem| {
                    let name = &pool.name;
                    ApiError::at(&draft.path, format_args!("pool '{name}' uses it: {problem}"))
                })?;
            }
        }
        Ok(())
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        const USES: &[Use] = &[Use {
            kind: "pool",
            name: "WITH gone (id) AS (SELECT CAST(? AS BIGINT)) SELECT name FROM pools \
                   WHERE healthmonitorid IN (SELECT id FROM gone) OR poolid IN \
                     (SELECT m.poolid FROM pool_monitors m JOIN gone ON gone.id = m.healthmonitorid) \
                   ORDER BY name",
        }];
        refuse_used(edit, rows, "Health monitor", "healthmonitorid", USES)?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}
