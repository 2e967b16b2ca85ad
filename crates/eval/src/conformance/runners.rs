//! One runner per file of cases.

use objects::MappingType;

use crate::expr::{ExprValue, Expression, ItemCall, Mode, Operands};
use crate::key::ItemKey;
use crate::lld;
use crate::macros::{FunctionEnv, MacroDef, MacroScope, UserMacro};
use crate::preproc::{self, Outcome, Remembered, State, Step};
use crate::recorded::Nodes;
use crate::script::Scripts;
use crate::units::Mapping;
use jiff::tz::TimeZone;
use model::{HostId, Payload, Timestamp, ValueType};
use serde_json::Value;

use super::{Checked, canonical, check, functions, moment, sorted, text, times, zone};

/// Runs one case.
type Runner = fn(&Value) -> Checked;

/// A file without its extension, and what runs a case of it.
pub(super) const RUNNERS: &[(&str, Runner)] = &[
    ("allowed_peers", allowed_peers),
    ("csv_to_json", csv_to_json),
    ("date_functions", times::date_functions),
    ("expressions", expressions),
    ("history_functions", functions::history_functions),
    ("item_delay", times::item_delay),
    ("item_key", item_key),
    ("item_nextcheck", times::item_nextcheck),
    ("jsonpath", jsonpath),
    ("lld_trigger_macros", lld_trigger_macros),
    ("macro_functions", macro_functions),
    ("maintenance_period", times::maintenance_period),
    ("maintenance", times::maintenance),
    ("preprocessing", preprocessing),
    ("prometheus_pattern", prometheus_pattern),
    ("prometheus_to_json", prometheus_to_json),
    ("scheduled", times::scheduled),
    ("sla", times::sla),
    ("time_period", times::time_period),
    ("time_shift", times::time_shift),
    ("trend_range", functions::trend_range),
    ("trend_rows", times::trend_rows),
    ("update_interval", times::update_interval),
    ("user_macros", user_macros),
    ("value_format", value_format),
    ("xpath", xpath),
];

pub(super) fn wanted<T: PartialEq + std::fmt::Debug>(wanted: T, got: T) -> Checked {
    if wanted == got { Ok(()) } else { Err(format!("wanted {wanted:?}, got {got:?}")) }
}

fn allowed_peers(case: &Value) -> Checked {
    let peers = crate::peers::AllowedPeers::parse(text(case, "allowed"));
    let allowed = match (peers, text(case, "peer").parse()) {
        (Ok(peers), Ok(peer)) => peers.allows(peer),
        _ => false,
    };
    wanted(case["expect"]["allowed"].as_bool().unwrap(), allowed)
}

fn csv_to_json(case: &Value) -> Checked {
    let step = Step::from_api(24, text(case, "params"), 0, "").unwrap();
    check(case, run_step(&step, text(case, "csv")))
}

fn run_step(step: &Step, value: &str) -> Result<String, String> {
    let mut scripts = Scripts::new(stdx::clock::RealClock::shared());
    let payload = Payload::Text(value.into());
    let at = Timestamp::from_s(1);
    let steps = std::slice::from_ref(step);
    let outcome =
        preproc::run(steps, &mut State::default(), payload, at, ValueType::Text, &mut scripts);
    match outcome {
        Outcome::Value(value) => Ok(functions::payload_text(&value)),
        Outcome::Discarded => Err("discarded".to_owned()),
        Outcome::NotSupported(error) => Err(error.into()),
    }
}

/// Operands of an expression without items.
pub(super) struct Fixed<'a> {
    pub(super) macros: &'a Value,
    pub(super) now: Timestamp,
    pub(super) tz: TimeZone,
}

impl Fixed<'_> {
    fn get(&self, token: &str) -> Result<ExprValue, String> {
        let found = &self.macros[token];
        match found["value"].as_str() {
            Some(value) => Ok(ExprValue::Text(value.to_owned())),
            None => Err(found["error"].as_str().unwrap_or("unknown macro").to_owned()),
        }
    }
}

impl Operands for Fixed<'_> {
    fn function(&mut self, id: u64) -> Result<ExprValue, String> {
        self.get(&format!("{{{id}}}"))
    }
    fn item_call(&mut self, _: &ItemCall) -> Result<ExprValue, String> {
        Err("there are no items here".to_owned())
    }
    fn macro_value(&mut self, token: &str) -> Result<ExprValue, String> {
        self.get(token)
    }
    fn now(&self) -> Timestamp {
        self.now
    }
    fn tz(&self) -> &TimeZone {
        &self.tz
    }
}

fn expressions(case: &Value) -> Checked {
    let now = case["time"].as_str().map_or_else(|| Timestamp::from_s(1_600_000_000), moment);
    let mut operands = Fixed { macros: &case["macros"], now, tz: zone(case) };
    let mode =
        if text(case, "mode") == "unknown_operands" { Mode::UnknownOperands } else { Mode::Strict };
    let got = Expression::parse(text(case, "expression"))
        .map_err(|e| e.to_string())
        .and_then(|e| crate::expr::eval(&e, &mut operands, mode).map_err(|e| e.to_string()))
        .and_then(|v| v.as_text().ok_or_else(|| "a vector".to_owned()));
    check(case, got)
}

fn item_key(case: &Value) -> Checked {
    let key = text(case, "key");
    let expect = &case["expect"];
    match ItemKey::parse_prefix(key) {
        Err(_) => wanted(expect["valid"].as_bool(), Some(false)),
        Ok((_, len)) => {
            wanted(expect["valid"].as_bool(), Some(true))?;
            wanted((text(expect, "parsed"), text(expect, "rest")), (&key[..len], &key[len..]))
        }
    }
}

fn jsonpath(case: &Value) -> Checked {
    let got = crate::jsonpath::query(text(case, "document"), text(case, "path"));
    let expect = &case["expect"];
    if expect["error"].as_bool() == Some(true) {
        return if got.is_err() { Ok(()) } else { Err(format!("wanted an error, got {got:?}")) };
    }
    let got = got.map_err(|e| e.to_string())?;
    if expect["no_match"].as_bool() == Some(true) {
        return wanted(None, got);
    }
    let got = got.ok_or("nothing found")?;
    if let Some(text) = expect["text"].as_str() {
        return wanted(text, &got);
    }
    let parsed: Value = serde_json::from_str(&got).map_err(|e| e.to_string())?;
    if text(case, "compare") == "json_unordered_array" {
        return wanted(sorted(&expect["json"].to_string()), sorted(&got));
    }
    wanted(canonical(&expect["json"]), canonical(&parsed))
}

fn lld_trigger_macros(case: &Value) -> Checked {
    let paths: Vec<lld::MacroPath> = case["lld_macro_paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| lld::MacroPath::parse(text(p, "macro"), text(p, "path")).unwrap())
        .collect();
    let document = format!("[{}]", case["lld_row"]);
    let rows = lld::parse_rows(&document, &paths).map_err(|e| e.to_string())?;
    let env = FunctionEnv { tz: &TimeZone::UTC };
    let got = lld::substitute_expression(text(case, "expression"), &rows[0], &env);
    wanted(text(&case["expect"], "expression"), &got)
}

fn macro_functions(case: &Value) -> Checked {
    let params = match case["params"].as_array() {
        Some(list) => {
            let quoted = |v: &Value| format!("\"{}\"", v.as_str().unwrap().replace('"', "\\\""));
            list.iter().map(quoted).collect::<Vec<_>>().join(",")
        }
        None => text(case, "params_raw").to_owned(),
    };
    let tz = zone(case);
    let env = FunctionEnv { tz: &tz };
    let got = crate::macros::apply(text(case, "function"), &params, text(case, "input"), &env);
    check(case, got.map_err(|e| e.to_string()))
}

fn preprocessing(case: &Value) -> Checked {
    let step = &case["step"];
    let number = |v: &Value| u8::try_from(v.as_u64().unwrap()).unwrap();
    let step = Step::from_api(
        number(&step["type"]),
        text(step, "params"),
        number(&step["error_handler"]),
        text(step, "error_handler_params"),
    )
    .map_err(|e| e.to_string())?;
    let value_type = ValueType::from_api(number(&case["value_type"])).unwrap();
    let mut state = State::default();
    if let Some(last) = case.get("history") {
        let value = Payload::Text(text(last, "value").into());
        let at = moment(text(last, "time"));
        state = State::from_remembered(vec![Remembered { step: 0, value, at }]);
    }
    let input = match case["input_error"].as_str() {
        Some(error) => Payload::NotSupported(error.into()),
        None => Payload::Text(text(case, "value").into()),
    };
    let mut scripts = Scripts::new(stdx::clock::RealClock::shared());
    let at = moment(text(case, "time"));
    let outcome = preproc::run(&[step], &mut state, input, at, value_type, &mut scripts);
    let expect = &case["expect"];
    match outcome {
        Outcome::Discarded => wanted(expect["discarded"].as_bool(), Some(true))?,
        _ if expect["discarded"].as_bool() == Some(true) => {
            return Err(format!("wanted nothing, got {outcome:?}"));
        }
        Outcome::Value(value) => check(case, Ok(functions::payload_text(&value)))?,
        Outcome::NotSupported(error) => check(case, Err(error.into()))?,
    }
    if let Some(kept) = expect.get("history") {
        let remembered = state.remembered().first().ok_or("nothing is remembered")?;
        let value = functions::payload_text(&remembered.value);
        wanted((text(kept, "value"), moment(text(kept, "time"))), (&value, remembered.at))?;
    }
    Ok(())
}

fn prometheus_pattern(case: &Value) -> Checked {
    let got = preproc::prometheus_pattern(
        text(case, "data"),
        text(case, "pattern"),
        text(case, "request"),
        text(case, "label"),
    );
    check(case, got.map_err(|e| e.to_string()))
}

fn prometheus_to_json(case: &Value) -> Checked {
    let got = preproc::prometheus_to_json(text(case, "data"), text(case, "pattern"));
    match (case["expect"].get("json"), got) {
        (None, Err(_)) => Ok(()),
        (None, Ok(value)) => Err(format!("wanted an error, got {value}")),
        (Some(json), got) => {
            let got = got.map_err(|e| e.to_string())?;
            wanted(canonical(json), canonical(&serde_json::from_str(&got).unwrap()))
        }
    }
}

fn user_macros(case: &Value) -> Checked {
    let ids = |v: &Value| -> Vec<HostId> {
        v.as_array().unwrap().iter().map(|v| HostId(v.as_u64().unwrap())).collect()
    };
    let node = |n: &Value| {
        let macros = n["macros"].as_object().unwrap();
        let defs = macros.iter().map(|(m, v)| MacroDef::text(m, v.as_str().unwrap()).unwrap());
        (n["node"].as_u64().unwrap(), defs.collect(), ids(&n["templates"]))
    };
    let nodes = Nodes(case["config"].as_array().unwrap().iter().map(node).collect());
    let hosts = ids(&case["nodes"]);
    let scope = MacroScope { nodes: &nodes, hosts: &hosts };
    let found = scope.resolve(&UserMacro::parse(text(case, "macro")).unwrap());
    wanted(case["expect"]["value"].as_str(), found.map(|d| d.value.as_str()))
}

fn value_format(case: &Value) -> Checked {
    let number = |v: &Value| u8::try_from(v.as_u64().unwrap()).unwrap();
    let rows = case["valuemap"].as_array().cloned().unwrap_or_default();
    let map: Vec<Mapping> = rows
        .iter()
        .map(|row| Mapping {
            kind: MappingType::from_number(row["type"].as_i64().unwrap()).unwrap(),
            value: text(row, "value").to_owned(),
            newvalue: text(row, "newvalue").to_owned(),
        })
        .collect();
    let value_type = ValueType::from_api(number(&case["value_type"])).unwrap();
    let (value, units) = (text(case, "value"), text(case, "units"));
    let got = crate::units::format_value(value, value_type, units, &map, &zone(case));
    wanted(text(&case["expect"], "text"), &got)
}

fn xpath(case: &Value) -> Checked {
    let got = crate::xpath::query(text(case, "document"), text(case, "xpath"));
    check(case, got.map_err(|e| e.to_string()))
}
