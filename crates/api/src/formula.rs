//! Formulas over named conditions, as clients give them and as they are stored.

use std::collections::{HashMap, HashSet};

use eval::lld::{FormulaError, formula_ids};

use crate::error::{ApiError, ApiResult};
use crate::object::taken;

/// Names of the conditions in a formula, in order of appearance.
pub(crate) fn names<'f>(formula: &'f str, path: &str) -> ApiResult<Vec<&'f str>> {
    let wrong = |error: FormulaError| match error {
        FormulaError::Syntax(rest) => {
            // At the end, the last character shows where it is.
            let last = formula.char_indices().next_back().map_or("", |(at, _)| &formula[at..]);
            let rest = if rest.is_empty() { last } else { &rest };
            ApiError::at(path, format_args!("incorrect syntax near \"{rest}\""))
        }
        other => ApiError::at(path, other),
    };
    formula_ids(formula).map_err(wrong)
}

/// For each condition, by its name, where the formula first has it. `path` is the filter's.
pub(crate) fn places(used: &[&str], conditions: &[&str], path: &str) -> ApiResult<Vec<usize>> {
    if used.len() != conditions.len() {
        let path = format!("{path}/conditions");
        return Err(ApiError::at(&path, "incorrect number of conditions"));
    }
    let by_name = by_name(used);
    let mut seen = HashSet::new();
    let mut found = Vec::with_capacity(conditions.len());
    for (n, name) in conditions.iter().enumerate() {
        let path = format!("{path}/conditions/{}", n + 1);
        if !seen.insert(*name) {
            return Err(taken(&path, "formulaid", name));
        }
        found.push(by_name.get(name).copied().ok_or_else(|| {
            let path = format!("{path}/formulaid");
            ApiError::at(&path, "an identifier is not defined in the formula")
        })?);
    }
    Ok(found)
}

fn by_name<'n>(names: &[&'n str]) -> HashMap<&'n str, usize> {
    names.iter().enumerate().map(|(place, name)| (*name, place)).collect()
}

/// The formula with the letters that stand for the names' places; all else stays as it is written.
pub(crate) fn renamed(formula: &str, names: &[&str]) -> String {
    let by_name = by_name(names);
    let mut out = String::with_capacity(formula.len());
    let mut rest = formula;
    while let Some(start) = rest.find(|c: char| c.is_ascii_uppercase()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !c.is_ascii_uppercase()).unwrap_or(from.len());
        let (name, after) = from.split_at(end);
        out += before;
        out += &by_name.get(name).copied().map_or(String::new(), letters);
        rest = after;
    }
    out + rest
}

/// `A` … `Z`, `AA` …
pub(crate) fn letters(mut n: usize) -> String {
    let mut text = String::new();
    loop {
        text.insert(0, char::from(b'A' + u8::try_from(n % 26).unwrap_or(0)));
        if n < 26 {
            return text;
        }
        n = n / 26 - 1;
    }
}
