//! Fields of user directories.

use super::{LDAP, SAML};
use crate::object::Access::{Optional, ReadOnly, Required, WriteOnly};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, field};

const FLAG: crate::object::FieldKind = OneOf(&[0, 1]);

pub(super) const FIELDS: &[Field] = &[
    field("userdirectoryid", Id, ReadOnly, "Id of the user directory."),
    field("name", Text(128), Optional, "Name; required for LDAP."),
    field(
        "idp_type",
        OneOf(&[LDAP, SAML]),
        Required,
        "1 = LDAP, 2 = SAML (stored only). Cannot be changed.",
    ),
    field("provision_status", FLAG, Optional, "1 = users are provisioned just in time."),
    field("description", Text(65_535), Optional, "Description."),
    field("group_name", Text(255), Optional, "Attribute with the name of a group."),
    field("user_username", Text(255), Optional, "Attribute with the first name."),
    field("user_lastname", Text(255), Optional, "Attribute with the last name."),
    field("host", Text(255), Optional, "LDAP: host name, address or URI (`ldaps://…`). Required."),
    field("port", Int(0, 65_535), Optional, "LDAP: port. Required."),
    field("base_dn", Text(255), Optional, "LDAP: DN below which users are searched. Required."),
    field("search_attribute", Text(128), Optional, "LDAP: attribute with the user name. Required."),
    field("bind_dn", Text(255), Optional, "LDAP: DN that binds to search; empty = anonymous."),
    field("bind_password", Text(128), WriteOnly, "LDAP: password of that DN."),
    field("start_tls", FLAG, Optional, "LDAP: 1 = StartTLS."),
    field(
        "search_filter",
        Text(255),
        Optional,
        "LDAP: filter of users; empty = `(%{attr}=%{user})`.",
    ),
    field("group_basedn", Text(255), Optional, "LDAP: DN below which groups are searched."),
    field("group_member", Text(255), Optional, "LDAP: attribute of groups with their members."),
    field(
        "group_filter",
        Text(255),
        Optional,
        "LDAP: filter of groups; empty = `(%{groupattr}=%{user})`.",
    ),
    field(
        "group_membership",
        Text(255),
        Optional,
        "LDAP: attribute of users with the DNs of groups.",
    ),
    field(
        "user_ref_attr",
        Text(255),
        Optional,
        "LDAP: attribute of users for `%{ref}` in the filter of groups.",
    ),
    field("idp_entityid", Text(1_024), Optional, "SAML: id of the identity provider."),
    field("sso_url", Text(2_048), Optional, "SAML: URL for sign-in."),
    field("slo_url", Text(2_048), Optional, "SAML: URL for sign-out."),
    field("username_attribute", Text(128), Optional, "SAML: attribute with the user name."),
    field("sp_entityid", Text(1_024), Optional, "SAML: id of this server."),
    field("nameid_format", Text(2_048), Optional, "SAML: format of the name id."),
    field("sign_messages", FLAG, Optional, "SAML: 1 = messages are signed."),
    field("sign_assertions", FLAG, Optional, "SAML: 1 = assertions are signed."),
    field("sign_authn_requests", FLAG, Optional, "SAML: 1 = sign-in requests are signed."),
    field("sign_logout_requests", FLAG, Optional, "SAML: 1 = sign-out requests are signed."),
    field("sign_logout_responses", FLAG, Optional, "SAML: 1 = sign-out responses are signed."),
    field("encrypt_nameid", FLAG, Optional, "SAML: 1 = name ids are encrypted."),
    field("encrypt_assertions", FLAG, Optional, "SAML: 1 = assertions are encrypted."),
    field("scim_status", FLAG, Optional, "SAML: 1 = provisioning by SCIM."),
    field(
        "provision_media",
        Nested,
        Optional,
        "Media of provisioned users: `[{name, mediatypeid, attribute, active, severity, period}]`.",
    ),
    field(
        "provision_groups",
        Nested,
        Optional,
        "Groups of the directory: `[{name, roleid, user_groups: [{usrgrpid}]}]`.",
    ),
];

/// Fields that only LDAP has.
pub(super) const OF_LDAP: &[&str] = &[
    "host",
    "port",
    "base_dn",
    "search_attribute",
    "bind_dn",
    "bind_password",
    "start_tls",
    "search_filter",
    "group_basedn",
    "group_member",
    "group_filter",
    "group_membership",
    "user_ref_attr",
];

/// Fields that only SAML has.
const OF_SAML: &[&str] = &[
    "idp_entityid",
    "sso_url",
    "slo_url",
    "username_attribute",
    "sp_entityid",
    "nameid_format",
    "sign_messages",
    "sign_assertions",
    "sign_authn_requests",
    "sign_logout_requests",
    "sign_logout_responses",
    "encrypt_nameid",
    "encrypt_assertions",
    "scim_status",
];

/// Fields that a directory of this type does not have.
pub(super) fn not_of(idp_type: i64) -> &'static [&'static str] {
    if idp_type == LDAP { OF_SAML } else { OF_LDAP }
}

/// Fields of provisioned media.
pub(super) const MEDIA: &[Field] = &[
    field("userdirectory_mediaid", Id, Optional, "Id of the medium."),
    field("name", Name(64), Required, "Name."),
    field("mediatypeid", Id, Required, "Media type."),
    field("attribute", Name(255), Required, "Attribute with the address."),
    field("active", FLAG, Optional, "0 = on, 1 = off."),
    field("severity", Int(0, 63), Optional, "Sum of the severities."),
    field("period", Text(1_024), Optional, "Time period."),
];
