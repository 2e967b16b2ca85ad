//! Connectors, which stream values or events to other programs.

use config::Edit;
use config::db::{Row, Value};
use config::table;

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult, NO_OBJECT};
use crate::methods::trigger::check_url;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Columns, Field, Object, field};
use crate::plain::{
    self, Child, Draft, Key, OnlyWhen, Plain, Seen, Select, Spec, Unique, complete_kinds,
};
use crate::single::Time;

pub(crate) const METHODS: &[Method] = &[
    Method::super_admin("connector.get", plain::get::<Connector>),
    Method::super_admin("connector.create", plain::create::<Connector>),
    Method::super_admin("connector.update", update),
    Method::super_admin("connector.delete", plain::delete::<Connector>),
];

const NUMBER_MAX: i64 = i32::MAX as i64;

const FIELDS: &[Field] = &[
    field("connectorid", Id, ReadOnly, "Id of the connector."),
    field("name", Name(255), Required, "Name."),
    field("protocol", OneOf(&[0]), Optional, "0 = streaming protocol 1.0."),
    field("data_type", OneOf(&[0, 1]), Optional, "0 = values of items, 1 = events."),
    field("url", Name(2_048), Required, "URL of the receiver."),
    field(
        "item_value_type",
        Int(1, 63),
        Optional,
        "Values: sum of 1 float, 2 character, 4 log, 8 unsigned, 16 text, 32 binary.",
    ),
    field(
        "authtype",
        OneOf(&[0, 1, 2, 3, 4, 5]),
        Optional,
        "0 = none, 1 = basic, 2 = NTLM, 3 = Kerberos, 4 = digest, 5 = bearer.",
    ),
    field("username", Text(255), Optional, "User name; not with none and bearer."),
    field("password", Text(255), Optional, "Password; not with none and bearer."),
    field("token", Text(128), Optional, "Bearer: token."),
    field(
        "max_records",
        Int(0, NUMBER_MAX),
        Optional,
        "Values or events of a message; 0 = no limit.",
    ),
    field("max_senders", Int(1, 100), Optional, "Messages sent at once."),
    field("max_attempts", Int(1, 5), Optional, "Attempts to send a message."),
    field("attempt_interval", Text(32), Optional, "Time between attempts, up to 10 s."),
    field("timeout", Name(255), Optional, "Time limit of a message, 1 to 60 s."),
    field("http_proxy", Text(255), Optional, "HTTP proxy."),
    field("verify_peer", OneOf(&[0, 1]), Optional, "1 = check the certificate."),
    field("verify_host", OneOf(&[0, 1]), Optional, "1 = check the certificate's name."),
    field("ssl_cert_file", Text(255), Optional, "File with the client certificate."),
    field("ssl_key_file", Text(255), Optional, "File with the key of the client certificate."),
    field("ssl_key_password", Text(64), Optional, "Password of that file."),
    field("description", Text(65_535), Optional, "Description."),
    field("status", OneOf(&[0, 1]), Optional, "0 = switched off, 1 = on (default)."),
    field("tags_evaltype", OneOf(&[0, 2]), Optional, "0 = and/or, 2 = or."),
    field("tags", Nested, Optional, "Tags of what is sent: `[{tag, operator, value}]`."),
];

pub(crate) static CONNECTOR: Object = Object {
    name: "connector",
    table: "connectors",
    key: "connectorid",
    keys: "connectorids",
    fields: FIELDS,
    strict: true,
    sort: &["connectorid", "name", "data_type", "status"],
};

/// Operators of tags that compare a value.
const COMPARING: &[i64] = &[0, 1, 2, 3];

const TAG: &[Field] = &[
    field("tag", Name(255), Required, "Tag."),
    field(
        "operator",
        OneOf(&[0, 1, 2, 3, 12, 13]),
        Optional,
        "0 equals, 1 does not equal, 2 contains, 3 does not contain, 12 exists, 13 does not exist.",
    ),
    field("value", Text(255), Optional, "Its value; not with 12 and 13.").when(
        "operator",
        COMPARING,
        "value must be empty",
    ),
];

static SPEC: Spec = Spec {
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Connector \"{name}\" already exists.",
    }),
    children: &[Child {
        select: Some(Select::RowsOrCount("selectTags")),
        unique: &["tag", "operator", "value"],
        check: complete_tag,
        ..Child::new("tags", &table::CONNECTOR_TAGS, "connectorid", Key::Position("position"), TAG)
    }],
    ..Spec::new(&CONNECTOR, &table::CONNECTORS, &[("connectorids", "t.connectorid IN ({ids})")])
};

const WITH_USER: &[(&str, &[i64])] = &[("authtype", &[1, 2, 3, 4])];

const OWN: &[OnlyWhen] = &[
    OnlyWhen::new("item_value_type", &[("data_type", &[0])]),
    OnlyWhen::new("username", WITH_USER),
    OnlyWhen::new("password", WITH_USER),
    OnlyWhen::new("token", &[("authtype", &[5])]).required(),
];

const ATTEMPT_INTERVAL: Time =
    Time { min: 0, max: 10, or_zero: false, years: false, or_macro: false };
const TIMEOUT: Time = Time { min: 1, max: 60, or_zero: false, years: false, or_macro: true };

#[derive(Default)]
struct Connector;

impl Plain for Connector {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn given(&self, _call: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        let text = |name: &str| {
            let given = draft.gives(name).then(|| draft.text(name, None));
            given.map(|text| (text, format!("{}/{name}", draft.path)))
        };
        if let Some((url, path)) = text("url") {
            check_url(&url, &path)?;
        }
        if let Some((timeout, path)) = text("timeout") {
            TIMEOUT.check(&timeout, &path)?;
        }
        // Before names are compared.
        if draft.id == 0 { complete(draft, None) } else { Ok(()) }
    }

    fn write(
        &self,
        _call: &Call<'_>,
        _edit: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        before.map_or(Ok(()), |before| complete(draft, Some(before)))
    }
}

fn complete(draft: &mut Draft<'_>, before: Option<&Row>) -> ApiResult<()> {
    complete_kinds(&SPEC, OWN, draft, before)?;
    check_interval(draft, before)
}

/// Gives tags their defaults, so that twins are found.
fn complete_tag(_: &mut Seen, row: &mut Columns, _: &str) -> ApiResult<()> {
    for (name, default) in [("operator", Value::Int(0)), ("value", Value::from(""))] {
        if row.iter().all(|(given, _)| *given != name) {
            row.push((name, default));
        }
    }
    Ok(())
}

/// A connector that does not exist is an error of the parameters here.
fn update(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    plain::update::<Connector>(call, input).map_err(|error| match error.is_no_object() {
        true => ApiError::params(NO_OBJECT),
        false => error,
    })
}

/// Messages with one attempt have the default interval.
fn check_interval(draft: &mut Draft<'_>, before: Option<&Row>) -> ApiResult<()> {
    let (name, default) = ("attempt_interval", "5s");
    let path = format!("{}/{name}", draft.path);
    let given = draft.gives(name).then(|| draft.text(name, None));
    if draft.value("max_attempts", before).as_int() > 1 {
        return match given.as_deref() {
            Some("") => Err(ApiError::at(&path, "cannot be empty")),
            Some(interval) => ATTEMPT_INTERVAL.check(interval, &path),
            None => Ok(()),
        };
    }
    if given.is_some_and(|interval| interval != default) {
        return Err(ApiError::at(&path, format_args!("value must be \"{default}\"")));
    }
    draft.set(name, default);
    Ok(())
}

#[cfg(test)]
mod tests;
