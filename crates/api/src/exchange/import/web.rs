//! Items of web scenarios: triggers and graphs refer to them.

use config::db::Value;
use config::objects::NewItem;

use super::owners::Owner;
use super::{Import, list, text};
use crate::error::{ApiError, ApiResult};

/// Item type of web scenarios.
const WEB: i64 = 9;
const FLOAT: i64 = 0;
const TEXT: i64 = 1;
const UNSIGNED: i64 = 3;

impl Import<'_, '_> {
    /// Makes the items of an owner's web scenarios that are missing.
    pub(super) fn web_items(&self, owner: &Owner<'_>) -> ApiResult<()> {
        if !self.rules.of("httptests").create {
            return Ok(());
        }
        let known = self.ids(owner.id, "0, 4")?;
        let mut new = Vec::new();
        for (path, scenario) in list(owner.node, "httptests", "httptest", &owner.path)? {
            let name = text(scenario, "name");
            let delay = Some(text(scenario, "delay")).filter(|d| !d.is_empty()).unwrap_or("1m");
            let shown = quoted(name);
            let mut add = |title: String, key: String, value_type: i64, units: &'static str| {
                if !known.contains_key(&key) {
                    new.push(item(owner.id, title, key, delay, value_type, units));
                }
            };
            let speed = format!("Download speed for scenario \"{name}\".");
            add(speed, format!("web.test.in[{shown},,bps]"), FLOAT, "Bps");
            let failed = format!("Failed step of scenario \"{name}\".");
            add(failed, format!("web.test.fail[{shown}]"), UNSIGNED, "");
            let error = format!("Last error message of scenario \"{name}\".");
            add(error, format!("web.test.error[{shown}]"), TEXT, "");
            for (_, step) in list(scenario, "steps", "step", &path)? {
                let step = text(step, "name");
                let of = format!("step \"{step}\" of scenario \"{name}\".");
                let pair = format!("{shown},{}", quoted(step));
                let speed = format!("Download speed for {of}");
                add(speed, format!("web.test.in[{pair},bps]"), FLOAT, "Bps");
                let time = format!("Response time for {of}");
                add(time, format!("web.test.time[{pair},resp]"), FLOAT, "s");
                let code = format!("Response code for {of}");
                add(code, format!("web.test.rspcode[{pair}]"), UNSIGNED, "");
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        self.call.write(|edit| {
            config::objects::create_items(edit, &new).map(drop).map_err(ApiError::from)
        })
    }
}

fn item(
    hostid: u64,
    name: String,
    key: String,
    delay: &str,
    value_type: i64,
    units: &'static str,
) -> NewItem {
    let columns: Vec<(&'static str, Value)> = vec![
        ("hostid", hostid.into()),
        ("flags", 0_i64.into()),
        ("type", WEB.into()),
        ("name", name.into()),
        ("key_", key.into()),
        ("delay", delay.into()),
        ("value_type", value_type.into()),
        ("units", units.into()),
        ("history", "30d".into()),
        ("trends", if value_type == TEXT { "0" } else { "90d" }.into()),
    ];
    NewItem { columns, preprocessing: Vec::new(), tags: Vec::new() }
}

/// A parameter of an item key, in quotes where it needs them.
fn quoted(text: &str) -> String {
    if text.starts_with(['"', ' ', '[']) || text.contains([',', ']']) {
        format!("\"{}\"", text.replace('"', "\\\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn parameters_in_keys() {
        for (name, shown) in [
            ("a b", "a b"),
            ("a, b", "\"a, b\""),
            ("a]", "\"a]\""),
            ("\"a\"", "\"\\\"a\\\"\""),
            (" a", "\" a\""),
        ] {
            assert_eq!(quoted(name), shown);
        }
    }
}
