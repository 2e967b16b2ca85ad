//! Parameters of a key.

use eval::key::ItemKey;

/// Parameters as texts; an absent one is empty.
#[derive(Debug)]
pub(crate) struct Params(Vec<String>);

const ORDINALS: [&str; 11] = [
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh",
];

impl Params {
    pub(crate) fn new(key: &ItemKey) -> Self {
        Self((0..key.param_count()).map(|i| key.param(i).unwrap_or_default()).collect())
    }

    /// The parameter at `index` from 0; empty if absent.
    pub(crate) fn get(&self, index: usize) -> &str {
        self.0.get(index).map_or("", String::as_str)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
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
