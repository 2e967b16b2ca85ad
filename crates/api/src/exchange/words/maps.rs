//! Maps and images, in the order of an export. Members have the API's names and numbers, and all are written.

/// A map, before its background.
pub(in crate::exchange) const MAP: &[&str] = &[
    "name",
    "width",
    "height",
    "label_type",
    "label_location",
    "highlight",
    "expandproblem",
    "markelements",
    "show_unack",
    "severity_min",
    "show_suppressed",
    "grid_size",
    "grid_show",
    "grid_align",
    "label_format",
    "label_type_host",
    "label_type_hostgroup",
    "label_type_trigger",
    "label_type_map",
    "label_type_image",
    "label_string_host",
    "label_string_hostgroup",
    "label_string_trigger",
    "label_string_map",
    "label_string_image",
    "expand_macros",
];

/// An element, between what it shows and its icons.
pub(in crate::exchange) const ELEMENT: &[&str] = &[
    "label",
    "label_location",
    "x",
    "y",
    "elementsubtype",
    "areatype",
    "width",
    "height",
    "viewtype",
    "use_iconmap",
    "selementid",
];

/// Icons of an element in an export and in the API.
pub(in crate::exchange) const ICONS: &[(&str, &str)] = &[
    ("icon_off", "iconid_off"),
    ("icon_on", "iconid_on"),
    ("icon_disabled", "iconid_disabled"),
    ("icon_maintenance", "iconid_maintenance"),
];

pub(in crate::exchange) const ELEMENT_TAG: &[&str] = &["tag", "value", "operator"];

pub(in crate::exchange) const URL: &[&str] = &["name", "url", "elementtype"];

pub(in crate::exchange) const SHAPE: &[&str] = &[
    "type",
    "x",
    "y",
    "width",
    "height",
    "text",
    "font",
    "font_size",
    "font_color",
    "text_halign",
    "text_valign",
    "border_type",
    "border_width",
    "border_color",
    "background_color",
    "zindex",
];

pub(in crate::exchange) const LINE: &[&str] =
    &["x1", "y1", "x2", "y2", "line_type", "line_width", "line_color", "zindex"];

/// A link, before its triggers.
pub(in crate::exchange) const LINK: &[&str] =
    &["drawtype", "color", "label", "selementid1", "selementid2"];

pub(in crate::exchange) const LINK_TRIGGER: &[&str] = &["drawtype", "color"];

/// What names a trigger.
pub(in crate::exchange) const TRIGGER_NAME: &[&str] =
    &["description", "expression", "recovery_expression"];
