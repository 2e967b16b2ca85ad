//! API tokens. The secret is shown once; only its digest is kept.

use config::Edit;
use config::db::{Row, Value};
use config::table;
use serde_json::json;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, OneOf, Text};
use crate::object::{Field, Object, field};
use crate::permission::action_allowed;
use crate::plain::{self, Action, Draft, Plain, Spec, Unique};
use crate::write::names;
use crate::{params, session};

pub(crate) const METHODS: &[Method] = &[
    Method::user("token.get", plain::get::<Token>),
    Method::user("token.create", plain::create::<Token>),
    Method::user("token.update", plain::update::<Token>),
    Method::user("token.delete", plain::delete::<Token>),
    Method::user("token.generate", generate),
];

/// Unix times fit in 31 bits, as clients expect.
const TIME_MAX: i64 = 2_147_483_647;

const FIELDS: &[Field] = &[
    field("tokenid", Id, ReadOnly, "Id of the token."),
    field("name", Name(64), Required, "Name, unique for its user."),
    field("description", Text(65_535), Optional, "Free text."),
    field("userid", Id, Optional, "User that calls with it act as; oneself if not given."),
    field("lastaccess", Int(0, TIME_MAX), ReadOnly, "Unix time of its last use."),
    field("status", OneOf(&[0, 1]), Optional, "1 = switched off."),
    field("expires_at", Int(-TIME_MAX, TIME_MAX), Optional, "Unix time of its end; 0 = never."),
    field("created_at", Int(0, TIME_MAX), ReadOnly, "Unix time when its secret was made."),
    field("creator_userid", Id, ReadOnly, "User who made it."),
];

/// Uses are written as state.
const SOURCE: &str = "(SELECT r.*, COALESCE((SELECT a.lastaccess FROM token_accesses a \
                      WHERE a.tokenid = r.tokenid), 0) AS lastaccess FROM tokens r)";

pub(crate) static TOKEN: Object = Object {
    name: "token",
    table: SOURCE,
    key: "tokenid",
    keys: "tokenids",
    fields: FIELDS,
    strict: true,
    sort: &["tokenid", "name", "lastaccess", "status", "expires_at", "created_at"],
};

static SPEC: Spec = Spec {
    options: &["token", "valid_at", "expired_at"],
    fixed: &["userid"],
    unique: Some(Unique {
        columns: &["userid", "name"],
        among: None,
        error: "API token \"{name}\" already exists for userid \"{userid}\".",
    }),
    ..Spec::new(
        &TOKEN,
        &table::TOKENS,
        &[("tokenids", "t.tokenid IN ({ids})"), ("userids", "t.userid IN ({ids})")],
    )
};

#[derive(Default)]
struct Token;

impl Plain for Token {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn allow(&self, call: &Call<'_>, action: Action) -> ApiResult<()> {
        check_role(call, action.name())
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, input: &Json) -> ApiResult<()> {
        if let Some(token) = input.get("token").filter(|v| !v.is_null()) {
            let digest = session::digest(&params::text(token, "/token")?);
            get.and("t.digest = ?", [digest.into()]);
        }
        for (name, condition) in [
            ("valid_at", "(t.expires_at = 0 OR t.expires_at > ?)"),
            ("expired_at", "t.expires_at <> 0 AND t.expires_at <= ?"),
        ] {
            if let Some(time) = input.get(name).filter(|v| !v.is_null()) {
                get.and(condition, [params::int(time, &format!("/{name}"))?.into()]);
            }
        }
        if !call.is_super_admin() {
            get.and("t.userid = ?", [call.user().id.into()]);
        }
        Ok(())
    }

    fn given(&self, call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        if draft.id == 0 {
            let me = call.user().id;
            if !draft.gives("userid") {
                draft.set("userid", me);
            }
            draft.set("creator_userid", me);
            draft.set("created_at", call.now());
        }
        Ok(())
    }

    fn may_write(
        &self,
        call: &Call<'_>,
        edit: &mut Edit<'_>,
        drafts: &[Draft<'_>],
        rows: &[Row],
    ) -> ApiResult<()> {
        let new = drafts.iter().filter(|draft| draft.id == 0);
        for userid in
            new.filter_map(|draft| u64::try_from(draft.value("userid", None).as_int()).ok())
        {
            let known = !names(edit, "users", "userid", "username", &[userid])?.is_empty();
            if !known || (userid != call.user().id && !call.is_super_admin()) {
                let text = format!("User with ID \"{userid}\" is not available.");
                return Err(ApiError::params(text));
            }
        }
        check_own(call, rows)
    }

    fn delete(&self, call: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        check_own(call, rows)?;
        plain::delete_rows(&SPEC, edit, rows)
    }
}

/// The role must let its users manage tokens.
fn check_role(call: &Call<'_>, action: &str) -> ApiResult<()> {
    if action_allowed(call.user(), "manage_api_tokens") {
        return Ok(());
    }
    Err(ApiError::application(format!("No permissions to call \"token.{action}\".")))
}

/// Only super administrators change tokens of others.
fn check_own(call: &Call<'_>, rows: &[Row]) -> ApiResult<()> {
    let mine = |row: &Row| call.is_super_admin() || row.id("userid") == call.user().id;
    if rows.iter().all(mine) { Ok(()) } else { Err(ApiError::no_object()) }
}

/// Makes new secrets; the old ones stop to work.
fn generate(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    check_role(call, "generate")?;
    let ids = params::delete_ids(input)?;
    let now = call.now();
    call.write(|edit| {
        check_own(call, &plain::rows(&SPEC, edit, &ids)?)?;
        let mut out = Vec::new();
        for id in &ids {
            let secret = session::random_hex(32)?;
            let columns = [
                ("digest", Value::from(session::digest(&secret))),
                ("created_at", now.into()),
                ("creator_userid", call.user().id.into()),
            ];
            edit.update(&table::TOKENS, *id, &columns)?;
            out.push(json!({ "tokenid": id.to_string(), "token": secret }));
        }
        call.config().write_state(|state| state.delete(&table::TOKEN_ACCESSES, "tokenid", &ids))?;
        Ok(Json::Array(out))
    })
}

#[cfg(test)]
mod tests;
