//! `net.tcp.service`, `net.udp.service` and how long they take: the parameters of their keys.

use std::time::Duration;

use eval::key::ItemKey;
use wire::services::Service;

use crate::checks::icmp::seconds;

/// Whether to look for a service, or to measure it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServiceCheck {
    pub(super) service: Service,
    /// Empty = the address of the item's interface.
    pub(super) target: String,
    pub(super) port: u16,
    measure: bool,
}

impl ServiceCheck {
    /// Reads a key; the error is the item's.
    pub(super) fn parse(key: &ItemKey) -> Result<Self, String> {
        let (udp, measure) = match key.name.as_str() {
            "net.tcp.service" => (false, false),
            "net.tcp.service.perf" => (false, true),
            "net.udp.service" => (true, false),
            "net.udp.service.perf" => (true, true),
            _ => return Err(String::from("Unsupported item key.")),
        };
        if key.param_count() > 3 {
            return Err(String::from("Too many parameters."));
        }
        let text = |at| key.param(at).unwrap_or_default();
        let service = Service::from_name(&text(0))
            .filter(|service| (*service == Service::Ntp) == udp)
            .ok_or("Invalid first parameter.")?;
        let port = match text(2).as_str() {
            "" => service.port(),
            port if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse().ok(),
            _ => None,
        };
        let port = port.ok_or("Invalid third parameter.")?;
        Ok(Self { service, target: text(1), port, measure })
    }

    /// The item's value: whether the service works, or how many seconds that took.
    pub(super) fn value(&self, took: Option<Duration>) -> String {
        if self.measure { seconds(took) } else { u8::from(took.is_some()).to_string() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a real server 7.0 reads them.
    #[test]
    fn keys() {
        let first = Err("Invalid first parameter.");
        let third = Err("Invalid third parameter.");
        for (key, expected) in [
            ("net.tcp.service[ssh]", Ok((Service::Ssh, "", 22, false))),
            ("net.tcp.service[tcp,h,80]", Ok((Service::Tcp, "h", 80, false))),
            ("net.tcp.service[tcp,,0]", Ok((Service::Tcp, "", 0, false))),
            ("net.tcp.service.perf[https,::1]", Ok((Service::Https, "::1", 443, true))),
            ("net.udp.service[ntp]", Ok((Service::Ntp, "", 123, false))),
            ("net.udp.service.perf[ntp,h,1123]", Ok((Service::Ntp, "h", 1123, true))),
            ("net.tcp.service", first),
            ("net.tcp.service[]", first),
            ("net.tcp.service[SSH]", first),
            ("net.tcp.service[ntp]", first),
            ("net.tcp.service[dns]", first),
            ("net.udp.service[tcp]", first),
            ("net.udp.service[dns]", first),
            ("net.tcp.service[tcp]", third),
            ("net.tcp.service[tcp,,x]", third),
            ("net.tcp.service[tcp,,+1]", third),
            ("net.tcp.service[tcp,,65536]", third),
            ("net.tcp.service[tcp,,80,x]", Err("Too many parameters.")),
            ("net.tcp.service.foo", Err("Unsupported item key.")),
            ("agent.ping", Err("Unsupported item key.")),
            ("net.tcp.port[,80]", Err("Unsupported item key.")),
        ] {
            let parsed = ServiceCheck::parse(&ItemKey::parse(key).unwrap());
            let parsed = parsed.as_ref().map_err(String::as_str);
            let shown = parsed.map(|one| (one.service, one.target.as_str(), one.port, one.measure));
            assert_eq!(shown, expected, "{key}");
        }
    }

    #[test]
    fn values() {
        let value = |key: &str, took: Option<u64>| {
            let check = ServiceCheck::parse(&ItemKey::parse(key).unwrap()).unwrap();
            check.value(took.map(Duration::from_micros))
        };
        assert_eq!(value("net.tcp.service[ssh]", Some(5)), "1");
        assert_eq!(value("net.tcp.service[ssh]", None), "0");
        assert_eq!(value("net.tcp.service.perf[ssh]", Some(5)), "0.0001");
        assert_eq!(value("net.tcp.service.perf[ssh]", Some(1_743)), "0.001743");
        assert_eq!(value("net.tcp.service.perf[ssh]", None), "0");
    }
}
