//! Checks of discovery rules, as clients give them.

use std::collections::BTreeSet;

use config::db::Value;
use eval::key::ItemKey;
use eval::ranges::numbers;
use objects::DiscoveryCheckType;
use serde_json::Map;

use super::write::{mandatory, one_of};
use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, OneOf, Text};
use crate::object::{Columns, Field, field};
use crate::params;

pub(super) const FIELDS: &[Field] = &[
    field("dcheckid", Id, ReadOnly, "Id of the check."),
    field("druleid", Id, ReadOnly, "Rule that has it."),
    field("type", Int(0, 15), Required, "9 agent, 10, 11, 13 SNMP, 12 ICMP, else services."),
    field("key_", Text(2048), Optional, "Key of an agent, OID of SNMP."),
    field("snmp_community", Text(255), Optional, "Community of SNMP 1 and 2c."),
    field("ports", Text(255), Optional, "Ports: `22,8000-8080`."),
    field("snmpv3_securityname", Text(64), Optional, "Name of SNMP 3."),
    field("snmpv3_securitylevel", OneOf(&[0, 1, 2]), Optional, "Of SNMP 3."),
    field("snmpv3_authpassphrase", Text(64), Optional, "Of SNMP 3."),
    field("snmpv3_privpassphrase", Text(64), Optional, "Of SNMP 3."),
    field("uniq", OneOf(&[0, 1]), Optional, "1 = its value identifies the host."),
    field("snmpv3_authprotocol", Int(0, 5), Optional, "Of SNMP 3."),
    field("snmpv3_privprotocol", Int(0, 5), Optional, "Of SNMP 3."),
    field("snmpv3_contextname", Text(255), Optional, "Of SNMP 3."),
    field("host_source", OneOf(&[1, 2, 3]), Optional, "Host name: 1 DNS, 2 IP, 3 its value."),
    field("name_source", OneOf(&[0, 1, 2, 3]), Optional, "Visible name: 0 none, else as above."),
    field("allow_redirect", OneOf(&[0, 1]), Optional, "ICMP: answers from elsewhere count."),
];

#[derive(Debug, Clone)]
pub(super) struct Check {
    /// The one that it changes; 0 = a new one.
    pub(super) id: u64,
    pub(super) columns: Columns,
}

/// Reads the checks of a rule.
pub(super) fn parse(value: Option<&Json>) -> ApiResult<Vec<Check>> {
    let list = value.map(params::list).unwrap_or_default();
    if list.is_empty() {
        return Err(ApiError::params("Cannot save discovery rule without checks."));
    }
    let checks = list.into_iter().map(Check::parse).collect::<ApiResult<Vec<_>>>()?;
    let unique = |check: &&Check| check.number("uniq") == 1;
    if checks.iter().filter(unique).count() > 1 {
        return Err(ApiError::params("Only one check can be unique."));
    }
    // What they ask, whatever is made of the answer.
    let asked = |check: &Check| -> String {
        let made = ["uniq", "host_source", "name_source"];
        let columns = check.columns.iter().filter(|(name, _)| !made.contains(name));
        format!("{:?}", columns.collect::<Vec<_>>())
    };
    let distinct: BTreeSet<String> = checks.iter().map(asked).collect();
    if distinct.len() < checks.len() {
        return Err(ApiError::params("Checks should be unique."));
    }
    Ok(checks)
}

impl Check {
    fn parse(value: &Json) -> ApiResult<Self> {
        let Json::Object(members) = value else {
            return Err(ApiError::params("Incorrect arguments passed to function."));
        };
        let id = members.get("dcheckid").map_or(Ok(0), |v| params::id(v, "/dcheckid"))?;
        let given = members.get("type").ok_or_else(|| mandatory("type"))?;
        let kind = params::int(given, "type").ok().and_then(DiscoveryCheckType::from_number);
        let kind =
            kind.ok_or_else(|| one_of("type", &params::text(given, "type").unwrap_or_default()))?;
        let mut check = Self { id, columns: vec![("type", kind.number().into())] };
        check.ports(kind, members)?;
        check.question(kind, members)?;
        let valued = kind == DiscoveryCheckType::Agent || kind.is_snmp();
        for (name, default, least) in [("host_source", 1, 1), ("name_source", 0, 0)] {
            let source = members.get(name).map_or(Ok(default), |v| params::int(v, name))?;
            if !(least..=if valued { 3 } else { 2 }).contains(&source) {
                let text = format!("Incorrect value for field \"{name}\": {source}.");
                return Err(ApiError::params(text));
            }
            check.columns.push((name, source.into()));
        }
        let uniq = members.get("uniq").map_or(Ok(0), |v| number(v, "uniq", 0..=1))?;
        if uniq == 1 && !valued {
            return Err(ApiError::params(
                "Only Zabbix agent, SNMPv1, SNMPv2 and SNMPv3 checks can be made unique.",
            ));
        }
        check.columns.push(("uniq", uniq.into()));
        let redirect = members.get("allow_redirect");
        let redirect = redirect.map_or(Ok(0), |v| number(v, "allow_redirect", 0..=1))?;
        check.columns.push(("allow_redirect", redirect.into()));
        Ok(check)
    }

    fn number(&self, name: &str) -> i64 {
        self.columns.iter().find(|(column, _)| *column == name).map_or(0, |(_, v)| v.as_int())
    }

    fn ports(&mut self, kind: DiscoveryCheckType, members: &Map<String, Json>) -> ApiResult<()> {
        let ports =
            members.get("ports").map_or(Ok("0".to_owned()), |v| params::text(v, "ports"))?;
        // Pings have no ports.
        let ports = if kind == DiscoveryCheckType::Icmp { "0".to_owned() } else { ports };
        if numbers(&ports, u16::MAX).is_none() {
            return Err(ApiError::params("Incorrect port range."));
        }
        self.columns.push(("ports", ports.into()));
        Ok(())
    }

    /// What an agent or an SNMP device is asked; others are asked nothing.
    fn question(&mut self, kind: DiscoveryCheckType, members: &Map<String, Json>) -> ApiResult<()> {
        let text =
            |name: &str| members.get(name).map_or(Ok(String::new()), |v| params::text(v, name));
        let mut key = String::new();
        let mut community = String::new();
        if kind == DiscoveryCheckType::Agent {
            let given = members.get("key_").ok_or_else(|| mandatory("key_"))?;
            key = params::text(given, "key_")?;
            if key.is_empty() {
                let text = "Incorrect value for field \"key_\": cannot be empty.";
                return Err(ApiError::params(text));
            }
            if let Err(error) = ItemKey::parse(&key) {
                return Err(ApiError::params(format!("Invalid key \"{key}\": {error}.")));
            }
        } else if kind.is_snmp() {
            if kind != DiscoveryCheckType::SnmpV3 {
                community = text("snmp_community")?;
                if community.is_empty() {
                    return Err(ApiError::params("Incorrect SNMP community."));
                }
            }
            key = text("key_")?;
            if key.is_empty() {
                return Err(ApiError::params("Incorrect SNMP OID."));
            }
        }
        self.columns.push(("key_", key.into()));
        self.columns.push(("snmp_community", community.into()));
        if kind == DiscoveryCheckType::SnmpV3 {
            return self.user(members);
        }
        self.without_user();
        Ok(())
    }

    /// SNMPv3 credentials; fields that the security level does not use are cleared.
    fn user(&mut self, members: &Map<String, Json>) -> ApiResult<()> {
        let level = members.get("snmpv3_securitylevel");
        let level = level.map_or(Ok(0), |v| number(v, "snmpv3_securitylevel", 0..=2))?;
        self.columns.push(("snmpv3_securitylevel", level.into()));
        for name in ["snmpv3_securityname", "snmpv3_contextname"] {
            let text = members.get(name).map_or(Ok(String::new()), |v| params::text(v, name))?;
            self.columns.push((name, text.into()));
        }
        for (protocol, passphrase, from) in [
            ("snmpv3_authprotocol", "snmpv3_authpassphrase", 1),
            ("snmpv3_privprotocol", "snmpv3_privpassphrase", 2),
        ] {
            let (mut number_of, mut secret) = (0, String::new());
            if level >= from {
                let given = members.get(protocol).ok_or_else(|| one_of(protocol, ""))?;
                number_of = number(given, protocol, 0..=5)?;
                let given = members.get(passphrase);
                secret = given.map_or(Ok(String::new()), |v| params::text(v, passphrase))?;
            }
            self.columns.push((protocol, number_of.into()));
            self.columns.push((passphrase, secret.into()));
        }
        Ok(())
    }

    /// Clears the SNMPv3 credentials.
    fn without_user(&mut self) {
        for field in FIELDS.iter().filter(|field| field.name.starts_with("snmpv3_")) {
            let value = match field.kind {
                Text(_) => Value::from(""),
                _ => Value::from(0),
            };
            self.columns.push((field.name, value));
        }
    }
}

fn number(value: &Json, name: &str, range: std::ops::RangeInclusive<i64>) -> ApiResult<i64> {
    match params::int(value, name) {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(one_of(name, &params::text(value, name).unwrap_or_default())),
    }
}
