//! Hosts and items made through the API for one measurement, and removed after it.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::api::{Api, scalar_text};
use crate::payload::Plan;
use crate::report::grouped;
use crate::shape::Kind;
use crate::{Context, Login};

/// Groups of hosts and of templates that hold everything that is made here.
const GROUP: &str = "Vedette bench";

/// Objects per call: what a reference front end takes in one request without running out of memory.
const HOSTS_PER_CALL: usize = 100;
/// The same for estates that only a server with room for them is asked to hold.
const MANY_HOSTS: usize = 50_000;
const HOSTS_PER_CALL_OF_MANY: usize = 1000;
/// Between two lines of progress.
const PROGRESS: Duration = Duration::from_secs(5);
/// How much longer than an agent takes is waited for it, and the longest time-out of an item.
const PATIENCE: Duration = Duration::from_secs(7);
const TIMEOUT_MAX_S: u64 = 600;
const DELETES_PER_CALL: usize = 200;
const ITEMS_PER_CALL: usize = 1000;

/// An item of the template.
#[derive(Debug, Clone)]
pub(crate) struct ItemSpec {
    /// Everything `item.create` wants but the host.
    pub(crate) params: Value,
}

impl ItemSpec {
    /// A trapper item with the values of [`Kind`].
    pub(crate) fn trapper(number: usize, change_per_second: bool) -> Self {
        let kind = Kind::of_item(number);
        let mut params = json!({
            "name": Plan::key(number),
            "key_": Plan::key(number),
            "type": 2,
            "value_type": kind.value_type().0,
        });
        if change_per_second && kind == Kind::Counter {
            params["value_type"] = json!(0);
            params["preprocessing"] = step_json(10, "");
        }
        Self { params }
    }

    /// A trapper item for texts, with one step (its API number and parameters) or none.
    pub(crate) fn text(key: &str, step: Option<(u8, &str)>, history: &str) -> Self {
        let mut params = json!({
            "name": key, "key_": key, "type": 2, "value_type": 4, "history": history,
        });
        if let Some((kind, step_params)) = step {
            params["preprocessing"] = step_json(kind, step_params);
        }
        Self { params }
    }

    /// An HTTP agent item that asks the host's address.
    pub(crate) fn http(number: usize, interval: &str) -> Self {
        let key = format!("bench.web[{number}]");
        let url = format!("http://{{HOST.CONN}}:{{HOST.PORT}}/{number}");
        Self {
            params: json!({
                "name": key, "key_": key, "type": 19, "value_type": 3, "delay": interval,
                "url": url,
            }),
        }
    }

    /// An item of an SNMP interface.
    pub(crate) fn snmp(number: usize, oid: &str, value_type: u8, interval: &str) -> Self {
        let key = format!("bench.snmp[{number}]");
        Self {
            params: json!({
                "name": key, "key_": key, "type": 20, "value_type": value_type, "delay": interval,
                "snmp_oid": oid,
            }),
        }
    }

    /// A passive agent item.
    pub(crate) fn agent(number: usize, interval: &str) -> Self {
        let key = format!("bench.check[{number}]");
        Self {
            params: json!({ "name": key, "key_": key, "type": 0, "value_type": 3, "delay": interval }),
        }
    }
}

impl ItemSpec {
    /// Waits for agents that answer after `delay`, where items can (7.0 on); an older server needs
    /// a longer `Timeout` in its configuration file.
    pub(crate) fn patient(mut self, api: &Api, delay: Duration) -> Self {
        if !delay.is_zero() && api.has_item_timeouts() {
            let seconds = (delay + PATIENCE).as_secs().min(TIMEOUT_MAX_S);
            self.params["timeout"] = json!(format!("{seconds}s"));
        }
        self
    }
}

/// The member `preprocessing` of an item with one step.
fn step_json(kind: u8, params: &str) -> Value {
    json!([{
        "type": kind, "params": params, "error_handler": 0, "error_handler_params": "",
    }])
}

/// How items get onto hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Through {
    /// One template that all hosts link.
    Template,
    /// `item.create` in bulk.
    Items,
}

/// What is to be made.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) hosts: usize,
    pub(crate) items: Vec<ItemSpec>,
    pub(crate) through: Through,
    /// Agent addresses, used in turn; empty = hosts without interface.
    pub(crate) interfaces: Vec<SocketAddr>,
    /// The interfaces are SNMP version 2c.
    pub(crate) snmp: Option<SnmpDetails>,
    /// A trigger for each n-th item that is a number; 0 = none.
    pub(crate) trigger_every: usize,
}

/// The members of an SNMP interface besides its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SnmpDetails {
    /// Several values may be asked in one request.
    pub(crate) bulk: bool,
}

/// What was made.
#[derive(Debug, Clone)]
pub(crate) struct Registered {
    pub(crate) hosts: Vec<String>,
    pub(crate) hostids: Vec<String>,
    /// Name of the template, if there is one.
    pub(crate) template_name: String,
}

/// Makes everything; what a broken attempt leaves behind is removed by [`clean`].
pub(crate) fn register(
    api: &Api,
    wanted: &Wanted,
    context: &mut Context<'_>,
) -> anyhow::Result<Registered> {
    let mut estate = Estate::prepare(api, wanted.clone(), context)?;
    estate.grow(api, wanted.hosts, context)?;
    if wanted.through == Through::Items {
        items(api, &estate.made.hostids, wanted)?;
    }
    Ok(estate.made)
}

/// Hosts that become more while a measurement goes on.
pub(crate) struct Estate {
    wanted: Wanted,
    tag: String,
    group: String,
    template: Option<String>,
    /// What is there so far.
    pub(crate) made: Registered,
}

impl Estate {
    /// Makes the group and the template; no host yet.
    pub(crate) fn prepare(
        api: &Api,
        wanted: Wanted,
        context: &Context<'_>,
    ) -> anyhow::Result<Self> {
        let tag = format!("{:x}", context.clock.unix().as_millis() & 0xff_ffff_ffff);
        let group = group(api, "hostgroup")?;
        let template_name = format!("Vedette bench {tag}");
        let template = match wanted.through {
            Through::Template => Some(template(api, &template_name, &wanted)?),
            Through::Items => None,
        };
        let made = Registered { hosts: Vec::new(), hostids: Vec::new(), template_name };
        Ok(Self { wanted, tag, group, template, made })
    }

    /// Makes or removes hosts until there are `total`.
    pub(crate) fn resize(
        &mut self,
        api: &Api,
        total: usize,
        context: &mut Context<'_>,
    ) -> anyhow::Result<()> {
        let extra = self.made.hosts.len().saturating_sub(total);
        if extra > 0 {
            context.say(&format!("removing {} hosts", grouped(extra as u64)));
            remove_hosts(api, &self.made.hostids[total..])?;
            self.made.hosts.truncate(total);
            self.made.hostids.truncate(total);
        }
        self.grow(api, total, context)
    }

    /// Makes hosts until there are `total`.
    pub(crate) fn grow(
        &mut self,
        api: &Api,
        total: usize,
        context: &mut Context<'_>,
    ) -> anyhow::Result<()> {
        let start = context.clock.monotonic();
        let first = self.made.hosts.len();
        let mut told = start;
        let per_call = if total < MANY_HOSTS { HOSTS_PER_CALL } else { HOSTS_PER_CALL_OF_MANY };
        while self.made.hosts.len() < total {
            let have = self.made.hosts.len();
            let numbers = have..total.min(have + per_call);
            let names: Vec<String> =
                numbers.clone().map(|number| format!("bench-{}-{number:06}", self.tag)).collect();
            let rows: Vec<Value> = names
                .iter()
                .zip(numbers)
                .map(|(name, number)| {
                    let at = interface(&self.wanted, number);
                    host(name, &self.group, self.template.as_deref(), at, self.wanted.snmp)
                })
                .collect();
            self.made.hostids.extend(api.create("host.create", &json!(rows), "hostids")?);
            self.made.hosts.extend(names);
            let now = context.clock.monotonic();
            if now - told >= PROGRESS {
                told = now;
                let have = self.made.hosts.len();
                let per_s = (have - first) as f64 / (now - start).as_secs_f64();
                context.say(&format!(
                    "{} of {} hosts made, {} a second",
                    grouped(have as u64),
                    grouped(total as u64),
                    grouped(per_s as u64)
                ));
            }
        }
        Ok(())
    }
}

fn interface(wanted: &Wanted, host: usize) -> Option<SocketAddr> {
    wanted.interfaces.get(host.checked_rem(wanted.interfaces.len())?).copied()
}

fn host(
    name: &str,
    group: &str,
    template: Option<&str>,
    interface: Option<SocketAddr>,
    snmp: Option<SnmpDetails>,
) -> Value {
    let mut host = json!({ "host": name, "groups": [{ "groupid": group }] });
    if let Some(template) = template {
        host["templates"] = json!([{ "templateid": template }]);
    }
    if let Some(at) = interface {
        host["interfaces"] = json!([{
            "type": 1, "main": 1, "useip": 1, "dns": "",
            "ip": at.ip().to_string(), "port": at.port().to_string(),
        }]);
        if let Some(snmp) = snmp {
            host["interfaces"][0]["type"] = json!(2);
            host["interfaces"][0]["details"] = json!({
                "version": 2, "bulk": u8::from(snmp.bulk), "community": "public",
                "max_repetitions": 10,
            });
        }
    }
    host
}

/// The id of the group for hosts or templates, made where it is missing.
fn group(api: &Api, object: &str) -> anyhow::Result<String> {
    if let Some(id) = find_group(api, object)? {
        return Ok(id);
    }
    let ids = api.create(&format!("{object}.create"), &json!({ "name": GROUP }), "groupids")?;
    ids.into_iter().next().with_context(|| format!("{object}.create gave no id"))
}

/// The API object that templates are grouped by.
fn template_groups(api: &Api) -> &'static str {
    if api.has_template_groups() { "templategroup" } else { "hostgroup" }
}

fn find_group(api: &Api, object: &str) -> anyhow::Result<Option<String>> {
    let params = json!({ "output": ["groupid"], "filter": { "name": [GROUP] } });
    let found = api.call(&format!("{object}.get"), &params)?;
    Ok(scalar_text(&found[0]["groupid"]))
}

fn template(api: &Api, name: &str, wanted: &Wanted) -> anyhow::Result<String> {
    let group = group(api, template_groups(api))?;
    let params = json!({ "host": name, "groups": [{ "groupid": group }] });
    let ids = api.create("template.create", &params, "templateids")?;
    let id = ids.into_iter().next().context("template.create gave no id")?;
    items(api, std::slice::from_ref(&id), wanted)?;
    if wanted.trigger_every > 0 {
        let triggers: Vec<Value> = wanted
            .items
            .iter()
            .filter(|item| item.params["value_type"] != json!(1))
            .step_by(wanted.trigger_every)
            .map(|item| {
                let key = item.params["key_"].as_str().unwrap_or_default();
                json!({
                    "description": format!("{key} is out of range"),
                    "expression": format!("last(/{name}/{key})>1e18"),
                })
            })
            .collect();
        api.create("trigger.create", &json!(triggers), "triggerids")?;
    }
    Ok(id)
}

fn items(api: &Api, hostids: &[String], wanted: &Wanted) -> anyhow::Result<()> {
    let rows: Vec<Value> = hostids
        .iter()
        .flat_map(|hostid| wanted.items.iter().map(move |item| (hostid, item)))
        .map(|(hostid, item)| {
            let mut row = item.params.clone();
            row["hostid"] = json!(hostid);
            row
        })
        .collect();
    for chunk in rows.chunks(ITEMS_PER_CALL) {
        api.create("item.create", &json!(chunk), "itemids")?;
    }
    Ok(())
}

impl Registered {
    /// Ids of the items `keys` on all hosts, in the order host by host, key by key.
    pub(crate) fn itemids(&self, api: &Api, keys: &[String]) -> anyhow::Result<Vec<u64>> {
        let mut ids = Vec::with_capacity(self.hostids.len() * keys.len());
        for hostids in self.hostids.chunks(HOSTS_PER_CALL) {
            let params = json!({ "output": ["itemid", "hostid", "key_"], "hostids": hostids });
            let found = api.call("item.get", &params)?;
            let rows = found.as_array().context("item.get gave no array")?;
            let known: std::collections::HashMap<(String, &str), u64> = rows
                .iter()
                .filter_map(|row| {
                    let id = scalar_text(&row["itemid"])?.parse().ok()?;
                    Some(((scalar_text(&row["hostid"])?, row["key_"].as_str()?), id))
                })
                .collect();
            for hostid in hostids {
                for key in keys {
                    let id = known
                        .get(&(hostid.clone(), key.as_str()))
                        .with_context(|| format!("item {key} of host {hostid} is not there"))?;
                    ids.push(*id);
                }
            }
        }
        Ok(ids)
    }

    /// Removes hosts and template; the groups stay for the next run.
    pub(crate) fn remove(&self, api: &Api) -> anyhow::Result<()> {
        remove_hosts(api, &self.hostids)?;
        remove_templates(api, Some(&self.template_name))
    }
}

pub(crate) fn remove_hosts(api: &Api, hostids: &[String]) -> anyhow::Result<()> {
    for chunk in hostids.chunks(DELETES_PER_CALL) {
        api.call("host.delete", &json!(chunk))?;
    }
    Ok(())
}

fn remove_templates(api: &Api, name: Option<&str>) -> anyhow::Result<()> {
    let Some(group) = find_group(api, template_groups(api))? else { return Ok(()) };
    let mut params = json!({ "output": ["templateid"], "groupids": [group] });
    if let Some(name) = name {
        params["filter"] = json!({ "host": [name] });
    }
    let ids = ids(&api.call("template.get", &params)?, "templateid");
    if !ids.is_empty() {
        api.call("template.delete", &json!(ids))?;
    }
    Ok(())
}

fn ids(rows: &Value, member: &str) -> Vec<String> {
    rows.as_array().into_iter().flatten().filter_map(|row| scalar_text(&row[member])).collect()
}

/// Removes whatever measurements have left on a server; returns how many hosts that were.
pub fn clean(login: &Login) -> anyhow::Result<usize> {
    let api = Api::login(login)?;
    let mut removed = 0;
    let group = find_group(&api, "hostgroup")?;
    if let Some(group) = &group {
        let params = json!({ "output": ["hostid"], "groupids": [group] });
        let hostids = ids(&api.call("host.get", &params)?, "hostid");
        remove_hosts(&api, &hostids)?;
        removed = hostids.len();
    }
    remove_templates(&api, None)?;
    if let Some(group) = group {
        api.call("hostgroup.delete", &json!([group]))?;
    }
    if api.has_template_groups()
        && let Some(group) = find_group(&api, "templategroup")?
    {
        api.call("templategroup.delete", &json!([group]))?;
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_use_interfaces_in_turn() {
        let wanted = |interfaces: &[&str]| Wanted {
            hosts: 3,
            items: vec![],
            through: Through::Template,
            interfaces: interfaces.iter().map(|text| text.parse().unwrap()).collect(),
            snmp: None,
            trigger_every: 0,
        };
        assert_eq!(interface(&wanted(&[]), 5), None);
        let two = wanted(&["127.0.0.1:1", "127.0.0.2:1"]);
        let used: Vec<String> =
            (0..3).filter_map(|n| interface(&two, n)).map(|a| a.to_string()).collect();
        assert_eq!(used, ["127.0.0.1:1", "127.0.0.2:1", "127.0.0.1:1"]);
        let host = host("h", "7", Some("9"), interface(&two, 1), None);
        assert_eq!(host["interfaces"][0]["ip"], "127.0.0.2");
        assert_eq!(host["templates"][0]["templateid"], "9");
    }

    #[test]
    fn counters_become_rates_if_the_item_says_so() {
        let plain = ItemSpec::trapper(0, false).params;
        assert_eq!((&plain["value_type"], plain.get("preprocessing")), (&json!(3), None));
        let rate = ItemSpec::trapper(0, true).params;
        assert_eq!(
            (&rate["value_type"], &rate["preprocessing"][0]["type"]),
            (&json!(0), &json!(10))
        );
        assert!(ItemSpec::trapper(1, true).params.get("preprocessing").is_none());
    }
}
