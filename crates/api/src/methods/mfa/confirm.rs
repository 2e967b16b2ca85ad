//! The second step of a sign-in: the session of `user.login` is confirmed with a code.

use config::Edit;
use config::audit::{AuditAction, Described, note_access};
use config::db::{Reader, Row};
use config::table;
use qrcode::{Color, QrCode};
use serde_json::json;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::methods::auditlog;
use crate::params;
use crate::session::totp::{self, Codes};
use crate::session::{self, BAD_LOGIN, Unconfirmed};
use crate::write::only;

pub(super) const WRONG_CODE: &str = "The verification code was incorrect, please try again.";

/// A session whose user enrols an authenticator, or has one.
pub(super) struct Holder {
    /// Digest of the session.
    digest: String,
    pub(super) userid: u64,
    pub(super) username: String,
    /// Secret of the authenticator that the user enrols with this session; empty = none yet.
    pub(super) enrolled: String,
    /// The row of the MFA method.
    method: Row,
    pub(super) codes: Codes,
}

impl Holder {
    pub(super) fn of(
        call: &Call<'_>,
        digest: String,
        session: Unconfirmed,
        username: String,
    ) -> ApiResult<Self> {
        let Unconfirmed { userid, mfaid, enrolled } = session;
        super::check_supported(call, mfaid)?;
        let rows = call.rows("SELECT * FROM mfa WHERE mfaid = ?", &[mfaid.into()])?;
        let method = rows.into_iter().next().ok_or_else(ApiError::no_object)?;
        let codes = Codes::new(method.int("hash_function"), method.int("code_length"));
        Ok(Self { digest, userid, username, enrolled, method, codes })
    }

    /// That of a session that waits for a code.
    fn waiting(call: &Call<'_>, sessionid: &str) -> ApiResult<Self> {
        let session = session::unconfirmed(call, sessionid)?;
        let user = session::user(call.api, session.userid, "", session::NO_ACCESS)?;
        Self::of(call, session::digest(sessionid), session, user.username)
    }

    pub(super) fn mfaid(&self) -> u64 {
        self.method.id("mfaid")
    }

    /// What the method needs of a code, with a new secret if there is one.
    pub(super) fn offer(&self, secret: Option<&str>) -> ApiResult<Json> {
        let mut result = json!({
            "mfaid": self.mfaid().to_string(),
            "name": self.method.text("name"),
            "type": self.method.int("type").to_string(),
            "code_length": self.method.int("code_length").to_string(),
        });
        if let Some(secret) = secret {
            let uri = self.codes.uri(self.method.text("name"), &self.username, secret);
            result["qr_code"] = modules(&uri)?;
            result["uri"] = uri.into();
            result["totp_secret"] = secret.into();
        }
        Ok(result)
    }

    /// The secret that the session enrols. It stays in the session until a right code is given; calls without a
    /// code write nothing further.
    pub(super) fn enrol(&self, call: &Call<'_>) -> ApiResult<String> {
        match self.enrolled.is_empty() {
            true => session::begin_enrolment(call.api, &self.digest, &totp::new_secret()?),
            false => Ok(self.enrolled.clone()),
        }
    }
}

pub(super) fn text(input: &Json, name: &str) -> ApiResult<String> {
    match input.get(name) {
        Some(value) => params::text(value, &format!("/{name}")),
        None => Err(ApiError::at("/", format_args!("the parameter \"{name}\" is missing"))),
    }
}

pub(super) fn members(input: &Json, known: &[&str]) -> ApiResult<()> {
    let members = input.as_object().ok_or_else(|| ApiError::at("/", "an array is expected"))?;
    only(members, "/", known)
}

/// `user.confirmation`: what the session waits for. A user who has no authenticator yet gets a new secret.
pub(super) fn confirmation(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    members(input, &["sessionid"])?;
    let holder = Holder::waiting(call, &text(input, "sessionid")?)?;
    match call.read(|reader| confirmed(reader, &holder))? {
        Some(_) => holder.offer(None),
        None => holder.offer(Some(&holder.enrol(call)?)),
    }
}

/// The row of the user's authenticator of this method.
pub(super) fn confirmed(reader: &mut dyn Reader, holder: &Holder) -> ApiResult<Option<Row>> {
    let sql = "SELECT secret, last_step FROM totp_secrets \
               WHERE userid = ? AND mfaid = ? AND confirmed = 1";
    let rows = reader.query(sql, &[holder.userid.into(), holder.mfaid().into()])?;
    Ok(rows.into_iter().next())
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
    let sessionid = text(input, "sessionid")?;
    let holder = Holder::waiting(call, &sessionid)?;
    let code = text(input, "code")?;
    let Some(attempt) = session::begin_code(call, holder.userid) else {
        session::close(call.api, &holder.digest)?;
        return Err(ApiError::application(BAD_LOGIN));
    };
    let good = accept(call, &holder, &code)?;
    attempt.end(good, call.now());
    call.api.sessions.attempts.note(holder.userid, good, call.peer, call.now());
    if !good {
        auditlog::note(call, AuditAction::FailedLogin, holder.userid, &holder.username);
        return Err(ApiError::params(WRONG_CODE));
    }
    let entry = auditlog::entry(call, AuditAction::Login, holder.userid, &holder.username);
    session::activate(call.api, &sessionid, |state| match &entry {
        Some(author) => note_access(state, AuditAction::Login, author),
        None => Ok(()),
    })?;
    Ok(sessionid.into())
}

/// Whether the code is right. It is accepted once, and none of an earlier time step is after it. The first right
/// code of a new authenticator enrols it.
fn accept(call: &Call<'_>, holder: &Holder, code: &str) -> ApiResult<bool> {
    let now = call.now();
    call.write_named(holder.userid, &holder.username, |edit| {
        let Some(known) = confirmed(edit, holder)? else {
            if holder.enrolled.is_empty() {
                return Err(no_authenticator("user.confirmation"));
            }
            let step = holder.codes.step_of(code, &holder.enrolled, now)?;
            return step.map_or(Ok(false), |step| store(edit, holder, step, "").map(|()| true));
        };
        let Some(step) = right_step(holder, &known, code, now)? else { return Ok(false) };
        edit.update(&table::TOTP_SECRETS, holder.userid, &[("last_step", step.into())])?;
        Ok(true)
    })
}

pub(super) fn no_authenticator(method: &str) -> ApiError {
    ApiError::params(format!("No authenticator is enrolled: call \"{method}\" first."))
}

/// The time step of a right code of the user's authenticator, whose row is given.
pub(super) fn right_step(
    holder: &Holder,
    known: &Row,
    code: &str,
    now: u64,
) -> ApiResult<Option<u64>> {
    let step = holder.codes.step_of(code, known.text("secret"), now)?;
    Ok(step.filter(|step| *step > known.id("last_step")))
}

/// Makes the secret that the session enrols that of the user. `before`: the former one, as the audit log shows it.
pub(super) fn store(
    edit: &mut Edit<'_>,
    holder: &Holder,
    step: u64,
    before: &str,
) -> ApiResult<()> {
    edit.delete(&table::TOTP_SECRETS, "userid", &[holder.userid])?;
    let row = [
        ("userid", holder.userid.into()),
        ("mfaid", holder.mfaid().into()),
        ("secret", holder.enrolled.as_str().into()),
        ("confirmed", 1.into()),
        ("last_step", step.into()),
    ];
    edit.insert(&table::TOTP_SECRETS, &row)?;
    note(edit, holder.userid, before, HIDDEN);
    Ok(())
}

/// A secret in the audit log.
pub(super) const HIDDEN: &str = "******";

/// Notes in the audit log that a user has another secret; empty = none.
fn note(edit: &mut Edit<'_>, userid: u64, before: &str, now: &str) {
    let text = Described::Changed { now, before };
    edit.describe(&table::USERS, userid, "totp_secret", text);
}

/// `user.resettotp`: removes the secrets of users, who enrol again, and ends their sessions but the caller's own.
pub(super) fn reset(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let ids = params::delete_ids(input)?;
    call.write(|edit| {
        let sql = "SELECT userid FROM totp_secrets WHERE userid IN ({ids})";
        let rows = config::db::query_by_ids(edit, sql, &[], &ids)?;
        let enrolled: Vec<u64> = rows.iter().map(|row| row.id("userid")).collect();
        edit.delete(&table::TOTP_SECRETS, "userid", &enrolled)?;
        for userid in &enrolled {
            note(edit, *userid, HIDDEN, "");
        }
        let others: Vec<u64> =
            enrolled.into_iter().filter(|userid| *userid != call.user().id).collect();
        session::end_all(call.api, edit, &others, "")
    })?;
    Ok(crate::methods::user::USER.result(&ids))
}
