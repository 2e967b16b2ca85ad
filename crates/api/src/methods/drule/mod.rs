//! Network discovery: rules, their checks, and the hosts and services that they found.

mod checks;
mod write;

use config::Edit;
use config::db::Row;
use config::table;
use const_format::formatcp;
use objects::UserType;
use objects::sql::KIND_HOST;

use crate::call::{Call, Json, Method};
use crate::error::ApiResult;
use crate::get::Get;
use crate::methods::host;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, FieldKind, Object, field};
use crate::plain::{self, Plain, Related, Spec};
use crate::relate::Relation;

pub(crate) const METHODS: &[Method] = &[
    Method::user("drule.get", |call, input| plain::read(&RULES, call, input)),
    Method::admin("drule.create", write::create),
    Method::admin("drule.update", write::update),
    Method::admin("drule.delete", |call, input| plain::remove(&RULES, call, input)),
    Method::user("dcheck.get", |call, input| plain::read(&CHECKS, call, input)),
    Method::user("dhost.get", |call, input| plain::read(&HOSTS, call, input)),
    Method::user("dservice.get", |call, input| plain::read(&SERVICES, call, input)),
];

const TIME: FieldKind = Int(0, i64::MAX);

pub(crate) static DRULE: Object = Object {
    name: "drule",
    table: "drules",
    key: "druleid",
    keys: "druleids",
    fields: &[
        field("druleid", Id, ReadOnly, "Id of the rule."),
        field("proxyid", Id, Optional, "Proxy that runs the rule; 0 = the server."),
        field("name", Name(255), Required, "Name."),
        field("iprange", Text(2048), Required, "Addresses: `10.0.0.1-254,10.1.0.0/16`."),
        field("delay", Text(255), Optional, "Interval between rounds."),
        field("status", OneOf(&[0, 1]), Optional, "1 = disabled."),
        field(
            "concurrency_max",
            Int(0, 999),
            Optional,
            "Addresses that are checked at once; 0 = no limit.",
        ),
        field("error", Text(0), ReadOnly, "Why the rule cannot run."),
        field("dchecks", Nested, Required, "Checks: `[{type, ports, key_, …}]`."),
    ],
    strict: false,
    sort: &["druleid", "name"],
};

pub(crate) static DCHECK: Object = Object {
    name: "dcheck",
    table: "dchecks",
    key: "dcheckid",
    keys: "dcheckids",
    fields: checks::FIELDS,
    strict: false,
    sort: &["dcheckid", "druleid"],
};

pub(crate) static DHOST: Object = Object {
    name: "dhost",
    table: "dhosts",
    key: "dhostid",
    keys: "dhostids",
    fields: &[
        field("dhostid", Id, ReadOnly, "Id of the found host."),
        field("druleid", Id, ReadOnly, "Rule that found it."),
        field("status", OneOf(&[0, 1]), ReadOnly, "0 up, 1 down."),
        field("lastup", TIME, ReadOnly, "Up since, unix time; 0 = it is down."),
        field("lastdown", TIME, ReadOnly, "Down since, unix time; 0 = it is up."),
    ],
    strict: false,
    sort: &["dhostid", "druleid"],
};

const DSERVICE_FIELDS: &[Field] = &[
    field("dserviceid", Id, ReadOnly, "Id of the found service."),
    field("dhostid", Id, ReadOnly, "Found host that has it."),
    field("value", Text(0), ReadOnly, "What an agent or an SNMP device answered."),
    field("port", Int(0, 65_535), ReadOnly, "Port."),
    field("status", OneOf(&[0, 1]), ReadOnly, "0 up, 1 down."),
    field("lastup", TIME, ReadOnly, "Up since, unix time; 0 = it is down."),
    field("lastdown", TIME, ReadOnly, "Down since, unix time; 0 = it is up."),
    field("dcheckid", Id, ReadOnly, "Check that found it."),
    field("ip", Text(0), ReadOnly, "Address."),
    field("dns", Text(0), ReadOnly, "Name of the address."),
];

pub(crate) static DSERVICE: Object = Object {
    name: "dservice",
    table: "dservices",
    key: "dserviceid",
    keys: "dserviceids",
    fields: DSERVICE_FIELDS,
    strict: false,
    sort: &["dserviceid", "dhostid", "ip"],
};

const fn related(select: &'static str, relation: Relation, pairs: &'static str) -> Related {
    Related { select, counts: true, relation, pairs }
}

const DRULE_OF: Relation = Relation::new("drules", &DRULE);
const DHOST_OF: Relation = Relation::new("dhosts", &DHOST);

static RULES: Discovery = Discovery(&Spec {
    relations: &[
        related(
            "selectDChecks",
            Relation::new("dchecks", &DCHECK),
            "SELECT druleid, dcheckid FROM dchecks WHERE druleid IN ({ids}) ORDER BY dcheckid",
        ),
        related(
            "selectDHosts",
            DHOST_OF,
            "SELECT druleid, dhostid FROM dhosts WHERE druleid IN ({ids}) ORDER BY dhostid",
        ),
    ],
    ..Spec::new(
        &DRULE,
        &table::DRULES,
        &[
            ("druleids", "t.druleid IN ({ids})"),
            ("dcheckids", "t.druleid IN (SELECT druleid FROM dchecks WHERE dcheckid IN ({ids}))"),
            ("dhostids", "t.druleid IN (SELECT druleid FROM dhosts WHERE dhostid IN ({ids}))"),
            (
                "dserviceids",
                "t.druleid IN (SELECT h.druleid FROM dhosts h \
                 JOIN dservices s ON s.dhostid = h.dhostid WHERE s.dserviceid IN ({ids}))",
            ),
        ],
    )
});

static CHECKS: Discovery = Discovery(&Spec {
    relations: &[related(
        "selectDRules",
        DRULE_OF,
        "SELECT dcheckid, druleid FROM dchecks WHERE dcheckid IN ({ids})",
    )],
    ..Spec::new(
        &DCHECK,
        &table::DCHECKS,
        &[
            ("dcheckids", "t.dcheckid IN ({ids})"),
            ("druleids", "t.druleid IN ({ids})"),
            ("dhostids", "t.druleid IN (SELECT druleid FROM dhosts WHERE dhostid IN ({ids}))"),
            (
                "dserviceids",
                "t.dcheckid IN (SELECT dcheckid FROM dservices WHERE dserviceid IN ({ids}))",
            ),
        ],
    )
});

static HOSTS: Discovery = Discovery(&Spec {
    relations: &[
        related(
            "selectDRules",
            DRULE_OF,
            "SELECT dhostid, druleid FROM dhosts WHERE dhostid IN ({ids})",
        ),
        related(
            "selectDServices",
            Relation::new("dservices", &DSERVICE).bare(),
            "SELECT dhostid, dserviceid FROM dservices WHERE dhostid IN ({ids}) \
             ORDER BY dserviceid",
        ),
    ],
    ..Spec::new(
        &DHOST,
        &table::DHOSTS,
        &[
            ("dhostids", "t.dhostid IN ({ids})"),
            ("druleids", "t.druleid IN ({ids})"),
            (
                "dserviceids",
                "t.dhostid IN (SELECT dhostid FROM dservices WHERE dserviceid IN ({ids}))",
            ),
        ],
    )
});

static SERVICES: Discovery = Discovery(&Spec {
    relations: &[
        related(
            "selectDRules",
            DRULE_OF,
            "SELECT s.dserviceid, h.druleid FROM dservices s \
             JOIN dhosts h ON h.dhostid = s.dhostid WHERE s.dserviceid IN ({ids})",
        ),
        related(
            "selectDHosts",
            DHOST_OF,
            "SELECT dserviceid, dhostid FROM dservices WHERE dserviceid IN ({ids})",
        ),
        related(
            "selectHosts",
            Relation::new("hosts", &host::HOST).bare(),
            formatcp!(
                "SELECT DISTINCT s.dserviceid, i.hostid FROM dservices s \
             JOIN interfaces i ON i.ip = s.ip JOIN hosts h ON h.hostid = i.hostid \
             WHERE h.kind = {KIND_HOST} AND s.dserviceid IN ({{ids}}) ORDER BY s.dserviceid, i.hostid"
            ),
        ),
    ],
    ..Spec::new(
        &DSERVICE,
        &table::DSERVICES,
        &[
            ("dserviceids", "t.dserviceid IN ({ids})"),
            ("dhostids", "t.dhostid IN ({ids})"),
            ("dcheckids", "t.dcheckid IN ({ids})"),
            ("druleids", "t.dhostid IN (SELECT dhostid FROM dhosts WHERE druleid IN ({ids}))"),
        ],
    )
});

/// An object of network discovery. Only rules are written, by [`write`]; found hosts and services
/// are state.
struct Discovery(&'static Spec);

impl Plain for Discovery {
    fn spec(&self) -> &'static Spec {
        self.0
    }

    /// Users who are no administrators see nothing of network discovery: its objects belong to no
    /// host group that a right could be on.
    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, _input: &Json) -> ApiResult<()> {
        if call.user().kind < UserType::Admin {
            get.and("1 = 0", []);
        }
        Ok(())
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        write::disable_dependent_actions(edit, rows)?;
        plain::delete_rows(self.0, edit, rows)
    }
}

#[cfg(test)]
mod tests;
