//! `apiinfo.version`: the dialect that is spoken here.

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};

pub(crate) const METHODS: &[Method] =
    &[Method { name: "apiinfo.version", lowest: None, run: version }];

/// The API version whose answers these are; clients compare its first two numbers.
const VERSION: &str = "7.0.22";

fn version(_call: &Call<'_>, params: &Json) -> ApiResult<Json> {
    match params {
        Json::Array(values) if values.is_empty() => Ok(VERSION.into()),
        Json::Object(members) if members.is_empty() => Ok(VERSION.into()),
        _ => Err(ApiError::at("/", "should be empty")),
    }
}
