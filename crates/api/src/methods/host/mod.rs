//! Hosts.

mod above;
mod get;
mod mass;
mod states;
pub(crate) mod write;

use objects::MaintenanceType;

use crate::call::Method;
use crate::object::Access::{Optional, ReadOnly, Required, WriteOnly};
use crate::object::FieldKind::{Id, Int, Nested, OneOf, Text};
use crate::object::{Field, Object, field};
pub(crate) use above::Above;
pub(crate) use states::{WithValues, of_groups};

pub(crate) const METHODS: &[Method] = &[
    Method::user("host.get", get::get),
    Method::admin("host.create", write::create),
    Method::admin("host.update", write::update),
    Method::admin("host.delete", write::delete),
    Method::admin("host.massadd", mass::add),
    Method::admin("host.massupdate", mass::update),
    Method::admin("host.massremove", mass::remove),
    Method::user("host.states", states::states),
    Method::user("host.summary", states::summary),
];

const FIELDS: &[Field] = &[
    field("hostid", Id, ReadOnly, "Id of the host."),
    field("proxyid", Id, Optional, "Proxy that monitors it, with `monitored_by` 1."),
    field("host", Text(128), Required, "Technical name."),
    field("status", OneOf(&[0, 1]), Optional, "0 monitored, 1 not."),
    field("ipmi_authtype", Int(-1, 6), Optional, "IPMI authentication, -1 default."),
    field("ipmi_privilege", Int(0, 5), Optional, "IPMI privilege, 2 user."),
    field("ipmi_username", Text(16), Optional, "IPMI user name."),
    field("ipmi_password", Text(20), Optional, "IPMI password."),
    field("maintenanceid", Id, ReadOnly, "Maintenance in effect."),
    field("maintenance_status", OneOf(&[0, 1]), ReadOnly, "1 = in maintenance."),
    field(
        "maintenance_type",
        OneOf(MaintenanceType::NUMBERS),
        ReadOnly,
        "0 with data collection, 1 without.",
    ),
    field("maintenance_from", Int(0, i64::MAX), ReadOnly, "Unix time of its begin."),
    field("name", Text(128), Optional, "Visible name; the technical one if not given."),
    field("flags", OneOf(&[0, 4]), ReadOnly, "0 made by people, 4 made by discovery."),
    field("templateid", Id, ReadOnly, "Always 0."),
    field("description", Text(65_535), Optional, "Free text."),
    field(
        "tls_connect",
        OneOf(&[1, 2, 4]),
        Optional,
        "To the host: 1 plain, 2 PSK, 4 certificate.",
    ),
    field("tls_accept", Int(1, 7), Optional, "From the host: bit mask of the same."),
    field("tls_issuer", Text(1024), Optional, "Issuer of its certificate."),
    field("tls_subject", Text(1024), Optional, "Subject of its certificate."),
    field("tls_psk_identity", Text(128), WriteOnly, "PSK identity."),
    field("tls_psk", Text(512), WriteOnly, "PSK, hexadecimal."),
    field("custom_interfaces", OneOf(&[0, 1]), ReadOnly, "Interfaces of prototypes."),
    field("uuid", Text(32), ReadOnly, "Universal id."),
    field("vendor_name", Text(64), ReadOnly, "Vendor of a template."),
    field("vendor_version", Text(32), ReadOnly, "Version of a template."),
    field("proxy_groupid", Id, Optional, "Proxy group that monitors it, with `monitored_by` 2."),
    field("monitored_by", OneOf(&[0, 1, 2]), Optional, "0 server, 1 proxy, 2 proxy group."),
    field("inventory_mode", OneOf(&[-1, 0, 1]), Optional, "-1 off, 0 manual, 1 automatic."),
    field("active_available", Nested, ReadOnly, "Active checks: 0 unknown, 1 available, 2 not."),
    field("assigned_proxyid", Nested, ReadOnly, "Proxy that its proxy group chose."),
];

pub(crate) static HOST: Object = Object {
    name: "host",
    table: "hosts",
    key: "hostid",
    keys: "hostids",
    fields: FIELDS,
    strict: false,
    sort: &["hostid", "host", "name", "status"],
};

/// Fields that `proxy.get` shows of a host.
pub(crate) const FIELDS_OF_PROXY: &[&str] = &[
    "hostid",
    "host",
    "monitored_by",
    "status",
    "ipmi_authtype",
    "ipmi_privilege",
    "ipmi_username",
    "ipmi_password",
    "maintenanceid",
    "maintenance_status",
    "maintenance_type",
    "maintenance_from",
    "name",
    "flags",
    "description",
    "tls_connect",
    "tls_accept",
    "tls_issuer",
    "tls_subject",
    "inventory_mode",
    "active_available",
];

#[cfg(test)]
mod tests;
