//! PATCH: `{"add": {…}}`, `{"replace": {…}}`, `{"delete": {…}}`, one or more of them.

use serde_json::Value as Json;

use crate::{Members, Refused, Result};

/// The object after a PATCH.
///
/// - `add` appends to lists, merges objects, and sets all else.
/// - `replace` sets members.
/// - `delete` removes the listed elements of lists, and other members as a whole.
///
/// # Errors
/// The body has another form.
pub fn patch(mut members: Members, body: &Members) -> Result<Members> {
    for (operation, given) in body {
        let Json::Object(given) = given else {
            return Err(Refused::at(operation, "an object with members is expected"));
        };
        for (name, value) in given {
            match operation.as_str() {
                "add" => add(&mut members, name, value),
                "replace" => {
                    members.insert(name.clone(), value.clone());
                }
                "delete" => delete(&mut members, name, value),
                _ => {
                    let text = "a PATCH has the members \"add\", \"replace\" and \"delete\"";
                    return Err(Refused::at(operation, text));
                }
            }
        }
    }
    Ok(members)
}

fn add(members: &mut Members, name: &str, value: &Json) {
    match (members.get_mut(name), value) {
        (Some(Json::Array(own)), Json::Array(more)) => {
            let new: Vec<Json> = more.iter().filter(|one| !own.contains(one)).cloned().collect();
            own.extend(new);
        }
        (Some(Json::Object(own)), Json::Object(more)) => {
            own.extend(more.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        _ => {
            members.insert(name.to_owned(), value.clone());
        }
    }
}

fn delete(members: &mut Members, name: &str, value: &Json) {
    if let (Some(Json::Array(own)), Json::Array(gone)) = (members.get_mut(name), value) {
        own.retain(|one| !gone.iter().any(|gone| is_meant(one, gone)));
        if !own.is_empty() {
            return;
        }
    }
    members.shift_remove(name);
}

/// Elements may be named by some of their members.
fn is_meant(one: &Json, named: &Json) -> bool {
    match (one, named) {
        (Json::Object(one), Json::Object(named)) => {
            named.iter().all(|(name, value)| one.get(name).is_some_and(|own| is_meant(own, value)))
        }
        _ => one == named,
    }
}
