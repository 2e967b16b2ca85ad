//! `docs/macros.md` says what the table of macros says.

use eval::macros::{Group, MACROS, TABLE, UserMacros};

const PAGE: &str = include_str!("../../../../docs/macros.md");

fn names(groups: &[Group]) -> String {
    let of = |group: &Group| MACROS.iter().find(|(known, _)| known == group);
    let listed = groups.iter().filter_map(of).flat_map(|(_, names)| names.iter());
    listed.map(|name| format!("`{{{name}}}`")).collect::<Vec<_>>().join(" ")
}

fn table() -> String {
    let mut out = String::from(
        "| Place | Built-in macros | With a number | `{?expression}` | `$1` | Secrets |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    let word = |flag: bool| if flag { "yes" } else { "" };
    for row in TABLE {
        let secrets = match row.user {
            UserMacros::Masked => "asterisks",
            UserMacros::Bare => "value",
        };
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {secrets} |\n",
            row.title,
            names(row.groups),
            word(row.indexed),
            word(row.expressions),
            word(row.constants),
        ));
    }
    out
}

#[test]
fn the_page_shows_the_table() {
    let expected = table();
    assert!(PAGE.contains(&expected), "docs/macros.md must hold this table:\n{expected}");
}
