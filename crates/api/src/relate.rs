//! Objects of one kind shown inside another: the `select…` options.

use std::collections::{BTreeMap, HashSet};

use serde_json::Map;

use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::{Found, Output};
use crate::{params, rpc};

/// How rows relate to objects of another `get` method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relation {
    /// Member that the rows get.
    pub(crate) member: &'static str,
    /// Method that gives the related objects.
    pub(crate) method: &'static str,
    /// Its option that takes their ids.
    pub(crate) ids_option: &'static str,
    /// Their id field.
    pub(crate) key: &'static str,
    /// The id goes out only when asked for, even if the method always gives it.
    pub(crate) bare: bool,
    /// `limitSelects` cuts the list in the order of this field.
    pub(crate) sort: Option<&'static str>,
    /// A flag of the other method that is set.
    pub(crate) flag: Option<&'static str>,
}

impl Relation {
    /// A plain relation.
    pub(crate) const fn new(
        member: &'static str,
        method: &'static str,
        ids_option: &'static str,
        key: &'static str,
    ) -> Self {
        Self { member, method, ids_option, key, bare: false, sort: None, flag: None }
    }

    /// The id goes out only when asked for.
    pub(crate) const fn bare(self) -> Self {
        Self { bare: true, ..self }
    }

    /// The other method is called with this flag set.
    pub(crate) const fn with(self, flag: &'static str) -> Self {
        Self { flag: Some(flag), ..self }
    }

    /// `limitSelects` works, in the order of `field`.
    pub(crate) const fn sorted(self, field: &'static str) -> Self {
        Self { sort: Some(field), ..self }
    }
}

impl Found<'_, '_> {
    /// Adds `member` to each row: the objects that `pairs` (row id, object id) relate to it, as the
    /// other `get` method gives them, or their number.
    pub(crate) fn relate(
        &mut self,
        member: &'static str,
        wanted: &Output,
        pairs: &[(u64, u64)],
        method: &'static str,
        ids_option: &'static str,
        key: &'static str,
    ) -> ApiResult<()> {
        self.relate_as(&Relation::new(member, method, ids_option, key), wanted, pairs)
    }

    /// The same, by a description of the relation. A method that does not exist relates nothing.
    pub(crate) fn relate_as(
        &mut self,
        relation: &Relation,
        wanted: &Output,
        pairs: &[(u64, u64)],
    ) -> ApiResult<()> {
        let limit = self.option("limitSelects").and_then(|v| params::int(v, "").ok());
        let limit = limit.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0);
        let sort = relation.sort.filter(|_| limit.is_some());
        let found = self.call.related(relation, pairs, wanted, sort)?;
        let place: BTreeMap<u64, usize> =
            found.keys().enumerate().filter_map(|(n, id)| Some((id.parse().ok()?, n))).collect();
        let mut of_row: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        let mut seen = HashSet::new();
        for (owner, target) in pairs {
            if place.contains_key(target) && seen.insert((*owner, *target)) {
                of_row.entry(*owner).or_default().push(*target);
            }
        }
        for row in &mut self.rows {
            let mut related = of_row.remove(&row.id).unwrap_or_default();
            if sort.is_some() {
                related.sort_by_key(|id| place.get(id));
                related.truncate(limit.unwrap_or(usize::MAX));
            }
            let value = if *wanted == Output::Count {
                Json::String(related.len().to_string())
            } else {
                related.iter().filter_map(|id| found.get(&id.to_string()).cloned()).collect()
            };
            row.out.insert(relation.member.to_owned(), value);
        }
        Ok(())
    }

    /// Adds `member` to each row: the one object that `pairs` relate to it, or an empty array.
    pub(crate) fn relate_one(
        &mut self,
        relation: &Relation,
        wanted: &Output,
        pairs: &[(u64, u64)],
    ) -> ApiResult<()> {
        let found = self.call.related(relation, pairs, wanted, None)?;
        let of_row: BTreeMap<u64, u64> = pairs.iter().copied().collect();
        for row in &mut self.rows {
            let one = of_row.get(&row.id).and_then(|id| found.get(&id.to_string()).cloned());
            row.out.insert(relation.member.to_owned(), one.unwrap_or_else(|| Json::Array(vec![])));
        }
        Ok(())
    }
}

impl Call<'_> {
    /// The related objects by id, with this user's rights, in the order of `sort`.
    fn related(
        &self,
        relation: &Relation,
        pairs: &[(u64, u64)],
        wanted: &Output,
        sort: Option<&str>,
    ) -> ApiResult<Map<String, Json>> {
        let mut targets: Vec<u64> = pairs.iter().map(|(_, target)| *target).collect();
        targets.sort_unstable();
        targets.dedup();
        let key = relation.key;
        let mut found = self.get_sorted(relation, &targets, wanted, sort)?;
        if relation.bare && *wanted != Output::Count && !wanted.has(key) {
            for object in found.values_mut().filter_map(Json::as_object_mut) {
                object.shift_remove(key);
            }
        }
        Ok(found)
    }

    /// Objects of another `get` by id, with this user's rights. A method that does not exist (yet)
    /// or that is not for this type of user gives nothing: what the user cannot read is not shown.
    pub(crate) fn get_keyed(
        &self,
        method: &'static str,
        ids_option: &'static str,
        key: &'static str,
        ids: &[u64],
        output: &Output,
    ) -> ApiResult<Map<String, Json>> {
        self.get_sorted(&Relation::new("", method, ids_option, key), ids, output, None)
    }

    fn get_sorted(
        &self,
        relation: &Relation,
        ids: &[u64],
        output: &Output,
        sort: Option<&str>,
    ) -> ApiResult<Map<String, Json>> {
        let Relation { method, ids_option, key, .. } = *relation;
        let admitted = rpc::lowest_type(method).is_none_or(|lowest| self.user().kind >= lowest);
        if ids.is_empty() || !rpc::knows(method) || !admitted {
            return Ok(Map::new());
        }
        let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
        let wanted = match output {
            Output::Count => Json::Array(vec![key.into()]),
            other => other.to_json(),
        };
        let mut params = serde_json::json!({
            ids_option: ids, "output": wanted, "preservekeys": true, "sortfield": sort,
        });
        if let Some(flag) = relation.flag {
            params[flag] = true.into();
        }
        match rpc::run_inner(self, method, &params)? {
            Json::Object(found) => Ok(found),
            _ => Ok(Map::new()),
        }
    }
}
