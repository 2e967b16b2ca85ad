//! Gives expressions their values: functions of stored triggers, item calls of formulas and of
//! expression macros.

use std::sync::Arc;

use config::Snapshot;
use config::snapshot::{Function, Host, Item, Trigger};
use eval::expr::{
    ExprError, ExprValue, Expression, Filter, FilterItem, ItemCall, ItemQuery, Mode, Operands,
};
use eval::func::{self, Moment, foreach_base, is_trend_function};
use eval::key::ItemKey;
use eval::macros::{FunctionEnv, TokenKind, substitute_user};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use jiff::tz::TimeZone;
use model::{HostId, ItemId, Timestamp, TriggerState};

use crate::environment::Environment;
use crate::functions::{self, Compiler, History, item_of};
use crate::slots::Slots;

/// Items that one call with wildcards may name.
const ITEMS_PER_CALL_MAX: usize = 100_000;

/// Gives the bucket bound of an item.
type Bucket<'a> = dyn Fn(&func::Item) -> Option<String> + 'a;

/// Everything an evaluation reads, borrowed from the shard.
pub(crate) struct Evaluator<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) env: &'a Environment,
    pub(crate) compiler: &'a mut Compiler,
    pub(crate) slots: &'a Slots,
    pub(crate) history: History<'a>,
    /// When the shard started, seconds since 1970.
    pub(crate) started_s: u32,
    /// Items that came later, and when.
    pub(crate) born: &'a HashMap<ItemId, u32, FixedState>,
}

impl Evaluator<'_> {
    /// Why a trigger has no value whatever its other functions say: one of them is over an item
    /// that is disabled, or does not keep what the function needs.
    pub(crate) fn impossible(&self, trigger: &Trigger) -> Option<String> {
        let items = &self.snapshot.items;
        let reason =
            |function: &Function| items.get(&function.item).and_then(|item| lacks(item, function));
        if !trigger.functions.iter().any(|function| reason(function).is_some()) {
            return None;
        }
        let in_order = ordered_functions(trigger);
        in_order.into_iter().find_map(|f| reason(f).map(|why| self.failed(f, why)))
    }

    /// Value of a trigger's expression at a moment.
    pub(crate) fn trigger(
        &mut self,
        trigger: &Trigger,
        state: TriggerState,
        expression: &Expression,
        at: Timestamp,
    ) -> Result<ExprValue, ExprError> {
        let tz = self.env.tz.clone();
        let mut operands = TriggerOperands { evaluator: self, trigger, state, at, tz };
        eval::expr::eval(expression, &mut operands, Mode::UnknownOperands)
    }

    /// Value of a formula (calculated item, expression macro) in the eyes of a host.
    pub(crate) fn formula(
        &mut self,
        expression: &Expression,
        hosts: &[HostId],
        at: Timestamp,
    ) -> Result<ExprValue, ExprError> {
        let tz = self.env.tz.clone();
        let mut operands = FormulaOperands { evaluator: self, hosts, at, tz };
        eval::expr::eval(expression, &mut operands, Mode::Strict)
    }

    /// Value of a stored function call; the error is a whole sentence.
    pub(crate) fn function(
        &mut self,
        function: &Function,
        at: Timestamp,
    ) -> Result<ExprValue, String> {
        let Some(item) = self.snapshot.items.get(&function.item) else {
            return Err(self.failed(function, "item does not exist"));
        };
        let item = Arc::clone(item);
        if let Err(reason) = self.usable(&item, &function.name) {
            return Err(self.failed(function, reason));
        }
        let compiled = self.compiler.compile(function);
        let facts = item_of(&item, self.expected_from(item.id));
        let moment = Moment { now: at, tz: &self.env.tz, globals: &self.env.globals };
        functions::evaluate(&compiled, &facts, &mut self.history, &moment)
            .map_err(|reason| self.failed(function, &reason))
    }

    fn expected_from(&self, item: ItemId) -> u32 {
        self.born.get(&item).copied().unwrap_or(self.started_s)
    }

    /// Functions of disabled and unsupported items have no value; but missing values is what
    /// `nodata` is there to notice.
    fn usable(&self, item: &Item, function: &str) -> Result<(), &'static str> {
        if !item.enabled {
            return Err("item is disabled");
        }
        if function == "nodata" {
            return Ok(());
        }
        let unsupported = self.slots.peek(item.id).is_some_and(|slot| slot.error.is_some());
        let elsewhere = self.history.views.iter().any(|view| view.unsupported.contains(&item.id));
        if unsupported || elsewhere || self.history.foreign.is_unsupported(item.id) {
            return Err("item is not supported");
        }
        if !self.history.foreign.is_ready(item.id) {
            return Err("history of another shard is on its way");
        }
        Ok(())
    }

    fn failed(&self, function: &Function, reason: &str) -> String {
        let item = self.snapshot.items.get(&function.item);
        let host = item.and_then(|item| self.snapshot.host_of(item));
        let host = host.map_or("*UNKNOWN*", |host| &*host.host);
        let key = item.map_or("*UNKNOWN*", |item| item.shown_key());
        let parameter = function.parameter.strip_prefix('$').unwrap_or(&function.parameter);
        let parameter = parameter.strip_prefix(',').unwrap_or(parameter);
        let comma = if parameter.is_empty() { "" } else { "," };
        let name = &function.name;
        format!("Cannot evaluate function {name}(/{host}/{key}{comma}{parameter}): {reason}.")
    }

    /// Value of a call as users write it.
    pub(crate) fn call(
        &mut self,
        call: &ItemCall,
        hosts: &[HostId],
        at: Timestamp,
    ) -> Result<ExprValue, String> {
        let failed = |reason: &str| {
            let (name, query) = (&call.function, &call.query);
            let filter = query.filter.as_ref().map(|f| format!("?[{f}]")).unwrap_or_default();
            let params: String = call.params.iter().map(|p| format!(",{}", p.value)).collect();
            let (host, key) = (&query.host, &query.key);
            format!("Cannot evaluate function {name}(/{host}/{key}{filter}{params}): {reason}.")
        };
        let items = self.items_of(&call.query, hosts).map_err(|reason| failed(&reason))?;
        let mut params = call.params.clone();
        for param in params.iter_mut().filter(|p| p.value.contains("{$")) {
            let env = FunctionEnv { tz: &self.env.tz };
            param.value = substitute_user(&param.value, &self.env.scope(hosts), &env);
        }
        let moment = Moment { now: at, tz: &self.env.tz, globals: &self.env.globals };
        let Some(base) = foreach_base(&call.function) else {
            let [item] = &items[..] else { return Err(failed("item does not exist")) };
            self.usable(item, &call.function).map_err(failed)?;
            let function = func::Function::parse(&call.function, &params)
                .map_err(|e| failed(&e.to_string()))?;
            let facts = item_of(item, self.expected_from(item.id));
            return function
                .eval(&facts, &mut self.history, &moment)
                .map_err(|e| failed(&e.to_string()));
        };
        let facts = |item: &Arc<Item>| item_of(item, self.expected_from(item.id));
        if !call.query.is_wildcard() {
            return Err(failed("the function needs a query for several items"));
        }
        if base == "exists" {
            return Ok(func::exists_foreach(&items.iter().map(facts).collect::<Vec<_>>()));
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
        let usable: Vec<func::Item> = items
            .iter()
            .filter(|item| self.usable(item, &call.function).is_ok())
            .map(facts)
            .collect();
        let function = func::Function::parse(base, &params).map_err(|e| failed(&e.to_string()))?;
        let bucket = |item: &func::Item| bucket_bound(self.snapshot, item.id, which);
        let bucket: Option<&Bucket<'_>> = if base == "rate" { Some(&bucket) } else { None };
        let rates = function
            .eval_foreach(&usable, bucket, &mut self.history, &moment)
            .map_err(|e| failed(&e.to_string()))?;
        match percent {
            Some(percent) => eval::expr::bucket_percentile(&rates, &percent.value)
                .map_err(|error| failed(&error)),
            None if percentile => Err(failed("invalid number of parameters")),
            None => Ok(rates),
        }
    }

    /// The items that a query names.
    pub(crate) fn items_of(
        &self,
        query: &ItemQuery,
        hosts: &[HostId],
    ) -> Result<Vec<Arc<Item>>, String> {
        items_of(self.snapshot, query, hosts)
    }
}

/// What a trigger's function lacks of its item. Formulas see what an item kept before.
fn lacks(item: &Item, function: &Function) -> Option<&'static str> {
    if !item.enabled {
        return Some("item is disabled");
    }
    if item.history_days > 0 && item.trends_days > 0 {
        return None;
    }
    match (is_trend_function(&function.name), item.history_days, item.trends_days) {
        (true, _, 0) => Some("item trends are disabled"),
        (false, 0, _) => Some("item history is disabled"),
        _ => None,
    }
}

/// The items that a query names, seen from `hosts`.
pub(crate) fn items_of(
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

struct TriggerOperands<'a, 'b> {
    evaluator: &'a mut Evaluator<'b>,
    trigger: &'a Trigger,
    state: TriggerState,
    at: Timestamp,
    tz: TimeZone,
}

impl Operands for TriggerOperands<'_, '_> {
    fn function(&mut self, id: u64) -> Result<ExprValue, String> {
        match self.trigger.functions.iter().find(|function| function.id.0 == id) {
            Some(function) => self.evaluator.function(function, self.at),
            None => Err(format!("Cannot evaluate expression: unknown function {{{id}}}.")),
        }
    }

    fn item_call(&mut self, call: &ItemCall) -> Result<ExprValue, String> {
        let hosts = hosts_of(self.evaluator.snapshot, self.trigger);
        self.evaluator.call(call, &hosts, self.at)
    }

    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String> {
        if token == "{TRIGGER.VALUE}" {
            return Ok(ExprValue::Unsigned((self.state == TriggerState::Problem).into()));
        }
        let hosts = hosts_of(self.evaluator.snapshot, self.trigger);
        user_macro(self.evaluator.env, &hosts, token)
    }

    fn text(&mut self, text: &str) -> Result<String, String> {
        let hosts = hosts_of(self.evaluator.snapshot, self.trigger);
        user_macros(self.evaluator.env, &hosts, text)
    }

    fn now(&self) -> Timestamp {
        self.at
    }

    fn tz(&self) -> &TimeZone {
        &self.tz
    }
}

struct FormulaOperands<'a, 'b> {
    evaluator: &'a mut Evaluator<'b>,
    hosts: &'a [HostId],
    at: Timestamp,
    tz: TimeZone,
}

impl Operands for FormulaOperands<'_, '_> {
    fn function(&mut self, id: u64) -> Result<ExprValue, String> {
        // Formulas have no numbered functions: a text like any other.
        Ok(ExprValue::Text(format!("{{{id}}}")))
    }

    fn item_call(&mut self, call: &ItemCall) -> Result<ExprValue, String> {
        self.evaluator.call(call, self.hosts, self.at)
    }

    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String> {
        // A function may stand around a user macro; other macros are texts.
        if token.contains("{$") {
            user_macro(self.evaluator.env, self.hosts, token)
        } else if token.starts_with("{#") {
            Err(format!("Cannot parse formula: invalid token starting with \"{token}\""))
        } else {
            Ok(ExprValue::Text(token.to_owned()))
        }
    }

    fn text(&mut self, text: &str) -> Result<String, String> {
        user_macros(self.evaluator.env, self.hosts, text)
    }

    fn now(&self) -> Timestamp {
        self.at
    }

    fn tz(&self) -> &TimeZone {
        &self.tz
    }
}

fn user_macro(env: &Environment, hosts: &[HostId], token: &str) -> Result<ExprValue, String> {
    let text = substitute_user(token, &env.scope(hosts), &FunctionEnv { tz: &env.tz });
    if text == token {
        return Err(format!("Cannot evaluate expression: unknown macro {token}."));
    }
    Ok(ExprValue::Text(text))
}

/// A text whose user macros must all be known.
fn user_macros(env: &Environment, hosts: &[HostId], text: &str) -> Result<String, String> {
    let scope = env.scope(hosts);
    let unknown = eval::macros::tokens(text).find(|token| match &token.kind {
        TokenKind::User(name) => scope.resolve(name).is_none(),
        _ => false,
    });
    match unknown {
        Some(token) => Err(format!(
            "Cannot evaluate expression: unknown macro {}.",
            text.get(token.span).unwrap_or_default()
        )),
        None => Ok(substitute_user(text, &scope, &FunctionEnv { tz: &env.tz })),
    }
}

/// Hosts of a trigger's functions in the order in which the expression names them, each once.
pub(crate) fn hosts_of(snapshot: &Snapshot, trigger: &Trigger) -> Vec<HostId> {
    let mut hosts = Vec::new();
    for function in ordered_functions(trigger) {
        if let Some(item) = snapshot.items.get(&function.item)
            && !hosts.contains(&item.host)
        {
            hosts.push(item.host);
        }
    }
    hosts
}

/// Functions in the order in which the problem expression names them: what the digit of
/// `{ITEM.VALUE2}` counts.
pub(crate) fn problem_functions(trigger: &Trigger) -> Vec<&Function> {
    in_order(trigger, &trigger.expression.function_ids())
}

fn ordered_functions(trigger: &Trigger) -> Vec<&Function> {
    let ids: Vec<_> = trigger.expressions().flat_map(|each| each.function_ids()).collect();
    in_order(trigger, &ids)
}

fn in_order<'a>(trigger: &'a Trigger, ids: &[(u64, std::ops::Range<usize>)]) -> Vec<&'a Function> {
    let mut ordered: Vec<&Function> = Vec::with_capacity(trigger.functions.len());
    for (id, _) in ids {
        let named = trigger.functions.iter().find(|function| function.id.0 == *id);
        ordered.extend(named.filter(|f| !ordered.iter().any(|known| known.id == f.id)));
    }
    ordered
}
