//! Host prototypes: what low-level discovery makes hosts of.

mod get;
mod interfaces;
mod write;

pub(crate) use write::check_copies;

use const_format::formatcp;
use objects::sql::KIND_PROTOTYPE;

use crate::call::Method;
use crate::object::Access::{Optional, ReadOnly, Required, WriteOnly};
use crate::object::FieldKind::{Id, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};

pub(crate) const METHODS: &[Method] = &[
    Method::user("hostprototype.get", get::get),
    Method::admin("hostprototype.create", write::create),
    Method::admin("hostprototype.update", write::update),
    Method::admin("hostprototype.delete", write::delete),
];

const FIELDS: &[Field] = &[
    field("hostid", Id, ReadOnly, "Id of the host prototype."),
    field("ruleid", Id, WriteOnly, "Discovery rule; must be given to create."),
    field("host", Name(128), Required, "Technical name with LLD macros."),
    field("name", Name(128), Optional, "Visible name; the technical one if not given."),
    field("status", OneOf(&[0, 1]), Optional, "0 its hosts are monitored, 1 not."),
    field("templateid", Id, ReadOnly, "Parent on the template."),
    field("inventory_mode", OneOf(&[-1, 0, 1]), Optional, "-1 off, 0 manual, 1 automatic."),
    field("discover", OneOf(&[0, 1]), Optional, "0 is discovered, 1 is not."),
    field("custom_interfaces", OneOf(&[0, 1]), Optional, "0 those of the rule's host, 1 own ones."),
    field("uuid", Text(32), Optional, "Universal id; templates only."),
    field("interfaces", Nested, Optional, "Own interfaces."),
    field("groupLinks", Nested, Required, "Host groups: `[{groupid}]`."),
    field("groupPrototypes", Nested, Optional, "Host groups by LLD macros: `[{name}]`."),
    field("templates", Nested, Optional, "Templates: `[{templateid}]`."),
    field("tags", Nested, Optional, "Tags: `[{tag, value}]`."),
    field("macros", Nested, Optional, "User macros: `[{macro, value, description, type}]`."),
];

pub(crate) static HOST_PROTOTYPE: Object = Object {
    name: "hostprototype",
    table: formatcp!(
        "(SELECT p.hostid, p.host, p.name, p.status, p.templateid, p.discover, \
            p.custom_interfaces, p.uuid, p.inventory_mode, d.parent_itemid AS ruleid, \
            r.hostid AS parent_hostid FROM hosts p JOIN host_discovery d ON d.hostid = p.hostid \
            JOIN items r ON r.itemid = d.parent_itemid WHERE p.kind = {KIND_PROTOTYPE})"
    ),
    key: "hostid",
    keys: "hostids",
    fields: FIELDS,
    strict: true,
    sort: &["hostid", "host", "name", "status", "discover"],
};

#[cfg(test)]
mod tests;
