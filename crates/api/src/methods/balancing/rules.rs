//! Rules and mirrors of virtual services. They and scripts name pools by `poolid` and pool groups by `poolgroupid`, so that both can
//! be renamed.

use balancing::{Mirror, Rule};
use config::Edit;
use config::db::Row;
use serde_json::Value as Json;

use super::members::{object, typed};
use super::used;
use crate::error::{ApiError, ApiResult};
use crate::params;
use crate::plain::Draft;
use crate::write::{names, no_object_at};

/// Members that choose where requests or their copies go, and the tables of what they name.
const CHOICES: [(&str, &str); 2] = [("poolid", "pools"), ("poolgroupid", "pool_groups")];

/// Checks the list of rules; the text has ids of pools as texts.
pub(super) fn read(value: &Json, path: &str) -> ApiResult<String> {
    let Json::Array(rules) = value else {
        return Err(ApiError::at(path, "an array is expected"));
    };
    let rules = rules.iter().enumerate();
    let rules = rules.map(|(n, rule)| read_one(rule, &format!("{path}/{}", n + 1)));
    Ok(Json::Array(rules.collect::<ApiResult<_>>()?).to_string())
}

fn read_one(rule: &Json, path: &str) -> ApiResult<Json> {
    let (mut stored, mut of_engine) = (rule.clone(), rule.clone());
    if let (Some(stored), Some(then)) = (stored.get_mut("then"), of_engine.get_mut("then")) {
        name_pool(then, stored, &format!("{path}/then"))?;
        if let (Some(stored), Some(mirror)) = (stored.get_mut("mirror"), then.get_mut("mirror")) {
            name_mirror(mirror, stored, &format!("{path}/then/mirror"))?;
        }
        if let (Some(stored), Some(script)) = (stored.get_mut("script"), then.get_mut("script")) {
            name_choices(script, stored, &format!("{path}/then/script/pools"))?;
        }
    }
    let checked = typed::<Rule>(&of_engine, path)?.check();
    checked.map_err(|problem| ApiError::at(path, problem))?;
    Ok(stored)
}

/// Checks where copies of requests go; an empty object stands for nowhere. The text has the pool's id as text.
pub(super) fn read_mirror(value: &Json, path: &str) -> ApiResult<String> {
    let mut stored = object(value, path)?;
    if stored.as_object().is_some_and(serde_json::Map::is_empty) {
        return Ok("{}".to_owned());
    }
    let mut of_engine = stored.clone();
    name_mirror(&mut of_engine, &mut stored, path)?;
    let checked = typed::<Mirror>(&of_engine, path)?.check();
    checked.map_err(|problem| ApiError::at(path, problem))?;
    Ok(stored.to_string())
}

fn name_mirror(of_engine: &mut Json, stored: &mut Json, path: &str) -> ApiResult<()> {
    name_pool(of_engine, stored, path)?;
    if of_engine.is_object() && of_engine.get("pool").is_none() {
        return Err(ApiError::at(path, "it has neither poolid nor poolgroupid; set one"));
    }
    Ok(())
}

/// The engine's scripts have names of pools where those of the API have objects with `poolid` or `poolgroupid`.
fn name_choices(of_engine: &mut Json, stored: &mut Json, path: &str) -> ApiResult<()> {
    let members = of_engine.get_mut("pools").and_then(Json::as_array_mut).into_iter().flatten();
    for (n, member) in members.enumerate() {
        let path = format!("{path}/{}", n + 1);
        if !member.is_object() {
            return Err(ApiError::at(&path, "an object with poolid or poolgroupid is expected"));
        }
        name_pool(member, &mut stored["pools"][n], &path)?;
        let text = "it has neither poolid nor poolgroupid; set one";
        let name = member.as_object_mut().and_then(|members| members.remove("pool"));
        if member.as_object().is_some_and(|members| !members.is_empty()) {
            return Err(ApiError::at(&path, "only poolid or poolgroupid is expected"));
        }
        *member = name.ok_or_else(|| ApiError::at(&path, text))?;
    }
    Ok(())
}

/// The engine's types have the pool's name where the API has its id.
fn name_pool(of_engine: &mut Json, stored: &mut Json, path: &str) -> ApiResult<()> {
    let Some(members) = of_engine.as_object_mut() else { return Ok(()) };
    if members.contains_key("pool") {
        let text = "unexpected parameter \"pool\"; choose a pool by \"poolid\" or \"poolgroupid\"";
        return Err(ApiError::at(path, text));
    }
    for (member, _) in CHOICES {
        let Some(id) = members.remove(member) else { continue };
        let id = params::id(&id, &format!("{path}/{member}"))?.to_string();
        if members.insert("pool".to_owned(), id.clone().into()).is_some() {
            return Err(ApiError::at(path, "it has both poolid and poolgroupid; keep one"));
        }
        stored[member] = id.into();
    }
    Ok(())
}

/// Refuses rules and a mirror that choose pools or pool groups that do not exist.
pub(super) fn require_pools(edit: &mut Edit<'_>, draft: &Draft<'_>) -> ApiResult<()> {
    let given = |member: &str| {
        let text = if draft.gives(member) { draft.text(member, None) } else { Default::default() };
        serde_json::from_str::<Json>(&text).unwrap_or_default()
    };
    for (path, target) in targets(&given("rules"), &given("mirror")) {
        require_target(edit, target, &format!("{}/{path}", draft.path))?;
    }
    Ok(())
}

/// What may choose a pool or a pool group, with its path.
fn targets<'j>(rules: &'j Json, mirror: &'j Json) -> Vec<(String, &'j Json)> {
    let mut all = vec![("mirror".to_owned(), mirror)];
    for (n, rule) in rules.as_array().into_iter().flatten().enumerate() {
        let (path, then) = (format!("rules/{}/then", n + 1), &rule["then"]);
        all.push((format!("{path}/mirror"), &then["mirror"]));
        for (n, pool) in then["script"]["pools"].as_array().into_iter().flatten().enumerate() {
            all.push((format!("{path}/script/pools/{}", n + 1), pool));
        }
        all.push((path, then));
    }
    all
}

/// Refuses to delete what rules or mirrors of services choose by `member`.
pub(super) fn refuse_chosen(
    edit: &mut Edit<'_>,
    rows: &[Row],
    kind: &str,
    member: &str,
) -> ApiResult<()> {
    for row in rows {
        let id = row.id(member).to_string();
        // Stored rules are JSON without spaces. Other members may have this name, too, such as headers.
        let like = format!("%\"{member}\":\"{id}\"%");
        let sql = "SELECT name, rules, mirror FROM virtualservices \
                   WHERE rules LIKE ? OR mirror LIKE ? ORDER BY name";
        let found = edit.query(sql, &[like.as_str().into(), like.as_str().into()])?;
        let chooses = |service: &&Row| {
            let stored = |column| serde_json::from_str(service.text(column)).unwrap_or_default();
            let (rules, mirror): (Json, Json) = (stored("rules"), stored("mirror"));
            targets(&rules, &mirror).iter().any(|(_, one)| one[member] == id.as_str())
        };
        if let Some(service) = found.iter().find(chooses) {
            return Err(used(kind, row, "virtual service", service));
        }
    }
    Ok(())
}

fn require_target(edit: &mut Edit<'_>, members: &Json, path: &str) -> ApiResult<()> {
    for (member, table) in CHOICES {
        let id = members[member].as_str().and_then(|id| id.parse::<u64>().ok());
        if let Some(id) = id
            && names(edit, table, member, "name", &[id])?.is_empty()
        {
            return Err(no_object_at(&format!("{path}/{member}")));
        }
    }
    Ok(())
}
