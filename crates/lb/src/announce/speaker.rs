//! The program through which other machines learn of VIPs.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use stdx::clock::SharedClock;
use stdx::sys::tun::Tun;

use super::{bird, devices, keepalived};
use crate::config;

/// The program.
#[derive(Clone)]
pub(super) enum Speaker {
    Bird {
        config: config::Bird,
        /// Whether it has read what all processes of the machine have in common. That is written once for each
        /// process: one that drains must not bring back the neighbours of former settings.
        introduced: bool,
    },
    Keepalived {
        config: config::Keepalived,
        /// Whether it may not have read its configuration.
        reload: bool,
    },
}

/// The VIPs with usable servers.
pub(super) fn usable(vips: &BTreeMap<IpAddr, bool>) -> BTreeSet<IpAddr> {
    vips.iter().filter(|(_, usable)| **usable).map(|(vip, _)| *vip).collect()
}

impl Speaker {
    pub(super) fn new(config: &config::Speaker) -> Self {
        match config.clone() {
            config::Speaker::Bird(config) => Self::Bird { config, introduced: false },
            config::Speaker::Keepalived(config) => Self::Keepalived { config, reload: true },
        }
    }

    /// A device of the engine that has the VIPs. keepalived adds them to a device of the machine, where it has them;
    /// machines that share connections have them also while they are elsewhere.
    pub(super) fn vips(&self) -> anyhow::Result<Option<devices::Vips>> {
        match self {
            Self::Keepalived { config, .. } if config.dispatch.is_none() => Ok(None),
            _ => devices::Vips::new().map(Some),
        }
    }

    /// The device whose end withdraws the VIPs.
    pub(super) fn device(&self) -> anyhow::Result<Tun> {
        match self {
            Self::Bird { .. } => devices::of_routes(bird::OF_ROUTES),
            Self::Keepalived { config, .. } => devices::shared(&keepalived::device(config)),
        }
    }

    /// Whether the server decides which VIPs the engine announces. By VRRP, the machines decide among themselves, and
    /// all VIPs of a machine move together.
    pub(super) const fn is_placed(&self) -> bool {
        matches!(self, Self::Bird { .. })
    }

    /// Whether another process of this machine announces all of these.
    pub(super) fn announced_by_others(&self, device: &str, vips: &BTreeSet<IpAddr>) -> bool {
        match self {
            Self::Bird { config, .. } => bird::announced_by_others(config, device, vips),
            Self::Keepalived { .. } => devices::processes(device) > 1,
        }
    }

    /// Removes what is of this process alone.
    pub(super) fn remove(&self, device: &str) {
        if let Self::Bird { config, .. } = self {
            bird::remove(config, device);
        }
    }

    /// Writes files: the VIPs, and whether their services have usable servers.
    pub(super) fn write(
        &mut self,
        device: &str,
        vips: &BTreeMap<IpAddr, bool>,
    ) -> anyhow::Result<()> {
        match self {
            Self::Bird { config, introduced } => {
                if !*introduced {
                    bird::write_common(config)?;
                }
                bird::write(config, device, &usable(vips))
            }
            Self::Keepalived { config, reload } => {
                *reload |= keepalived::write(config, vips)?;
                Ok(())
            }
        }
    }

    /// Lets the program read them.
    pub(super) fn reload(&mut self, clock: &SharedClock) -> anyhow::Result<()> {
        match self {
            Self::Bird { config, introduced } => {
                bird::configure(&config.bird, clock)?;
                *introduced = true;
                Ok(())
            }
            Self::Keepalived { config, reload } => {
                if *reload {
                    keepalived::reload(config)?;
                    *reload = false;
                }
                Ok(())
            }
        }
    }
}
