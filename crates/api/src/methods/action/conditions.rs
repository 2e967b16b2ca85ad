//! Conditions of actions, as clients give them.

use config::Edit;
use config::db::Value;
use config::table;
use eval::ranges::{AddressRanges, numbers};
use objects::{
    ConditionKind, ConditionOperator, DiscoveryCheckType, DiscoveryState, EvalType, EventSource,
    Severity,
};
use serde_json::Map;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::formula::{self, letters};
use crate::methods::service::{Need as SeeService, access};
use crate::methods::user::is_period;
use crate::object::missing;
use crate::params::{self, one_of};
use crate::permission::{Need, on_hosts};
use crate::write::{Target, nested, only};

/// Characters of a condition's value.
const VALUE_MAX: usize = 255;
/// What became unsupported or unknown: item, discovery rule, trigger.
const INTERNAL_EVENTS: &[i64] = &[0, 2, 4];
/// Seconds of the condition on how long something is up or down.
const UPTIME_MAX_S: i64 = 2_592_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Condition {
    kind: ConditionKind,
    operator: ConditionOperator,
    value: String,
    /// Name of the tag whose value is compared.
    value2: String,
    id: String,
}

/// A filter as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) evaltype: EvalType,
    pub(super) formula: String,
    conditions: Vec<Condition>,
}

impl Filter {
    /// Reads a filter; conditions come in the order in which they are shown, with letters.
    pub(super) fn parse(value: &Json, path: &str, source: EventSource) -> ApiResult<Self> {
        let Json::Object(members) = value else {
            return Err(ApiError::at(path, "an array is expected"));
        };
        let at = |name: &str| format!("{path}/{name}");
        let evaltype = members.get("evaltype").ok_or_else(|| missing(path, "evaltype"))?;
        let evaltype = EvalType::from_number(params::int(evaltype, &at("evaltype"))?)
            .ok_or_else(|| one_of(&at("evaltype"), EvalType::NUMBERS.iter().copied()))?;
        let by_formula = evaltype == EvalType::Formula;
        let known: &[&str] = &["evaltype", "conditions", "formula"];
        only(members, path, if by_formula { known } else { &known[..2] })?;
        let formula = match by_formula {
            true => Some(members.get("formula").ok_or_else(|| missing(path, "formula"))?),
            false => None,
        };
        let list = members.get("conditions").map(|v| nested(v, &at("conditions"))).transpose()?;
        let mut conditions = Vec::new();
        for (path, members) in list.unwrap_or_default() {
            conditions.push(Condition::parse(members, &path, source, by_formula)?);
        }
        if let Some(formula) = formula {
            let formula = params::text(formula, &at("formula"))?;
            return Self::by_formula(&formula, conditions, path);
        }
        let rank = |kind| ConditionKind::of(source).iter().position(|known| *known == kind);
        conditions.sort_by(|a, b| {
            let numbers = (a.value.parse::<u64>(), b.value.parse::<u64>());
            let values = match numbers {
                (Ok(a), Ok(b)) => a.cmp(&b),
                _ => a.value.cmp(&b.value),
            };
            let names = a.value2.cmp(&b.value2);
            (rank(a.kind), a.operator).cmp(&(rank(b.kind), b.operator)).then(names).then(values)
        });
        for (n, condition) in conditions.iter_mut().enumerate() {
            condition.id = letters(n);
        }
        Ok(Self { evaltype, formula: String::new(), conditions })
    }

    /// The letters are assigned again, in the order in which the formula names them.
    fn by_formula(formula: &str, conditions: Vec<Condition>, path: &str) -> ApiResult<Self> {
        let used = formula::names(formula, &format!("{path}/formula"))?;
        let given: Vec<&str> = conditions.iter().map(|condition| condition.id.as_str()).collect();
        let places = formula::places(&used, &given, path)?;
        let renamed = formula::renamed(formula, &used);
        let mut ordered: Vec<(usize, Condition)> = places.into_iter().zip(conditions).collect();
        ordered.sort_by_key(|(place, _)| *place);
        let lettered = |(place, condition)| Condition { id: letters(place), ..condition };
        let conditions = ordered.into_iter().map(lettered).collect();
        Ok(Self { evaltype: EvalType::Formula, formula: renamed, conditions })
    }

    /// Refuses conditions on what is not there, or not for this user.
    pub(super) fn check(&self, call: &Call<'_>, edit: &mut Edit<'_>) -> ApiResult<()> {
        for condition in &self.conditions {
            let id: u64 = condition.value.parse().unwrap_or(0);
            let (exists, what, name) = match condition.kind {
                ConditionKind::HostGroup => {
                    let allowed = call.allowed(edit, Target::HostGroup, Need::Read, &[id])?;
                    (!allowed.is_empty(), "condition or operation host group", "Host group")
                }
                ConditionKind::Host => {
                    let allowed = call.allowed(edit, Target::Host, Need::Read, &[id])?;
                    (!allowed.is_empty(), "condition or operation host", "Host")
                }
                ConditionKind::Template => {
                    let allowed = call.allowed(edit, Target::Template, Need::Read, &[id])?;
                    (!allowed.is_empty(), "condition or operation template", "Template")
                }
                ConditionKind::Trigger => {
                    (has_trigger(call, edit, id)?, "condition trigger", "Trigger")
                }
                ConditionKind::DiscoveryRule => {
                    let sql = "SELECT druleid FROM drules WHERE druleid = ?";
                    let found = !edit.query(sql, &[id.into()])?.is_empty();
                    (found, "condition discovery rule", "Discovery rule")
                }
                ConditionKind::DiscoveryCheck => {
                    let sql = "SELECT dcheckid FROM dchecks WHERE dcheckid = ?";
                    let found = !edit.query(sql, &[id.into()])?.is_empty();
                    (found, "condition discovery check", "Discovery check")
                }
                ConditionKind::Proxy => {
                    let sql = "SELECT proxyid FROM proxies WHERE proxyid = ?";
                    let found = !edit.query(sql, &[id.into()])?.is_empty();
                    (found, "condition proxy", "Proxy")
                }
                ConditionKind::Service => {
                    let seen = access(call).among(edit, SeeService::Read, &[id])?;
                    (!seen.is_empty(), "condition service", "Service")
                }
                _ => continue,
            };
            if !exists {
                return Err(no_access(what, name));
            }
        }
        Ok(())
    }

    /// Writes the conditions of an action again.
    pub(super) fn write(&self, edit: &mut Edit<'_>, action: u64) -> ApiResult<()> {
        edit.delete(&table::ACTION_CONDITIONS, "actionid", &[action])?;
        for (n, condition) in self.conditions.iter().enumerate() {
            let row = [
                ("actionid", Value::from(action)),
                ("sortorder", Value::from(n as u64)),
                ("conditiontype", condition.kind.number().into()),
                ("operator", condition.operator.number().into()),
                ("value", condition.value.as_str().into()),
                ("value2", condition.value2.as_str().into()),
                ("formulaid", condition.id.as_str().into()),
            ];
            edit.insert(&table::ACTION_CONDITIONS, &row)?;
        }
        Ok(())
    }
}

impl Condition {
    fn parse(
        members: &Map<String, Json>,
        path: &str,
        source: EventSource,
        by_formula: bool,
    ) -> ApiResult<Self> {
        let at = |name: &str| format!("{path}/{name}");
        let number = |name: &str| members.get(name).map(|v| params::int(v, &at(name))).transpose();
        let kind = number("conditiontype")?.ok_or_else(|| missing(path, "conditiontype"))?;
        let kinds = ConditionKind::of(source);
        let Some(kind) = kinds.iter().copied().find(|known| known.is(kind)) else {
            let mut all: Vec<i64> = kinds.iter().map(|kind| kind.number()).collect();
            if source != EventSource::Service {
                all.sort_unstable();
            }
            return Err(one_of(&at("conditiontype"), all.into_iter()));
        };
        let has_value = kind != ConditionKind::Suppressed;
        let has_name = kind == ConditionKind::TagValue;
        let known: Vec<&str> = [
            ("conditiontype", true),
            ("operator", true),
            ("value", has_value),
            ("value2", has_name),
            ("formulaid", by_formula),
        ]
        .into_iter()
        .filter_map(|(name, has)| has.then_some(name))
        .collect();
        only(members, path, &known)?;
        let operator = match number("operator")? {
            Some(operator) => operator,
            None if !has_value => return Err(missing(path, "operator")),
            None => 0,
        };
        let operators = kind.operators();
        let Some(operator) = operators.iter().copied().find(|known| known.is(operator)) else {
            return Err(one_of(&at("operator"), operators.iter().map(|known| known.number())));
        };
        let text = |name: &str, required: bool| match members.get(name) {
            None if required => Err(missing(path, name)),
            None => Ok(String::new()),
            Some(value) => {
                let value = params::text(value, &at(name))?;
                if value.chars().count() > VALUE_MAX {
                    return Err(ApiError::at(&at(name), "value is too long"));
                }
                Ok(value)
            }
        };
        let value = text("value", has_value && !has_name)?;
        let value2 = text("value2", has_name)?;
        if has_name && value2.is_empty() {
            return Err(ApiError::at(&at("value2"), "cannot be empty"));
        }
        check_value(kind, &value, &at("value"))?;
        let id = match (by_formula, members.get("formulaid")) {
            (true, Some(id)) => params::text(id, &at("formulaid"))?,
            (true, None) => return Err(missing(path, "formulaid")),
            (false, _) => String::new(),
        };
        Ok(Self { kind, operator, value, value2, id })
    }
}

/// What is not there, or not for this user.
pub(super) fn no_access(what: &str, name: &str) -> ApiError {
    ApiError::application(format!(
        "Incorrect action {what}. {name} does not exist or you have no access to it."
    ))
}

/// Whether the user may read a trigger: all of its hosts.
fn has_trigger(call: &Call<'_>, edit: &mut Edit<'_>, id: u64) -> ApiResult<bool> {
    let mut sql = "SELECT triggerid FROM triggers WHERE triggerid = ?".to_owned();
    if let Some(right) = on_hosts(call.user(), Need::Read, "i.hostid") {
        sql += &format!(
            " AND NOT EXISTS (SELECT 1 FROM functions f JOIN items i ON i.itemid = f.itemid \
             WHERE f.triggerid = triggers.triggerid AND NOT ({right}))"
        );
    }
    Ok(!edit.query(&sql, &[id.into()])?.is_empty())
}

fn check_value(kind: ConditionKind, value: &str, path: &str) -> ApiResult<()> {
    let number = || params::int(&Json::from(value), path);
    let among = |allowed: &[i64]| -> ApiResult<()> {
        if allowed.contains(&number()?) {
            Ok(())
        } else {
            Err(one_of(path, allowed.iter().copied()))
        }
    };
    match kind {
        ConditionKind::Address => {
            AddressRanges::parse(value).map(drop).map_err(|error| ApiError::at(path, error))
        }
        ConditionKind::ServiceType => among(DiscoveryCheckType::NUMBERS),
        ConditionKind::ServicePort if numbers(value, u16::MAX).is_some() => Ok(()),
        ConditionKind::ServicePort if value.parse::<u64>().is_ok() => {
            Err(ApiError::at(path, "value must be one of 0-65535"))
        }
        ConditionKind::ServicePort => Err(ApiError::at(path, "invalid range expression")),
        ConditionKind::DiscoveryState => among(DiscoveryState::NUMBERS),
        ConditionKind::Uptime if !(0..=UPTIME_MAX_S).contains(&number()?) => {
            Err(ApiError::at(path, format_args!("value must be one of 0-{UPTIME_MAX_S}")))
        }
        ConditionKind::HostGroup
        | ConditionKind::Host
        | ConditionKind::Trigger
        | ConditionKind::Template
        | ConditionKind::Service
        | ConditionKind::DiscoveryRule
        | ConditionKind::DiscoveryCheck
        | ConditionKind::Proxy => params::id(&Json::from(value), path).map(drop),
        ConditionKind::Severity => among(Severity::NUMBERS),
        ConditionKind::InternalEvent => among(INTERNAL_EVENTS),
        ConditionKind::TimePeriod if !is_period(value) => {
            Err(ApiError::at(path, "a time period is expected"))
        }
        ConditionKind::DiscoveryObject => {
            among(&EventSource::Discovery.objects().iter().map(|o| o.number()).collect::<Vec<_>>())
        }
        ConditionKind::AgentName
        | ConditionKind::AgentMetadata
        | ConditionKind::EventName
        | ConditionKind::ServiceName
        | ConditionKind::Tag
            if value.is_empty() =>
        {
            Err(ApiError::at(path, "cannot be empty"))
        }
        _ => Ok(()),
    }
}
