//! `loadbalancer.import` and `.importcompare`: what a file has and the server has not is created, what differs is
//! updated, and what the file does not have is deleted, as far as the rules allow it.

use std::collections::{BTreeMap, BTreeSet};

use balancing::Config;
use config::engines::Objects;
use serde_json::{Map, json};

use super::Stored;
use super::kinds::{Entry, Kind, World, require_secrets, shown, text};
use super::names::Ids;
use super::read::Around;
use super::unique;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::exchange::check_yaml;
use crate::methods::balancing::{compare, refused};
use crate::object::missing;
use crate::write::{only, required_list};
use crate::{params, permission, rpc};

/// What may be done with objects of one kind.
#[derive(Debug, Clone, Copy, Default)]
struct Rule {
    create: bool,
    update: bool,
    delete: bool,
}

/// What a call asks for.
struct Request {
    config: Config,
    rules: BTreeMap<Kind, Rule>,
    /// Engine group of services for which nothing names one.
    group: Option<u64>,
}

impl Request {
    fn read(call: &Call<'_>, input: &Json) -> ApiResult<Self> {
        let members =
            input.as_object().ok_or_else(|| ApiError::at("/", "an object is expected"))?;
        only(members, "/", &["source", "rules", "enginegroupid"])?;
        let rules = rules(input)?;
        let source = input.get("source").ok_or_else(|| missing("/", "source"))?;
        let source = params::text(source, "/source")?;
        check_yaml(call.user(), &source)?;
        let config = Config::parse(&source).map_err(|problem| {
            // The lines behind the first one show the place in the file, which may have secrets.
            let problem = problem.lines().next().unwrap_or_default();
            ApiError::at("/source", problem.trim_start_matches("error: "))
        })?;
        let group = input.get("enginegroupid").map(|id| params::id(id, "/enginegroupid"));
        Ok(Self { config, rules, group: group.transpose()? })
    }

    fn rule(&self, kind: Kind) -> Rule {
        self.rules.get(&kind).copied().unwrap_or_default()
    }

    /// Members of the file that only a lone engine uses.
    fn ignored(&self) -> Vec<&'static str> {
        let config = &self.config;
        let given = [
            ("threads", config.threads.is_some()),
            ("name", config.name.is_some()),
            ("transactions", config.transactions.is_some()),
            ("ocsp", config.ocsp.is_some()),
            ("monitor_scripts", config.monitor_scripts.is_some()),
            ("acme.folder", config.acme.is_some()),
        ];
        given.into_iter().filter_map(|(name, given)| given.then_some(name)).collect()
    }
}

fn rules(input: &Json) -> ApiResult<BTreeMap<Kind, Rule>> {
    let given = input.get("rules").ok_or_else(|| missing("/", "rules"))?;
    let given = given.as_object().ok_or_else(|| ApiError::at("/rules", "an object is expected"))?;
    only(given, "/rules", &Kind::ALL.map(Kind::list))?;
    let mut rules = BTreeMap::new();
    for kind in Kind::ALL {
        let Some(rule) = given.get(kind.list()) else { continue };
        let path = format!("/rules/{}", kind.list());
        let members =
            rule.as_object().ok_or_else(|| ApiError::at(&path, "an object is expected"))?;
        only(members, &path, &["createMissing", "updateExisting", "deleteMissing"])?;
        let flag = |name: &str| params::flag(rule.get(name));
        let rule = Rule {
            create: flag("createMissing"),
            update: flag("updateExisting"),
            delete: flag("deleteMissing"),
        };
        rules.insert(kind, rule);
    }
    Ok(rules)
}

/// `loadbalancer.import`: all of it, or nothing.
pub(super) fn run(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let _place = call.api.imports.enter()?;
    // A client that left while its import waited may have sent it again.
    call.gone.check()?;
    let request = Request::read(call, input)?;
    call.together_unordered(|call| carry_out(call, &request))
}

/// `loadbalancer.importcompare`: the import is carried out and taken back, so that it is checked like a real one.
pub(super) fn compare(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let _place = call.api.imports.enter()?;
    call.gone.check()?;
    let request = Request::read(call, input)?;
    let mut compared = None;
    let undone: ApiResult<()> = call.together_unordered(|call| {
        compared = Some(carry_out(call, &request)?);
        Err(ApiError::application("BUG: a comparison changes nothing"))
    });
    match (compared, undone) {
        (Some(compared), _) => Ok(compared),
        (None, result) => result.map(|()| Json::Null),
    }
}

fn carry_out(call: &Call<'_>, request: &Request) -> ApiResult<Json> {
    let services =
        || call.read(|connection| Objects::all(connection).map_err(|error| refused("/", error)));
    let before = services()?;
    let stored = Stored::read(call)?.config;
    let now = World::of(&stored, &Around { now: &World::default(), group: None })?;
    let group = request.group.map(|id| group_name(call, id)).transpose()?;
    let around = Around { now: &now, group: group.as_deref() };
    let wanted = World::of(&request.config, &around)?;
    let ids = Ids::read(call, &wanted)?;
    let (referred, done) = (wanted.referred(), Done::default());
    let mut import = Import { call, request, now: &now, wanted: &wanted, referred, ids, done };
    // Nothing uses services, and their ports may be needed.
    import.delete(Kind::VirtualService)?;
    for kind in Kind::ALL {
        import.write(kind)?;
    }
    let others = Kind::ALL.into_iter().rev().filter(|kind| *kind != Kind::VirtualService);
    for kind in others {
        import.delete(kind)?;
    }
    unique::check(call, &|kind, name| import.done.is_written(kind, name))?;
    let touched = compare::difference(&before, &services()?);
    let objects = import.done.shown(&now, &wanted);
    Ok(json!({ "objects": objects, "services": touched, "ignored": request.ignored() }))
}

fn group_name(call: &Call<'_>, id: u64) -> ApiResult<String> {
    let rows = call.rows("SELECT name FROM enginegroups WHERE enginegroupid = ?", &[id.into()])?;
    let name = rows.first().map(|row| row.text("name").to_owned());
    name.ok_or_else(ApiError::no_object)
}

/// Whether a text, or one within an object or list, is the name.
fn mentions(value: &Json, name: &str) -> bool {
    match value {
        Json::String(text) => text == name,
        Json::Array(elements) => elements.iter().any(|one| mentions(one, name)),
        Json::Object(members) => members.values().any(|one| mentions(one, name)),
        _ => false,
    }
}

/// What happened to an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fate {
    Added,
    Updated,
    Removed,
    /// It is as in the file.
    Unchanged,
    /// It is not as in the file, but the rules leave it alone.
    Skipped,
}

#[derive(Debug, Default)]
struct Done(BTreeMap<Kind, BTreeMap<Fate, Vec<String>>>);

impl Done {
    fn note(&mut self, kind: Kind, fate: Fate, name: &str) {
        self.0.entry(kind).or_default().entry(fate).or_default().push(name.to_owned());
    }

    fn is_written(&self, kind: Kind, name: &str) -> bool {
        let has = |names: &Vec<String>| names.iter().any(|one| one == name);
        let fates = self.0.get(&kind);
        let written = [Fate::Added, Fate::Updated].map(|fate| fates.and_then(|all| all.get(&fate)));
        written.into_iter().flatten().any(has)
    }

    /// In the form of `configuration.importcompare`, with the names of what stays.
    fn shown(&self, now: &World, wanted: &World) -> Json {
        let of_kind = |kind: Kind, fates: &BTreeMap<Fate, Vec<String>>| -> Json {
            let mut out = Map::new();
            for (fate, names) in fates {
                let (word, one): (_, &dyn Fn(&String) -> Json) = match fate {
                    Fate::Added => {
                        ("added", &|name| json!({ "after": side(wanted, kind, name, None) }))
                    }
                    Fate::Updated => ("updated", &|name| {
                        json!({
                            "before": side(now, kind, name, None),
                            "after": side(wanted, kind, name, Some(now)),
                        })
                    }),
                    Fate::Removed => {
                        ("removed", &|name| json!({ "before": side(now, kind, name, None) }))
                    }
                    Fate::Unchanged => ("unchanged", &|name| name.as_str().into()),
                    Fate::Skipped => ("skipped", &|name| name.as_str().into()),
                };
                out.insert(word.to_owned(), names.iter().map(one).collect());
            }
            out.into()
        };
        let kinds =
            self.0.iter().map(|(kind, fates)| (kind.list().to_owned(), of_kind(*kind, fates)));
        Json::Object(kinds.collect())
    }
}

fn side(world: &World, kind: Kind, name: &str, before: Option<&World>) -> Json {
    let before = before.and_then(|before| before.get(kind, name));
    world.get(kind, name).map_or(Json::Null, |entry| shown(name, entry, before))
}

struct Import<'i, 'a> {
    call: &'i Call<'a>,
    request: &'i Request,
    now: &'i World,
    wanted: &'i World,
    /// What objects of the file refer to.
    referred: BTreeSet<(Kind, &'i str)>,
    ids: Ids,
    done: Done,
}

impl Import<'_, '_> {
    /// Creates and updates objects of a kind.
    fn write(&mut self, kind: Kind) -> ApiResult<()> {
        let rule = self.request.rule(kind);
        for (name, entry) in self.wanted.all(kind) {
            self.check_vip(kind, name, entry)?;
            let fate = match self.now.get(kind, name) {
                None if rule.create => {
                    let id = self.create(kind, name, entry)?;
                    self.ids.put(kind, name, id);
                    Fate::Added
                }
                Some(before) if before == entry && !self.turns(entry) => Fate::Unchanged,
                Some(_) if rule.update => {
                    self.update(kind, name, entry)?;
                    Fate::Updated
                }
                _ => Fate::Skipped,
            };
            self.done.note(kind, fate, name);
        }
        Ok(())
    }

    /// Whether a name in an object stands for a pool group instead of a pool, or the other way round.
    fn turns(&self, entry: &Entry) -> bool {
        let both = [(Kind::Pool, Kind::PoolGroup), (Kind::PoolGroup, Kind::Pool)];
        let mut turned = both.into_iter().flat_map(|(before, after)| {
            let names = self.wanted.all(after).map(|(name, _)| name);
            names.filter(move |name| {
                self.now.get(before, name).is_some() && self.wanted.get(before, name).is_none()
            })
        });
        turned.any(|name| entry.values().any(|value| mentions(value, name)))
    }

    /// Refuses to write a service whose VIP the rules leave with other addresses than the file has.
    fn check_vip(&self, kind: Kind, name: &str, entry: &Entry) -> ApiResult<()> {
        let rule = self.request.rule(kind);
        let before = self.now.get(kind, name);
        let is_written = before.map_or(rule.create, |before| rule.update && before != entry);
        let vip = text(entry, "vip");
        let both = (self.now.get(Kind::Vip, vip), self.wanted.get(Kind::Vip, vip));
        let (Some(now), Some(wanted)) = both else { return Ok(()) };
        let differ = ["ipv4", "ipv6"].iter().any(|one| text(now, one) != text(wanted, one));
        if kind != Kind::VirtualService
            || !is_written
            || !differ
            || self.request.rule(Kind::Vip).update
        {
            return Ok(());
        }
        let problem = format!(
            "its VIP \"{vip}\" has other addresses than the file, and the rules do not update it"
        );
        Err(kind.error(name, problem))
    }

    fn create(&self, kind: Kind, name: &str, entry: &Entry) -> ApiResult<u64> {
        require_secrets(kind, name, entry)?;
        let mut params = self.ids.params(kind, name, entry)?;
        params.insert("name".to_owned(), name.into());
        let made = self.call_method(kind, "create", name, &params.into())?;
        let ids = made.as_object().and_then(|made| made.keys().next().cloned()).unwrap_or_default();
        let made = required_list(&made, &ids)?;
        made.first().copied().ok_or_else(|| kind.error(name, "BUG: it was not created"))
    }

    fn update(&self, kind: Kind, name: &str, entry: &Entry) -> ApiResult<()> {
        require_secrets(kind, name, entry)?;
        let mut params = self.ids.params(kind, name, entry)?;
        params.insert(kind.key().to_owned(), self.id(kind, name)?.to_string().into());
        self.call_method(kind, "update", name, &params.into()).map(drop)
    }

    /// Deletes objects of a kind that the file neither has nor refers to.
    fn delete(&mut self, kind: Kind) -> ApiResult<()> {
        if !self.request.rule(kind).delete {
            return Ok(());
        }
        let gone = self.now.all(kind).filter(|(name, _)| {
            self.wanted.get(kind, name).is_none() && !self.referred.contains(&(kind, name.as_str()))
        });
        for (name, _) in gone {
            let id = self.id(kind, name)?.to_string();
            self.call_method(kind, "delete", name, &json!([id]))?;
            self.done.note(kind, Fate::Removed, name);
        }
        Ok(())
    }

    fn id(&self, kind: Kind, name: &str) -> ApiResult<u64> {
        self.ids.get(kind, name).ok_or_else(|| kind.error(name, "it does not exist"))
    }

    /// Calls a method of an object, if the user's role does not deny it.
    fn call_method(&self, kind: Kind, action: &str, name: &str, params: &Json) -> ApiResult<Json> {
        let method = kind.method(action);
        permission::check_not_denied(self.call.user(), &method)?;
        let result = rpc::run_inner(self.call, &method, params);
        result.map_err(|error| kind.refused(name, error))
    }
}
