//! The import: options, then the tree from groups to triggers.

mod dashboards;
mod difference;
mod gate;
mod graphs;
mod hosts;
mod interfaces;
mod items;
mod kept;
mod links;
mod lld;
mod maps;
mod media;
mod older;
mod owners;
mod room;
mod triggers;
mod web;

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Map;

pub(crate) use kept::convert as convert_kept;
pub(super) use room::check_source;
pub(crate) use room::{BYTES_MAX, Places};

use super::format::Format;
use super::words::invalid;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::{params, rpc};
use gate::KINDS;

/// Versions whose exports are understood.
const VERSIONS: &[&str] = &["6.0", "6.2", "6.4", "7.0"];

/// What may be done with one kind of object.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rule {
    pub(super) create: bool,
    pub(super) update: bool,
    pub(super) delete: bool,
}

/// The option `rules`.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules(Map<String, Json>);

impl Rule {
    /// Anything may be done.
    pub(super) fn any(self) -> bool {
        self.create || self.update || self.delete
    }
}

impl Rules {
    fn read(input: &Json) -> ApiResult<Self> {
        let rules = input
            .get("rules")
            .ok_or_else(|| ApiError::at("/", "the parameter \"rules\" is missing"))?;
        let Json::Object(rules) = rules else {
            return Err(ApiError::at("/rules", "an array is expected"));
        };
        let known = |name: &str| KINDS.iter().any(|kind| kind.is_called(name));
        if let Some(name) = rules.keys().find(|name| !known(name)) {
            return Err(ApiError::at("/rules", format_args!("unexpected parameter \"{name}\"")));
        }
        Ok(Self(rules.clone()))
    }

    /// In the order of the request.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    pub(super) fn of(&self, kind: &str) -> Rule {
        let old = if kind.ends_with("_groups") { self.0.get("groups") } else { None };
        let rule = self.0.get(kind).or(old);
        let flag = |name: &str| params::flag(rule.and_then(|rule| rule.get(name)));
        Rule {
            create: flag("createMissing"),
            update: flag("updateExisting"),
            delete: flag("deleteMissing"),
        }
    }

    /// The same, but nothing is deleted; links may go.
    fn without_deletions(&self) -> Self {
        let mut rules = self.0.clone();
        for (kind, rule) in &mut rules {
            if kind != "templateLinkage"
                && let Some(rule) = rule.as_object_mut()
            {
                rule.remove("deleteMissing");
            }
        }
        Self(rules)
    }
}

/// An import in progress.
pub(super) struct Import<'c, 'a> {
    pub(super) call: &'c Call<'a>,
    pub(super) rules: Rules,
    /// Ids that go at the end, by the method that deletes them.
    gone: RefCell<BTreeMap<&'static str, Vec<u64>>>,
}

/// Deletions in their order: what is made of others goes before these.
const DELETIONS: &[&str] = &[
    "graph.delete",
    "graphprototype.delete",
    "trigger.delete",
    "triggerprototype.delete",
    "hostprototype.delete",
    "itemprototype.delete",
    "discoveryrule.delete",
    "httptest.delete",
    "item.delete",
    "valuemap.delete",
];

impl<'c, 'a> Import<'c, 'a> {
    pub(super) fn new(call: &'c Call<'a>, rules: Rules) -> Self {
        Self { call, rules, gone: RefCell::default() }
    }

    /// Deletes objects when everything else of the import is done: what an update has renamed or
    /// given another master does not go with what it belonged to before.
    pub(super) fn delete_later(&self, method: &'static str, ids: impl IntoIterator<Item = u64>) {
        debug_assert!(DELETIONS.contains(&method), "{method}");
        self.gone.borrow_mut().entry(method).or_default().extend(ids);
    }

    fn delete_missing(&self) -> ApiResult<()> {
        for method in DELETIONS {
            let mut ids = self.gone.borrow_mut().remove(method).unwrap_or_default();
            ids.sort_unstable();
            ids.dedup();
            self.change(method, ids.iter().map(|id| id.to_string().into()).collect())?;
        }
        Ok(())
    }

    /// Calls a method of an object.
    pub(super) fn api(&self, method: &str, params: &Json) -> ApiResult<Json> {
        if !method.ends_with(".get") {
            self.may(method)?;
        }
        rpc::run_inner(self.call, method, params)
    }

    /// Calls a create method; returns the new ids in order.
    pub(super) fn create(&self, method: &str, objects: Vec<Json>) -> ApiResult<Vec<u64>> {
        if objects.is_empty() {
            return Ok(Vec::new());
        }
        let result = self.api(method, &Json::Array(objects))?;
        let ids = result.as_object().and_then(|members| members.values().next());
        let ids = ids.map(params::list).unwrap_or_default();
        ids.into_iter().map(|id| params::id(id, "")).collect()
    }

    /// Calls a method that changes or deletes objects.
    pub(super) fn change(&self, method: &str, objects: Vec<Json>) -> ApiResult<()> {
        if objects.is_empty() { Ok(()) } else { self.api(method, &Json::Array(objects)).map(drop) }
    }
}

/// Elements of a list member with their paths, as error texts name them.
pub(super) fn list<'t>(
    node: &'t Json,
    name: &str,
    child: &str,
    path: &str,
) -> ApiResult<Vec<(String, &'t Json)>> {
    match node.get(name) {
        None => Ok(Vec::new()),
        Some(Json::String(text)) if text.trim().is_empty() => Ok(Vec::new()),
        Some(Json::Array(values)) => Ok(values
            .iter()
            .enumerate()
            .map(|(n, value)| (format!("{path}/{name}/{child}({})", n + 1), value))
            .collect()),
        // An empty list in YAML may look like an object.
        Some(Json::Object(members)) if members.is_empty() => Ok(Vec::new()),
        Some(_) => Err(invalid(&format!("{path}/{name}"), "an array is expected")),
    }
}

/// A text member; empty if there is none.
pub(super) fn text<'t>(node: &'t Json, name: &str) -> &'t str {
    node.get(name).and_then(Json::as_str).unwrap_or("")
}

const PATH: &str = "/zabbix_export";

/// Options of both methods and the tree below `zabbix_export`.
fn read(call: &Call<'_>, input: &Json) -> ApiResult<(Rules, Json)> {
    if let Some(name) = input
        .as_object()
        .and_then(|m| m.keys().find(|k| !["format", "source", "rules"].contains(&k.as_str())))
    {
        return Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\"")));
    }
    let format = Format::read(input, false)?;
    let rules = Rules::read(input)?;
    gate::check_types(call.user(), &rules)?;
    let source = input
        .get("source")
        .ok_or_else(|| ApiError::at("/", "the parameter \"source\" is missing"))?;
    let source = match source {
        Json::String(text) => Cow::from(text),
        other => Cow::from(params::text(other, "/source")?),
    };
    if source.is_empty() {
        return Err(ApiError::at("/source", "cannot be empty"));
    }
    check_source(call.user(), format, &source)?;
    Ok((rules, tree_of(format, &source)?))
}

/// The tree below `zabbix_export`, in the form of 7.0.
pub(super) fn tree_of(format: Format, source: &str) -> ApiResult<Json> {
    let mut tree = format.parse(source)?;
    let Some(root) = tree.get_mut("zabbix_export").map(Json::take) else {
        return Err(invalid("/", "the tag \"zabbix_export\" is missing"));
    };
    let version =
        root.get("version").ok_or_else(|| invalid(PATH, "the tag \"version\" is missing"))?;
    if !version.as_str().is_some_and(|version| VERSIONS.contains(&version)) {
        return Err(invalid(&format!("{PATH}/version"), "unsupported version number"));
    }
    Ok(older::to_7_0(root))
}

/// `configuration.import`: all of it, or nothing.
pub(super) fn run(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let _place = call.api.imports.enter()?;
    // A client that left while its import waited may have sent it again.
    call.gone.check()?;
    let (rules, tree) = read(call, input)?;
    call.together(|call| Import::new(call, rules.clone()).tree(&tree))?;
    Ok(true.into())
}

/// `configuration.importcompare`: what an import would change.
pub(super) fn compare(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let _place = call.api.imports.enter()?;
    // A client that left while its import waited may have sent it again.
    call.gone.check()?;
    let (rules, tree) = read(call, input)?;
    difference::compare(call, &rules, &tree)
}

const MEMBERS: &[&str] = &[
    "version",
    "date",
    "groups",
    "template_groups",
    "host_groups",
    "templates",
    "hosts",
    "triggers",
    "graphs",
    "media_types",
    "images",
    "maps",
];

impl Import<'_, '_> {
    fn tree(&self, tree: &Json) -> ApiResult<()> {
        let Json::Object(members) = tree else {
            return Err(invalid(PATH, "an array is expected"));
        };
        if let Some(name) = members.keys().find(|name| !MEMBERS.contains(&name.as_str())) {
            return Err(invalid(PATH, &format!("unexpected tag \"{name}\"")));
        }
        self.groups(tree, PATH)?;
        let owners = links::sorted(self.owners(tree, PATH)?)?;
        self.require_owners(&owners)?;
        if owners.iter().any(|owner| !owner.is_template) {
            // Objects of hosts may refer to what the hosts inherit in this import.
            self.call.write(|edit| Ok(edit.inherit_at_once()?))?;
        }
        // First, because own objects may refer to inherited ones.
        self.link(&owners)?;
        for owner in &owners {
            self.value_maps(owner)?;
        }
        for owner in &owners {
            self.items(owner)?;
            self.web_scenarios(owner)?;
            self.discovery_rules(owner)?;
        }
        self.triggers(tree, &owners, PATH)?;
        self.graphs(tree, &owners, PATH)?;
        owners.iter().try_for_each(|owner| self.dashboards(owner))?;
        for owner in &owners {
            self.host_prototypes(owner)?;
        }
        self.images(tree, PATH)?;
        self.maps(tree, PATH)?;
        self.media_types(tree, PATH)?;
        self.delete_missing()
    }
}
