//! The items that formulas and expression macros name, and the value of such a call.

use std::sync::Arc;

use eval::expr::{ExprValue, Filter, FilterItem, ItemCall, ItemQuery};
use eval::func::{self, HistoryView, Moment, foreach_base};
use eval::key::ItemKey;
use eval::macros::{FunctionEnv, MacroScope, substitute_user};
use model::{HostId, ItemId};

use super::{Host, Item, Snapshot};

/// Items that one call with wildcards may name.
const ITEMS_PER_CALL_MAX: usize = 100_000;

/// Gives the bucket bound of an item.
type Bucket<'a> = dyn Fn(&func::Item) -> Option<String> + 'a;

/// One of the items that a call names.
#[derive(Debug, Clone, Copy)]
pub struct Operand {
    /// What functions need to know of it.
    pub facts: func::Item,
    /// Why its values cannot be used.
    pub lacks: Option<&'static str>,
}

/// The sentence for a call without a value.
pub fn failed(call: &ItemCall, reason: &str) -> String {
    let (name, query) = (&call.function, &call.query);
    let filter = query.filter.as_ref().map(|f| format!("?[{f}]")).unwrap_or_default();
    let params: String = call.params.iter().map(|p| format!(",{}", p.value)).collect();
    let (host, key) = (&query.host, &query.key);
    format!("Cannot evaluate function {name}(/{host}/{key}{filter}{params}): {reason}.")
}

/// Value of a call whose query names these items; see [`items_of`]. The error is a whole sentence.
pub fn evaluate(
    call: &ItemCall,
    operands: &[Operand],
    snapshot: &Snapshot,
    scope: MacroScope<'_>,
    moment: &Moment<'_>,
    view: &mut dyn HistoryView,
) -> Result<ExprValue, String> {
    let failed = |reason: &str| failed(call, reason);
    let mut params = call.params.clone();
    for param in params.iter_mut().filter(|p| p.value.contains("{$")) {
        let env = FunctionEnv { tz: moment.tz };
        param.value = substitute_user(&param.value, &scope, &env);
    }
    let Some(base) = foreach_base(&call.function) else {
        let [operand] = operands else { return Err(failed("item does not exist")) };
        operand.lacks.map_or(Ok(()), |reason| Err(failed(reason)))?;
        let function =
            func::Function::parse(&call.function, &params).map_err(|e| failed(&e.to_string()))?;
        return function.eval(&operand.facts, view, moment).map_err(|e| failed(&e.to_string()));
    };
    if !call.query.is_wildcard() {
        return Err(failed("the function needs a query for several items"));
    }
    if base == "exists" {
        return Ok(func::exists_foreach(&operands.iter().map(|one| one.facts).collect::<Vec<_>>()));
    }
    func::check_foreach(&call.function, &params).map_err(|e| failed(&e.to_string()))?;
    let percentile = call.function == "bucket_percentile";
    let second = if base == "rate" && params.len() == 2 { params.pop() } else { None };
    let (percent, which) = if percentile { (second, None) } else { (None, second) };
    let which = match which {
        Some(which) => match which.value.parse::<usize>() {
            Ok(which @ 1..) => which,
            _ => return Err(failed("invalid parameter #2")),
        },
        None => 1,
    };
    let usable: Vec<func::Item> =
        operands.iter().filter(|one| one.lacks.is_none()).map(|one| one.facts).collect();
    let function = func::Function::parse(base, &params).map_err(|e| failed(&e.to_string()))?;
    let bucket = |item: &func::Item| bucket_bound(snapshot, item.id, which);
    let bucket: Option<&Bucket<'_>> = if base == "rate" { Some(&bucket) } else { None };
    let rates =
        function.eval_foreach(&usable, bucket, view, moment).map_err(|e| failed(&e.to_string()))?;
    match percent {
        Some(percent) => {
            eval::expr::bucket_percentile(&rates, &percent.value).map_err(|error| failed(&error))
        }
        None if percentile => Err(failed("invalid number of parameters")),
        None => Ok(rates),
    }
}

/// The items that a query names, seen from `hosts`.
pub fn items_of(
    snapshot: &Snapshot,
    query: &ItemQuery,
    hosts: &[HostId],
) -> Result<Vec<Arc<Item>>, String> {
    let filter = match &query.filter {
        Some(text) => Some(Filter::parse(text).map_err(|e| e.to_string())?),
        None => None,
    };
    let mut found = Vec::new();
    if query.host == "*" && query.key == "*" {
        return Err("the query names neither a host nor an item key".to_owned());
    }
    if query.host == "*" {
        let monitored = snapshot.hosts.values().filter(|host| host.monitored);
        for host in monitored {
            add_items(host, query, filter.as_ref(), &mut found)?;
        }
        // The order of hosts in memory means nothing; that of ids is the same at each evaluation.
        found.sort_unstable_by_key(|item: &Arc<Item>| item.id);
        return Ok(found);
    }
    let host = match host_number(&query.host) {
        Some(number) => hosts.get(number).and_then(|id| snapshot.hosts.get(id)),
        None => snapshot.host_by_name(&query.host),
    };
    let host = match host {
        Some(host) => host,
        None if query.is_wildcard() => return Ok(found),
        None => return Err(format!("host \"{}\" does not exist", query.host)),
    };
    add_items(host, query, filter.as_ref(), &mut found)?;
    Ok(found)
}

/// Which of the hosts at hand: none given or `{HOST.HOST}` = the first, `{HOST.HOST2}` = the
/// second.
fn host_number(host: &str) -> Option<usize> {
    if host.is_empty() {
        return Some(0);
    }
    let number = host.strip_prefix("{HOST.HOST")?.strip_suffix('}')?;
    if number.is_empty() { Some(0) } else { number.parse::<usize>().ok()?.checked_sub(1) }
}

fn add_items(
    host: &Arc<Host>,
    query: &ItemQuery,
    filter: Option<&Filter>,
    found: &mut Vec<Arc<Item>>,
) -> Result<(), String> {
    let passes = |item: &Item| filter.is_none_or(|f| f.matches(&Candidate { host, item }));
    let named = ItemKey::parse(&query.key).ok();
    let pattern =
        named.filter(|key| (0..key.param_count()).any(|at| key.param(at).as_deref() == Some("*")));
    if query.key != "*" && pattern.is_none() {
        let written = |item: &&Arc<Item>| item.written_key() == query.key;
        let item = host.item(&query.key).or_else(|| {
            // Formulas name keys as they are configured, with their macros.
            query.key.contains('{').then(|| host.items.iter().find(written)).flatten()
        });
        found.extend(item.filter(|item| passes(item)).cloned());
        return Ok(());
    }
    for item in host.items.iter().filter(|item| !item.discovery_rule) {
        let fits = pattern.as_ref().is_none_or(|pattern| key_fits(pattern, &item.key));
        if fits && passes(item) {
            if found.len() == ITEMS_PER_CALL_MAX {
                return Err(format!("it names more than {ITEMS_PER_CALL_MAX} items"));
            }
            found.push(Arc::clone(item));
        }
    }
    Ok(())
}

/// A key with `*` as parameters fits keys that differ in these only.
fn key_fits(pattern: &ItemKey, key: &str) -> bool {
    let Ok(key) = ItemKey::parse(key) else { return false };
    if key.name != pattern.name || key.param_count() != pattern.param_count() {
        return false;
    }
    (0..key.param_count()).all(|at| {
        let wanted = pattern.param(at);
        wanted.as_deref() == Some("*") || wanted == key.param(at)
    })
}

/// The bound of a bucket is the `which`-th parameter of the item's key, counted from 1.
fn bucket_bound(snapshot: &Snapshot, item: ItemId, which: usize) -> Option<String> {
    let item = snapshot.items.get(&item)?;
    ItemKey::parse(&item.key).ok()?.param(which.checked_sub(1)?)
}

struct Candidate<'a> {
    host: &'a Host,
    item: &'a Item,
}

impl FilterItem for Candidate<'_> {
    fn in_group(&self, name: &str) -> bool {
        let inside = |group: &str| {
            group.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.host.group_names.iter().any(|group| inside(group))
    }

    fn has_tag(&self, tag: &str, value: Option<&str>) -> bool {
        let tags = self.item.extra.as_ref().map_or(&[][..], |extra| &extra.tags);
        let fits = |(name, is): &(Arc<str>, Arc<str>)| {
            **name == *tag && value.is_none_or(|value| **is == *value)
        };
        tags.iter().chain(&self.host.tags).any(fits)
    }
}
