//! `expandExpression`, `expandDescription`, `expandComment`.

use std::collections::HashMap;

use config::Snapshot;
use config::db::query_by_ids;
use config::objects::replace_ids;
use eval::macros::TokenKind;
use eval::units::format_value;
use history::{Order, RangeQuery, Span};
use jiff::tz::TimeZone;
use model::ItemId;

use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::Found;
use crate::methods::history::value_text;
use crate::params;

/// A function call with the names that its text needs.
struct Function {
    id: u64,
    itemid: u64,
    hostid: u64,
    host: String,
    name: String,
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
    let options = [flag("expandExpression"), flag("expandDescription"), flag("expandComment")];
    if options == [false; 3] {
        return Ok(());
    }
    let functions = Functions::load(found.call, &found.ids())?;
    let snapshot = found.call.config().snapshot();
    let call = found.call;
    for row in &mut found.rows {
        let functions = functions.of(row.id);
        let mut hosts: Vec<u64> = functions.iter().map(|f| f.hostid).collect();
        hosts.dedup();
        let members = [
            ("expression", options[0]),
            ("recovery_expression", options[0]),
            ("description", options[1]),
            ("comments", options[2]),
        ];
        for (member, wanted) in members {
            let Some(shown) = row.out.get_mut(member).filter(|_| wanted) else { continue };
            let text = row.row.text(member);
            let text = if options[0] && member.ends_with("expression") {
                let text = written(functions, text);
                crate::expand::macros(&snapshot, &hosts, &text, &mut |_| None)
            } else {
                crate::expand::macros(&snapshot, &hosts, text, &mut |token| match token.kind {
                    TokenKind::Builtin { name, index } => builtin(call, functions, name, index),
                    _ => None,
                })
            };
            *shown = Json::String(text);
        }
    }
    Ok(())
}

/// Operational data of events (trigger, unix time) with its macros resolved: the newest values
/// for `{ITEM.LASTVALUE}`. `None` where the trigger is gone: then what the event kept must do.
pub(crate) fn operational_data(
    call: &Call<'_>,
    events: &[(u64, u32)],
) -> ApiResult<Vec<Option<String>>> {
    let mut ids: Vec<u64> = events.iter().map(|(trigger, _)| *trigger).collect();
    ids.sort_unstable();
    ids.dedup();
    let sql = "SELECT triggerid, opdata FROM triggers WHERE triggerid IN ({ids})";
    let rows = call.read(|c| Ok(query_by_ids(c, sql, &[], &ids)?))?;
    let templates: HashMap<u64, &str> =
        rows.iter().map(|row| (row.id("triggerid"), row.text("opdata"))).collect();
    let with_macros = |id: &u64| templates.get(id).is_some_and(|text| text.contains('{'));
    let functions =
        Functions::load(call, &ids.iter().copied().filter(with_macros).collect::<Vec<_>>())?;
    let snapshot = call.config().snapshot();
    // Only values of the event's time differ between events of one trigger.
    let mut done: HashMap<u64, String> = HashMap::new();
    let texts = events.iter().map(|(trigger, clock)| {
        let template = *templates.get(trigger)?;
        if let Some(text) = done.get(trigger) {
            return Some(text.clone());
        }
        let functions = functions.of(*trigger);
        let hosts: Vec<u64> = functions.iter().map(|f| f.hostid).collect();
        let mut of_event = false;
        let text = crate::expand::macros(&snapshot, &hosts, template, &mut |token| {
            let TokenKind::Builtin { name, index } = token.kind else { return None };
            let at = match name {
                "ITEM.VALUE" => Some(*clock),
                "ITEM.LASTVALUE" => None,
                _ => return builtin(call, functions, name, index),
            };
            of_event |= at.is_some();
            let function = functions.get(usize::from(index.unwrap_or(1)).checked_sub(1)?)?;
            // Macro functions work on the bare value, not on the one with units.
            let bare = template.as_bytes().get(token.span.start.wrapping_sub(1)) == Some(&b'{');
            let shown = value_at(call, &snapshot, ItemId(function.itemid), at, bare);
            Some(shown.unwrap_or_else(|| "*UNKNOWN*".to_owned()))
        });
        if !of_event {
            done.insert(*trigger, text.clone());
        }
        Some(text)
    });
    Ok(texts.collect())
}

/// The item's value at a time, or its newest, with units and value map unless it is to be bare.
fn value_at(
    call: &Call<'_>,
    snapshot: &Snapshot,
    id: ItemId,
    at: Option<u32>,
    bare: bool,
) -> Option<String> {
    let item = snapshot.items.get(&id)?;
    let sample = match at {
        None => call.api.deps.live.item_states(&[id]).into_iter().next()?.last?,
        Some(clock) => {
            let query = RangeQuery {
                item: id,
                value_type: item.value_type,
                span: Span { from: 0, till: clock },
                limit: Some(1),
                order: Order::NewestFirst,
            };
            call.api.deps.history.range(&query).ok()?.into_iter().next()?
        }
    };
    let text = value_text(&sample.value);
    if bare {
        return Some(text);
    }
    let (units, map) = item.extra.as_ref().map_or(("", &[][..]), |extra| {
        let map = snapshot.valuemaps.get(&extra.valuemap).map_or(&[][..], |map| map);
        (extra.units.as_str(), map)
    });
    Some(format_value(&text, item.value_type, units, map, &TimeZone::UTC))
}

/// Macros about the host and the item of the n-th function.
fn builtin(
    call: &Call<'_>,
    functions: &[Function],
    name: &str,
    index: Option<u8>,
) -> Option<String> {
    let at = usize::from(index.unwrap_or(1)).checked_sub(1)?;
    let function = functions.get(at)?;
    match name {
        "HOST.HOST" | "HOSTNAME" => Some(function.host.clone()),
        "HOST.NAME" => Some(function.name.clone()),
        "HOST.ID" => Some(function.hostid.to_string()),
        "ITEM.VALUE" | "ITEM.LASTVALUE" => {
            let states = call.api.deps.live.item_states(&[ItemId(function.itemid)]);
            let last = states.into_iter().next().and_then(|state| state.last);
            Some(last.map_or_else(|| "*UNKNOWN*".to_owned(), |sample| value_text(&sample.value)))
        }
        "HOST.IP" | "HOST.DNS" | "HOST.CONN" | "HOST.PORT" | "IPADDRESS" => {
            interface(call, function.hostid, name)
        }
        _ => None,
    }
}

/// Of the host's main interface: agent before SNMP, JMX and IPMI.
fn interface(call: &Call<'_>, hostid: u64, name: &str) -> Option<String> {
    let rows = call
        .rows(
            "SELECT ip, dns, port, useip FROM interfaces WHERE hostid = ? AND main = 1 \
             ORDER BY CASE type WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 4 THEN 3 ELSE 4 END",
            &[hostid.into()],
        )
        .ok()?;
    let row = rows.first()?;
    Some(match name {
        "HOST.DNS" => row.text("dns").to_owned(),
        "HOST.PORT" => row.text("port").to_owned(),
        "HOST.CONN" if row.int("useip") == 0 => row.text("dns").to_owned(),
        _ => row.text("ip").to_owned(),
    })
}
