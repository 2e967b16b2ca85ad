//! JSONPath in the field's dialect: filters with arithmetic and `=~`, `~` for names,
//! functions (`min max avg sum length first`), detached paths (`$.x`) inside filters.

mod filter;
mod parse;
mod print;
mod shared;

pub use parse::{DEPTH_MAX, Path, PathError};

use crate::json::{self, Extent, Json, JsonError};
use crate::num::{format_f64, parse_f64};
use filter::FilterError;
use parse::{Function, Segment, Selector};

/// Matches that one query may collect.
pub const MATCHES_MAX: usize = 1_000_000;

/// Why a query fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// The document is neither a JSON object nor an array.
    #[error(transparent)]
    Document(#[from] JsonError),
    /// The path is wrong.
    #[error(transparent)]
    Path(#[from] PathError),
    /// A function does not go with what the path found.
    #[error("{0}")]
    Function(&'static str),
    /// A function over something that is not a number.
    #[error("array value is not a number or out of range: {0}")]
    NotNumeric(String),
    /// A filter cannot be evaluated.
    #[error("{0}")]
    Filter(String),
    /// The query matches too much.
    #[error("the query matches too many values")]
    TooMany,
}

/// Parses document and path and gives what the path finds: a scalar as plain text, several
/// matches or a container as JSON; `None` = nothing.
pub fn query(document: &str, path: &str) -> Result<Option<String>, QueryError> {
    let path = match Path::parse(path) {
        Ok(path) => path,
        // What is wrong with the document is said first.
        Err(error) => {
            json::parse_first_container(document)?;
            return Err(error.into());
        }
    };
    path.query_text(document, Extent::Start)
}

/// What a path holds on its way: a place in the document, a name (`~`) or a computed number.
#[derive(Debug, Clone)]
enum Found<'j, 'a> {
    Value { name: Option<Name<'j>>, value: &'j Json<'a> },
    Name(Name<'j>),
    Number(f64),
}

#[derive(Debug, Clone)]
enum Name<'j> {
    Text(&'j str),
    Index(usize),
}

impl Name<'_> {
    fn to_text(&self) -> String {
        match self {
            Self::Text(text) => (*text).to_owned(),
            Self::Index(index) => index.to_string(),
        }
    }
}

impl Found<'_, '_> {
    fn to_plain(&self) -> String {
        match self {
            Self::Value { value, .. } => value.to_plain(),
            Self::Name(name) => name.to_text(),
            Self::Number(number) => format_f64(*number),
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Value { value, .. } => value.write(out),
            Self::Name(name) => json::write_string(out, &name.to_text()),
            Self::Number(number) => out.push_str(&format_f64(*number)),
        }
    }

    fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Value { value: Json::Number(number), .. } => parse_f64(number),
            Self::Value { value: Json::Text(text), .. } => parse_f64(text),
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }
}

impl Path {
    /// Runs the path over the text of a document, of which no more is kept than the path asks for.
    /// A large document that is asked again and again is parsed once for all.
    pub fn query_text(&self, text: &str, extent: Extent) -> Result<Option<String>, QueryError> {
        if let Some(result) = shared::query(text, extent, |document| self.query(document)) {
            return result;
        }
        if let Some(way) = &self.way {
            let found = json::find(text, extent, way)?;
            return Ok(found.map(|value| value.to_plain()));
        }
        self.query(&match extent {
            Extent::Whole => json::parse_container(text)?,
            Extent::Start => json::parse_first_container(text)?,
        })
    }

    /// Runs the path over a document.
    pub fn query(&self, document: &Json<'_>) -> Result<Option<String>, QueryError> {
        let (found, definite) = self.run(document, document)?;
        Ok(match &found[..] {
            [] => None,
            [one] if definite => Some(one.to_plain()),
            many => {
                let mut out = String::from("[");
                for (i, value) in many.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    value.write(&mut out);
                }
                out.push(']');
                Some(out)
            }
        })
    }

    /// Matches in document order, and whether there can be at most one. `$` is `root`; a
    /// detached path in a filter starts at `at`.
    fn run<'j, 'a>(
        &self,
        root: &'j Json<'a>,
        at: &'j Json<'a>,
    ) -> Result<(Vec<Found<'j, 'a>>, bool), QueryError> {
        let mut found = vec![Found::Value { name: None, value: at }];
        let mut definite = true;
        for segment in &self.segments {
            found = match segment {
                Segment::Select { selector, deep } => {
                    definite &= !deep && selector.is_single();
                    select(root, &found, selector, *deep)?
                }
                Segment::Name if found.is_empty() => {
                    return Err(QueryError::Function(NO_NAME));
                }
                Segment::Name => names(found),
                // Where there can be one match, there has to be one; of many there may be none.
                Segment::Function { .. } if definite && found.is_empty() => {
                    return Err(QueryError::Function(NO_ARRAY));
                }
                Segment::Function { function, deep } => {
                    let result = apply(*function, found, definite && !deep)?;
                    definite = true;
                    result.into_iter().collect()
                }
            };
            if found.len() > MATCHES_MAX {
                return Err(QueryError::TooMany);
            }
        }
        Ok((found, definite))
    }
}

/// The root, names and results of functions have an empty name.
fn names<'j, 'a>(found: Vec<Found<'j, 'a>>) -> Vec<Found<'j, 'a>> {
    let name = |f| match f {
        Found::Value { name: Some(name), .. } => Found::Name(name),
        _ => Found::Name(Name::Text("")),
    };
    found.into_iter().map(name).collect()
}

fn select<'j, 'a>(
    root: &'j Json<'a>,
    from: &[Found<'j, 'a>],
    selector: &Selector,
    deep: bool,
) -> Result<Vec<Found<'j, 'a>>, QueryError> {
    let mut out = Vec::new();
    for found in from {
        let Found::Value { value, .. } = found else { continue };
        walk(root, value, selector, deep, &mut out)?;
    }
    Ok(out)
}

/// Matches among the children, then (`deep`) among theirs; the tree's depth is bounded.
fn walk<'j, 'a>(
    root: &'j Json<'a>,
    value: &'j Json<'a>,
    selector: &Selector,
    deep: bool,
    out: &mut Vec<Found<'j, 'a>>,
) -> Result<(), QueryError> {
    children(root, value, selector, out)?;
    if out.len() > MATCHES_MAX {
        return Err(QueryError::TooMany);
    }
    if deep {
        match value {
            Json::Array(elements) => {
                for element in elements {
                    walk(root, element, selector, deep, out)?;
                }
            }
            Json::Object(members) => {
                for (_, member) in members {
                    walk(root, member, selector, deep, out)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn children<'j, 'a>(
    root: &'j Json<'a>,
    value: &'j Json<'a>,
    selector: &Selector,
    out: &mut Vec<Found<'j, 'a>>,
) -> Result<(), QueryError> {
    match (selector, value) {
        (Selector::Names(names), Json::Object(members)) => {
            for wanted in names {
                let member = members.iter().rev().find(|(n, _)| n == wanted);
                out.extend(
                    member.map(|(n, value)| Found::Value { name: Some(Name::Text(n)), value }),
                );
            }
        }
        (Selector::All, Json::Object(members)) => out.extend(members.iter().map(named)),
        (Selector::All, Json::Array(elements)) => {
            out.extend(elements.iter().enumerate().map(|(i, value)| indexed(i, value)));
        }
        (Selector::Indexes(wanted), Json::Array(elements)) => {
            for index in wanted {
                if let Some((i, value)) = at_index(elements, *index) {
                    out.push(indexed(i, value));
                }
            }
        }
        (Selector::Slice(from, to), Json::Array(elements)) => {
            let range = slice(elements.len(), *from, *to);
            out.extend(range.map(|i| indexed(i, &elements[i])));
        }
        (Selector::Filter(filter), Json::Object(members)) => {
            for member in members {
                if filter.holds(root, &member.1).map_err(FilterError::into_query)? {
                    out.push(named(member));
                }
            }
        }
        (Selector::Filter(filter), Json::Array(elements)) => {
            for (i, element) in elements.iter().enumerate() {
                if filter.holds(root, element).map_err(FilterError::into_query)? {
                    out.push(indexed(i, element));
                }
            }
        }
        _ => {}
    }
    Ok(())
}

fn named<'j, 'a>((name, value): &'j (std::borrow::Cow<'a, str>, Json<'a>)) -> Found<'j, 'a> {
    Found::Value { name: Some(Name::Text(name)), value }
}

fn indexed<'j, 'a>(index: usize, value: &'j Json<'a>) -> Found<'j, 'a> {
    Found::Value { name: Some(Name::Index(index)), value }
}

fn at_index<'j, 'a>(elements: &'j [Json<'a>], index: i64) -> Option<(usize, &'j Json<'a>)> {
    let index = if index < 0 {
        elements.len().checked_sub(usize::try_from(index.unsigned_abs()).ok()?)?
    } else {
        usize::try_from(index).ok()?
    };
    Some((index, elements.get(index)?))
}

fn slice(len: usize, from: Option<i64>, to: Option<i64>) -> std::ops::Range<usize> {
    let place = |index: i64| {
        let size = usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX);
        if index < 0 { len.saturating_sub(size) } else { size.min(len) }
    };
    let (from, to) = (from.map_or(0, place), to.map_or(len, place));
    from..to.max(from)
}

/// What `~` says that finds nothing.
const NO_NAME: &str = "cannot extract name from empty result";

/// What a function says that finds no array.
const NO_ARRAY: &str = "cannot apply function to non-array JSON element";

/// What `sum()` and others say that find something that cannot be a number.
const NO_NUMBER: &str = "array value type is not a number or string";

/// Functions look at all matches; of a definite path at the elements of the array found.
fn apply<'j, 'a>(
    function: Function,
    found: Vec<Found<'j, 'a>>,
    definite: bool,
) -> Result<Option<Found<'j, 'a>>, QueryError> {
    let list = if definite {
        match &found[..] {
            [] => return Ok(None),
            [Found::Value { value: Json::Array(elements), .. }, ..] => {
                elements.iter().enumerate().map(|(i, v)| indexed(i, v)).collect()
            }
            _ => {
                return Err(QueryError::Function(NO_ARRAY));
            }
        }
    } else {
        found
    };
    if function == Function::Length {
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        return Ok(Some(Found::Number(list.len() as f64)));
    }
    if function == Function::First {
        return Ok(list.into_iter().next());
    }
    if list.is_empty() {
        return Err(QueryError::Function("cannot apply aggregation function to empty array"));
    }
    let mut numbers = Vec::with_capacity(list.len());
    for value in &list {
        let number = match value {
            Found::Value { value: Json::Number(_) | Json::Text(_), .. } | Found::Number(_) => {
                value.as_f64().ok_or_else(|| QueryError::NotNumeric(value.to_plain()))?
            }
            Found::Name(name) => {
                let text = name.to_text();
                parse_f64(&text).ok_or(QueryError::NotNumeric(text))?
            }
            Found::Value { .. } => return Err(QueryError::Function(NO_NUMBER)),
        };
        numbers.push(number);
    }
    let result = match function {
        Function::Min => crate::stats::min(&numbers),
        Function::Max => crate::stats::max(&numbers),
        Function::Avg => crate::stats::avg(&numbers),
        _ => crate::stats::sum(&numbers),
    };
    let number = result.ok_or(QueryError::Function("invalid function result: INF"))?;
    Ok(Some(Found::Number(number)))
}

#[cfg(test)]
mod function_tests;

#[cfg(test)]
mod tests {
    use super::*;

    const STORE: &str = r#"{"b":[{"t":"one","p":8.50,"id":1},{"t":"two","p":12,"id":2},
        {"t":"three \"3\"","p":"20","id":3,"x":{"y":[1,2]}}],"f":{"p":10,"n o":null},"e":[]}"#;

    #[test]
    fn paths() {
        for (path, out) in [
            ("$.f.p", Some("10")),
            ("$['f']['p']", Some("10")),
            ("$.f[\"n o\"]", Some("null")),
            ("$.b[0].p", Some("8.5")),
            ("$.b[-1].t", Some("three \"3\"")),
            ("$.b[5]", None),
            ("$.b[0:2].id", Some("[1,2]")),
            ("$.b[-2:].id", Some("[2,3]")),
            ("$.b[0,2].id", Some("[1,3]")),
            ("$.b[*].id", Some("[1,2,3]")),
            ("$.b.*.id", Some("[1,2,3]")),
            ("$..id", Some("[1,2,3]")),
            ("$..y[1]", Some("[2]")),
            ("$.b[?(@.p > 10)].t", Some("[\"two\",\"three \\\"3\\\"\"]")),
            ("$.b[?(@.p > $.f.p && @.id == 2)].id", Some("[2]")),
            ("$.b[?(@.id == 1 || @.x.y[1] == 2)].id", Some("[1,3]")),
            ("$.b[?(!@.x)].id", Some("[1,2]")),
            ("$.b[?(@.t =~ \"^t\")].id", Some("[2,3]")),
            ("$.b[?(@.id * 2 - 1 >= 3)].id", Some("[2,3]")),
            // A comparison gives 1 or 0; what is missing comes before everything.
            ("$.b[?(@.id == 2 == 1)].id", Some("[2]")),
            ("$.b[?(@.id != 2 != 1)].id", Some("[2]")),
            ("$.b[?(@.none < 2)].id", Some("[1,2,3]")),
            ("$.b[?(@.none == @.nothing && @.none != '')].id", Some("[1,2,3]")),
            ("$.b[?(@.none > 0 || @.none =~ '')].id", None),
            ("$.b[?(@.id - -1 == 2)].id", Some("[1]")),
            ("$.b[0,0].id", Some("1")),
            ("$['f','f'].p", Some("10")),
            ("$.b.length()", Some("3")),
            ("$.b[*].p.max()", Some("20")),
            ("$.b[*].p.sum()", Some("40.5")),
            ("$.b[*].id.avg()", Some("2")),
            ("$.b[*].id.min()", Some("1")),
            ("$.f~", Some("f")),
            ("$.*~", Some("[\"b\",\"f\",\"e\"]")),
            ("$.b[?(@.id==9)].id", None),
            ("$.e.length()", Some("0")),
        ] {
            assert_eq!(query(STORE, path).unwrap().as_deref(), out, "{path}");
        }
    }

    #[test]
    fn refused() {
        for path in [
            "",
            "b",
            "$b",
            "$.",
            "$.b[",
            "$.b['",
            "$.b[?(@.id",
            "$.b[?(@.id == )]",
            "$.b[1:x]",
            "$.b[?(@.t =~ \"[a\")]",
            "$.f.p.length()",
            "$.e.max()",
            "$.b.nothing()",
            "$...a",
            // Filters take paths to one place, and no sign before them.
            "$.b[?(@.x.y.length() == 2)]",
            "$.b[?(@..id)]",
            "$.b[?(@.*)]",
            "$.b[?(@.x[-1])]",
            "$.b[?(-@.id == -1)]",
            "$.b[?(!!@.id)]",
            "$.b[? (@.id)]",
            "$.b[*].t.sum()",
        ] {
            assert!(query(STORE, path).is_err(), "{path}");
        }
        let found =
            query("[{\"v\":0},{\"v\":false},{\"v\":null},{\"v\":\"\"}]", "$[?(@.v)]").unwrap();
        assert_eq!(found.as_deref(), Some("[{\"v\":0},{\"v\":false}]"));
        let deep = format!("$.b[?({}1{})]", "(".repeat(5000), ")".repeat(5000));
        assert!(query(STORE, &deep).is_err());
        assert!(query("abc", "$").is_err());
    }
}
