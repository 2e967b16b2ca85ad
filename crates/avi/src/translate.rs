//! The way to the methods of the JSON-RPC API, and back.

use serde_json::{Value as Json, json};

use crate::plan::{Name, Plan, Targets, members_of};
use crate::reader::Reader;
use crate::{Kind, Members, Result, engines, group, monitor, pool, service, small};

/// Translates a checked object.
///
/// # Errors
/// The first member with a value that Vedette does not have.
pub fn translate(kind: Kind, document: &Members, targets: &Targets) -> Result<Plan> {
    let reader = Reader::new(document);
    match kind {
        Kind::Pool => pool::translate(&reader, targets),
        Kind::PoolGroup => group::translate(&reader, targets),
        Kind::HealthMonitor => monitor::translate(&reader),
        Kind::VsVip => small::vip(&reader),
        Kind::Certificate => small::certificate(&reader),
        Kind::EngineGroup => engines::translate(&reader),
        Kind::VirtualService => service::translate(&reader, targets),
        profile => crate::profiles::check(profile, &reader, targets).map(|()| Plan::Profile),
    }
}

/// The object of Avi for a result of `get`. Members of Vedette that Avi does not have are left out.
pub fn show(kind: Kind, object: &Json, name: &mut Name<'_>) -> Members {
    match kind {
        Kind::Pool => pool::show(object, name),
        Kind::PoolGroup => group::show(object, name),
        Kind::HealthMonitor => monitor::show(object),
        Kind::VsVip => small::show_vip(object),
        Kind::Certificate => small::show_certificate(object),
        Kind::VirtualService => service::show(object, name),
        Kind::EngineGroup => engines::show(object),
        _ => members_of(json!({ "name": object["name"], "description": object["description"] })),
    }
}
