//! Correlation rules, and open problems as the rules see them.

pub(crate) mod index;
pub(crate) mod known;
pub(crate) mod rule;
