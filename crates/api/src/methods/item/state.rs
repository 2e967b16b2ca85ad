//! What the running server knows of items: newest values, whether they are supported.

use model::ItemId;

use super::fields::Kind;
use crate::call::{Call, Json};
use crate::get::{Found, Output};
use crate::live::ItemState;
use crate::methods::history::value_text;

/// Members of an item with its newest values.
pub(super) const VALUES: &[&str] = &["lastvalue", "lastclock", "lastns", "prevvalue", "prevclock"];

/// The states of these items, in their order.
pub(super) fn of(call: &Call<'_>, ids: &[u64]) -> Vec<ItemState> {
    call.api.deps.live.item_states(&ids.iter().copied().map(ItemId).collect::<Vec<_>>())
}

/// Adds state, newest values and the resolved name.
pub(super) fn show(found: &mut Found<'_, '_>, input: &Json, kind: Kind) {
    if kind == Kind::Prototype {
        return;
    }
    let output = found.output.clone();
    let given = input.get("output").is_some_and(|o| !o.is_null());
    let wants = |name: &str| output.has(name) && (given || output == Output::Extend);
    let values = kind == Kind::Item && VALUES.iter().any(|name| wants(name));
    let name = kind == Kind::Item && wants("name_resolved");
    if !values && !name && !wants("state") && !wants("error") {
        return;
    }
    let states = of(found.call, &found.ids());
    let snapshot = found.call.config().snapshot();
    for (row, state) in found.rows.iter_mut().zip(states) {
        let mut put = |name: &str, value: String| {
            if wants(name) {
                row.out.insert(name.to_owned(), Json::String(value));
            }
        };
        put("state", u8::from(!state.error.is_empty()).to_string());
        let text = if state.error.is_empty() { &state.warning } else { &state.error };
        put("error", text.clone());
        if name {
            let text = row.row.text("name");
            put("name_resolved", super::resolve_name(&snapshot, row.row.id("hostid"), text));
        }
        if !values {
            continue;
        }
        let none = if matches!(row.row.int("value_type"), 0 | 3) { "0" } else { "" };
        let clock = |sample: Option<&model::Sample>| sample.map_or(0, |s| s.at.clock).to_string();
        put("lastclock", clock(state.last.as_ref()));
        put("lastns", state.last.as_ref().map_or(0, |sample| sample.at.ns).to_string());
        let text = |sample: Option<&model::Sample>| {
            sample.map_or_else(|| none.to_owned(), |sample| value_text(&sample.value))
        };
        put("lastvalue", text(state.last.as_ref()));
        put("prevvalue", text(state.previous.as_ref()));
        if output != Output::Extend {
            put("prevclock", clock(state.previous.as_ref())); // 0: there is no value before
        }
    }
}
