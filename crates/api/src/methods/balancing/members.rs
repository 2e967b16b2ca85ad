//! Members in the form of the engine's configuration: its own types read them.

use balancing::Pem;
use config::engines::pem;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::error::{ApiError, ApiResult};
use crate::plain::Draft;

/// Characters of one member as JSON text.
const JSON_MAX: usize = 1 << 20;

/// A member: its name, and what reads it; the result is the text of its column.
pub(super) type Member = (&'static str, fn(&Json, &str) -> ApiResult<String>);

/// Reads the members that the call gives.
pub(super) fn read(draft: &mut Draft<'_>, members: &[Member]) -> ApiResult<()> {
    for (name, read) in members {
        let Some(value) = draft.input.get(*name) else { continue };
        let path = format!("{}/{name}", draft.path);
        let text = read(value, &path)?;
        if text.len() > JSON_MAX {
            return Err(ApiError::at(&path, "value is too long"));
        }
        draft.set(name, text);
    }
    Ok(())
}

/// The error of a value that is not of its type names what is expected.
pub(super) fn typed<T: DeserializeOwned>(value: &Json, path: &str) -> ApiResult<T> {
    T::deserialize(value).map_err(|error| ApiError::at(path, error))
}

/// One of the words of a type.
pub(super) fn word<T: DeserializeOwned>(value: &Json, path: &str) -> ApiResult<String> {
    typed::<T>(value, path)?;
    Ok(value.as_str().unwrap_or_default().to_owned())
}

/// The same; an empty text stands for none.
pub(super) fn optional_word<T: DeserializeOwned>(value: &Json, path: &str) -> ApiResult<String> {
    if value == "" { Ok(String::new()) } else { word::<T>(value, path) }
}

/// An object; what is not given has the engine's default.
pub(super) fn settings<T: DeserializeOwned>(value: &Json, path: &str) -> ApiResult<String> {
    let members = object(value, path)?;
    typed::<T>(&members, path)?;
    Ok(members.to_string())
}

/// An object; an empty one stands for none.
pub(super) fn optional<T: DeserializeOwned>(value: &Json, path: &str) -> ApiResult<String> {
    let members = object(value, path)?;
    if members.as_object().is_some_and(serde_json::Map::is_empty) {
        return Ok("{}".to_owned());
    }
    settings::<T>(&members, path)
}

/// A list of values of one type.
pub(super) fn list<T: DeserializeOwned>(value: &Json, path: &str) -> ApiResult<String> {
    let Json::Array(values) = value else {
        return Err(ApiError::at(path, "an array is expected"));
    };
    for (n, value) in values.iter().enumerate() {
        typed::<T>(value, &format!("{path}/{}", n + 1))?;
    }
    Ok(value.to_string())
}

/// PHP has one empty value for lists and objects.
pub(super) fn object(value: &Json, path: &str) -> ApiResult<Json> {
    match value {
        Json::Object(_) => Ok(value.clone()),
        Json::Array(values) if values.is_empty() => Ok(Json::Object(serde_json::Map::new())),
        _ => Err(ApiError::at(path, "an object is expected")),
    }
}

/// Refuses PEM text in which something is wrong.
type Test = fn(&str) -> Result<(), &'static str>;

/// Authorities are given as text: a file name would be read on each engine.
pub(super) fn check_authorities(given: Option<&Pem>, path: &str) -> ApiResult<()> {
    check_text(given, path, pem::check_authorities)
}

/// So are revocation lists.
pub(super) fn check_revocations(given: Option<&Pem>, path: &str) -> ApiResult<()> {
    check_text(given, path, pem::check_revocations)
}

fn check_text(given: Option<&Pem>, path: &str, test: Test) -> ApiResult<()> {
    let tested = match given {
        None => Ok(()),
        Some(Pem::Text(text)) => test(text),
        // No text has this form: the error says what is expected.
        Some(Pem::File(_)) => test(""),
    };
    tested.map_err(|error| ApiError::at(path, error))
}
