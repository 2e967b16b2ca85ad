//! Objects of a file as parameters of the objects' methods: names become ids.

use std::collections::{BTreeMap, BTreeSet};

use config::db::Row;
use const_format::formatcp;
use objects::sql::KIND_HOST;
use serde_json::{Map, json};

use super::kinds::{Entry, Kind, World, elements, text};
use crate::call::{Call, Json};
use crate::error::ApiResult;

/// Ids of objects by their names.
pub(super) struct Ids {
    objects: BTreeMap<(Kind, String), u64>,
    /// Monitored hosts.
    hosts: BTreeMap<String, u64>,
    /// Names of pools in the file.
    pools: BTreeSet<String>,
}

/// Who refers to something.
#[derive(Debug, Clone, Copy)]
struct From<'n> {
    kind: Kind,
    name: &'n str,
}

impl Ids {
    /// Of what the server has; `wanted` is what the file has.
    pub(super) fn read(call: &Call<'_>, wanted: &World) -> ApiResult<Self> {
        let mut objects = BTreeMap::new();
        for kind in Kind::ALL {
            let (table, key) = (kind.table(), kind.key());
            let rows = call.rows(&format!("SELECT {key} AS id, name FROM {table}"), &[])?;
            objects.extend(rows.iter().map(|row| ((kind, name_of(row)), row.id("id"))));
        }
        let sql =
            formatcp!("SELECT hostid AS id, host AS name FROM hosts WHERE kind = {KIND_HOST}");
        let hosts = call.rows(sql, &[])?;
        let hosts = hosts.iter().map(|row| (name_of(row), row.id("id"))).collect();
        let pools = wanted.all(Kind::Pool).map(|(name, _)| name.clone()).collect();
        Ok(Self { objects, hosts, pools })
    }

    pub(super) fn get(&self, kind: Kind, name: &str) -> Option<u64> {
        self.objects.get(&(kind, name.to_owned())).copied()
    }

    pub(super) fn put(&mut self, kind: Kind, name: &str, id: u64) {
        self.objects.insert((kind, name.to_owned()), id);
    }

    fn find(&self, from: From<'_>, kind: Kind, name: &str) -> ApiResult<String> {
        self.get(kind, name).map(|id| id.to_string()).ok_or_else(|| {
            let problem = format!(
                "there is no {} \"{name}\"; add it to the file, or allow its creation in \"rules\"",
                kind.list().trim_end_matches('s').replace('_', " ")
            );
            from.kind.error(from.name, problem)
        })
    }

    /// Replaces the name of a pool or pool group by its id.
    fn choose(&self, from: From<'_>, members: &mut Map<String, Json>) -> ApiResult<()> {
        let Some(Json::String(name)) = members.remove("pool") else { return Ok(()) };
        // A group of the server may have a pool's name until it is deleted.
        let group = self.get(Kind::PoolGroup, &name).filter(|_| !self.pools.contains(&name));
        if let Some(id) = group {
            members.insert("poolgroupid".to_owned(), id.to_string().into());
            return Ok(());
        }
        members.insert("poolid".to_owned(), self.find(from, Kind::Pool, &name)?.into());
        Ok(())
    }

    /// What a method of the object gets, all members of the object but its name.
    pub(super) fn params(&self, kind: Kind, name: &str, entry: &Entry) -> ApiResult<Entry> {
        let from = From { kind, name };
        let mut params = match kind {
            Kind::EngineGroup => engine_group(entry),
            Kind::Vip => with_defaults(
                entry,
                &[("ipv4", json!("")), ("ipv6", json!("")), ("dns_names", json!([]))],
            ),
            Kind::Certificate => certificate(entry),
            Kind::HealthMonitor => monitor(entry),
            Kind::Pool => self.pool(from, entry)?,
            Kind::PoolGroup => self.pool_group(from, entry)?,
            Kind::VirtualService => self.service(from, entry)?,
        };
        params.insert("description".to_owned(), text(entry, "description").into());
        Ok(params)
    }

    fn pool(&self, from: From<'_>, entry: &Entry) -> ApiResult<Entry> {
        let mut params = with_defaults(
            entry,
            &[
                ("algorithm", json!("round_robin")),
                ("hash_key", json!("")),
                ("min_monitors", json!(0)),
                ("host_maintenance", json!("ignore")),
                ("persistence", json!({})),
                ("retries", json!({})),
                ("eject", json!({})),
                ("slow_start", json!("")),
                ("send_proxy", json!("")),
                ("tls", json!({})),
            ],
        );
        let monitors = elements(entry, "monitors").iter().filter_map(Json::as_str);
        let ids = monitors.map(|name| self.find(from, Kind::HealthMonitor, name));
        let ids: Vec<String> = ids.collect::<ApiResult<_>>()?;
        let first = ids.first().map_or("0", String::as_str);
        params.insert("healthmonitorid".to_owned(), first.into());
        let further = ids.iter().skip(1).map(|id| json!({ "healthmonitorid": id }));
        params.insert("further_monitors".to_owned(), further.collect());
        let servers = elements(entry, "servers").iter().filter_map(Json::as_object);
        let servers = servers.map(|server| self.server(from, server));
        params.insert("servers".to_owned(), servers.collect::<ApiResult<_>>()?);
        Ok(params)
    }

    fn server(&self, from: From<'_>, server: &Entry) -> ApiResult<Json> {
        let address: std::net::SocketAddr = text(server, "address")
            .parse()
            .map_err(|_| from.kind.error(from.name, "a server has no address with a port"))?;
        let host = match text(server, "host") {
            "" => 0,
            host => *self.hosts.get(host).ok_or_else(|| {
                let problem = format!(
                    "the monitored host \"{host}\" of server \"{}\" does not exist; remove it from \
                     'controller.pools' or create the host",
                    text(server, "name")
                );
                from.kind.error(from.name, problem)
            })?,
        };
        Ok(json!({
            "name": text(server, "name"),
            "address": address.ip().to_string(),
            "port": address.port(),
            "weight": server.get("weight").cloned().unwrap_or_else(|| json!(1)),
            "max_connections": server.get("max_connections").cloned().unwrap_or_else(|| json!(0)),
            "backup": flag(server.get("backup")),
            "state": server.get("state").cloned().unwrap_or_else(|| json!("up")),
            "hostid": host.to_string(),
        }))
    }

    fn pool_group(&self, from: From<'_>, entry: &Entry) -> ApiResult<Entry> {
        let mut params = with_defaults(entry, &[("min_servers", json!(1))]);
        let member = |member: &Json| {
            let pool = member["pool"].as_str().unwrap_or("");
            Ok(json!({
                "poolid": self.find(from, Kind::Pool, pool)?,
                "priority": member["priority"],
                "ratio": member["ratio"],
            }))
        };
        let members = elements(entry, "members").iter().map(member);
        params.insert("members".to_owned(), members.collect::<ApiResult<_>>()?);
        Ok(params)
    }

    fn service(&self, from: From<'_>, entry: &Entry) -> ApiResult<Entry> {
        let settings = [
            "tls",
            "timeouts",
            "limits",
            "rate_limit",
            "authentication",
            "compression",
            "cache",
            "mirror",
            "forwarded",
        ];
        let lists = ["rules", "allow", "deny", "tags"];
        let mut defaults: Vec<(&str, Json)> = settings.map(|name| (name, json!({}))).to_vec();
        defaults.extend(lists.map(|name| (name, json!([]))));
        let mut params = with_defaults(entry, &defaults);
        let mut target = Entry::new();
        target.insert("pool".to_owned(), text(entry, "pool").into());
        self.choose(from, &mut target)?;
        for member in ["poolid", "poolgroupid"] {
            let id = target.remove(member).unwrap_or_else(|| "0".into());
            params.insert(member.to_owned(), id);
        }
        if let Some(mirror) = params.get_mut("mirror").and_then(Json::as_object_mut) {
            self.choose(from, mirror)?;
        }
        for rule in params.get_mut("rules").and_then(Json::as_array_mut).into_iter().flatten() {
            let Some(then) = rule.get_mut("then").and_then(Json::as_object_mut) else { continue };
            self.choose(from, then)?;
            if let Some(mirror) = then.get_mut("mirror").and_then(Json::as_object_mut) {
                self.choose(from, mirror)?;
            }
            let script = then.get_mut("script").and_then(|script| script.get_mut("pools"));
            for pool in script.and_then(Json::as_array_mut).into_iter().flatten() {
                let mut choice = Entry::new();
                choice.insert("pool".to_owned(), pool.take());
                self.choose(from, &mut choice)?;
                *pool = choice.into();
            }
        }
        let certificates = elements(entry, "certificates").iter().filter_map(Json::as_str);
        let certificates = certificates
            .map(|name| Ok(json!({ "certificateid": self.find(from, Kind::Certificate, name)? })));
        params.insert("certificates".to_owned(), certificates.collect::<ApiResult<_>>()?);
        let group = self.find(from, Kind::EngineGroup, text(entry, "engine_group"))?;
        let vip = self.find(from, Kind::Vip, text(entry, "vip"))?;
        let is_disabled = entry.get("enabled") == Some(&Json::Bool(false));
        let members = [
            ("enginegroupid", group.into()),
            ("vipid", vip.into()),
            ("type", text(entry, "type").into()),
            ("port", entry.get("port").cloned().unwrap_or_default()),
            ("accept_proxy", flag(entry.get("accept_proxy"))),
            ("status", i32::from(is_disabled).into()),
        ];
        params.extend(members.map(|(name, value)| (name.to_owned(), value)));
        Ok(params)
    }
}

fn name_of(row: &Row) -> String {
    row.text("name").to_owned()
}

/// The API has numbers where the file has words.
fn flag(value: Option<&Json>) -> Json {
    i32::from(value == Some(&Json::Bool(true))).into()
}

/// These members of an entry; what it leaves out has its default.
fn with_defaults(entry: &Entry, members: &[(&str, Json)]) -> Entry {
    let given = |(name, default): &(&str, Json)| {
        ((*name).to_owned(), entry.get(*name).unwrap_or(default).clone())
    };
    members.iter().map(given).collect()
}

/// A certificate that is ordered has no text of its own.
fn certificate(entry: &Entry) -> Entry {
    let given = ["certificate", "private_key"]
        .into_iter()
        .filter_map(|member| Some((member.to_owned(), entry.get(member)?.clone())));
    let acme = entry.get("acme").cloned().unwrap_or_else(|| json!({}));
    given.chain([("acme".to_owned(), acme)]).collect()
}

fn monitor(entry: &Entry) -> Entry {
    with_defaults(
        entry,
        &[
            ("type", json!("tcp")),
            ("path", json!("/")),
            ("status", json!(200)),
            ("body", json!("")),
            ("udp", json!({})),
            ("dns", json!({})),
            ("script", json!({})),
            ("trigger_filter", json!({})),
            ("interval", json!("5s")),
            ("timeout", json!("2s")),
            ("up", json!(2)),
            ("down", json!(3)),
        ],
    )
}

fn engine_group(entry: &Entry) -> Entry {
    let none = [
        "ha_mode",
        "placement",
        "engines_per_vip",
        "spare_engines",
        "vips_per_engine",
        "rebalance",
    ];
    let mut defaults = Vec::from(none.map(|member| (member, json!(0))));
    defaults.extend([("failover_after", json!(3)), ("announce", json!({}))]);
    with_defaults(entry, &defaults)
}
