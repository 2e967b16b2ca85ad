//! Keys about the agent itself.

use super::{Answer, Params};
use crate::{Agent, PROTOCOL_VERSION};

pub(super) fn ping(_: &Agent, _: &Params) -> Answer {
    Ok(String::from("1"))
}

/// 1 = the classic agent's key set.
pub(super) fn variant(_: &Agent, _: &Params) -> Answer {
    Ok(String::from("1"))
}

pub(super) fn version(_: &Agent, _: &Params) -> Answer {
    Ok(String::from(PROTOCOL_VERSION))
}

pub(super) fn hostname(agent: &Agent, _: &Params) -> Answer {
    Ok(agent.config().hostname.clone())
}

pub(super) fn hostmetadata(agent: &Agent, _: &Params) -> Answer {
    Ok(agent.config().host_metadata.clone())
}
