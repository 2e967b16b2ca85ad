//! Single spots: long functions, tuple parameters, large structures, documentation that says nothing.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Fields, FnArg, Ident, Lit, Meta, Signature, Type, Visibility};

use super::Places;
use super::source::File;

const LINES_MAX: usize = 70;
const FIELDS_MAX: usize = 12;
/// Words that add nothing to a name.
const FILLERS: [&str; 6] = ["a", "an", "it", "its", "of", "the"];

/// All spots of a crate.
pub(super) fn find(files: &[File]) -> Places {
    let mut spots = Spots::default();
    for file in files {
        spots.file.clone_from(&file.name);
        file.items.iter().for_each(|item| spots.visit_item(item));
    }
    spots.places
}

#[derive(Default)]
struct Spots {
    file: String,
    places: Places,
}

impl Spots {
    fn note(&mut self, measure: &'static str, line: usize, what: &Ident) {
        self.places.entry(measure).or_default().push(format!("{}:{line} {what}", self.file));
    }

    fn function(&mut self, signature: &Signature, whole: proc_macro2::Span) {
        let line = signature.span().start().line;
        if whole.end().line + 1 - line > LINES_MAX {
            self.note("long-functions", line, &signature.ident);
        }
        for argument in &signature.inputs {
            if let FnArg::Typed(argument) = argument
                && is_tuple(&argument.ty)
            {
                self.note("tuple-parameters", line, &signature.ident);
            }
        }
    }

    fn documented(&mut self, visibility: &Visibility, attributes: &[Attribute], name: &Ident) {
        if !matches!(visibility, Visibility::Inherited) {
            self.document(attributes, name);
        }
    }

    fn document(&mut self, attributes: &[Attribute], name: &Ident) {
        let text = document(attributes);
        if !text.is_empty() && says_only(&text, &name.to_string()) {
            self.note("empty-docs", name.span().start().line, name);
        }
    }
}

impl<'ast> Visit<'ast> for Spots {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, item.block.span());
        self.documented(&item.vis, &item.attrs, &item.sig.ident);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, item.block.span());
        self.documented(&item.vis, &item.attrs, &item.sig.ident);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.function(&item.sig, item.span());
        self.document(&item.attrs, &item.sig.ident);
        visit::visit_trait_item_fn(self, item);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if matches!(&item.fields, Fields::Named(fields) if fields.named.len() > FIELDS_MAX) {
            self.note("many-fields", item.ident.span().start().line, &item.ident);
        }
        self.documented(&item.vis, &item.attrs, &item.ident);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.documented(&item.vis, &item.attrs, &item.ident);
        for variant in &item.variants {
            self.document(&variant.attrs, &variant.ident);
        }
        visit::visit_item_enum(self, item);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let Some(name) = &field.ident {
            self.document(&field.attrs, name);
        }
    }
}

fn is_tuple(ty: &Type) -> bool {
    match ty {
        Type::Tuple(tuple) => tuple.elems.len() > 1,
        Type::Reference(reference) => is_tuple(&reference.elem),
        Type::Paren(inner) => is_tuple(&inner.elem),
        _ => false,
    }
}

/// The text of `///` comments.
fn document(attributes: &[Attribute]) -> String {
    let line = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(literal) => match &literal.lit {
                Lit::Str(text) => Some(text.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(line).collect::<Vec<_>>().join(" ")
}

/// Does the documentation say only what the name says? A sign in backquotes says more than a name.
fn says_only(text: &str, name: &str) -> bool {
    let is_sign = |code: &str| !code.is_empty() && !code.contains(char::is_alphanumeric);
    if text.split('`').skip(1).step_by(2).any(is_sign) {
        return false;
    }
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    let apart: String = name
        .chars()
        .flat_map(|c| [if c.is_uppercase() { " " } else { "" }.to_owned(), c.to_string()])
        .collect();
    let mut named = words(name);
    named.extend(words(&apart));
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let adds = |word: &String| {
        !FILLERS.contains(&word.as_str()) && !named.contains(word) && !is_number(word)
    };
    !words(text).iter().any(adds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spots(source: &str) -> Places {
        let items = syn::parse_file(source).unwrap().items;
        find(&[File { name: "a.rs".to_owned(), module: Vec::new(), items }])
    }

    #[test]
    fn tuples_as_parameters_are_found() {
        let found = spots("fn f((a, b): (u8, u8), list: &[(u8, u8)], c: &(u8, u8), unit: ()) {}");
        assert_eq!(found["tuple-parameters"], ["a.rs:1 f", "a.rs:1 f"]);
    }

    #[test]
    fn functions_and_structures_have_limits() {
        let function =
            |lines: usize| format!("impl A {{ fn f() {{{} }} }}", "\n".repeat(lines - 1));
        assert_eq!(spots(&function(71))["long-functions"], ["a.rs:1 f"]);
        assert!(spots(&function(70)).is_empty());
        let structure = |fields: usize| {
            let fields: String = (0..fields).map(|n| format!("f{n}: u8,")).collect();
            format!("struct S {{ {fields} }}")
        };
        assert_eq!(spots(&structure(13))["many-fields"], ["a.rs:1 S"]);
        assert!(spots(&structure(12)).is_empty());
    }

    #[test]
    fn documentation_says_more_than_the_name() {
        let found = spots(
            "/// The item type.\npub enum ItemType {\n/// 5.\nFive }\n\
             pub enum Sign {\n/// `<=`\nLess }\n\
             pub struct S {\n/// Its limit.\npub limit: u8,\n/// Bytes a second.\npub rate: u8 }",
        );
        assert_eq!(found["empty-docs"], ["a.rs:2 ItemType", "a.rs:4 Five", "a.rs:10 limit"]);
    }
}
