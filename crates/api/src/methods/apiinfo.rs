//! `apiinfo.version`: the supported API version. `apiinfo.timezone` is our extension.

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};

pub(crate) const METHODS: &[Method] =
    &[Method::user("apiinfo.timezone", timezone), Method::open("apiinfo.version", version)];

/// The API version whose answers these are; clients compare its first two numbers.
const VERSION: &str = "7.0.22";

fn version(_call: &Call<'_>, params: &Json) -> ApiResult<Json> {
    nothing(params)?;
    Ok(VERSION.into())
}

/// The IANA name of the time zone in which times of day are meant, such as starts of maintenance;
/// empty where the machine does not know the name of its own.
fn timezone(call: &Call<'_>, params: &Json) -> ApiResult<Json> {
    nothing(params)?;
    let zone = call.config().snapshot().settings.time_zone();
    let name = if zone.is_unknown() { Some("UTC") } else { zone.iana_name() };
    Ok(name.unwrap_or_default().into())
}

fn nothing(params: &Json) -> ApiResult<()> {
    match params {
        Json::Array(values) if values.is_empty() => Ok(()),
        Json::Object(members) if members.is_empty() => Ok(()),
        _ => Err(ApiError::at("/", "should be empty")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Server;

    #[test]
    fn whose_times_of_day_are_meant() {
        let server = Server::start();
        for (zone, shown) in [("Europe/Riga", "Europe/Riga"), ("UTC", "UTC")] {
            server.call("settings.update", &json!({ "default_timezone": zone })).unwrap();
            server.answers(&[("apiinfo.timezone", json!([]), json!(shown))]);
        }
        server.refuses(&[("apiinfo.timezone", json!(["x"]), -32602, "should be empty")]);
        assert!(server.call_as(None, "apiinfo.timezone", &json!([])).is_err());
    }
}
