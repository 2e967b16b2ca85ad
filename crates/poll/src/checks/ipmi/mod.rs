//! IPMI: sensors of management controllers.
//!
//! [`link`] sends, waits and repeats within a session, [`device`] knows the controller's sensors,
//! [`answer`] makes values of readings. A poller keeps one session for each interface from check to check,
//! and sends one request at a time.

pub(crate) mod answer;
pub(crate) mod control;
mod device;
mod link;

use config::snapshot::Interface;
use config::snapshot::source::Ipmi;
use wire::ipmi::{AuthType, Login, completion};

use super::check::Check;
use super::reply::CheckReply;
pub(crate) use device::Device;

/// Why a device gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// Nothing in time.
    #[error("the device does not respond")]
    Silent,
    /// No session, or no way to the device.
    #[error("{0}")]
    Refused(String),
    /// It answered that it cannot; about one sensor or record.
    #[error("{}", completion(*.0))]
    Code(u8),
    /// Its answer makes no sense; about one sensor or record.
    #[error("cannot parse the device's response")]
    Invalid,
    /// The system gives no socket.
    #[error("{0}")]
    Local(String),
}

impl Failure {
    /// It is about one sensor: others may be asked.
    const fn is_small(&self) -> bool {
        matches!(self, Self::Code(_) | Self::Invalid)
    }

    /// The reply of every item of the interface.
    pub(crate) fn reply(&self) -> CheckReply {
        match self {
            Self::Local(why) => CheckReply::LocalError(why.clone()),
            _ => CheckReply::NetworkError(format!("cannot connect to IPMI host: {self}")),
        }
    }
}

/// The credentials in the form of the protocol.
fn login(ipmi: &Ipmi) -> Login {
    Login {
        auth: AuthType::from_api(ipmi.auth_type),
        privilege: ipmi.privilege,
        username: ipmi.username.clone(),
        password: ipmi.password.clone(),
    }
}

/// Address and port, as texts show them.
fn shown(interface: &Interface) -> String {
    let address = if interface.use_ip { &interface.ip } else { &interface.dns };
    format!("[{address}]:{}", interface.port)
}

pub(crate) const NO_INTERFACE: &str = "The item has no IPMI interface to check.";

/// One check outside the schedule, in a session of its own.
pub(crate) async fn check_once(check: &Check<'_>) -> CheckReply {
    let Some(interface) = check.interface else {
        return CheckReply::ConfigError(NO_INTERFACE.to_owned());
    };
    let now = check.shared.context.clock.monotonic();
    let mut device = match Device::connect(interface, check.shared).await {
        Ok(device) => device,
        Err(failure) => return failure.reply(),
    };
    match device.prepare(now).await {
        Ok(()) => answer::reply(&mut device, check.item, interface).await,
        Err(failure) => failure.reply(),
    }
}
