//! An OpenRPC document (<https://spec.open-rpc.org>, 1.3) of the API.

use objects::UserType;
use serde_json::{Map, json};

use super::shape::{methods, parts, shown, type_name};
use crate::call::{Json, Method};
use crate::methods::{DESCRIBED, Described, OBJECTS};
use crate::object::{Access, Field, FieldKind, Object};

/// The document, indented.
pub fn openrpc() -> String {
    let schemas: Map<String, Json> = OBJECTS
        .iter()
        .flat_map(|object| {
            let name = type_name(object);
            [(name.to_owned(), output(object)), (format!("{name}Input"), input(object))]
        })
        .collect();
    let document = json!({
        "openrpc": "1.3.2",
        "info": {
            "title": "Vedette",
            "description": "JSON-RPC 2.0 by POST to /api_jsonrpc.php, as Zabbix 7.0 has it. \
                A session id or token goes in the header Authorization: Bearer. Numbers in \
                answers are texts.",
            "version": env!("CARGO_PKG_VERSION"),
            "license": { "name": "Apache-2.0" },
        },
        "servers": [{ "name": "this server", "url": "/api_jsonrpc.php" }],
        "methods": methods().into_iter().map(method).collect::<Vec<_>>(),
        "components": { "schemas": schemas },
    });
    format!("{document:#}\n")
}

fn method(method: &Method) -> Json {
    let (object, action) = parts(method);
    let who = match method.lowest {
        None => "Everybody, without a session.",
        Some(UserType::User) => "All users.",
        Some(UserType::Admin) => "Admins and super admins.",
        Some(UserType::SuperAdmin) => "Super admins.",
    };
    let (structure, params, result) = match (object, action) {
        (Some(object), "get") => ("by-name", get_params(object), get_result(object)),
        (Some(object), "create" | "update") => {
            ("by-name", write_params(object, action == "update"), ids(object))
        }
        (Some(object), "delete") => ("by-position", vec![delete_param(object)], ids(object)),
        _ => match DESCRIBED.iter().find(|one| one.method == method.name) {
            Some(one) => ("by-name", described_params(one), described_result(one)),
            None => ("by-name", Vec::new(), json!({})),
        },
    };
    json!({
        "name": shown(method),
        "description": who,
        "paramStructure": structure,
        "params": params,
        "result": { "name": "result", "schema": result },
    })
}

fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// Ids of what was written: `{"hostids": ["1"]}`.
fn ids(object: &Object) -> Json {
    let list = json!({ "type": "array", "items": { "type": "string" } });
    json!({ "type": "object", "properties": { object.keys: list }, "required": [object.keys] })
}

fn delete_param(object: &Object) -> Json {
    json!({
        "name": object.keys,
        "description": "One id after the other: the parameters are the list itself.",
        "required": true,
        "schema": { "type": "string", "pattern": "^[0-9]+$" },
    })
}

/// Options that every `get` has; the objects' own ones come beside them.
fn get_params(object: &Object) -> Vec<Json> {
    let flag = || json!({ "type": "boolean" });
    let fields: Vec<&str> = object.columns().map(|field| field.name).collect();
    let names = json!({ "type": "array", "items": { "type": "string" } });
    let sort: Json = json!({ "enum": object.sort });
    let order = json!({ "enum": ["ASC", "DESC"] });
    let list_of = |one: &Json| json!({ "anyOf": [one, { "type": "array", "items": one }] });
    [
        (
            "output",
            json!({ "anyOf": [{ "const": "extend" },
                { "type": "array", "items": { "enum": fields } }, names] }),
        ),
        ("filter", json!({ "type": "object" })),
        ("search", json!({ "type": "object" })),
        ("searchByAny", flag()),
        ("searchWildcardsEnabled", flag()),
        ("startSearch", flag()),
        ("excludeSearch", flag()),
        ("sortfield", list_of(&sort)),
        ("sortorder", list_of(&order)),
        ("limit", json!({ "type": "integer", "minimum": 1 })),
        ("countOutput", flag()),
        ("preservekeys", flag()),
        ("editable", flag()),
    ]
    .map(|(name, schema)| json!({ "name": name, "required": false, "schema": schema }))
    .into()
}

/// A list; with `preservekeys` an object by id, with `countOutput` a number as text.
fn get_result(object: &Object) -> Json {
    let one = reference(type_name(object));
    json!({ "anyOf": [
        { "type": "array", "items": one },
        { "type": "object", "additionalProperties": one },
        { "type": "string" },
    ]})
}

fn described_params(one: &Described) -> Vec<Json> {
    let param = |field: &Field| {
        json!({
            "name": field.name,
            "description": field.doc,
            "required": field.access == Access::Required,
            "schema": schema(field.kind, true),
        })
    };
    one.params.iter().map(param).collect()
}

fn described_result(one: &Described) -> Json {
    json!({ "type": "object", "properties": properties(one.result.iter(), false) })
}

/// Members of one object; an array of objects goes as well.
fn write_params(object: &Object, update: bool) -> Vec<Json> {
    let key = update.then(
        || json!({ "name": object.key, "required": true, "schema": schema(FieldKind::Id, true) }),
    );
    let fields = writable(object).filter(|field| field.name != object.key).map(|field| {
        json!({
            "name": field.name,
            "description": field.doc,
            "required": field.access == Access::Required && !update,
            "schema": schema(field.kind, true),
        })
    });
    key.into_iter().chain(fields).collect()
}

fn writable(object: &Object) -> impl Iterator<Item = &'static Field> {
    object.fields.iter().filter(|field| field.access != Access::ReadOnly)
}

/// The object as `get` shows it.
fn output(object: &Object) -> Json {
    let shown = object.fields.iter().filter(|field| field.access != Access::WriteOnly);
    let shown = shown.filter(|f| f.access == Access::ReadOnly || f.kind != FieldKind::Nested);
    json!({ "type": "object", "properties": properties(shown, false) })
}

/// The object as `create` takes it.
fn input(object: &Object) -> Json {
    let required = writable(object).filter(|field| field.access == Access::Required);
    let required: Vec<&str> = required.map(|field| field.name).collect();
    json!({
        "type": "object",
        "properties": properties(writable(object), true),
        "required": required,
        "additionalProperties": false,
    })
}

fn properties(fields: impl Iterator<Item = &'static Field>, input: bool) -> Map<String, Json> {
    fields
        .map(|field| {
            let mut schema = schema(field.kind, input);
            schema["description"] = field.doc.into();
            (field.name.to_owned(), schema)
        })
        .collect()
}

/// JSON Schema of a field. Answers have texts for numbers; parameters take both.
fn schema(kind: FieldKind, input: bool) -> Json {
    let number = |pattern: &str| match input {
        true => json!({ "type": ["string", "integer"] }),
        false => json!({ "type": "string", "pattern": pattern }),
    };
    match kind {
        FieldKind::Id => number("^[0-9]+$"),
        FieldKind::Int(..) => number("^-?[0-9]+$"),
        FieldKind::OneOf(allowed) => {
            let texts = allowed.iter().map(|n| Json::from(n.to_string()));
            let numbers = allowed.iter().map(|n| Json::from(*n)).filter(|_| input);
            json!({ "enum": texts.chain(numbers).collect::<Vec<_>>() })
        }
        FieldKind::Text(0) => json!({ "type": "string" }),
        FieldKind::Text(max) => json!({ "type": "string", "maxLength": max }),
        FieldKind::Name(0) => json!({ "type": "string", "minLength": 1 }),
        FieldKind::Name(max) => json!({ "type": "string", "minLength": 1, "maxLength": max }),
        FieldKind::Nested => json!({ "type": ["array", "object", "string"] }),
        FieldKind::Json => json!({ "type": "array", "items": { "type": "object" } }),
        FieldKind::Document => json!({ "type": ["array", "object"] }),
        FieldKind::Settings => json!({ "type": ["object", "null"] }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn document() -> Json {
        serde_json::from_str(&openrpc()).unwrap()
    }

    /// All members of that name, at any depth.
    fn all<'j>(node: &'j Json, name: &str, found: &mut Vec<&'j Json>) {
        match node {
            Json::Object(members) => {
                found.extend(members.get(name));
                members.values().for_each(|value| all(value, name, found));
            }
            Json::Array(values) => values.iter().for_each(|value| all(value, name, found)),
            _ => {}
        }
    }

    #[test]
    fn it_is_a_document_as_the_specification_asks() {
        let document = document();
        assert_eq!(document["openrpc"], "1.3.2");
        let mut names = BTreeSet::new();
        for method in document["methods"].as_array().unwrap() {
            let name = method["name"].as_str().unwrap();
            assert!(names.insert(name), "{name} twice");
            assert!(method["result"]["schema"].is_object(), "{name}");
            let mut params = BTreeSet::new();
            let mut optional = false;
            for param in method["params"].as_array().unwrap() {
                assert!(params.insert(param["name"].as_str().unwrap()), "{name}: {param}");
                assert!(param["schema"].is_object(), "{name}: {param}");
                let required = param["required"].as_bool().unwrap();
                // Of parameters by position required ones come first.
                assert!(method["paramStructure"] == "by-name" || !(optional && required), "{name}");
                optional |= !required;
            }
        }
        assert!(names.contains("host.create") && names.contains("user.checkAuthentication"));
        let mut references = Vec::new();
        all(&document, "$ref", &mut references);
        assert!(references.len() > 30, "{}", references.len());
        for reference in references {
            let pointer = reference.as_str().unwrap().strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
    }

    #[test]
    fn schemas_say_what_the_tables_say() {
        let document = document();
        let host = &document["components"]["schemas"]["Host"]["properties"];
        assert_eq!(host["status"]["enum"], json!(["0", "1"]));
        assert!(host.get("tls_psk").is_none(), "secrets are not shown");
        let input = &document["components"]["schemas"]["HostInput"];
        assert_eq!(input["required"], json!(["host"]));
        assert_eq!(input["properties"]["status"]["enum"], json!(["0", "1", 0, 1]));
        assert_eq!(input["properties"]["host"]["maxLength"], 128);
        let global = &document["components"]["schemas"]["GlobalMacro"]["properties"];
        assert!(global.get("globalmacroid").is_some() && global.get("hostid").is_none());
    }
}
