//! Methods of item prototypes.

use super::fields::Kind;
use super::{get, write};
use crate::call::Method;

pub(crate) const METHODS: &[Method] = &[
    Method::user("itemprototype.get", |call, input| get::get(call, input, Kind::Prototype)),
    Method::admin("itemprototype.create", |call, input| {
        write::create(call, input, Kind::Prototype)
    }),
    Method::admin("itemprototype.update", |call, input| {
        write::update(call, input, Kind::Prototype)
    }),
    Method::admin("itemprototype.delete", |call, input| {
        write::delete(call, input, Kind::Prototype, "prototypeids")
    }),
];
