//! Any property of the API, by its path.

use wire::vmware::property::Object;

use super::Missing;
use super::inventory::{Model, Wish};
use super::keys::Ask;

/// Any property of the API, if it is a single value.
pub(super) fn property(ask: &Ask, model: &Model, object: &Object) -> Result<String, Missing> {
    let path = ask.third();
    if path.is_empty() {
        return Err("Invalid third parameter.".into());
    }
    let wish = Wish::Property(ask.scope, path.to_owned());
    if !model.wishes.contains(&wish) {
        return Err(Missing::Wish(wish));
    }
    if let Some(why) = model.refused.get(&wish) {
        return Err(format!("Custom query error: {why}").into());
    }
    match object.at(path) {
        Some(node) if !node.children.is_empty() => {
            Err("Custom query error: only scalar values can be returned.".into())
        }
        Some(node) => Ok(node.text.to_string()),
        None => Ok(String::new()),
    }
}
