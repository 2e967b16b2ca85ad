//! Triggers, trigger prototypes, calculated items and expression macros of the official templates
//! (`templates` below `VEDETTE_SHARED`): each is read, printed back, and has a value over history
//! that has all it asks for.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod templates;

use std::collections::{BTreeMap, BTreeSet};

use eval::expr::{ExprValue, Expression, ItemCall, Mode, NodeKind, Operands};
use eval::func::{self, Function, HistoryValue, HistoryView, Item, Moment};
use eval::lld::{Row, substitute_expression};
use eval::macros::{FunctionEnv, MacroDef, MacroNodes, MacroScope, Token, TokenKind, tokens};
use eval::regex::GlobalRegexes;
use jiff::tz::TimeZone;
use model::{HostId, ItemId, LogMeta, SampleValue, Timestamp, Trend, TrendValues, ValueType};
use templates::Node;

const NOW_S: u32 = 1_734_520_000;

/// What one template has.
#[derive(Default)]
struct Template {
    linked: Vec<String>,
    macros: Vec<MacroDef>,
    /// Types of values by key.
    types: BTreeMap<String, ValueType>,
    triggers: Vec<Trigger>,
    formulas: Vec<String>,
}

struct Trigger {
    expressions: Vec<String>,
    /// Name, name of events and operational data: what may hold expression macros.
    texts: Vec<String>,
}

fn value_type(item: &Node) -> ValueType {
    match item.get("value_type").map_or("", Node::text) {
        "FLOAT" => ValueType::Float,
        "CHAR" => ValueType::Char,
        "LOG" => ValueType::Log,
        "TEXT" | "BINARY" => ValueType::Text,
        _ => ValueType::Unsigned,
    }
}

fn member<'n>(node: &'n Node, name: &str) -> &'n str {
    node.get(name).map_or("", Node::text)
}

fn list<'n>(node: &'n Node, name: &str) -> &'n [Node] {
    node.get(name).map_or(&[], Node::list)
}

impl Template {
    fn read(node: &Node) -> Self {
        let mut template = Self::default();
        template.linked =
            list(node, "templates").iter().map(|t| member(t, "name").into()).collect();
        for one in list(node, "macros") {
            let made = MacroDef::text(member(one, "macro"), member(one, "value"));
            template.macros.push(made.unwrap());
        }
        template.items(list(node, "items"), "triggers");
        for rule in list(node, "discovery_rules") {
            template.items(list(rule, "item_prototypes"), "trigger_prototypes");
            template.triggers(list(rule, "trigger_prototypes"));
        }
        template
    }

    fn items(&mut self, items: &[Node], triggers: &str) {
        for item in items {
            self.types.insert(member(item, "key").to_owned(), value_type(item));
            self.triggers(list(item, triggers));
            if member(item, "type") == "CALCULATED" {
                self.formulas.push(member(item, "params").to_owned());
            }
        }
    }

    fn triggers(&mut self, triggers: &[Node]) {
        let filled = |trigger: &Node, names: [&str; 3]| -> Vec<String> {
            let texts = names.iter().map(|name| member(trigger, name));
            texts.filter(|text| !text.is_empty()).map(str::to_owned).collect()
        };
        self.triggers.extend(triggers.iter().map(|trigger| Trigger {
            expressions: filled(trigger, ["expression", "recovery_expression", ""]),
            texts: filled(trigger, ["name", "event_name", "opdata"]),
        }));
    }
}

type Templates = BTreeMap<String, Template>;

fn all() -> Templates {
    let mut found = Templates::new();
    let mut loose: Vec<Trigger> = Vec::new();
    for (_, document) in templates::documents() {
        let export = document.get("zabbix_export").unwrap();
        for node in list(export, "templates") {
            found.insert(member(node, "template").to_owned(), Template::read(node));
        }
        // Those that name several items stand outside of them.
        let mut rest = Template::default();
        rest.triggers(list(export, "triggers"));
        loose.append(&mut rest.triggers);
    }
    for trigger in loose {
        let expression = Expression::parse(&trigger.expressions[0]).unwrap();
        let host = expression.item_calls()[0].query.host.clone();
        found.get_mut(&host).unwrap().triggers.push(trigger);
    }
    found
}

/// A template and those that it links.
fn lineage<'t>(templates: &'t Templates, name: &str, found: &mut Vec<&'t Template>) {
    if let Some(template) = templates.get(name) {
        found.push(template);
        template.linked.iter().for_each(|linked| lineage(templates, linked, found));
    }
}

struct Macros(Vec<MacroDef>);

impl MacroNodes for Macros {
    fn macros(&self, _: HostId) -> &[MacroDef] {
        &self.0
    }
    fn templates(&self, _: HostId) -> &[HostId] {
        &[]
    }
    fn global(&self) -> &[MacroDef] {
        &[]
    }
}

/// A value per minute, and a trend per hour, without an end.
struct Endless {
    value_type: ValueType,
    text: String,
}

impl Endless {
    fn value(&self, minute: u32) -> HistoryValue {
        let number = minute % 7 + 1;
        let log = || {
            let meta = LogMeta { timestamp: 1, source: "s".into(), severity: 4, eventid: 1 };
            SampleValue::Log(Box::new((self.text.as_str().into(), meta)))
        };
        let value = match self.value_type {
            ValueType::Float => SampleValue::Float(f64::from(number) + 0.5),
            ValueType::Unsigned => SampleValue::Unsigned(number.into()),
            ValueType::Log => log(),
            _ => SampleValue::Text(self.text.as_str().into()),
        };
        HistoryValue { at: Timestamp::from_s(minute * 60), value }
    }
}

impl HistoryView for Endless {
    fn last_n(
        &mut self,
        _: ItemId,
        n: usize,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        let newest = till.clock / 60;
        Ok((0..u32::try_from(n).unwrap()).map(|back| self.value(newest - back)).collect())
    }
    fn range(
        &mut self,
        _: ItemId,
        after: Timestamp,
        till: Timestamp,
    ) -> Result<Vec<HistoryValue>, String> {
        let minutes = after.clock / 60 + 1..=till.clock / 60;
        Ok(minutes.rev().map(|minute| self.value(minute)).collect())
    }
    fn trends(&mut self, _: ItemId, first: u32, last: u32) -> Result<Vec<Trend>, String> {
        let hours = (first..=last).step_by(3600);
        let values = TrendValues::Float { min: 1.0, avg: 2.0, max: 3.0 };
        Ok(hours.map(|hour| Trend { item: ItemId(1), hour, num: 60, values }).collect())
    }
}

struct World<'a> {
    scope: MacroScope<'a>,
    /// Types of values by key, LLD macros in the key resolved.
    types: BTreeMap<String, Option<ValueType>>,
    text: String,
    /// Names of functions that gave a value.
    seen: &'a mut BTreeSet<String>,
}

const ENV: FunctionEnv<'static> = FunctionEnv { tz: &TimeZone::UTC };

impl Operands for World<'_> {
    fn function(&mut self, id: u64) -> Result<ExprValue, String> {
        Err(format!("no function {id}"))
    }

    fn item_call(&mut self, call: &ItemCall) -> Result<ExprValue, String> {
        let failed = |error: String| format!("{call}: {error}");
        let mut params = call.params.clone();
        for param in &mut params {
            param.value = eval::macros::substitute_user(&param.value, &self.scope, &ENV);
            if param.value.contains("{$") {
                "5m".clone_into(&mut param.value);
            }
        }
        self.seen.insert(call.function.clone());
        let function =
            func::parse_call(&call.function, &params).map_err(|e| failed(e.to_string()))?;
        let foreach = func::foreach_base(&call.function).is_some();
        let known = self.types.get(&call.query.key).copied().flatten();
        let known = known.or(foreach.then_some(ValueType::Float));
        let value_type = known.ok_or_else(|| failed("no such item".to_owned()))?;
        let item = Item { id: ItemId(1), value_type, expected_from: 0, enabled: true };
        let mut history = Endless { value_type, text: self.text.clone() };
        let globals = GlobalRegexes::default();
        let moment =
            Moment { now: Timestamp::from_s(NOW_S), tz: &TimeZone::UTC, globals: &globals };
        let value = if foreach {
            function.eval_foreach(&[item, item], None, &mut history, &moment)
        } else {
            function.eval(&item, &mut history, &moment)
        };
        value.map_err(|e| failed(e.to_string()))
    }

    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String> {
        if token == "{TRIGGER.VALUE}" {
            return Ok(ExprValue::Unsigned(0));
        }
        let text = eval::macros::substitute_user(token, &self.scope, &ENV);
        // Some are for people to set.
        let unset = text == token || text.is_empty();
        Ok(ExprValue::Text(if unset { "1".to_owned() } else { text }))
    }

    fn text(&mut self, text: &str) -> Result<String, String> {
        Ok(eval::macros::substitute_user(text, &self.scope, &ENV))
    }

    fn now(&self) -> Timestamp {
        Timestamp::from_s(NOW_S)
    }

    fn tz(&self) -> &TimeZone {
        const { &TimeZone::UTC }
    }
}

/// Every LLD macro of a text has the value 1.
fn row(text: &str) -> Row {
    let mut names: Vec<String> = Vec::new();
    for (at, _) in text.match_indices("{#") {
        let len = text[at..].find('}').map_or(0, |len| len + 1);
        names.push(text[at..at + len].to_owned());
    }
    Row::new(names.into_iter().map(|name| (name, "1".to_owned())).collect())
}

/// A document in which the expression's paths find something; other texts are 1.
fn document(expression: &Expression) -> String {
    let mut text = "1".to_owned();
    expression.root.walk(&mut |node| {
        if let NodeKind::Call { function, args } = &node.kind
            && function == "jsonpath"
            && let Some(NodeKind::Text(path)) = args.get(1).map(|arg| &arg.kind)
        {
            let names = path.trim_start_matches("$.").split('.');
            let open: String = names.clone().map(|name| format!("{{\"{name}\":")).collect();
            text = format!("{open}1{}", "}".repeat(names.count()));
        }
    });
    text
}

/// Without white space, but for that in quotes: what is printed may differ in it.
fn squeezed(text: &str) -> String {
    let mut quoted = false;
    let mut out = String::new();
    for c in text.chars() {
        quoted ^= c == '"';
        if quoted || !c.is_ascii_whitespace() {
            out.push(c);
        }
    }
    out
}

#[derive(Default)]
struct Tally {
    read: usize,
    same_text: usize,
    evaluated: usize,
    functions: BTreeSet<String>,
    wrong: Vec<String>,
}

impl Tally {
    /// Reads, prints and evaluates one expression of a template.
    fn take(&mut self, family: &[&Template], host: &str, written: &str, mode: Mode) {
        let expression = match Expression::parse(written) {
            Ok(expression) => expression,
            Err(error) => return self.wrong.push(format!("{host}: {written}: {error}")),
        };
        self.read += 1;
        let printed = expression.to_string();
        self.same_text += usize::from(printed == written);
        let again = Expression::parse(&printed).map(|again| again.to_string());
        if squeezed(&printed) != squeezed(written) || again.as_ref() != Ok(&printed) {
            self.wrong.push(format!("{host}: {written} is printed as {printed}"));
        }
        let real = Expression::parse(&substitute_expression(written, &row(written), &ENV)).unwrap();
        let pairs = real.item_calls().into_iter().zip(expression.item_calls());
        let types = pairs.map(|(real, call)| {
            let kind = family.iter().find_map(|t| t.types.get(&call.query.key).copied());
            (real.query.key.clone(), kind)
        });
        let types = types.collect();
        let macros = Macros(family.iter().flat_map(|t| t.macros.clone()).collect());
        let scope = MacroScope { nodes: &macros, hosts: &[HostId(1)] };
        let text = document(&real);
        let seen = &mut self.functions;
        let mut world = World { scope, types, text, seen };
        match eval::expr::eval(&real, &mut world, mode) {
            Ok(_) => self.evaluated += 1,
            Err(error) => self.wrong.push(format!("{host}: {written}: {error}")),
        }
        self.functions.extend(real.functions().into_iter().map(str::to_owned));
    }

    fn done(self, least: usize, functions: usize) {
        assert!(self.wrong.is_empty(), "{}:\n{}", self.wrong.len(), self.wrong.join("\n"));
        assert!(self.read >= least && self.evaluated == self.read, "{} read", self.read);
        // The others differ in spaces alone.
        assert!(self.same_text * 2 > self.read, "{} of {}", self.same_text, self.read);
        assert!(self.functions.len() >= functions, "{:?}", self.functions);
    }
}

#[test]
fn triggers_have_values() {
    let templates = all();
    let mut tally = Tally::default();
    for (host, template) in &templates {
        let mut family = Vec::new();
        lineage(&templates, host, &mut family);
        for text in template.triggers.iter().flat_map(|trigger| &trigger.expressions) {
            tally.take(&family, host, text, Mode::UnknownOperands);
        }
    }
    tally.done(5_000, 15);
}

#[test]
fn calculated_items_have_values() {
    let templates = all();
    let mut tally = Tally::default();
    for (host, template) in &templates {
        let mut family = Vec::new();
        lineage(&templates, host, &mut family);
        for text in &template.formulas {
            tally.take(&family, host, text, Mode::Strict);
        }
    }
    tally.done(180, 3);
}

/// Expression macros of a text, those within functions too.
fn formulas<'t>(token: &Token<'t>, found: &mut Vec<&'t str>) {
    match &token.kind {
        TokenKind::Expression(text) => found.push(text),
        TokenKind::Function { inner, .. } => formulas(inner, found),
        _ => {}
    }
}

#[test]
fn expression_macros_have_values() {
    let templates = all();
    let mut tally = Tally::default();
    for (host, template) in &templates {
        let mut family = Vec::new();
        lineage(&templates, host, &mut family);
        for text in template.triggers.iter().flat_map(|trigger| &trigger.texts) {
            let mut found = Vec::new();
            tokens(text).for_each(|token| formulas(&token, &mut found));
            for formula in found {
                tally.take(&family, host, formula, Mode::Strict);
            }
            // All of them are seen, and none stays when LLD macros have values.
            assert_eq!(text.matches("{?").count(), tokens_with(text), "{text}");
        }
    }
    tally.done(10, 1);
}

fn tokens_with(text: &str) -> usize {
    let mut found = Vec::new();
    tokens(text).for_each(|token| formulas(&token, &mut found));
    found.len()
}

#[test]
fn parameters_of_all_functions_can_be_compiled() {
    let templates = all();
    let mut calls = BTreeSet::new();
    for template in templates.values() {
        for text in template.triggers.iter().flat_map(|trigger| &trigger.expressions) {
            let expression = Expression::parse(text).unwrap();
            for call in expression.item_calls() {
                let plain = |value: &str| !value.contains('{');
                if call.params.iter().all(|param| plain(&param.value)) {
                    let stored = call.stored_params(text);
                    let params = eval::expr::parse_history_params(&stored).unwrap();
                    let values = |params: &[eval::expr::HistoryParam]| -> Vec<String> {
                        params.iter().map(|p| p.value.clone()).collect()
                    };
                    assert_eq!(values(&params), values(&call.params), "{stored}");
                    Function::parse(&call.function, &params).unwrap();
                    calls.insert((call.function.clone(), stored));
                }
            }
        }
    }
    assert!(calls.len() > 60, "only {} different calls", calls.len());
}
