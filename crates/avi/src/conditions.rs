//! Matches of policies. Each value of a match is an alternative; a rule of Vedette has one value.

use serde_json::{Value as Json, json};

use crate::Result;
use crate::reader::Reader;

/// Rules that one rule of Avi may become.
const RULES_MAX: usize = 64;

/// Whether texts are compared without regard to case, as Avi does by default. Vedette compares paths, headers
/// and cookies with case: a rule that protects something must say so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// Both are accepted.
    Any,
    /// Only `SENSITIVE` is accepted.
    Sensitive,
}

/// The conditions of each alternative; without a match, one without conditions.
pub(crate) fn of(matched: Option<&Reader<'_>>, case: Case) -> Result<Vec<Json>> {
    let mut rules = vec![json!({})];
    let Some(matched) = matched else { return Ok(rules) };
    matched.only(&["path", "host_hdr", "method", "hdrs", "cookie"])?;
    for alternatives in all(matched, case)? {
        if rules.len().saturating_mul(alternatives.len()) > RULES_MAX {
            let text = format!("the rule has more than {RULES_MAX} combinations of values");
            return Err(matched.refuse("path", text));
        }
        let combined = rules.iter().flat_map(|rule| {
            alternatives.iter().map(|(name, value)| {
                let mut rule = rule.clone();
                rule[*name] = value.clone();
                rule
            })
        });
        rules = combined.collect();
    }
    Ok(rules)
}

/// A condition of Vedette: its name and its value.
type Alternative = (&'static str, Json);

fn all(matched: &Reader<'_>, case: Case) -> Result<Vec<Vec<Alternative>>> {
    let mut all = Vec::new();
    if let Some(path) = matched.object("path")? {
        path.only(&["match_criteria", "match_case", "match_str", "match_decoded_string"])?;
        check_case(&path, case)?;
        let name =
            path.word("match_criteria", &[("BEGINS_WITH", "path_prefix"), ("EQUALS", "path")])?;
        all.push(values(&path, "match_str", name.unwrap_or("path"))?);
    }
    if let Some(host) = matched.object("host_hdr")? {
        host.only(&["match_criteria", "match_case", "value"])?;
        let name = host
            .word("match_criteria", &[("HDR_EQUALS", "host"), ("HDR_ENDS_WITH", "host_suffix")])?;
        all.push(values(&host, "value", name.unwrap_or("host"))?);
    }
    if let Some(method) = matched.object("method")? {
        method.only(&["match_criteria", "methods"])?;
        method.word("match_criteria", &[("IS_IN", ())])?;
        let methods = some_texts(&method, "methods")?;
        let plain = |word: &&str| word.trim_start_matches("HTTP_METHOD_").to_owned();
        all.push(methods.iter().map(|word| ("method", plain(word).into())).collect());
    }
    let headers = matched.list("hdrs")?;
    if headers.len() > 1 {
        return Err(matched.refuse("hdrs", "Vedette compares one header for each rule"));
    }
    for header in &headers {
        header.only(&["hdr", "match_criteria", "match_case", "value"])?;
        check_case(header, case)?;
        header.word("match_criteria", &[("HDR_EQUALS", ())])?;
        let name = header.required("hdr")?;
        let values = some_texts(header, "value")?;
        let pair = |value: &&str| ("header", json!({ "name": name, "value": value }));
        all.push(values.iter().map(pair).collect());
    }
    if let Some(cookie) = matched.object("cookie")? {
        cookie.only(&["name", "match_criteria", "match_case", "value"])?;
        check_case(&cookie, case)?;
        cookie.word("match_criteria", &[("HDR_EQUALS", ())])?;
        let pair = json!({ "name": cookie.required("name")?, "value": cookie.required("value")? });
        all.push(vec![("cookie", pair)]);
    }
    Ok(all)
}

fn check_case(matched: &Reader<'_>, case: Case) -> Result<()> {
    let given = matched
        .word("match_case", &[("SENSITIVE", Case::Sensitive), ("INSENSITIVE", Case::Any)])?
        .unwrap_or(Case::Any);
    if case == Case::Sensitive && given != case {
        let text = "Vedette compares with case, and a security rule must not miss a request; set \
                    \"SENSITIVE\"";
        return Err(matched.refuse("match_case", text));
    }
    Ok(())
}

/// Without a value, a rule would never apply. More values than a rule may have are not collected.
fn some_texts<'a>(matched: &Reader<'a>, member: &str) -> Result<Vec<&'a str>> {
    let count = matched.value(member).and_then(Json::as_array).map_or(0, Vec::len);
    if count > RULES_MAX {
        let text = format!("the rule has more than {RULES_MAX} combinations of values");
        return Err(matched.refuse(member, text));
    }
    let texts = matched.texts(member)?;
    match texts.is_empty() {
        true => Err(matched.refuse(member, "at least one value is required")),
        false => Ok(texts),
    }
}

fn values(matched: &Reader<'_>, member: &str, name: &'static str) -> Result<Vec<Alternative>> {
    let texts = some_texts(matched, member)?;
    Ok(texts.iter().map(|text| (name, Json::from(*text))).collect())
}
