//! What may be written in expressions of triggers and in formulas of calculated items.

use eval::expr::{Expression, ItemCall, Node, NodeKind};
use eval::func::catalog::Signature;
use eval::func::{FuncError, Function, Matcher, Period, PeriodLength};

use super::unary;

/// Where an expression stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A trigger: each call names one item of one host.
    Trigger,
    /// A trigger prototype: LLD macros as well.
    TriggerPrototype,
    /// A calculated item: also the own host, and functions over many items.
    Formula,
    /// A prototype of a calculated item.
    FormulaPrototype,
}

impl Place {
    fn is_formula(self) -> bool {
        matches!(self, Self::Formula | Self::FormulaPrototype)
    }

    fn is_prototype(self) -> bool {
        matches!(self, Self::TriggerPrototype | Self::FormulaPrototype)
    }

    /// A macro stands in a text whose value is known only later.
    fn has_macro(self, text: &str) -> bool {
        text.contains("{$") || (self.is_prototype() && text.contains("{#"))
    }
}

/// Reads an expression; the error says what is wrong, in words for behind a path.
pub fn check(text: &str, place: Place) -> Result<Expression, String> {
    let from =
        |at: usize| Err(format!("incorrect expression starting from \"{}\"", tail(text, at)));
    let expression = match Expression::parse(text) {
        Ok(expression) => expression,
        Err(error) => return from(operand_start(text, error.at)),
    };
    if let Some((_, span)) = expression.function_ids().into_iter().next() {
        return from(if place.is_formula() { span.start } else { 0 });
    }
    let mut macros = expression.macros().into_iter();
    if let Some((_, span)) = macros.find(|(token, _)| !is_operand(token, place)) {
        return from(span.start);
    }
    if let Some(at) = unary::misplaced_operator(&expression) {
        return from(at);
    }
    check_operands(&expression.root, place, None)?;
    let calls = expression.item_calls();
    if calls.is_empty() && !place.is_formula() {
        return Err("trigger expression must contain at least one /host/key reference".into());
    }
    for call in calls {
        if !is_host(call, place)
            || !call.params.iter().all(|param| param.quoted || is_bare(&param.value, place))
        {
            return from(call.span.start);
        }
        check_call(call, place)?;
    }
    Ok(expression)
}

/// Macros that may stand as operands; others are for texts.
fn is_operand(token: &str, place: Place) -> bool {
    let inner = token.trim_start_matches('{');
    (token == "{TRIGGER.VALUE}" && !place.is_formula())
        || inner.starts_with('$')
        || (inner.starts_with('#') && place.is_prototype())
}

/// The item can be named so here: hosts of triggers are named, formulas may mean their own.
fn is_host(call: &ItemCall, place: Place) -> bool {
    let query = &call.query;
    if !place.is_formula() {
        return !query.is_wildcard() && !query.host.is_empty();
    }
    let lld_outside_quotes = |filter: &str| filter.split('"').step_by(2).any(|p| p.contains("{#"));
    let filter = query.filter.as_deref().unwrap_or_default();
    (!query.host.starts_with('{') || query.host == "{HOST.HOST}")
        && (place.is_prototype() || !lld_outside_quotes(filter))
}

/// A parameter without quotes: a number, a period, a macro or nothing.
fn is_bare(text: &str, place: Place) -> bool {
    let digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if text.contains("{#") && !place.is_prototype() && !text.contains("{$") {
        return false;
    }
    match text.strip_prefix('#') {
        Some(count) => digits(count),
        None => text.is_empty() || digits(text) || text.starts_with(['-', '.', '{']),
    }
}

/// At most so much of the expression is shown in messages.
const NEAR_CHARS: usize = 255;

fn tail(text: &str, at: usize) -> String {
    text.get(at..).unwrap_or_default().chars().take(NEAR_CHARS).collect()
}

/// Where the operand begins in which reading stopped: the outermost function call that is still
/// open there, or the place itself.
fn operand_start(text: &str, at: usize) -> usize {
    let mut open: Vec<Option<usize>> = Vec::new();
    let (mut quoted, mut word) = (false, None);
    for (place, c) in text.char_indices().take_while(|(place, _)| *place < at) {
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' => open.push(word),
            ')' => drop(open.pop()),
            _ => {}
        }
        let part = c.is_ascii_alphanumeric() || c == '_';
        word = if part { word.or(Some(place)) } else { None };
    }
    open.iter().flatten().next().copied().unwrap_or(at)
}

fn usage(name: &str) -> Result<(), String> {
    Err(format!("incorrect usage of function \"{name}\""))
}

fn unknown(name: &str) -> Result<(), String> {
    Err(format!("unknown function \"{name}\""))
}

fn wrong_number(name: &str) -> Result<(), String> {
    Err(format!("invalid number of parameters in function \"{name}\""))
}

fn missing(name: &str) -> Result<(), String> {
    Err(format!("mandatory parameter is missing in function \"{name}\""))
}

/// The parameter at `at`, counted from 0 behind the item, which is the first one to people.
fn invalid(name: &str, at: usize) -> Result<(), String> {
    let ordinals = ["second", "third", "fourth", "fifth", "sixth", "seventh"];
    let ordinal = ordinals.get(at).copied().unwrap_or("last");
    Err(format!("invalid {ordinal} parameter in function \"{name}\""))
}

/// Functions over operands with their numbers of operands, and that lists stand only where they
/// are taken. `list_for` is the function that takes a list from this very node.
fn check_operands(node: &Node, place: Place, list_for: Option<&str>) -> Result<(), String> {
    match &node.kind {
        NodeKind::Negate(inner) | NodeKind::Not(inner) => check_operands(inner, place, None),
        NodeKind::Binary { left, right, .. } => {
            check_operands(left, place, None)?;
            check_operands(right, place, None)
        }
        NodeKind::ItemCall(call) => check_list(call, list_for),
        NodeKind::Call { function, args } => {
            check_arguments(function, args, place)?;
            let known = Signature::find(function);
            let alone = args.len() == 1 || function == "count";
            for (at, arg) in args.iter().enumerate() {
                let takes = match known {
                    Some(known) if known.takes_list() => at == 0 && alone,
                    Some(known) if known.name == "histogram_quantile" => at == 1 && args.len() == 2,
                    _ => false,
                };
                check_operands(arg, place, takes.then_some(function))?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn gives_list(function: &str) -> bool {
    Signature::find(function).is_some_and(Signature::gives_list)
}

/// A call that gives a list stands where such a list is taken.
fn check_list(call: &ItemCall, list_for: Option<&str>) -> Result<(), String> {
    if !gives_list(&call.function) {
        return Ok(());
    }
    let buckets = call.function == "bucket_rate_foreach";
    match list_for {
        Some(function) if buckets == (function == "histogram_quantile") => Ok(()),
        _ => usage(&call.function),
    }
}

fn check_arguments(name: &str, args: &[Node], place: Place) -> Result<(), String> {
    let Some(known) = Signature::find(name) else { return unknown(name) };
    let Some((least, most)) = known.operand_counts() else {
        // Functions over history want an item.
        return usage(name);
    };
    match name {
        // They look at lists of values, which triggers do not have.
        "histogram_quantile" if !place.is_formula() => return unknown(name),
        "count" if !place.is_formula() => return usage(name),
        "count" => {
            let list = args.first().is_some_and(|arg| match &arg.kind {
                NodeKind::ItemCall(call) => gives_list(&call.function),
                _ => false,
            });
            let operator = match args.get(1).map(|arg| &arg.kind) {
                None => true,
                Some(NodeKind::Text(op)) => Matcher::new(op, "1", true).is_ok(),
                Some(_) => false,
            };
            if !list || (!operator && args.len() <= most) {
                return usage(name);
            }
        }
        "histogram_quantile" => {
            let list = matches!(args, [_, Node { kind: NodeKind::ItemCall(_), .. }]);
            let pairs = args.len() >= 3 && args.len() % 2 == 1;
            return if list || pairs { Ok(()) } else { wrong_number(name) };
        }
        _ => {}
    }
    // A second operand of functions over lists is let through, though they have no value then.
    let most = if known.takes_list() && most == 1 { 2 } else { most };
    if (least..=most).contains(&args.len()) { Ok(()) } else { wrong_number(name) }
}

/// The function exists and its parameters can be read; those with macros are only known later.
fn check_call(call: &ItemCall, place: Place) -> Result<(), String> {
    let name = call.function.as_str();
    // What later versions have is evaluated, but not accepted.
    let Some(known) = Signature::find(name) else { return unknown(name) };
    let Some((least, most)) = known.history_counts() else { return usage(name) };
    if known.over_query() && !place.is_formula() {
        return unknown(name);
    }
    if known.over_query() {
        return check_query_call(call, place, (least, most));
    }
    if call.query.is_wildcard() {
        return Err(format!("invalid first parameter in function \"{name}\""));
    }
    let given = |at: usize| call.params.get(at).filter(|p| !place.has_macro(&p.value));
    let counted = |at: usize| given(at).is_some_and(|p| p.value.starts_with('#'));
    let timed = |at: usize| given(at).is_some_and(|p| !p.value.is_empty()) && !counted(at);
    let quoted_period = given(0).is_some_and(|p| p.quoted);
    match name {
        "last" | "logeventid" | "logseverity" | "logsource" if timed(0) => {
            return invalid(name, 0);
        }
        "rate" if counted(0) => return invalid(name, 0),
        // The newest value is what they would look at.
        "count" | "countunique" if call.params.is_empty() => return missing(name),
        "count" | "countunique" if given(0).is_some_and(|p| p.value.is_empty()) => {
            return invalid(name, 0);
        }
        "forecast" | "timeleft" => {
            let empty = |at: &usize| given(*at).is_some_and(|p| p.quoted && p.value.is_empty());
            if let Some(at) = (2..call.params.len()).find(empty) {
                return invalid(name, at);
            }
        }
        _ => {}
    }
    // It can be evaluated, but says nothing.
    let nothing =
        |text: &str| Period::parse(text).is_some_and(|p| p.length == PeriodLength::Seconds(0));
    if given(0).is_some_and(|p| nothing(&p.value)) {
        return invalid(name, 0);
    }
    // Words are quoted, periods are not.
    if quoted_period && !matches!(name, "nodata" | "fuzzytime") {
        return invalid(name, 0);
    }
    match Function::parse(name, &call.params) {
        Ok(_) => Ok(()),
        Err(FuncError::ParamCount) => wrong_number(name),
        Err(FuncError::Param(n)) => check_param(call, n.saturating_sub(1), place),
        Err(FuncError::Unknown(_)) => unknown(name),
        // What depends on values or on global regular expressions shows at run time.
        Err(_) => Ok(()),
    }
}

/// A parameter that the function cannot use as it stands there: some of that shows only when it is
/// evaluated.
fn check_param(call: &ItemCall, at: usize, place: Place) -> Result<(), String> {
    let name = call.function.as_str();
    let Some(param) = call.params.get(at) else { return missing(name) };
    let later = match (name, at) {
        _ if place.has_macro(&param.value) => true,
        // Where its end may lie, and how long it may be.
        (_, 0) => eval::func::is_trend_period(name, &param.value),
        ("count" | "countunique" | "find", 2) => true,
        // Whether the season is longer than the period.
        ("baselinedev" | "baselinewma", 1) => {
            matches!(&*param.value, "h" | "d" | "w" | "M" | "y")
        }
        _ => false,
    };
    if later { Ok(()) } else { invalid(name, at) }
}

/// A call over all items of a query.
fn check_query_call(
    call: &ItemCall,
    place: Place,
    (least, most): (usize, usize),
) -> Result<(), String> {
    let name = call.function.as_str();
    if call.query.host == "*" && call.query.key == "*" {
        return Err(format!("invalid first parameter in function \"{name}\""));
    }
    if call.params.len() > most {
        return wrong_number(name);
    }
    if call.params.len() < least {
        return missing(name);
    }
    let given = |at: usize| call.params.get(at).filter(|p| !place.has_macro(&p.value));
    let timed = |text: &str| {
        let period = Period::parse(text);
        matches!(period, Some(Period { length: PeriodLength::Seconds(1..), shift: None }))
    };
    let optional = name == "last_foreach";
    if let Some(period) = given(0)
        && (period.quoted || !(timed(&period.value) || (optional && period.value.is_empty())))
    {
        return invalid(name, 0);
    }
    let second = given(1).map(|p| p.value.as_str());
    let fine = match (name, second) {
        (_, None) => true,
        ("bucket_percentile", Some(text)) => {
            eval::num::parse_suffixed(text).is_some_and(|p| (0.0..=100.0).contains(&p))
        }
        ("bucket_rate_foreach", Some(text)) => text.parse::<u32>().is_ok_and(|n| n > 0),
        ("count_foreach", Some(text)) => Matcher::new(text, "1", true).is_ok(),
        _ => true,
    };
    if fine { Ok(()) } else { invalid(name, 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, place: Place) -> String {
        check(text, place).err().unwrap_or_default()
    }

    #[test]
    fn functions_over_operands() {
        let item = "last(/H/n)";
        for (text, trigger, formula) in [
            ("abs(1)+max(1,2,3)", "", ""),
            ("kurtosis(1)", "", ""),
            ("char(1,2)", "number of parameters", "number of parameters"),
            ("date(1)", "number of parameters", "number of parameters"),
            ("1+count(1)", "usage of function \"count\"", "usage of function \"count\""),
            ("histogram_quantile(1,2,3)", "unknown function", ""),
            ("histogram_quantile(1,2)", "unknown function", "number of parameters"),
            ("nosuch(1)", "unknown function \"nosuch\"", "unknown function \"nosuch\""),
            ("change(1)", "usage of function", "usage of function"),
            ("{TRIGGER.VALUE}", "", "starting from \"{TRIGGER.VALUE}"),
            ("{#A}", "starting from \"{#A}", "starting from \"{#A}"),
            ("sum(last_foreach(/*/n))", "incorrect expression", ""),
            ("abs(last_foreach(/*/n))", "incorrect", "usage of function \"last_foreach\""),
            ("max(last_foreach(/*/n),1)", "incorrect", "usage of function \"last_foreach\""),
            ("count(last(/H/n))", "usage", "usage of function \"count\""),
            ("item_count(/H/n)", "unknown function", ""),
            ("count(last_foreach(/*/n),\"gt\",1)", "usage", ""),
            ("count(last_foreach(/*/n),\"xx\",1)", "usage", "usage of function \"count\""),
            ("sum(bucket_rate_foreach(/*/n[*],1h))", "incorrect", "usage of function"),
            ("histogram_quantile(0.5,bucket_rate_foreach(/*/n[*],1h))", "unknown function", ""),
        ] {
            for (place, wanted) in [(Place::Trigger, trigger), (Place::Formula, formula)] {
                let got = said(&format!("{text}+{item}"), place);
                assert_eq!(got.is_empty(), wanted.is_empty(), "{place:?} {text}: {got}");
                assert!(got.contains(wanted), "{place:?} {text}: {got}");
            }
        }
    }

    #[test]
    fn functions_over_items() {
        for (text, wanted) in [
            ("avg(//n,5m)", ""),
            ("avg(/{HOST.HOST}/n,5m)", ""),
            ("avg(/{HOST.HOST2}/n,5m)", "incorrect expression"),
            ("avg(/*/n,5m)", "invalid first parameter"),
            ("avg(//n,\"5m\")", "invalid second parameter"),
            ("avg(//n,\"{$P}\")", ""),
            ("avg(//n,{#P})", "incorrect expression"),
            ("avg(//n)", "mandatory parameter is missing"),
            ("last(//n,#1,1)", "invalid number"),
            ("nodata(//n,\"5m\")", ""),
            ("nodata(//n,0)", "invalid second parameter"),
            ("fuzzytime(//n,0s)", "invalid second parameter"),
            ("sum(//n,0)", "invalid second parameter"),
            ("find(//n,0:now-1h)", "invalid second parameter"),
            ("count(//n)", "mandatory parameter is missing"),
            ("count(//n,)", "invalid second parameter"),
            ("countunique(//n,,\"eq\",\"1\")", "invalid second parameter"),
            ("sum(last_foreach(/*/n,0))", "invalid second parameter"),
            ("count(//n,5m,\"bitand\",\"6/x\")", ""),
            ("count(//n,5m,\"xx\")", "invalid third parameter"),
            ("trendsum(//n,2y:now/y)", ""),
            ("trendsum(//n,30m:now/h)", "invalid second parameter"),
            ("baselinedev(//n,1d:now/d,\"h\",6)", ""),
            ("baselinedev(//n,1d:now/d,\"x\",6)", "invalid third parameter"),
            ("item_count(/*/n)+item_count(/H/*)", ""),
            ("item_count(/*/*)", "invalid first parameter"),
            ("item_count(/*/n,5m)", "invalid number"),
            ("bucket_percentile(/*/n[*],5m,90)", ""),
            ("bucket_percentile(/*/n[*],5m,101)", "invalid third parameter"),
            ("bucket_percentile(/*/n[*],5m)", "mandatory parameter"),
            ("sum(last_foreach(/*/n,#2))", "invalid second parameter"),
            ("sum(avg_foreach(/*/n,5m:now-1h))", "invalid second parameter"),
            ("sum(last_foreach(/*/n?[group={#G}]))", "incorrect expression"),
            ("lastclock(//n)", "unknown function"),
            ("bitand(//n,1)", "usage of function"),
        ] {
            let got = said(text, Place::Formula);
            assert_eq!(got.is_empty(), wanted.is_empty(), "{text}: {got}");
            assert!(got.contains(wanted), "{text}: {got}");
        }
        for text in ["last(//n)>{#A}", "avg(//n,{#P})", "sum(last_foreach(/*/n?[group={#G}]))"] {
            assert_eq!(said(text, Place::FormulaPrototype), "", "{text}");
        }
    }
}
