//! What hosts and templates own, checked and written the same way for both: groups, tags, macros,
//! linked templates; and for hosts interfaces, inventory and encryption.

pub(crate) mod discovered;
pub(crate) mod extent;
pub(crate) mod groups;
pub(crate) mod inherited;
pub(crate) mod interfaces;
pub(crate) mod inventory;
pub(crate) mod links;
pub(crate) mod macros;
pub(crate) mod names;
pub(crate) mod secrets;
pub(crate) mod shown;
pub(crate) mod tags;
pub(crate) mod tls;
