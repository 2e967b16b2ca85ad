//! Virtual services of a file: their addresses become VIPs, hidden secrets those that are stored.

use std::net::IpAddr;

use balancing::{Authentication, Listen, ServiceNotes, VirtualService, named};

use super::kinds::{Entry, Kind, World, text};
use super::read::{Reading, put, taken};
use crate::call::Json;
use crate::error::ApiResult;

const KIND: Kind = Kind::VirtualService;

/// Where a service listens, as the server can store it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Addresses {
    ipv4: Option<String>,
    ipv6: Option<String>,
    port: u16,
}

impl Addresses {
    fn of(listen: &Listen) -> Result<Self, &'static str> {
        const SEVERAL: &str = "the server stores one port, and at most one IPv4 and one IPv6 address, for a \
                               service; write a service for each port and address";
        let all = listen.addresses();
        let mut found = Self { port: all.first().map_or(0, |one| one.port()), ..Self::default() };
        for one in all {
            let (place, text) = match one.ip() {
                IpAddr::V4(ip) => (&mut found.ipv4, ip.to_string()),
                IpAddr::V6(ip) => (&mut found.ipv6, ip.to_string()),
            };
            if one.port() != found.port || place.replace(text).is_some() {
                return Err(SEVERAL);
            }
        }
        Ok(found)
    }

    fn are_of(&self, vip: &Entry) -> bool {
        let same = |own: &Option<String>, member| own.as_deref().unwrap_or("") == text(vip, member);
        same(&self.ipv4, "ipv4") && same(&self.ipv6, "ipv6")
    }

    fn name(&self) -> String {
        let both = [&self.ipv4, &self.ipv6].into_iter().flatten();
        both.map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    fn entry(&self) -> Entry {
        let mut entry = Entry::new();
        put(&mut entry, "ipv4", self.ipv4.as_ref());
        put(&mut entry, "ipv6", self.ipv6.as_ref());
        entry
    }
}

impl Reading<'_> {
    pub(super) fn services(&mut self) -> ApiResult<()> {
        let config = self.config;
        let enabled =
            config.virtual_services.iter().zip(array(&self.shortened["virtual_services"]));
        let disabled = &self.shortened["controller"]["disabled_services"];
        let disabled = self.notes.disabled_services.iter().zip(array(disabled));
        let all = enabled.map(|(service, shortened)| (service, shortened, true));
        let all: Vec<(&VirtualService, Json, bool)> =
            all.chain(disabled.map(|(service, shortened)| (service, shortened, false))).collect();
        for (service, shortened, is_enabled) in all {
            let mut entry = self.service(service, shortened)?;
            if !is_enabled {
                entry.insert("enabled".to_owned(), false.into());
            }
            self.world.insert(KIND, &service.name, entry)?;
        }
        Ok(())
    }

    fn service(&mut self, service: &VirtualService, shortened: Json) -> ApiResult<Entry> {
        let name = &service.name;
        let note = named(&self.notes.virtual_services, name);
        let before = self.around.now.get(KIND, name);
        let kept = |member: &str| before.and_then(|before| before.get(member)).cloned();
        let mut entry = self.described(KIND, note, name);
        entry.extend(taken(shortened));
        if entry.contains_key("h2c") {
            return Err(KIND.error(name, "'h2c' is for engines that run alone; remove it"));
        }
        let tags = match note {
            Some(note) if note.tags.is_empty() => None,
            Some(note) => serde_json::to_value(&note.tags).ok(),
            None => kept("tags"),
        };
        put(&mut entry, "tags", tags);
        let group = note.and_then(|note| note.engine_group.clone().map(Json::from));
        let group = group.or_else(|| kept("engine_group"));
        let group = group.or_else(|| self.around.group.map(Json::from)).ok_or_else(|| {
            let text = "it is new, and nothing names its engine group; set \"enginegroupid\", or \
                        'engine_group' in 'controller.virtual_services'";
            KIND.error(name, text)
        })?;
        put(&mut entry, "engine_group", Some(group));
        // Certificates are a list of the service's own.
        let mut tls = entry.get("tls").cloned().map(taken).unwrap_or_default();
        put(&mut entry, "certificates", tls.shift_remove("certificates"));
        match tls.is_empty() {
            true => entry.shift_remove("tls"),
            false => entry.insert("tls".to_owned(), tls.into()),
        };
        if let Some(policies) = &service.authentication {
            let policies = restored(policies, kept("authentication"));
            put(&mut entry, "authentication", Some(policies));
        }
        self.listen(service, note, &mut entry)?;
        Ok(entry)
    }

    /// Sets the port, and the VIP with the service's addresses.
    fn listen(
        &mut self,
        service: &VirtualService,
        note: Option<&ServiceNotes>,
        entry: &mut Entry,
    ) -> ApiResult<()> {
        let name = &service.name;
        entry.shift_remove("listen");
        let addresses =
            Addresses::of(&service.listen).map_err(|problem| KIND.error(name, problem))?;
        put(entry, "port", Some(addresses.port));
        let now = self.around.now;
        let vip = |of: &str| self.world.get(Kind::Vip, of).or_else(|| now.get(Kind::Vip, of));
        if let Some(wanted) = note.and_then(|note| note.vip.as_deref()) {
            if vip(wanted).is_some_and(|vip| !addresses.are_of(vip)) {
                let text = format!(
                    "it listens on {}, but its VIP \"{wanted}\" has other addresses; change both",
                    addresses.name()
                );
                return Err(KIND.error(name, text));
            }
            put(entry, "vip", Some(wanted));
            return Ok(());
        }
        let before = now.get(KIND, name).map(|before| text(before, "vip"));
        let known = |world: &World| -> Option<String> {
            let mut all = world.all(Kind::Vip);
            all.find(|(_, vip)| addresses.are_of(vip)).map(|(name, _)| name.clone())
        };
        let kept = before.filter(|of| vip(of).is_some_and(|vip| addresses.are_of(vip)));
        let found = kept.map(str::to_owned).or_else(|| known(&self.world)).or_else(|| known(now));
        let found = match found {
            Some(found) => found,
            None => {
                let new = addresses.name();
                if vip(&new).is_some() {
                    let text = format!(
                        "a VIP has the name \"{new}\" and other addresses; name the VIP in \
                         'controller.virtual_services'"
                    );
                    return Err(KIND.error(name, text));
                }
                self.world.insert(Kind::Vip, &new, addresses.entry())?;
                new
            }
        };
        put(entry, "vip", Some(found));
        Ok(())
    }
}

fn array(value: &Json) -> Vec<Json> {
    value.as_array().cloned().unwrap_or_default()
}

/// The policies with the secrets that are stored in the place of hidden ones.
fn restored(given: &Authentication, before: Option<Json>) -> Json {
    let mut policies = given.clone();
    let before = before.and_then(|before| serde_json::from_value::<Authentication>(before).ok());
    if let Some(mut before) = before {
        policies.restore(&mut before);
    }
    let mut value = serde_json::to_value(&policies).unwrap_or_default();
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, member| !member.as_array().is_some_and(Vec::is_empty));
    }
    value
}
