//! API tokens. The secret is shown once; only its digest is kept.

use config::Edit;
use config::db::{Row, Value};
use serde_json::json;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, OneOf, Text};
use crate::object::{Field, Mode, Object, field, taken};
use crate::permission::action_allowed;
use crate::write::{names, only, rows_of};
use crate::{params, session};

pub(crate) const METHODS: &[Method] = &[
    Method::user("token.get", get),
    Method::user("token.create", create),
    Method::user("token.update", update),
    Method::user("token.delete", delete),
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

/// What an update may change.
const CHANGES: &[&str] = &["tokenid", "name", "description", "status", "expires_at"];

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

/// The role must let its users manage tokens.
fn check_role(call: &Call<'_>, method: &str) -> ApiResult<()> {
    if action_allowed(call.user(), "manage_api_tokens") {
        return Ok(());
    }
    Err(ApiError::application(format!("No permissions to call \"{method}\".")))
}

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    check_role(call, "token.get")?;
    let options = ["tokenids", "userids", "token", "valid_at", "expired_at"];
    let mut get = Get::new(call, input, &TOKEN, &options)?;
    get.by_ids("tokenids", "t.tokenid IN ({ids})")?;
    get.by_ids("userids", "t.userid IN ({ids})")?;
    if let Some(token) = input.get("token").filter(|v| !v.is_null()) {
        let digest = session::digest(&params::text(token, "/token")?);
        get.and("t.digest = ?", [digest.into()]);
    }
    let time = |name: &str| {
        let value = input.get(name).filter(|v| !v.is_null());
        value.map(|v| params::int(v, &format!("/{name}"))).transpose()
    };
    if let Some(at) = time("valid_at")? {
        get.and("(t.expires_at = 0 OR t.expires_at > ?)", [at.into()]);
    }
    if let Some(at) = time("expired_at")? {
        get.and("t.expires_at <> 0 AND t.expires_at <= ?", [at.into()]);
    }
    if !call.is_super_admin() {
        get.and("t.userid = ?", [call.user().id.into()]);
    }
    Ok(get.run()?.finish())
}

fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    check_role(call, "token.create")?;
    let me = call.user().id;
    let mut tokens: Vec<(u64, String, _)> = Vec::new();
    for (path, object) in params::objects(input)? {
        let mut columns = TOKEN.validate(object, &path, Mode::Create)?;
        let userid = object.get("userid").map(|v| params::id(v, &path)).transpose()?.unwrap_or(me);
        let name = params::text(&object["name"], &path)?;
        if tokens.iter().any(|(user, other, _)| *user == userid && *other == name) {
            return Err(taken(&path, "userid, name", format_args!("{userid}, {name}")));
        }
        columns.retain(|(column, _)| *column != "userid");
        columns.push(("userid", userid.into()));
        columns.push(("creator_userid", me.into()));
        columns.push(("created_at", call.now().into()));
        tokens.push((userid, name, columns));
    }
    call.write(|edit| {
        let mut ids = Vec::new();
        for (userid, name, columns) in &tokens {
            let known = !names(edit, "users", "userid", "username", &[*userid])?.is_empty();
            if !known || (*userid != me && !call.is_super_admin()) {
                let text = format!("User with ID \"{userid}\" is not available.");
                return Err(ApiError::params(text));
            }
            check_free(edit, *userid, name, 0)?;
            ids.push(edit.insert_new("tokens", columns)?);
        }
        Ok(TOKEN.result(&ids))
    })
}

fn check_free(edit: &mut Edit<'_>, userid: u64, name: &str, own: u64) -> ApiResult<()> {
    let same = edit.query(
        "SELECT tokenid FROM tokens WHERE userid = ? AND name = ? AND tokenid <> ?",
        &[userid.into(), name.into(), own.into()],
    )?;
    if same.is_empty() {
        return Ok(());
    }
    Err(ApiError::params(format!("API token \"{name}\" already exists for userid \"{userid}\".")))
}

/// Rows of tokens by id, in order; all must be there and be this user's to change.
fn rows(call: &Call<'_>, edit: &mut Edit<'_>, ids: &[u64]) -> ApiResult<Vec<Row>> {
    let sql = "SELECT * FROM tokens WHERE tokenid IN ({ids})";
    let rows = rows_of(edit, sql, "tokenid", ids)?;
    let mine = |row: &Row| call.is_super_admin() || row.id("userid") == call.user().id;
    if rows.iter().all(mine) { Ok(rows) } else { Err(ApiError::no_object()) }
}

fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    check_role(call, "token.update")?;
    let mut changes = Vec::new();
    for (path, id, object) in TOKEN.updates(input)? {
        if let Some(members) = object.as_object() {
            only(members, &path, CHANGES)?;
        }
        let columns = TOKEN.validate(object, &path, Mode::Update)?;
        let name = object.get("name").map(|v| params::text(v, &path)).transpose()?;
        changes.push((id, name, columns));
    }
    let ids: Vec<u64> = changes.iter().map(|(id, ..)| *id).collect();
    call.write_access(|edit| {
        let rows = rows(call, edit, &ids)?;
        for ((id, name, columns), row) in changes.iter().zip(&rows) {
            if let Some(name) = name {
                check_free(edit, row.id("userid"), name, *id)?;
            }
            edit.update("tokens", *id, columns)?;
        }
        Ok(TOKEN.result(&ids))
    })
}

fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    check_role(call, "token.delete")?;
    let ids = params::delete_ids(input)?;
    call.write_access(|edit| {
        rows(call, edit, &ids)?;
        edit.delete("tokens", "tokenid", &ids)?;
        Ok(TOKEN.result(&ids))
    })
}

/// Makes new secrets; the old ones stop to work.
fn generate(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    check_role(call, "token.generate")?;
    let ids = params::delete_ids(input)?;
    let now = call.now();
    call.write_access(|edit| {
        rows(call, edit, &ids)?;
        let mut out = Vec::new();
        for id in &ids {
            let secret = session::random_hex(32)?;
            let columns = [
                ("digest", Value::from(session::digest(&secret))),
                ("created_at", now.into()),
                ("creator_userid", call.user().id.into()),
            ];
            edit.update("tokens", *id, &columns)?;
            out.push(json!({ "tokenid": id.to_string(), "token": secret }));
        }
        call.config().write_state(|state| state.delete("token_accesses", "tokenid", &ids))?;
        Ok(Json::Array(out))
    })
}

#[cfg(test)]
mod tests;
