//! Trigger expressions as users write them, brought into the stored form.

use objects::Origin;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use const_format::formatcp;
use eval::expr::Expression;
use eval::func::catalog::{Signature, Takes};
use model::ValueType;
use objects::sql::{FLAGS_RULE, KIND_PROTOTYPE};

use super::TriggerFunction;
use super::syntax::{self, Place};
use crate::db::{DbError, Reader, Value, placeholders};

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

struct Parsed {
    expression: Expression,
    recovery: bool,
}

/// Brings expressions of one trigger (the recovery expression may be empty) into the stored form.
/// LLD macros are allowed in trigger `prototype`s alone.
pub fn resolve(
    connection: &mut dyn Reader,
    expression: &str,
    recovery: &str,
    prototype: bool,
) -> Result<Resolved, ExpressionError> {
    let mut parsed = vec![parse(expression, false, prototype)?];
    if !recovery.is_empty() {
        parsed.push(parse(recovery, true, prototype)?);
    }
    let refs = references(connection, &parsed, prototype)?;
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
    let place = if prototype { Place::TriggerPrototype } else { Place::Trigger };
    let expression =
        syntax::check(text, place).map_err(|text| ExpressionError::Syntax { recovery, text })?;
    Ok(Parsed { expression, recovery })
}

fn fits(function: &str, value_type: ValueType) -> Result<(), String> {
    let numeric = matches!(value_type, ValueType::Float | ValueType::Unsigned);
    let fits = match Signature::find(function).map(|known| known.takes) {
        Some(Takes::Logs) => value_type == ValueType::Log,
        Some(Takes::Numbers) => numeric,
        _ => true,
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

/// Items by host name and key; all must be there. Item prototypes are for trigger prototypes.
fn references(
    connection: &mut dyn Reader,
    parsed: &[Parsed],
    prototype: bool,
) -> Result<Refs, ExpressionError> {
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
        "SELECT hostid, host, kind FROM hosts WHERE kind < {KIND_PROTOTYPE} AND host IN ({})",
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
            formatcp!(
                "SELECT itemid, flags, ruleid, value_type FROM items \
             WHERE hostid = ? AND key_ = ? AND flags <> {FLAGS_RULE}"
            ),
            &[hostid.into(), key.as_str().into()],
        )?;
        let found = rows
            .iter()
            .find(|row| prototype || !Origin::Prototype.is(row.int("flags")))
            .and_then(|row| {
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
