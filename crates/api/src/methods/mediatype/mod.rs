//! Media types: how messages are sent.

mod fallback;
mod kinds;
mod limit;
mod lists;
pub(crate) mod trial;

use std::borrow::Cow;

use config::Edit;
use config::db::{Row, query_by_ids};
use config::table;
use objects::{EmailProvider, MediaTypeKind, MessageFormat, SmtpAuthentication, SmtpSecurity};

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::found::Found;
use crate::get::Get;
use crate::methods::{action, user};
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Settings, Text};
use crate::object::{Field, Object, field};
use crate::plain::{self, Child, Draft, Key, Plain, Select, Spec, Unique, delete_rows};
use crate::relate::Relation;

pub(crate) const METHODS: &[Method] = &[
    Method::user("mediatype.get", get),
    Method::super_admin("mediatype.create", plain::create::<MediaType>),
    Method::super_admin("mediatype.update", plain::update::<MediaType>),
    Method::super_admin("mediatype.delete", plain::delete::<MediaType>),
    Method::super_admin("mediatype.test", trial::test),
];

const FIELDS: &[Field] = &[
    field("mediatypeid", Id, ReadOnly, "Id of the media type."),
    field(
        "type",
        OneOf(MediaTypeKind::NUMBERS),
        Required,
        "0 = e-mail, 1 = script, 2 = SMS, 4 = webhook.",
    ),
    field("name", Name(100), Required, "Name."),
    field("smtp_server", Text(255), Optional, "E-mail: host name or address of the mail server."),
    field("smtp_helo", Text(255), Optional, "E-mail: name that the server gives itself."),
    field("smtp_email", Text(255), Optional, "E-mail: address of the sender."),
    field("exec_path", Text(255), Optional, "Script: name of the program."),
    field("gsm_modem", Text(255), Optional, "SMS: serial device of the modem."),
    field("username", Text(255), Optional, "E-mail: user name at the mail server."),
    field("passwd", Text(255), Optional, "E-mail: password at the mail server."),
    field("status", OneOf(&[0, 1]), Optional, "1 = switched off (default)."),
    field("smtp_port", Int(0, 65_535), Optional, "E-mail: port of the mail server."),
    field(
        "smtp_security",
        OneOf(SmtpSecurity::NUMBERS),
        Optional,
        "E-mail: 0 = clear text, 1 = STARTTLS, 2 = TLS.",
    ),
    field("smtp_verify_peer", OneOf(&[0, 1]), Optional, "E-mail: 1 = check the certificate."),
    field(
        "smtp_verify_host",
        OneOf(&[0, 1]),
        Optional,
        "E-mail: 1 = check the certificate's name.",
    ),
    field(
        "smtp_authentication",
        OneOf(SmtpAuthentication::NUMBERS),
        Optional,
        "E-mail: 1 = by user name and password.",
    ),
    field("maxsessions", Int(0, 100), Optional, "Messages sent at once; 0 = no limit."),
    field("maxattempts", Int(1, 100), Optional, "Attempts to send a message."),
    field("attempt_interval", Name(32), Optional, "Time between attempts, up to an hour."),
    field(
        "message_format",
        OneOf(MessageFormat::NUMBERS),
        Optional,
        "E-mail: 0 = plain text, 1 = HTML (default).",
    ),
    field("script", Text(65_535), Optional, "Webhook: JavaScript."),
    field("timeout", Name(32), Optional, "Webhook: time limit of the script, 1 to 60 seconds."),
    field("process_tags", OneOf(&[0, 1]), Optional, "Webhook: 1 = add returned tags to the event."),
    field("show_event_menu", OneOf(&[0, 1]), Optional, "Webhook: 1 = events have a menu entry."),
    field("event_menu_url", Text(2_048), Optional, "Webhook: address of the menu entry."),
    field("event_menu_name", Text(255), Optional, "Webhook: text of the menu entry."),
    field("description", Text(65_535), Optional, "Description."),
    field(
        "living",
        OneOf(&[0, 1]),
        Optional,
        "Webhook, script: 1 = messages of a problem to an address are sent one after the other, and may edit the first.",
    )
    .named(),
    field(
        "deduplicates",
        OneOf(&[0, 1]),
        Optional,
        "Webhook, script: 1 = the receiver takes each {ALERT.ID} once, so messages that a crash cut off are sent again.",
    )
    .named(),
    field(
        "reply_address",
        Text(255),
        Optional,
        "E-mail: address for responses, which become comments; `vedette mail-reply` reads them.",
    )
    .named(),
    field(
        "provider",
        OneOf(EmailProvider::NUMBERS),
        Optional,
        "E-mail: 0 = any server, 1 = Gmail, 2 = Gmail relay, 3 = Office365, 4 = Office365 relay.",
    ),
    field(
        "storm_limit",
        Settings,
        Optional,
        "Messages that an address takes: `{messages, period}`; others are told in one digest.",
    )
    .named(),
    field(
        "content_type",
        OneOf(MessageFormat::NUMBERS),
        Optional,
        "Older name of `message_format`.",
    )
    .in_column("message_format"),
    field(
        "fallback_mediatypeid",
        Id,
        Optional,
        "Media type that sends messages instead when attempts of this one fail; 0 = none.",
    )
    .named(),
    field(
        "parameters",
        Nested,
        Optional,
        "Webhook: `[{name, value}]`; script: `[{sortorder, value}]`.",
    ),
    field(
        "message_templates",
        Nested,
        Optional,
        "Default texts: `[{eventsource, recovery, subject, message}]`.",
    ),
];

pub(crate) static MEDIA_TYPE: Object = Object {
    name: "mediatype",
    table: "(SELECT m.*, m.message_format AS content_type FROM media_types m)",
    key: "mediatypeid",
    keys: "mediatypeids",
    fields: FIELDS,
    strict: false,
    sort: &["mediatypeid"],
};

/// What users see who are not super admins: the rest may be secret.
const PUBLIC: &[&str] = &["mediatypeid", "type", "name", "status", "description", "maxattempts"];

/// Place of [`Child`]ren in [`SPEC`].
const PARAMETERS: usize = 0;

static SPEC: Spec = Spec {
    options: &["selectUsers", "selectActions"],
    unique: Some(Unique {
        columns: &["name"],
        among: None,
        error: "Media type \"{name}\" already exists.",
    }),
    children: &[
        Child::new(
            "parameters",
            &table::MEDIA_TYPE_PARAMS,
            "mediatypeid",
            Key::Position("position"),
            lists::PARAMETER,
        ),
        Child {
            select: Some(Select::Rows("selectMessageTemplates")),
            unique: &["eventsource", "recovery"],
            check: lists::check_message,
            ..Child::new(
                "message_templates",
                &table::MEDIA_TYPE_MESSAGES,
                "mediatypeid",
                Key::Position("position"),
                lists::MESSAGE,
            )
        },
    ],
    ..Spec::new(
        &MEDIA_TYPE,
        &table::MEDIA_TYPES,
        &[
            ("mediatypeids", "t.mediatypeid IN ({ids})"),
            (
                "mediaids",
                "t.mediatypeid IN (SELECT mediatypeid FROM media WHERE mediaid IN ({ids}))",
            ),
            ("userids", "t.mediatypeid IN (SELECT mediatypeid FROM media WHERE userid IN ({ids}))"),
        ],
    )
};

/// `mediatype.get`; users who are not super admins cannot ask for, or search, what they do not see.
fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let input = match call.is_super_admin() {
        true => Cow::Borrowed(input),
        false => Cow::Owned(public(input)),
    };
    plain::read(&MediaType, call, &input)
}

/// The options less what only super admins see.
fn public(input: &Json) -> Json {
    let mut members = input.as_object().cloned().unwrap_or_default();
    members.retain(|name, _| name != "selectMessageTemplates");
    for option in ["filter", "search"] {
        if let Some(Json::Object(fields)) = members.get_mut(option) {
            fields.retain(|name, _| PUBLIC.contains(&name.as_str()));
        }
    }
    let shown: Vec<Json> = match members.get("output") {
        None => PUBLIC.iter().map(|name| (*name).into()).collect(),
        Some(Json::String(word)) if word == "extend" => {
            PUBLIC.iter().map(|name| (*name).into()).collect()
        }
        Some(Json::Array(names)) => {
            let seen = |name: &&Json| name.as_str().is_some_and(|name| PUBLIC.contains(&name));
            names.iter().filter(seen).cloned().collect()
        }
        Some(_) => Vec::new(),
    };
    members.insert("output".to_owned(), Json::Array(shown));
    Json::Object(members)
}

#[derive(Default)]
struct MediaType;

impl Plain for MediaType {
    fn spec(&self) -> &'static Spec {
        &SPEC
    }

    fn select(&self, get: &mut Get<'_, '_>, call: &Call<'_>, _: &Json) -> ApiResult<()> {
        if get.flag("editable") && !call.is_super_admin() {
            get.and("1 = 0", []);
        }
        get.need(&["type"]);
        Ok(())
    }

    fn show(&self, found: &mut Found<'_, '_>) -> ApiResult<()> {
        if found.output.has("parameters") {
            lists::show_parameters(found)?;
        }
        if let Some(wanted) = found.wants_uncounted("selectUsers")? {
            let me = found.call.user().id;
            let own = match found.call.is_super_admin() {
                true => String::new(),
                false => format!(" AND userid = {me}"),
            };
            let sql = format!(
                "SELECT mediatypeid, userid FROM media WHERE mediatypeid IN ({{ids}}){own} \
                 ORDER BY mediatypeid, userid"
            );
            let pairs = found.call.pairs(&sql, &found.ids())?;
            found.relate_as(&Relation::new("users", &user::USER), &wanted, &pairs)?;
        }
        if let Some(wanted) = found.wants_uncounted("selectActions")? {
            let sql = "SELECT m.mediatypeid, o.actionid FROM operation_messages m \
                       JOIN operations o ON o.operationid = m.operationid \
                       WHERE m.mediatypeid IN ({ids}) ORDER BY m.mediatypeid, o.actionid";
            let pairs = found.call.pairs(sql, &found.ids())?;
            found.relate_as(&Relation::new("actions", &action::ACTION), &wanted, &pairs)?;
        }
        Ok(())
    }

    fn given(&self, _: &Call<'_>, draft: &mut Draft<'_>) -> ApiResult<()> {
        kinds::check_given(draft)?;
        limit::take(draft)?;
        if draft.id != 0 {
            return Ok(());
        }
        // A new one depends on nothing that is stored.
        let kind = kinds::complete(draft, None)?;
        lists::complete_parameters(draft, kind, None)
    }

    fn write(
        &self,
        _: &Call<'_>,
        _: &mut Edit<'_>,
        draft: &mut Draft<'_>,
        before: Option<&Row>,
    ) -> ApiResult<()> {
        if before.is_none() {
            return Ok(());
        }
        let kind = kinds::complete(draft, before)?;
        lists::complete_parameters(draft, kind, before)
    }

    fn written(&self, _: &Call<'_>, edit: &mut Edit<'_>, drafts: &[Draft<'_>]) -> ApiResult<()> {
        fallback::check(edit, drafts)
    }

    fn delete(&self, _: &Call<'_>, edit: &mut Edit<'_>, rows: &[Row]) -> ApiResult<()> {
        let ids: Vec<u64> = rows.iter().map(|row| row.id("mediatypeid")).collect();
        fallback::check_unused(edit, rows)?;
        let sql = "SELECT m.mediatypeid, a.name FROM operation_messages m \
                   JOIN operations o ON o.operationid = m.operationid \
                   JOIN actions a ON a.actionid = o.actionid \
                   WHERE m.mediatypeid IN ({ids}) ORDER BY m.mediatypeid, a.actionid";
        let used = query_by_ids(edit, sql, &[], &ids)?;
        if let Some(use_) = used.first() {
            let id = use_.id("mediatypeid");
            let name = rows.iter().find(|row| row.id("mediatypeid") == id);
            return Err(ApiError::params(format!(
                "Media type \"{}\" is used by action \"{}\".",
                name.map_or("", |row| row.text("name")),
                use_.text("name")
            )));
        }
        delete_rows(&SPEC, edit, rows)
    }
}

#[cfg(test)]
mod tests;
