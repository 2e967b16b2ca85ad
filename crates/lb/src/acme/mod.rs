//! Certificates that an authority issues by ACME (RFC 8555).
//!
//! The threads that forward see a [`Slot`] for each certificate and the [`Challenges`] in progress; both
//! are read by one atomic load. One more thread, that of the [`Orders`], [orders](order) and renews at the
//! times of the [`schedule`]. What it gets goes to a [`Store`], and a [`Responder`] answers the checks of the
//! authority: the [`Keeper`] of an engine has a [folder](state) and the engine itself, the server its
//! database and all engines.

mod challenge;
mod hook;
mod http;
mod issued;
mod keeper;
mod order;
mod orders;
mod schedule;
mod slot;
mod state;
mod store;
mod table;
mod wanted;

pub(crate) use challenge::{ACME_TLS, Challenges};
pub(crate) use http::authorities;
pub use issued::Issued;
pub(crate) use keeper::Keeper;
pub use orders::{Job, Orders};
pub use schedule::Attempts;
pub(crate) use slot::Automatic;
pub use slot::Slot;
pub use store::{Account, Check, Phase, Posting, Responder, Standing, Store};
pub use wanted::{Authority, Wanted};
