//! Arbitrary input never makes a parser or an evaluator panic.

use eval::expr::{ExprValue, Expression, ItemCall, Mode, Operands};
use eval::macros::FunctionEnv;
use eval::preproc::{self, Outcome, State, Step};
use eval::script::Scripts;
use jiff::tz::TimeZone;
use model::{Payload, Timestamp, ValueType};
use proptest::prelude::*;

/// Texts out of pieces that the grammars know, so that parsers get far.
fn pieces(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    let word = prop_oneof![4 => prop::sample::select(words).prop_map(str::to_owned), 1 => ".{0,3}"];
    prop::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

struct Nothing;

impl Operands for Nothing {
    fn function(&mut self, id: u64) -> Result<ExprValue, String> {
        Ok(ExprValue::Unsigned(id))
    }
    fn item_call(&mut self, _: &ItemCall) -> Result<ExprValue, String> {
        Ok(ExprValue::Vector(vec![ExprValue::Float(1.0)]))
    }
    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String> {
        Ok(ExprValue::Text(token.to_owned()))
    }
    fn now(&self) -> Timestamp {
        Timestamp::from_s(0)
    }
    fn tz(&self) -> &TimeZone {
        const { &TimeZone::UTC }
    }
}

const EXPRESSION: &[&str] = &[
    "(",
    ")",
    "1",
    "1K",
    "-",
    "+",
    "*",
    "/",
    "=",
    "<>",
    " and ",
    " or ",
    " not ",
    "max(",
    "left(",
    "last(/h/k",
    ",#1",
    ",5m",
    ":now/d",
    "\"a\"",
    "{$M}",
    "{#L}",
    "{1}",
    ",",
    " ",
    "?[group=\"",
    "repeat(\"ö\",",
    "insert(",
    "char(",
    "round(",
    "bitlshift(",
    "jsonpath(",
    "mid(",
];
const JSONPATH: &[&str] = &[
    "$",
    ".a",
    "..",
    "[",
    "]",
    "*",
    "[0]",
    "[-1]",
    "[1:",
    "[?(",
    "@.a",
    "==",
    "=~",
    "\"a\"",
    ")",
    "~",
    ".length()",
    ".first()",
    ".sum()",
    "'b'",
    ",",
    "&&",
    "!",
    "1",
    "$..a",
    "[:",
    "(",
];
const JSON: &[&str] =
    &["{", "}", "[", "]", "\"a\":", "\"b\"", ",", "1", "-1.5e3", "null", "true", "\\u", "\\"];
const XML: &[&str] = &[
    "<a>",
    "</a>",
    "<a/>",
    "<b c=\"1\">",
    "</b>",
    "&lt;",
    "&#65;",
    "x",
    "<![CDATA[",
    "]]>",
    "<!--",
];
const XPATH: &[&str] = &[
    "/",
    "//",
    "a",
    "*",
    "@c",
    "[",
    "]",
    "(",
    ")",
    "1",
    "'x'",
    "=",
    "|",
    " and ",
    " div ",
    "..",
    "text()",
    "count(",
    "substring(",
    ",",
    "-",
    "last()",
    "ancestor::",
    "position()",
];
const KEYS: &[&str] = &["key", "[", "]", "\"", "\\", ",", " ", "a", "{#A}", "{$M}", "ö"];
const INTERVALS: &[&str] = &[
    "0",
    "1m",
    ";",
    "/",
    "1-7,00:00-24:00",
    "h",
    "m",
    "md",
    "wd",
    "s",
    "9-18",
    ",",
    "-",
    "30",
    "{$M}",
];
const STEP: &[&str] = &[
    "\n",
    "0",
    "1",
    "\"",
    "\\",
    ".1.3.6",
    " = ",
    "STRING: ",
    "Hex-STRING: 41 ",
    "m{l=\"a\"} 1",
    "#",
    "==",
    ",",
    "ö",
    "Sep=",
    "return value",
    "(",
    ")",
    "[a-z]+",
    "\\1",
    "$.a",
    "{\"a\":1}",
    "//a",
    "-",
];

fn config() -> ProptestConfig {
    ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn expressions(text in pieces(EXPRESSION)) {
        if let Ok(expression) = Expression::parse(&text) {
            for call in expression.item_calls() {
                prop_assert!(text.get(call.span.clone()).is_some());
                let stored = call.stored_params(&text);
                let params = eval::expr::parse_history_params(&stored);
                if let Ok(params) = params {
                    let _ = eval::func::Function::parse(&call.function, &params);
                }
            }
            let same = expression.replace_calls(&mut |c| text[c.span.clone()].to_owned());
            prop_assert_eq!(same, text);
            let _ = eval::expr::eval(&expression, &mut Nothing, Mode::UnknownOperands);
        }
    }

    #[test]
    fn documents(
        json in pieces(JSON),
        path in pieces(JSONPATH),
        xml in pieces(XML),
        xpath in pieces(XPATH),
    ) {
        let _ = eval::jsonpath::query(&json, &path);
        let _ = eval::jsonpath::query("{\"a\":[{\"a\":1},2,\"b\"],\"b\":{}}", &path);
        let _ = eval::xpath::query(&xml, &xpath);
        let _ = eval::xpath::query("<a><b c=\"1\">x</b><b/></a>", &xpath);
        if let Ok(parsed) = eval::json::parse(&json) {
            let again = parsed.to_json();
            prop_assert_eq!(eval::json::parse(&again).map(|j| j.to_json()), Ok(again));
        }
    }

    #[test]
    fn keys_and_macros(text in pieces(KEYS), value in ".{0,8}") {
        if let Ok((key, len)) = eval::key::ItemKey::parse_prefix(&text) {
            prop_assert!(text.is_char_boundary(len));
            if let Ok(again) = eval::key::ItemKey::parse(&key.to_string()) {
                prop_assert!(again.same_values(&key) || key.to_string().contains('\\'));
            }
        }
        let row = eval::lld::Row::new(vec![("{#A}".to_owned(), value)]);
        let env = FunctionEnv { tz: &TimeZone::UTC };
        let _ = eval::lld::substitute_text(&text, &row, &env);
        let _ = eval::lld::substitute_key(&text, &row, &env);
        let _ = eval::lld::substitute_expression(&text, &row, &env);
    }

    #[test]
    fn intervals(text in pieces(INTERVALS), now in 0u32..2_000_000_000, seed: u64) {
        let _ = eval::interval::UpdateInterval::validate(&text, true);
        if let Ok(interval) = eval::interval::UpdateInterval::parse(&text)
            && let Some(next) = interval.next_check(seed, false, now, &TimeZone::UTC)
        {
            prop_assert!(next > now);
        }
    }

    #[test]
    fn steps(kind in 1u8..=30, params in pieces(STEP), value in pieces(STEP)) {
        // Scripts have their own tests: compiling is slow in this profile.
        prop_assume!(kind != 21);
        let step = Step::from_api(kind, &params, 0, "").unwrap();
        let mut scripts = Scripts::new(stdx::clock::SimClock::at(std::time::Duration::ZERO));
        let at = Timestamp::from_s(1);
        let payload = Payload::Text(value.into());
        let steps = [step];
        let mut state = State::default();
        let value_type = ValueType::Text;
        let outcome = preproc::run(&steps, &mut state, payload, at, value_type, &mut scripts);
        if let Outcome::Value(value) = outcome {
            let _ = preproc::convert(value, ValueType::Char);
        }
    }

    #[test]
    fn macro_functions(text in "\\PC{0,24}", value in "\\PC{0,16}") {
        let env = FunctionEnv { tz: &TimeZone::UTC };
        for name in ["regsub", "iregsub", "fmtnum", "fmttime", "regrepl", "tr", "urldecode"] {
            let _ = eval::macros::apply(name, &text, &value, &env);
        }
        let _ = eval::macros::tokens(&text).count();
        let _ = eval::time::parse_periods(&text);
        let _ = eval::lld::formula_ids(&text);
        let _ = eval::peers::AllowedPeers::parse(&text);
    }
}
