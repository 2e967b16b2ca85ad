//! How users sign in: user directories and second factors.

use super::super::{Column, Reload, Table};
use super::{id, int, owned, table, text, text_or};

tables! { TABLES:
    /// `type`: 1 TOTP, 2 Duo Universal Prompt
    MFA = table(
        "mfa",
        &["mfaid"],
        Reload::Nothing,
        &[
            id("mfaid"),
            int("type", "1"),
            text("name"),
            int("hash_function", "1"),
            int("code_length", "6"),
            text("api_hostname"),
            text("clientid"),
            text("client_secret"),
        ],
        &[&["name"]],
    );
    /// Secrets that users share with their authenticator. `last_step` is the time step of the last accepted
    /// code: codes of it and of those before are refused.
    TOTP_SECRETS = table(
        "totp_secrets",
        &["userid"],
        Reload::Nothing,
        &[
            owned("userid", "users"),
            owned("mfaid", "mfa"),
            text("secret"),
            int("confirmed", "0"),
            int("last_step", "0"),
        ],
        &[&["mfaid"]],
    )
    .unrecorded();
    /// `idp_type`: 1 LDAP, 2 SAML. Columns of the other type have their defaults.
    USERDIRECTORIES = table(
        "userdirectories",
        &["userdirectoryid"],
        Reload::Nothing,
        DIRECTORY_COLUMNS,
        &[&["name"]],
    );
    /// Media that provisioned users get. `attribute`: attribute of the user's entry with the address
    USERDIRECTORY_MEDIA = table(
        "userdirectory_media",
        &["userdirectory_mediaid"],
        Reload::Nothing,
        &[
            id("userdirectory_mediaid"),
            owned("userdirectoryid", "userdirectories"),
            owned("mediatypeid", "media_types"),
            text("name"),
            text("attribute"),
            int("active", "0"),
            int("severity", "63"),
            text_or("period", "1-7,00:00-24:00"),
        ],
        &[&["userdirectoryid"], &["mediatypeid"]],
    );
    /// Groups of a directory, each with the role and one of the user groups that its members get
    USERDIRECTORY_GROUPS = table(
        "userdirectory_groups",
        &["userdirectoryid", "position", "usrgrpid"],
        Reload::Nothing,
        &[
            owned("userdirectoryid", "userdirectories"),
            int("position", "0"),
            text("name"),
            owned("roleid", "roles"),
            owned("usrgrpid", "usergroups"),
        ],
        &[&["roleid"], &["usrgrpid"]],
    );
}

const DIRECTORY_COLUMNS: &[Column] = &[
    id("userdirectoryid"),
    text("name"),
    int("idp_type", "1"),
    int("provision_status", "0"),
    text("description"),
    text("group_name"),
    text("user_username"),
    text("user_lastname"),
    text("host"),
    int("port", "389"),
    text("base_dn"),
    text("search_attribute"),
    text("bind_dn"),
    text("bind_password"),
    int("start_tls", "0"),
    text("search_filter"),
    text("group_basedn"),
    text("group_member"),
    text("group_filter"),
    text("group_membership"),
    text("user_ref_attr"),
    text("idp_entityid"),
    text("sso_url"),
    text("slo_url"),
    text("username_attribute"),
    text("sp_entityid"),
    text("nameid_format"),
    int("sign_messages", "0"),
    int("sign_assertions", "0"),
    int("sign_authn_requests", "0"),
    int("sign_logout_requests", "0"),
    int("sign_logout_responses", "0"),
    int("encrypt_nameid", "0"),
    int("encrypt_assertions", "0"),
    int("scim_status", "0"),
];
