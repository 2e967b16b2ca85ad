//! Evaluation against recorded cases of the field's 7.0 server, and on arbitrary input.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod decompositions;
mod functions;
mod hostile;
mod macros_page;
mod maintenance;
mod printing;
mod values;
