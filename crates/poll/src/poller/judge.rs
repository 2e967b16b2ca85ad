//! What the reply to a check says about the interface that was asked.

use config::snapshot::Interface;
use model::{Available, InterfaceState, ReachChange};

use super::Poller;
use crate::checks::reply::CheckReply;

impl Poller {
    /// What the reply says about the interface.
    pub(super) fn judge(&self, lane: usize, reply: &CheckReply, now: u32) {
        let mut schedule = self.schedule.borrow_mut();
        let lane = schedule.lane_mut(lane);
        if matches!(reply, CheckReply::Value(_)) && lane.state.is_well() {
            return;
        }
        let Some(host) = lane.host.clone() else { return };
        if lane.state == InterfaceState::default() {
            // Known from before a restart, perhaps.
            lane.state = self.shared.context.availability.interface(lane.interface);
            if matches!(reply, CheckReply::Value(_)) && lane.state.is_well() {
                return;
            }
        }
        let (before, error_before) = (lane.state.available, lane.state.error.clone());
        let change = match reply {
            CheckReply::ConfigError(_) | CheckReply::LocalError(_) => return,
            CheckReply::NetworkError(why) => {
                // Name resolution is asked again at the next attempt.
                lane.resolved = None;
                lane.state.failure(now, why, &self.shared.config.reach)
            }
            _ => lane.state.success(now),
        };
        if change != ReachChange::None
            || before != lane.state.available
            || error_before != lane.state.error
        {
            self.shared.context.availability.set(lane.interface, &lane.state);
        }
        let kind = Interface::kind_name(lane.interface().map_or(0, |interface| interface.kind));
        let (name, id) = (&host.host, lane.interface);
        let why = match reply {
            CheckReply::NetworkError(why) => why.as_str(),
            _ => "",
        };
        match change {
            ReachChange::None => {}
            ReachChange::Unreachable => {
                tracing::info!("{kind} interface {id} of host \"{name}\" is unreachable: {why}");
            }
            ReachChange::Unavailable => {
                tracing::warn!("{kind} interface {id} of host \"{name}\" is not available: {why}");
            }
            // The first answer of each of a million interfaces is no news.
            ReachChange::Available if before == Available::Unknown => {
                tracing::debug!("{kind} interface {id} of host \"{name}\" answers");
            }
            ReachChange::Available => {
                tracing::info!("{kind} interface {id} of host \"{name}\" is available");
            }
        }
    }
}
