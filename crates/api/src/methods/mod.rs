//! The methods, a file or folder per object. Each has its field table, its methods and nothing
//! that other objects need: what is shared lives beside this folder.

pub(crate) mod action;
pub(crate) mod alert;
pub(crate) mod apiinfo;
pub(crate) mod auditlog;
pub(crate) mod authentication;
pub(crate) mod autoregistration;
pub(crate) mod balancing;
pub(crate) mod connector;
pub(crate) mod correlation;
pub(crate) mod dashboard;
pub(crate) mod drule;
pub(crate) mod event;
pub(crate) mod graph;
pub(crate) mod group;
pub(crate) mod hanode;
pub(crate) mod history;
pub(crate) mod host;
pub(crate) mod hostinterface;
pub(crate) mod hostprototype;
pub(crate) mod housekeeping;
pub(crate) mod httptest;
pub(crate) mod iconmap;
pub(crate) mod image;
pub(crate) mod item;
pub(crate) mod login;
pub(crate) mod maintenance;
pub(crate) mod map;
pub(crate) mod mediatype;
pub(crate) mod mfa;
pub(crate) mod module;
pub(crate) mod oncall;
pub(crate) mod proxy;
pub(crate) mod proxygroup;
pub(crate) mod regexp;
pub(crate) mod report;
pub(crate) mod role;
pub(crate) mod running;
pub(crate) mod script;
pub(crate) mod service;
pub(crate) mod settings;
pub(crate) mod sla;
pub(crate) mod task;
pub(crate) mod template;
pub(crate) mod token;
pub(crate) mod transaction;
pub(crate) mod trigger;
pub(crate) mod user;
pub(crate) mod userdirectory;
pub(crate) mod usergroup;
pub(crate) mod usermacro;
pub(crate) mod valuemap;

use crate::call::Method;
use crate::object::{Field, Object};
use crate::single::Single;

/// All methods.
pub(crate) const ALL: &[&[Method]] = &[
    action::METHODS,
    alert::METHODS,
    apiinfo::METHODS,
    auditlog::METHODS,
    authentication::METHODS,
    autoregistration::METHODS,
    balancing::METHODS,
    balancing::certificate::METHODS,
    balancing::engine::METHODS,
    balancing::enginegroup::METHODS,
    balancing::exchange::METHODS,
    balancing::healthmonitor::METHODS,
    balancing::pool::METHODS,
    balancing::poolgroup::METHODS,
    balancing::vip::METHODS,
    balancing::virtualservice::METHODS,
    connector::METHODS,
    correlation::METHODS,
    dashboard::METHODS,
    dashboard::host::METHODS,
    dashboard::template::METHODS,
    drule::METHODS,
    event::METHODS,
    crate::exchange::METHODS,
    graph::METHODS,
    group::METHODS,
    hanode::METHODS,
    history::METHODS,
    host::METHODS,
    hostinterface::METHODS,
    hostprototype::METHODS,
    housekeeping::METHODS,
    httptest::METHODS,
    iconmap::METHODS,
    image::METHODS,
    item::METHODS,
    item::PROTOTYPE_METHODS,
    item::RULE_METHODS,
    login::METHODS,
    maintenance::METHODS,
    map::METHODS,
    mediatype::METHODS,
    mfa::METHODS,
    module::METHODS,
    oncall::METHODS,
    proxy::METHODS,
    proxygroup::METHODS,
    regexp::METHODS,
    report::METHODS,
    role::METHODS,
    running::METHODS,
    script::METHODS,
    service::METHODS,
    settings::METHODS,
    sla::METHODS,
    task::METHODS,
    template::METHODS,
    transaction::METHODS,
    trigger::METHODS,
    token::METHODS,
    user::METHODS,
    userdirectory::METHODS,
    usergroup::METHODS,
    usermacro::METHODS,
    valuemap::METHODS,
];

/// All objects with their field tables, in the order of the reference.
pub(crate) const OBJECTS: &[&Object] = &[
    &group::HOST_GROUP,
    &group::TEMPLATE_GROUP,
    &host::HOST,
    &hostinterface::INTERFACE,
    &template::TEMPLATE,
    &item::ITEM,
    &item::PROTOTYPE,
    &item::RULE,
    &hostprototype::HOST_PROTOTYPE,
    &httptest::HTTPTEST,
    &trigger::TRIGGER,
    &trigger::PROTOTYPE,
    &graph::GRAPH,
    &graph::PROTOTYPE,
    &graph::ITEM,
    &usermacro::HOST_MACRO,
    &usermacro::GLOBAL_MACRO,
    &valuemap::VALUE_MAP,
    &event::EVENT,
    &event::PROBLEM,
    &maintenance::MAINTENANCE,
    &proxy::PROXY,
    &proxygroup::PROXY_GROUP,
    &drule::DRULE,
    &drule::DCHECK,
    &drule::DHOST,
    &drule::DSERVICE,
    &action::ACTION,
    &correlation::CORRELATION,
    &mediatype::MEDIA_TYPE,
    &script::SCRIPT,
    &oncall::ONCALL,
    &alert::ALERT,
    &connector::CONNECTOR,
    &report::REPORT,
    &service::SERVICE,
    &sla::SLA,
    &image::IMAGE,
    &iconmap::ICON_MAP,
    &map::MAP,
    &dashboard::DASHBOARD,
    &dashboard::template::TEMPLATE_DASHBOARD,
    &dashboard::host::HOST_DASHBOARD,
    &user::USER,
    &usergroup::USER_GROUP,
    &role::ROLE,
    &mfa::MFA,
    &userdirectory::USER_DIRECTORY,
    &token::TOKEN,
    &regexp::REGEXP,
    &balancing::virtualservice::VIRTUAL_SERVICE,
    &balancing::vip::VIP,
    &balancing::pool::POOL,
    &balancing::poolgroup::POOL_GROUP,
    &balancing::healthmonitor::HEALTH_MONITOR,
    &balancing::certificate::CERTIFICATE,
    &balancing::enginegroup::ENGINE_GROUP,
    &balancing::engine::ENGINE,
    &auditlog::AUDIT_LOG,
    &hanode::HA_NODE,
    &module::MODULE,
];

/// Parameters and result of a method that is none of get, create, update and delete.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) method: &'static str,
    pub(crate) params: &'static [Field],
    pub(crate) result: &'static [Field],
}

/// Methods whose parameters the reference lists by themselves.
pub(crate) const DESCRIBED: &[Described] = &[
    Described {
        method: "mediatype.test",
        params: mediatype::trial::PARAMETERS,
        result: mediatype::trial::RESULT,
    },
    event::GROUPS,
    oncall::SHIFTS,
    oncall::OVERRIDE,
    oncall::ICAL,
    mfa::CONFIRMATION,
    mfa::CONFIRM,
    mfa::REPLACE,
];

/// Objects of which there is one.
pub(crate) const SINGLES: &[&Single] = &[
    &settings::SETTINGS,
    &housekeeping::HOUSEKEEPING,
    &authentication::AUTHENTICATION,
    &autoregistration::AUTOREGISTRATION,
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Relations show objects by the method of this name.
    #[test]
    fn every_object_has_a_get_method() {
        let has_get = |object: &Object| {
            let name = format!("{}.get", object.name);
            ALL.iter().flat_map(|methods| methods.iter()).any(|method| method.name == name)
        };
        for object in OBJECTS {
            assert!(has_get(object), "{}", object.name);
        }
    }
}
