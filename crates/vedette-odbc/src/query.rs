//! One query over one connection.

use odbc_api::{ConnectionOptions, Cursor, CursorRow, Environment, Error, ResultSetMetadata};

use crate::{Answer, Request};

/// Asks the database.
pub(crate) fn run(environment: &Environment, request: &Request) -> Answer {
    result(environment, request).unwrap_or_else(Answer::Error)
}

fn result(environment: &Environment, request: &Request) -> Result<Answer, String> {
    let no_connection = |e: Error| format!("Cannot connect to ODBC DSN: {}", said(&e));
    let no_query = |e: Error| format!("Cannot execute ODBC query: {}", said(&e));
    let options = ConnectionOptions {
        login_timeout_sec: Some(request.timeout_s),
        ..ConnectionOptions::default()
    };
    let connection = environment
        .connect_with_connection_string(&request.connection, options)
        .map_err(no_connection)?;
    let timeout = usize::try_from(request.timeout_s).ok();
    let cursor = connection.execute(&request.query, (), timeout).map_err(no_query)?;
    let Some(mut cursor) = cursor else {
        return Err("Cannot execute ODBC query: [SQL_NO_DATA]".to_owned());
    };
    let count = cursor.num_result_cols().map_err(no_query)?;
    let count = u16::try_from(count).unwrap_or(0);
    let count = count.min(u16::try_from(request.columns_max).unwrap_or(u16::MAX));
    let mut columns = Vec::new();
    for column in 1..=count {
        columns.push(cursor.col_name(column).map_err(no_query)?);
    }
    let mut rows = Vec::new();
    let mut left = request.bytes_max;
    while rows.len() < request.rows_max {
        let Some(mut row) = cursor.next_row().map_err(no_query)? else { break };
        let mut values = Vec::new();
        for column in 1..=count {
            let value = value(&mut row, column).map_err(no_query)?;
            // What a value costs beside its bytes.
            let size = value.as_ref().map_or(0, String::len) + 8;
            left = left.checked_sub(size).ok_or_else(|| {
                format!("The result has more than {} MiB.", request.bytes_max >> 20)
            })?;
            values.push(value);
        }
        rows.push(values);
    }
    Ok(Answer::Rows { columns, rows })
}

/// A value as text, without the blanks at its end; `None` = null.
fn value(row: &mut CursorRow<'_>, column: u16) -> Result<Option<String>, Error> {
    let mut text = Vec::new();
    if !row.get_wide_text(column, &mut text)? {
        return Ok(None);
    }
    let mut text = String::from_utf16_lossy(&text);
    text.truncate(text.find('\0').unwrap_or(text.len()));
    text.truncate(text.trim_end_matches(' ').len());
    Ok(Some(text))
}

/// An error as the field writes it.
pub(crate) fn said(error: &Error) -> String {
    match error {
        Error::Diagnostics { record, .. } => {
            let message = String::from_utf16_lossy(&record.message);
            let (state, native) = (record.state.as_str(), record.native_error);
            format!("[SQL_ERROR]:[{state}][{native}][{message}]")
        }
        other => other.to_string(),
    }
}
