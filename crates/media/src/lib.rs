//! What sends messages to users: e-mail, webhooks, programs, SMS.
//!
//! The escalator stores an alert and hands an attempt to [`Queues`]. Each media type has its own queue, and threads of
//! its own: its sessions. They report each attempt once. A message that failed waits for its next attempt in the
//! database, so that queues stay short, and a slow media type delays no other.

mod attempt;
mod configured;
mod lane;
mod mail;
mod modems;
mod program;
mod queues;
mod session;
mod settings;
mod sms;
mod stored;
#[cfg(test)]
mod testing;
mod waiting;
mod webhook;

pub use lane::Figures;
pub use mail::response;
pub use queues::{ATTEMPT_MAX, Queues, Setup};
pub use settings::{Kind, Login, Mail, MediaType, Program, Security, Sms, Verify, Webhook};
pub use stored::media_types;
pub use waiting::Waiting;
