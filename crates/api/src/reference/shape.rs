//! What the machine-readable descriptions share: objects by method, names of types, examples of
//! nothing; all from the tables.

use crate::call::Method;
use crate::methods::{ALL, OBJECTS};
use crate::object::Object;

/// Names of types by the object's name; of two objects of one name the second has its own key.
const TYPES: &[(&str, &str)] = &[
    ("hostgroup", "HostGroup"),
    ("templategroup", "TemplateGroup"),
    ("host", "Host"),
    ("hostinterface", "HostInterface"),
    ("hostprototype", "HostPrototype"),
    ("template", "Template"),
    ("item", "Item"),
    ("itemprototype", "ItemPrototype"),
    ("discoveryrule", "DiscoveryRule"),
    ("trigger", "Trigger"),
    ("triggerprototype", "TriggerPrototype"),
    ("graph", "Graph"),
    ("graphprototype", "GraphPrototype"),
    ("graphitem", "GraphItem"),
    ("usermacro", "UserMacro"),
    ("globalmacro", "GlobalMacro"),
    ("valuemap", "ValueMap"),
    ("event", "Event"),
    ("problem", "Problem"),
    ("httptest", "WebScenario"),
    ("maintenance", "Maintenance"),
    ("drule", "NetworkDiscoveryRule"),
    ("dcheck", "NetworkDiscoveryCheck"),
    ("dhost", "FoundHost"),
    ("dservice", "FoundService"),
    ("action", "Action"),
    ("correlation", "Correlation"),
    ("mediatype", "MediaType"),
    ("script", "Script"),
    ("oncall", "OnCallSchedule"),
    ("alert", "Alert"),
    ("service", "Service"),
    ("proxy", "Proxy"),
    ("proxygroup", "ProxyGroup"),
    ("sla", "Sla"),
    ("user", "User"),
    ("usergroup", "UserGroup"),
    ("role", "Role"),
    ("token", "Token"),
    ("regexp", "Regexp"),
    ("mfa", "MfaMethod"),
    ("userdirectory", "UserDirectory"),
    ("connector", "Connector"),
    ("report", "ScheduledReport"),
    ("hanode", "HaNode"),
    ("module", "FrontEndModule"),
    ("image", "Image"),
    ("iconmap", "IconMap"),
    ("map", "NetworkMap"),
    ("dashboard", "Dashboard"),
    ("templatedashboard", "TemplateDashboard"),
    ("hostdashboard", "HostDashboard"),
    ("auditlog", "AuditEntry"),
    ("virtualservice", "VirtualService"),
    ("vip", "Vip"),
    ("pool", "Pool"),
    ("poolgroup", "PoolGroup"),
    ("healthmonitor", "HealthMonitor"),
    ("certificate", "Certificate"),
    ("enginegroup", "EngineGroup"),
    ("engine", "Engine"),
];

/// Global macros share their methods' object with macros of hosts.
fn table_name(object: &Object) -> &'static str {
    if object.key == "globalmacroid" { "globalmacro" } else { object.name }
}

/// Name of the object's type.
pub(super) fn type_name(object: &Object) -> &'static str {
    let name = table_name(object);
    TYPES.iter().find(|(known, _)| *known == name).map_or(name, |(_, shown)| shown)
}

/// All methods by name.
pub(super) fn methods() -> Vec<&'static Method> {
    let mut methods: Vec<&Method> = ALL.iter().flat_map(|part| part.iter()).collect();
    methods.sort_by_key(|method| method.name);
    methods
}

/// The name as people write it; case means nothing to the server.
pub(super) fn shown(method: &Method) -> &'static str {
    match method.name {
        "user.checkauthentication" => "user.checkAuthentication",
        name => name,
    }
}

/// The object that a method is about, and what it does with it.
pub(super) fn parts(method: &Method) -> (Option<&'static Object>, &'static str) {
    let (name, action) = method.name.split_once('.').unwrap_or((method.name, ""));
    let (name, action) = match action.strip_suffix("global") {
        Some(plain) => ("globalmacro", plain),
        None => (name, action),
    };
    (OBJECTS.iter().copied().find(|object| table_name(object) == name), action)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_has_a_type_of_its_own() {
        let mut names: Vec<&str> = OBJECTS.iter().map(|object| type_name(object)).collect();
        for name in &names {
            assert!(name.starts_with(char::is_uppercase), "{name}: no type name");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), OBJECTS.len());
    }
}
