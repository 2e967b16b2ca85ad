//! The order of an export: of members, which readers and comparisons line by line rely on, and of
//! lists.

use serde_json::Map;

use crate::call::Json;

/// Members of items and item prototypes.
pub(crate) const ITEMS: &[&str] = &[
    "uuid",
    "name",
    "type",
    "snmp_oid",
    "key",
    "delay",
    "history",
    "value_type",
    "trends",
    "status",
    "discover",
    "allow_traps",
    "allowed_hosts",
    "units",
    "params",
    "ipmi_sensor",
    "authtype",
    "username",
    "publickey",
    "privatekey",
    "description",
    "inventory_link",
    "valuemap",
    "logtimefmt",
    "preprocessing",
    "interface_ref",
    "jmx_endpoint",
    "master_item",
    "timeout",
    "parameters",
    "url",
    "query_fields",
    "status_codes",
    "follow_redirects",
    "post_type",
    "posts",
    "http_proxy",
    "headers",
    "retrieve_mode",
    "request_method",
    "output_format",
    "ssl_cert_file",
    "ssl_key_file",
    "verify_peer",
    "verify_host",
    "tags",
    "triggers",
    "trigger_prototypes",
];

/// Members of discovery rules.
pub(crate) const RULES: &[&str] = &[
    "uuid",
    "name",
    "type",
    "snmp_oid",
    "key",
    "delay",
    "status",
    "allow_traps",
    "allowed_hosts",
    "params",
    "ipmi_sensor",
    "authtype",
    "username",
    "publickey",
    "privatekey",
    "filter",
    "lifetime_type",
    "lifetime",
    "enabled_lifetime_type",
    "enabled_lifetime",
    "description",
    "interface_ref",
    "item_prototypes",
    "trigger_prototypes",
    "graph_prototypes",
    "host_prototypes",
    "jmx_endpoint",
    "master_item",
    "timeout",
    "parameters",
    "url",
    "query_fields",
    "status_codes",
    "follow_redirects",
    "post_type",
    "posts",
    "http_proxy",
    "headers",
    "retrieve_mode",
    "request_method",
    "output_format",
    "ssl_cert_file",
    "ssl_key_file",
    "verify_peer",
    "verify_host",
    "lld_macro_paths",
    "preprocessing",
    "overrides",
];

/// Members of host prototypes.
pub(crate) const HOST_PROTOTYPES: &[&str] = &[
    "uuid",
    "host",
    "name",
    "status",
    "discover",
    "inventory_mode",
    "group_links",
    "group_prototypes",
    "templates",
    "macros",
    "tags",
    "custom_interfaces",
    "interfaces",
];

/// SNMP details of a host prototype's interface.
pub(crate) const PROTOTYPE_DETAILS: &[&str] = &[
    "version",
    "bulk",
    "community",
    "max_repetitions",
    "contextname",
    "securityname",
    "securitylevel",
    "authprotocol",
    "authpassphrase",
    "privprotocol",
    "privpassphrase",
];

/// Members of triggers and trigger prototypes.
pub(crate) const TRIGGERS: &[&str] = &[
    "uuid",
    "expression",
    "recovery_mode",
    "recovery_expression",
    "correlation_mode",
    "correlation_tag",
    "name",
    "event_name",
    "opdata",
    "url_name",
    "url",
    "status",
    "discover",
    "priority",
    "description",
    "type",
    "manual_close",
    "dependencies",
    "tags",
];

/// Members of what an override does.
pub(crate) const OPERATIONS: &[&str] = &[
    "operationobject",
    "operator",
    "value",
    "discover",
    "status",
    "delay",
    "history",
    "trends",
    "severity",
    "tags",
    "templates",
    "inventory_mode",
];

/// Members of web scenarios.
pub(crate) const SCENARIOS: &[&str] = &[
    "uuid",
    "name",
    "delay",
    "attempts",
    "agent",
    "http_proxy",
    "variables",
    "headers",
    "status",
    "authentication",
    "http_user",
    "http_password",
    "verify_peer",
    "verify_host",
    "ssl_cert_file",
    "ssl_key_file",
    "ssl_key_password",
    "steps",
    "tags",
];

/// Members of their steps.
pub(crate) const WEB_STEPS: &[&str] = &[
    "name",
    "url",
    "query_fields",
    "posts",
    "variables",
    "headers",
    "follow_redirects",
    "retrieve_mode",
    "timeout",
    "required",
    "status_codes",
];

/// The object with its members in this order; others come last.
pub(crate) fn arrange(mut node: Map<String, Json>, order: &[&str]) -> Map<String, Json> {
    let mut out = Map::new();
    for name in order {
        // `remove` of an ordered map would swap members.
        if let Some(value) = node.get_mut(*name) {
            out.insert((*name).to_owned(), value.take());
        }
    }
    for (name, value) in node {
        out.entry(name).or_insert(value);
    }
    out
}

/// A key for the order in which people count: case and spaces mean nothing, digits are numbers.
pub(crate) fn natural(name: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        if !first.is_ascii_digit() {
            if !first.is_ascii_whitespace() {
                key.push(first.to_ascii_uppercase());
            }
            rest = others;
            continue;
        }
        let end = rest.iter().position(|c| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, others) = rest.split_at(end);
        let zeros = number.iter().take_while(|c| **c == b'0').count().min(end - 1);
        // Of two numbers the longer one is greater.
        let length = u32::try_from(end - zeros).unwrap_or(u32::MAX);
        key.push(b'0');
        key.extend(length.to_be_bytes());
        key.extend(&number[zeros..]);
        rest = others;
    }
    key
}

/// A macro's name without what stands around it: `{$A}` sorts before `{$A_B}`.
pub(crate) fn inner(name: &str) -> &str {
    let name = name.strip_prefix(['{']).and_then(|n| n.strip_prefix(['$', '#'])).unwrap_or(name);
    name.strip_suffix('}').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use crate::exchange::export::order::{inner, natural};

    #[test]
    fn natural_order() {
        for (less, more) in [
            ("a2", "a10"),
            ("objects_in", "object_in"),
            ("Memory/cache", "memory grants"),
            ("a", "B"),
            ("v389.x", "v3810.x"),
            ("a1b2", "a1b11"),
            ("a1", "a1b"),
            ("", "0"),
        ] {
            assert!(natural(less) < natural(more), "{less} < {more}");
        }
        assert_eq!(natural("A 1"), natural("a01"));
        assert!(inner("{$TEMP}") < inner("{$TEMP_LOW}"));
    }
}
