//! A cache of responses for all threads of the engine. [`proxying::caching`] has the rules, [`Store`] the memory.
//!
//! The threads share it, because one cache per thread would keep old content in the others when a request changes
//! something. Its locks are held for the search of one entry, and never while bytes are copied or sent.

mod asking;
mod budget;
mod course;
mod fields;
mod fill;
mod flights;
mod key;
mod line;
mod object;
mod question;
mod serving;
mod settings;
mod store;

pub(crate) use asking::Approach;
pub(crate) use course::{Awaited, Course, Moment, Reaction};
pub(crate) use flights::Resume;
pub(crate) use line::Line;
pub(crate) use question::Question;
pub(crate) use serving::Serving;
pub(crate) use settings::Cache;
