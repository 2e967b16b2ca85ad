//! Parameters of a key.

use std::path::Path;

use eval::key::ItemKey;

use crate::deadline::Deadline;

/// Parameters as texts, an absent one is empty; and the time that the check has.
#[derive(Debug)]
pub(crate) struct Params {
    values: Vec<String>,
    deadline: Deadline,
}

const ORDINALS: [&str; 11] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh",
];

impl Params {
    pub(crate) fn new(key: &ItemKey, deadline: Deadline) -> Self {
        let values = (0..key.param_count()).map(|i| key.param(i).unwrap_or_default()).collect();
        Self { values, deadline }
    }

    /// The time that the check has.
    pub(crate) const fn deadline(&self) -> &Deadline {
        &self.deadline
    }

    /// The parameter at `index` from 0; empty if absent.
    pub(crate) fn get(&self, index: usize) -> &str {
        self.values.get(index).map_or("", String::as_str)
    }

    pub(crate) fn count(&self) -> usize {
        self.values.len()
    }

    /// `Invalid first parameter.`
    pub(crate) fn invalid<T>(index: usize) -> Result<T, String> {
        Err(format!("Invalid {} parameter.", ORDINALS[index]))
    }

    /// The parameter, which must not be empty.
    pub(crate) fn required(&self, index: usize) -> Result<&str, String> {
        match self.get(index) {
            "" => Self::invalid(index),
            text => Ok(text),
        }
    }

    /// The parameter as the path of a file, which must not be empty.
    pub(crate) fn path(&self, index: usize) -> Result<&Path, String> {
        self.required(index).map(Path::new)
    }

    /// A regular expression that compiles, or nothing.
    pub(crate) fn regex(&self, index: usize) -> Result<&str, String> {
        let pattern = self.get(index);
        if !pattern.is_empty() {
            eval::regex::check(pattern).map_err(|error| {
                let ordinal = ORDINALS[index];
                format!("Invalid regular expression in {ordinal} parameter: {error}")
            })?;
        }
        Ok(pattern)
    }

    /// Looks the parameter up among `choices`; empty takes the first.
    pub(crate) fn choose<T: Copy>(&self, index: usize, choices: &[(&str, T)]) -> Result<T, String> {
        let wanted = self.get(index);
        if wanted.is_empty() {
            return Ok(choices[0].1);
        }
        match choices.iter().find(|(name, _)| *name == wanted) {
            Some((_, choice)) => Ok(*choice),
            None => Self::invalid(index),
        }
    }
}

/// Modes of averaging keys, in seconds; the first is the default.
pub(crate) const AVERAGES: &[(&str, usize)] = &[("avg1", 60), ("avg5", 300), ("avg15", 900)];
