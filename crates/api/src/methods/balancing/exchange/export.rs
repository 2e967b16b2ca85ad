//! `loadbalancer.export`: chosen services with all that they use, or everything.

use std::collections::BTreeSet;
use std::fmt::Write;

use balancing::{Config, Controller, HIDDEN, Named, Pem, ServiceNotes, VirtualService};
use serde_json::json;

use super::Stored;
use super::kinds::Kind;
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::params;
use crate::write::only;

/// What is not in a file, and whose it is.
struct LeftOut {
    kind: Kind,
    name: String,
    what: String,
}

pub(super) fn run(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    // PHP has one empty value for lists and objects.
    if !input.as_array().is_some_and(Vec::is_empty) {
        let members =
            input.as_object().ok_or_else(|| ApiError::at("/", "an object is expected"))?;
        only(members, "/", &["virtualserviceids", "enginegroupids"])?;
    }
    let services = names(call, input, "virtualserviceids", Kind::VirtualService)?;
    let groups = names(call, input, "enginegroupids", Kind::EngineGroup)?;
    let Stored { mut config, unseen } = Stored::read(call)?;
    if services.is_some() || groups.is_some() {
        let groups = groups.unwrap_or_default();
        choose(&mut config, &services.unwrap_or_default(), &groups);
    }
    let mut left_out = hide(&mut config);
    let unseen =
        unseen.into_iter().filter(|(of, _)| config.pools.iter().any(|one| one.name == *of));
    left_out.extend(unseen.map(|(name, server)| {
        let what = format!("monitored host of server '{server}', which you may not see");
        LeftOut { kind: Kind::Pool, name, what }
    }));
    let source = header(&left_out) + &config.render().map_err(ApiError::application)?;
    let left_out = left_out
        .iter()
        .map(|one| json!({ "object": one.kind.object(), "name": one.name, "what": one.what }));
    Ok(json!({ "source": source, "left_out": left_out.collect::<Vec<_>>() }))
}

/// Names of the objects of an option; none: it is not given.
fn names(
    call: &Call<'_>,
    input: &Json,
    option: &str,
    kind: Kind,
) -> ApiResult<Option<BTreeSet<String>>> {
    let Some(ids) = params::ids(input, option)? else { return Ok(None) };
    let sql = format!("SELECT name FROM {} WHERE {} = ?", kind.table(), kind.key());
    let name = |id: &u64| {
        let rows = call.rows(&sql, &[(*id).into()])?;
        rows.first().map(|row| row.text("name").to_owned()).ok_or_else(ApiError::no_object)
    };
    ids.iter().map(name).collect::<ApiResult<_>>().map(Some)
}

/// Removes what neither these services nor those of these groups use.
fn choose(config: &mut Config, services: &BTreeSet<String>, groups: &BTreeSet<String>) {
    let mut controller = config.controller.take().unwrap_or_default();
    let group_of = |note: &ServiceNotes| note.engine_group.clone().unwrap_or_default();
    controller
        .virtual_services
        .retain(|note| services.contains(&note.name) || groups.contains(&group_of(note)));
    let chosen = named_by(&controller.virtual_services);
    config.virtual_services.retain(|service| chosen.contains(&service.name));
    controller.disabled_services.retain(|service| chosen.contains(&service.name));
    let all = || config.virtual_services.iter().chain(&controller.disabled_services);
    let targets: BTreeSet<String> = all().flat_map(targets).cloned().collect();
    let certificates = all().filter_map(|service| service.tls.as_ref());
    let certificates: BTreeSet<String> =
        certificates.flat_map(|tls| tls.certificates.iter().cloned()).collect();
    config.pool_groups.retain(|group| targets.contains(&group.name));
    let members = config.pool_groups.iter().flat_map(|group| &group.members);
    let members: BTreeSet<String> = members.map(|member| member.pool.clone()).collect();
    config.pools.retain(|pool| targets.contains(&pool.name) || members.contains(&pool.name));
    config.certificates.retain(|one| certificates.contains(&one.name));
    config.expected_certificates.retain(|one| certificates.contains(&one.name));
    retain(&mut controller, config, groups);
    controller.certificates.retain(|note| certificates.contains(&note.name));
    config.controller = Some(controller);
}

/// Keeps the notes on objects of the file, and objects that only notes name.
fn retain(controller: &mut Controller, config: &Config, groups: &BTreeSet<String>) {
    let notes = &controller.virtual_services;
    let vips: BTreeSet<String> = notes.iter().filter_map(|note| note.vip.clone()).collect();
    let mut used: BTreeSet<String> =
        notes.iter().filter_map(|note| note.engine_group.clone()).collect();
    used.extend(groups.iter().cloned());
    controller.engine_groups.retain(|note| used.contains(&note.name));
    controller.vips.retain(|note| vips.contains(&note.name));
    controller
        .pool_groups
        .retain(|note| config.pool_groups.iter().any(|one| one.name == note.name));
    controller.pools.retain(|note| config.pools.iter().any(|one| one.name == note.name));
    let inline = config.pools.iter().flat_map(|pool| &pool.health.0);
    let mut monitors: BTreeSet<String> = inline.map(|health| health.name.clone()).collect();
    monitors.extend(controller.pools.iter().flat_map(|note| note.monitors.iter().cloned()));
    controller.health_monitors.retain(|note| monitors.contains(&note.name));
}

fn named_by(notes: &[impl Named]) -> BTreeSet<String> {
    notes.iter().map(|note| note.name().to_owned()).collect()
}

/// Pools and pool groups that a service sends to.
fn targets(service: &VirtualService) -> impl Iterator<Item = &String> {
    let own = [&service.pool].into_iter().chain(service.mirror.as_ref().map(|mirror| &mirror.pool));
    let of_rules = service.rules.iter().flat_map(|rule| {
        let mirror = rule.then.mirror.as_ref().map(|mirror| &mirror.pool);
        let script = rule.then.script.iter().flat_map(|script| &script.pools);
        rule.then.pool.iter().chain(mirror).chain(script)
    });
    own.chain(of_rules)
}

/// Hides all secrets; returns whose they are.
fn hide(config: &mut Config) -> Vec<LeftOut> {
    let mut left_out = Vec::new();
    for certificate in &mut config.certificates {
        certificate.key = Pem::File(HIDDEN.into());
        let (kind, name) = (Kind::Certificate, certificate.name.clone());
        left_out.push(LeftOut { kind, name, what: "private key".to_owned() });
    }
    let disabled = config.controller.iter_mut().flat_map(|of| &mut of.disabled_services);
    for service in config.virtual_services.iter_mut().chain(disabled) {
        let Some(policies) = &mut service.authentication else { continue };
        for (what, _) in policies.named_secrets() {
            let (kind, name) = (Kind::VirtualService, service.name.clone());
            left_out.push(LeftOut { kind, name, what });
        }
        policies.hide();
    }
    left_out
}

/// Comments in front of the file. Names cannot end a line.
fn header(left_out: &[LeftOut]) -> String {
    let mut text = String::new();
    if !left_out.is_empty() {
        text.push_str("# Not in this file; a lone engine needs secrets in the place of ******:\n");
    }
    for LeftOut { kind, name, what } in left_out {
        let _ =
            writeln!(text, "# - {} {}: {}", kind.object(), on_one_line(name), on_one_line(what));
    }
    text
}

/// The text with line ends and other control characters written as escapes.
fn on_one_line(text: &str) -> String {
    let written = |c: char| match c {
        '\u{2028}' | '\u{2029}' => c.escape_unicode().to_string(),
        c if c.is_control() => c.escape_unicode().to_string(),
        c => c.to_string(),
    };
    text.chars().map(written).collect()
}
