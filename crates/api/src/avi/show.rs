//! Objects as responses.

use avi::{Kind, Members};
use serde_json::{Value as Json, json};

use super::world::{Entry, Which, World};
use super::{AviResult, Reply, Request, fixed, refuse};

/// Objects in a response: as many as Avi returns at most.
const PAGE_MAX: usize = 200;

/// Bytes of the objects of a page, unless one alone is larger.
const PAGE_BYTES_MAX: usize = 4 << 20;

pub(super) fn one(
    world: &World<'_, '_>,
    kind: Kind,
    uuid: &str,
    request: &Request,
) -> AviResult<Reply> {
    let entry = world.one(kind, uuid)?;
    Ok(Reply::of(200, Json::Object(object(world, &entry, request)?)))
}

/// `?name=`, `?uuid=`, `?page=`, `?page_size=`; other conditions are not compared.
pub(super) fn list(world: &World<'_, '_>, kind: Kind, request: &Request) -> AviResult<Reply> {
    let which = match (request.query("name"), request.query("uuid")) {
        (Some(name), _) => Which::Named(name),
        (None, Some(uuid)) => Which::Uuid(uuid),
        (None, None) => Which::All,
    };
    let number = |name: &str, default: usize| match request.query(name) {
        None | Some("") => Ok(default),
        Some(text) => text
            .parse()
            .ok()
            .filter(|number| *number > 0)
            .ok_or_else(|| refuse(400, format!("{name}: a number from 1 is expected"))),
    };
    let (page, size) = (number("page", 1)?, number("page_size", PAGE_MAX)?.min(PAGE_MAX));
    let listed = world.list(kind, which)?;
    let first = match request.query("start") {
        Some(_) => number("start", 1)?,
        None => (page - 1).saturating_mul(size),
    };
    let (mut results, mut bytes, mut end) = (Vec::new(), 0, first);
    for one in listed.iter().skip(first).take(size) {
        let Some(entry) = world.load(kind, one)? else {
            end += 1;
            continue;
        };
        let shown = Json::Object(object(world, &entry, request)?);
        bytes += shown.to_string().len();
        if bytes > PAGE_BYTES_MAX && !results.is_empty() {
            break;
        }
        results.push(shown);
        end += 1;
    }
    let is_whole = end - first == size.min(listed.len().saturating_sub(first));
    let start = (!is_whole || request.query("start").is_some()).then_some(end);
    let mut body = json!({ "count": listed.len(), "results": results });
    if end < listed.len() && end > first {
        body["next"] = next(kind, page + 1, start, request).into();
    }
    Ok(Reply::of(200, body))
}

/// `start`: where the next page begins, after one that was not filled because of its bytes.
fn next(kind: Kind, page: usize, start: Option<usize>, request: &Request) -> String {
    let others =
        request.query.iter().filter(|(name, _)| !["page", "start"].contains(&name.as_str()));
    let others: String =
        others.map(|(name, value)| format!("&{name}={}", encoded(value))).collect();
    let start = start.map(|start| format!("&start={start}")).unwrap_or_default();
    format!("https://{}/api/{}?page={page}{start}{others}", request.host, kind.word())
}

fn encoded(text: &str) -> String {
    let sign = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(sign).collect()
}

/// The whole object. Addresses begin with `https://` also without TLS, because clients recognise them by it.
fn object(world: &World<'_, '_>, entry: &Entry, request: &Request) -> AviResult<Members> {
    let mut document = entry.document.clone();
    if !request.has("skip_default") {
        document = avi::with_defaults(entry.kind, &document);
    }
    if entry.kind != Kind::Tenant && !document.contains_key("tenant_ref") {
        let tenant = super::world::reference(Kind::Tenant, &fixed::tenant_uuid());
        document.insert("tenant_ref".to_owned(), tenant.into());
    }
    let with_names = request.has("include_name");
    let mut failure = None;
    avi::each_reference(&mut document, &mut |_, reference| {
        let mut shown = format!("https://{}{reference}", request.host);
        if with_names {
            match world.find(reference) {
                Ok(Some(found)) => shown = format!("{shown}#{}", found.name),
                Ok(None) => {}
                Err(error) => failure = Some(error),
            }
        }
        Ok(Some(shown))
    })?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    let mut url = format!("https://{}{}", request.host, entry.reference());
    if with_names {
        url = format!("{url}#{}", entry.name());
    }
    let mut members = Members::new();
    members.insert("url".to_owned(), url.into());
    members.insert("uuid".to_owned(), entry.uuid.as_str().into());
    members.extend(document);
    members.insert("_last_modified".to_owned(), avi::version(&entry.document).into());
    if let Some(fields) = request.query("fields") {
        let named: Vec<&str> = fields.split(',').map(str::trim).collect();
        let always = ["url", "uuid", "name"];
        members.retain(|name, _| always.contains(&name.as_str()) || named.contains(&name.as_str()));
    }
    Ok(members)
}
