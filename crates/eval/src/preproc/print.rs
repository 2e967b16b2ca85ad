//! Steps back into the API's form.

use objects::OnFail;

use super::step::{Action, ErrorHandler, Matching, SnmpFormat, Step, StepKind};
use crate::num::{format_f64, parse_u64};

/// A step as the API has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiStep {
    /// `type`
    pub kind: u8,
    /// `params`, joined by line feeds.
    pub params: String,
    /// `error_handler` of the API.
    pub error_handler: u8,
    /// `error_handler_params` of the API.
    pub error_handler_params: String,
}

impl Step {
    /// The step in the API's form: [`Step::from_api`] makes the same step of it.
    ///
    /// Spelling is that of the field's own exports: numbers and limits as values are printed,
    /// times with the largest unit up to days that leaves no rest, line ends and tabs as escapes.
    pub fn to_api(&self) -> ApiStep {
        let (error_handler, text) = match &self.on_error {
            ErrorHandler::Original => (OnFail::Original, ""),
            ErrorHandler::Discard => (OnFail::Discard, ""),
            ErrorHandler::SetValue(value) => (OnFail::SetValue, &**value),
            ErrorHandler::SetError(error) => (OnFail::SetError, &**error),
        };
        ApiStep {
            kind: self.kind as u8,
            params: params(self.kind, &self.action),
            error_handler: error_handler as u8,
            error_handler_params: text.to_owned(),
        }
    }
}

fn params(kind: StepKind, action: &Action) -> String {
    match action {
        Action::Broken { params, .. } => params.to_string(),
        Action::None => String::new(),
        Action::Multiply(_, Some(whole)) => whole.to_string(),
        Action::Multiply(factor, None) => {
            let text = format_f64(*factor);
            // Digits alone would be a whole number, which multiplies in another way.
            if parse_u64(&text).is_some() { text + ".0" } else { text }
        }
        Action::Text(text) if matches!(kind, StepKind::RightTrim | StepKind::LeftTrim) => {
            escape(text, false)
        }
        Action::Text(text) if kind == StepKind::Trim => escape(text, false),
        Action::Text(text) => text.to_string(),
        Action::Pair(search, new) if kind == StepKind::Replace => {
            format!("{}\n{}", escape(search, true), escape(new, true))
        }
        Action::Pair(pattern, output) => format!("{pattern}\n{output}"),
        Action::Path(path, _) => path.to_string(),
        Action::Range(low, high) => format!("{}\n{}", limit(*low), limit(*high)),
        Action::Heartbeat(seconds) => time(*seconds),
        Action::Prometheus { pattern, request, output } => {
            format!("{pattern}\n{request}\n{output}")
        }
        Action::Csv { delimiter, quote, header } => {
            format!("{delimiter}\n{quote}\n{}", u8::from(*header))
        }
        Action::NotSupported { matching: Matching::Any, pattern } if pattern.is_empty() => {
            "-1".to_owned()
        }
        Action::NotSupported { matching, pattern } => {
            let number = match matching {
                Matching::Any => "-1",
                Matching::Matches => "0",
                Matching::NotMatches => "1",
            };
            format!("{number}\n{pattern}")
        }
        Action::SnmpWalk(oid, format) => format!("{oid}\n{}", snmp_format(*format)),
        Action::SnmpJson(rows) => {
            let row = |(name, oid, format): &(Box<str>, Box<str>, SnmpFormat)| {
                format!("{name}\n{oid}\n{}", snmp_format(*format))
            };
            rows.iter().map(row).collect::<Vec<_>>().join("\n")
        }
        Action::Snmp(format) => snmp_format(*format).to_owned(),
    }
}

fn snmp_format(format: SnmpFormat) -> &'static str {
    match format {
        SnmpFormat::Unchanged => "0",
        SnmpFormat::Utf8 => "1",
        SnmpFormat::Mac => "2",
        SnmpFormat::Bits => "3",
    }
}

/// An open limit is empty.
fn limit(value: f64) -> String {
    if value.is_finite() { format_f64(value) } else { String::new() }
}

fn time(seconds: u32) -> String {
    let units = [(86_400, "d"), (3600, "h"), (60, "m")];
    let fits = |(length, _): &&(u32, &str)| seconds > 0 && seconds.is_multiple_of(*length);
    match units.iter().find(fits) {
        Some((length, unit)) => format!("{}{unit}", seconds / length),
        None => seconds.to_string(),
    }
}

/// What [`super::text::unescape`] reads back; a backslash that cannot be mistaken stays alone.
fn escape(text: &str, backslash: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' if backslash => {
                let next = chars.peek().copied().unwrap_or_default();
                let mistaken = matches!(next, 'n' | 'r' | 't' | 's' | '\\' | '\n' | '\r' | '\t');
                out.push_str(if mistaken { "\\\\" } else { "\\" });
            }
            c => out.push(c),
        }
    }
    out
}
