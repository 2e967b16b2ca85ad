//! Events, problems, acknowledgements: what triggers told and what people did about it.

mod acknowledge;
mod get;
mod problem;
mod shown;

use crate::call::{Method, UserType};
pub(crate) use shown::suppressed;

pub(crate) use get::EVENT;
pub(crate) use problem::PROBLEM;

pub(crate) const METHODS: &[Method] = &[
    Method { name: "event.get", lowest: Some(UserType::User), run: get::get },
    Method { name: "event.acknowledge", lowest: Some(UserType::User), run: acknowledge::run },
    Method { name: "problem.get", lowest: Some(UserType::User), run: problem::get },
];
