//! Objects of one kind shown inside another: the `select…` options.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use foldhash::fast::RandomState;
use serde_json::Map;

use crate::answer::{Answer, Hold, separate};
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::get::{Found, Output};
use crate::object::Object;
use crate::{params, rpc};

/// Ids of one call of another method: these are parameters of a statement, more are its text.
const PORTION: usize = 1_000;

/// How rows relate to objects of another `get` method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Relation {
    /// Member that the rows get.
    pub(crate) member: &'static str,
    /// What the related objects are; `None` = objects that no method serves yet: none is shown.
    pub(crate) target: Option<&'static Object>,
    /// The id goes out only when asked for, even if the method always gives it.
    pub(crate) bare: bool,
    /// `limitSelects` cuts the list in the order of this field.
    pub(crate) sort: Option<&'static str>,
    /// A flag of the other method that is set.
    pub(crate) flag: Option<&'static str>,
}

impl Relation {
    /// A plain relation.
    pub(crate) const fn new(member: &'static str, target: &'static Object) -> Self {
        Self { target: Some(target), ..Self::unserved(member) }
    }

    /// A relation to objects that no method serves yet.
    pub(crate) const fn unserved(member: &'static str) -> Self {
        Self { member, target: None, bare: false, sort: None, flag: None }
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

/// What a `select…` option of a strict object asks for: some of these fields, or their number.
pub(crate) fn wanted_of(input: &Json, option: &str, fields: &[&str]) -> ApiResult<Option<Output>> {
    let Some(value) = input.get(option) else { return Ok(None) };
    let Some(wanted) = Output::parse(value, &format!("/{option}"))? else { return Ok(None) };
    wanted.only(option, fields)?;
    Ok(Some(match wanted {
        Output::Extend => Output::Fields(fields.iter().map(ToString::to_string).collect()),
        other => other,
    }))
}

impl Found<'_, '_> {
    /// Adds the relation's member to each row: the objects that `pairs` (row id, object id) relate to
    /// it, as the other `get` method gives them, or their number.
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
        let mut of_row: HashMap<u64, Vec<u64>, RandomState> = HashMap::default();
        let mut seen: HashSet<(u64, u64), RandomState> = HashSet::default();
        for (owner, target) in pairs {
            if found.has(*target) && seen.insert((*owner, *target)) {
                of_row.entry(*owner).or_default().push(*target);
            }
        }
        for row in &mut self.rows {
            let mut related = of_row.remove(&row.id).unwrap_or_default();
            if sort.is_some() {
                related.sort_by_key(|id| found.order(*id));
                related.truncate(limit.unwrap_or(usize::MAX));
            }
            if *wanted == Output::Count {
                row.out.insert(relation.member, related.len().to_string().into());
            } else {
                row.out.insert_text(relation.member, found.list(&related));
            }
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
        let of_row: HashMap<u64, u64> = pairs.iter().copied().collect();
        for row in &mut self.rows {
            let one = of_row.get(&row.id).and_then(|id| found.one(*id));
            row.out.insert_text(relation.member, one.unwrap_or(b"[]").to_vec());
        }
        Ok(())
    }
}

/// Objects of another `get` as JSON text.
#[derive(Debug, Default)]
pub(crate) struct Related {
    text: Vec<u8>,
    /// By id: place in the order of that method, and in the text.
    places: HashMap<u64, (usize, Range<usize>), RandomState>,
    _memory: Hold,
}

impl Related {
    pub(crate) fn has(&self, id: u64) -> bool {
        self.places.contains_key(&id)
    }

    fn order(&self, id: u64) -> Option<usize> {
        self.places.get(&id).map(|(order, _)| *order)
    }

    /// One object.
    pub(crate) fn one(&self, id: u64) -> Option<&[u8]> {
        self.places.get(&id).and_then(|(_, place)| self.text.get(place.clone()))
    }

    /// A list of objects, without those that are not there.
    pub(crate) fn list(&self, ids: &[u64]) -> Vec<u8> {
        let mut list = vec![b'['];
        for (n, one) in ids.iter().filter_map(|id| self.one(*id)).enumerate() {
            separate(&mut list, n);
            list.extend_from_slice(one);
        }
        list.push(b']');
        list
    }
}

impl Call<'_> {
    /// The related objects by id, with this user's rights, in the order of `sort`.
    pub(crate) fn related(
        &self,
        relation: &Relation,
        pairs: &[(u64, u64)],
        wanted: &Output,
        sort: Option<&str>,
    ) -> ApiResult<Related> {
        let Some(object) = relation.target else { return Ok(Related::default()) };
        let mut targets: Vec<u64> = pairs.iter().map(|(_, target)| *target).collect();
        targets.sort_unstable();
        targets.dedup();
        let hides_key = relation.bare && *wanted != Output::Count && !wanted.has(object.key);
        let answer = Answer::of_rows(hides_key);
        // Their order makes no difference without `sort`.
        let portion = if sort.is_none() { PORTION } else { targets.len().max(1) };
        for targets in targets.chunks(portion) {
            let Some((method, mut params)) = self.call_of(object, targets, wanted) else { break };
            params["sortfield"] = sort.into();
            if let Some(flag) = relation.flag {
                params[flag] = true.into();
            }
            rpc::run_to(self, &method, &params, object.key, &answer)?;
        }
        let (text, places) = answer.into_rows();
        let memory = self.hold(text.len())?;
        let places = places.into_iter().enumerate();
        let places = places.map(|(order, (id, place))| (id, (order, place))).collect();
        Ok(Related { text, places, _memory: memory })
    }

    /// Objects of another `get` by id, with this user's rights. One that is not for this type of user
    /// gives nothing: what the user cannot read is not shown.
    pub(crate) fn get_keyed(
        &self,
        object: &Object,
        ids: &[u64],
        output: &Output,
    ) -> ApiResult<Map<String, Json>> {
        let Some((method, params)) = self.call_of(object, ids, output) else {
            return Ok(Map::new());
        };
        match rpc::run_inner(self, &method, &params)? {
            Json::Object(found) => Ok(found),
            _ => Ok(Map::new()),
        }
    }

    /// The `get` method of other objects with its parameters; `None` = it gives nothing.
    fn call_of(&self, object: &Object, ids: &[u64], output: &Output) -> Option<(String, Json)> {
        let method = format!("{}.get", object.name);
        let admitted = rpc::lowest_type(&method).is_none_or(|lowest| self.user().kind >= lowest);
        if ids.is_empty() || !admitted {
            return None;
        }
        let wanted = match output {
            Output::Count => Json::Array(vec![object.key.into()]),
            other => other.to_json(),
        };
        let params =
            serde_json::json!({ object.keys: ids, "output": wanted, "preservekeys": true });
        Some((method, params))
    }
}
