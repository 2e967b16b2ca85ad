//! Addresses whose responses depend on no object.

use avi::{Kind, Source, Uuid, built_ins};
use serde_json::{Value as Json, json};

use super::{AviResult, Reply, Request, Verb, refuse};

/// Version of the API of Avi whose members this API has.
const VERSION: &str = "30.2.1";

pub(super) fn version() -> Json {
    json!({
        "Version": VERSION,
        "min_version": "18.2.6",
        "Product": "controller",
        "ProductName": "Vedette",
        "build": 0,
        "Tag": concat!("vedette-", env!("CARGO_PKG_VERSION")),
    })
}

/// The only tenant.
pub(super) fn tenant() -> Json {
    json!({ "name": "admin", "uuid": tenant_uuid(), "local": true })
}

pub(super) fn tenant_uuid() -> String {
    let tenant = built_ins().iter().find(|one| one.kind == Kind::Tenant);
    let id = tenant.map_or(0, |tenant| tenant.number);
    Uuid { kind: Kind::Tenant, source: Source::BuiltIn, id }.to_string()
}

/// Responses that need no sign-in.
pub(super) fn open(verb: Verb, parts: &[&str]) -> Option<Reply> {
    match (verb, parts) {
        (Verb::Get, ["initial-data"]) => Some(Reply::of(
            200,
            json!({
                "version": version(),
                "banner": "",
                "default_cloud": "Default-Cloud",
                "setup_failed": false,
                "user_initial_setup": false,
                "welcome_workflow_complete": true,
            }),
        )),
        _ => None,
    }
}

/// Responses about the controller itself.
pub(super) fn known(verb: Verb, parts: &[&str]) -> Option<Reply> {
    let body = match (verb, parts) {
        (Verb::Get, ["cluster", "version"]) => version(),
        (Verb::Get, ["cluster"]) => {
            json!({ "name": "vedette", "uuid": "cluster-vedette", "nodes": [] })
        }
        (Verb::Get, ["cluster", "runtime" | "status"]) => json!({
            "cluster_state": { "state": "CLUSTER_UP_NO_HA", "progress": 100 },
            "node_states": [],
        }),
        _ => return None,
    };
    Some(Reply::of(200, body))
}

/// There is one tenant.
pub(super) fn check_tenant(request: &Request) -> AviResult<()> {
    match request.tenant.as_deref() {
        None | Some("" | "admin" | "*") => Ok(()),
        Some(tenant) if tenant == tenant_uuid() => Ok(()),
        Some(tenant) => {
            let text =
                format!("Tenant \"{tenant}\" does not exist; Vedette has the tenant \"admin\".");
            Err(refuse(404, text))
        }
    }
}
