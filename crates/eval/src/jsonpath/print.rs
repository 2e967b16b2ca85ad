//! Paths back into text.

use std::fmt::{self, Write};

use super::filter::{Node, OPS};
use super::parse::{Path, Segment, Selector};

/// Binds tighter than every operator of two operands.
const OPERAND: u8 = 6;

/// A path that is parsed to the same tree again: dots where a name allows it, else brackets.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('$')?;
        segments(f, self)
    }
}

fn segments(f: &mut fmt::Formatter<'_>, path: &Path) -> fmt::Result {
    for segment in &path.segments {
        match segment {
            Segment::Name => f.write_char('~')?,
            Segment::Function { function, deep } => {
                write!(f, "{}{}()", if *deep { ".." } else { "." }, function.name())?;
            }
            Segment::Select { selector, deep } => select(f, selector, *deep)?,
        }
    }
    Ok(())
}

fn select(f: &mut fmt::Formatter<'_>, selector: &Selector, deep: bool) -> fmt::Result {
    let dots = if deep { ".." } else { "." };
    match selector {
        Selector::All => return write!(f, "{dots}*"),
        Selector::Names(names) => {
            if let [name] = &names[..]
                && is_plain(name)
            {
                return write!(f, "{dots}{name}");
            }
        }
        _ => {}
    }
    f.write_str(if deep { "..[" } else { "[" })?;
    match selector {
        Selector::All => f.write_char('*')?,
        Selector::Names(names) => list(f, names, |f, name| quoted(f, name, '\''))?,
        Selector::Indexes(indexes) => list(f, indexes, |f, index| write!(f, "{index}"))?,
        Selector::Slice(first, last) => {
            first.iter().try_for_each(|first| write!(f, "{first}"))?;
            f.write_char(':')?;
            last.iter().try_for_each(|last| write!(f, "{last}"))?;
        }
        Selector::Filter(filter) => {
            f.write_str("?(")?;
            node(f, &filter.root, 0)?;
            f.write_char(')')?;
        }
    }
    f.write_char(']')
}

fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii();
    !name.is_empty() && name.chars().all(plain)
}

fn list<T>(
    f: &mut fmt::Formatter<'_>,
    values: &[T],
    mut write: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (at, value) in values.iter().enumerate() {
        if at > 0 {
            f.write_char(',')?;
        }
        write(f, value)?;
    }
    Ok(())
}

fn quoted(f: &mut fmt::Formatter<'_>, value: &str, quote: char) -> fmt::Result {
    f.write_char(quote)?;
    for c in value.chars() {
        if c == quote || c == '\\' {
            f.write_char('\\')?;
        }
        f.write_char(c)?;
    }
    f.write_char(quote)
}

fn node(f: &mut fmt::Formatter<'_>, it: &Node, level: u8) -> fmt::Result {
    match it {
        // Rust's form has all digits, as paths write them.
        Node::Number(number) => write!(f, "{number:?}"),
        Node::Text(text) => quoted(f, text, '"'),
        Node::Path { path, from_root } => {
            f.write_char(if *from_root { '$' } else { '@' })?;
            segments(f, path)
        }
        Node::Not(inner) => {
            f.write_char('!')?;
            // Two signs in a row are none.
            let enclosed = matches!(**inner, Node::Not(_));
            if enclosed {
                f.write_char('(')?;
            }
            node(f, inner, OPERAND)?;
            if enclosed { f.write_char(')') } else { Ok(()) }
        }
        Node::Binary { op, left, right } => {
            let known = OPS.iter().find(|(_, known, _)| known == op);
            let (sign, tightness) = known.map_or(("", 0), |(sign, _, level)| (*sign, *level));
            let enclosed = tightness < level;
            if enclosed {
                f.write_char('(')?;
            }
            node(f, left, tightness)?;
            write!(f, " {sign} ")?;
            node(f, right, tightness + 1)?;
            if enclosed { f.write_char(')') } else { Ok(()) }
        }
    }
}
