//! Printing and parsing are inverse, for trees and texts out of generators; what is evaluated
//! stays within its limits.

use eval::expr::{
    BinaryOp, ExprValue, Expression, Filter, HistoryParam, ItemCall, ItemQuery, Mode, Node,
    NodeKind, Operands, parse_history_params,
};
use eval::jsonpath::Path;
use eval::key::{ItemKey, KeyParam};
use eval::lld::Formula;
use eval::macros::{Context, UserMacro};
use eval::preproc::Step;
use jiff::tz::TimeZone;
use model::Timestamp;
use proptest::prelude::*;
use proptest::strategy::Union;

fn config() -> ProptestConfig {
    ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() }
}

/// Macros that generated trees refer to.
const MACROS: [&str; 6] = [
    "{$M}",
    "{#L}",
    "{TRIGGER.VALUE}",
    "{$M:\"a (b\"}",
    "{{#L}.regsub(\"(a)\",\\1)}",
    "{$M:regex}",
];

fn pool() -> String {
    MACROS.concat()
}

fn macro_node(at: usize) -> Node {
    let start = MACROS[..at].iter().map(|text| text.len()).sum();
    Node { span: start..start + MACROS[at].len(), kind: NodeKind::Macro }
}

fn node(kind: NodeKind) -> Node {
    Node { span: 0..0, kind }
}

const OPS: [BinaryOp; 12] = [
    BinaryOp::Or,
    BinaryOp::And,
    BinaryOp::Equal,
    BinaryOp::NotEqual,
    BinaryOp::Less,
    BinaryOp::LessOrEqual,
    BinaryOp::Greater,
    BinaryOp::GreaterOrEqual,
    BinaryOp::Add,
    BinaryOp::Subtract,
    BinaryOp::Multiply,
    BinaryOp::Divide,
];

const CALLS: [&str; 16] = [
    "max",
    "sum",
    "abs",
    "concat",
    "repeat",
    "left",
    "replace",
    "jsonpath",
    "power",
    "in",
    "exp",
    "bitlshift",
    "insert",
    "trim",
    "xmlxpath",
    "nosuch",
];

/// A word that keys and groups may have.
const WORD: &str = "[a-zA-Z0-9_.-]{1,6}";

fn param() -> impl Strategy<Value = HistoryParam> {
    let bare = prop::sample::select(vec![
        "",
        "5m",
        "#3",
        "1h:now/h",
        "#2:now-1d",
        "1K",
        "{$M}",
        "{#L}:now-{$M:\"x,y\"}",
        "-1",
        "1.5",
    ]);
    let made = |value: String, quoted| HistoryParam { span: 0..0, value, quoted };
    prop_oneof![
        bare.prop_map(move |value| made(value.to_owned(), false)),
        ".{0,8}".prop_map(move |value| made(value, true)),
    ]
}

fn filter() -> impl Strategy<Value = Filter> {
    let tag = (WORD, prop::option::of(".{0,6}"));
    let leaf = prop_oneof![
        ".{0,8}".prop_map(Filter::Group),
        tag.prop_map(|(tag, value)| Filter::Tag(tag, value)),
    ];
    let compared = (leaf, any::<bool>())
        .prop_map(|(leaf, negate)| if negate { Filter::Not(Box::new(leaf)) } else { leaf });
    compared.prop_recursive(4, 12, 2, |inner| {
        (inner.clone(), inner, any::<bool>()).prop_map(|(left, right, and)| {
            let (left, right) = (Box::new(left), Box::new(right));
            if and { Filter::And(left, right) } else { Filter::Or(left, right) }
        })
    })
}

/// Parameters with the quotes that their values need.
fn key_text() -> impl Strategy<Value = KeyParam> {
    let quoted = ".{0,8}".prop_filter("quotes would not end", |value| !value.ends_with('\\'));
    prop_oneof![
        quoted.prop_map(|value| KeyParam::Text { value, quoted: true }),
        "[a-zA-Z0-9 \"\\\\ö{}$#:/.-]{0,8}"
            .prop_filter("needs quotes", |value| !value.starts_with([' ', '"']))
            .prop_map(|value| KeyParam::Text { value, quoted: false }),
    ]
}

fn key() -> impl Strategy<Value = ItemKey> {
    let array = prop::collection::vec(key_text(), 1..4).prop_map(KeyParam::Array);
    let params = prop::collection::vec(prop_oneof![3 => key_text(), 1 => array], 1..5);
    (WORD, prop::option::of(params)).prop_map(|(name, params)| ItemKey { name, params })
}

fn item_call() -> impl Strategy<Value = Node> {
    let host = prop_oneof![Just(String::new()), Just("*".to_owned()), "[a-z][a-z0-9 ._-]{0,8}"];
    let params = prop::collection::vec(param(), 0..4);
    let name = prop::sample::select(vec!["last", "count", "avg_foreach", "find", "nosuch"]);
    (name, host, key(), prop::option::of(filter()), params).prop_map(
        |(function, host, key, filter, params)| {
            let filter = filter.map(|filter| filter.to_string());
            let query = ItemQuery { span: 0..0, host, key: key.to_string(), filter };
            let function = function.to_owned();
            let call = ItemCall { span: 0..0, function, query, params, params_span: 0..0 };
            node(NodeKind::ItemCall(Box::new(call)))
        },
    )
}

fn tree() -> impl Strategy<Value = Node> {
    let number = prop::num::f64::POSITIVE | prop::num::f64::ZERO;
    let leaf = prop_oneof![
        any::<u64>().prop_map(|value| node(NodeKind::Unsigned(value))),
        (0u64..20).prop_map(|value| node(NodeKind::Unsigned(value))),
        number.prop_map(|value| node(NodeKind::Float(value.abs()))),
        ".{0,10}".prop_map(|text| node(NodeKind::Text(text))),
        (0..MACROS.len()).prop_map(macro_node),
        (0u64..1000).prop_map(|id| node(NodeKind::FunctionId(id))),
        item_call(),
    ];
    leaf.prop_recursive(6, 40, 4, |inner| {
        let one = inner.clone();
        let op = prop::sample::select(OPS.to_vec());
        let binary = (inner.clone(), inner.clone(), op).prop_map(|(left, right, op)| {
            let (left, right) = (Box::new(left), Box::new(right));
            node(NodeKind::Binary { op, op_at: 0, left, right })
        });
        let name = prop::sample::select(CALLS.to_vec());
        let call = (name, prop::collection::vec(inner, 0..4))
            .prop_map(|(name, args)| node(NodeKind::Call { function: name.to_owned(), args }));
        let unary = (one, any::<bool>()).prop_map(|(inner, not)| {
            let inner = Box::new(inner);
            node(if not { NodeKind::Not(inner) } else { NodeKind::Negate(inner) })
        });
        Union::new_weighted(vec![(5, binary.boxed()), (2, call.boxed()), (1, unary.boxed())])
    })
}

/// A tree without places.
fn shape(text: &str, it: &Node) -> String {
    match &it.kind {
        NodeKind::Macro => text[it.span.clone()].trim_matches(['(', ')']).to_owned(),
        NodeKind::Negate(inner) => format!("(- {})", shape(text, inner)),
        NodeKind::Not(inner) => format!("(not {})", shape(text, inner)),
        NodeKind::Binary { op, left, right, .. } => {
            format!("({op:?} {} {})", shape(text, left), shape(text, right))
        }
        NodeKind::Call { function, args } => {
            let args: Vec<String> = args.iter().map(|arg| shape(text, arg)).collect();
            format!("({function} {})", args.join(" "))
        }
        NodeKind::ItemCall(call) => {
            let param = |param: &HistoryParam| (param.value.clone(), param.quoted);
            let params: Vec<_> = call.params.iter().map(param).collect();
            let (query, filter) = (&call.query, &call.query.filter);
            format!("({} {:?} {:?} {filter:?} {params:?})", call.function, query.host, query.key)
        }
        leaf => format!("{leaf:?}"),
    }
}

struct World;

impl Operands for World {
    fn function(&mut self, id: u64) -> Result<ExprValue, String> {
        if id.is_multiple_of(3) { Err("not known".to_owned()) } else { Ok(ExprValue::Unsigned(id)) }
    }
    fn item_call(&mut self, call: &ItemCall) -> Result<ExprValue, String> {
        Ok(match call.params.len() {
            0 => ExprValue::Text("7".to_owned()),
            1 => ExprValue::Float(2.5),
            2 => ExprValue::Vector(vec![ExprValue::Float(1.0), ExprValue::Text("x".to_owned())]),
            _ => return Err("not known".to_owned()),
        })
    }
    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String> {
        Ok(ExprValue::Text(token.len().to_string()))
    }
    fn now(&self) -> Timestamp {
        Timestamp::from_s(1_700_000_000)
    }
    fn tz(&self) -> &TimeZone {
        const { &TimeZone::UTC }
    }
}

/// Longest text that any function gives.
const TEXT_BYTES_MAX: usize = 65_535;

proptest! {
    #![proptest_config(config())]

    #[test]
    fn expressions(root in tree()) {
        let made = Expression { text: pool(), root };
        let text = made.to_string();
        let read = Expression::parse(&text).map_err(|e| TestCaseError::fail(format!("{text}: {e}")))?;
        prop_assert_eq!(shape(&text, &read.root), shape(&made.text, &made.root), "{}", text);
        // Macros and numbers as they are written now: the text is the same from here on.
        prop_assert_eq!(read.to_string(), text);
    }

    #[test]
    fn results_are_finite_and_bounded(root in tree()) {
        let made = Expression { text: pool(), root };
        for mode in [Mode::Strict, Mode::UnknownOperands] {
            match eval::expr::eval(&made, &mut World, mode) {
                Ok(ExprValue::Float(value)) => prop_assert!(value.is_finite()),
                // Longer only where the expression itself has it.
                Ok(ExprValue::Text(value)) => prop_assert!(value.len() <= TEXT_BYTES_MAX),
                _ => {}
            }
        }
    }

    #[test]
    fn filters(filter in filter()) {
        let text = filter.to_string();
        prop_assert_eq!(Filter::parse(&text), Ok(filter), "{}", text);
    }

    #[test]
    fn keys(key in key()) {
        let text = key.to_string();
        prop_assert_eq!(ItemKey::parse(&text), Ok(key), "{}", text);
    }

    #[test]
    fn macros_with_contexts(name in "[A-Z0-9_.]{1,8}", context in ".{0,12}", kind in 0..3) {
        prop_assume!(!context.ends_with('\\'));
        let context = match kind {
            0 => Context::None,
            1 => Context::Exact(context),
            _ => Context::Regex(context),
        };
        let made = UserMacro { name, context };
        let text = made.to_string();
        prop_assert_eq!(UserMacro::parse(&text), Ok(made), "{}", text);
    }

    #[test]
    fn parameters_of_functions(params in prop::collection::vec(param(), 1..5)) {
        let written: Vec<String> = params.iter().map(ToString::to_string).collect();
        let text = format!("$,{}", written.join(","));
        let read = parse_history_params(&text).unwrap();
        let plain = |params: &[HistoryParam]| -> Vec<(String, bool)> {
            params.iter().map(|p| (p.value.clone(), p.quoted)).collect()
        };
        prop_assert_eq!(plain(&read), plain(&params), "{}", text);
    }

    #[test]
    fn formulas_of_discovery_filters(formula in formula()) {
        let text = formula.to_string();
        let read = Formula::parse(&text).map(|read| format!("{read:?}"));
        prop_assert_eq!(read, Ok(format!("{formula:?}")), "{}", text);
    }

    #[test]
    fn paths(text in path_text()) {
        if let Ok(path) = Path::parse(&text) {
            let printed = path.to_string();
            prop_assert_eq!(Path::parse(&printed), Ok(path), "{} as {}", text, printed);
        }
    }

    #[test]
    fn steps(kind in 1u8..=30, params in step_params(), handler in 0u8..4, more in ".{0,6}") {
        let more = if handler < 2 { String::new() } else { more };
        let step = Step::from_api(kind, &params, handler, &more).unwrap();
        let printed = step.to_api();
        let again = Step::from_api(
            printed.kind, &printed.params, printed.error_handler, &printed.error_handler_params,
        ).unwrap();
        prop_assert_eq!(&again.to_api(), &printed);
        prop_assert_eq!(again, step, "{} {:?} as {:?}", kind, params, printed);
    }
}

fn formula() -> impl Strategy<Value = Formula<&'static str>> {
    let names = prop::sample::select(vec!["A", "B", "C", "AB", "NOT"]);
    names.prop_map(Formula::Condition).prop_recursive(4, 16, 3, |inner| {
        let parts = prop::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            inner.prop_map(|inner| Formula::Not(Box::new(inner))),
            parts.clone().prop_map(Formula::And),
            parts.prop_map(Formula::Or),
        ]
    })
}

/// Mostly right paths.
fn path_text() -> impl Strategy<Value = String> {
    const PARTS: &[&str] = &[
        ".a",
        "..b",
        ".*",
        "[*]",
        "[0]",
        "[-1,2]",
        "[1:3]",
        "[:-1]",
        "['a b']",
        "[\"it's\",'\\\\']",
        "~",
        ".first()",
        ".length()",
        "..['x']",
        ".ö",
    ];
    const OPERANDS: &[&str] =
        &["@.a", "$.b[0]", "1", "2.5", "\"a\\\"b\"", "'\\d'", "@.x.length()", "1e9", "@['a b']"];
    const SIGNS: &[&str] =
        &["==", "!=", "<", "<=", ">", ">=", "=~", "&&", "||", "+", "-", "*", "/"];
    let operand = prop::sample::select(OPERANDS).prop_map(str::to_owned);
    let condition = operand.prop_recursive(4, 12, 2, |inner| {
        let signed = (inner.clone(), prop::sample::select(SIGNS), inner.clone());
        prop_oneof![
            4 => signed.prop_map(|(left, sign, right)| format!("{left} {sign} {right}")),
            2 => inner.clone().prop_map(|inner| format!("({inner})")),
            1 => inner.clone().prop_map(|inner| format!("!({inner})")),
            1 => inner.prop_map(|inner| format!("-{inner}")),
        ]
    });
    let part = prop_oneof![
        4 => prop::sample::select(PARTS).prop_map(str::to_owned),
        1 => condition.prop_map(|condition| format!("[?({condition})]")),
    ];
    prop::collection::vec(part, 1..6).prop_map(|parts| format!("${}", parts.concat()))
}

/// Parameters of steps out of pieces that some of them know.
fn step_params() -> impl Strategy<Value = String> {
    const PIECES: &[&str] = &[
        "\n",
        "0",
        "1",
        "1.5",
        "1e300",
        "12h",
        "90",
        "\\n",
        "\\",
        "\\s",
        "\t",
        " ",
        "\"",
        ".1.3.6",
        "{#A}",
        "m{l=\"a\"}",
        "value",
        "$.a",
        "//a",
        "(a)",
        "-1",
        ",",
        "ö",
        "label",
        "x",
    ];
    let piece =
        prop_oneof![6 => prop::sample::select(PIECES).prop_map(str::to_owned), 1 => ".{0,2}"];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}
