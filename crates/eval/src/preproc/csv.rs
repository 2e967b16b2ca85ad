//! CSV to JSON.

use std::fmt::Write as _;

use crate::json::write_string;

/// Columns in one table.
const COLUMNS_MAX: usize = 65_536;

/// Makes an array of objects. `delimiter` is one character (default comma), `quote` one
/// character or nothing, `header`: names stand in the first row, else columns are numbered
/// from 1. A first line `Sep=x` is no row; it names the delimiter
/// where the parameters do not.
pub fn csv_to_json(
    text: &str,
    delimiter: &str,
    quote: &str,
    header: bool,
) -> Result<String, String> {
    let one = |t: &str, what: &str| {
        let mut chars = t.chars();
        match (chars.next(), chars.next()) {
            (_, Some(_)) => Err(format!("the {what} must be one character")),
            (c, None) => Ok(c),
        }
    };
    let mut delimiter = one(delimiter, "delimiter")?;
    let quote = one(quote, "quotation mark")?;
    let mut rest = text;
    if let Some((separator, after)) = separator_line(text) {
        delimiter = delimiter.or(Some(separator));
        rest = after;
    }
    let delimiter = delimiter.unwrap_or(',');
    let mut reader = Reader { rest, delimiter, quote, row: 0, done: rest.is_empty() };
    let mut names = None;
    if header {
        let Some(row) = reader.row()? else { return Ok("[]".to_owned()) };
        names = Some(header_names(row)?);
    }
    let mut out = String::from("[");
    while let Some(row) = reader.row()? {
        if out.len() > 1 {
            out.push(',');
        }
        write_row(&mut out, &row, names.as_deref(), reader.row)?;
    }
    out.push(']');
    Ok(out)
}

fn separator_line(text: &str) -> Option<(char, &str)> {
    let head = text.get(..4)?;
    if !head.eq_ignore_ascii_case("sep=") {
        return None;
    }
    let mut chars = text[4..].chars();
    let separator = chars.next()?;
    let after = chars.as_str();
    let after = match after.strip_prefix("\r\n").or_else(|| after.strip_prefix('\n')) {
        Some(after) => after,
        None if after.is_empty() => after,
        None => return None,
    };
    Some((separator, after))
}

fn header_names(row: Vec<String>) -> Result<Vec<String>, String> {
    let row = if row.is_empty() { vec![String::new()] } else { row };
    let mut seen = std::collections::HashSet::new();
    for name in &row {
        if !seen.insert(name.as_str()) {
            return Err(format!("duplicate column name \"{name}\""));
        }
    }
    Ok(row)
}

fn write_row(
    out: &mut String,
    row: &[String],
    names: Option<&[String]>,
    number: usize,
) -> Result<(), String> {
    out.push('{');
    if let Some(names) = names {
        if row.len() > names.len() {
            return Err(format!("row {number} has more fields than the header"));
        }
        for (i, name) in names.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            write_string(out, name);
            out.push(':');
            write_string(out, row.get(i).map_or("", String::as_str));
        }
    } else {
        for (i, value) in row.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            let _ = write!(out, "\"{}\":", i + 1);
            write_string(out, value);
        }
    }
    out.push('}');
    Ok(())
}

struct Reader<'a> {
    rest: &'a str,
    delimiter: char,
    quote: Option<char>,
    row: usize,
    done: bool,
}

impl Reader<'_> {
    /// The next row; an empty line is a row without fields.
    fn row(&mut self) -> Result<Option<Vec<String>>, String> {
        if self.done {
            return Ok(None);
        }
        self.row += 1;
        let mut fields = Vec::new();
        if self.end_of_line() {
            return Ok(Some(fields));
        }
        loop {
            if fields.len() == COLUMNS_MAX {
                return Err(format!("row {} has too many fields", self.row));
            }
            fields.push(self.field()?);
            if let Some(after) = self.rest.strip_prefix(self.delimiter) {
                self.rest = after;
            } else if self.end_of_line() {
                return Ok(Some(fields));
            } else {
                return Err(format!(
                    "neither a delimiter nor the end of line follows a quoted field in row {}",
                    self.row
                ));
            }
        }
    }

    /// Steps over a line end, or over the end of the text.
    fn end_of_line(&mut self) -> bool {
        let after = self.rest.strip_prefix("\r\n").or_else(|| self.rest.strip_prefix('\n'));
        match after {
            Some(after) => self.rest = after,
            None if matches!(self.rest, "" | "\r") => self.done = true,
            None => return false,
        }
        true
    }

    fn field(&mut self) -> Result<String, String> {
        let Some(quote) = self.quote.filter(|q| self.rest.starts_with(*q)) else {
            let ends = |c: char| c == self.delimiter || matches!(c, '\r' | '\n');
            let len = self.rest.find(ends).unwrap_or(self.rest.len());
            let value = self.rest[..len].to_owned();
            self.rest = &self.rest[len..];
            if self.rest.starts_with('\r') && self.rest != "\r" && !self.rest.starts_with("\r\n") {
                return Err(format!("a lone carriage return in row {}", self.row));
            }
            return Ok(value);
        };
        let mut value = String::new();
        let mut rest = &self.rest[quote.len_utf8()..];
        loop {
            let Some(at) = rest.find(quote) else {
                return Err(format!("unclosed quoted field in row {}", self.row));
            };
            value.push_str(&rest[..at]);
            rest = &rest[at + quote.len_utf8()..];
            match rest.strip_prefix(quote) {
                Some(after) => {
                    value.push(quote);
                    rest = after;
                }
                None => break,
            }
        }
        self.rest = rest;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn carriage_returns_stand_before_line_feeds_or_at_the_end() {
        for (text, json) in [
            ("a,b\r\n1,2\r", Some("[{\"a\":\"1\",\"b\":\"2\"}]")),
            ("\"a\rb\",c\n1,2", Some("[{\"a\\rb\":\"1\",\"c\":\"2\"}]")),
            ("a\rb", None),
            ("a,b\n1,2\r\r\n", None),
        ] {
            assert_eq!(csv_to_json(text, ",", "\"", true).ok().as_deref(), json, "{text:?}");
        }
        assert_eq!(csv_to_json("\r", ",", "\"", false).as_deref(), Ok("[{}]"));
    }
}
