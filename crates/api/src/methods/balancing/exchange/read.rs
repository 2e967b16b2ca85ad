//! A file as objects by name. What it does not say of an object stays as it is.

use balancing::{
    AcmeOrder, Certificate, CertificateNotes, Config, Controller, EngineGroupNotes, HIDDEN,
    MonitorNotes, Named, Pem, Pool, named,
};
use config::engines::hosts::TriggerFilter;
use config::engines::pem;
use serde::Serialize;
use serde_json::json;

use super::kinds::{Entry, Kind, World, elements, text};
use crate::call::Json;
use crate::error::{ApiError, ApiResult};

/// Type of monitors that look at monitored hosts.
const TRIGGER: &str = "trigger";

/// What a file does not say itself.
pub(super) struct Around<'w> {
    /// The objects that exist.
    pub(super) now: &'w World,
    /// Name of the engine group of services for which nothing names one.
    pub(super) group: Option<&'w str>,
}

/// A file while it is read.
pub(super) struct Reading<'r> {
    pub(super) config: &'r Config,
    pub(super) notes: &'r Controller,
    pub(super) around: &'r Around<'r>,
    /// The file with members that have their defaults left out.
    pub(super) shortened: Json,
    pub(super) world: World,
}

impl World {
    /// The objects of a file.
    pub(super) fn of(config: &Config, around: &Around<'_>) -> ApiResult<Self> {
        let none = Controller::default();
        let notes = config.controller.as_ref().unwrap_or(&none);
        let shortened = config.shortened().map_err(ApiError::application)?;
        let world = Self::default();
        let mut reading = Reading { config, notes, around, shortened, world };
        for group in &notes.engine_groups {
            let entry = reading.engine_group(group);
            reading.world.insert(Kind::EngineGroup, &group.name, entry)?;
        }
        reading.vips()?;
        reading.certificates()?;
        reading.monitors()?;
        reading.pools()?;
        reading.pool_groups()?;
        reading.services()?;
        reading.refuse_unknown()?;
        Ok(reading.world)
    }
}

impl Reading<'_> {
    /// An entry with the description of the object alone.
    pub(super) fn described<T: Named>(&self, kind: Kind, note: Option<&T>, name: &str) -> Entry {
        let before = self.around.now.get(kind, name);
        let text = match note {
            Some(note) => note.description(),
            None => before.map_or("", |before| text(before, "description")),
        };
        let mut entry = Entry::new();
        if !text.is_empty() {
            entry.insert("description".to_owned(), text.into());
        }
        entry
    }

    fn engine_group(&self, group: &EngineGroupNotes) -> Entry {
        let mut entry = self.described(Kind::EngineGroup, Some(group), &group.name);
        let EngineGroupNotes { failover_after, announce, .. } = group;
        for (member, number) in [
            ("ha_mode", group.ha_mode),
            ("placement", group.placement),
            ("engines_per_vip", group.engines_per_vip),
            ("spare_engines", group.spare_engines),
            ("vips_per_engine", group.vips_per_engine),
            ("rebalance", group.rebalance),
        ] {
            put(&mut entry, member, Some(number).filter(|number| *number != 0));
        }
        put(&mut entry, "failover_after", failover_after.filter(|after| *after != 3));
        put(&mut entry, "announce", announce.as_ref());
        entry
    }

    fn vips(&mut self) -> ApiResult<()> {
        for vip in &self.notes.vips {
            let mut entry = self.described(Kind::Vip, Some(vip), &vip.name);
            put(&mut entry, "ipv4", vip.ipv4.map(|ip| ip.to_string()));
            put(&mut entry, "ipv6", vip.ipv6.map(|ip| ip.to_string()));
            put(&mut entry, "dns_names", Some(&vip.dns_names).filter(|names| !names.is_empty()));
            self.world.insert(Kind::Vip, &vip.name, entry)?;
        }
        Ok(())
    }

    fn certificates(&mut self) -> ApiResult<()> {
        const KIND: Kind = Kind::Certificate;
        let notes = &self.notes.certificates;
        for certificate in &self.config.certificates {
            let name = &certificate.name;
            let note = named(notes, name);
            if note.is_some_and(|note| note.acme.is_some()) {
                let text = "it stands in 'certificates' and has 'acme' in 'controller'; keep one";
                return Err(KIND.error(name, text));
            }
            let mut entry = self.described(KIND, note, name);
            let before = self.around.now.get(KIND, name);
            let chain = chain(certificate).map_err(|problem| KIND.error(name, problem))?;
            let key = key(certificate, before).map_err(|problem| KIND.error(name, problem))?;
            put(&mut entry, "certificate", Some(chain));
            put(&mut entry, "private_key", key);
            self.world.insert(KIND, name, entry)?;
        }
        for (name, order) in self.orders() {
            let note: Option<&CertificateNotes> = named(notes, &name);
            let mut entry = self.described(KIND, note, &name);
            put(&mut entry, "acme", Some(order));
            self.world.insert(KIND, &name, entry)?;
        }
        for expected in &self.config.expected_certificates {
            let name = &expected.name;
            if self.world.get(KIND, name).is_none() {
                let text = "the file has neither its text nor what is ordered; add it to \
                            'certificates', or 'acme' to 'controller.certificates'";
                let before = self.around.now.get(KIND, name);
                let before = before.ok_or_else(|| KIND.error(name, text))?;
                self.world.insert(KIND, name, before.clone())?;
            }
        }
        Ok(())
    }

    /// Certificates that are ordered: those of the server, and those of a lone engine.
    fn orders(&self) -> Vec<(String, AcmeOrder)> {
        let of_notes = self.notes.certificates.iter();
        let of_notes = of_notes.filter_map(|note| Some((note.name.clone(), note.acme.clone()?)));
        let of_engine = self.config.acme.iter().flat_map(|acme| {
            acme.certificates.iter().map(|one| {
                let order = AcmeOrder {
                    domains: one.domains.clone(),
                    challenge: one.challenge,
                    directory: acme.directory.clone(),
                    ca: acme.ca.clone(),
                    contact: acme.contact.clone(),
                    terms_agreed: acme.terms_agreed,
                };
                (one.name.clone(), order)
            })
        });
        of_notes.chain(of_engine).collect()
    }

    fn monitors(&mut self) -> ApiResult<()> {
        const KIND: Kind = Kind::HealthMonitor;
        for (n, pool) in self.config.pools.iter().enumerate() {
            let shortened = self.shortened["pools"][n].get("health");
            // One monitor is no list.
            let shortened: Vec<&Json> = match shortened {
                Some(Json::Array(all)) => all.iter().collect(),
                one => one.into_iter().collect(),
            };
            for (name, health) in monitor_names(pool).into_iter().zip(shortened) {
                let mut entry =
                    self.described(KIND, named(&self.notes.health_monitors, &name), &name);
                entry.extend(health.as_object().cloned().unwrap_or_default());
                entry.shift_remove("name");
                match self.world.get(KIND, &name) {
                    None => self.world.insert(KIND, &name, entry)?,
                    Some(other) if *other == entry => {}
                    Some(_) => {
                        let problem = format!(
                            "pool '{}' has it with other settings than another pool; give it \
                             another name there",
                            pool.name
                        );
                        return Err(KIND.error(&name, problem));
                    }
                }
            }
        }
        let listed = self.shortened["controller"]["health_monitors"].clone();
        for (n, note) in self.notes.health_monitors.iter().enumerate() {
            let is_of_pool = self.world.get(KIND, &note.name).is_some();
            let mut entry = self.described(KIND, Some(note), &note.name);
            match (of_note(note, &listed[n])?, is_of_pool) {
                (Some(_), true) => {
                    let text = "a pool has its settings; remove those in 'controller'";
                    return Err(KIND.error(&note.name, text));
                }
                (Some(settings), false) => entry.extend(settings),
                (None, true) => continue,
                (None, false) => {
                    let text = "no pool of the file has it; add 'health' or 'trigger_filter'";
                    return Err(KIND.error(&note.name, text));
                }
            }
            self.world.insert(KIND, &note.name, entry)?;
        }
        Ok(())
    }

    fn pools(&mut self) -> ApiResult<()> {
        for (n, pool) in self.config.pools.iter().enumerate() {
            let entry = self.pool(pool, self.shortened["pools"][n].clone())?;
            self.world.insert(Kind::Pool, &pool.name, entry)?;
        }
        Ok(())
    }

    fn pool(&self, pool: &Pool, shortened: Json) -> ApiResult<Entry> {
        const KIND: Kind = Kind::Pool;
        let name = &pool.name;
        let note = named(&self.notes.pools, name);
        let before = self.around.now.get(KIND, name);
        let mut entry = self.described(KIND, note, name);
        entry.extend(taken(shortened));
        entry.shift_remove("health");
        if entry.contains_key("protocol") {
            let text = "'protocol' is for engines that run alone; remove it";
            return Err(KIND.error(name, text));
        }
        let monitors = self.monitors_of(pool)?;
        put(&mut entry, "monitors", Some(monitors).filter(|names| !names.is_empty()));
        let maintenance = match note {
            Some(note) => note.host_maintenance.clone(),
            None => before
                .and_then(|before| before.get("host_maintenance")?.as_str().map(str::to_owned)),
        };
        // What the server does of itself is left out like other defaults.
        put(&mut entry, "host_maintenance", maintenance.filter(|word| word != "ignore"));
        let host = |server: &str| -> Option<String> {
            if let Some(note) = note {
                return note.hosts.get(server).cloned();
            }
            let servers = elements(before?, "servers").iter().filter_map(Json::as_object);
            let mut same = servers.filter(|one| text(one, "name") == server);
            same.next()?.get("host")?.as_str().map(str::to_owned)
        };
        for server in entry.get_mut("servers").and_then(Json::as_array_mut).into_iter().flatten() {
            let Some(server) = server.as_object_mut() else { continue };
            let host = host(text(server, "name"));
            put(server, "host", host);
        }
        let servers: Vec<&str> = pool.servers.iter().map(|server| &*server.name).collect();
        let mut linked = note.into_iter().flat_map(|note| note.hosts.keys());
        match linked.find(|server| !servers.contains(&server.as_str())) {
            Some(server) => {
                let text = format!("'controller' names server '{server}', which it has not");
                Err(KIND.error(name, text))
            }
            None => Ok(entry),
        }
    }

    /// Names of all monitors of a pool in their order.
    fn monitors_of(&self, pool: &Pool) -> ApiResult<Vec<String>> {
        let own = monitor_names(pool);
        let is_other = |name: &str| {
            let entry = self.world.get(Kind::HealthMonitor, name);
            let entry = entry.or_else(|| self.around.now.get(Kind::HealthMonitor, name));
            entry.is_some_and(|entry| text(entry, "type") == TRIGGER)
        };
        let wanted: Vec<String> = match named(&self.notes.pools, &pool.name) {
            Some(note) => {
                let known = |name: &&String| own.contains(name) || is_other(name);
                if let Some(name) = note.monitors.iter().find(|name| !known(name)) {
                    let text = format!(
                        "'controller' names monitor '{name}', which is neither in its 'health' \
                         nor of type trigger"
                    );
                    return Err(Kind::Pool.error(&pool.name, text));
                }
                note.monitors.clone()
            }
            None => {
                let before = self.around.now.get(Kind::Pool, &pool.name);
                let before = before.map(|before| elements(before, "monitors")).unwrap_or_default();
                let before = before.iter().filter_map(Json::as_str);
                before
                    .filter(|name| is_other(name) || own.iter().any(|own| own == name))
                    .map(str::to_owned)
                    .collect()
            }
        };
        // The file's own order counts, and monitors of the server keep their places in it.
        let mut own = own.into_iter();
        let mut all: Vec<String> = wanted
            .into_iter()
            .filter_map(|name| if is_other(&name) { Some(name) } else { own.next() })
            .collect();
        all.extend(own);
        Ok(all)
    }

    fn pool_groups(&mut self) -> ApiResult<()> {
        for (n, group) in self.config.pool_groups.iter().enumerate() {
            let note = named(&self.notes.pool_groups, &group.name);
            let mut entry = self.described(Kind::PoolGroup, note, &group.name);
            entry.extend(taken(self.shortened["pool_groups"][n].clone()));
            self.world.insert(Kind::PoolGroup, &group.name, entry)?;
        }
        Ok(())
    }

    /// Refuses notes on objects that the file does not have: they would have no effect.
    fn refuse_unknown(&self) -> ApiResult<()> {
        self.refuse_strays(Kind::Certificate, &self.notes.certificates)?;
        self.refuse_strays(Kind::Pool, &self.notes.pools)?;
        self.refuse_strays(Kind::PoolGroup, &self.notes.pool_groups)?;
        self.refuse_strays(Kind::VirtualService, &self.notes.virtual_services)
    }

    fn refuse_strays<T: Named>(&self, kind: Kind, notes: &[T]) -> ApiResult<()> {
        match notes.iter().find(|note| self.world.get(kind, note.name()).is_none()) {
            Some(note) => {
                let problem = format!(
                    "'controller' names it, but it is not in '{}' of the file; correct the name",
                    kind.list()
                );
                Err(kind.error(note.name(), problem))
            }
            None => Ok(()),
        }
    }
}

/// Settings of a monitor that stands with the server's notes.
fn of_note(note: &MonitorNotes, shortened: &Json) -> ApiResult<Option<Entry>> {
    const KIND: Kind = Kind::HealthMonitor;
    match (&note.trigger_filter, &note.health) {
        (None, None) => Ok(None),
        (None, Some(_)) => Ok(Some(taken(shortened["health"].clone()))),
        (Some(filter), None) => {
            let filter = serde_json::from_value::<TriggerFilter>(filter.clone().into());
            let filter = filter
                .map_err(|error| KIND.error(&note.name, format!("'trigger_filter': {error}")))?;
            let mut entry = Entry::new();
            put(&mut entry, "type", Some(TRIGGER));
            put(&mut entry, "trigger_filter", Some(filter));
            Ok(Some(entry))
        }
        (Some(_), Some(_)) => {
            Err(KIND.error(&note.name, "it has 'health' and 'trigger_filter'; keep one"))
        }
    }
}

/// Names of a pool's monitors for the server, where they are unique: those without one get the pool's.
fn monitor_names(pool: &Pool) -> Vec<String> {
    let given = pool.health.0.iter().map(|health| &health.name);
    let name = |(given, monitor): (&String, balancing::Health)| match given.as_str() {
        "" => format!("{} {}", pool.name, monitor.name),
        given => given.to_owned(),
    };
    given.zip(pool.monitors()).map(name).collect()
}

/// The chain as it is stored.
fn chain(certificate: &Certificate) -> Result<String, String> {
    let Pem::Text(text) = &certificate.cert else { return Err(no_file("cert")) };
    let written = pem::service_chain(text).and_then(|chain| pem::facts(&chain));
    // The method refuses a text that cannot be used.
    Ok(written.map_or_else(|_| text.clone(), |facts| facts.chain))
}

/// The key as it is stored; a hidden one stays. None: nothing is stored.
fn key(certificate: &Certificate, before: Option<&Entry>) -> Result<Option<String>, String> {
    match &certificate.key {
        Pem::File(file) if file.as_os_str() == HIDDEN => {
            let before = before.map_or("", |before| text(before, "private_key"));
            Ok(Some(before.to_owned()).filter(|key| !key.is_empty()))
        }
        Pem::File(_) => Err(no_file("key")),
        Pem::Text(text) => {
            Ok(Some(pem::key(text).map_or_else(|_| text.clone(), |(_, written)| written)))
        }
    }
}

fn no_file(member: &str) -> String {
    format!(
        "'{member}' is the name of a file, which the server does not read; write its text there"
    )
}

/// The members of an object but its name.
pub(super) fn taken(value: Json) -> Entry {
    let Json::Object(mut members) = value else { return Entry::new() };
    members.shift_remove("name");
    members
}

/// Sets a member, unless there is no value.
pub(super) fn put(entry: &mut Entry, member: &str, value: Option<impl Serialize>) {
    if let Some(value) = value {
        entry.insert(member.to_owned(), json!(value));
    }
}
