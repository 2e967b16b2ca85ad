//! Preprocessing steps (stand-in until the real ones arrive).
use crate::script::Scripts;
use model::{Payload, Timestamp, ValueType};
/// A step.
#[derive(Debug, Clone, PartialEq)]
pub struct Step;
/// How a step treats errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorHandler {
    /// 0
    Original,
}
/// Remembered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct State;
/// What became of a value.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The value.
    Value(Payload),
    /// Nothing to store.
    Discarded,
    /// Why not.
    NotSupported(Box<str>),
}
/// Runs the steps.
pub fn run(
    _: &[Step],
    _: &mut State,
    input: Payload,
    _: Timestamp,
    _: ValueType,
    _: &mut Scripts,
) -> Outcome {
    Outcome::Value(input)
}

/// Why.
#[derive(Debug, thiserror::Error)]
#[error("no")]
pub struct StepError;
impl Step {
    /// Stand-in.
    pub fn from_api(_: u8, _: &str, _: u8, _: &str) -> Result<Self, StepError> {
        Ok(Self)
    }
}
