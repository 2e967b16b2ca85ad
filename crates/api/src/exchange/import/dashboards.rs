//! Dashboards of templates: nothing shows them yet; they are kept in the export's own form, so that an
//! export gives them back.

use config::db::Value;
use config::table;

use super::owners::{Owner, same};
use super::{Import, list, text};
use crate::error::ApiResult;
use crate::unserved::DASHBOARD;

impl Import<'_, '_> {
    pub(super) fn dashboards(&self, owner: &Owner<'_>) -> ApiResult<()> {
        let allowed = self.rules.of("templateDashboards");
        let kind = DASHBOARD.kind;
        let known = self.call.rows(
            "SELECT partid, name, uuid FROM parts WHERE hostid = ? AND kind = ?",
            &[owner.id.into(), kind.into()],
        )?;
        let mut seen = Vec::new();
        for (_, node) in list(owner.node, "dashboards", "dashboard", &owner.path)? {
            let (name, uuid) = (text(node, "name"), text(node, "uuid"));
            let columns: [(&str, Value); 3] =
                [("name", name.into()), ("uuid", uuid.into()), ("doc", node.to_string().into())];
            match same(&known, node, "name", name).map(|row| row.id("partid")) {
                Some(id) => {
                    seen.push(id);
                    if allowed.update {
                        self.may("dashboard.update")?;
                        self.call.write(|edit| Ok(edit.update(&table::PARTS, id, &columns)?))?;
                    }
                }
                None if allowed.create => {
                    self.may("dashboard.create")?;
                    let mut row = vec![("hostid", Value::from(owner.id)), ("kind", kind.into())];
                    row.extend(columns);
                    self.call.write(|edit| Ok(edit.insert_new(&table::PARTS, &row)?))?;
                }
                None => {}
            }
        }
        if allowed.delete && owner.existed {
            let gone: Vec<u64> =
                known.iter().map(|row| row.id("partid")).filter(|id| !seen.contains(id)).collect();
            if !gone.is_empty() {
                self.may("dashboard.delete")?;
                self.call.write(|edit| Ok(edit.delete(&table::PARTS, "partid", &gone)?))?;
            }
        }
        Ok(())
    }
}
