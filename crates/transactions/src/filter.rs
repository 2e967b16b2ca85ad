//! The language of filters.
//!
//! ```text
//! status=5xx path^=/api client=10.0.0.0/8 total>100ms method!=GET,HEAD user_agent*="Mobile Safari"
//! ```
//!
//! Conditions are separated by spaces; all must hold. `=` and `!=` take several values with commas
//! between; `^=`, `$=` and `*=` mean begins, ends, contains; `!^=`, `!$=` and `!*=` are their opposites;
//! numbers also know `<`, `<=`, `>`, `>=`.

use std::net::IpAddr;

use crate::columns::{COLUMNS, Column, Unit};
use crate::condition::{Condition, Network, Pattern, Test};
use crate::error::FilterError;

/// Conditions that must all hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub(crate) conditions: Vec<Condition>,
}

/// Bytes of a filter: longer ones are refused.
const FILTER_MAX: usize = 8_192;
/// Operators, longer ones before those that they begin with.
const OPERATORS: [&str; 12] =
    ["!^=", "!$=", "!*=", "!=", "^=", "$=", "*=", "<=", ">=", "=", "<", ">"];

impl std::str::FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        if text.len() > FILTER_MAX {
            let message = format!("a filter has at most {FILTER_MAX} bytes");
            let at = text.chars().take(20).collect();
            return Err(FilterError { message, position: 1, at });
        }
        let fail = |at: usize, word: &str, message| FilterError {
            message,
            position: text[..at].chars().count() + 1,
            at: word.to_owned(),
        };
        let words = words(text).map_err(|(at, message)| fail(at, &text[at..], message))?;
        let parse = |(at, word)| condition(word).map_err(|message| fail(at, word, message));
        Ok(Self { conditions: words.into_iter().map(parse).collect::<Result<_, _>>()? })
    }
}

impl Filter {
    /// What must hold.
    #[must_use]
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Adds the conditions of another filter.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.conditions.extend(other.conditions);
        self
    }
}

/// Splits at spaces outside quotes. Quotes stay. The numbers are offsets of words, and of the error.
fn words(text: &str) -> Result<Vec<(usize, &str)>, (usize, String)> {
    let mut words = Vec::new();
    let (mut start, mut quoted) = (None, false);
    for (at, c) in text.char_indices() {
        if c == '"' {
            quoted = !quoted;
        }
        match (c.is_whitespace() && !quoted, start) {
            (true, Some(from)) => {
                words.push((from, &text[from..at]));
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    let rest = start.map(|from| (from, &text[from..]));
    if quoted {
        return Err((start.unwrap_or(0), "a quote is not closed".to_owned()));
    }
    words.extend(rest);
    Ok(words)
}

fn condition(word: &str) -> Result<Condition, String> {
    let name_end =
        word.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(word.len());
    let (name, rest) = word.split_at(name_end);
    let operator = OPERATORS.into_iter().find(|operator| rest.starts_with(operator));
    let Some(operator) = operator else {
        return Err(
            "a condition is a column, an operator (= != ^= $= *= < <= > >=) and a value".to_owned()
        );
    };
    let Some(column) = Column::named(name) else {
        let names: Vec<_> = COLUMNS.iter().map(|column| column.name).collect();
        return Err(format!("no column is named \"{name}\"; columns are {}", names.join(", ")));
    };
    let (negated, operator) = match operator.strip_prefix('!') {
        Some(operator) => (true, operator),
        None => (false, operator),
    };
    let values = values(&rest[operator.len() + usize::from(negated)..]);
    let test = if column.is_number() {
        Test::Numbers(ranges(column, operator, &values)?)
    } else if column.is_address() {
        Test::Networks(networks(operator, &values)?)
    } else {
        Test::Texts(patterns(operator, values)?)
    };
    Ok(Condition { column, test, negated })
}

/// Splits at commas outside quotes, and removes the quotes.
fn values(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match (c, quoted) {
            ('"', _) => quoted = !quoted,
            (',', false) => values.push(String::new()),
            _ => values.last_mut().expect("BUG: it begins with one").push(c),
        }
    }
    values
}

fn patterns(operator: &str, values: Vec<String>) -> Result<Vec<Pattern>, String> {
    let pattern = match operator {
        "=" => Pattern::Equals,
        "^=" => Pattern::Begins,
        "$=" => Pattern::Ends,
        "*=" => Pattern::Contains,
        _ => return Err(format!("a text cannot be compared by {operator}")),
    };
    Ok(values.into_iter().map(|value| pattern(value.into_bytes())).collect())
}

fn networks(operator: &str, values: &[String]) -> Result<Vec<Network>, String> {
    if operator != "=" {
        return Err(format!("an address cannot be compared by {operator}; use = with a network"));
    }
    let network = |value: &String| {
        let (address, prefix) = value.split_once('/').unwrap_or((value, ""));
        let address: IpAddr = address.parse().ok()?;
        let address = address.to_canonical();
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = if value.contains('/') { prefix.parse().ok()? } else { longest };
        (prefix <= longest).then_some(Network { address, prefix })
    };
    let one =
        |value| network(value).ok_or_else(|| format!("\"{value}\" is not an address or network"));
    values.iter().map(one).collect()
}

fn ranges(column: &Column, operator: &str, values: &[String]) -> Result<Vec<(u64, u64)>, String> {
    if operator != "=" && values.len() > 1 {
        return Err(format!("{operator} takes one value"));
    }
    let one = |value: &String| {
        if let Some(class) = status_class(column, value).filter(|_| operator == "=") {
            return Ok(class);
        }
        let number = number(column, value)?;
        match operator {
            "=" => Ok((number, number)),
            // Nothing is below 0 or above the largest number: an empty range.
            "<" => Ok(number.checked_sub(1).map_or((1, 0), |below| (0, below))),
            "<=" => Ok((0, number)),
            ">" => Ok(number.checked_add(1).map_or((1, 0), |above| (above, u64::MAX))),
            ">=" => Ok((number, u64::MAX)),
            _ => Err(format!("a number cannot be compared by {operator}")),
        }
    };
    values.iter().map(one).collect()
}

/// `5xx` = 500 to 599.
fn status_class(column: &Column, value: &str) -> Option<(u64, u64)> {
    let class = value.strip_suffix("xx").filter(|_| column.unit == Unit::Status)?;
    let class: u64 = class.parse().ok().filter(|class| (1..=9).contains(class))?;
    Some((class * 100, class * 100 + 99))
}

/// A number with the units of its column, in the unit of the files.
fn number(column: &Column, value: &str) -> Result<u64, String> {
    let units: &[(&str, f64)] = match column.unit {
        Unit::Microseconds => &[("us", 1.0), ("ms", 1e3), ("s", 1e6), ("", 1.0)],
        Unit::Bytes => &[("K", 1_024.0), ("M", 1_048_576.0), ("G", 1_073_741_824.0), ("", 1.0)],
        Unit::None | Unit::Time | Unit::Status => &[("", 1.0)],
    };
    let parse = |(suffix, factor): &(&str, f64)| {
        let digits = value.strip_suffix(suffix)?;
        if let Ok(number) = digits.parse::<u64>()
            && *factor == 1.0
        {
            return Some(number);
        }
        let plain = digits.starts_with(|c: char| c.is_ascii_digit());
        let number = digits.parse::<f64>().ok().filter(|_| plain)? * factor;
        // Beyond the largest number, the conversion stops there.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let number = number.round() as u64;
        Some(number)
    };
    units.iter().find_map(parse).ok_or_else(|| {
        let names: Vec<_> =
            units.iter().map(|(suffix, _)| *suffix).filter(|s| !s.is_empty()).collect();
        match names.is_empty() {
            true => format!("\"{value}\" is not a number"),
            false => format!("\"{value}\" is not a number; units are {}", names.join(", ")),
        }
    })
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
