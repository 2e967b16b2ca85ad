//! Fields of maps and of what is on them.

use config::table;
use const_format::formatcp;
use objects::{MapElementType, MapLabelType, Severity};

use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Columns, Field, FieldKind, Object, field};
use crate::plain::{Child, Key, Select};

const SIDE_MAX: i64 = 65_535;
const FLAG: FieldKind = OneOf(&[0, 1]);
const LABEL: FieldKind = OneOf(MapLabelType::NUMBERS);
const NUMBER: FieldKind = Int(i32::MIN as i64, i32::MAX as i64);
const POSITION: FieldKind = Int(0, SIDE_MAX);
/// Line styles of links.
const DRAW: FieldKind = OneOf(&[0, 2, 3, 4]);

pub(super) const FIELDS: &[Field] = &[
    field("sysmapid", Id, ReadOnly, "Id of the map."),
    field("name", Name(128), Required, "Name."),
    field("width", Int(1, SIDE_MAX), Required, "Width in pixels."),
    field("height", Int(1, SIDE_MAX), Required, "Height in pixels."),
    field("backgroundid", Id, Optional, "Background image; 0 = none."),
    field(
        "label_type",
        LABEL,
        Optional,
        "Labels: 0 = label, 1 = address, 2 = name (default), 3 = status, 4 = nothing.",
    ),
    field(
        "label_location",
        OneOf(&[0, 1, 2, 3]),
        Optional,
        "Position of labels: 0 = below, 1 = left, 2 = right, 3 = above.",
    ),
    field("highlight", FLAG, Optional, "1 = highlight icons (default)."),
    field(
        "expandproblem",
        OneOf(&[0, 1, 2]),
        Optional,
        "Labels show 0 = the number of problems, 1 = the name of a single problem, 2 = the number and the most severe problem.",
    ),
    field("markelements", FLAG, Optional, "1 = mark elements whose status changed recently."),
    field(
        "show_unack",
        OneOf(&[0, 1, 2]),
        Optional,
        "Problems: 0 = all, 1 = unacknowledged ones separately, 2 = only unacknowledged ones.",
    ),
    field("grid_size", OneOf(&[20, 40, 50, 75, 100]), Optional, "Side of the grid in pixels."),
    field("grid_show", FLAG, Optional, "1 = show the grid (default)."),
    field("grid_align", FLAG, Optional, "1 = align elements to the grid (default)."),
    field("label_format", FLAG, Optional, "1 = labels by type of element."),
    field("label_type_host", LABEL, Optional, "Label of hosts; 5 = custom."),
    field("label_type_hostgroup", LABEL, Optional, "Label of host groups."),
    field("label_type_trigger", LABEL, Optional, "Label of triggers."),
    field("label_type_map", LABEL, Optional, "Label of maps."),
    field("label_type_image", LABEL, Optional, "Label of images."),
    field("label_string_host", Text(255), Optional, "Custom label of hosts."),
    field("label_string_hostgroup", Text(255), Optional, "Custom label of host groups."),
    field("label_string_trigger", Text(255), Optional, "Custom label of triggers."),
    field("label_string_map", Text(255), Optional, "Custom label of maps."),
    field("label_string_image", Text(255), Optional, "Custom label of images."),
    field("iconmapid", Id, Optional, "Icon map; 0 = none."),
    field("expand_macros", FLAG, Optional, "1 = expand macros in labels."),
    field("severity_min", OneOf(Severity::NUMBERS), Optional, "Lowest severity that is shown."),
    field("userid", Id, Optional, "Owner."),
    field("private", FLAG, Optional, "0 = public, 1 = private (default)."),
    field("show_suppressed", FLAG, Optional, "1 = show suppressed problems."),
    field(
        "selements",
        Nested,
        Optional,
        "Elements: `[{selementid, elementtype, elements, iconid_off, label, x, y, urls, tags, …}]`.",
    ),
    field(
        "links",
        Nested,
        Optional,
        "Links: `[{linkid, selementid1, selementid2, drawtype, color, label, linktriggers}]`.",
    ),
    field("urls", Nested, Optional, "URLs of elements by type: `[{name, url, elementtype}]`."),
    field("shapes", Nested, Optional, "Shapes: `[{type, x, y, width, height, text, …}]`."),
    field(
        "lines",
        Nested,
        Optional,
        "Lines: `[{x1, y1, x2, y2, line_type, line_width, line_color, zindex}]`.",
    ),
    field("users", Nested, Optional, "Shared with: `[{userid, permission}]`, 2 = read, 3 = write."),
    field("userGroups", Nested, Optional, "Shared with: `[{usrgrpid, permission}]`."),
];

pub(crate) static MAP: Object = Object {
    name: "map",
    table: "maps",
    key: "sysmapid",
    keys: "sysmapids",
    fields: FIELDS,
    strict: false,
    sort: &["name", "width", "height"],
};

/// An element; `elements`, `urls` and `tags` have separate tables.
pub(super) const ELEMENT: &[Field] = &[
    field(
        "elementtype",
        OneOf(MapElementType::NUMBERS),
        Optional,
        "Type of the object that the element shows.",
    ),
    field("iconid_off", Id, Optional, "Icon."),
    field("iconid_on", Id, Optional, "Icon of problems."),
    field("label", Text(2_048), Optional, "Label."),
    field(
        "label_location",
        OneOf(&[-1, 0, 1, 2, 3]),
        Optional,
        "Position of the label, as of maps; -1 = that of the map.",
    ),
    field("x", NUMBER, Optional, "Left edge."),
    field("y", NUMBER, Optional, "Upper edge."),
    field("iconid_disabled", Id, Optional, "Icon of disabled elements."),
    field("iconid_maintenance", Id, Optional, "Icon in maintenance."),
    field("elementsubtype", FLAG, Optional, "1 = the hosts of the host group."),
    field("areatype", FLAG, Optional, "1 = hosts are shown in an area of `width` and `height`."),
    field("width", NUMBER, Optional, "Width of the area."),
    field("height", NUMBER, Optional, "Height of the area."),
    field("viewtype", OneOf(&[0]), Optional, "How hosts are placed in the area: 0 = grid."),
    field("use_iconmap", FLAG, Optional, "1 = use the icon map of the map."),
    field("evaltype", OneOf(&[0, 2]), Optional, "How tags are combined: 0 = and/or, 2 = or."),
];

pub(super) const ELEMENT_URL: &[Field] =
    &[field("name", Name(255), Required, "Name."), field("url", Name(2_048), Required, "Address.")];

pub(super) const ELEMENT_TAG: &[Field] = &[
    field("tag", Name(255), Required, "Tag."),
    field("value", Text(255), Optional, "Value."),
    field(
        "operator",
        OneOf(&[0, 1, 2, 3, 4, 5]),
        Optional,
        "Operator: 0 = contains, 1 = equals, 2 = does not contain, 3 = does not equal, 4 = exists, 5 = does not exist.",
    ),
];

/// A link, without its ends and triggers.
pub(super) const LINK: &[Field] = &[
    field("drawtype", DRAW, Optional, "Line style: 0 = line, 2 = bold, 3 = dotted, 4 = dashed."),
    field("color", Text(6), Optional, "Colour, such as `00CC00`.").tested(colour),
    field("label", Text(2_048), Optional, "Label."),
];

pub(super) const LINK_TRIGGER: &[Field] = &[
    field(
        "triggerid",
        Id,
        Required,
        "Trigger; while it has a problem, the link is drawn like this.",
    ),
    field("drawtype", DRAW, Optional, "Line style, as of links."),
    field("color", Text(6), Optional, "Colour.").tested(colour),
];

const URL: &[Field] = &[
    field("sysmapurlid", Id, ReadOnly, "Id of the URL."),
    field("sysmapid", Id, ReadOnly, "Id of the map."),
    field("name", Name(255), Required, "Name."),
    field("url", Name(2_048), Required, "URL, with macros."),
    field(
        "elementtype",
        OneOf(MapElementType::NUMBERS),
        Optional,
        "Type of elements with this URL.",
    ),
];

const SHAPE: &[Field] = &[
    field("sysmap_shapeid", Id, Optional, "Id of the shape."),
    field("type", FLAG, Optional, "0 = rectangle, 1 = ellipse."),
    field("x", POSITION, Optional, "Left edge."),
    field("y", POSITION, Optional, "Upper edge."),
    field("width", Int(1, SIDE_MAX), Optional, "Width."),
    field("height", Int(1, SIDE_MAX), Optional, "Height."),
    field("text", Text(0), Optional, "Text."),
    field("font", Int(0, 12), Optional, "Font."),
    field("font_size", Int(1, 250), Optional, "Size of the font in pixels."),
    field("font_color", Text(6), Optional, "Colour of the text.").tested(colour),
    field("text_halign", OneOf(&[0, 1, 2]), Optional, "0 = centre, 1 = left, 2 = right."),
    field("text_valign", OneOf(&[0, 1, 2]), Optional, "0 = middle, 1 = top, 2 = bottom."),
    field(
        "border_type",
        OneOf(&[0, 1, 2, 3]),
        Optional,
        "0 = none, 1 = line, 2 = dotted, 3 = dashed.",
    ),
    field("border_width", Int(0, 50), Optional, "Width of the border."),
    field("border_color", Text(6), Optional, "Colour of the border.").tested(colour),
    field("background_color", Text(6), Optional, "Colour of the shape.").tested(colour_or_none),
    field("zindex", NUMBER, Optional, "Higher ones are drawn later."),
];

const LINE: &[Field] = &[
    field("sysmap_shapeid", Id, Optional, "Id of the line."),
    field("x1", POSITION, Optional, "Start.").in_column("x"),
    field("y1", POSITION, Optional, "Start.").in_column("y"),
    field("x2", POSITION, Optional, "End.").in_column("width"),
    field("y2", POSITION, Optional, "End.").in_column("height"),
    field("line_type", OneOf(&[0, 1, 2, 3]), Optional, "As `border_type`.")
        .in_column("border_type"),
    field("line_width", Int(0, 50), Optional, "Width.").in_column("border_width"),
    field("line_color", Text(6), Optional, "Colour.").in_column("border_color").tested(colour),
    field("zindex", NUMBER, Optional, "As of shapes."),
];

const PERMISSION: Field = field("permission", OneOf(&[2, 3]), Required, "2 = read, 3 = write.");
const USER: &[Field] = &[
    field("sysmapuserid", Id, ReadOnly, "Id of the row."),
    field("userid", Id, Required, "User."),
    PERMISSION,
];
const USER_GROUP: &[Field] = &[
    field("sysmapusrgrpid", Id, ReadOnly, "Id of the row."),
    field("usrgrpid", Id, Required, "User group."),
    PERMISSION,
];

/// Type of rows of the table of shapes that are lines.
const LINE_TYPE: i64 = 2;

/// Lists whose rows may have other members, which are ignored.
pub(super) const IGNORING: &[&str] = &["urls", "users", "userGroups"];

/// Places of shapes and lines among the lists of a map.
pub(super) const SHAPES: usize = 1;
pub(super) const LINES: usize = 2;

pub(super) static CHILDREN: &[Child] = &[
    Child {
        select: Some(Select::Rows("selectUrls")),
        unique: &["name"],
        check: |_, row, path| super::check::url(row, path),
        ..Child::new("urls", &table::MAP_URLS, "sysmapid", Key::Id("sysmapurlid"), URL)
    },
    Child {
        select: Some(Select::Rows("selectShapes")),
        among: Some(formatcp!("type <> {LINE_TYPE}")),
        ..Child::new("shapes", &table::MAP_SHAPES, "sysmapid", Key::Named("sysmap_shapeid"), SHAPE)
    },
    Child {
        select: Some(Select::Rows("selectLines")),
        among: Some(formatcp!("type = {LINE_TYPE}")),
        check: |_, row, _| {
            row.push(("type", LINE_TYPE.into()));
            Ok(())
        },
        ..Child::new("lines", &table::MAP_SHAPES, "sysmapid", Key::Named("sysmap_shapeid"), LINE)
    },
    Child {
        select: Some(Select::Rows("selectUsers")),
        unique: &["userid"],
        refer: super::rights::check_users,
        ..Child::new("users", &table::MAP_USERS, "sysmapid", Key::Id("sysmapuserid"), USER)
    },
    Child {
        select: Some(Select::Rows("selectUserGroups")),
        unique: &["usrgrpid"],
        refer: super::rights::check_user_groups,
        ..Child::new(
            "userGroups",
            &table::MAP_USER_GROUPS,
            "sysmapid",
            Key::Id("sysmapusrgrpid"),
            USER_GROUP,
        )
    },
];

fn colour(_: &Columns, text: &str) -> Result<(), &'static str> {
    let is_colour = text.len() == 6 && text.bytes().all(|sign| sign.is_ascii_hexdigit());
    if is_colour { Ok(()) } else { Err("a hexadecimal colour code (6 symbols) is expected") }
}

fn colour_or_none(before: &Columns, text: &str) -> Result<(), &'static str> {
    if text.is_empty() { Ok(()) } else { colour(before, text) }
}
