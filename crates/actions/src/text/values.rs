//! Values of items, functions and expressions, read from history when a text needs them.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use config::Snapshot;
use config::snapshot::query::{self, Operand};
use config::snapshot::{Function, Item, global_regexes};
use eval::expr::{ExprValue, Expression, ItemCall, Mode, Operands};
use eval::func::{self, HistoryValue, HistoryView, Moment};
use eval::macros::{FunctionEnv, MacroScope, substitute_user};
use eval::regex::GlobalRegexes;
use history::{Order, RangeQuery, Reader, Span};
use jiff::tz::TimeZone;
use model::{HostId, ItemId, Sample, SampleValue, Timestamp, Trend};

/// Values beyond those asked for that are read at first: some may be later within the second.
const SPARE_VALUES: usize = 16;

/// Rows of history that expression macros in the texts about one event may read: each row costs 1, or [`TEXT_COST`] if it
/// has a text.
const ROWS_MAX: usize = 1_000_000;
/// A text may have 64 KiB.
const TEXT_COST: usize = 100;

/// Longest value that texts work with, bytes: a template may have it very often.
const VALUE_BYTES_MAX: usize = 1 << 20;

/// Later than all values.
pub(super) const LATEST: Timestamp = Timestamp { clock: u32::MAX, ns: 999_999_999 };

/// What was read stays known: many texts and recipients need the same.
pub(super) struct Values {
    snapshot: Arc<Snapshot>,
    history: Arc<dyn Reader>,
    /// The server's time zone, in which time shifts count.
    tz: TimeZone,
    globals: OnceCell<GlobalRegexes>,
    items: RefCell<HashMap<(ItemId, Timestamp), Option<SampleValue>>>,
    functions: RefCell<HashMap<(u64, Timestamp), Option<String>>>,
    formulas: RefCell<HashMap<(String, Timestamp), Found>>,
    /// What is left of [`ROWS_MAX`].
    pub(super) rows_left: Cell<usize>,
}

impl Values {
    pub(super) fn new(snapshot: Arc<Snapshot>, history: Arc<dyn Reader>) -> Self {
        let tz = snapshot.settings.time_zone();
        Self {
            snapshot,
            history,
            tz,
            globals: OnceCell::new(),
            items: RefCell::default(),
            functions: RefCell::default(),
            formulas: RefCell::default(),
            rows_left: Cell::new(ROWS_MAX),
        }
    }

    /// The newest value of the item that is not later than `till`. A very long text is cut.
    pub(super) fn of_item(&self, item: &Item, till: Timestamp) -> Option<SampleValue> {
        let known = self.items.borrow().get(&(item.id, till)).cloned();
        known.unwrap_or_else(|| {
            let values = self.view().last_n(item.id, 1, till);
            let value = values.ok().and_then(|mut values| Some(cut_value(values.pop()?.value)));
            self.items.borrow_mut().insert((item.id, till), value.clone());
            value
        })
    }

    /// The value of a trigger's function.
    pub(super) fn of_function(&self, function: &Function, at: Timestamp) -> Option<String> {
        let key = (function.id.0, at);
        let known = self.functions.borrow().get(&key).cloned();
        known.unwrap_or_else(|| {
            let value = self.evaluate(function, at);
            self.functions.borrow_mut().insert(key, value.clone());
            value
        })
    }

    fn evaluate(&self, function: &Function, at: Timestamp) -> Option<String> {
        let operand = operand(self.snapshot.items.get(&function.item)?);
        if operand.lacks.is_some() {
            return None;
        }
        let compiled = func::Function::parse_stored(&function.name, &function.parameter).ok()?;
        let value = compiled.eval(&operand.facts, &mut self.view(), &self.moment(at)).ok()?;
        value.as_text().map(cut)
    }

    /// The value of a formula in the eyes of these hosts. `anywhere`: it may be about others, too.
    pub(super) fn of_formula(
        &self,
        text: String,
        hosts: &[HostId],
        anywhere: bool,
        at: Timestamp,
    ) -> Option<String> {
        let key = (text, at);
        let known = self.formulas.borrow().get(&key).cloned();
        let Found { value, is_foreign } = known.unwrap_or_else(|| {
            let mut operands = Formula { values: self, hosts, is_foreign: false, at };
            let value = Expression::parse(&key.0).ok().and_then(|expression| {
                let value = eval::expr::eval(&expression, &mut operands, Mode::Strict).ok()?;
                value.as_text().map(cut)
            });
            let found = Found { value, is_foreign: operands.is_foreign };
            self.formulas.borrow_mut().insert(key, found.clone());
            found
        });
        value.filter(|_| anywhere || !is_foreign)
    }

    fn moment(&self, now: Timestamp) -> Moment<'_> {
        let globals = self.globals.get_or_init(|| global_regexes(&self.snapshot.regexps));
        Moment { now, tz: &self.tz, globals }
    }

    fn view(&self) -> View<'_> {
        View { snapshot: &self.snapshot, history: &*self.history, left: None }
    }

    /// For macros that may name any period.
    fn limited_view(&self) -> View<'_> {
        View { left: Some(&self.rows_left), ..self.view() }
    }
}

fn cut(mut text: String) -> String {
    if text.len() > VALUE_BYTES_MAX {
        text.truncate(text.floor_char_boundary(VALUE_BYTES_MAX));
    }
    text
}

fn cut_value(value: SampleValue) -> SampleValue {
    match value {
        SampleValue::Text(text) if text.len() > VALUE_BYTES_MAX => {
            SampleValue::Text(text[..text.floor_char_boundary(VALUE_BYTES_MAX)].into())
        }
        SampleValue::Log(mut log) if log.0.len() > VALUE_BYTES_MAX => {
            log.0 = log.0[..log.0.floor_char_boundary(VALUE_BYTES_MAX)].into();
            SampleValue::Log(log)
        }
        value => value,
    }
}

fn operand(item: &Arc<Item>) -> Operand {
    let facts = func::Item {
        id: item.id,
        value_type: item.value_type,
        expected_from: 0,
        enabled: item.enabled,
    };
    Operand { facts, lacks: (!item.enabled).then_some("item is disabled") }
}

/// What a formula gave.
#[derive(Debug, Clone)]
struct Found {
    value: Option<String>,
    /// It is about hosts that are not the event's.
    is_foreign: bool,
}

/// The operands of an expression macro.
struct Formula<'a> {
    values: &'a Values,
    hosts: &'a [HostId],
    /// It is about other hosts, too.
    is_foreign: bool,
    at: Timestamp,
}

impl Formula<'_> {
    fn user_macros(&self, text: &str) -> String {
        let scope = MacroScope { nodes: &*self.values.snapshot.macros, hosts: self.hosts };
        substitute_user(text, &scope, &FunctionEnv { tz: &self.values.tz })
    }
}

impl Operands for Formula<'_> {
    fn function(&mut self, id: u64) -> Result<ExprValue, String> {
        Ok(ExprValue::Text(format!("{{{id}}}")))
    }

    fn item_call(&mut self, call: &ItemCall) -> Result<ExprValue, String> {
        let snapshot = &*self.values.snapshot;
        let items = query::items_of(snapshot, &call.query, self.hosts)
            .map_err(|reason| query::failed(call, &reason))?;
        // What a recipient may see is known of the event's hosts alone.
        self.is_foreign |= items.iter().any(|item| !self.hosts.contains(&item.host));
        let operands: Vec<Operand> = items.iter().map(operand).collect();
        let scope = MacroScope { nodes: &*snapshot.macros, hosts: self.hosts };
        let moment = self.values.moment(self.at);
        query::evaluate(call, &operands, snapshot, scope, &moment, &mut self.values.limited_view())
    }

    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String> {
        let value = self.user_macros(token);
        if token.contains("{$") && value == token {
            return Err(format!("unknown macro {token}"));
        }
        Ok(ExprValue::Text(value))
    }

    fn text(&mut self, text: &str) -> Result<String, String> {
        Ok(self.user_macros(text))
    }

    fn now(&self) -> Timestamp {
        self.at
    }

    fn tz(&self) -> &TimeZone {
        &self.values.tz
    }
}

/// History as functions read it.
struct View<'a> {
    snapshot: &'a Snapshot,
    history: &'a dyn Reader,
    /// Rows that may still be read; `None` = any number.
    left: Option<&'a Cell<usize>>,
}

impl View<'_> {
    fn samples(
        &self,
        item: ItemId,
        span: Span,
        limit: Option<usize>,
    ) -> Result<Vec<Sample>, String> {
        let Some(known) = self.snapshot.items.get(&item) else { return Ok(Vec::new()) };
        let value_type = known.value_type;
        let cost = if value_type.is_numeric() { 1 } else { TEXT_COST };
        // One more shows that there are too many.
        let most = self.left.map(|left| left.get() / cost + 1);
        let limit = limit.into_iter().chain(most).min();
        let query = RangeQuery { item, value_type, span, limit, order: Order::NewestFirst };
        let samples = self.history.range(&query).map_err(|error| error.to_string())?;
        self.spend(samples.len() * cost)?;
        Ok(samples)
    }

    /// Fails when more is read than may be.
    fn spend(&self, rows: usize) -> Result<(), String> {
        let Some(left) = self.left else { return Ok(()) };
        let rest = left.get().checked_sub(rows);
        left.set(rest.unwrap_or(0));
        rest.map(drop).ok_or_else(|| "the texts of this event read too many values".to_owned())
    }
}

fn value(sample: Sample) -> HistoryValue {
    HistoryValue { at: sample.at, value: sample.value }
}

impl HistoryView for View<'_> {
    fn last_n(
        &mut self,
        item: ItemId,
        count: usize,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        let mut limit = count.saturating_add(SPARE_VALUES);
        loop {
            let samples = self.samples(item, Span::new(0, till.clock), Some(limit))?;
            let all = samples.len() < limit;
            let fitting: Vec<HistoryValue> =
                samples.into_iter().filter(|s| s.at <= till).take(count).map(value).collect();
            if all || fitting.len() == count {
                return Ok(fitting);
            }
            limit = limit.saturating_mul(4);
        }
    }

    fn range(
        &mut self,
        item: ItemId,
        after: Timestamp,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        let samples = self.samples(item, Span::new(after.clock, till.clock), None)?;
        let inside = samples.into_iter().filter(|s| s.at > after && s.at <= till);
        Ok(inside.map(value).collect())
    }

    fn trends(
        &mut self,
        item: ItemId,
        first_hour: u32,
        last_hour: u32,
    ) -> Result<Vec<Trend>, String> {
        let span = Span::new(first_hour, last_hour);
        let mut trends = self.history.trends(&[item], span).map_err(|error| error.to_string())?;
        self.spend(trends.len())?;
        trends.reverse();
        Ok(trends)
    }
}
