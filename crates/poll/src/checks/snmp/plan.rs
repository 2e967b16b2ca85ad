//! What an item's OID asks for.

use eval::key::ItemKey;
use eval::preproc::numeric_oid;
use wire::snmp::{Oid, OidRef};

/// OIDs of one item: as many as a key has room for.
const OIDS_MAX: usize = 1024;

/// What to fetch for an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// An OID alone: its value.
    Value(Oid),
    /// `get[OID]`: its value too, and errors in other words.
    Get(Oid),
    /// `walk[OID,…]`: everything below, as text.
    Walk(Vec<Root>),
    /// `OID["index","OID of names","name"]`: the value in the row that has this name.
    Index {
        /// The column of the value.
        column: Oid,
        /// The column of the names.
        names: Root,
        /// The column of the names as it is configured.
        names_text: String,
        /// The name.
        wanted: String,
    },
    /// `discovery[{#MACRO},OID,…]`: the rows of columns as JSON.
    Discovery(Vec<(String, Root)>),
}

/// Where a walk begins, and what is below.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Root {
    oid: Oid,
    /// The OID is one number: another second number is below it too.
    top: Option<u32>,
}

impl Root {
    pub(crate) const fn oid(&self) -> &Oid {
        &self.oid
    }

    pub(crate) fn holds(&self, oid: OidRef<'_>) -> bool {
        match self.top {
            Some(top) => oid.arcs().next() == Some(top),
            None => oid.is_within(self.oid.borrow()),
        }
    }
}

/// How texts of errors name what cannot be parsed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    WithReason,
}

impl Plan {
    /// Reads the OID of an item; the error is the item's.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with("get[") && text != "get[]" {
            return match &*params(text)? {
                [one] => oid(one, Style::WithReason).map(Self::Get),
                // The field's server joins the values without a word between them.
                _ => Err("Invalid SNMP OID: get[] asks for one OID.".to_owned()),
            };
        }
        if text.starts_with("walk[") {
            return walk(&params(text)?).map(Self::Walk);
        }
        if text.starts_with("discovery[") {
            return discovery(&params(text)?).map(Self::Discovery);
        }
        if text == "get[]" {
            return Err(cannot_parse(text, Style::WithReason));
        }
        match text.find('[') {
            Some(at) => index(text, at),
            None => oid(text, Style::Plain).map(Self::Value),
        }
    }
}

fn params(text: &str) -> Result<Vec<String>, String> {
    let wrong = || "Invalid SNMP OID: cannot parse parameter.".to_owned();
    let key = ItemKey::parse(text).map_err(|_| wrong())?;
    let count = key.param_count();
    if count > OIDS_MAX {
        return Err(format!("Invalid SNMP OID: it has more than {OIDS_MAX} parameters."));
    }
    (0..count).map(|at| key.param(at).ok_or_else(wrong)).collect()
}

fn cannot_parse(text: &str, style: Style) -> String {
    let text_of = |reason: &str| format!("snmp_parse_oid(): cannot parse OID \"{text}\"{reason}");
    if style == Style::Plain {
        return text_of(".");
    }
    let first = text.trim_start_matches('.').split('.').next().unwrap_or_default();
    if text.contains("::") || first.starts_with(|c: char| c.is_ascii_digit()) {
        return text_of(": Generic error");
    }
    text_of(&format!(": Generic error (Sub-id not found: (top) -> {first})"))
}

fn numbers(text: &str, style: Style) -> Result<String, String> {
    numeric_oid(text).map(Into::into).map_err(|_| cannot_parse(text, style))
}

fn oid(text: &str, style: Style) -> Result<Oid, String> {
    if text == "." {
        return Ok(Oid::from_arcs(&[0, 0]).expect("BUG: 0.0 is an OID"));
    }
    let numbers = numbers(text, style)?;
    Oid::parse(&numbers).map_err(|_| cannot_parse(text, style))
}

fn root(text: &str, style: Style) -> Result<Root, String> {
    let oid = oid(text, style)?;
    let numbers = numbers(text, style)?;
    let alone = numbers.trim_start_matches('.');
    Ok(Root { oid, top: if alone.contains('.') { None } else { alone.parse().ok() } })
}

fn walk(params: &[String]) -> Result<Vec<Root>, String> {
    if params.iter().all(String::is_empty) {
        return Err("Invalid parameters: at least one OID is expected.".to_owned());
    }
    let roots: Result<Vec<Root>, _> =
        params.iter().map(|text| root(text, Style::WithReason)).collect();
    let mut roots = roots?;
    roots.sort_unstable();
    // What is below another comes with it.
    let mut kept: Vec<Root> = Vec::with_capacity(roots.len());
    for root in roots {
        if !kept.last().is_some_and(|last| last.holds(root.oid.borrow())) {
            kept.push(root);
        }
    }
    Ok(kept)
}

fn discovery(params: &[String]) -> Result<Vec<(String, Root)>, String> {
    let pairs = params.chunks_exact(2);
    if params.is_empty() || !pairs.remainder().is_empty() {
        return Err("Invalid SNMP OID: pairs of macro and OID are expected.".to_owned());
    }
    let mut columns = Vec::with_capacity(params.len() / 2);
    for pair in pairs {
        let [name, of] = pair else { continue };
        if !is_macro(name) {
            return Err(format!("Invalid SNMP OID: macro \"{name}\" is invalid"));
        }
        if columns.iter().any(|(known, _)| known == name) {
            return Err("Invalid SNMP OID: unique macros are expected.".to_owned());
        }
        columns.push((name.clone(), root(of, Style::Plain)?));
    }
    Ok(columns)
}

fn is_macro(text: &str) -> bool {
    let name = text.strip_prefix("{#").and_then(|rest| rest.strip_suffix('}'));
    let is_part = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_' || b == b'.';
    name.is_some_and(|name| !name.is_empty() && name.bytes().all(is_part))
}

fn index(text: &str, at: usize) -> Result<Plan, String> {
    let unsupported = || format!("OID \"{text}\" contains unsupported parameters.");
    let (column, rest) = text.split_at(at);
    // What stands behind the bracket has no meaning.
    let end = rest.rfind(']').ok_or_else(unsupported)?;
    let key = format!("k{}", &rest[..=end]);
    let key = ItemKey::parse(&key).map_err(|_| unsupported())?;
    if key.param_count() != 3 {
        return Err(unsupported());
    }
    let param = |at| key.param(at).ok_or_else(unsupported);
    let (method, names_text, wanted) = (param(0)?, param(1)?, param(2)?);
    if method != "index" {
        return Err(format!("Unsupported method \"{method}\" in the OID \"{text}\"."));
    }
    let names = root(&names_text, Style::Plain)?;
    Ok(Plan::Index { column: oid(column, Style::Plain)?, names, names_text, wanted })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        match Plan::parse(text) {
            Ok(Plan::Value(oid)) => format!("value {oid}"),
            Ok(Plan::Get(oid)) => format!("get {oid}"),
            Ok(Plan::Walk(roots)) => {
                format!("walk {:?}", roots.iter().map(Root::oid).collect::<Vec<_>>())
            }
            Ok(Plan::Index { column, names, wanted, .. }) => {
                format!("{column} where {} = {wanted}", names.oid())
            }
            Ok(Plan::Discovery(columns)) => {
                format!("{:?}", columns.iter().map(|(n, r)| (n, r.oid())).collect::<Vec<_>>())
            }
            Err(why) => why,
        }
    }

    /// As the field's server takes them and complains.
    #[test]
    fn oids_of_items() {
        let unknown = "snmp_parse_oid(): cannot parse OID";
        for (text, wanted) in [
            ("1.3.6.1.2.1.1.5.0", "value .1.3.6.1.2.1.1.5.0".to_owned()),
            (".iso.3.6.1", "value .1.3.6.1".to_owned()),
            ("ifDescr.1", "value .1.3.6.1.2.1.2.2.1.2.1".to_owned()),
            ("", format!("{unknown} \"\".")),
            ("x y", format!("{unknown} \"x y\".")),
            ("1.3.6.", format!("{unknown} \"1.3.6.\".")),
            ("get", format!("{unknown} \"get\".")),
            (
                "get[]",
                format!("{unknown} \"get[]\": Generic error (Sub-id not found: (top) -> get[])"),
            ),
            ("get[x]", format!("{unknown} \"x\": Generic error (Sub-id not found: (top) -> x)")),
            ("get[A::b]", format!("{unknown} \"A::b\": Generic error")),
            ("get[1.3.6.1]", "get .1.3.6.1".to_owned()),
            ("get[\"1.3.6.1\"]", "get .1.3.6.1".to_owned()),
            ("get[1.3.6.2,1.3.6.1]", "Invalid SNMP OID: get[] asks for one OID.".to_owned()),
            ("get[1.3.6.1", "Invalid SNMP OID: cannot parse parameter.".to_owned()),
            ("get[1.3.6.1]x", "Invalid SNMP OID: cannot parse parameter.".to_owned()),
            ("walk[]", "Invalid parameters: at least one OID is expected.".to_owned()),
            ("walk[1.3.6.2,1.3.6.1.5,1.3.6.1]", "walk [.1.3.6.1, .1.3.6.2]".to_owned()),
            ("walk[1,1.3.6]", "walk [.1.0]".to_owned()),
            ("discovery[{#A},1.3,{#B},1.4]", "[(\"{#A}\", .1.3), (\"{#B}\", .1.4)]".to_owned()),
            ("discovery[A,1.3]", "Invalid SNMP OID: macro \"A\" is invalid".to_owned()),
            (
                "discovery[{#A}]",
                "Invalid SNMP OID: pairs of macro and OID are expected.".to_owned(),
            ),
            ("discovery[{#A},x]", format!("{unknown} \"x\".")),
            ("1.3[\"index\",\"1.4\",\"n\"]", ".1.3 where .1.4 = n".to_owned()),
            ("1.3[\"index\",\"1.4\",\"n\"].5", ".1.3 where .1.4 = n".to_owned()),
            (
                "1.3[\"ix\",\"1.4\",\"n\"]",
                "Unsupported method \"ix\" in the OID \"1.3[\"ix\",\"1.4\",\"n\"]\".".to_owned(),
            ),
            (
                "1.3[index,1.4]",
                "OID \"1.3[index,1.4]\" contains unsupported parameters.".to_owned(),
            ),
            ("getx[1]", "OID \"getx[1]\" contains unsupported parameters.".to_owned()),
        ] {
            assert_eq!(parsed(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_single_number_holds_all_below() {
        let Ok(Plan::Walk(roots)) = Plan::parse("walk[1]") else { panic!() };
        let holds = |text: &str| roots[0].holds(Oid::parse(text).unwrap().borrow());
        assert!(holds("1.3.6.1") && holds("1.0.1") && !holds("2.3"));
    }
}
