//! The second step of a sign-in: the session of `user.login` is confirmed with a code.

use config::audit::{AuditAction, note_access};
use config::db::Row;
use config::table;
use qrcode::{Color, QrCode};
use serde_json::json;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::methods::auditlog;
use crate::params;
use crate::session::totp::{self, Codes};
use crate::session::{self, BAD_LOGIN};
use crate::write::only;

const WRONG_CODE: &str = "The verification code was incorrect, please try again.";

/// A session that waits for a code.
struct Waiting {
    sessionid: String,
    userid: u64,
    username: String,
    /// The row of the MFA method.
    method: Row,
    codes: Codes,
}

impl Waiting {
    fn find(call: &Call<'_>, input: &Json) -> ApiResult<Self> {
        let sessionid = text(input, "sessionid")?;
        let (userid, mfaid) = session::unconfirmed(call, &sessionid)?;
        let user = session::user(call.api, userid, "", session::NO_ACCESS)?;
        let rows = call.rows("SELECT * FROM mfa WHERE mfaid = ?", &[mfaid.into()])?;
        super::check_supported(call, mfaid)?;
        let method = rows.into_iter().next().ok_or_else(ApiError::no_object)?;
        let codes = Codes::new(method.int("hash_function"), method.int("code_length"));
        Ok(Self { sessionid, userid, username: user.username, method, codes })
    }

    fn mfaid(&self) -> u64 {
        self.method.id("mfaid")
    }
}

fn text(input: &Json, name: &str) -> ApiResult<String> {
    match input.get(name) {
        Some(value) => params::text(value, &format!("/{name}")),
        None => Err(ApiError::at("/", format_args!("the parameter \"{name}\" is missing"))),
    }
}

fn members(input: &Json, known: &[&str]) -> ApiResult<()> {
    let members = input.as_object().ok_or_else(|| ApiError::at("/", "an array is expected"))?;
    only(members, "/", known)
}

/// `user.confirmation`: what the session waits for. A user who has no authenticator yet gets a new secret.
pub(super) fn confirmation(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    members(input, &["sessionid"])?;
    let waiting = Waiting::find(call, input)?;
    let mut result = json!({
        "mfaid": waiting.mfaid().to_string(),
        "name": waiting.method.text("name"),
        "type": waiting.method.int("type").to_string(),
        "code_length": waiting.method.int("code_length").to_string(),
    });
    if let Some(secret) = enrol(call, &waiting)? {
        let uri = waiting.codes.uri(waiting.method.text("name"), &waiting.username, &secret);
        result["qr_code"] = modules(&uri)?;
        result["uri"] = uri.into();
        result["totp_secret"] = secret.into();
    }
    Ok(result)
}

/// Stores a new secret, unless the user has confirmed one of this method.
fn enrol(call: &Call<'_>, waiting: &Waiting) -> ApiResult<Option<String>> {
    let secret = totp::new_secret()?;
    call.write_unaudited(|edit| {
        let sql =
            "SELECT userid FROM totp_secrets WHERE userid = ? AND mfaid = ? AND confirmed = 1";
        let (userid, mfaid) = (waiting.userid, waiting.mfaid());
        if !edit.query(sql, &[userid.into(), mfaid.into()])?.is_empty() {
            return Ok(None);
        }
        edit.delete(&table::TOTP_SECRETS, "userid", &[userid])?;
        let row = [
            ("userid", userid.into()),
            ("mfaid", mfaid.into()),
            ("secret", secret.as_str().into()),
        ];
        edit.insert(&table::TOTP_SECRETS, &row)?;
        Ok(Some(secret))
    })
}

/// The modules of a QR code: a text for each row, in which 1 is dark.
fn modules(uri: &str) -> ApiResult<Json> {
    let code = QrCode::new(uri)
        .map_err(|error| ApiError::application(format!("The URI fits no QR code: {error}")))?;
    let sign = |color: &Color| if *color == Color::Dark { '1' } else { '0' };
    let colors = code.to_colors();
    let rows = colors.chunks(code.width()).map(|row| row.iter().map(sign).collect::<String>());
    Ok(rows.collect())
}

/// `user.confirm`: checks the code, after which the session can be used.
pub(super) fn confirm(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    members(input, &["sessionid", "code"])?;
    let waiting = Waiting::find(call, input)?;
    let code = text(input, "code")?;
    let Some(attempt) = session::begin_code(call, waiting.userid) else {
        session::close(call.api, &session::digest(&waiting.sessionid))?;
        return Err(ApiError::application(BAD_LOGIN));
    };
    let good = accept(call, &waiting, &code)?;
    attempt.end(good, call.now());
    call.api.sessions.attempts.note(waiting.userid, good, call.peer, call.now());
    if !good {
        auditlog::note(call, AuditAction::FailedLogin, waiting.userid, &waiting.username);
        return Err(ApiError::params(WRONG_CODE));
    }
    let entry = auditlog::entry(call, AuditAction::Login, waiting.userid, &waiting.username);
    session::activate(call.api, &waiting.sessionid, |state| match &entry {
        Some(author) => note_access(state, AuditAction::Login, author),
        None => Ok(()),
    })?;
    Ok(waiting.sessionid.into())
}

/// Whether the code is right. It is accepted once, and none of an earlier time step is after it.
fn accept(call: &Call<'_>, waiting: &Waiting, code: &str) -> ApiResult<bool> {
    let now = call.now();
    call.write_unaudited(|edit| {
        let sql = "SELECT secret, last_step FROM totp_secrets WHERE userid = ? AND mfaid = ?";
        let rows = edit.query(sql, &[waiting.userid.into(), waiting.mfaid().into()])?;
        let row = rows.first().ok_or_else(|| {
            ApiError::params("No authenticator is enrolled: call \"user.confirmation\" first.")
        })?;
        let step = waiting.codes.step_of(code, row.text("secret"), now)?;
        let Some(step) = step.filter(|step| *step > row.id("last_step")) else { return Ok(false) };
        let used = [("confirmed", 1.into()), ("last_step", step.into())];
        edit.update(&table::TOTP_SECRETS, waiting.userid, &used)?;
        Ok(true)
    })
}

/// `user.resettotp`: removes the secrets of users, who enrol again, and ends their sessions but the caller's own.
pub(super) fn reset(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        let sql = "SELECT userid FROM totp_secrets WHERE userid IN ({ids})";
        let rows = config::db::query_by_ids(edit, sql, &[], &ids)?;
        let enrolled: Vec<u64> = rows.iter().map(|row| row.id("userid")).collect();
        edit.delete(&table::TOTP_SECRETS, "userid", &enrolled)?;
        let others: Vec<u64> =
            enrolled.into_iter().filter(|userid| *userid != call.user().id).collect();
        session::end_all(call.api, edit, &others, "")
    })?;
    Ok(crate::methods::user::USER.result(&ids))
}
