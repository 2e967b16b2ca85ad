//! Events: where they come from, what they are about, what users do with them.

use crate::numbered::numbered;

numbered! {
    /// Where an event comes from; the API's `source` of events and `eventsource` of actions.
    EventSource: u8 {
        /// A trigger found a problem, or its end.
        Trigger = 0, "TRIGGERS", "Trigger";
        /// Network discovery found a device or a service, or lost it.
        Discovery = 1, "DISCOVERY", "Discovery";
        /// An active agent announced itself.
        Autoregistration = 2, "AUTOREGISTRATION", "Autoregistration";
        /// An object became unsupported or unknown, or normal again.
        Internal = 3, "INTERNAL", "Internal";
        /// The status of a service changed.
        Service = 4, "SERVICE", "Service";
    }
}

numbered! {
    /// Table of the object that an event is about; the API's `object`.
    EventObject: u8 {
        /// `triggers`.
        Trigger = 0, "", "Trigger";
        /// `dhosts`: a device, with all of its services.
        DiscoveredHost = 1, "", "Device";
        /// `dservices`.
        DiscoveredService = 2, "", "Service";
        /// `autoreg_hosts`.
        AutoregisteredHost = 3, "", "Autoregistered host";
        /// `items`.
        Item = 4, "", "Item";
        /// `items`: a low-level discovery rule.
        LldRule = 5, "", "Low-level discovery rule";
        /// `services`.
        Service = 6, "", "Service";
    }
}

impl EventSource {
    /// What its events can be about.
    pub const fn objects(self) -> &'static [EventObject] {
        match self {
            Self::Trigger => &[EventObject::Trigger],
            Self::Discovery => &[EventObject::DiscoveredHost, EventObject::DiscoveredService],
            Self::Autoregistration => &[EventObject::AutoregisteredHost],
            Self::Internal => &[EventObject::Trigger, EventObject::Item, EventObject::LldRule],
            Self::Service => &[EventObject::Service],
        }
    }
}

numbered! {
    /// What a user does with a problem; the bits of the API's `action`.
    ProblemAction: u32 {
        /// Closes it.
        Close = 1, "", "Close";
        /// Acknowledges it.
        Acknowledge = 2, "", "Acknowledge";
        /// Adds a comment.
        Message = 4, "", "Message";
        /// Changes its severity.
        Severity = 8, "", "Change severity";
        /// Takes the acknowledgement back.
        Unacknowledge = 16, "", "Unacknowledge";
        /// Suppresses it.
        Suppress = 32, "", "Suppress";
        /// Ends the suppression.
        Unsuppress = 64, "", "Unsuppress";
        /// Makes it a cause.
        RankCause = 128, "", "Convert to cause";
        /// Makes it a symptom of another problem.
        RankSymptom = 256, "", "Convert to symptom";
    }
}

impl ProblemAction {
    /// Number with only the bit of this action set.
    pub const fn bit(self) -> u32 {
        self as u32
    }

    /// Whether it is one of the actions whose bits are set.
    pub const fn is_in(self, actions: u32) -> bool {
        actions & self.bit() != 0
    }
}

numbered! {
    /// What network discovery tells about a device or a service; the API's `value` of its events. The
    /// first two are also the API's `status` of devices and services.
    DiscoveryState: u8 {
        /// It responds.
        Up = 0, "", "Up";
        /// It does not respond.
        Down = 1, "", "Down";
        /// It responds for the first time, or again.
        Discovered = 2, "", "Discovered";
        /// It has just stopped responding.
        Lost = 3, "", "Lost";
    }
}

numbered! {
    /// How a check of network discovery looks for a service; the API's `type` of checks.
    DiscoveryCheckType: u8 {
        /// The greeting of an SSH server.
        Ssh = 0, "", "SSH";
        /// A bind to an LDAP server.
        Ldap = 1, "", "LDAP";
        /// The greeting of an SMTP server.
        Smtp = 2, "", "SMTP";
        /// The greeting of an FTP server.
        Ftp = 3, "", "FTP";
        /// A TCP connection to a web server.
        Http = 4, "", "HTTP";
        /// The greeting of a POP3 server.
        Pop = 5, "", "POP";
        /// The greeting of an NNTP server.
        Nntp = 6, "", "NNTP";
        /// The greeting of an IMAP server.
        Imap = 7, "", "IMAP";
        /// A TCP connection.
        Tcp = 8, "", "TCP";
        /// An item of a Zabbix agent.
        Agent = 9, "", "Zabbix agent";
        /// An OID by SNMP version 1.
        SnmpV1 = 10, "", "SNMPv1 agent";
        /// An OID by SNMP version 2c.
        SnmpV2 = 11, "", "SNMPv2 agent";
        /// ICMP echo.
        Icmp = 12, "", "ICMP ping";
        /// An OID by SNMP version 3.
        SnmpV3 = 13, "", "SNMPv3 agent";
        /// A request to a web server with TLS.
        Https = 14, "", "HTTPS";
        /// The prompt of a Telnet server.
        Telnet = 15, "", "Telnet";
    }
}

impl DiscoveryCheckType {
    /// The name that keys of simple checks have for the service; `None` = agents, SNMP, ICMP.
    pub const fn service(self) -> Option<&'static str> {
        Some(match self {
            Self::Ssh => "ssh",
            Self::Ldap => "ldap",
            Self::Smtp => "smtp",
            Self::Ftp => "ftp",
            Self::Http => "http",
            Self::Pop => "pop",
            Self::Nntp => "nntp",
            Self::Imap => "imap",
            Self::Tcp => "tcp",
            Self::Https => "https",
            Self::Telnet => "telnet",
            Self::Agent | Self::SnmpV1 | Self::SnmpV2 | Self::SnmpV3 | Self::Icmp => return None,
        })
    }

    /// It queries an SNMP agent.
    pub const fn is_snmp(self) -> bool {
        matches!(self, Self::SnmpV1 | Self::SnmpV2 | Self::SnmpV3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_object_has_a_source() {
        for object in EventObject::ALL {
            let sources = EventSource::ALL.iter().filter(|s| s.objects().contains(object)).count();
            // Triggers also have internal events.
            assert_eq!(sources, if *object == EventObject::Trigger { 2 } else { 1 }, "{object:?}");
        }
    }
}
