//! The load balancer's analytics: its objects as hosts with items, and the values of those items.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use ::api::Api;
use anyhow::Context;
use config::Config;
use config::engines::{self, Catalogue};
use control::analytics::{Board, Figure, Subject};
use eval::key::ItemKey;
use internals::ServerFigures;
use model::HostId;
use poll::{InternalValue, Internals};
use serde_json::{Value as Json, json};

use crate::first_start;

/// Templates of the hosts.
const SERVICE: &str = "Virtual service by Vedette";
const POOL: &str = "Pool by Vedette";
const ENGINE: &str = "Engine by Vedette";
const TEMPLATES: &str = include_str!("../../../../templates/load-balancer.yaml");
/// Group of the hosts.
const GROUP: &str = "Load balancer";

/// How often changes are looked for.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Longest visible name of a host, in characters.
const NAME_MAX: usize = 128;

/// Internal items: those of the load balancer, and the server's own.
#[derive(Debug)]
pub(crate) struct Figures {
    pub(crate) server: Arc<ServerFigures>,
    /// `None`: the server does not listen for engines.
    pub(crate) board: Option<Arc<Board>>,
}

impl Internals for Figures {
    fn value(&self, host: HostId, key: &ItemKey) -> Result<InternalValue, String> {
        let is = |at: usize, text: &str| key.param(at).as_deref() == Some(text);
        if !(is(0, "vedette") && is(1, "lb")) {
            return self.server.value(host, key);
        }
        let board = self.board.as_ref().ok_or("The server runs without --engines.")?;
        let snapshot = self.server.config.snapshot();
        let subject = snapshot.hosts.get(&host).and_then(|host| Subject::of_host(&host.host));
        let subject = subject.ok_or("The host is not one of the load balancer's objects.")?;
        let parameters: Vec<String> = (2..).map_while(|at| key.param(at)).collect();
        Ok(match board.value(subject, &parameters)? {
            Figure::Unsigned(number) => InternalValue::Unsigned(number),
            Figure::Float(number) => InternalValue::Float(number),
            Figure::Text(text) => InternalValue::Text(text),
            Figure::Nothing => InternalValue::Nothing,
        })
    }
}

/// Keeps a host for each object, until dropped.
pub(crate) async fn keep_hosts(api: Arc<Api>, config: Arc<Config>, board: Arc<Board>) {
    let mut seen = None;
    let mut fails = false;
    loop {
        let (api, config, board) = (Arc::clone(&api), Arc::clone(&config), Arc::clone(&board));
        let looked = tokio::task::spawn_blocking(move || follow(&api, &config, &board, seen)).await;
        match looked {
            Ok(Ok(newest)) => {
                seen = Some(newest);
                fails = false;
            }
            Ok(Err(error)) if !fails => {
                fails = true;
                tracing::warn!("cannot keep the hosts of the load balancer: {error:#}; retrying");
            }
            _ => {}
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Follows changes since a revision; returns the newest one.
fn follow(api: &Api, config: &Config, board: &Board, seen: Option<u64>) -> anyhow::Result<u64> {
    let newest = engines::revision(config)?;
    let changed = match seen {
        Some(seen) => newest > seen && engines::changed_since(config, seen)?,
        None => true,
    };
    if changed {
        let catalogue = config.read(Catalogue::read)?;
        let wanted = wanted(&catalogue);
        board.learn(catalogue);
        Hosts { api }.follow(&wanted)?;
    }
    Ok(newest)
}

/// A host as it should be.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    name: String,
    template: &'static str,
}

/// The hosts of all objects.
fn wanted(catalogue: &Catalogue) -> BTreeMap<Subject, Wanted> {
    let named = |kind: &str, name: &str, template| {
        let name = format!("{kind} {name}").chars().take(NAME_MAX).collect();
        Wanted { name, template }
    };
    let services = catalogue.services.iter().map(|(id, service)| {
        (Subject::Service(*id), named("Virtual service", &service.name, SERVICE))
    });
    let pools = catalogue
        .pools
        .iter()
        .map(|(id, pool)| (Subject::Pool(*id), named("Pool", &pool.name, POOL)));
    let engines = catalogue
        .engines
        .iter()
        .map(|(id, engine)| (Subject::Engine(*id), named("Engine", &engine.name, ENGINE)));
    services.chain(pools).chain(engines).collect()
}

/// The hosts in the configuration.
struct Hosts<'a> {
    api: &'a Api,
}

impl Hosts<'_> {
    /// Creates missing hosts, renames others, and deletes those without an object.
    fn follow(&self, wanted: &BTreeMap<Subject, Wanted>) -> anyhow::Result<()> {
        let found = self.found()?;
        let gone = found.iter().filter(|(subject, host)| {
            // A host without a template of ours belongs to somebody else.
            host.ours && !wanted.contains_key(subject)
        });
        let gone: Vec<&str> = gone.map(|(_, host)| host.id.as_str()).collect();
        if !gone.is_empty() {
            self.api.call_system("host.delete", &json!(gone))?;
        }
        let missing: Vec<_> =
            wanted.iter().filter(|(subject, _)| !found.contains_key(subject)).collect();
        if !missing.is_empty() {
            self.create(&missing)?;
        }
        for (subject, host) in &found {
            if let Some(wanted) = wanted.get(subject)
                && host.ours
                && wanted.name != host.name
            {
                let change = json!({ "hostid": host.id, "name": wanted.name });
                self.api.call_system("host.update", &change)?;
            }
        }
        Ok(())
    }

    fn create(&self, missing: &[(&Subject, &Wanted)]) -> anyhow::Result<()> {
        let group = self.group()?;
        let templates = self.templates()?;
        for (subject, wanted) in missing {
            let template = templates.get(wanted.template);
            let template =
                template.with_context(|| format!("the template {} is missing", wanted.template))?;
            let host = json!({
                "host": subject.host(),
                "name": wanted.name,
                "groups": [{ "groupid": group }],
                "templates": [{ "templateid": template }],
            });
            self.api
                .call_system("host.create", &host)
                .with_context(|| format!("the host {} cannot be created", wanted.name))?;
        }
        Ok(())
    }

    fn found(&self) -> anyhow::Result<BTreeMap<Subject, Found>> {
        let hosts = self.api.call_system(
            "host.get",
            &json!({
                "output": ["hostid", "host", "name"], "search": { "host": "lb." }, "startSearch": true,
                "selectParentTemplates": ["host"],
            }),
        )?;
        let hosts = hosts.as_array().into_iter().flatten();
        Ok(hosts
            .filter_map(|host| Some((Subject::of_host(text(host, "host"))?, Found::of(host))))
            .collect())
    }

    /// Id of the group; created if missing.
    fn group(&self) -> anyhow::Result<String> {
        let filter = json!({ "output": ["groupid"], "filter": { "name": [GROUP] } });
        let found = self.api.call_system("hostgroup.get", &filter)?;
        match found.get(0) {
            Some(group) => Ok(text(group, "groupid").to_owned()),
            None => {
                let group = json!({ "name": GROUP });
                first_start::id(&self.api.call_system("hostgroup.create", &group)?)
            }
        }
    }

    /// Ids of the templates by name; imported if one is missing. Changed ones stay as they are.
    fn templates(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let names = [SERVICE, POOL, ENGINE];
        let filter = json!({ "output": ["templateid", "host"], "filter": { "host": names } });
        let read = || -> anyhow::Result<BTreeMap<String, String>> {
            let found = self.api.call_system("template.get", &filter)?;
            let found = found.as_array().into_iter().flatten();
            Ok(found
                .map(|one| (text(one, "host").to_owned(), text(one, "templateid").to_owned()))
                .collect())
        };
        let found = read()?;
        if found.len() == names.len() {
            return Ok(found);
        }
        first_start::import(self.api, "load-balancer", TEMPLATES)?;
        read()
    }
}

/// An existing host.
struct Found {
    id: String,
    name: String,
    /// It has a template of ours.
    ours: bool,
}

impl Found {
    fn of(host: &Json) -> Self {
        let templates = host.get("parentTemplates").and_then(Json::as_array);
        let mut templates = templates.into_iter().flatten();
        Self {
            id: text(host, "hostid").to_owned(),
            name: text(host, "name").to_owned(),
            ours: templates
                .any(|template| [SERVICE, POOL, ENGINE].contains(&text(template, "host"))),
        }
    }
}

fn text<'j>(object: &'j Json, member: &str) -> &'j str {
    object.get(member).and_then(Json::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use config::engines::{CatalogueEngine, CataloguePool, CatalogueService};

    use super::*;

    #[test]
    fn each_object_has_a_host_with_its_name_and_template() {
        let long = "ä".repeat(NAME_MAX);
        let catalogue = Catalogue {
            services: [(7, CatalogueService { name: "web".to_owned(), ..Default::default() })]
                .into(),
            pools: [(3, CataloguePool { name: long, ..Default::default() })].into(),
            engines: [(1, CatalogueEngine { name: "lb-1".to_owned(), enrolled: false })].into(),
        };
        let wanted = wanted(&catalogue);
        let service = Wanted { name: "Virtual service web".to_owned(), template: SERVICE };
        assert_eq!(wanted[&Subject::Service(7)], service);
        assert_eq!(wanted[&Subject::Engine(1)].template, ENGINE);
        let pool = &wanted[&Subject::Pool(3)];
        assert!(pool.name.starts_with("Pool ää") && pool.name.chars().count() == NAME_MAX);
    }

    #[test]
    fn the_templates_have_the_names_that_hosts_are_linked_to() {
        for name in [SERVICE, POOL, ENGINE] {
            assert!(TEMPLATES.contains(&format!("template: {name}\n")), "{name}");
        }
    }
}
