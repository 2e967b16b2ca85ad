//! Parameters of a call.

use super::{FuncError, Matcher, Period};
use crate::expr::{ExprValue, HistoryParam};
use crate::num::{parse_seconds, parse_suffixed};

/// Parameters by position; absent and empty ones are `None`.
pub(super) struct Params<'a>(pub(super) &'a [HistoryParam]);

impl<'a> Params<'a> {
    pub(super) fn text(&self, index: usize) -> Option<&'a str> {
        self.0.get(index).map(|p| p.value.as_str()).filter(|v| !v.is_empty())
    }

    pub(super) fn required(&self, index: usize) -> Result<&'a str, FuncError> {
        self.text(index).ok_or(FuncError::Param(index + 1))
    }

    pub(super) fn period(&self, index: usize) -> Result<Option<Period>, FuncError> {
        match self.text(index) {
            Some(text) => Period::parse(text).map(Some).ok_or(FuncError::Param(index + 1)),
            None => Ok(None),
        }
    }

    pub(super) fn required_period(&self, index: usize) -> Result<Option<Period>, FuncError> {
        match self.period(index)? {
            None => Err(FuncError::Param(index + 1)),
            period => Ok(period),
        }
    }

    pub(super) fn seconds(&self, index: usize) -> Result<u32, FuncError> {
        parse_seconds(self.required(index)?).ok_or(FuncError::Param(index + 1))
    }

    pub(super) fn number(&self, index: usize) -> Result<f64, FuncError> {
        parse_suffixed(self.required(index)?).ok_or(FuncError::Param(index + 1))
    }

    /// A whole number, suffixes allowed.
    pub(super) fn whole(&self, index: usize) -> Result<u64, FuncError> {
        let text = self.required(index)?;
        crate::num::parse_u64(text)
            .or_else(|| ExprValue::Float(parse_suffixed(text)?).as_u64())
            .ok_or(FuncError::Param(index + 1))
    }

    pub(super) fn at_most(&self, count: usize) -> Result<(), FuncError> {
        if self.0.len() > count { Err(FuncError::ParamCount) } else { Ok(()) }
    }

    pub(super) fn matcher(&self, index: usize) -> Result<Matcher, FuncError> {
        let value = |i: usize| self.0.get(i).map_or("", |p| p.value.as_str());
        let given = self.0.len() > index + 1;
        Matcher::new(value(index), value(index + 1), given)
    }
}
