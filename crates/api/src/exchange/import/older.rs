//! Exports of older versions as 7.0 writes them: other names, and other defaults of what is left
//! out.

use serde_json::{Map, json};

use super::text;
use crate::call::Json;

/// The tree below `zabbix_export` in the form of 7.0.
pub(super) fn to_7_0(mut tree: Json) -> Json {
    let version = text(&tree, "version").to_owned();
    if version == "7.0" {
        return tree;
    }
    if version == "6.0" {
        split_groups(&mut tree);
    }
    for media_type in elements(&mut tree, "media_types").filter_map(Json::as_object_mut) {
        if let Some(format) = media_type.shift_remove("content_type") {
            media_type.insert("message_format".to_owned(), format);
        }
    }
    for owners in ["templates", "hosts"] {
        for owner in elements(&mut tree, owners) {
            for item in elements(owner, "items") {
                item_defaults(item);
            }
            for rule in elements(owner, "discovery_rules") {
                rule_defaults(rule);
                for prototype in elements(rule, "item_prototypes") {
                    item_defaults(prototype);
                }
            }
            for dashboard in elements(owner, "dashboards") {
                for page in elements(dashboard, "pages") {
                    for widget in elements(page, "widgets") {
                        widen(widget);
                    }
                }
            }
        }
    }
    for host in elements(&mut tree, "hosts").filter_map(Json::as_object_mut) {
        if host.contains_key("proxy") {
            host.entry("monitored_by").or_insert_with(|| "PROXY".into());
        }
    }
    if let Some(version) = tree.get_mut("version") {
        *version = "7.0".into();
    }
    tree
}

fn elements<'t>(node: &'t mut Json, name: &str) -> impl Iterator<Item = &'t mut Json> {
    node.get_mut(name).and_then(Json::as_array_mut).into_iter().flatten()
}

/// 6.0 has one kind of groups for hosts and templates.
fn split_groups(tree: &mut Json) {
    let mut used = |owners: &str| -> Vec<String> {
        elements(tree, owners)
            .flat_map(|owner| elements(owner, "groups"))
            .map(|group| text(group, "name").to_owned())
            .collect()
    };
    let (by_templates, by_hosts) = (used("templates"), used("hosts"));
    let Some(members) = tree.as_object_mut() else { return };
    let Some(Json::Array(groups)) = members.get_mut("groups").map(Json::take) else { return };
    let among = |names: &[String], group: &Json| names.iter().any(|n| n == text(group, "name"));
    let (mut of_templates, mut of_hosts) = (Vec::new(), Vec::new());
    for group in groups {
        if among(&by_templates, &group) {
            of_templates.push(group.clone());
        }
        // Those that nothing names are for host prototypes.
        if among(&by_hosts, &group) || !among(&by_templates, &group) {
            of_hosts.push(group);
        }
    }
    *members = std::mem::take(members)
        .into_iter()
        .filter(|(name, _)| name != "groups")
        .collect::<Map<String, Json>>();
    members.insert("template_groups".into(), Json::Array(of_templates));
    members.insert("host_groups".into(), Json::Array(of_hosts));
}

fn put_missing(node: &mut Json, name: &str, value: &str) {
    if let Some(members) = node.as_object_mut() {
        members.entry(name).or_insert_with(|| value.into());
    }
}

/// What items, prototypes and rules have in common.
fn common(node: &mut Json) {
    // 7.0 takes the timeout of the server where none is given, 6.x took three seconds.
    if matches!(text(node, "type"), "HTTP_AGENT" | "SCRIPT") {
        put_missing(node, "timeout", "3s");
    }
    for step in elements(node, "preprocessing") {
        if text(step, "type") == "CHECK_NOT_SUPPORTED"
            && let Some(step) = step.as_object_mut()
        {
            // Any error; there was no other choice.
            step.insert("parameters".into(), json!(["-1"]));
        }
    }
}

fn item_defaults(node: &mut Json) {
    put_missing(node, "history", "90d");
    common(node);
}

fn rule_defaults(node: &mut Json) {
    common(node);
    let at_once = text(node, "lifetime") == "0";
    let Some(members) = node.as_object_mut() else { return };
    if at_once {
        members.remove("lifetime");
        members.insert("lifetime_type".into(), "DELETE_IMMEDIATELY".into());
    } else {
        members.entry("lifetime").or_insert_with(|| "30d".into());
        members.insert("enabled_lifetime_type".into(), "DISABLE_NEVER".into());
    }
}

/// The grid of dashboards is three times as fine, and types of widgets have new names.
fn widen(widget: &mut Json) {
    let Some(members) = widget.as_object_mut() else { return };
    for name in ["x", "width"] {
        if let Some(value) = members.get_mut(name)
            && let Some(old) = value.as_str().and_then(|text| text.parse::<u32>().ok())
        {
            *value = old.saturating_mul(3).to_string().into();
        }
    }
    let old = members.get("type").and_then(Json::as_str).unwrap_or("");
    let new = match old {
        "CLOCK" => "clock",
        "GRAPH_CLASSIC" => "graph",
        "GRAPH_PROTOTYPE" => "graphprototype",
        "ITEM" => "item",
        "PLAIN_TEXT" | "plaintext" => "itemhistory",
        "URL" => "url",
        _ => return,
    };
    members.insert("type".into(), new.into());
}
