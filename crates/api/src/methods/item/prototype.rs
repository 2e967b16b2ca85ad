//! Methods of item prototypes.

use super::fields::Kind;
use super::{get, write};
use crate::call::{Call, Json, Method, UserType};
use crate::error::ApiResult;

pub(crate) const METHODS: &[Method] = &[
    Method { name: "itemprototype.get", lowest: Some(UserType::User), run: get_prototypes },
    Method { name: "itemprototype.create", lowest: Some(UserType::Admin), run: create },
    Method { name: "itemprototype.update", lowest: Some(UserType::Admin), run: update },
    Method { name: "itemprototype.delete", lowest: Some(UserType::Admin), run: delete },
];

fn get_prototypes(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    get::get(call, input, Kind::Prototype)
}

fn create(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    write::create(call, input, Kind::Prototype)
}

fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    write::update(call, input, Kind::Prototype)
}

fn delete(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    write::delete(call, input, Kind::Prototype, "prototypeids")
}
