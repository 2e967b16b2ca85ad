//! Types of host interfaces.

/// What answers on a host interface. The numbers are the API's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum InterfaceType {
    /// A Zabbix agent.
    Agent = 1,
    /// An SNMP agent.
    Snmp = 2,
    /// A baseboard management controller.
    Ipmi = 3,
    /// A Java virtual machine.
    Jmx = 4,
}

impl InterfaceType {
    /// The interface that an item takes which may have any: the first of these that its host has.
    pub const PREFERRED: [Self; 4] = [Self::Agent, Self::Snmp, Self::Jmx, Self::Ipmi];

    /// As people call it.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Agent => "Agent",
            Self::Snmp => "SNMP",
            Self::Ipmi => "IPMI",
            Self::Jmx => "JMX",
        }
    }

    /// The API's number.
    pub const fn number(self) -> i64 {
        self as i64
    }
}
