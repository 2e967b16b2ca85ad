//! `user.replacetotp`: users replace their own authenticator by another one.

use super::confirm::{
    HIDDEN, Holder, WRONG_CODE, confirmed, members, no_authenticator, right_step, store, text,
};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::session::{self, BAD_LOGIN};

/// Without parameters a new secret, which changes nothing yet. With a code of it, and a code of the authenticator
/// up to now, the new one replaces that, and the user's other sessions end.
pub(super) fn replace(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    members(input, &["code", "current_code"])?;
    let user = call.user();
    let own = session::enrolling(call)?;
    let holder = Holder::of(call, user.credential.clone(), own, user.username.clone())?;
    if input.get("code").is_none() && input.get("current_code").is_none() {
        return holder.offer(Some(&holder.enrol(call)?));
    }
    let (code, current) = (text(input, "code")?, text(input, "current_code")?);
    let Some(attempt) = session::begin_code(call, user.id) else {
        return Err(ApiError::params(BAD_LOGIN));
    };
    let good = accept(call, &holder, &code, &current)?;
    attempt.end(good, call.now());
    if !good {
        return Err(ApiError::params(WRONG_CODE));
    }
    session::end_enrolment(call.api, &user.credential)?;
    Ok(true.into())
}

fn accept(call: &Call<'_>, holder: &Holder, code: &str, current: &str) -> ApiResult<bool> {
    if holder.enrolled.is_empty() {
        return Err(no_authenticator("user.replacetotp"));
    }
    let now = call.now();
    call.write(|edit| {
        let known = confirmed(edit, holder)?.ok_or_else(|| no_authenticator("user.login"))?;
        let step = holder.codes.step_of(code, &holder.enrolled, now)?;
        let is_known = right_step(holder, &known, current, now)?.is_some();
        let Some(step) = step.filter(|_| is_known) else { return Ok(false) };
        store(edit, holder, step, HIDDEN)?;
        session::end_all(call.api, edit, &[holder.userid], &call.user().credential)?;
        Ok(true)
    })
}
