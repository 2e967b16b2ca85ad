//! TypeScript types of the API and the catalogs of kinds, for the UI.

use std::fmt::Write;

use super::shape::{methods, parts, shown, type_name};
use crate::methods::OBJECTS;
use crate::object::{Access, Field, FieldKind, Object};

/// The source text of a module with types and constants.
pub fn typescript() -> String {
    let mut out = String::from(
        "// biome-ignore-all format: made from the tables of the server by `vedette api \
         --typescript`.\n// Do not edit: a test of the server compares this file with the tables.\n",
    );
    for object in OBJECTS {
        let name = type_name(object);
        let output = object.fields.iter().filter(|field| field.access != Access::WriteOnly);
        let output = output.filter(|f| f.access == Access::ReadOnly || f.kind != FieldKind::Nested);
        let about = format!("As `{}.get` shows it with `output: \"extend\"`.", object.name);
        interface(&mut out, name, &about, output, false);
        let input = object.fields.iter().filter(|field| field.access != Access::ReadOnly);
        let input: Vec<&Field> = input.filter(|field| field.name != object.key).collect();
        if !input.is_empty() && is_created(object) {
            let about = format!("As `{}.create` takes it.", object.name);
            interface(&mut out, &format!("{name}Input"), &about, input.into_iter(), true);
        }
    }
    out.push_str("\n/** All methods. */\nexport type MethodName =");
    for method in methods() {
        let _ = write!(out, "\n  | \"{}\"", shown(method));
    }
    out.push_str(";\n");
    super::catalogs::catalogs(&mut out);
    out
}

fn is_created(object: &Object) -> bool {
    let creates = |(of, action): (Option<&'static Object>, &str)| {
        action == "create" && of.is_some_and(|of| std::ptr::eq(of, object))
    };
    methods().into_iter().map(parts).any(creates)
}

fn interface(
    out: &mut String,
    name: &str,
    about: &str,
    fields: impl Iterator<Item = &'static Field>,
    input: bool,
) {
    let _ = write!(out, "\n/** {about} */\nexport interface {name} {{\n");
    for field in fields {
        let left_out = if input { field.access != Access::Required } else { field.named };
        let optional = if left_out { "?" } else { "" };
        let doc = field.doc.replace("*/", "* /");
        let kind = written(field.kind, input);
        let _ = writeln!(out, "  /** {doc} */\n  {}{optional}: {kind};", field.name);
    }
    out.push_str("}\n");
}

/// Type of a field. Answers have texts for numbers; parameters take both.
fn written(kind: FieldKind, input: bool) -> String {
    match kind {
        FieldKind::Id | FieldKind::Int(..) if input => "string | number".to_owned(),
        FieldKind::OneOf(allowed) => {
            let texts = allowed.iter().map(|n| format!("\"{n}\""));
            let numbers = allowed.iter().map(ToString::to_string).filter(|_| input);
            texts.chain(numbers).collect::<Vec<_>>().join(" | ")
        }
        FieldKind::Nested | FieldKind::Document => "unknown".to_owned(),
        FieldKind::Settings => "Record<string, unknown> | null".to_owned(),
        FieldKind::Json => "Record<string, string>[]".to_owned(),
        _ => "string".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_types_of_the_ui_are_the_tables() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/src/api/schema.ts");
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == super::typescript(),
            "web/src/api/schema.ts is out of date: \
             cargo run -p server -- api --typescript > web/src/api/schema.ts"
        );
    }

    #[test]
    fn fields_become_members() {
        let types = super::typescript();
        for part in [
            "export interface Host {\n",
            "  /** 0 monitored, 1 not. */\n  status: \"0\" | \"1\";\n",
            "export interface HostInput {\n",
            "  host: string;\n",
            "  status?: \"0\" | \"1\" | 0 | 1;\n",
            "\n  | \"host.create\"\n",
            "export interface GlobalMacroInput {\n",
            r#"  {"type":"0","label":"Agent","interface":1,"interval":true},"#,
            r#"  {"type":"9","label":"Simple change","group":"Change","params":[]},"#,
            "export const Status = {\n  Enabled: \"0\",\n  Disabled: \"1\",\n} as const;\n",
        ] {
            assert!(types.contains(part), "{part}");
        }
        assert!(!types.contains("EventInput"), "events are not created by people");
    }
}
