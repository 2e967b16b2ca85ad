//! `expandExpression`, `expandDescription`, `expandComment`; `expandUrl` is ours: other front ends
//! resolve links themselves.

use std::collections::HashMap;

use config::db::query_by_ids;
use config::objects::replace_ids;
use eval::macros::Place;
use model::Timestamp;

use super::shown::Shown;
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::Found;
use crate::params;

/// A function call with the names that its text needs.
pub(super) struct Function {
    pub(super) id: u64,
    pub(super) itemid: u64,
    pub(super) hostid: u64,
    /// Technical name of the host.
    pub(super) host: String,
    /// Visible name of the host.
    pub(super) name: String,
    written: String,
}

/// Functions of triggers, by trigger.
struct Functions(HashMap<u64, Vec<Function>>);

impl Functions {
    fn load(call: &Call<'_>, triggers: &[u64]) -> ApiResult<Self> {
        let sql = "SELECT f.functionid, f.triggerid, f.itemid, f.name, f.parameter, i.key_, \
                   h.hostid, h.host, h.name AS host_name FROM functions f \
                   JOIN items i ON i.itemid = f.itemid JOIN hosts h ON h.hostid = i.hostid \
                   WHERE f.triggerid IN ({ids}) ORDER BY f.functionid";
        let rows = call.read(|c| Ok(query_by_ids(c, sql, &[], triggers)?))?;
        let mut all: HashMap<u64, Vec<Function>> = HashMap::new();
        for row in rows {
            let query = format!("/{}/{}", row.text("host"), row.text("key_"));
            let params = row.text("parameter").replacen('$', &query, 1);
            all.entry(row.id("triggerid")).or_default().push(Function {
                id: row.id("functionid"),
                itemid: row.id("itemid"),
                hostid: row.id("hostid"),
                host: row.text("host").to_owned(),
                name: row.text("host_name").to_owned(),
                written: format!("{}({params})", row.text("name")),
            });
        }
        Ok(Self(all))
    }

    fn of(&self, trigger: u64) -> &[Function] {
        self.0.get(&trigger).map_or(&[], Vec::as_slice)
    }
}

/// A stored expression as people write it.
fn written(functions: &[Function], expression: &str) -> String {
    replace_ids(expression, &mut |id| {
        let found = functions.iter().find(|function| function.id == id);
        found.map_or_else(|| format!("{{{id}}}"), |function| function.written.clone())
    })
}

/// Expressions of triggers in the form that people write, user macros unresolved.
pub(crate) fn expressions(
    call: &Call<'_>,
    triggers: &[(u64, String)],
) -> ApiResult<HashMap<u64, String>> {
    let ids: Vec<u64> = triggers.iter().map(|(id, _)| *id).collect();
    let functions = Functions::load(call, &ids)?;
    Ok(triggers.iter().map(|(id, text)| (*id, written(functions.of(*id), text))).collect())
}

/// Does what the options ask for.
pub(super) fn expand(found: &mut Found<'_, '_>, input: &Json) -> ApiResult<()> {
    let flag = |name: &str| params::flag(input.get(name));
    let options = ["expandExpression", "expandDescription", "expandComment", "expandUrl"].map(flag);
    if options == [false; 4] {
        return Ok(());
    }
    let functions = Functions::load(found.call, &found.ids())?;
    let snapshot = found.call.config().snapshot();
    let call = found.call;
    for row in &mut found.rows {
        let functions = functions.of(row.id);
        let trigger = (row.id, row.row.text("expression"));
        let shown = Shown::new(call, &snapshot, functions, trigger, None);
        let members = [
            ("expression", options[0]),
            ("recovery_expression", options[0]),
            ("description", options[1]),
            ("comments", options[2]),
            ("url", options[3]),
            ("url_name", options[3]),
        ];
        for (member, wanted) in members {
            let Some(out) = row.out.get_mut(member).filter(|_| wanted) else { continue };
            let text = row.row.text(member);
            let text = match member {
                "description" => shown.text(text, Place::TriggerName),
                "comments" => shown.text(text, Place::Shown),
                "url" | "url_name" => shown.text(text, Place::TriggerUrl),
                _ => shown.expression(text, &|stored| written(functions, stored)),
            };
            *out = Json::String(text);
        }
    }
    Ok(())
}

/// Operational data of events (trigger, time) with its macros resolved: the newest values
/// for `{ITEM.LASTVALUE}`. `None` where the trigger is gone: then what the event kept must do.
pub(crate) fn operational_data(
    call: &Call<'_>,
    events: &[(u64, Timestamp)],
) -> ApiResult<Vec<Option<String>>> {
    let mut ids: Vec<u64> = events.iter().map(|(trigger, _)| *trigger).collect();
    ids.sort_unstable();
    ids.dedup();
    let sql = "SELECT triggerid, opdata, expression FROM triggers WHERE triggerid IN ({ids})";
    let rows = call.read(|c| Ok(query_by_ids(c, sql, &[], &ids)?))?;
    let templates: HashMap<u64, (&str, &str)> = rows
        .iter()
        .map(|row| (row.id("triggerid"), (row.text("opdata"), row.text("expression"))))
        .collect();
    let with_macros = |id: &u64| templates.get(id).is_some_and(|(text, _)| text.contains('{'));
    let functions =
        Functions::load(call, &ids.iter().copied().filter(with_macros).collect::<Vec<_>>())?;
    let snapshot = call.config().snapshot();
    // Only values of the event's time differ between events of one trigger.
    let mut done: HashMap<u64, String> = HashMap::new();
    let texts = events.iter().map(|(trigger, at)| {
        let (template, expression) = *templates.get(trigger)?;
        if let Some(text) = done.get(trigger) {
            return Some(text.clone());
        }
        let functions = functions.of(*trigger);
        let shown = Shown::new(call, &snapshot, functions, (*trigger, expression), Some(*at));
        let text = shown.text(template, Place::Shown);
        if !shown.of_event.get() {
            done.insert(*trigger, text.clone());
        }
        Some(text)
    });
    Ok(texts.collect())
}
