//! Fields of pages and widgets, and with whom a dashboard is shared.

use config::table;
use objects::WidgetFieldType;

use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, FieldKind, field};
use crate::plain::{Child, Key};

pub(super) const COLUMNS: i64 = 72;
pub(super) const ROWS: i64 = 64;
pub(super) const PAGES_MAX: usize = 50;

/// Seconds for which a page is shown.
pub(super) const PERIOD: FieldKind = OneOf(&[10, 30, 60, 120, 600, 1_800, 3_600]);

pub(super) const PAGE_ID: &str = "dashboard_pageid";
pub(super) const WIDGET_ID: &str = "widgetid";

pub(super) const PAGE: &[Field] = &[
    field(PAGE_ID, Id, Optional, "Id of the page."),
    field("name", Text(255), Optional, "Name."),
    field(
        "display_period",
        OneOf(&[0, 10, 30, 60, 120, 600, 1_800, 3_600]),
        Optional,
        "Seconds for which it is shown; 0 = as the dashboard says.",
    ),
    field("widgets", Nested, Optional, "Its widgets."),
];

pub(super) const WIDGET: &[Field] = &[
    field(WIDGET_ID, Id, Optional, "Id of the widget."),
    field("type", Name(255), Required, "What it shows, as `problems`."),
    field("name", Text(255), Optional, "Title."),
    field("view_mode", OneOf(&[0, 1]), Optional, "1 = without a header."),
    field("x", Int(0, COLUMNS - 1), Optional, "Left column."),
    field("y", Int(0, ROWS - 1), Optional, "Upper row."),
    field("width", Int(1, COLUMNS), Optional, "Columns."),
    field("height", Int(1, ROWS), Optional, "Rows."),
    field("fields", Nested, Optional, "Settings of the widget."),
];

pub(super) const WIDGET_FIELD: &[Field] = &[
    field("type", OneOf(WidgetFieldType::NUMBERS), Required, "What the value is."),
    field("name", Text(255), Optional, "Name of the setting."),
    field("value", Nested, Required, "A number, a text or the id of an object."),
];

const PERMISSION: Field = field("permission", OneOf(&[2, 3]), Required, "2 = read, 3 = write.");

/// Places of the lists among the children.
pub(super) const USERS: usize = 0;
pub(super) const USER_GROUPS: usize = 1;

pub(super) static CHILDREN: &[Child] = &[
    Child {
        unique: &["userid"],
        ..Child::new(
            "users",
            &table::DASHBOARD_USERS,
            "dashboardid",
            Key::Id("dashboard_userid"),
            &[
                field("dashboard_userid", Id, ReadOnly, "Id of the row."),
                field("userid", Id, Required, "User."),
                PERMISSION,
            ],
        )
    },
    Child {
        unique: &["usrgrpid"],
        ..Child::new(
            "userGroups",
            &table::DASHBOARD_USER_GROUPS,
            "dashboardid",
            Key::Id("dashboard_usrgrpid"),
            &[
                field("dashboard_usrgrpid", Id, ReadOnly, "Id of the row."),
                field("usrgrpid", Id, Required, "User group."),
                PERMISSION,
            ],
        )
    },
];
