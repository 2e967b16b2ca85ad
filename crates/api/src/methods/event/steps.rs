//! Events by steps of time and severity: `event.get` with `groupBy: ["clock", "severity"]` and `step`,
//! which is ours. Charts need numbers of events, not the events.

use serde_json::json;

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::object::missing;
use crate::params;

/// Steps of one response.
const STEPS_MAX: i64 = 1_000;

/// Steps of equal length.
pub(super) struct Steps {
    /// Unix time at which the first one starts.
    from: i64,
    /// Length in seconds.
    step_s: i64,
}

/// `None` without `step`. The time range must be given: it bounds what is counted, and its start is that
/// of the first step.
pub(super) fn parse(input: &Json) -> ApiResult<Option<Steps>> {
    let given = |name: &str| input.get(name).filter(|value| !value.is_null());
    if given("step").is_none() {
        return Ok(None);
    }
    let fields = given("groupBy").map(params::list).unwrap_or_default();
    if fields.into_iter().map(Json::as_str).ne([Some("clock"), Some("severity")]) {
        let error = "value must be [\"clock\", \"severity\"] with the parameter \"step\"";
        return Err(ApiError::at("/groupBy", error));
    }
    let number = |name: &str| match given(name) {
        Some(value) => params::int(value, &format!("/{name}")),
        None => Err(missing("/", name)),
    };
    let (from, till, step_s) = (number("time_from")?, number("time_till")?, number("step")?);
    if step_s < 1 {
        return Err(ApiError::at("/step", "value must be one of 1-2147483647"));
    }
    if till.saturating_sub(from) / step_s >= STEPS_MAX {
        let error = format!("the time range has more than {STEPS_MAX} steps");
        return Err(ApiError::at("/step", error));
    }
    Ok(Some(Steps { from, step_s }))
}

impl Steps {
    /// `[{clock, severity, rowscount}]` of the groups that have events; `clock` is the start of a step.
    pub(super) fn count(&self, call: &Call<'_>, get: Get<'_, '_>) -> ApiResult<Json> {
        let (condition, values) = get.condition()?;
        let rows = call.rows(&self.statement(&condition), &values)?;
        let Self { from, step_s } = self;
        let counts = rows.iter().map(|row| {
            json!({
                "clock": from.saturating_add(row.int("step").saturating_mul(*step_s)).to_string(),
                "severity": row.int("severity").to_string(),
                "rowscount": row.int("n").to_string(),
            })
        });
        Ok(counts.collect())
    }

    fn statement(&self, condition: &str) -> String {
        let step = format!("(t.clock - {}) / {}", self.from, self.step_s);
        format!(
            "SELECT {step} AS step, t.severity AS severity, COUNT(*) AS n FROM events t \
             WHERE {condition} GROUP BY {step}, t.severity ORDER BY {step}, t.severity"
        )
    }
}

#[cfg(test)]
mod tests;
