//! Templates.

mod get;
mod mass;
mod write;

use const_format::formatcp;
use objects::sql::KIND_TEMPLATE;

use crate::call::Method;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};

pub(crate) const METHODS: &[Method] = &[
    Method::user("template.get", get::get),
    Method::admin("template.create", write::create),
    Method::admin("template.update", write::update),
    Method::admin("template.delete", write::delete),
    Method::admin("template.massadd", mass::add),
    Method::admin("template.massupdate", mass::update),
    Method::admin("template.massremove", mass::remove),
];

/// Templates share the table and the ids of hosts; their id has another name.
const TABLE: &str = formatcp!(
    "(SELECT hostid AS templateid, host, name, CAST(3 AS BIGINT) AS status, flags, description, \
     uuid, vendor_name, vendor_version, proxyid, proxy_groupid, monitored_by, ipmi_authtype, \
     ipmi_privilege, ipmi_username, ipmi_password, maintenanceid, maintenance_status, \
     maintenance_type, maintenance_from, tls_connect, tls_accept, tls_issuer, tls_subject, \
     tls_psk_identity, tls_psk, custom_interfaces FROM hosts WHERE kind = {KIND_TEMPLATE})"
);

const FIELDS: &[Field] = &[
    field("templateid", Id, ReadOnly, "Id of the template."),
    field("host", Name(128), Required, "Technical name."),
    field("name", Name(128), Optional, "Visible name; the technical one if not given."),
    field("description", Text(65_535), Optional, "Free text."),
    field("uuid", Text(32), Optional, "Universal id."),
    field("vendor_name", Text(64), Optional, "Vendor."),
    field("vendor_version", Text(32), Optional, "Version of the vendor."),
    field("groups", Nested, Required, "Template groups: `[{groupid}]`."),
    field("tags", Nested, Optional, "Tags: `[{tag, value}]`."),
    field("macros", Nested, Optional, "User macros: `[{macro, value, type, description}]`."),
    field("templates", Nested, Optional, "Linked templates: `[{templateid}]`."),
    field("templates_clear", Nested, Optional, "Templates to unlink and clear."),
    field("proxyid", Id, ReadOnly, "Of hosts; here without meaning, as all that follow."),
    field("status", OneOf(&[3]), ReadOnly, "Always 3."),
    field("flags", OneOf(&[0]), ReadOnly, "Always 0."),
    field("ipmi_authtype", Int(-1, 6), ReadOnly, "See hosts."),
    field("ipmi_privilege", Int(0, 5), ReadOnly, "See hosts."),
    field("ipmi_username", Text(16), ReadOnly, "See hosts."),
    field("ipmi_password", Text(20), ReadOnly, "See hosts."),
    field("maintenanceid", Id, ReadOnly, "See hosts."),
    field("maintenance_status", Int(0, 1), ReadOnly, "See hosts."),
    field("maintenance_type", Int(0, 1), ReadOnly, "See hosts."),
    field("maintenance_from", Int(0, 0), ReadOnly, "See hosts."),
    field("tls_connect", Int(1, 4), ReadOnly, "See hosts."),
    field("tls_accept", Int(1, 7), ReadOnly, "See hosts."),
    field("tls_issuer", Text(0), ReadOnly, "See hosts."),
    field("tls_subject", Text(0), ReadOnly, "See hosts."),
    field("tls_psk_identity", Text(0), ReadOnly, "Always empty."),
    field("tls_psk", Text(0), ReadOnly, "Always empty."),
    field("custom_interfaces", Int(0, 1), ReadOnly, "See hosts."),
    field("proxy_groupid", Id, ReadOnly, "See hosts."),
    field("monitored_by", Int(0, 2), ReadOnly, "See hosts."),
];

pub(crate) static TEMPLATE: Object = Object {
    name: "template",
    table: TABLE,
    key: "templateid",
    keys: "templateids",
    fields: FIELDS,
    strict: false,
    sort: &["host", "name", "status"],
};

#[cfg(test)]
mod tests;
