//! `userdirectory.test`: a sign-in by LDAP that opens no session, with stored or given settings.

use serde_json::{Map, json};

use super::{fields, groups};
use crate::call::{Call, Json};
use crate::directory::provision::{Mapping, Person};
use crate::directory::{Server, column, find};
use crate::error::{ApiError, ApiResult};
use crate::object::{Columns, Mode, columns_of, missing};
use crate::params;
use crate::write::only;

/// Members that a test has beside the fields of a directory.
const USER: [&str; 2] = ["test_username", "test_password"];
/// Fields that a test cannot do without.
const REQUIRED: [&str; 4] = ["host", "port", "base_dn", "search_attribute"];

pub(super) fn test(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    let members = input.as_object().ok_or_else(|| ApiError::at("/", "an array is expected"))?;
    let given = given(members, input)?;
    let id =
        members.get("userdirectoryid").map_or(Ok(0), |id| params::id(id, "/userdirectoryid"))?;
    let stored = match id {
        0 => None,
        id => {
            Some(call.read(|reader| Server::read(reader, id))?.ok_or_else(ApiError::no_object)?.1)
        }
    };
    let text = |name: &str| -> String {
        let of_call = given.iter().find(|(column, _)| *column == name);
        let of_call = of_call.map(|(_, value)| value.to_string());
        of_call.or_else(|| stored.as_ref().map(|row| column(row, name))).unwrap_or_default()
    };
    for name in REQUIRED {
        if text(name).is_empty() {
            return Err(match members.contains_key(name) {
                true => ApiError::at(&format!("/{name}"), "cannot be empty"),
                false => missing("/", name),
            });
        }
    }
    if let Some(row) = &stored
        && !members.contains_key("bind_password")
        && super::rules::needs_password(row, text)
    {
        return Err(missing("/", "bind_password"));
    }
    let [username, password] = USER.map(|name| credential(members, name));
    let (username, password) = (username?, password?);
    let mapping = match text("provision_status").as_str() {
        "1" => Some(mapping(call, members, text, stored.as_ref())?),
        _ => None,
    };
    let attributes = mapping.as_ref().map(Mapping::attributes).unwrap_or_default();
    let account = find(&Server::of(text), &username, Some(&password), &attributes)?;
    let mut result = Map::new();
    result.insert("username".to_owned(), username.into());
    if let Some(mapping) = mapping {
        let person = call.read(|reader| mapping.person(reader, &account))?;
        show(&mut result, &person);
        if id != 0 {
            result.insert("userdirectoryid".to_owned(), id.to_string().into());
        }
    }
    Ok(Json::Object(result))
}

/// The given fields of LDAP.
fn given(members: &Map<String, Json>, input: &Json) -> ApiResult<Columns> {
    let of_ldap = |name: &&str| !fields::not_of(super::LDAP).contains(name) && *name != "name";
    let names = fields::FIELDS.iter().map(|field| field.name).filter(of_ldap);
    let known: Vec<&str> = names.filter(|name| *name != "description").chain(USER).collect();
    only(members, "/", &known)?;
    columns_of(fields::FIELDS, "", input, "", Mode::Update)
}

fn credential(members: &Map<String, Json>, name: &str) -> ApiResult<String> {
    let path = format!("/{name}");
    let text = params::text(members.get(name).ok_or_else(|| missing("/", name))?, &path)?;
    if text.is_empty() {
        return Err(ApiError::at(&path, "cannot be empty"));
    }
    Ok(text)
}

/// What accounts become, by the given groups and attributes or the stored ones.
fn mapping(
    call: &Call<'_>,
    members: &Map<String, Json>,
    text: impl Fn(&str) -> String,
    stored: Option<&config::db::Row>,
) -> ApiResult<Mapping> {
    let mut mapping = match stored {
        Some(row) => call.read(|reader| Mapping::read(reader, row))?,
        None => Mapping::default(),
    };
    (mapping.name, mapping.surname) = (text("user_username"), text("user_lastname"));
    if let Some(list) = members.get("provision_groups") {
        mapping.groups = groups::parse_list(list, "/provision_groups")?;
    }
    if let Some(list) = members.get("provision_media") {
        mapping.media = super::rules::parse_media(list, "/provision_media")?;
    }
    match mapping.groups.is_empty() {
        true if members.contains_key("provision_groups") => {
            Err(ApiError::at("/provision_groups", "cannot be empty"))
        }
        true => Err(missing("/", "provision_groups")),
        false => Ok(mapping),
    }
}

fn show(result: &mut Map<String, Json>, person: &Person) {
    for (name, value) in [("name", &person.name), ("surname", &person.surname)] {
        if let Some(value) = value {
            result.insert(name.to_owned(), value.as_str().into());
        }
    }
    let media = person.media.iter().map(|(media, address)| {
        json!({
            "name": media.name,
            "mediatypeid": media.mediatypeid.to_string(),
            "sendto": [address],
            "active": media.active.to_string(),
            "severity": media.severity.to_string(),
            "period": media.period,
            "userdirectory_mediaid": media.id.to_string(),
        })
    });
    result.insert("medias".to_owned(), media.collect());
    let groups = person.usrgrpids.iter().map(|id| json!({ "usrgrpid": id.to_string() }));
    result.insert("usrgrps".to_owned(), groups.collect());
    let roleid = match person.roleid {
        0 => json!(0),
        id => json!(id.to_string()),
    };
    result.insert("roleid".to_owned(), roleid);
}
