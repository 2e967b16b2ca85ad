//! Trigger expressions as users write them, brought into the stored form.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use eval::expr::Expression;
use eval::func::Function;
use model::ValueType;

use super::{TriggerFunction, plain};
use crate::db::{Connection, DbError, Value, placeholders};

/// An item that an expression names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemRef {
    /// Its id.
    pub itemid: u64,
    /// Its host or template.
    pub hostid: u64,
    /// 0 host, 1 template.
    pub host_kind: i64,
    /// The API's `flags`: 0 plain, 2 prototype, 4 discovered.
    pub flags: i64,
    /// For prototypes: the discovery rule.
    pub ruleid: u64,
}

/// Why an expression cannot be stored.
#[derive(Debug, thiserror::Error)]
pub enum ExpressionError {
    /// The expression itself is wrong; `recovery` tells which one.
    #[error("{text}")]
    Syntax {
        /// The recovery expression is meant.
        recovery: bool,
        /// What is wrong, for behind a path.
        text: String,
    },
    /// It names what is not there; a whole sentence.
    #[error("{0}")]
    Reference(String),
    /// The database refused.
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Expressions in the form of [`super::NewTrigger`], with the items they name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resolved {
    /// Problem expression with `{0}`, `{1}` … for the calls.
    pub expression: String,
    /// Recovery expression, likewise; empty = none.
    pub recovery: String,
    /// The calls.
    pub functions: Vec<TriggerFunction>,
    /// The items, each once.
    pub items: Vec<ItemRef>,
}

/// Functions that read texts, for the check of value types; all others of [`NUMERIC`] need
/// numbers, and those of [`LOG`] log entries.
const LOG: &[&str] = &["logeventid", "logseverity", "logsource"];

/// Functions that need numbers.
const NUMERIC: &[&str] = &[
    "avg",
    "baselinedev",
    "baselinewma",
    "forecast",
    "kurtosis",
    "mad",
    "fuzzytime",
    "max",
    "min",
    "monodec",
    "monoinc",
    "percentile",
    "rate",
    "skewness",
    "stddevpop",
    "stddevsamp",
    "sum",
    "sumofsquares",
    "timeleft",
    "trendavg",
    "trendcount",
    "trendmax",
    "trendmin",
    "trendstl",
    "trendsum",
    "varpop",
    "varsamp",
];

struct Parsed {
    expression: Expression,
    recovery: bool,
}

/// Brings expressions of one trigger (the recovery expression may be empty) into the stored form.
/// LLD macros are allowed in trigger `prototype`s alone.
pub fn resolve(
    connection: &mut dyn Connection,
    expression: &str,
    recovery: &str,
    prototype: bool,
) -> Result<Resolved, ExpressionError> {
    let mut parsed = vec![parse(expression, false, prototype)?];
    if !recovery.is_empty() {
        parsed.push(parse(recovery, true, prototype)?);
    }
    let refs = references(connection, &parsed)?;
    let mut resolved = Resolved::default();
    let mut seen: HashMap<TriggerFunction, usize> = HashMap::new();
    let mut items: BTreeMap<u64, ItemRef> = BTreeMap::new();
    for part in &parsed {
        let mut failed = None;
        let text = part.expression.replace_calls(&mut |call| {
            let key = (call.query.host.clone(), call.query.key.clone());
            let Some((item, value_type)) = refs.get(&key) else { return String::new() };
            if let Err(text) = fits(&call.function, *value_type) {
                failed.get_or_insert(text);
            }
            items.insert(item.itemid, item.clone());
            let function = TriggerFunction {
                itemid: item.itemid,
                name: call.function.clone(),
                parameter: call.stored_params(&part.expression.text),
            };
            let next = seen.len();
            let at = *seen.entry(function.clone()).or_insert_with(|| {
                resolved.functions.push(function);
                next
            });
            format!("{{{at}}}")
        });
        if let Some(text) = failed {
            return Err(ExpressionError::Reference(text));
        }
        if part.recovery { resolved.recovery = text } else { resolved.expression = text }
    }
    resolved.items = items.into_values().collect();
    Ok(resolved)
}

fn parse(text: &str, recovery: bool, prototype: bool) -> Result<Parsed, ExpressionError> {
    let fail = |text: String| ExpressionError::Syntax { recovery, text };
    let from =
        |at: usize| fail(format!("incorrect expression starting from \"{}\"", tail(text, at)));
    let expression =
        Expression::parse(text).map_err(|error| from(operand_start(text, error.at)))?;
    if !expression.function_ids().is_empty() {
        return Err(from(0));
    }
    if !prototype
        && let Some((_, span)) = expression.macros().into_iter().find(|(m, _)| m.contains("{#"))
    {
        return Err(from(span.start));
    }
    if let Some((_, span)) = expression.macros().into_iter().find(|(m, _)| !is_operand(m)) {
        return Err(from(span.start));
    }
    if let Some(at) = plain::misplaced_operator(&expression) {
        return Err(from(at));
    }
    plain::check_functions(&expression).map_err(fail)?;
    let calls = expression.item_calls();
    if calls.is_empty() {
        return Err(fail(
            "trigger expression must contain at least one /host/key reference".into(),
        ));
    }
    for call in calls {
        if call.query.is_wildcard() || call.query.host.is_empty() {
            return Err(from(call.span.start));
        }
        if !call.params.iter().all(|param| param.quoted || is_bare(&param.value)) {
            return Err(from(call.span.start));
        }
        check_call(call).map_err(fail)?;
    }
    Ok(Parsed { expression, recovery })
}

/// Macros that may stand as operands; others are for texts.
fn is_operand(token: &str) -> bool {
    let inner = token.trim_start_matches('{');
    token == "{TRIGGER.VALUE}" || inner.starts_with('$') || inner.starts_with('#')
}

/// A parameter without quotes: a number, a period, a macro or nothing.
fn is_bare(text: &str) -> bool {
    let digits = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
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

/// Functions over operands that are functions over history as well.
const HISTORY_TOO: &[&str] = &[
    "avg",
    "count",
    "kurtosis",
    "mad",
    "max",
    "min",
    "skewness",
    "stddevpop",
    "stddevsamp",
    "sum",
    "sumofsquares",
    "varpop",
    "varsamp",
];

/// The function exists and its parameters can be read; those with macros are only known later.
fn check_call(call: &eval::expr::ItemCall) -> Result<(), String> {
    use eval::func::FuncError;
    let name = &call.function;
    let ordinals = ["first", "second", "third", "fourth", "fifth", "sixth"];
    let has_macro = |text: &str| text.contains("{$") || text.contains("{#");
    let invalid = |at: usize| {
        // Counting starts behind the item, which is the first parameter.
        let ordinal = ordinals.get(at + 1).copied().unwrap_or("last");
        Err(format!("invalid {ordinal} parameter in function \"{name}\""))
    };
    if plain::is_plain(name) && !HISTORY_TOO.contains(&name.as_str()) {
        return Err(format!("incorrect usage of function \"{name}\""));
    }
    let given = |at: usize| call.params.get(at).filter(|p| !has_macro(&p.value));
    let counted = |at: usize| given(at).is_some_and(|p| p.value.starts_with('#'));
    let timed = |at: usize| given(at).is_some_and(|p| !p.value.is_empty()) && !counted(at);
    match name.as_str() {
        // Of versions to come: evaluated, but not accepted by 7.0.
        "lastclock" => return Err(format!("unknown function \"{name}\"")),
        "last" | "logeventid" | "logseverity" | "logsource" if timed(0) => return invalid(0),
        "rate" if counted(0) => return invalid(0),
        "forecast" | "timeleft" => {
            let empty = |at: &usize| given(*at).is_some_and(|p| p.quoted && p.value.is_empty());
            if let Some(at) = (2..call.params.len()).find(empty) {
                return invalid(at);
            }
        }
        _ => {}
    }
    match Function::parse(name, &call.params) {
        Ok(_) => Ok(()),
        Err(FuncError::ParamCount) => {
            Err(format!("invalid number of parameters in function \"{name}\""))
        }
        Err(FuncError::Param(n)) => {
            let given = n.checked_sub(1).and_then(|at| call.params.get(at));
            match given {
                Some(param) if has_macro(&param.value) => Ok(()),
                // Where its end may lie shows when it is evaluated.
                Some(param) if n == 1 && eval::func::is_trend_period(name, &param.value) => Ok(()),
                Some(_) => invalid(n - 1),
                _ => Err(format!("mandatory parameter is missing in function \"{name}\"")),
            }
        }
        Err(FuncError::Unknown(_)) => Err(format!("unknown function \"{name}\"")),
        // What depends on values or on global regular expressions shows at run time.
        Err(_) => Ok(()),
    }
}

fn fits(function: &str, value_type: ValueType) -> Result<(), String> {
    let numeric = matches!(value_type, ValueType::Float | ValueType::Unsigned);
    let fits = if LOG.contains(&function) {
        value_type == ValueType::Log
    } else if NUMERIC.contains(&function) {
        numeric
    } else {
        true
    };
    if fits {
        return Ok(());
    }
    let name = match value_type {
        ValueType::Float => "Numeric (float)",
        ValueType::Unsigned => "Numeric (unsigned)",
        ValueType::Char => "Character",
        ValueType::Log => "Log",
        ValueType::Text => "Text",
        ValueType::Binary => "Binary",
    };
    Err(format!(
        "Incorrect item value type \"{name}\" provided for trigger function \"{function}\"."
    ))
}

type Refs = HashMap<(String, String), (ItemRef, ValueType)>;

/// Items by host name and key; all must be there.
fn references(connection: &mut dyn Connection, parsed: &[Parsed]) -> Result<Refs, ExpressionError> {
    let mut wanted: Vec<(String, String)> = Vec::new();
    for call in parsed.iter().flat_map(|part| part.expression.item_calls()) {
        let pair = (call.query.host.clone(), call.query.key.clone());
        if !wanted.contains(&pair) {
            wanted.push(pair);
        }
    }
    let hosts: BTreeSet<&str> = wanted.iter().map(|(host, _)| host.as_str()).collect();
    let params: Vec<Value> = hosts.iter().map(|host| Value::from(*host)).collect();
    let sql = format!(
        "SELECT hostid, host, kind FROM hosts WHERE kind < 2 AND host IN ({})",
        placeholders(params.len())
    );
    let rows = connection.query(&sql, &params)?;
    let known: HashMap<String, (u64, i64)> = rows
        .iter()
        .map(|row| (row.text("host").to_owned(), (row.id("hostid"), row.int("kind"))))
        .collect();
    let mut refs = Refs::new();
    for (host, key) in wanted {
        let Some((hostid, host_kind)) = known.get(&host).copied() else {
            return Err(ExpressionError::Reference(format!(
                "Incorrect trigger expression. Host \"{host}\" does not exist or you have no \
                 access to this host."
            )));
        };
        let rows = connection.query(
            "SELECT itemid, flags, ruleid, value_type FROM items \
             WHERE hostid = ? AND key_ = ? AND flags <> 1",
            &[hostid.into(), key.as_str().into()],
        )?;
        let found = rows.first().and_then(|row| {
            let value_type =
                u8::try_from(row.int("value_type")).ok().and_then(ValueType::from_api)?;
            let item = ItemRef {
                itemid: row.id("itemid"),
                hostid,
                host_kind,
                flags: row.int("flags"),
                ruleid: row.id("ruleid"),
            };
            Some((item, value_type))
        });
        let Some(found) = found else {
            return Err(ExpressionError::Reference(format!(
                "Incorrect item key \"{key}\" provided for trigger expression on \"{host}\"."
            )));
        };
        refs.insert((host, key), found);
    }
    Ok(refs)
}
