//! Methods of multi-factor authentication (MFA). Users sign in with TOTP; methods of Duo are stored only.

pub(crate) mod confirm;
mod replace;

use config::Edit;
use config::db::{Row, query_by_ids};
use config::table;
use objects::MfaType;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Get;
use crate::methods::Described;
use crate::methods::authentication::{self, Current};
use crate::methods::usergroup::USER_GROUP;
use crate::object::Access::{Optional, ReadOnly, Required, WriteOnly};
use crate::object::FieldKind::{Id, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};
use crate::plain::{self, Draft, OnlyWhen, Plain, Spec, Unique, complete_kinds};
use crate::relate::{Relation, wanted_of};

pub(crate) const METHODS: &[Method] = &[
    Method::super_admin("mfa.get", plain::get::<Mfa>),
    Method::super_admin("mfa.create", plain::create::<Mfa>),
    Method::super_admin("mfa.update", plain::update::<Mfa>),
    Method::super_admin("mfa.delete", plain::delete::<Mfa>),
    Method::open("user.confirmation", confirm::confirmation),
    Method::open("user.confirm", confirm::confirm),
    Method::super_admin("user.resettotp", confirm::reset),
    Method::user("user.replacetotp", replace::replace),
];

const DUO_UNSUPPORTED: &str = "Sign-in with Duo is not supported: give the user groups of the account an MFA method of type TOTP.";

/// Refuses sign-ins with an MFA method that is stored only; 0 = the user needs none.
pub(crate) fn check_supported(call: &Call<'_>, mfaid: u64) -> ApiResult<()> {
    let is_duo = "SELECT mfaid FROM mfa WHERE mfaid = ? AND type <> ?";
    if mfaid != 0 && !call.rows(is_duo, &[mfaid.into(), MfaType::Totp.number().into()])?.is_empty()
    {
        return Err(ApiError::application(DUO_UNSUPPORTED));
    }
    Ok(())
}

const FIELDS: &[Field] = &[
    field("mfaid", Id, ReadOnly, "Id of the MFA method."),
    field("type", OneOf(MfaType::NUMBERS), Required, "1 = TOTP, 2 = Duo (stored only)."),
    field("name", Name(128), Required, "Name."),
    field(
        "hash_function",
        OneOf(&[1, 2, 3]),
        Optional,
        "TOTP: 1 = SHA-1, 2 = SHA-256, 3 = SHA-512.",
    ),
    field("code_length", OneOf(&[6, 8]), Optional, "TOTP: digits of a code."),
    field("api_hostname", Text(1_024), Optional, "Duo: host name of the API."),
    field("clientid", Text(32), Optional, "Duo: id of the client."),
    field("client_secret", Text(64), WriteOnly, "Duo: secret of the client."),
];

pub(crate) static MFA: Object = Object {
    name: "mfa",
    table: "mfa",
    key: "mfaid",
    keys: "mfaids",
    fields: FIELDS,
    strict: true,
    sort: &["name"],
};

static SPEC: Spec = Spec {
    options: &["selectUsrgrps"],
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "MFA method \"{name}\" already exists.",
    }),
    ..Spec::new(&MFA, &table::MFA, &[("mfaids", "t.mfaid IN ({ids})")])
};

/// Parameters and result of `user.confirmation`.
pub(crate) const CONFIRMATION: Described = Described {
    method: "user.confirmation",
    params: &[field(
        "sessionid",
        Text(0),
        Required,
        "Session of `user.login` that waits for a code.",
    )],
    result: &[
        field("mfaid", Id, ReadOnly, "MFA method."),
        field("name", Text(128), ReadOnly, "Its name."),
        field("type", OneOf(&[MfaType::Totp.number()]), ReadOnly, "1 = TOTP."),
        field("code_length", OneOf(&[6, 8]), ReadOnly, "Digits of a code."),
        field(
            "totp_secret",
            Text(32),
            ReadOnly,
            "Secret in base 32, if the user has no authenticator yet.",
        ),
        field(
            "uri",
            Text(0),
            ReadOnly,
            "The same for authenticators, as a URI `otpauth://totp/…`.",
        ),
        field(
            "qr_code",
            Nested,
            ReadOnly,
            "The URI as a QR code: a text for each row, in which 1 is dark.",
        ),
    ],
};

/// Parameters and result of `user.confirm`.
pub(crate) const CONFIRM: Described = Described {
    method: "user.confirm",
    params: &[
        field("sessionid", Text(0), Required, "Session of `user.login`, at most 5 minutes old."),
        field("code", Text(8), Required, "Code of the authenticator. It is accepted once."),
    ],
    result: &[field(
        "sessionid",
        Text(32),
        ReadOnly,
        "The result itself: the session, which can be used now.",
    )],
};

/// Parameters and result of `user.replacetotp`.
pub(crate) const REPLACE: Described = Described {
    method: "user.replacetotp",
    params: &[
        field(
            "code",
            Text(8),
            Optional,
            "Code of the new authenticator. Without codes the result is a new secret, with both it is `true`.",
        ),
        field("current_code", Text(8), Optional, "Code of the authenticator up to now."),
    ],
    result: CONFIRMATION.result,
};

type When = &'static [(&'static str, &'static [i64])];

const OF_TOTP: When = &[("type", &[MfaType::Totp.number()])];
const OF_DUO: When = &[("type", &[MfaType::Duo.number()])];

const OWN: &[OnlyWhen] = &[
    OnlyWhen::new("hash_function", OF_TOTP).required(),
    OnlyWhen::new("code_length", OF_TOTP).required(),
    OnlyWhen::new("api_hostname", OF_DUO).required(),
    OnlyWhen::new("clientid", OF_DUO).required(),
    OnlyWhen::new("client_secret", OF_DUO).required(),
];

/// Fields that `selectUsrgrps` shows.
const GROUP_FIELDS: &[&str] = &[
    "usrgrpid",
    "name",
    "gui_access",
    "users_status",
    "debug_mode",
    "userdirectoryid",
    "mfa_status",
];

#[derive(Default)]
struct Mfa;

impl Plain for Mfa {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, _get: &mut Get<'_, '_>, _call: &Call<'_>, input: &Json) -> ApiResult<()> {
        wanted_of(input, "selectUsrgrps", GROUP_FIELDS).map(drop)
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        let Some(wanted) = wanted_of(found.params, "selectUsrgrps", GROUP_FIELDS)? else {
            return Ok(());
        };
        let default = found.call.read(|reader| Ok(Current::read(reader)?.number("mfaid")))?;
        // Groups that require MFA without naming a method use the default one.
        let sql = format!(
            "SELECT CASE WHEN mfaid = 0 THEN {default} ELSE mfaid END AS mfaid, usrgrpid \
             FROM usergroups WHERE mfa_status = 1 ORDER BY usrgrpid"
        );
        let pairs: Vec<(u64, u64)> = found
            .call
            .rows(&sql, &[])?
            .iter()
            .map(|row| (row.id("mfaid"), row.id("usrgrpid")))
            .collect();
        found.relate_as(&Relation::new("usrgrps", &USER_GROUP).bare(), &wanted, &pairs)
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        // Before names are compared.
        if draft.id == 0 { complete_kinds(&SPEC, OWN, draft, None) } else { Ok(()) }
    }

    fn write(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        let Some(before) = before else { return Ok(()) };
        let kind = draft.value("type", Some(before)).as_int();
        if MfaType::Duo.is(kind) && before.int("type") != kind {
            // The empty values of a TOTP method are refused as if they were given.
            for name in ["api_hostname", "clientid", "client_secret"] {
                if !draft.gives(name) {
                    draft.set(name, before.text(name));
                }
            }
        }
        complete_kinds(&SPEC, OWN, draft, Some(before))?;
        let changes = |name: &&str| draft.value(name, Some(before)).as_int() != before.int(name);
        if ["type", "hash_function", "code_length"].iter().any(changes) {
            // The secrets give other codes now: their users enrol again.
            edit.delete(&table::TOTP_SECRETS, "mfaid", &[draft.id])?;
        }
        Ok(())
    }

    fn written(
        &self,
        _call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
    ) -> ApiResult<()> {
        let is_new = |draft: &&Draft<'_>| draft.input.get(MFA.key).is_none();
        let Some(first) = drafts.first().filter(is_new) else { return Ok(()) };
        if edit.query("SELECT mfaid FROM mfa", &[])?.len() == drafts.len() {
            authentication::set(edit, "mfaid", first.id)?;
        }
        Ok(())
    }

    fn delete(&self, _call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        let current = Current::read(edit)?;
        let is_default = rows.iter().any(|row| row.id("mfaid") == current.number("mfaid"));
        if is_default && current.is_on("mfa_status") {
            return Err(ApiError::params("Cannot delete default MFA method."));
        }
        let ids: Vec<u64> = rows.iter().map(|row| row.id("mfaid")).collect();
        let sql = "SELECT name, mfaid FROM usergroups WHERE mfaid IN ({ids}) ORDER BY usrgrpid";
        if let Some(group) = query_by_ids(edit, sql, &[], &ids)?.first() {
            let method = rows.iter().find(|row| row.id("mfaid") == group.id("mfaid"));
            return Err(ApiError::params(format!(
                "Cannot delete MFA method \"{}\", because it is used by user group \"{}\".",
                method.map_or("", |row| row.text("name")),
                group.text("name")
            )));
        }
        if is_default {
            authentication::set(edit, "mfaid", 0)?;
        }
        plain::delete_rows(&SPEC, edit, rows)
    }
}

#[cfg(test)]
mod tests;
