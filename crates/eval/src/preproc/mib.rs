//! Names of SNMP objects: the standard modules' (RFC 1213, 2863, 2790, 3418, 4113, 4022, 4293,
//! 6933, 4188, and UCD), so that a walk can be read by name without MIB files on the machine.

use std::borrow::Cow;

/// Module, OID of a parent, and the objects below it with their last numbers.
type Objects = (&'static str, &'static str, &'static [(&'static str, u32)]);

/// Some hundred rows, looked through once for each value of a step that names an object.
#[rustfmt::skip]
const OBJECTS: &[Objects] = &[
    ("SNMPv2-SMI", "1", &[("org", 3)]),
    ("SNMPv2-SMI", "1.3", &[("dod", 6)]),
    ("SNMPv2-SMI", "1.3.6", &[("internet", 1)]),
    ("SNMPv2-SMI", "1.3.6.1", &[("directory", 1), ("mgmt", 2), ("experimental", 3),
        ("private", 4), ("security", 5), ("snmpV2", 6)]),
    ("SNMPv2-SMI", "1.3.6.1.2", &[("mib-2", 1)]),
    ("SNMPv2-SMI", "1.3.6.1.4", &[("enterprises", 1)]),
    ("SNMPv2-SMI", "1.3.6.1.2.1", &[("transmission", 10)]),
    ("SNMPv2-SMI", "1.3.6.1.6", &[("snmpDomains", 1), ("snmpProxys", 2), ("snmpModules", 3)]),
    ("SNMPv2-MIB", "1.3.6.1.2.1", &[("system", 1), ("snmp", 11)]),
    ("SNMPv2-MIB", "1.3.6.1.2.1.1", &[("sysDescr", 1), ("sysObjectID", 2), ("sysUpTime", 3),
        ("sysContact", 4), ("sysName", 5), ("sysLocation", 6), ("sysServices", 7),
        ("sysORLastChange", 8), ("sysORTable", 9)]),
    ("SNMPv2-MIB", "1.3.6.1.2.1.1.9.1", &[("sysORIndex", 1), ("sysORID", 2), ("sysORDescr", 3),
        ("sysORUpTime", 4)]),
    ("DISMAN-EVENT-MIB", "1.3.6.1.2.1.1", &[("sysUpTimeInstance", 3)]),
    ("IF-MIB", "1.3.6.1.2.1", &[("interfaces", 2), ("ifMIB", 31)]),
    ("IF-MIB", "1.3.6.1.2.1.2", &[("ifNumber", 1), ("ifTable", 2)]),
    ("IF-MIB", "1.3.6.1.2.1.2.2", &[("ifEntry", 1)]),
    ("IF-MIB", "1.3.6.1.2.1.2.2.1", &[("ifIndex", 1), ("ifDescr", 2), ("ifType", 3), ("ifMtu", 4),
        ("ifSpeed", 5), ("ifPhysAddress", 6), ("ifAdminStatus", 7), ("ifOperStatus", 8),
        ("ifLastChange", 9), ("ifInOctets", 10), ("ifInUcastPkts", 11), ("ifInNUcastPkts", 12),
        ("ifInDiscards", 13), ("ifInErrors", 14), ("ifInUnknownProtos", 15), ("ifOutOctets", 16),
        ("ifOutUcastPkts", 17), ("ifOutNUcastPkts", 18), ("ifOutDiscards", 19),
        ("ifOutErrors", 20), ("ifOutQLen", 21), ("ifSpecific", 22)]),
    ("IF-MIB", "1.3.6.1.2.1.31.1", &[("ifXTable", 1), ("ifStackTable", 2)]),
    ("IF-MIB", "1.3.6.1.2.1.31.1.1", &[("ifXEntry", 1)]),
    ("IF-MIB", "1.3.6.1.2.1.31.1.1.1", &[("ifName", 1), ("ifInMulticastPkts", 2),
        ("ifInBroadcastPkts", 3), ("ifOutMulticastPkts", 4), ("ifOutBroadcastPkts", 5),
        ("ifHCInOctets", 6), ("ifHCInUcastPkts", 7), ("ifHCInMulticastPkts", 8),
        ("ifHCInBroadcastPkts", 9), ("ifHCOutOctets", 10), ("ifHCOutUcastPkts", 11),
        ("ifHCOutMulticastPkts", 12), ("ifHCOutBroadcastPkts", 13),
        ("ifLinkUpDownTrapEnable", 14), ("ifHighSpeed", 15), ("ifPromiscuousMode", 16),
        ("ifConnectorPresent", 17), ("ifAlias", 18), ("ifCounterDiscontinuityTime", 19)]),
    ("IP-MIB", "1.3.6.1.2.1", &[("ip", 4), ("icmp", 5)]),
    ("IP-MIB", "1.3.6.1.2.1.4", &[("ipForwarding", 1), ("ipDefaultTTL", 2), ("ipInReceives", 3),
        ("ipInHdrErrors", 4), ("ipInAddrErrors", 5), ("ipForwDatagrams", 6),
        ("ipInUnknownProtos", 7), ("ipInDiscards", 8), ("ipInDelivers", 9),
        ("ipOutRequests", 10), ("ipOutDiscards", 11), ("ipOutNoRoutes", 12),
        ("ipAddrTable", 20), ("ipNetToMediaTable", 22)]),
    ("IP-MIB", "1.3.6.1.2.1.4.20.1", &[("ipAdEntAddr", 1), ("ipAdEntIfIndex", 2),
        ("ipAdEntNetMask", 3)]),
    ("TCP-MIB", "1.3.6.1.2.1", &[("tcp", 6)]),
    ("TCP-MIB", "1.3.6.1.2.1.6", &[("tcpActiveOpens", 5), ("tcpPassiveOpens", 6),
        ("tcpAttemptFails", 7), ("tcpEstabResets", 8), ("tcpCurrEstab", 9), ("tcpInSegs", 10),
        ("tcpOutSegs", 11), ("tcpRetransSegs", 12), ("tcpInErrs", 14), ("tcpOutRsts", 15)]),
    ("UDP-MIB", "1.3.6.1.2.1", &[("udp", 7)]),
    ("UDP-MIB", "1.3.6.1.2.1.7", &[("udpInDatagrams", 1), ("udpNoPorts", 2), ("udpInErrors", 3),
        ("udpOutDatagrams", 4)]),
    ("HOST-RESOURCES-MIB", "1.3.6.1.2.1", &[("host", 25)]),
    ("HOST-RESOURCES-MIB", "1.3.6.1.2.1.25", &[("hrSystem", 1), ("hrStorage", 2), ("hrDevice", 3),
        ("hrSWRun", 4), ("hrSWRunPerf", 5), ("hrSWInstalled", 6)]),
    ("HOST-RESOURCES-MIB", "1.3.6.1.2.1.25.1", &[("hrSystemUptime", 1), ("hrSystemDate", 2),
        ("hrSystemNumUsers", 5), ("hrSystemProcesses", 6), ("hrSystemMaxProcesses", 7)]),
    ("HOST-RESOURCES-MIB", "1.3.6.1.2.1.25.2", &[("hrMemorySize", 2), ("hrStorageTable", 3)]),
    ("HOST-RESOURCES-MIB", "1.3.6.1.2.1.25.2.3.1", &[("hrStorageIndex", 1), ("hrStorageType", 2),
        ("hrStorageDescr", 3), ("hrStorageAllocationUnits", 4), ("hrStorageSize", 5),
        ("hrStorageUsed", 6), ("hrStorageAllocationFailures", 7)]),
    ("HOST-RESOURCES-MIB", "1.3.6.1.2.1.25.3", &[("hrDeviceTable", 2), ("hrProcessorTable", 3)]),
    ("HOST-RESOURCES-MIB", "1.3.6.1.2.1.25.3.2.1", &[("hrDeviceIndex", 1), ("hrDeviceType", 2),
        ("hrDeviceDescr", 3), ("hrDeviceID", 4), ("hrDeviceStatus", 5), ("hrDeviceErrors", 6)]),
    ("HOST-RESOURCES-MIB", "1.3.6.1.2.1.25.3.3.1", &[("hrProcessorFrwID", 1),
        ("hrProcessorLoad", 2)]),
    ("HOST-RESOURCES-MIB", "1.3.6.1.2.1.25.4.2.1", &[("hrSWRunIndex", 1), ("hrSWRunName", 2),
        ("hrSWRunID", 3), ("hrSWRunPath", 4), ("hrSWRunParameters", 5), ("hrSWRunType", 6),
        ("hrSWRunStatus", 7)]),
    ("HOST-RESOURCES-MIB", "1.3.6.1.2.1.25.5.1.1", &[("hrSWRunPerfCPU", 1),
        ("hrSWRunPerfMem", 2)]),
    ("ENTITY-MIB", "1.3.6.1.2.1.47.1.1.1.1", &[("entPhysicalIndex", 1), ("entPhysicalDescr", 2),
        ("entPhysicalVendorType", 3), ("entPhysicalContainedIn", 4), ("entPhysicalClass", 5),
        ("entPhysicalParentRelPos", 6), ("entPhysicalName", 7), ("entPhysicalHardwareRev", 8),
        ("entPhysicalFirmwareRev", 9), ("entPhysicalSoftwareRev", 10),
        ("entPhysicalSerialNum", 11), ("entPhysicalMfgName", 12), ("entPhysicalModelName", 13),
        ("entPhysicalAlias", 14), ("entPhysicalAssetID", 15)]),
    ("ENTITY-SENSOR-MIB", "1.3.6.1.2.1.99.1.1.1", &[("entPhySensorType", 1),
        ("entPhySensorScale", 2), ("entPhySensorPrecision", 3), ("entPhySensorValue", 4),
        ("entPhySensorOperStatus", 5), ("entPhySensorUnitsDisplay", 6)]),
    ("BRIDGE-MIB", "1.3.6.1.2.1.17.1", &[("dot1dBaseBridgeAddress", 1),
        ("dot1dBaseNumPorts", 2), ("dot1dBaseType", 3)]),
    ("BRIDGE-MIB", "1.3.6.1.2.1.17.4.3.1", &[("dot1dTpFdbAddress", 1), ("dot1dTpFdbPort", 2),
        ("dot1dTpFdbStatus", 3)]),
    ("EtherLike-MIB", "1.3.6.1.2.1.10.7.2.1", &[("dot3StatsIndex", 1),
        ("dot3StatsAlignmentErrors", 2), ("dot3StatsFCSErrors", 3),
        ("dot3StatsDuplexStatus", 19)]),
    ("UCD-SNMP-MIB", "1.3.6.1.4.1", &[("ucdavis", 2021)]),
    ("UCD-SNMP-MIB", "1.3.6.1.4.1.2021.4", &[("memTotalSwap", 3), ("memAvailSwap", 4),
        ("memTotalReal", 5), ("memAvailReal", 6), ("memTotalFree", 11), ("memShared", 13),
        ("memBuffer", 14), ("memCached", 15)]),
    ("UCD-SNMP-MIB", "1.3.6.1.4.1.2021.10.1", &[("laIndex", 1), ("laNames", 2), ("laLoad", 3),
        ("laConfig", 4), ("laLoadInt", 5), ("laLoadFloat", 6)]),
    ("UCD-SNMP-MIB", "1.3.6.1.4.1.2021.9.1", &[("dskIndex", 1), ("dskPath", 2), ("dskDevice", 3),
        ("dskTotal", 6), ("dskAvail", 7), ("dskUsed", 8), ("dskPercent", 9)]),
    ("UCD-SNMP-MIB", "1.3.6.1.4.1.2021.11", &[("ssCpuUser", 9), ("ssCpuSystem", 10),
        ("ssCpuIdle", 11), ("ssCpuRawUser", 50), ("ssCpuRawNice", 51), ("ssCpuRawSystem", 52),
        ("ssCpuRawIdle", 53), ("ssCpuRawWait", 54), ("ssIORawSent", 57), ("ssIORawReceived", 58),
        ("ssRawInterrupts", 59), ("ssRawContexts", 60)]),
];

/// An OID in numbers without a leading dot: `.1.3.6`, `iso.3.6`, `ifDescr.1`,
/// `IF-MIB::ifDescr` → `1.3.6…`. An error names the OID that nobody knows.
pub fn numeric(oid: &str) -> Result<Cow<'_, str>, String> {
    let (module, path) = match oid.split_once("::") {
        Some((module, path)) => (Some(module), path),
        None => (None, oid.strip_prefix('.').unwrap_or(oid)),
    };
    if module.is_none() && path.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Cow::Borrowed(path));
    }
    let (name, rest) = match path.find('.') {
        Some(at) => path.split_at(at),
        None => (path, ""),
    };
    if name == "iso" {
        return Ok(Cow::Owned(format!("1{rest}")));
    }
    let in_module = |of: &str| module.is_none_or(|module| module == of);
    let found = OBJECTS.iter().filter(|(of, ..)| in_module(of)).find_map(|(_, parent, objects)| {
        let (_, number) = objects.iter().find(|(n, _)| *n == name)?;
        Some((parent, number))
    });
    match found {
        Some((parent, number)) if name == "sysUpTimeInstance" => {
            Ok(Cow::Owned(format!("{parent}.{number}.0{rest}")))
        }
        Some((parent, number)) => Ok(Cow::Owned(format!("{parent}.{number}{rest}"))),
        None => Err(format!(
            "unknown OID \"{oid}\": write it in numbers, only standard modules are known by name"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_numbers() {
        for (oid, wanted) in [
            ("1.3.6.1", Some("1.3.6.1")),
            (".1.3.6.1", Some("1.3.6.1")),
            ("iso.3.6", Some("1.3.6")),
            (".iso.3.6", Some("1.3.6")),
            ("mib-2.1", Some("1.3.6.1.2.1.1")),
            ("enterprises.9", Some("1.3.6.1.4.1.9")),
            ("ifDescr.1", Some("1.3.6.1.2.1.2.2.1.2.1")),
            ("IF-MIB::ifDescr", Some("1.3.6.1.2.1.2.2.1.2")),
            ("SNMPv2-MIB::sysName.0", Some("1.3.6.1.2.1.1.5.0")),
            ("sysUpTimeInstance", Some("1.3.6.1.2.1.1.3.0")),
            ("IP-MIB::ifDescr", None),
            ("noSuchName", None),
            ("", None),
        ] {
            assert_eq!(numeric(oid).ok().as_deref(), wanted, "{oid}");
        }
    }
}
