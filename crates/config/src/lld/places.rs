//! The rows that count, each with what the overrides make of it.

use eval::lld::{LldError, MacroPath, Row};
use eval::macros::FunctionEnv;

use super::OBJECTS_MAX;
use super::errors::Errors;
use super::overrides::Operation;
use super::rule::Rule;

/// One discovered thing: a row that passed the filter.
pub(super) struct Place {
    pub(super) row: Row,
    /// Indexes of the overrides whose filters it passes, up to one that stops.
    overrides: Vec<usize>,
}

impl Rule {
    /// Rows that pass the filter, equal ones once. The error makes the rule not supported.
    pub(super) fn rows(&self, text: &str, errors: &mut Errors) -> Result<Vec<Place>, String> {
        let paths: Result<Vec<MacroPath>, LldError> =
            self.paths.iter().map(|(name, path)| MacroPath::parse(name, path)).collect();
        let paths = paths.map_err(|error| error.to_string())?;
        let rows = eval::lld::parse_rows(text, &paths).map_err(|error| error.to_string())?;
        let mut places: Vec<Place> = Vec::new();
        let mut seen: std::collections::HashSet<Vec<(String, String)>> =
            std::collections::HashSet::new();
        for row in rows {
            let mut macros = row.macros().to_vec();
            macros.sort();
            if !seen.insert(macros) {
                continue;
            }
            for name in &self.filter_macros {
                if row.get(name).is_none() {
                    errors.add(format!(
                        "Cannot accurately apply filter: no value received for macro \"{name}\"."
                    ));
                }
            }
            if !self.filter.passes(&row, &self.globals).map_err(|e| filter_error(&e))? {
                continue;
            }
            let mut overrides = Vec::new();
            for (at, one) in self.overrides.iter().enumerate() {
                if one.filter.passes(&row, &self.globals).map_err(|e| filter_error(&e))? {
                    overrides.push(at);
                    if one.stop {
                        break;
                    }
                }
            }
            places.push(Place { row, overrides });
        }
        let prototypes =
            self.items.len() + self.triggers.len() + self.graphs.len() + self.hosts.len();
        let objects = places.len().saturating_mul(prototypes);
        if objects > OBJECTS_MAX {
            return Err(format!(
                "The rule would make {objects} objects ({} rows of {prototypes} prototypes), at \
                 most {OBJECTS_MAX} are made: narrow its filter.",
                places.len()
            ));
        }
        Ok(places)
    }

    /// Operations on the object of that kind and name in this row, in order.
    pub(super) fn operations<'r>(
        &'r self,
        place: &Place,
        object: i64,
        name: &str,
    ) -> Result<Vec<&'r Operation>, String> {
        let env = FunctionEnv { tz: &self.tz };
        let mut found = Vec::new();
        for operation in place.overrides.iter().flat_map(|at| &self.overrides[*at].operations) {
            if operation.object == object
                && operation
                    .applies(name, &place.row, &env, &self.globals)
                    .map_err(|e| filter_error(&e))?
            {
                found.push(operation);
            }
        }
        Ok(found)
    }
}

fn filter_error(error: &eval::regex::RegexError) -> String {
    format!("Cannot apply filter: {error}.")
}
