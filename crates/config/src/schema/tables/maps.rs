//! Images, icon maps, and maps with what is on them.
//!
//! What an element shows is in `elementid` by its type, of a trigger element in `map_element_triggers`: who
//! deletes a host, a host group, a trigger or a map removes its elements, see [`crate::objects`].

use super::super::{Column, Reload, Table};
use super::{id, int, owned, table, text, text_or};

tables! { TABLES:
    /// `image` has the bytes in base64.
    IMAGES = table(
        "images",
        &["imageid"],
        Reload::Nothing,
        &[id("imageid"), int("imagetype", "1"), text("name"), text("image")],
        &[&["name"]],
    );
    ICON_MAPS = table(
        "icon_maps",
        &["iconmapid"],
        Reload::Nothing,
        &[id("iconmapid"), text("name"), id("default_iconid")],
        &[&["name"], &["default_iconid"]],
    );
    ICON_MAPPINGS = table(
        "icon_mappings",
        &["iconmappingid"],
        Reload::Nothing,
        &[
            id("iconmappingid"),
            owned("iconmapid", "icon_maps"),
            id("iconid"),
            int("inventory_link", "0"),
            text("expression"),
            int("sortorder", "0"),
        ],
        &[&["iconmapid"], &["iconid"]],
    );
    MAPS = table(
        "maps",
        &["sysmapid"],
        Reload::Nothing,
        MAPS_COLUMNS,
        &[&["name"], &["backgroundid"], &["iconmapid"], &["userid"]],
    );
    MAP_ELEMENTS = table(
        "map_elements",
        &["selementid"],
        Reload::Nothing,
        ELEMENTS_COLUMNS,
        &[
            &["sysmapid"],
            &["elementid", "elementtype"],
            &["iconid_off"],
            &["iconid_on"],
            &["iconid_disabled"],
            &["iconid_maintenance"],
        ],
    );
    MAP_ELEMENT_TRIGGERS = table(
        "map_element_triggers",
        &["selementid", "triggerid"],
        Reload::Nothing,
        &[
            owned("selementid", "map_elements"),
            owned("triggerid", "triggers"),
            int("position", "0"),
        ],
        &[&["triggerid"]],
    );
    MAP_ELEMENT_URLS = table(
        "map_element_urls",
        &["sysmapelementurlid"],
        Reload::Nothing,
        &[id("sysmapelementurlid"), owned("selementid", "map_elements"), text("name"), text("url")],
        &[&["selementid"]],
    );
    MAP_ELEMENT_TAGS = table(
        "map_element_tags",
        &["selementtagid"],
        Reload::Nothing,
        &[
            id("selementtagid"),
            owned("selementid", "map_elements"),
            text("tag"),
            text("value"),
            int("operator", "0"),
        ],
        &[&["selementid"]],
    );
    MAP_LINKS = table(
        "map_links",
        &["linkid"],
        Reload::Nothing,
        &[
            id("linkid"),
            owned("sysmapid", "maps"),
            id("selementid1"),
            id("selementid2"),
            int("drawtype", "0"),
            text_or("color", "000000"),
            text("label"),
        ],
        &[&["sysmapid"], &["selementid1"], &["selementid2"]],
    );
    MAP_LINK_TRIGGERS = table(
        "map_link_triggers",
        &["linktriggerid"],
        Reload::Nothing,
        &[
            id("linktriggerid"),
            owned("linkid", "map_links"),
            owned("triggerid", "triggers"),
            int("drawtype", "0"),
            text_or("color", "000000"),
        ],
        &[&["linkid"], &["triggerid"]],
    );
    MAP_URLS = table(
        "map_urls",
        &["sysmapurlid"],
        Reload::Nothing,
        &[
            id("sysmapurlid"),
            owned("sysmapid", "maps"),
            text("name"),
            text("url"),
            int("elementtype", "0"),
        ],
        &[&["sysmapid"]],
    );
    /// Rectangles (type 0), ellipses (1) and lines (2).
    MAP_SHAPES = table(
        "map_shapes",
        &["sysmap_shapeid"],
        Reload::Nothing,
        SHAPES_COLUMNS,
        &[&["sysmapid"]],
    );
    /// `permission`: 2 read, 3 read and write.
    MAP_USERS = table(
        "map_users",
        &["sysmapuserid"],
        Reload::Nothing,
        &[
            id("sysmapuserid"),
            owned("sysmapid", "maps"),
            owned("userid", "users"),
            int("permission", "2"),
        ],
        &[&["sysmapid"], &["userid"]],
    );
    /// The same.
    MAP_USER_GROUPS = table(
        "map_user_groups",
        &["sysmapusrgrpid"],
        Reload::Nothing,
        &[
            id("sysmapusrgrpid"),
            owned("sysmapid", "maps"),
            owned("usrgrpid", "usergroups"),
            int("permission", "2"),
        ],
        &[&["sysmapid"], &["usrgrpid"]],
    );
}

const MAPS_COLUMNS: &[Column] = &[
    id("sysmapid"),
    text("name"),
    int("width", "600"),
    int("height", "400"),
    id("backgroundid"),
    int("label_type", "2"),
    int("label_location", "0"),
    int("highlight", "1"),
    int("expandproblem", "1"),
    int("markelements", "0"),
    int("show_unack", "0"),
    int("grid_size", "50"),
    int("grid_show", "1"),
    int("grid_align", "1"),
    int("label_format", "0"),
    int("label_type_host", "2"),
    int("label_type_hostgroup", "2"),
    int("label_type_trigger", "2"),
    int("label_type_map", "2"),
    int("label_type_image", "2"),
    text("label_string_host"),
    text("label_string_hostgroup"),
    text("label_string_trigger"),
    text("label_string_map"),
    text("label_string_image"),
    id("iconmapid"),
    int("expand_macros", "0"),
    int("severity_min", "0"),
    id("userid"),
    int("private", "1"),
    int("show_suppressed", "0"),
];

const ELEMENTS_COLUMNS: &[Column] = &[
    id("selementid"),
    owned("sysmapid", "maps"),
    id("elementid"),
    int("elementtype", "0"),
    id("iconid_off"),
    id("iconid_on"),
    text("label"),
    int("label_location", "-1"),
    int("x", "0"),
    int("y", "0"),
    id("iconid_disabled"),
    id("iconid_maintenance"),
    int("elementsubtype", "0"),
    int("areatype", "0"),
    int("width", "200"),
    int("height", "200"),
    int("viewtype", "0"),
    int("use_iconmap", "1"),
    int("evaltype", "0"),
];

const SHAPES_COLUMNS: &[Column] = &[
    id("sysmap_shapeid"),
    owned("sysmapid", "maps"),
    int("type", "0"),
    int("x", "0"),
    int("y", "0"),
    int("width", "200"),
    int("height", "200"),
    text("text"),
    int("font", "9"),
    int("font_size", "11"),
    text_or("font_color", "000000"),
    int("text_halign", "0"),
    int("text_valign", "0"),
    int("border_type", "0"),
    int("border_width", "1"),
    text_or("border_color", "000000"),
    text("background_color"),
    int("zindex", "0"),
];
