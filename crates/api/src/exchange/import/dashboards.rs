//! Dashboards of templates: after the items and graphs that they show.

use config::db::{Row, Value};
use const_format::formatcp;
use objects::WidgetFieldType;
use objects::sql::{GROUP_OF_HOSTS, KIND_OWNERS};
use serde_json::{Map, json};

use super::owners::{Owner, same};
use super::{Import, list, text};
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::exchange::words::dashboards::{DASHBOARD, PAGE, WIDGET, WIDGET_FIELD};
use crate::exchange::words::{Word, check_members, invalid, to_api};

/// How an import finds an object that a field refers to.
struct Finder {
    /// As errors name it.
    word: &'static str,
    /// Member of the value with its name.
    member: &'static str,
    sql: &'static str,
}

const HOSTS: Finder = Finder {
    word: "host",
    member: "host",
    sql: formatcp!("SELECT hostid AS id FROM hosts WHERE kind IN {KIND_OWNERS} AND host = ?"),
};

fn finder(kind: WidgetFieldType) -> Option<Finder> {
    let named = |word, sql| Some(Finder { word, member: "name", sql });
    match kind {
        WidgetFieldType::Integer | WidgetFieldType::Text => None,
        WidgetFieldType::HostGroup => named(
            "host group",
            formatcp!(
                "SELECT groupid AS id FROM groups_ WHERE type = {GROUP_OF_HOSTS} AND name = ?"
            ),
        ),
        WidgetFieldType::Host => Some(HOSTS),
        WidgetFieldType::Item | WidgetFieldType::ItemPrototype => Some(Finder {
            word: "item",
            member: "key",
            sql: "SELECT itemid AS id FROM items WHERE key_ = ? AND hostid = ?",
        }),
        WidgetFieldType::Graph | WidgetFieldType::GraphPrototype => Some(Finder {
            word: "graph",
            member: "name",
            sql: "SELECT g.graphid AS id FROM graphs g WHERE g.name = ? AND g.graphid IN \
                  (SELECT f.graphid FROM items i JOIN graph_items f ON f.itemid = i.itemid \
                   WHERE i.hostid = ?)",
        }),
        WidgetFieldType::Map => named("map", "SELECT sysmapid AS id FROM maps WHERE name = ?"),
        WidgetFieldType::Service => {
            named("service", "SELECT serviceid AS id FROM services WHERE name = ?")
        }
        WidgetFieldType::Sla => named("SLA", "SELECT slaid AS id FROM slas WHERE name = ?"),
        WidgetFieldType::User => Some(Finder {
            word: "user",
            member: "username",
            sql: "SELECT userid AS id FROM users WHERE username = ?",
        }),
        WidgetFieldType::Action => {
            named("action", "SELECT actionid AS id FROM actions WHERE name = ?")
        }
        WidgetFieldType::MediaType => {
            named("media type", "SELECT mediatypeid AS id FROM media_types WHERE name = ?")
        }
    }
}

impl Import<'_, '_> {
    pub(super) fn dashboards(&self, owner: &Owner<'_>) -> ApiResult<()> {
        let allowed = self.rules.of("templateDashboards");
        if !allowed.any() {
            return Ok(());
        }
        let sql = "SELECT dashboardid, name, uuid FROM dashboards WHERE hostid = ?";
        let known = self.call.rows(sql, &[owner.id.into()])?;
        let nodes = list(owner.node, "dashboards", "dashboard", &owner.path)?;
        let pairs = nodes.iter().map(|(path, node)| {
            let known = same(&known, node, "name", text(node, "name"));
            (path, *node, known.map(|row| row.id("dashboardid")))
        });
        let pairs: Vec<(&String, &Json, Option<u64>)> = pairs.collect();
        if allowed.delete && owner.existed {
            let is_gone = |id: &u64| pairs.iter().all(|(_, _, known)| *known != Some(*id));
            let gone = known.iter().map(|row| row.id("dashboardid")).filter(is_gone);
            let gone = gone.map(|id| id.to_string().into()).collect();
            self.change("templatedashboard.delete", gone)?;
        }
        let (mut new, mut changed) = (Vec::new(), Vec::new());
        for (path, node, known) in pairs {
            match known {
                Some(id) if allowed.update => {
                    let mut dashboard = self.dashboard(node, path)?;
                    dashboard.insert("dashboardid".to_owned(), id.to_string().into());
                    changed.push(Json::Object(dashboard));
                }
                None if allowed.create => {
                    let mut dashboard = self.dashboard(node, path)?;
                    dashboard.insert("templateid".to_owned(), owner.id.to_string().into());
                    new.push(Json::Object(dashboard));
                }
                _ => {}
            }
        }
        self.change("templatedashboard.update", changed)?;
        self.create("templatedashboard.create", new).map(drop)
    }

    /// The dashboard as the API has it.
    fn dashboard(&self, node: &Json, path: &str) -> ApiResult<Map<String, Json>> {
        let mut dashboard = members(DASHBOARD, "pages", node, path)?;
        let name = text(node, "name");
        let mut pages = Vec::new();
        for (path, node) in list(node, "pages", "page", path)? {
            let mut page = members(PAGE, "widgets", node, &path)?;
            let mut widgets = Vec::new();
            for (path, node) in list(node, "widgets", "widget", &path)? {
                let mut widget = members(WIDGET, "fields", node, &path)?;
                let fields = list(node, "fields", "field", &path)?.into_iter();
                let fields = fields.map(|(path, node)| self.widget_field(node, &path, name));
                widget.insert("fields".to_owned(), fields.collect::<ApiResult<Json>>()?);
                widgets.push(Json::Object(widget));
            }
            page.insert("widgets".to_owned(), widgets.into());
            pages.push(Json::Object(page));
        }
        dashboard.insert("pages".to_owned(), pages.into());
        Ok(dashboard)
    }

    fn widget_field(&self, node: &Json, path: &str, dashboard: &str) -> ApiResult<Json> {
        check_members(node, &[], WIDGET_FIELD, path)?;
        let word = text(node, "type");
        let kind = WidgetFieldType::ALL.iter().find(|kind| !word.is_empty() && kind.word() == word);
        let Some(kind) = kind else {
            let text = format!("unexpected constant \"{word}\"");
            return Err(invalid(&format!("{path}/type"), &text));
        };
        let value = node.get("value").unwrap_or(&Json::Null);
        let value = match finder(*kind) {
            None => value.clone(),
            Some(finder) => self.referred(&finder, value, dashboard)?.to_string().into(),
        };
        Ok(json!({ "type": kind.text(), "name": text(node, "name"), "value": value }))
    }

    /// The object of a field's value.
    fn referred(&self, finder: &Finder, value: &Json, dashboard: &str) -> ApiResult<u64> {
        let find = |finder: &Finder, host: Option<u64>| -> ApiResult<u64> {
            let name = text(value, finder.member);
            let shown = match finder.word {
                "item" => format!("{}:{name}", text(value, HOSTS.member)),
                _ => name.to_owned(),
            };
            let params: Vec<Value> =
                [Some(Value::from(name)), host.map(Value::from)].into_iter().flatten().collect();
            let found = self.call.rows(finder.sql, &params)?;
            let id = found.first().map(|row: &Row| row.id("id"));
            id.ok_or_else(|| {
                let what = finder.word;
                let text =
                    format!("Cannot find {what} \"{shown}\" used in dashboard \"{dashboard}\".");
                ApiError::application(text)
            })
        };
        let host = match finder.word {
            "item" | "graph" => Some(find(&HOSTS, None)?),
            _ => None,
        };
        find(finder, host)
    }

    /// Turns a dashboard of an earlier version, which is stored as the export has it, into an object. `name`: technical
    /// name of the template, which may have been another one then.
    pub(super) fn convert_dashboard(
        &self,
        template: u64,
        name: &str,
        mut node: Json,
    ) -> ApiResult<()> {
        rename_host(&mut node, name);
        let mut dashboard = self.dashboard(&node, "/dashboard")?;
        dashboard.insert("templateid".to_owned(), template.to_string().into());
        self.create("templatedashboard.create", vec![Json::Object(dashboard)]).map(drop)
    }
}

/// The template's name in all fields: items and graphs of its dashboards are its own.
fn rename_host(dashboard: &mut Json, name: &str) {
    let mut nodes = vec![dashboard];
    for list in ["pages", "widgets", "fields"] {
        let lists = nodes.into_iter().filter_map(|node| node.get_mut(list)?.as_array_mut());
        nodes = lists.flatten().collect();
    }
    let hosts = nodes.into_iter().filter_map(|field| field.get_mut("value")?.get_mut("host"));
    hosts.for_each(|host| *host = name.into());
}

/// Members as the API has them, also those that the export leaves out.
fn members(words: &[Word], list: &str, node: &Json, path: &str) -> ApiResult<Map<String, Json>> {
    check_members(node, &[words], &[list], path)?;
    let mut members = to_api(words, node, path)?;
    for word in words.iter().filter(|word| word.api != "uuid") {
        if let Some(default) = word.default {
            members.entry(word.api).or_insert_with(|| default.into());
        }
    }
    if members.get("uuid").is_some_and(|uuid| uuid == "") {
        members.shift_remove("uuid");
    }
    Ok(members)
}
