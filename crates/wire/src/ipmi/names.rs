//! Names of what sensors measure and of the states that they have (chapters 42 and 43), as the
//! field's servers write them (but for a few states of power and availability that are broken
//! there).

use super::sdr::Units;

/// Table 42-3; names stand between bars.
const SENSOR_TYPES: &str = "\
    unspecified|temperature|voltage|current|fan|physical_security|platform_security|processor|\
    power_supply|power_unit|cooling_device|other_units_based_sensor|memory|drive_slot|\
    power_memory_resize|system_firmware_progress|event_logging_disabled|watchdog_1|\
    system_event|critical_interrupt|button|module_board|microcontroller_coprocessor|\
    add_in_card|chassis|chip_set|other_fru|cable_interconnect|terminator|system_boot_initiated|\
    boot_error|os_boot|os_critical_stop|slot_connector|system_acpi_power_state|watchdog_2|\
    platform_alert|entity_presence|monitor_asic_ic|lan|management_subsystem_health|battery|\
    session_audit|version_change|fru_state";

/// Table 42-1.
const READING_TYPES: &str = "\
    |threshold|discrete_usage|discrete_state|discrete_predictive_failure|\
    discrete_limit_exceeded|discrete_performance_met|discrete_severity|\
    discrete_device_presence|discrete_device_enable|discrete_availability|discrete_redundancy|\
    discrete_acpi_power";

/// Table 43-15.
const UNITS: &str = "\
    unspecified|C|F|K|volts|amps|watts|joules|coulombs|VA|nits|lumens|lux|candela|kpa|PSI|\
    newtons|CFM|RPM|HZ|useconds|mseconds|seconds|minute|hour|day|week|mil|inches|feet|\
    cubic inchs|cubic feet|millimeters|centimeters|meters|cubic centimeters|cubic meters|\
    liters|fluid ounces|radians|seradians|revolutions|cycles|gravities|ounces|pounds|\
    foot pounds|ounce inches|gauss|gilberts|henries|mhenries|farads|ufarads|ohms|siemens|moles|\
    becquerels|PPM|unspecified|decibels|DbA|DbC|grays|sieverts|color temp deg K|bits|kbits|\
    mbits|gbits|bytes|kbytes|mbytes|gbytes|words|dwords|qwords|lines|hits|misses|retries|\
    resets|overruns|underruns|collisions|packets|messages|characters|errors|correctable_errors|\
    uncorrectable_errors|fatal errors|grams";

/// Rates of units: none, each microsecond, millisecond, …
const RATES: &str = "\
    |/us|/ms|/sec|/min|/hour|/day";

/// States of all sensors of a reading type, from bit 0 on (table 42-2).
const GENERIC: &[(u8, &str)] = &[
    (0x02, "transition to idle|transition to active|transition to busy"),
    (0x03, "state deasserted|state asserted"),
    (0x04, "predictive failure deasserted|predictive failure asserted"),
    (0x05, "limit not exceeded|limit exceeded"),
    (0x06, "performance met|performance lags"),
    (
        0x07,
        "transition to ok|transition to non-critical from ok|transition to critical from ok|\
         transition to non-recoverable from less severe|\
         transition to non-critical from more severe|\
         transition to critical from non-recoverable|transition to non-recoverable|monitor|\
         informational",
    ),
    (0x08, "device removed/absent|device inserted/present"),
    (0x09, "device disabled|device enabled"),
    (
        0x0a,
        "transition to running|transition to in test|transition to power off|\
         transition to on line|transition to off line|transition to off duty|\
         transition to degraded|transition to power save|install error",
    ),
    (
        0x0b,
        "fully redundant|redundancy lost|redundancy degraded|\
         non-redundant: sufficient resources from redundant|\
         non-redundant: sufficient resources from insufficient resources|\
         non-redundant: insufficient resources|redundancy degraded from fully redundant|\
         redundancy degraded from non-redundant",
    ),
    (0x0c, "D0 power state|D1 power state|D2 power state|D3 power state"),
];

/// States of sensors whose reading type is "sensor-specific", by the sensor's type (table 42-3).
const SPECIFIC: &[(u8, &str)] = &[
    (
        0x05,
        "general chassis intrusion|drive bay intrusion|I/O card area intrusion|\
         processor area intrusion|LAN leash lost|unauthorized doc/undock|fan area intrusion",
    ),
    (
        0x06,
        "secure mode|pre-boot password violation - user password|\
         pre-boot password violation - setup password|\
         pre-boot password violation - network boot password|other pre-boot password violation|\
         out-of-band access password violation",
    ),
    (
        0x07,
        "IERR|Thermal Trip|FRB1/BIST failure|FRB2/Hand in POST failure|\
         FRB3/Processor startup/initialization failure|configuration error|\
         SM BIOS 'uncorrectable CPU-complex error'|processor presence detected|\
         processor disabled|terminator presence detected|processor automatically throttled",
    ),
    (
        0x08,
        "presence detected|power supply failure detected|predictive failure|\
         power supply AC lost|AC lost or out-of-range|AC out of range, but present",
    ),
    (
        0x09,
        "power off/power down|power cycle|240VA power down|interlock power down|AC lost|\
         soft power control failure|power unit falure detected|predictive failure",
    ),
    (
        0x0c,
        "correctable ECC|uncorrectable ECC|parity|memory scrub failed (stuck bit)|\
         memory device disabled|correctable ECC log limit reached|presence detected|\
         configuration error|spare|memory automatically throttled|critical overtemperature",
    ),
    (
        0x0d,
        "drive presence|drive fault|predictive failure|hot spare|\
         consistancy/parity check in progress|in critical array|in failed array|\
         rebuild/remap in progress|rebuild/remap aborted",
    ),
    (0x0f, "system firmware error|system firmware hang|system firmware progress"),
    (
        0x10,
        "correctable memory error logging disabled|event type logging disabled|\
         log area reset/cleared|all event logging disabled|SEL full|SEL almost full|\
         correctable machine check error logging disabled",
    ),
    (
        0x11,
        "BIOS watchdog reset|OS watchdog reset|os watchdog shutdown|os watchdog power down|\
         os watchdog power cycle|os watchdog NMI/diag interrupt|os watchdog expired|\
         os watchdog pretimout interrupt",
    ),
    (
        0x12,
        "system reconfigured|OEM system boot event|undetermined system hardware failure|\
         entry added to auxiliary log|PEF action|Timestamp clock sync",
    ),
    (
        0x13,
        "front panel NMI/diag interrupt|bus timeout|I/O channel check NMI|software NMI|\
         PCI PERR|PCI SERR|EISA fail safe timeout|bus correctable error|\
         bus uncorrectable error|fatal NMI|bus fatal error|bus degraded",
    ),
    (0x14, "power button pressed|sleep button pressed|reset button pressed"),
    (0x19, "soft power control failure|thermal trip"),
    (0x1b, "cable/interconnect is connected|configuration error"),
    (
        0x1d,
        "initiated by power up|initiated by hard reset|initiated by warm reset|\
         user requested PXE boot|automatic boot to diagnostic|OS initiated hard reset|\
         OS initiated warm reset|System restart",
    ),
    (
        0x1e,
        "no bootable media|non-bootable diskette left in drive|PXE server not found|\
         invalid boot sector|timeout waiting for user selection of boot source",
    ),
    (
        0x1f,
        "A: boot completed|C: boot completed|PXE boot completed|diagnostic boot completed|\
         CD-ROM boot completed|ROM boot completed|boot completed|\
         base OS/hypervisor installation started|base OS/hypervisor installation completed|\
         base OS/hypervisor installation aborted|base OS/hypervisor installation failed",
    ),
    (
        0x20,
        "critical stop during OS load/initialization|run time critical stop|OS Graceful Stop|\
         OS Graceful Shutdown|Soft shutdown initiated by PEF|\
         Agent not responding, graceful shutdown did not occur",
    ),
    (
        0x21,
        "fault status asserted|identify status asserted|\
         slot/connector device installed/attached|slot/connector ready for device installation|\
         slot/connector ready for device removal|slot power is off|\
         slot/connector device removal request|interlock asserted|slot is disabled",
    ),
    (
        0x22,
        "S0/G0 working|S1 'Sleeping with system H/W & processor context maintained'|\
         S2 'sleeping, processor context lost'|\
         S3 'sleeping, processor & h/w context lost, memory retained'|\
         S4 'non-volatile sleep/suspend to disk'|S5/G2 soft-off|S4/S5 soft-off|\
         G3 mechanical off|sleeping in an S1, S2, or S3 state|G1 sleeping|\
         S5 entered by override|legacy on state|legacy off state",
    ),
    (
        0x23,
        "timer expired|hard reset|power down|power cycle|unknown|unknown|unknown|unknown|\
         timer interrupt",
    ),
    (
        0x24,
        "platform generated page|platform generated LAN alert|platform event trap generated|\
         platform generated SNMP trap",
    ),
    (0x25, "entity present|entity absent|entity disabled"),
    (0x27, "LAN heartbeat lost|LAN heartbeat"),
    (
        0x28,
        "sensor access degraded or unavailable|controller access degraded or unavailable|\
         management controller off-line|management controller unavailable|sensor failure|\
         FRU failure",
    ),
    (0x29, "battery low|battery failed|battery presence detected"),
    (
        0x2a,
        "session activated|session deactivated|invalid username or password|\
         invalid password disable",
    ),
    (
        0x2b,
        "hardware change detected with associated entity|\
         firmware or software change detected with associated entity|\
         hardware incompatibility detected with associated entity|\
         firmware or software incompatibility detected with associated entity|\
         entity is of an invalid or unsupported hardware version|\
         entity contains an invalid or unsupported firmware software or version|\
         hardware change detected with associated entity was successful|\
         software or firmware change detected with associated entity was successful",
    ),
    (
        0x2c,
        "FRU not installed|FRU inactive|FRU activation requested|FRU activation in progress|\
         FRU active|FRU deactivation requested|FRU deactivation in progress|\
         FRU communication lost",
    ),
];

/// Reading type: the states are those of the sensor's type.
const SENSOR_SPECIFIC: u8 = 0x6F;
/// What has a number without a name, also those of vendors.
const INVALID: &str = "invalid";

fn named(list: &'static str, number: u8) -> &'static str {
    list.split('|').nth(usize::from(number)).unwrap_or(INVALID)
}

/// What a sensor measures: `temperature`.
pub fn sensor_type(number: u8) -> &'static str {
    named(SENSOR_TYPES, number)
}

/// How a reading is meant: `threshold`.
pub fn reading_type(number: u8) -> &'static str {
    match number {
        SENSOR_SPECIFIC => "sensor specific",
        _ => named(READING_TYPES, number),
    }
}

/// The states that are set, in words, separated by commas.
pub fn states(reading: u8, sensor: u8, states: u16) -> String {
    let (table, key) =
        if reading == SENSOR_SPECIFIC { (SPECIFIC, sensor) } else { (GENERIC, reading) };
    let names = table.iter().find(|(one, _)| *one == key).map_or("", |(_, names)| names);
    let names: Vec<&str> = names.split('|').filter(|name| !name.is_empty()).collect();
    let set = (0..15_usize).filter(|bit| states & (1 << bit) != 0);
    let names: Vec<&str> = set.map(|bit| names.get(bit).copied().unwrap_or("unknown")).collect();
    names.join(", ")
}

/// Units in words: `C`, `%`, `watts/sec`.
pub fn units(units: Units) -> String {
    if units.percent {
        return "%".to_owned();
    }
    let name = |number| named(UNITS, number);
    let mut out = name(units.base).to_owned();
    match units.relation {
        1 => out = out + "/" + name(units.modifier),
        2 => out = out + "*" + name(units.modifier),
        _ => {}
    }
    out + named(RATES, units.rate)
}
