//! Which VIPs an engine announces: the server may leave some of them to other engines of the group.

use std::collections::BTreeSet;
use std::net::IpAddr;

use arc_swap::ArcSwapOption;

/// The VIPs that an engine owns. It serves all of its services, whatever it owns.
#[derive(Debug, Default)]
pub(crate) struct Owned(ArcSwapOption<BTreeSet<IpAddr>>);

impl Owned {
    /// `None`: all.
    pub(crate) fn replace(&self, vips: Option<BTreeSet<IpAddr>>) {
        self.0.store(vips.map(Into::into));
    }

    pub(crate) fn has(&self, vip: IpAddr) -> bool {
        self.0.load().as_ref().is_none_or(|vips| vips.contains(&vip))
    }
}
