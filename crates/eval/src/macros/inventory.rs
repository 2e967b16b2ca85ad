//! The fields of the inventory behind `{INVENTORY.*}`.

/// Field of the inventory, as the API names it, behind an `INVENTORY.*` macro.
pub fn inventory_field(name: &str) -> Option<&'static str> {
    Some(match name.strip_prefix("INVENTORY.").or(name.strip_prefix("PROFILE."))? {
        "HW.DATE.DECOMM" => "date_hw_decomm",
        "HW.DATE.EXPIRY" => "date_hw_expiry",
        "HW.DATE.INSTALL" => "date_hw_install",
        "HW.DATE.PURCHASE" => "date_hw_purchase",
        "HOST.NETMASK" => "host_netmask",
        "HOST.NETWORKS" => "host_networks",
        "HOST.ROUTER" => "host_router",
        "POC.PRIMARY.CELL" => "poc_1_cell",
        "POC.PRIMARY.EMAIL" => "poc_1_email",
        "POC.PRIMARY.NAME" => "poc_1_name",
        "POC.PRIMARY.NOTES" => "poc_1_notes",
        "POC.PRIMARY.PHONE.A" => "poc_1_phone_a",
        "POC.PRIMARY.PHONE.B" => "poc_1_phone_b",
        "POC.PRIMARY.SCREEN" => "poc_1_screen",
        "POC.SECONDARY.CELL" => "poc_2_cell",
        "POC.SECONDARY.EMAIL" => "poc_2_email",
        "POC.SECONDARY.NAME" => "poc_2_name",
        "POC.SECONDARY.NOTES" => "poc_2_notes",
        "POC.SECONDARY.PHONE.A" => "poc_2_phone_a",
        "POC.SECONDARY.PHONE.B" => "poc_2_phone_b",
        "POC.SECONDARY.SCREEN" => "poc_2_screen",
        "DEVICETYPE" => "type",
        other => *SAME_NAME.iter().find(|field| same_name(other, field))?,
    })
}

/// Fields whose macros have the same name with dots and capitals.
const SAME_NAME: &[&str] = &[
    "alias",
    "asset_tag",
    "chassis",
    "contact",
    "contract_number",
    "deployment_status",
    "hardware",
    "hardware_full",
    "hw_arch",
    "installer_name",
    "location",
    "location_lat",
    "location_lon",
    "macaddress_a",
    "macaddress_b",
    "model",
    "name",
    "notes",
    "oob_ip",
    "oob_netmask",
    "oob_router",
    "os",
    "os_full",
    "os_short",
    "serialno_a",
    "serialno_b",
    "site_address_a",
    "site_address_b",
    "site_address_c",
    "site_city",
    "site_country",
    "site_notes",
    "site_rack",
    "site_state",
    "site_zip",
    "software",
    "software_app_a",
    "software_app_b",
    "software_app_c",
    "software_app_d",
    "software_app_e",
    "software_full",
    "tag",
    "type",
    "type_full",
    "url_a",
    "url_b",
    "url_c",
    "vendor",
];

fn same_name(upper: &str, field: &str) -> bool {
    let as_field = |b: u8| if b == b'.' { b'_' } else { b.to_ascii_lowercase() };
    upper.len() == field.len()
        && !upper.bytes().any(|b| b.is_ascii_lowercase() || b == b'_')
        && upper.bytes().zip(field.bytes()).all(|(a, b)| as_field(a) == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_inventory() {
        for (name, field) in [
            ("INVENTORY.OS", Some("os")),
            ("INVENTORY.OS.FULL", Some("os_full")),
            ("INVENTORY.SERIALNO.A", Some("serialno_a")),
            ("INVENTORY.HW.DATE.DECOMM", Some("date_hw_decomm")),
            ("INVENTORY.POC.SECONDARY.PHONE.B", Some("poc_2_phone_b")),
            ("INVENTORY.HOST.NETWORKS", Some("host_networks")),
            ("PROFILE.DEVICETYPE", Some("type")),
            ("INVENTORY.os", None),
            ("INVENTORY.OS_FULL", None),
            ("INVENTORY.NOTHING", None),
            ("HOST.HOST", None),
        ] {
            assert_eq!(inventory_field(name), field, "{name}");
        }
    }
}
