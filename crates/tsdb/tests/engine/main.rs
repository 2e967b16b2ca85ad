//! The engine as a whole: against a model that is obviously right, on failing disks, with damaged files.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod against_model;
mod common;
mod damage;
mod faults;
mod late;
mod loss;
mod newest;
mod tail;
