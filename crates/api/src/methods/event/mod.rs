//! Events, problems, acknowledgements: what triggers reported and what people did about it.

pub(crate) mod acknowledge;
mod counts;
mod explain;
mod get;
mod groups;
mod menu;
mod problem;
mod shown;
mod steps;

use crate::call::Method;
pub(crate) use counts::{SEVERITIES, by_group, by_host};
pub(crate) use groups::GROUPS;
pub(crate) use shown::suppressed;

pub(crate) use get::EVENT;
pub(crate) use problem::PROBLEM;

pub(crate) const METHODS: &[Method] = &[
    Method::user("event.get", get::get),
    Method::user("escalation.get", explain::escalations),
    Method::user("event.acknowledge", acknowledge::run),
    Method::user("event.explain", explain::explain),
    Method::user("problem.counts", counts::get),
    Method::user("problem.get", problem::get),
    Method::user("problem.groups", groups::get),
];
