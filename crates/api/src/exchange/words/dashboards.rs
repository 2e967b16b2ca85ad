//! Dashboards of templates.

use super::{Word, YES, always, text, text_or, word};

/// A dashboard; pages come beside.
pub(in crate::exchange) const DASHBOARD: &[Word] = &[
    text("uuid", "uuid"),
    always("name", "name"),
    text_or("display_period", "display_period", "30"),
    word("auto_start", "auto_start", YES, "1"),
];

/// A page; widgets come beside.
pub(in crate::exchange) const PAGE: &[Word] =
    &[text("name", "name"), text_or("display_period", "display_period", "0")];

/// A widget; fields come beside.
pub(in crate::exchange) const WIDGET: &[Word] = &[
    always("type", "type"),
    text("name", "name"),
    text_or("x", "x", "0"),
    text_or("y", "y", "0"),
    text_or("width", "width", "1"),
    text_or("height", "height", "2"),
    word("hide_header", "view_mode", YES, "0"),
];

/// Members of a widget's field.
pub(in crate::exchange) const WIDGET_FIELD: &[&str] = &["type", "name", "value"];
