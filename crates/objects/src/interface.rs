//! Types of host interfaces.

use crate::numbered::numbered;

numbered! {
    /// What answers on a host interface.
    InterfaceType: u8 {
        /// A Zabbix agent.
        Agent = 1, "ZABBIX", "Agent";
        /// An SNMP agent.
        Snmp = 2, "SNMP", "SNMP";
        /// A baseboard management controller.
        Ipmi = 3, "IPMI", "IPMI";
        /// A Java virtual machine.
        Jmx = 4, "JMX", "JMX";
    }
}

impl InterfaceType {
    /// The interface that an item takes which may have any: the first of these that its host has.
    pub const PREFERRED: [Self; 4] = [Self::Agent, Self::Snmp, Self::Jmx, Self::Ipmi];

    /// The label inside a sentence: `agent`, `SNMP`, `IPMI`, `JMX`.
    pub const fn lower_label(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            _ => self.label(),
        }
    }
}
