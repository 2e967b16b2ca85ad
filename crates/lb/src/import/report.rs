//! The report on directives that have no equal here.

use std::collections::BTreeSet;
use std::fmt;

/// How a directive that was not converted exactly changes what clients see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Left out: requests are treated differently without it.
    Missing,
    /// Converted into something similar.
    Differs,
}

/// One directive that was not converted exactly.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// File and line, `haproxy.cfg:12`.
    pub place: Place,
    /// Whether it is missing.
    pub effect: Effect,
    /// The directive as it was written.
    pub directive: String,
    /// What differs and what can be done.
    pub reason: String,
}

/// A line of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Name of the file.
    pub file: String,
    /// Number of the line, from 1.
    pub line: usize,
}

/// All findings, each once, in the order of the file.
#[derive(Debug, Default)]
pub struct Report(BTreeSet<Finding>);

impl Report {
    pub(super) fn missing(&mut self, at: &super::Directive, reason: impl Into<String>) {
        self.add(Effect::Missing, at, reason.into());
    }

    pub(super) fn differs(&mut self, at: &super::Directive, reason: impl Into<String>) {
        self.add(Effect::Differs, at, reason.into());
    }

    fn add(&mut self, effect: Effect, at: &super::Directive, reason: String) {
        let (place, directive) = (at.place.clone(), at.words.join(" "));
        self.0.insert(Finding { place, effect, directive, reason });
    }

    /// In the order of the file.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.0.iter()
    }

    /// Number of directives that are missing.
    pub fn missing_count(&self) -> usize {
        self.findings().filter(|finding| finding.effect == Effect::Missing).count()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Finding { place, effect, directive, reason } in self.findings() {
            let effect = match effect {
                Effect::Missing => "not converted",
                Effect::Differs => "differs",
            };
            writeln!(f, "{place}: {effect}: {directive}: {reason}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
