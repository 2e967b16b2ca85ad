//! How long is kept what is not the history of items: the settings of housekeeping.

use objects::EventSource;

/// Seconds that each kind of data is kept; `None` = it is never deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Events of triggers. Those of open problems are always kept, whatever their source.
    pub trigger_events_s: Option<u64>,
    /// Events of services.
    pub service_events_s: Option<u64>,
    /// Internal events: what became unsupported or unknown.
    pub internal_events_s: Option<u64>,
    /// Events of network discovery.
    pub discovery_events_s: Option<u64>,
    /// Events of autoregistration: one for each time an agent announces itself.
    pub autoregistration_events_s: Option<u64>,
    /// Changes of the status of services, from which their SLI is computed.
    pub services_s: Option<u64>,
    /// Entries of the audit log.
    pub audit_s: Option<u64>,
    /// Sessions, from their last request.
    pub sessions_s: Option<u64>,
}

impl Retention {
    /// What the settings say, found by their names. Those that are not stored or that cannot be read have their
    /// default, which is that of Zabbix 7.0.
    pub(super) fn of<'a>(setting: impl Fn(&str) -> Option<&'a str>) -> Self {
        let seconds = |switch: &str, name: &str, default_days: u64| {
            let stored = setting(name).and_then(eval::num::parse_seconds).map(u64::from);
            let is_on = setting(switch).is_none_or(|value| value == "1");
            is_on.then(|| stored.unwrap_or(default_days * u64::from(model::DAY_S)))
        };
        let events = |name, default_days| seconds("hk_events_mode", name, default_days);
        Self {
            trigger_events_s: events("hk_events_trigger", 365),
            service_events_s: events("hk_events_service", 1),
            internal_events_s: events("hk_events_internal", 1),
            discovery_events_s: events("hk_events_discovery", 1),
            autoregistration_events_s: events("hk_events_autoreg", 1),
            services_s: seconds("hk_services_mode", "hk_services", 365),
            audit_s: seconds("hk_audit_mode", "hk_audit", 31),
            sessions_s: seconds("hk_sessions_mode", "hk_sessions", 365),
        }
    }

    /// Seconds that events of this source are kept.
    pub const fn of_events(&self, source: EventSource) -> Option<u64> {
        match source {
            EventSource::Trigger => self.trigger_events_s,
            EventSource::Discovery => self.discovery_events_s,
            EventSource::Autoregistration => self.autoregistration_events_s,
            EventSource::Internal => self.internal_events_s,
            EventSource::Service => self.service_events_s,
        }
    }
}

impl Default for Retention {
    fn default() -> Self {
        Self::of(|_| None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_and_periods_decide_and_rubbish_is_the_default() {
        let settings = [
            ("hk_events_mode", "0"),
            ("hk_events_trigger", "2d"),
            ("hk_services", "1w"),
            ("hk_audit", "soon"),
            ("hk_sessions_mode", "1"),
        ];
        let found = Retention::of(|name| {
            settings.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
        });
        for source in EventSource::ALL {
            assert_eq!(found.of_events(*source), None);
        }
        assert_eq!(found.services_s, Some(7 * 86_400));
        assert_eq!(found.audit_s, Some(31 * 86_400));
        assert_eq!(found.sessions_s, Some(365 * 86_400));
        assert_eq!(Retention::default().of_events(EventSource::Trigger), Some(365 * 86_400));
        assert_eq!(Retention::default().of_events(EventSource::Service), Some(86_400));
    }
}
