//! Linkage of templates, and in which order owners follow from it.

use std::collections::BTreeSet;

use objects::sql::KIND_TEMPLATE;
use serde_json::json;

use super::owners::Owner;
use super::{Import, list, text};
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::permission::{Need, and, on_hosts};

/// Owners in such an order that templates come before what is linked to them in the file, so that
/// what one inherits is there when its own objects refer to it. Circles are refused when they are
/// linked, so their order does not matter.
pub(super) fn sorted(owners: Vec<Owner<'_>>) -> ApiResult<Vec<Owner<'_>>> {
    let mut waiting = owners;
    let mut out: Vec<Owner<'_>> = Vec::with_capacity(waiting.len());
    while !waiting.is_empty() {
        let templates = waiting.iter().filter(|owner| owner.is_template);
        let templates: BTreeSet<&str> = templates.map(|owner| owner.name.as_str()).collect();
        let mut blocked = Vec::new();
        for owner in &waiting {
            let parents = list(owner.node, "templates", "template", &owner.path)?;
            blocked.push(parents.iter().any(|(_, p)| templates.contains(text(p, "name"))));
        }
        let circle = blocked.iter().all(|blocked| *blocked);
        let mut blocked = blocked.into_iter();
        let (later, now): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|_| blocked.next().unwrap_or_default() && !circle);
        out.extend(now);
        waiting = later;
    }
    Ok(out)
}

impl Import<'_, '_> {
    /// Links the templates that the import names.
    pub(super) fn link(&self, owners: &[Owner<'_>]) -> ApiResult<()> {
        let rule = self.rules.of("templateLinkage");
        if !rule.any() {
            return Ok(());
        }
        for owner in owners {
            let mut wanted = Vec::new();
            for (_, node) in list(owner.node, "templates", "template", &owner.path)? {
                let name = text(node, "name");
                let right = and(on_hosts(self.call.user(), Need::Read, "hostid"));
                let sql = format!(
                    "SELECT hostid FROM hosts WHERE kind = {KIND_TEMPLATE} AND host = ?{right}"
                );
                let rows = self.call.rows(&sql, &[name.into()])?;
                let row = rows.first().ok_or_else(|| no_template(owner, name))?;
                wanted.push(row.id("hostid"));
            }
            let linked = self.call.rows(
                "SELECT templateid FROM host_templates WHERE hostid = ?",
                &[owner.id.into()],
            )?;
            let linked: Vec<u64> = linked.iter().map(|row| row.id("templateid")).collect();
            let mut all: Vec<u64> = if rule.delete { Vec::new() } else { linked.clone() };
            all.extend(wanted.iter().filter(|id| rule.create || linked.contains(id)));
            all.sort_unstable();
            all.dedup();
            if all.iter().any(|id| !linked.contains(id)) || all.len() < linked.len() {
                let templates: Json =
                    all.iter().map(|id| json!({ "templateid": id.to_string() })).collect();
                let (method, key) = if owner.is_template {
                    ("template.update", "templateid")
                } else {
                    ("host.update", "hostid")
                };
                // What came from a template that is no longer linked goes with the link.
                let gone = linked.iter().filter(|id| !all.contains(id));
                let gone: Json = gone.map(|id| json!({ "templateid": id.to_string() })).collect();
                let mut change = json!({ key: owner.id.to_string(), "templates": templates });
                if gone != json!([]) {
                    change["templates_clear"] = gone;
                }
                self.change(method, vec![change])?;
            }
        }
        Ok(())
    }
}

fn no_template(owner: &Owner<'_>, name: &str) -> ApiError {
    let of = &owner.name;
    ApiError::application(if owner.is_template {
        format!("Cannot import template \"{of}\", linked template \"{name}\" does not exist.")
    } else {
        format!("Template \"{name}\" for host \"{of}\" does not exist.")
    })
}
