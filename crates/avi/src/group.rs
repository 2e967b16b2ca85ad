//! Pool groups.

use serde_json::{Value as Json, json};

use crate::plan::{Name, Plan, Targets, members_of, number};
use crate::reader::Reader;
use crate::{Kind, Members, Result};

pub(crate) fn translate(reader: &Reader<'_>, targets: &Targets) -> Result<Plan> {
    let mut members = Vec::new();
    for member in reader.list("members")? {
        member.required("pool_ref")?;
        let priority = match member.text("priority_label")? {
            None => 0,
            Some(label) => label.parse::<u16>().map_err(|_| {
                let text = "Vedette's priorities are numbers from 0 to 65535";
                member.refuse("priority_label", text)
            })?,
        };
        let Some(pool) = targets.of(&member, "pool_ref")?.and_then(|target| target.id) else {
            return Ok(Plan::Incomplete("a pool of the group has no servers"));
        };
        members.push(json!({
            "poolid": pool.to_string(),
            "priority": priority,
            "ratio": member.number("ratio")?.unwrap_or(1),
        }));
    }
    let name = reader.required("name")?;
    if members.is_empty() {
        return Ok(Plan::Incomplete("the pool group has no members"));
    }
    let mut out = members_of(json!({
        "name": name,
        "min_servers": reader.number("min_servers")?.unwrap_or(0).max(1),
        "members": members,
    }));
    out.insert("description".to_owned(), reader.text("description")?.unwrap_or_default().into());
    Ok(Plan::Objects(vec![out]))
}

pub(crate) fn show(object: &Json, name: &mut Name<'_>) -> Members {
    let members = object["members"].as_array().into_iter().flatten();
    let members: Vec<Json> = members
        .map(|member| {
            let mut shown = json!({
                "pool_ref": name(Kind::Pool, number(&member["poolid"])),
                "ratio": number(&member["ratio"]),
            });
            let label = number(&member["priority"]);
            // Without a label Avi has the lowest priority.
            if label > 0 {
                shown["priority_label"] = label.to_string().into();
            }
            shown
        })
        .collect();
    members_of(json!({
        "name": object["name"],
        "description": object["description"],
        "min_servers": number(&object["min_servers"]),
        "members": members,
    }))
}
