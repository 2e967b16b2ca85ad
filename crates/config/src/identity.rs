//! The random id that pairs the configuration with its state and its history.

use crate::Config;
use crate::db::{DbResult, Value};
use crate::table;

/// The setting that holds the random id of the configuration.
const IDENTITY: &str = "configuration_id";

impl Config {
    /// The random id of this configuration, if it has one.
    pub fn identity(&self) -> DbResult<Option<String>> {
        self.setting("SELECT value FROM settings WHERE name = ?")
    }

    /// The random id of the configuration that the state belongs to, if it has one.
    pub fn identity_of_state(&self) -> DbResult<Option<String>> {
        self.setting("SELECT value FROM state_settings WHERE name = ?")
    }

    fn setting(&self, sql: &str) -> DbResult<Option<String>> {
        let rows = self.read(|c| c.query(sql, &[IDENTITY.into()]))?;
        Ok(rows.first().map(|row| row.text("value").to_owned()))
    }

    /// Gives the configuration its random id.
    pub fn make_identity(&self) -> DbResult<String> {
        let id = crate::objects::new_uuid()?;
        let row = [("name", Value::from(IDENTITY)), ("value", id.as_str().into())];
        self.write(|edit| edit.insert(&table::SETTINGS, &row))?;
        self.sync()?;
        Ok(id)
    }

    /// From now on the state belongs to the configuration of this id.
    pub fn pair_state(&self, id: &str) -> DbResult<()> {
        let row = [("name", Value::from(IDENTITY)), ("value", id.into())];
        self.write_state(|state| state.insert(&table::STATE_SETTINGS, &row))?;
        self.sync_state()
    }
}
