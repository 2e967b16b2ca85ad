//! A configuration as a file that an administrator goes on to edit: members that have their default
//! value are left out.

use serde_json::Value;

use super::Config;

/// The shortest service and pool; what they have beyond what is written here is their default.
const SHORTEST: &str = "
virtual_services:
  - {name: '', type: http, listen: '0.0.0.0:1', pool: ''}
pools:
  - {name: '', servers: [{name: '', address: '0.0.0.0:1'}], health: {type: tcp}}
";

impl Config {
    /// The text of a file that [`parse`](Self::parse) reads as this configuration.
    ///
    /// # Errors
    /// A path that is not UTF-8.
    pub fn render(&self) -> Result<String, String> {
        let failed = |error: serde_json::Error| error.to_string();
        let mut value = serde_json::to_value(self).map_err(failed)?;
        let shortest = serde_json::to_value(Self::parse(SHORTEST)?).map_err(failed)?;
        for list in ["virtual_services", "pools"] {
            let default = &shortest[list][0];
            for object in value[list].as_array_mut().into_iter().flatten() {
                leave_out(object, default);
            }
        }
        drop_empty(&mut value);
        serde_saphyr::to_string(&value).map_err(|error| error.to_string())
    }
}

/// Members without which an object cannot be read.
const REQUIRED: [&str; 7] = ["name", "type", "listen", "pool", "address", "servers", "health"];

fn leave_out(value: &mut Value, default: &Value) {
    let (Value::Object(members), Value::Object(defaults)) = (value, default) else { return };
    members.retain(|name, member| {
        REQUIRED.contains(&name.as_str()) || defaults.get(name) != Some(member)
    });
    for (name, member) in members {
        match (member, defaults.get(name)) {
            (member @ Value::Object(_), Some(default)) => leave_out(member, default),
            (Value::Array(members), Some(Value::Array(defaults))) if defaults.len() == 1 => {
                members.iter_mut().for_each(|member| leave_out(member, &defaults[0]));
            }
            _ => {}
        }
    }
}

/// Leaves out what is null, an empty list or an empty map. An empty `if` is every request.
fn drop_empty(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(drop_empty),
        Value::Object(members) => {
            members.values_mut().for_each(drop_empty);
            members.retain(|_, member| match member {
                Value::Null => false,
                Value::Array(items) => !items.is_empty(),
                Value::Object(members) => !members.is_empty(),
                _ => true,
            });
        }
        _ => {}
    }
}
