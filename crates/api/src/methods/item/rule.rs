//! Methods of discovery rules.

use super::fields::Kind;
use super::{get, write};
use crate::call::{Call, Json, Method, UserType};
use crate::error::ApiResult;

pub(crate) const METHODS: &[Method] = &[
    Method { name: "discoveryrule.get", lowest: Some(UserType::User), run: get_rules },
    Method { name: "discoveryrule.create", lowest: Some(UserType::Admin), run: create },
    Method { name: "discoveryrule.update", lowest: Some(UserType::Admin), run: update },
    Method { name: "discoveryrule.delete", lowest: Some(UserType::Admin), run: delete },
];

fn get_rules(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    get::get(call, input, Kind::Rule)
}

fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    write::create(call, input, Kind::Rule)
}

fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    write::update(call, input, Kind::Rule)
}

fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    write::delete(call, input, Kind::Rule, "ruleids")
}
