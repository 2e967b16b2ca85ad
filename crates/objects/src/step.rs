//! Preprocessing steps.

use crate::numbered::numbered;

numbered! {
    /// What a preprocessing step does; the API's `type` of steps.
    StepKind: u8 {
        /// Multiplies with a number.
        Multiplier = 1, "MULTIPLIER", "Custom multiplier";
        /// Removes characters from the end.
        RightTrim = 2, "RTRIM", "Right trim";
        /// Removes characters from the start.
        LeftTrim = 3, "LTRIM", "Left trim";
        /// Removes characters from both ends.
        Trim = 4, "TRIM", "Trim";
        /// Takes what a regular expression finds.
        Regex = 5, "REGEX", "Regular expression";
        /// `true` and `on` to 1, `false` and `off` to 0.
        BoolToDecimal = 6, "BOOL_TO_DECIMAL", "Boolean to decimal";
        /// Octal digits to a number.
        OctalToDecimal = 7, "OCTAL_TO_DECIMAL", "Octal to decimal";
        /// Hexadecimal digits to a number.
        HexToDecimal = 8, "HEX_TO_DECIMAL", "Hexadecimal to decimal";
        /// Difference from the last value.
        SimpleChange = 9, "SIMPLE_CHANGE", "Simple change";
        /// Difference from the last value per second.
        ChangePerSecond = 10, "CHANGE_PER_SECOND", "Change per second";
        /// Takes what an XPath finds.
        XmlXPath = 11, "XMLPATH", "XML XPath";
        /// Takes what a JSONPath finds.
        JsonPath = 12, "JSONPATH", "JSONPath";
        /// Fails outside of a range.
        InRange = 13, "IN_RANGE", "In range";
        /// Fails if a regular expression does not match.
        MatchesRegex = 14, "MATCHES_REGEX", "Matches regular expression";
        /// Fails if a regular expression matches.
        NotMatchesRegex = 15, "NOT_MATCHES_REGEX", "Does not match regular expression";
        /// Fails with the error that a JSONPath finds.
        CheckJsonError = 16, "CHECK_JSON_ERROR", "Check for error in JSON";
        /// Fails with the error that an XPath finds.
        CheckXmlError = 17, "CHECK_XML_ERROR", "Check for error in XML";
        /// Fails with the error that a regular expression finds.
        CheckRegexError = 18, "CHECK_REGEX_ERROR", "Check for error using regular expression";
        /// Drops a value equal to the last one.
        DiscardUnchanged = 19, "DISCARD_UNCHANGED", "Discard unchanged";
        /// Drops a value equal to the last one, unless that is too old.
        DiscardUnchangedHeartbeat = 20, "DISCARD_UNCHANGED_HEARTBEAT",
            "Discard unchanged with heartbeat";
        /// Runs a script.
        JavaScript = 21, "JAVASCRIPT", "JavaScript";
        /// Takes a metric, a label or a sum of metrics.
        PrometheusPattern = 22, "PROMETHEUS_PATTERN", "Prometheus pattern";
        /// Metrics to JSON.
        PrometheusToJson = 23, "PROMETHEUS_TO_JSON", "Prometheus to JSON";
        /// Lines of separated fields to JSON.
        CsvToJson = 24, "CSV_TO_JSON", "CSV to JSON";
        /// Replaces all occurrences of a text.
        Replace = 25, "STR_REPLACE", "Replace";
        /// Handles an item that could not be collected.
        CheckNotSupported = 26, "CHECK_NOT_SUPPORTED", "Check for not supported value";
        /// XML to JSON.
        XmlToJson = 27, "XML_TO_JSON", "XML to JSON";
        /// Takes one value of an SNMP walk.
        SnmpWalkValue = 28, "SNMP_WALK_VALUE", "SNMP walk value";
        /// Rows of an SNMP walk to JSON.
        SnmpWalkToJson = 29, "SNMP_WALK_TO_JSON", "SNMP walk to JSON";
        /// Formats the value of an SNMP get.
        SnmpGetValue = 30, "SNMP_GET_VALUE", "SNMP get value";
    }
}

numbered! {
    /// What happens when a step fails; the API's `error_handler`.
    OnFail: u8 {
        /// The item becomes not supported, with the step's error.
        Original = 0, "ORIGINAL_ERROR", "Original error";
        /// The value is dropped.
        Discard = 1, "DISCARD_VALUE", "Discard value";
        /// The value is replaced.
        SetValue = 2, "CUSTOM_VALUE", "Set value to";
        /// The item becomes not supported, with another error.
        SetError = 3, "CUSTOM_ERROR", "Set error to";
    }
}

/// What one parameter of a step must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamRule {
    /// Any text that is not empty.
    Filled,
    /// A script: a text of several lines that is not empty.
    Script,
    /// Any text.
    Any,
    /// A regular expression.
    Regex,
    /// A number with an optional suffix.
    Float,
    /// The same, or empty.
    FloatOrEmpty,
    /// A time with an optional suffix, 1 s to 25 years.
    Time,
    /// At most one character.
    Char,
    /// One of these whole numbers.
    Number(&'static [Choice]),
    /// One of these words.
    Word(&'static [Choice]),
}

/// What a parameter can be, and what it is called.
pub type Choice = (&'static str, &'static str);

/// A parameter of a step.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// The name that people read.
    pub label: &'static str,
    /// An example, or empty.
    pub example: &'static str,
    /// What it must be.
    pub rule: ParamRule,
}

impl Param {
    /// What it can be, if it is not free.
    pub const fn choices(&self) -> &'static [Choice] {
        match self.rule {
            ParamRule::Number(choices) | ParamRule::Word(choices) => choices,
            _ => &[],
        }
    }

    /// It may be empty.
    pub const fn is_optional(&self) -> bool {
        matches!(self.rule, ParamRule::Any | ParamRule::FloatOrEmpty)
    }
}

/// The parameters of a step in the API's `params`.
#[derive(Debug, Clone, Copy)]
pub enum Params {
    /// The step takes no parameters.
    None,
    /// One, which may contain line feeds.
    Text(Param),
    /// Parameters joined by line feeds; at least so many of them.
    Lines(&'static [Param], usize),
    /// Any number of rows of these parameters, all joined by line feeds; the label of the whole.
    Rows(&'static str, &'static [Param]),
}

impl Params {
    /// A step must have the member `params`.
    pub const fn are_required(self) -> bool {
        !matches!(self, Self::None | Self::Lines(_, 0))
    }
}

const fn param(label: &'static str, example: &'static str, rule: ParamRule) -> Param {
    Param { label, example, rule }
}

/// [`Params::Lines`] with at least so many of these parameters.
macro_rules! lines {
    ($least:literal; $($param:expr),+) => {
        Params::Lines(const { &[$($param),+] }, $least)
    };
}

const CHARACTERS: Params = Params::Text(param("List of characters", " \\n\\t", ParamRule::Filled));
const OUTPUT: Param = param("Output", "\\1", ParamRule::Filled);
const METRIC_RESULTS: &[Choice] =
    &[("value", "Value"), ("label", "Label"), ("function", "Function")];
const CSV_HEADER: &[Choice] = &[("1", "Header row"), ("0", "No header row")];
const ERROR_SCOPES: &[Choice] =
    &[("-1", "Any error"), ("0", "Error matches"), ("1", "Error does not match")];

/// Formats of octets in an SNMP value; the first one leaves them unchanged.
const SNMP_FORMATS: &[Choice; 4] = &[
    ("0", "Unchanged"),
    ("1", "UTF-8 from hex string"),
    ("2", "MAC from hex string"),
    ("3", "Integer from BITS"),
];
const SNMP_FORMAT: Param = param("Format", "", ParamRule::Number(SNMP_FORMATS));
const SNMP_CONVERSIONS: &[Choice] = SNMP_FORMATS.split_at(1).1;

impl StepKind {
    /// Kinds in the order in which forms offer them, by the name of their group.
    pub const OFFERED: &'static [(&'static str, &'static [Self])] = &[
        ("Text", &[Self::Regex, Self::Replace, Self::Trim, Self::RightTrim, Self::LeftTrim]),
        ("Structured data", &[Self::XmlXPath, Self::JsonPath, Self::CsvToJson, Self::XmlToJson]),
        ("SNMP", &[Self::SnmpWalkValue, Self::SnmpWalkToJson, Self::SnmpGetValue]),
        ("Arithmetic", &[Self::Multiplier]),
        ("Change", &[Self::SimpleChange, Self::ChangePerSecond]),
        ("Numeral systems", &[Self::BoolToDecimal, Self::OctalToDecimal, Self::HexToDecimal]),
        ("Custom scripts", &[Self::JavaScript]),
        (
            "Validation",
            &[
                Self::InRange,
                Self::MatchesRegex,
                Self::NotMatchesRegex,
                Self::CheckJsonError,
                Self::CheckXmlError,
                Self::CheckRegexError,
                Self::CheckNotSupported,
            ],
        ),
        ("Throttling", &[Self::DiscardUnchanged, Self::DiscardUnchangedHeartbeat]),
        ("Prometheus", &[Self::PrometheusPattern, Self::PrometheusToJson]),
    ];

    /// Kinds of which an item can have one step only.
    const EXCLUSIVE: [&'static [Self]; 3] = [
        &[Self::SimpleChange, Self::ChangePerSecond],
        &[Self::DiscardUnchanged, Self::DiscardUnchangedHeartbeat],
        &[Self::PrometheusPattern, Self::PrometheusToJson],
    ];

    /// The kind with this number of the API.
    pub const fn from_api(number: u8) -> Option<Self> {
        Self::from_number(number as i64)
    }

    /// Its parameters.
    pub const fn params(self) -> Params {
        use ParamRule::{
            Any, Char, Filled, Float, FloatOrEmpty, Number, Regex, Script, Time, Word,
        };
        match self {
            Self::Multiplier => lines!(1; param("Factor", "8", Float)),
            Self::RightTrim | Self::LeftTrim | Self::Trim => CHARACTERS,
            Self::Regex => lines!(2; param("Pattern", "([0-9]+)", Regex), OUTPUT),
            Self::XmlXPath => Params::Text(param("XPath", "//disk/used", Filled)),
            Self::JsonPath => Params::Text(param("Path", "$.path.to.node", Filled)),
            Self::InRange => {
                lines!(2; param("Minimum", "", FloatOrEmpty), param("Maximum", "", FloatOrEmpty))
            }
            Self::MatchesRegex | Self::NotMatchesRegex => Params::Text(param("Pattern", "", Regex)),
            Self::CheckJsonError => Params::Text(param("Path", "$.error", Filled)),
            Self::CheckXmlError => Params::Text(param("XPath", "", Filled)),
            Self::CheckRegexError => lines!(2; param("Pattern", "", Regex), OUTPUT),
            Self::DiscardUnchangedHeartbeat => lines!(1; param("Heartbeat", "1h", Time)),
            Self::JavaScript => {
                Params::Text(param("Script: body of function (value)", "return value;", Script))
            }
            Self::PrometheusPattern => lines!(2;
                param("Pattern", "metric{label=\"value\"}", Filled),
                param("Result", "", Word(METRIC_RESULTS)),
                param("Label or function", "", Any)
            ),
            Self::PrometheusToJson => lines!(0; param("Pattern", "", Any)),
            Self::CsvToJson => lines!(3;
                param("Delimiter", ",", Char),
                param("Quotation", "\"", Char),
                param("First row is the header", "", Number(CSV_HEADER))
            ),
            Self::Replace => lines!(1; param("Search", "", Filled), param("Replacement", "", Any)),
            Self::CheckNotSupported => {
                lines!(1; param("Scope", "", Number(ERROR_SCOPES)), param("Pattern", "", Any))
            }
            Self::SnmpWalkValue => lines!(2; param("OID", "", Filled), SNMP_FORMAT),
            Self::SnmpWalkToJson => Params::Rows(
                "Field, OID, format: one per line",
                const { &[param("Field", "", Filled), param("OID", "", Filled), SNMP_FORMAT] },
            ),
            Self::SnmpGetValue => lines!(1; param("Format", "", Number(SNMP_CONVERSIONS))),
            Self::BoolToDecimal
            | Self::OctalToDecimal
            | Self::HexToDecimal
            | Self::SimpleChange
            | Self::ChangePerSecond
            | Self::DiscardUnchanged
            | Self::XmlToJson => Params::None,
        }
    }

    /// What can be set for the case that it fails.
    pub const fn on_fail(self) -> &'static [OnFail] {
        match self {
            Self::RightTrim
            | Self::LeftTrim
            | Self::Trim
            | Self::DiscardUnchanged
            | Self::DiscardUnchangedHeartbeat
            | Self::JavaScript
            | Self::Replace => &[OnFail::Original],
            Self::CheckNotSupported => &[OnFail::Discard, OnFail::SetValue, OnFail::SetError],
            _ => OnFail::ALL,
        }
    }

    /// There is no choice of what happens when it fails: it never fails, or the failure cannot be handled.
    pub const fn is_without_handler(self) -> bool {
        self.on_fail().len() == 1
    }

    /// Discovery rules can have it.
    pub const fn is_for_rules(self) -> bool {
        matches!(
            self,
            Self::Regex
                | Self::XmlXPath
                | Self::JsonPath
                | Self::MatchesRegex
                | Self::NotMatchesRegex
                | Self::CheckJsonError
                | Self::CheckXmlError
                | Self::DiscardUnchangedHeartbeat
                | Self::JavaScript
                | Self::PrometheusToJson
                | Self::CsvToJson
                | Self::Replace
                | Self::XmlToJson
                | Self::SnmpWalkValue
                | Self::SnmpWalkToJson
                | Self::SnmpGetValue
        )
    }

    /// Kinds, itself among them, of which an item can have one step only.
    pub fn exclusive(self) -> Option<&'static [Self]> {
        Self::EXCLUSIVE.into_iter().find(|kinds| kinds.contains(&self))
    }

    /// Steps that remember their last value.
    pub const fn has_state(self) -> bool {
        matches!(
            self,
            Self::SimpleChange
                | Self::ChangePerSecond
                | Self::DiscardUnchanged
                | Self::DiscardUnchangedHeartbeat
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_offered_once() {
        let mut offered: Vec<StepKind> =
            StepKind::OFFERED.iter().flat_map(|(_, kinds)| kinds.iter().copied()).collect();
        offered.sort_unstable();
        assert_eq!(offered, StepKind::ALL);
    }

    #[test]
    fn no_more_parameters_are_required_than_there_are() {
        for kind in StepKind::ALL {
            if let Params::Lines(params, least) = kind.params() {
                assert!(least <= params.len(), "{kind:?}");
            }
        }
    }

    #[test]
    fn choices_of_numbers_are_numbers() {
        for kind in StepKind::ALL {
            let (Params::Lines(params, _) | Params::Rows(_, params)) = kind.params() else {
                continue;
            };
            for param in params {
                if let ParamRule::Number(choices) = param.rule {
                    assert!(choices.iter().all(|(n, _)| n.parse::<i64>().is_ok()), "{kind:?}");
                }
            }
        }
    }
}
