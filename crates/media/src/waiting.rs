//! Messages that wait in the database, for self-monitoring.

use std::collections::BTreeMap;

use config::db::{DbResult, Reader};
use const_format::formatcp;
use objects::{AlertStatus, AlertType};

/// Messages of a media type that are not sent yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Waiting {
    /// Name of the media type; empty: it was deleted.
    pub name: String,
    /// How many wait for an attempt or are being sent.
    pub messages: u64,
    /// When the oldest one was made, seconds since 1970; 0: there is none.
    pub oldest: u64,
}

impl Waiting {
    /// Reads the media types by id, also those without messages.
    ///
    /// # Errors
    /// The database cannot be read.
    pub fn read(connection: &mut dyn Reader) -> DbResult<BTreeMap<u64, Self>> {
        let mut all: BTreeMap<u64, Self> = BTreeMap::new();
        for row in connection.query("SELECT mediatypeid, name FROM media_types", &[])? {
            let name = row.text("name").to_owned();
            all.insert(row.id("mediatypeid"), Self { name, ..Self::default() });
        }
        // One query for each status, in the order of its index.
        let sql = formatcp!(
            "SELECT mediatypeid, COUNT(*) AS messages, MIN(clock) AS oldest FROM alerts \
             WHERE status = ? AND alerttype = {} GROUP BY mediatypeid",
            AlertType::Message.text()
        );
        for status in [AlertStatus::NotSent, AlertStatus::New] {
            for row in connection.query(sql, &[status.number().into()])? {
                let one = all.entry(row.id("mediatypeid")).or_default();
                let oldest = row.id("oldest");
                one.oldest = if one.messages == 0 { oldest } else { one.oldest.min(oldest) };
                one.messages += row.id("messages");
            }
        }
        Ok(all)
    }
}
