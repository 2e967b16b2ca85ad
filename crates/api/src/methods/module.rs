//! `module.get`: modules of a front end written in PHP, of which this server has none.

use crate::call::{Call, Json, Method};
use crate::error::{ApiError, ApiResult};
use crate::get::Get;
use crate::object::Access::ReadOnly;
use crate::object::FieldKind::{Id, Json as JsonText, OneOf, Text};
use crate::object::{Object, field};

pub(crate) const METHODS: &[Method] = &[Method::user("module.get", get)];

pub(crate) static MODULE: Object = Object {
    name: "module",
    table: "(SELECT 0 AS moduleid, '' AS id, '' AS relative_path, 0 AS status, '' AS config WHERE 1 = 0)",
    key: "moduleid",
    keys: "moduleids",
    fields: &[
        field("moduleid", Id, ReadOnly, "Id of the module. This server has no modules."),
        field("id", Text(255), ReadOnly, "Id that the module gives itself."),
        field("relative_path", Text(255), ReadOnly, "Folder."),
        field("status", OneOf(&[0, 1]), ReadOnly, "1 = on."),
        field("config", JsonText, ReadOnly, "Configuration."),
    ],
    strict: true,
    sort: &["moduleid", "relative_path"],
};

fn get(call: &Call<'_>, input: &Json) -> ApiResult<Json> {
    if !call.is_super_admin() {
        return Err(ApiError::application("You do not have permission to perform this operation."));
    }
    let searched = input.get("search").and_then(Json::as_object);
    if let Some(name) =
        searched.and_then(|members| members.keys().find(|name| *name != "relative_path"))
    {
        return Err(ApiError::at("/search", format_args!("unexpected parameter \"{name}\"")));
    }
    let mut get = Get::new(call, input, &MODULE, &["moduleids"])?;
    get.by_ids("moduleids", "t.moduleid IN ({ids})")?;
    Ok(get.run()?.finish())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::testing::Server;

    #[test]
    fn there_are_none() {
        let server = Server::start();
        server.answers(&[
            ("module.get", json!({ "filter": { "status": 1 }, "preservekeys": true }), json!([])),
            ("module.get", json!({ "countOutput": true }), json!("0")),
        ]);
        server.refuses(&[
            (
                "module.get",
                json!({ "output": ["x"] }),
                -32602,
                "\"moduleid\", \"id\", \"relative_path\"",
            ),
            ("module.get", json!({ "nosuch": 1 }), -32602, "unexpected parameter"),
        ]);
        let admin = server.user("modules", "2", &[]);
        let refused = server.call_as(Some(&admin), "module.get", &json!({})).unwrap_err();
        assert_eq!(
            refused,
            (-32500, "You do not have permission to perform this operation.".to_owned())
        );
    }
}
