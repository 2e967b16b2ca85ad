//! Autoregistration: over which connections agents may announce themselves.

use config::Edit;
use config::db::Value;
use serde_json::{Map, json};

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::Output;
use crate::object::missing;
use crate::owned::tls::check;
use crate::params;
use crate::write::only;

pub(crate) const METHODS: &[Method] = &[
    Method::super_admin("autoregistration.get", get),
    Method::super_admin("autoregistration.update", update),
];

/// Bit for a pre-shared key.
const PSK: i64 = 2;

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let Json::Object(members) = input else { return answer(call, &Output::Extend) };
    only(members, "/", &["output"])?;
    let Some(wanted) = input.get("output") else { return answer(call, &Output::Extend) };
    let wanted = Output::parse(wanted, "/output")?.unwrap_or(Output::Extend);
    if let Output::Fields(names) = &wanted
        && let Some(n) = names.iter().position(|name| name != "tls_accept")
    {
        let path = format!("/output/{}", n + 1);
        return Err(ApiError::at(&path, "value must be \"tls_accept\""));
    }
    answer(call, &wanted)
}

fn answer(call: &Call<'_>, wanted: &Output) -> ApiResult<Json> {
    let mut out = Map::new();
    if wanted.has("tls_accept") {
        let accept = call.config().snapshot().settings.autoregistration.accept;
        out.insert("tls_accept".to_owned(), accept.to_string().into());
    }
    Ok(Json::Object(out))
}

fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let Json::Object(members) = input else {
        let empty = input.as_array().is_some_and(Vec::is_empty);
        return if empty {
            Ok(json!(true))
        } else {
            Err(ApiError::at("/", "an array is expected"))
        };
    };
    only(members, "/", &["tls_accept", "tls_psk_identity", "tls_psk"])?;
    let stored = call.config().snapshot().settings.autoregistration.clone();
    let before = i64::from(stored.accept);
    let accept = members.get("tls_accept").map(|v| params::int(v, "/tls_accept")).transpose()?;
    let accept = accept.unwrap_or(before);
    if !(1..=3).contains(&accept) {
        return Err(ApiError::at("/tls_accept", "value must be one of 1-3"));
    }
    let mut columns = vec![("autoreg_tls_accept", accept.to_string())];
    for (name, setting, before) in [
        ("tls_psk_identity", "autoreg_tls_psk_identity", &stored.psk_identity),
        ("tls_psk", "autoreg_tls_psk", &stored.psk),
    ] {
        let path = format!("/{name}");
        let given = members.get(name).map(|v| params::text(v, &path)).transpose()?;
        let text = match (accept & PSK != 0, given) {
            (false, Some(text)) if !text.is_empty() => {
                return Err(ApiError::at(&path, "should be empty"));
            }
            (false, _) => String::new(),
            (true, Some(text)) if text.is_empty() => {
                return Err(ApiError::at(&path, "cannot be empty"));
            }
            (true, Some(text)) => text,
            (true, None) if before.is_empty() => return Err(missing("/", name)),
            (true, None) => before.to_string(),
        };
        check(name, &text, &path)?;
        columns.push((setting, text));
    }
    call.write(|edit| {
        columns.iter().try_for_each(|(name, value)| set(edit, name, value))?;
        Ok(json!(true))
    })
}

fn set(edit: &mut Edit<'_>, name: &str, value: &str) -> ApiResult<()> {
    edit.delete_rows("settings", &[("name", &[name.into()])])?;
    edit.insert("settings", &[("name", Value::from(name)), ("value", value.into())])?;
    Ok(())
}
