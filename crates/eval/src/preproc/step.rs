//! A preprocessing step: from the API's numbers and text to a form that runs.

use objects::OnFail;
pub use objects::StepKind;

use super::prometheus;
use crate::jsonpath::{Path, PathError};
use crate::num::{parse_f64, parse_seconds, parse_u64};
use crate::{script, xpath};

/// Longest heartbeat, seconds: 25 years.
const HEARTBEAT_S_MAX: u32 = 25 * 365 * 86_400;

/// What happens when a step fails: [`OnFail`] with what it needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ErrorHandler {
    /// The item becomes not supported, with the step's error.
    #[default]
    Original,
    /// The value is dropped.
    Discard,
    /// Preprocessing goes on with this value.
    SetValue(Box<str>),
    /// The item becomes not supported, with this error.
    SetError(Box<str>),
}

/// The step cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StepError {
    /// No step has this number.
    #[error("unknown preprocessing step type {0}")]
    Kind(u8),
    /// No error handler has this number.
    #[error("unknown preprocessing error handler {0}")]
    Handler(u8),
}

/// A preprocessing step, ready to run; all macros in it are already resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What it does.
    pub kind: StepKind,
    /// What happens when it fails.
    pub on_error: ErrorHandler,
    pub(super) action: Action,
}

/// A step's parameters in the form in which they are used. Regular expressions stay texts:
/// each thread compiles them once.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    /// Parameters that cannot work: the step always fails, and says why.
    Broken {
        params: Box<str>,
        why: Box<str>,
    },
    /// No parameters.
    None,
    /// The factor, and as a whole number if it is one.
    Multiply(f64, Option<u64>),
    /// Characters, pattern, script, path.
    Text(Box<str>),
    /// Pattern and output, search and replacement.
    Pair(Box<str>, Box<str>),
    Path(Box<str>, Box<Result<Path, PathError>>),
    Range(f64, f64),
    Heartbeat(u32),
    Prometheus {
        pattern: Box<str>,
        request: Box<str>,
        output: Box<str>,
    },
    Csv {
        delimiter: Box<str>,
        quote: Box<str>,
        header: bool,
    },
    NotSupported {
        matching: Matching,
        pattern: Box<str>,
    },
    SnmpWalk(Box<str>, SnmpFormat),
    SnmpJson(Vec<(Box<str>, Box<str>, SnmpFormat)>),
    Snmp(SnmpFormat),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matching {
    Any,
    Matches,
    NotMatches,
}

/// How octets of SNMP values are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SnmpFormat {
    Unchanged,
    /// 1: UTF-8 from Hex-STRING
    Utf8,
    /// 2: MAC from Hex-STRING
    Mac,
    /// 3: whole number from BITS
    Bits,
}

impl SnmpFormat {
    /// What is not a number of a format leaves values unchanged.
    fn parse(text: &str) -> Self {
        match text {
            "1" => Self::Utf8,
            "2" => Self::Mac,
            "3" => Self::Bits,
            _ => Self::Unchanged,
        }
    }
}

impl Step {
    /// A step from the API's members: `type`, `params` (joined by line feeds),
    /// `error_handler`, `error_handler_params`. Parameters that cannot work make a step that
    /// always fails, since its error handler counts then too; see [`Self::defect`].
    pub fn from_api(
        kind: u8,
        params: &str,
        error_handler: u8,
        error_handler_params: &str,
    ) -> Result<Self, StepError> {
        let kind = StepKind::from_api(kind).ok_or(StepError::Kind(kind))?;
        let on_fail = OnFail::from_number(i64::from(error_handler))
            .ok_or(StepError::Handler(error_handler))?;
        let on_error = match on_fail {
            OnFail::Original => ErrorHandler::Original,
            OnFail::Discard => ErrorHandler::Discard,
            OnFail::SetValue => ErrorHandler::SetValue(error_handler_params.into()),
            OnFail::SetError => ErrorHandler::SetError(error_handler_params.into()),
        };
        let action = parse(kind, params)
            .unwrap_or_else(|why| Action::Broken { params: params.into(), why: why.into() });
        Ok(Self { kind, on_error, action })
    }

    /// Whether the step may block its thread: a script that sends requests or sleeps, or one that may
    /// compute with numbers of any length, which the engine cannot interrupt.
    pub fn waits(&self) -> bool {
        match (&self.action, self.kind) {
            (Action::Text(source), StepKind::JavaScript) => {
                ["HttpRequest", "sleep"].iter().any(|word| source.contains(word))
                    || script::may_use_big_numbers(source)
            }
            _ => false,
        }
    }

    /// Why the step can never succeed, if its parameters are wrong.
    pub fn defect(&self) -> Option<String> {
        use StepKind as K;
        match &self.action {
            Action::Broken { why, .. } => Some(why.to_string()),
            Action::Path(_, path) => path.as_ref().as_ref().err().map(ToString::to_string),
            Action::Text(path) if matches!(self.kind, K::XmlXPath | K::CheckXmlError) => {
                xpath::defect(path).map(|error| error.to_string())
            }
            Action::Text(pattern) if self.kind == K::PrometheusToJson => {
                prometheus::defect(pattern, "").map(|error| error.to_string())
            }
            Action::Prometheus { pattern, request, output } => {
                let label = if &**request == "label" { output } else { "" };
                prometheus::defect(pattern, label).map(|error| error.to_string())
            }
            Action::Heartbeat(seconds) if !(1..=HEARTBEAT_S_MAX).contains(seconds) => {
                Some(format!("a heartbeat of {seconds} s is none from 1 s to 25 years"))
            }
            _ => None,
        }
    }
}

fn parse(kind: StepKind, params: &str) -> Result<Action, String> {
    use StepKind as K;
    let pair = || {
        params
            .split_once('\n')
            .map(|(a, b)| (Box::from(a), Box::from(b)))
            .ok_or_else(|| "cannot find second parameter".to_owned())
    };
    Ok(match kind {
        K::Multiplier => {
            let factor = params.trim();
            let number = parse_f64(factor)
                .ok_or("a numerical value is expected or the value is out of range")?;
            Action::Multiply(number, parse_u64(factor))
        }
        K::RightTrim | K::LeftTrim | K::Trim => {
            Action::Text(super::text::unescape(params, false).into())
        }
        K::Regex | K::CheckRegexError => {
            let (pattern, output) = pair()?;
            Action::Pair(pattern, output)
        }
        K::Replace => {
            let (search, new) = pair()?;
            if search.is_empty() {
                return Err("search string is empty".to_owned());
            }
            let unescape = |t: &str| super::text::unescape(t, true).into();
            Action::Pair(unescape(&search), unescape(&new))
        }
        K::BoolToDecimal
        | K::OctalToDecimal
        | K::HexToDecimal
        | K::SimpleChange
        | K::ChangePerSecond
        | K::DiscardUnchanged
        | K::XmlToJson => Action::None,
        K::XmlXPath
        | K::CheckXmlError
        | K::MatchesRegex
        | K::NotMatchesRegex
        | K::JavaScript
        | K::PrometheusToJson => Action::Text(params.into()),
        K::JsonPath | K::CheckJsonError => {
            Action::Path(params.into(), Box::new(Path::parse(params)))
        }
        K::InRange => {
            let (low, high) = pair()?;
            let limit = |text: &str, open: f64| {
                let wrong = || format!("invalid range limit \"{text}\"");
                let text = text.trim();
                if text.is_empty() { Ok(open) } else { parse_f64(text).ok_or_else(wrong) }
            };
            let (low, high) = (limit(&low, f64::NEG_INFINITY)?, limit(&high, f64::INFINITY)?);
            if low > high {
                return Err("the range's lower limit is above its upper limit".to_owned());
            }
            Action::Range(low, high)
        }
        K::DiscardUnchangedHeartbeat => Action::Heartbeat(
            parse_seconds(params.trim())
                .ok_or_else(|| format!("invalid heartbeat \"{params}\""))?,
        ),
        _ => parse_lines(kind, params)?,
    })
}

/// Steps whose parameters are lines of a fixed order.
fn parse_lines(kind: StepKind, params: &str) -> Result<Action, String> {
    use StepKind as K;
    let lines: Vec<&str> = params.split('\n').collect();
    Ok(match kind {
        K::PrometheusPattern => match lines[..] {
            [_] => return Err("cannot find second parameter".to_owned()),
            [_, _] => return Err("cannot find third parameter".to_owned()),
            [pattern, request, output, ..] => Action::Prometheus {
                pattern: pattern.into(),
                request: request.into(),
                output: output.into(),
            },
            [] => return Err("parameter should be set".to_owned()),
        },
        K::CsvToJson => match lines[..] {
            [delimiter, quote, header] => Action::Csv {
                delimiter: delimiter.into(),
                quote: quote.into(),
                header: header == "1",
            },
            _ => return Err("three parameters are expected".to_owned()),
        },
        K::CheckNotSupported => {
            // Without a pattern every error is meant.
            let (first, pattern) = params.split_once('\n').unwrap_or(("", ""));
            let matching = match first {
                "0" => Matching::Matches,
                "1" => Matching::NotMatches,
                _ => Matching::Any,
            };
            Action::NotSupported { matching, pattern: pattern.into() }
        }
        K::SnmpWalkValue => match lines[..] {
            ["", ..] => return Err("parameter should be set".to_owned()),
            [oid, format] => Action::SnmpWalk(oid.into(), SnmpFormat::parse(format)),
            _ => return Err("failed to parse step parameters".to_owned()),
        },
        K::SnmpWalkToJson => snmp_json(params, &lines)?,
        _ => match SnmpFormat::parse(lines.first().copied().unwrap_or_default()) {
            SnmpFormat::Unchanged => return Err(format!("invalid format \"{params}\"")),
            format => Action::Snmp(format),
        },
    })
}

fn snmp_json(params: &str, lines: &[&str]) -> Result<Action, String> {
    if params.is_empty() {
        return Ok(Action::SnmpJson(Vec::new()));
    }
    if !lines.len().is_multiple_of(3) {
        return Err("failed to parse step parameters".to_owned());
    }
    if lines.chunks(3).any(|r| r[0].is_empty() || r[1].is_empty()) {
        return Err("a field has no name or no OID".to_owned());
    }
    let rows = lines.chunks(3).map(|r| (r[0].into(), r[1].into(), SnmpFormat::parse(r[2])));
    Ok(Action::SnmpJson(rows.collect()))
}
