//! Prometheus exposition format: one value by a pattern, or rows as JSON.

use std::collections::HashMap;

use crate::json::write_string;
use crate::num::{format_f64, number_len, parse_f64, same_f64};
use crate::regex;

/// Why a value or a list cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrometheusError {
    /// The pattern is wrong.
    #[error("pattern error: cannot parse it at \"{0}\"")]
    Pattern(String),
    /// A row of the data is wrong.
    #[error("data parsing error at row {row} \"{text}\": cannot parse {what}")]
    Data {
        /// Number of the row from 1.
        row: usize,
        /// The row.
        text: String,
        /// Which part.
        what: &'static str,
    },
    /// The step's parameters are wrong.
    #[error("invalid parameter \"{0}\"")]
    Param(String),
    /// No row fits.
    #[error("no matching metrics found")]
    NoMatch,
    /// Several rows fit where one is wanted.
    #[error("multiple matching metrics found")]
    Multiple,
    /// The row has no such label.
    #[error("no label matches the specified output")]
    NoLabel,
}

struct Row<'a> {
    name: &'a str,
    labels: Vec<(&'a str, String)>,
    value: &'a str,
    line: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LabelOp {
    Equal,
    NotEqual,
    Matches,
    NotMatches,
}

#[derive(Default)]
struct Pattern {
    name: Option<String>,
    labels: Vec<(String, LabelOp, String)>,
    value: Option<String>,
}

fn name_len(text: &str, colon: bool) -> usize {
    let bytes = text.as_bytes();
    if bytes.first().is_some_and(u8::is_ascii_digit) {
        return 0;
    }
    let fits = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_' || (colon && **b == b':');
    bytes.iter().take_while(fits).count()
}

fn blanks(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

/// Reads `"…"` with escapes `\\`, `\"`, `\n`; gives the rest behind it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let body = text.strip_prefix('"')?;
    let mut value = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((value, &body[at + 1..])),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                c @ ('"' | '\\') => value.push(c),
                _ => return None,
            },
            c => value.push(c),
        }
    }
    None
}

impl Pattern {
    fn parse(text: &str) -> Result<Self, PrometheusError> {
        let bad = |rest: &str| PrometheusError::Pattern(rest.to_owned());
        let mut pattern = Self::default();
        let mut rest = blanks(text);
        let len = name_len(rest, true);
        if len > 0 {
            pattern.name = Some(rest[..len].to_owned());
            rest = blanks(&rest[len..]);
        }
        if let Some(after) = rest.strip_prefix('{') {
            rest = pattern.parse_labels(after).map_err(bad)?;
        }
        rest = blanks(rest);
        if let Some(after) = rest.strip_prefix("==") {
            let value = after.trim();
            if !is_value(value) {
                return Err(bad(after));
            }
            pattern.value = Some(value.to_owned());
            rest = "";
        }
        if rest.is_empty() { Ok(pattern) } else { Err(bad(rest)) }
    }

    /// Reads filters up to the closing brace; an error is the text that cannot be read.
    fn parse_labels<'t>(&mut self, text: &'t str) -> Result<&'t str, &'t str> {
        const OPS: [(&str, LabelOp); 4] = [
            ("=~", LabelOp::Matches),
            ("!~", LabelOp::NotMatches),
            ("!=", LabelOp::NotEqual),
            ("=", LabelOp::Equal),
        ];
        let mut rest = blanks(text);
        loop {
            if let Some(after) = rest.strip_prefix('}') {
                return Ok(after);
            }
            let len = name_len(rest, false);
            if len == 0 {
                return Err(rest);
            }
            let (name, after) = (&rest[..len], blanks(&rest[len..]));
            let found = OPS.iter().find(|(text, _)| after.starts_with(text)).ok_or(after)?;
            let after = blanks(&after[found.0.len()..]);
            let (value, after) = quoted(after).ok_or(after)?;
            if name == "__name__" && found.1 == LabelOp::Equal {
                if self.name.replace(value).is_some() {
                    return Err(rest);
                }
            } else {
                self.labels.push((name.to_owned(), found.1, value));
            }
            rest = blanks(after);
            if let Some(after) = rest.strip_prefix(',') {
                rest = blanks(after);
            } else if !rest.starts_with('}') {
                return Err(rest);
            }
        }
    }

    /// The metric's name fits: rows of others are not read any further.
    fn fits_name(&self, metric: &str) -> bool {
        self.name.as_deref().is_none_or(|name| name == metric)
            && self.labels.iter().filter(|l| l.0 == "__name__").all(|l| fits_label(l, metric))
    }

    /// The labels fit: of other rows the value is not read.
    fn fits_labels(&self, labels: &[(&str, String)]) -> bool {
        self.labels.iter().filter(|l| l.0 != "__name__").all(|condition| {
            let label = labels.iter().find(|(name, _)| *name == condition.0);
            label.is_some_and(|(_, value)| fits_label(condition, value))
        })
    }

    fn fits_value(&self, row: &Row<'_>) -> bool {
        self.value.as_ref().is_none_or(|value| same_value(value, row.value))
    }
}

fn fits_label((_, op, wanted): &(String, LabelOp, String), value: &str) -> bool {
    // A pattern that does not compile fits nothing.
    let matched = || regex::is_match(wanted, value, false).ok();
    match op {
        LabelOp::Equal => value == wanted,
        LabelOp::NotEqual => value != wanted,
        LabelOp::Matches => matched() == Some(true),
        LabelOp::NotMatches => matched() == Some(false),
    }
}

fn same_value(a: &str, b: &str) -> bool {
    match (parse_f64(a), parse_f64(b)) {
        (Some(a), Some(b)) => same_f64(a, b),
        _ => a.trim_start_matches('+').eq_ignore_ascii_case(b.trim_start_matches('+')),
    }
}

fn is_value(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    // Numbers beyond the range count as infinite.
    number_len(unsigned) == Some(unsigned.len())
        || unsigned.eq_ignore_ascii_case("inf")
        || text.eq_ignore_ascii_case("nan")
}

/// `None` = the row is of a metric that the pattern does not mean, or its labels do not fit.
fn parse_row<'a>(
    line: &'a str,
    row: usize,
    pattern: &Pattern,
) -> Result<Option<Row<'a>>, PrometheusError> {
    let bad = |what| PrometheusError::Data { row, text: line.to_owned(), what };
    let text = blanks(line);
    let len = name_len(text, true);
    if len == 0 {
        return Err(bad("metric name"));
    }
    let (name, mut rest) = (&text[..len], blanks(&text[len..]));
    if !pattern.fits_name(name) {
        return Ok(None);
    }
    let mut labels = Vec::new();
    if let Some(after) = rest.strip_prefix('{') {
        rest = blanks(after);
        loop {
            if let Some(after) = rest.strip_prefix('}') {
                rest = after;
                break;
            }
            let len = name_len(rest, false);
            let after = blanks(&rest[len..]).strip_prefix('=').filter(|_| len > 0);
            let after = blanks(after.ok_or_else(|| bad("label"))?);
            let (value, after) = quoted(after).ok_or_else(|| bad("label value"))?;
            labels.push((&rest[..len], value));
            rest = blanks(after);
            if let Some(after) = rest.strip_prefix(',') {
                rest = blanks(after);
            } else if !rest.starts_with('}') {
                return Err(bad("label"));
            }
        }
    }
    if !pattern.fits_labels(&labels) {
        return Ok(None);
    }
    let value = blanks(rest);
    if value.len() == rest.len() && !text[..text.len() - rest.len()].ends_with([' ', '\t']) {
        return Err(bad("metric value without a blank before it"));
    }
    // What follows the value, a timestamp as a rule, is not looked at.
    let value = value.split([' ', '\t']).next().unwrap_or_default();
    if !is_value(value) {
        return Err(bad("metric value"));
    }
    Ok(Some(Row { name, labels, value, line }))
}

#[derive(Default)]
struct Hints<'a>(HashMap<&'a str, (Option<&'a str>, Option<String>)>);

impl<'a> Hints<'a> {
    /// An error says what is wrong with the line.
    fn read(&mut self, line: &'a str) -> Result<(), &'static str> {
        let rest = blanks(line.trim_start_matches('#'));
        let (word, rest) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        let rest = blanks(rest);
        let (name, text) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        let hint = matches!(word, "HELP" | "TYPE");
        if hint && (name_len(name, true) == 0 || word == "TYPE" && text.trim().is_empty()) {
            return Err("comment");
        }
        let twice = match word {
            "HELP" => {
                let help = unescape_help(blanks(text)).ok_or("comment")?;
                self.0.entry(name).or_default().1.replace(help).is_some()
            }
            "TYPE" => self.0.entry(name).or_default().0.replace(text.trim()).is_some(),
            _ => false,
        };
        if twice { Err("a second comment on one metric") } else { Ok(()) }
    }

    /// Type and help of a metric; hints for a histogram do not reach its buckets.
    fn of(&self, name: &str) -> (Option<&'a str>, Option<&str>) {
        self.0.get(name).map_or((None, None), |(kind, help)| (*kind, help.as_deref()))
    }
}

/// Escapes of help texts are `\\` and `\n`.
fn unescape_help(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        out.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                '\\' => '\\',
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}

/// Rows that fit a pattern, with hints; all rows must be readable.
fn rows<'a>(
    data: &'a str,
    pattern: &Pattern,
    with_hints: bool,
) -> Result<(Vec<Row<'a>>, Hints<'a>), PrometheusError> {
    let mut hints = Hints::default();
    let mut found = Vec::new();
    for (index, line) in data.split('\n').enumerate() {
        let text = blanks(line);
        if line.is_empty() {
            continue;
        }
        if text.starts_with('#') {
            if with_hints {
                let bad = |what| PrometheusError::Data { row: index + 1, text: text.into(), what };
                hints.read(text).map_err(bad)?;
            }
            continue;
        }
        let row = parse_row(text, index + 1, pattern)?;
        found.extend(row.filter(|row| pattern.fits_value(row)));
    }
    Ok((found, hints))
}

fn sum(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |sum, value| sum + value)
}

#[expect(clippy::cast_precision_loss, reason = "a count")]
fn count(values: &[f64]) -> f64 {
    values.len() as f64
}

/// What is wrong with a pattern, or with the name of the label that is wanted.
pub(super) fn defect(pattern: &str, label: &str) -> Option<PrometheusError> {
    let bad = || PrometheusError::Param(label.to_owned());
    let error = Pattern::parse(pattern).err();
    error.or_else(|| (name_len(label, false) < label.len()).then(bad))
}

/// One value out of the rows that fit: `request` is `value`, `label` (then `output` names the
/// label) or `function` (then `output` is `sum`, `min`, `max`, `avg` or `count`).
pub fn prometheus_pattern(
    data: &str,
    pattern: &str,
    request: &str,
    output: &str,
) -> Result<String, PrometheusError> {
    let pattern = Pattern::parse(pattern)?;
    let (rows, _) = rows(data, &pattern, false)?;
    let single = || match &rows[..] {
        [] => Err(PrometheusError::NoMatch),
        [row] => Ok(row),
        _ => Err(PrometheusError::Multiple),
    };
    match request {
        "value" => Ok(single()?.value.to_owned()),
        "label" => {
            let label = single()?.labels.iter().find(|(n, _)| *n == output);
            label.map(|(_, v)| v.clone()).ok_or(PrometheusError::NoLabel)
        }
        "function" => {
            // What is not a number does not count; infinities do.
            let number = |row: &Row<'_>| match parse_f64(row.value) {
                Some(number) => Some(number),
                None => row.value.parse().ok().filter(|number: &f64| !number.is_nan()),
            };
            let numbers: Vec<f64> = rows.iter().filter_map(number).collect();
            if output == "count" {
                return Ok(numbers.len().to_string());
            }
            let function: fn(&[f64]) -> f64 = match output {
                "sum" => sum,
                "min" => |values: &[f64]| values.iter().copied().fold(f64::INFINITY, f64::min),
                "max" => |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                "avg" => |values: &[f64]| {
                    crate::stats::avg(values).unwrap_or_else(|| sum(values) / count(values))
                },
                _ => return Err(PrometheusError::Param(output.to_owned())),
            };
            if numbers.is_empty() {
                return Err(PrometheusError::NoMatch);
            }
            Ok(format_f64(function(&numbers)))
        }
        _ => Err(PrometheusError::Param(request.to_owned())),
    }
}

/// The rows that fit, as a JSON array.
pub fn prometheus_to_json(data: &str, pattern: &str) -> Result<String, PrometheusError> {
    let (rows, hints) = rows(data, &Pattern::parse(pattern)?, true)?;
    let mut out = String::from("[");
    for (i, row) in rows.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        let mut member = |name: &str, value: &str, first: bool| {
            out.push_str(if first { "{" } else { "," });
            write_string(&mut out, name);
            out.push(':');
            write_string(&mut out, value);
        };
        let (kind, help) = hints.of(row.name);
        member("name", row.name, true);
        member("value", row.value, false);
        member("line_raw", row.line, false);
        if !row.labels.is_empty() {
            out.push_str(",\"labels\":{");
            for (j, (name, value)) in row.labels.iter().enumerate() {
                if j > 0 {
                    out.push(',');
                }
                write_string(&mut out, name);
                out.push(':');
                write_string(&mut out, value);
            }
            out.push('}');
        }
        out.push_str(",\"type\":");
        write_string(&mut out, kind.unwrap_or("untyped"));
        if let Some(help) = help {
            out.push_str(",\"help\":");
            write_string(&mut out, help);
        }
        out.push('}');
    }
    out.push(']');
    Ok(out)
}
