//! HTTP policy sets: rules of virtual services.

use serde_json::{Value as Json, json};

use crate::conditions::{self, Case};
use crate::plan::Targets;
use crate::reader::Reader;
use crate::{Members, Result};

/// Rules that a set may become.
const RULES_MAX: usize = 10_000;

/// The rules of a set in the order in which Avi applies them; `None`: a pool that they choose does not exist
/// in Vedette yet.
pub(crate) fn rules(set: &Members, targets: &Targets) -> Result<Option<Vec<Json>>> {
    let reader = Reader::new(set);
    let mut rules = Vec::new();
    for (policy, case) in [
        ("http_security_policy", Case::Sensitive),
        ("http_request_policy", Case::Any),
        ("http_response_policy", Case::Any),
    ] {
        let Some(policy_reader) = reader.object(policy)? else { continue };
        policy_reader.only(&["rules"])?;
        for rule in in_order(&policy_reader)? {
            let then = match policy {
                "http_security_policy" => security(&rule)?,
                "http_request_policy" => match request(&rule, targets)? {
                    Some(then) => then,
                    None => return Ok(None),
                },
                _ => response(&rule)?,
            };
            if !rule.flag("enable", true)? {
                continue;
            }
            let alternatives = conditions::of(rule.object("match")?.as_ref(), case)?;
            if rules.len() + alternatives.len() > RULES_MAX {
                let text = format!("the set has more than {RULES_MAX} rules");
                return Err(policy_reader.refuse("rules", text));
            }
            for conditions in alternatives {
                rules.push(json!({ "if": conditions, "then": then }));
            }
        }
    }
    Ok(Some(rules))
}

fn in_order<'a>(policy: &Reader<'a>) -> Result<Vec<Reader<'a>>> {
    let mut rules = Vec::new();
    for rule in policy.list("rules")? {
        rules.push((rule.number("index")?.unwrap_or(0), rule));
    }
    rules.sort_by_key(|(index, _)| *index);
    Ok(rules.into_iter().map(|(_, rule)| rule).collect())
}

fn security(rule: &Reader<'_>) -> Result<Json> {
    rule.only(&["index", "name", "enable", "log", "match", "action"])?;
    let action = rule.object("action")?;
    let action = action.ok_or_else(|| rule.refuse("action", "this member is required"))?;
    action.only(&["action", "status_code", "https_port", "file"])?;
    action.required("action")?;
    let redirect = action.word(
        "action",
        &[
            ("HTTP_SECURITY_ACTION_SEND_RESPONSE", false),
            ("HTTP_SECURITY_ACTION_REDIRECT_TO_HTTPS", true),
        ],
    )?;
    if redirect == Some(true) {
        let port = match action.number("https_port")? {
            None | Some(443) => String::new(),
            Some(port) => format!(":{port}"),
        };
        let location = format!("https://{{host}}{port}{{uri}}");
        return Ok(json!({ "redirect": { "status": 302, "location": location } }));
    }
    local(&action)
}

/// A response with a status, and with a text if there is one.
fn local(action: &Reader<'_>) -> Result<Json> {
    let code = action.required("status_code")?;
    let digits = code.trim_start_matches("HTTP_LOCAL_RESPONSE_STATUS_CODE_");
    let status: u16 = digits
        .parse()
        .map_err(|_| action.refuse("status_code", format_args!("\"{code}\" is not a status")))?;
    let Some(file) = action.object("file")? else { return Ok(json!({ "deny": status })) };
    file.only(&["content_type", "file_content", "file_length"])?;
    Ok(json!({
        "respond": {
            "status": status,
            "type": file.text("content_type")?.unwrap_or("text/plain"),
            "body": file.text("file_content")?.unwrap_or_default(),
        }
    }))
}

/// `None`: the pool does not exist in Vedette yet.
fn request(rule: &Reader<'_>, targets: &Targets) -> Result<Option<Json>> {
    rule.only(&[
        "index",
        "name",
        "enable",
        "log",
        "match",
        "hdr_action",
        "redirect_action",
        "switching_action",
    ])?;
    let mut then = json!({});
    headers(rule, &mut then, "set_header", "del_header")?;
    if let Some(redirect) = rule.object("redirect_action")? {
        then["redirect"] = redirection(&redirect)?;
    }
    let Some(switching) = rule.object("switching_action")? else { return Ok(Some(then)) };
    switching.only(&["action", "pool_ref", "pool_group_ref", "status_code", "file"])?;
    switching.required("action")?;
    let choice = switching.word(
        "action",
        &[
            ("HTTP_SWITCHING_SELECT_POOL", ("pool_ref", "poolid")),
            ("HTTP_SWITCHING_SELECT_POOLGROUP", ("pool_group_ref", "poolgroupid")),
            ("HTTP_SWITCHING_SELECT_LOCAL", ("", "")),
        ],
    )?;
    match choice {
        Some((member, own)) if !member.is_empty() => {
            switching.required(member)?;
            // A profile is checked before its references are known.
            let known = targets.of(&switching, member)?;
            match known.and_then(|target| target.id) {
                Some(id) => then[own] = id.to_string().into(),
                None => return Ok(None),
            }
        }
        _ => {
            let Json::Object(local) = local(&switching)? else { return Ok(Some(then)) };
            for (name, value) in local {
                then[name] = value;
            }
        }
    }
    Ok(Some(then))
}

fn response(rule: &Reader<'_>) -> Result<Json> {
    rule.only(&["index", "name", "enable", "log", "match", "hdr_action"])?;
    let mut then = json!({});
    headers(rule, &mut then, "set_response_header", "del_response_header")?;
    Ok(then)
}

fn headers(rule: &Reader<'_>, then: &mut Json, set: &str, remove: &str) -> Result<()> {
    for action in rule.list("hdr_action")? {
        action.only(&["action", "hdr", "hdr_index"])?;
        action.required("action")?;
        let removes = action.word(
            "action",
            &[("HTTP_ADD_HDR", false), ("HTTP_REPLACE_HDR", false), ("HTTP_REMOVE_HDR", true)],
        )?;
        let header = action.object("hdr")?;
        let header = header.ok_or_else(|| action.refuse("hdr", "this member is required"))?;
        let name = header.required("name")?;
        if removes == Some(true) {
            match then[remove].as_array_mut() {
                Some(names) => names.push(name.into()),
                None => then[remove] = json!([name]),
            }
            continue;
        }
        let value = header.object("value")?;
        let value = value.ok_or_else(|| header.refuse("value", "this member is required"))?;
        value.only(&["val"])?;
        then[set][name] = value.text("val")?.unwrap_or_default().into();
    }
    Ok(())
}

fn redirection(redirect: &Reader<'_>) -> Result<Json> {
    redirect.only(&["protocol", "port", "host", "path", "keep_query", "status_code"])?;
    redirect.required("protocol")?;
    let scheme = redirect.word("protocol", &[("HTTP", ("http", 80)), ("HTTPS", ("https", 443))])?;
    let (scheme, usual) = scheme.unwrap_or(("https", 443));
    let code = redirect.text("status_code")?.unwrap_or("HTTP_REDIRECT_STATUS_CODE_302");
    let status: u16 = code
        .trim_start_matches("HTTP_REDIRECT_STATUS_CODE_")
        .parse()
        .map_err(|_| redirect.refuse("status_code", format_args!("\"{code}\" is not a status")))?;
    let port = match redirect.number("port")? {
        Some(port) if port != usual => format!(":{port}"),
        _ => String::new(),
    };
    let host = fixed(redirect, "host")?.unwrap_or_else(|| "{host}".to_owned());
    let keeps_query = redirect.flag("keep_query", true)?;
    let path = match (fixed(redirect, "path")?, keeps_query) {
        (None, true) => "{uri}".to_owned(),
        (None, false) => "{path}".to_owned(),
        (Some(path), false) => format!("/{}", path.trim_start_matches('/')),
        (Some(_), true) => {
            let text = "Vedette cannot add the query to a fixed path; set it to false";
            return Err(redirect.refuse("keep_query", text));
        }
    };
    Ok(json!({ "status": status, "location": format!("{scheme}://{host}{port}{path}") }))
}

/// A part of a URL that is made of texts alone.
fn fixed(redirect: &Reader<'_>, name: &str) -> Result<Option<String>> {
    let Some(part) = redirect.object(name)? else { return Ok(None) };
    let mut texts = Vec::new();
    for token in part.list("tokens")? {
        token.word("type", &[("URI_TOKEN_TYPE_STRING", ())])?;
        texts.push(token.required("str_value")?);
    }
    let separator = if name == "host" { "." } else { "/" };
    Ok(Some(texts.join(separator)))
}
