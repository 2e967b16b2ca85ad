//! The catalogs of kinds as constants of TypeScript, for the UI.

use std::fmt::{Debug, Write};

use objects::{
    AlertStatus, AlertType, ConditionKind, ConditionOperator, CorrelationMode, Discover,
    DiscoveryCheckType, DiscoveryState, EmailProvider, EvalType, EventSource, InterfaceNeed,
    InterfaceType, ItemType, MacroOperator, MacroType, MaintenanceType, MapElementType,
    MapLabelType, MappingType, MediaTypeKind, MessageFormat, OnFail, OperationKind, OperationMode,
    Origin, Param, ParamRule, Params, PeriodType, ProblemMode, RecoveryMode, Severity,
    SmtpAuthentication, SmtpSecurity, State, Status, StepKind, ValueType, Withholding,
};
use serde_json::json;

use crate::call::Json;

/// Types and constants, each list in the order in which forms offer its entries.
pub(super) fn catalogs(out: &mut String) {
    out.push_str(TYPES);
    constant(out, "ITEM_TYPES: readonly ItemTypeInfo[]", ItemType::OFFERED.map(item_type));
    let value_type = |kind: ValueType| json!([kind.text(), kind.label()]);
    constant(out, "VALUE_TYPES: readonly Choice[]", ValueType::OFFERED.map(value_type));
    let severities = Severity::ALL.iter().map(|severity| json!(severity.label()));
    constant(out, "SEVERITY_NAMES", severities);
    let steps = StepKind::OFFERED
        .iter()
        .flat_map(|(group, kinds)| kinds.iter().map(|kind| step_kind(group, *kind)));
    constant(out, "STEP_KINDS: readonly StepKind[]", steps);
    let on_fail = OnFail::ALL.iter().map(|kind| json!([kind.text(), kind.label()]));
    constant(out, "ON_FAIL: readonly Choice[]", on_fail);
    named_kinds(out);
}

/// Catalogs whose values the UI compares: the API's number of each kind by the kind's name.
fn named_kinds(out: &mut String) {
    macro_rules! named {
        ($($catalog:ident),+ $(,)?) => {
            $(named(out, stringify!($catalog), $catalog::ALL, |kind| kind.number());)+
        };
    }
    named!(
        AlertStatus,
        AlertType,
        ConditionKind,
        ConditionOperator,
        CorrelationMode,
        Discover,
        DiscoveryCheckType,
        DiscoveryState,
        EmailProvider,
        EvalType,
        EventSource,
        InterfaceType,
        MacroOperator,
        MacroType,
        MaintenanceType,
        MapElementType,
        MapLabelType,
        MappingType,
        MediaTypeKind,
        MessageFormat,
        OnFail,
        OperationKind,
        OperationMode,
        Origin,
        PeriodType,
        ProblemMode,
        RecoveryMode,
        SmtpAuthentication,
        SmtpSecurity,
        State,
        Status,
        ValueType,
        Withholding,
    );
    named(out, "ItemType", &ItemType::OFFERED, |kind| kind.number());
}

fn named<T: Copy + Debug>(out: &mut String, name: &str, kinds: &[T], number: fn(T) -> i64) {
    let _ = writeln!(out, "\nexport const {name} = {{");
    for kind in kinds {
        let _ = writeln!(out, "  {kind:?}: \"{}\",", number(*kind));
    }
    out.push_str("} as const;\n");
}

const TYPES: &str = r"
/** A value of a field, and its name for people. */
export type Choice = readonly [value: string, label: string];

/** A type of items. */
export interface ItemTypeInfo {
  type: string;
  label: string;
  /** Type of the host interface that its items need; -1 any, 0 none. */
  interface: number;
  /** Its items have an update interval. */
  interval: boolean;
}

/** A parameter of a preprocessing step. */
export interface StepParam {
  label: string;
  placeholder?: string;
  multiline?: boolean;
  choices?: readonly Choice[];
  optional?: boolean;
}

/** A kind of preprocessing step. Parameters are joined by line breaks. */
export interface StepKind {
  type: string;
  label: string;
  group: string;
  params: readonly StepParam[];
  /** There is no choice of what happens when it fails. */
  neverFails?: boolean;
  /** Discovery rules can have it. */
  forRules?: boolean;
}
";

fn constant(out: &mut String, declaration: &str, entries: impl IntoIterator<Item = Json>) {
    let _ = writeln!(out, "\nexport const {declaration} = [");
    for entry in entries {
        let _ = writeln!(out, "  {entry},");
    }
    out.push_str("] as const;\n");
}

fn item_type(kind: ItemType) -> Json {
    let interface = match kind.interface() {
        InterfaceNeed::None => 0,
        InterfaceNeed::Any => -1,
        InterfaceNeed::Of(interface) => interface.number(),
    };
    let info = kind.info();
    json!({
        "type": info.number,
        "label": info.label,
        "interface": interface,
        "interval": kind.is_at_intervals(),
    })
}

fn step_kind(group: &str, kind: StepKind) -> Json {
    let params: Vec<Json> = match kind.params() {
        Params::None => Vec::new(),
        Params::Text(param) => vec![step_param(&param)],
        Params::Lines(params, _) => params.iter().map(step_param).collect(),
        Params::Rows(label, _) => vec![json!({ "label": label, "multiline": true })],
    };
    let mut out =
        json!({ "type": kind.text(), "label": kind.label(), "group": group, "params": params });
    flag(&mut out, "neverFails", kind.is_without_handler());
    flag(&mut out, "forRules", kind.is_for_rules());
    out
}

fn step_param(param: &Param) -> Json {
    let mut out = json!({ "label": param.label });
    if !param.example.is_empty() {
        out["placeholder"] = param.example.into();
    }
    if !param.choices().is_empty() {
        out["choices"] = json!(param.choices());
    }
    flag(&mut out, "multiline", param.rule == ParamRule::Script);
    flag(&mut out, "optional", param.is_optional());
    out
}

fn flag(of: &mut Json, name: &str, is_set: bool) {
    if is_set {
        of[name] = true.into();
    }
}
