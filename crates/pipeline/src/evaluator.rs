//! Gives expressions their values: functions of stored triggers, item calls of formulas and of
//! expression macros.

use std::sync::Arc;

use config::Snapshot;
use config::snapshot::query::{self, Operand};
use config::snapshot::{Function, Item, Trigger};
use eval::expr::{ExprError, ExprValue, Expression, ItemCall, Mode, Operands};
use eval::func::{Moment, is_trend_function};
use eval::macros::{FunctionEnv, TokenKind, substitute_user};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use jiff::tz::TimeZone;
use model::{HostId, ItemId, Timestamp, TriggerState};

use crate::environment::Environment;
use crate::functions::{self, Compiler, History, item_of};
use crate::slots::Slots;

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
        trigger
            .ordered_functions()
            .into_iter()
            .find_map(|f| reason(f).map(|why| self.failed(f, why)))
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
        let items = query::items_of(self.snapshot, &call.query, hosts)
            .map_err(|reason| query::failed(call, &reason))?;
        let operand = |item: &Arc<Item>| Operand {
            facts: item_of(item, self.expected_from(item.id)),
            lacks: self.usable(item, &call.function).err(),
        };
        let operands: Vec<Operand> = items.iter().map(operand).collect();
        let moment = Moment { now: at, tz: &self.env.tz, globals: &self.env.globals };
        let scope = self.env.scope(hosts);
        query::evaluate(call, &operands, self.snapshot, scope, &moment, &mut self.history)
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
        let hosts = self.evaluator.snapshot.hosts_of(self.trigger);
        self.evaluator.call(call, &hosts, self.at)
    }

    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String> {
        if token == "{TRIGGER.VALUE}" {
            return Ok(ExprValue::Unsigned((self.state == TriggerState::Problem).into()));
        }
        let hosts = self.evaluator.snapshot.hosts_of(self.trigger);
        user_macro(self.evaluator.env, &hosts, token)
    }

    fn text(&mut self, text: &str) -> Result<String, String> {
        let hosts = self.evaluator.snapshot.hosts_of(self.trigger);
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
