//! The first five minutes: the user Admin, templates of our own, this machine and Vedette as
//! hosts, so that the UI shows live graphs before anybody configures anything.

use std::io::Write;
use std::net::SocketAddr;

use anyhow::{Context, anyhow};
use api::Api;
use config::Config;
use serde_json::{Value as Json, json};
use stdx::clock::SharedClock;

use crate::built_in_agent::BuiltIn;
use crate::params::Values;

/// Templates that come with Vedette.
const TEMPLATES: &[(&str, &str)] = &[
    ("bare-host", include_str!("../../../templates/bare-host.yaml")),
    ("linux-machine", include_str!("../../../templates/linux-machine.yaml")),
    ("vedette-health", include_str!("../../../templates/vedette-health.yaml")),
];
const MACHINE_TEMPLATE: &str = "Linux machine by Vedette agent";
const HEALTH_TEMPLATE: &str = "Vedette health";
/// Technical name of the host that stands for the server itself.
const SELF_HOST: &str = "Vedette";

/// Fills an empty database; returns the generated password, or an empty text when one was given,
/// or `None` when the database was there already.
pub(crate) fn seed(config: &Config, given: &str) -> anyhow::Result<Option<String>> {
    let empty =
        config.read(|c| c.query("SELECT roleid FROM roles", &[])).map(|rows| rows.is_empty())?;
    if !empty {
        return Ok(None);
    }
    let generated = if given.is_empty() { api::generate_password()? } else { String::new() };
    let password = if given.is_empty() { &generated } else { given };
    let hash = api::hash_password(password)?;
    config.write(|edit| config::seed(edit, &hash))?;
    config.sync()?;
    Ok(Some(generated))
}

/// Starts the built-in agent; `None` when it is switched off. When its address is taken, probably
/// by another agent, it takes any free port.
pub(crate) async fn agent(
    values: &Values,
    clock: &SharedClock,
) -> anyhow::Result<Option<(SocketAddr, impl Future<Output = ()> + Send + use<>)>> {
    if values.get("agent") == "off" {
        return Ok(None);
    }
    let wanted = values.address("agent")?;
    let listener = match tokio::net::TcpListener::bind(wanted).await {
        Ok(listener) => listener,
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
            let other = SocketAddr::new(wanted.ip(), 0);
            let listener = tokio::net::TcpListener::bind(other).await?;
            let address = listener.local_addr()?;
            tracing::warn!(
                "{wanted} is in use, probably by another agent: the built-in agent listens on {address}"
            );
            listener
        }
        Err(error) => {
            return Err(error)
                .with_context(|| format!("cannot listen on {wanted} (parameter agent)"));
        }
    };
    let address = listener.local_addr()?;
    let agent = BuiltIn::new(values, listener, clock)?;
    Ok(Some((address, agent.run())))
}

/// At the first start makes the hosts; at every start converts graphs and dashboards of an earlier version, and keeps
/// the interface of this machine's host where the built-in agent listens.
pub(crate) fn hosts(api: &Api, first: bool, agent: Option<SocketAddr>) -> anyhow::Result<()> {
    api.convert_stored_objects().context("stored graphs and dashboards cannot be converted")?;
    if first {
        templates(api)?;
        let group = id(&api.call_system("hostgroup.create", &json!({ "name": "Vedette" }))?)?;
        make_host(api, SELF_HOST, &group, HEALTH_TEMPLATE, Json::Array(Vec::new()))?;
        if let Some(address) = agent {
            let machines =
                id(&api.call_system("hostgroup.create", &json!({ "name": "Linux machines" }))?)?;
            let interface = json!([{
                "type": 1, "main": 1, "useip": 1, "ip": address.ip().to_string(), "dns": "",
                "port": address.port().to_string(),
            }]);
            let name = crate::roles::agent::host_name();
            make_host(api, &name, &machines, MACHINE_TEMPLATE, interface)?;
        }
    } else if let Some(address) = agent {
        follow_agent(api, address)?;
    }
    Ok(())
}

fn templates(api: &Api) -> anyhow::Result<()> {
    TEMPLATES.iter().try_for_each(|(name, source)| import(api, name, source))
}

/// Imports a template of ours.
pub(crate) fn import(api: &Api, name: &str, source: &str) -> anyhow::Result<()> {
    let both = json!({ "createMissing": true, "updateExisting": true });
    let rules = json!({
        "template_groups": both, "templates": both, "items": both, "discoveryRules": both,
        "triggers": both, "valueMaps": both,
    });
    let params = json!({ "format": "yaml", "rules": rules, "source": source });
    api.call_system("configuration.import", &params)
        .with_context(|| format!("the template {name} cannot be imported"))?;
    Ok(())
}

fn make_host(
    api: &Api,
    name: &str,
    group: &str,
    template: &str,
    interfaces: Json,
) -> anyhow::Result<()> {
    let filter = json!({ "output": ["templateid"], "filter": { "host": [template] } });
    let found = api.call_system("template.get", &filter)?;
    let template = found
        .get(0)
        .and_then(|row| row.get("templateid"))
        .with_context(|| format!("the template {template} is missing"))?;
    api.call_system(
        "host.create",
        &json!({
            "host": name,
            "groups": [{ "groupid": group }],
            "templates": [{ "templateid": template }],
            "interfaces": interfaces,
        }),
    )
    .with_context(|| format!("cannot create the host {name}"))?;
    Ok(())
}

/// The port of the built-in agent may differ from start to start when its own one is taken.
fn follow_agent(api: &Api, address: SocketAddr) -> anyhow::Result<()> {
    let name = crate::roles::agent::host_name();
    let found = api.call_system(
        "host.get",
        &json!({
            "output": ["hostid"], "filter": { "host": [name] },
            "selectInterfaces": ["interfaceid", "ip", "port", "type", "main"],
        }),
    )?;
    let interfaces = found.get(0).and_then(|host| host.get("interfaces")).and_then(Json::as_array);
    let main = interfaces.into_iter().flatten().find(|interface| {
        let is =
            |name: &str, value: &str| interface.get(name).and_then(Json::as_str) == Some(value);
        is("type", "1") && is("main", "1") && is("ip", &address.ip().to_string())
    });
    let Some(interface) = main else { return Ok(()) };
    let port = address.port().to_string();
    if interface.get("port").and_then(Json::as_str) != Some(&port) {
        let change = json!({ "interfaceid": interface["interfaceid"], "port": port });
        api.call_system("hostinterface.update", &change)?;
    }
    Ok(())
}

/// The only id in the result of a create call.
pub(crate) fn id(result: &Json) -> anyhow::Result<String> {
    result
        .as_object()
        .and_then(|members| members.values().next())
        .and_then(|ids| ids.get(0))
        .and_then(Json::as_str)
        .map(str::to_owned)
        .ok_or_else(|| anyhow!("BUG: a create call gave no id: {result}"))
}

/// Tells where to go.
pub(crate) fn greet(
    http: &SocketAddr,
    tls: bool,
    trapper: &[SocketAddr],
    first: Option<String>,
) -> anyhow::Result<()> {
    let scheme = if tls { "https" } else { "http" };
    let trapper: Vec<String> = trapper.iter().map(ToString::to_string).collect();
    let mut text = format!(
        "\nVedette {} is open for business.\n\n  UI and API   {scheme}://{http}/\n  \
         Agents       {}\n",
        env!("CARGO_PKG_VERSION"),
        trapper.join(", "),
    );
    match first {
        Some(password) if password.is_empty() => {
            text += "  User         Admin, with the password that was given\n";
        }
        Some(password) => {
            text += &format!(
                "  User         Admin\n  Password     {password}   (shown only this once)\n"
            );
        }
        None => text += "  User         Admin\n",
    }
    text += "\n";
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}
