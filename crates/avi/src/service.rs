//! Virtual services. An object of Avi has several ports, an object of Vedette has one.

use serde_json::{Value as Json, json};

use crate::plan::{Name, Plan, Targets, members_of, number};
use crate::profiles::{self, Application, Network};
use crate::reader::Reader;
use crate::{Kind, Members, Result, policies, small};

/// Name of the service for a further port; that of the first port has the name itself.
#[must_use]
pub fn further_name(name: &str, port: u64) -> String {
    format!("{name} ({port})")
}

/// Ports of a service.
const PORTS_MAX: usize = 64;
/// Policy sets of a service.
const POLICIES_MAX: usize = 64;
/// Rules of a service, on all its ports together.
const RULES_MAX: usize = 10_000;

/// What all ports share.
struct Common {
    application: Application,
    network: Network,
    certificates: Vec<u64>,
    min_version: Option<&'static str>,
    rules: Vec<Json>,
    /// Members with ids and texts.
    members: Members,
}

struct Port {
    number: u64,
    tls: bool,
    http2: bool,
}

pub(crate) fn translate(reader: &Reader<'_>, targets: &Targets) -> Result<Plan> {
    let ports = ports(reader)?;
    let application = match targets.of(reader, "application_profile_ref")? {
        Some(profile) => profiles::application(&profile.document)?,
        None => Application { is_http: true, ..Application::default() },
    };
    let network = match targets.of(reader, "network_profile_ref")? {
        Some(profile) => profiles::network(&profile.document)?,
        None => Network::default(),
    };
    if application.is_http && network.is_udp {
        let text = "HTTP needs a profile of TCP; choose an application profile of type L4 for UDP";
        return Err(reader.refuse("network_profile_ref", text));
    }
    let mut certificates = Vec::new();
    for reference in reader.texts("ssl_key_and_certificate_refs")? {
        certificates.extend(targets.by_reference.get(reference).and_then(|target| target.id));
    }
    let min_version = match targets.of(reader, "ssl_profile_ref")? {
        Some(profile) => Some(profiles::oldest_version(&profile.document)?),
        None => None,
    };
    if certificates.is_empty() && ports.iter().any(|port| port.tls) {
        let text = "a service with enable_ssl needs at least one certificate";
        return Err(reader.refuse("ssl_key_and_certificate_refs", text));
    }
    let mut rules = Vec::new();
    for policy in policies_in_order(reader)? {
        let Some(target) = targets.of(&policy, "http_policy_set_ref")? else { continue };
        match policies::rules(&target.document, targets)? {
            Some(more) => {
                if (rules.len() + more.len()).saturating_mul(ports.len()) > RULES_MAX {
                    let text = format!("the service has more than {RULES_MAX} rules on all ports");
                    return Err(reader.refuse("http_policies", text));
                }
                rules.extend(more);
            }
            None => return Ok(Plan::Incomplete("a pool of its policies has no servers")),
        }
    }
    if !rules.is_empty() && !application.is_http {
        return Err(reader.refuse("http_policies", "policies need an application profile of HTTP"));
    }
    let members = match common(reader, targets)? {
        Ok(members) => members,
        Err(lacks) => return Ok(Plan::Incomplete(lacks)),
    };
    let common = Common { application, network, certificates, min_version, rules, members };
    let name = reader.required("name")?;
    let parts = ports.iter().enumerate().map(|(n, port)| {
        let name = if n == 0 { name.to_owned() } else { further_name(name, port.number) };
        common.part(name, port)
    });
    Ok(Plan::Objects(parts.collect()))
}

fn ports(reader: &Reader<'_>) -> Result<Vec<Port>> {
    let mut ports: Vec<Port> = Vec::new();
    refuse_many(reader, "services", PORTS_MAX)?;
    for service in reader.list("services")? {
        let number = service
            .number("port")?
            .filter(|port| (1..=65_535).contains(port))
            .ok_or_else(|| service.refuse("port", "a port from 1 to 65535 is required"))?;
        let end = service.number("port_range_end")?.unwrap_or(0);
        if end != 0 && end != number {
            let text = "Vedette does not have ranges of ports; add a service for each port";
            return Err(service.refuse("port_range_end", text));
        }
        if ports.iter().any(|port| port.number == number) {
            return Err(service.refuse("port", format_args!("port {number} is given twice")));
        }
        let port = Port {
            number,
            tls: service.flag("enable_ssl", false)?,
            http2: service.flag("enable_http2", false)?,
        };
        if port.http2 && !port.tls {
            let text = "Vedette's HTTP/2 needs enable_ssl";
            return Err(service.refuse("enable_http2", text));
        }
        ports.push(port);
    }
    if ports.is_empty() {
        return Err(reader.refuse("services", "at least one port is required"));
    }
    Ok(ports)
}

fn refuse_many(reader: &Reader<'_>, name: &str, max: usize) -> Result<()> {
    match reader.value(name).and_then(Json::as_array).map_or(0, Vec::len) > max {
        true => Err(reader.refuse(name, format_args!("more than {max} elements"))),
        false => Ok(()),
    }
}

fn policies_in_order<'a>(reader: &Reader<'a>) -> Result<Vec<Reader<'a>>> {
    let mut policies = Vec::new();
    refuse_many(reader, "http_policies", POLICIES_MAX)?;
    for policy in reader.list("http_policies")? {
        policy.required("http_policy_set_ref")?;
        policies.push((policy.number("index")?.unwrap_or(0), policy));
    }
    policies.sort_by_key(|(index, _)| *index);
    Ok(policies.into_iter().map(|(_, policy)| policy).collect())
}

/// The members that all ports share, or what the service lacks.
fn common(
    reader: &Reader<'_>,
    targets: &Targets,
) -> Result<std::result::Result<Members, &'static str>> {
    let mut out = Members::new();
    let enabled = reader.flag("enabled", true)? && reader.flag("traffic_enabled", true)?;
    out.insert("description".to_owned(), reader.text("description")?.unwrap_or_default().into());
    out.insert("status".to_owned(), u8::from(!enabled).into());
    let (pool, group) = (reader.text("pool_ref")?, reader.text("pool_group_ref")?);
    if pool.is_some() && group.is_some() {
        let text = "the service has a pool; keep either pool_ref or pool_group_ref";
        return Err(reader.refuse("pool_group_ref", text));
    }
    let id = |name: &str| Ok(targets.of(reader, name)?.and_then(|target| target.id));
    let (pool, group) = (id("pool_ref")?, id("pool_group_ref")?);
    if pool.is_none() && group.is_none() {
        return Ok(Err("the service has no pool with servers"));
    }
    out.insert("poolid".to_owned(), pool.unwrap_or(0).to_string().into());
    out.insert("poolgroupid".to_owned(), group.unwrap_or(0).to_string().into());
    small::addresses(reader)?;
    let vip = if reader.text("vsvip_ref")?.is_some() { id("vsvip_ref")? } else { targets.vip };
    let Some(vip) = vip else { return Ok(Err("the VIP of the service has no address")) };
    out.insert("vipid".to_owned(), vip.to_string().into());
    let engines = id("se_group_ref")?.or(targets.engine_group);
    let Some(engines) = engines else { return Ok(Err("there is no engine group")) };
    out.insert("enginegroupid".to_owned(), engines.to_string().into());
    Ok(Ok(out))
}

impl Common {
    fn part(&self, name: String, port: &Port) -> Members {
        let (application, network) = (&self.application, &self.network);
        let kind = match (application.is_http, network.is_udp) {
            (true, _) => "http",
            (false, false) => "tcp",
            (false, true) => "udp",
        };
        let mut timeouts = application.timeouts.clone();
        timeouts.extend(network.timeouts.clone());
        let mut tls = Members::new();
        let mut certificates = Vec::new();
        if port.tls {
            certificates = self
                .certificates
                .iter()
                .map(|id| json!({ "certificateid": id.to_string() }))
                .collect();
            if application.is_http {
                let alpn = if port.http2 { json!(["h2", "http/1.1"]) } else { json!(["http/1.1"]) };
                tls.insert("alpn".to_owned(), alpn);
            }
            if let Some(version) = self.min_version {
                tls.insert("min_version".to_owned(), version.into());
            }
        }
        let mut rules = Vec::new();
        if application.http_to_https && !port.tls {
            let location = "https://{host}{uri}";
            rules.push(json!({ "then": { "redirect": { "status": 302, "location": location } } }));
        }
        rules.extend(self.rules.iter().cloned());
        let mut part = members_of(json!({ "name": name, "type": kind, "port": port.number }));
        part.extend(self.members.clone());
        part.insert("timeouts".to_owned(), timeouts.into());
        part.insert("limits".to_owned(), application.limits.clone().into());
        part.insert("forwarded".to_owned(), application.forwarded.clone().into());
        part.insert("rules".to_owned(), rules.into());
        part.insert("tls".to_owned(), tls.into());
        part.insert("certificates".to_owned(), certificates.into());
        part
    }
}

pub(crate) fn show(object: &Json, name: &mut Name<'_>) -> Members {
    let certificates = object["certificates"].as_array().into_iter().flatten();
    let certificates: Vec<Json> = certificates
        .map(|one| name(Kind::Certificate, number(&one["certificateid"])).into())
        .collect();
    let mut refer = |kind: Kind, key: &str| match number(&object[key]) {
        0 => None,
        id => Some(name(kind, id)),
    };
    let enabled = number(&object["status"]) == 0;
    let mut shown = members_of(json!({
        "name": object["name"],
        "description": object["description"],
        "enabled": enabled,
        "traffic_enabled": true,
        "services": [{
            "port": number(&object["port"]),
            "enable_ssl": !certificates.is_empty(),
            "enable_http2": object["tls"]["alpn"].as_array().is_some_and(|alpn| alpn.contains(&"h2".into())),
        }],
        "vsvip_ref": refer(Kind::VsVip, "vipid"),
        "pool_ref": refer(Kind::Pool, "poolid"),
        "pool_group_ref": refer(Kind::PoolGroup, "poolgroupid"),
        "se_group_ref": refer(Kind::EngineGroup, "enginegroupid"),
    }));
    let (application, network) = match object["type"].as_str() {
        Some("udp") => ("System-L4-Application", "System-UDP-Fast-Path"),
        Some("tcp") if !certificates.is_empty() => ("System-SSL-Application", "System-TCP-Proxy"),
        Some("tcp") => ("System-L4-Application", "System-TCP-Proxy"),
        _ => ("System-HTTP", "System-TCP-Proxy"),
    };
    for (member, kind, profile) in [
        ("application_profile_ref", Kind::ApplicationProfile, application),
        ("network_profile_ref", Kind::NetworkProfile, network),
    ] {
        shown.insert(member.to_owned(), format!("/api/{}?name={profile}", kind.word()).into());
    }
    if !certificates.is_empty() {
        shown.insert("ssl_key_and_certificate_refs".to_owned(), certificates.into());
    }
    shown
}
