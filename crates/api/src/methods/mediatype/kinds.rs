//! Which fields media types of a kind have.

use config::db::{Row, Value};
use objects::{MediaTypeKind, SmtpAuthentication, SmtpSecurity};

use super::SPEC;
use crate::error::{ApiError, ApiResult};
use crate::methods::user::is_web_address;
use crate::object::missing;
use crate::params;
use crate::plain::Draft;

/// A field that media types of one kind have. Others keep its default.
struct Own {
    name: &'static str,
    kind: MediaTypeKind,
    /// It also needs one of these values of another field.
    also: Option<(&'static str, &'static [i64])>,
    /// It cannot be empty.
    required: bool,
}

const fn own(name: &'static str, kind: MediaTypeKind) -> Own {
    Own { name, kind, also: None, required: false }
}

impl Own {
    const fn required(self) -> Self {
        Self { required: true, ..self }
    }

    const fn with(self, field: &'static str, values: &'static [i64]) -> Self {
        Self { also: Some((field, values)), ..self }
    }
}

const ENCRYPTED: &[i64] = &[SmtpSecurity::StartTls as i64, SmtpSecurity::Tls as i64];
const BY_PASSWORD: &[i64] = &[SmtpAuthentication::Password as i64];

use MediaTypeKind::{Email, Script, Sms, Webhook};

/// Fields that decide about others come before them.
const OWN: &[Own] = &[
    own("smtp_server", Email).required(),
    own("smtp_port", Email),
    own("smtp_helo", Email),
    own("smtp_email", Email).required(),
    own("smtp_security", Email),
    own("smtp_verify_peer", Email).with("smtp_security", ENCRYPTED),
    own("smtp_verify_host", Email).with("smtp_security", ENCRYPTED),
    own("smtp_authentication", Email),
    own("username", Email).with("smtp_authentication", BY_PASSWORD),
    own("passwd", Email).with("smtp_authentication", BY_PASSWORD),
    own("message_format", Email),
    own("provider", Email),
    own("exec_path", Script).required(),
    own("gsm_modem", Sms).required(),
    own("script", Webhook).required(),
    own("timeout", Webhook),
    own("process_tags", Webhook),
    own("show_event_menu", Webhook),
    own("event_menu_url", Webhook).required().with("show_event_menu", &[1]),
    own("event_menu_name", Webhook).required().with("show_event_menu", &[1]),
];

/// Checks values that mean the same for all kinds.
pub(super) fn check_given(draft: &Draft<'_>) -> ApiResult<()> {
    let at = |name: &str| format!("{}/{name}", draft.path);
    let given = |name: &str| draft.input.get(name).is_some();
    if given("content_type") && given("message_format") {
        return Err(ApiError::params(format!(
            "Deprecated parameter \"{}\" cannot be used with \"{}\".",
            at("content_type"),
            at("message_format")
        )));
    }
    for (name, min, max) in [("attempt_interval", 0, 3_600), ("timeout", 1, 60)] {
        if draft.gives(name) {
            let seconds = params::time_unit(&draft.text(name, None), &at(name))?;
            if !(min..=max).contains(&seconds) {
                let what = format!("value must be one of {min}-{max}");
                return Err(ApiError::at(&at(name), what));
            }
        }
    }
    Ok(())
}

/// Refuses fields that the media type does not have and misses those that it must have; a media type
/// that becomes one of another kind loses what that does not have.
pub(super) fn complete(draft: &mut Draft<'_>, before: Option<&Row>) -> ApiResult<MediaTypeKind> {
    let number = draft.value("type", before).as_int();
    let kind = MediaTypeKind::from_number(number)
        .ok_or_else(|| ApiError::at(&format!("{}/type", draft.path), "an integer is expected"))?;
    let is_new_kind = before.is_none_or(|row| row.int("type") != number);
    for field in OWN {
        field.complete(draft, before, kind, is_new_kind)?;
    }
    if kind == Sms {
        only(draft, "maxsessions", &Value::from(1_u8))?;
    }
    if draft.gives("event_menu_url") {
        let url = draft.text("event_menu_url", before);
        if !is_web_address(&url) {
            let path = format!("{}/event_menu_url", draft.path);
            return Err(ApiError::at(&path, "unacceptable URL"));
        }
    }
    Ok(kind)
}

impl Own {
    fn complete(
        &self,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
        kind: MediaTypeKind,
        is_new_kind: bool,
    ) -> ApiResult<()> {
        let name = self.name;
        let holds = |draft: &Draft<'_>| {
            self.also.is_none_or(|(field, values)| {
                let before = before.filter(|_| !is_new_kind);
                values.contains(&draft.value(field, before).as_int())
            })
        };
        if kind != self.kind || !holds(draft) {
            let column = SPEC.table.column(name);
            let default =
                column.map_or_else(|| Value::from(""), config::schema::Column::default_value);
            return only(draft, name, &default);
        }
        if self.required && draft.gives(name) && draft.text(name, None).is_empty() {
            return Err(ApiError::at(&format!("{}/{name}", draft.path), "cannot be empty"));
        }
        if self.required && is_new_kind && !draft.gives(name) {
            return Err(missing(&draft.path, name));
        }
        Ok(())
    }
}

/// Gives a field the only value that it can have.
fn only(draft: &mut Draft<'_>, name: &'static str, value: &Value) -> ApiResult<()> {
    let path = format!("{}/{name}", draft.path);
    if draft.gives(name) && !same(&draft.value(name, None), value) {
        let seconds = |text: &str| params::time_unit(text, &path).unwrap_or(0);
        let what = match value {
            Value::Text(text) if text.is_empty() => "value must be empty".to_owned(),
            Value::Text(text) => format!("value must be {}", seconds(text)),
            Value::Int(number) => format!("value must be {number}"),
        };
        return Err(ApiError::at(&path, what));
    }
    draft.set(name, value.clone());
    Ok(())
}

/// Times are equal if they last equally long.
fn same(given: &Value, only: &Value) -> bool {
    let seconds = |value: &Value| params::time_unit(&value.to_string(), "").ok();
    match only {
        Value::Text(text) if !text.is_empty() => seconds(given) == seconds(only),
        _ => given == only,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_fields_are_columns_and_come_after_what_decides_about_them() {
        for (n, field) in OWN.iter().enumerate() {
            assert!(SPEC.table.column(field.name).is_some(), "{}", field.name);
            if let Some((other, _)) = field.also {
                let place = OWN.iter().position(|one| one.name == other).unwrap();
                assert!(place < n, "{}", field.name);
                assert_eq!(OWN[place].kind, field.kind);
            }
        }
    }
}
