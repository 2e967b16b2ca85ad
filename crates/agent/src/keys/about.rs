//! Keys about the agent itself.

use super::{Answer, Params};
use crate::config::Detail;
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
    Ok(agent.config().hostnames.first().cloned().unwrap_or_default())
}

pub(super) fn hostmetadata(agent: &Agent, _: &Params) -> Answer {
    match &agent.config().active.metadata {
        Detail::Text(text) => Ok(text.clone()),
        // The item has the value.
        Detail::Item(_) => Err(String::from(super::UNSUPPORTED)),
    }
}
