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
        serde_saphyr::to_string(&self.shortened()?).map_err(|error| error.to_string())
    }

    /// The same as JSON. Members of equal objects are equal.
    ///
    /// # Errors
    /// A path that is not UTF-8.
    pub fn shortened(&self) -> Result<Value, String> {
        let failed = |error: serde_json::Error| error.to_string();
        let mut value = serde_json::to_value(self).map_err(failed)?;
        let shortest = serde_json::to_value(Self::parse(SHORTEST)?).map_err(failed)?;
        let (service, pool) = (&shortest["virtual_services"][0], &shortest["pools"][0]);
        shorten(value.get_mut("virtual_services"), service);
        shorten(value.get_mut("pools"), pool);
        if let Some(controller) = value.get_mut("controller") {
            shorten(controller.get_mut("disabled_services"), service);
            for monitor in list_of(controller.get_mut("health_monitors")) {
                if let Some(health) = monitor.get_mut("health") {
                    leave_out(health, &pool["health"]);
                }
            }
        }
        drop_empty(&mut value);
        // A file without them cannot be read.
        for list in ["virtual_services", "pools"] {
            if value.get(list).is_none() {
                value[list] = Value::Array(Vec::new());
            }
        }
        Ok(value)
    }
}

fn list_of(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value.and_then(Value::as_array_mut).into_iter().flatten()
}

fn shorten(objects: Option<&mut Value>, default: &Value) {
    for object in list_of(objects) {
        leave_out(object, default);
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
            // One monitor is no list.
            (Value::Array(members), Some(default @ Value::Object(_))) => {
                members.iter_mut().for_each(|member| leave_out(member, default));
            }
            (Value::Array(members), Some(Value::Array(defaults))) if defaults.len() == 1 => {
                members.iter_mut().for_each(|member| leave_out(member, &defaults[0]));
            }
            _ => {}
        }
    }
}

/// Leaves out what is null, an empty list or an empty map. An empty `if` is every request; a rule without `then`
/// cannot be read.
fn drop_empty(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(drop_empty),
        Value::Object(members) => {
            members.values_mut().for_each(drop_empty);
            members.retain(|name, member| match member {
                Value::Null => false,
                Value::Array(items) => !items.is_empty(),
                Value::Object(members) => !members.is_empty() || name == "then",
                _ => true,
            });
        }
        _ => {}
    }
}
