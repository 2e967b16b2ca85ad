//! The common part of every `get`: standard options to one query, rows to output.
//!
//! A method adds its own conditions, runs the query, adds what `select…` options ask for, and
//! finishes. The object's table has the alias `t`.

pub(crate) mod limits;
mod order;
mod output;
mod query;
mod stream;

use config::db::{Value, id_params, placeholders};

use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::object::{Access, Field, FieldKind, Object};

pub(crate) use crate::found::Found;
pub(crate) use output::Output;

use order::order;
use query::Query;

use crate::params;

/// Options that every `get` has.
const STANDARD: &[&str] = &[
    "output",
    "filter",
    "search",
    "searchByAny",
    "searchWildcardsEnabled",
    "startSearch",
    "excludeSearch",
    "limit",
    "offset",
    "sortfield",
    "sortorder",
    "countOutput",
    "preservekeys",
    "editable",
    "nopermissions",
];

/// Whether a row with this id is in the result.
pub(crate) type Keep<'c> = Box<dyn Fn(u64) -> bool + 'c>;

/// Position of the row with this id in the result; equal ones keep the order of the statement.
pub(crate) type Rank<'c> = Box<dyn Fn(u64) -> usize + 'c>;

/// Conditions that are checked in memory.
#[derive(Default)]
struct InMemory<'c> {
    keep: Option<Keep<'c>>,
    rank: Option<Rank<'c>>,
}

/// A `get` in the making.
pub(crate) struct Get<'c, 'a> {
    call: &'c Call<'a>,
    params: &'c Json,
    object: &'static Object,
    conditions: Vec<String>,
    values: Vec<Value>,
    needed: Vec<&'static str>,
    extra: Vec<(&'static str, &'static str)>,
    also_sort: &'static [&'static str],
    works_on: Vec<&'static str>,
    also_shown: Vec<&'static str>,
    in_memory: InMemory<'c>,
    from_memory: bool,
}

impl<'c, 'a> Get<'c, 'a> {
    /// Starts from the parameters. `options` are those of this method beside the standard ones;
    /// a strict object refuses all others.
    pub(crate) fn new(
        call: &'c Call<'a>,
        params: &'c Json,
        object: &'static Object,
        options: &[&str],
    ) -> ApiResult<Self> {
        if object.strict
            && let Json::Object(members) = params
        {
            let known = |name: &str| STANDARD.contains(&name) || options.contains(&name);
            if let Some(name) = members.keys().find(|name| !known(name)) {
                return Err(ApiError::at("/", format_args!("unexpected parameter \"{name}\"")));
            }
        }
        Ok(Self {
            call,
            params,
            object,
            conditions: Vec::new(),
            values: Vec::new(),
            needed: Vec::new(),
            extra: Vec::new(),
            also_sort: &[],
            works_on: Vec::new(),
            also_shown: Vec::new(),
            in_memory: InMemory::default(),
            from_memory: false,
        })
    }

    /// Only rows that meet `condition`, whose `?` are `values`.
    pub(crate) fn and(
        &mut self,
        condition: impl Into<String>,
        values: impl IntoIterator<Item = Value>,
    ) {
        self.conditions.push(condition.into());
        self.values.extend(values);
    }

    /// If the option is given: only rows where `condition` holds, in which `{ids}` stands for the
    /// given ids, as in `t.hostid IN ({ids})`.
    pub(crate) fn by_ids(&mut self, option: &str, condition: &str) -> ApiResult<()> {
        if let Some(ids) = params::ids(self.params, option)? {
            self.in_ids(condition, &ids);
        }
        Ok(())
    }

    /// Only rows where `condition` holds for these ids.
    pub(crate) fn in_ids(&mut self, condition: &str, ids: &[u64]) {
        if ids.is_empty() {
            self.and("1 = 0", []);
        } else if ids.len() <= 1_000 {
            self.and(
                condition.replace("{ids}", &placeholders(ids.len())),
                id_params(ids.iter().copied()),
            );
        } else {
            // Ids are numbers, so they may stand in the statement itself; there is no limit on its length.
            let list: Vec<String> = ids.iter().map(ToString::to_string).collect();
            self.and(condition.replace("{ids}", &list.join(",")), []);
        }
    }

    /// Is the flag option set?
    pub(crate) fn flag(&self, option: &str) -> bool {
        params::flag(self.params.get(option))
    }

    /// Columns that the method needs in rows whatever the output.
    pub(crate) fn need(&mut self, columns: &[&'static str]) {
        self.needed.extend_from_slice(columns);
    }

    /// Columns to sort by that the reference does not have; errors do not list them.
    pub(crate) fn also_sort(&mut self, columns: &'static [&'static str]) {
        self.also_sort = columns;
    }

    /// Output that the method changes or adds; see [`Get::answer`].
    pub(crate) fn works_on(&mut self, names: &[&'static str]) {
        self.works_on.extend_from_slice(names);
    }

    /// Columns that are shown behind the output if they are not in it.
    pub(crate) fn also_show(&mut self, columns: &[&'static str]) {
        self.needed.extend_from_slice(columns);
        self.also_shown.extend_from_slice(columns);
    }

    /// Without options `select…` and `expand…`, the method completes rows without the database.
    pub(crate) fn works_from_memory(&mut self) {
        self.from_memory = true;
    }

    /// Only rows with ids that `keep` accepts: a condition that the database need not check.
    pub(crate) fn keep(&mut self, keep: Keep<'c>) {
        self.in_memory.keep = Some(match self.in_memory.keep.take() {
            Some(before) => Box::new(move |id| before(id) && keep(id)),
            None => keep,
        });
    }

    /// Rows that [`Get::keep`] accepts come in the order of `rank`, to which limit and offset apply.
    /// Only for [`Get::run`].
    pub(crate) fn rank(&mut self, rank: Rank<'c>) {
        self.in_memory.rank = Some(rank);
    }

    /// Whether the result is the number of rows or nothing but their ids, and no option but those of
    /// the order selects some.
    pub(crate) fn wants_ids_alone(&self) -> bool {
        const OTHERS: &[&str] = &["output", "countOutput", "sortfield", "sortorder", "limit"];
        let others = self.params.as_object().is_some_and(|members| {
            let given = |(name, value): (&String, &Json)| {
                !value.is_null() && !OTHERS.contains(&name.as_str())
            };
            members.iter().any(given)
        });
        let output = self.params.get("output").and_then(Json::as_array);
        let key = output.is_some_and(|names| names.iter().all(|name| name == self.object.key));
        !others && (key || self.flag("countOutput"))
    }

    /// Whether the rows are wanted in the order of one of these fields, up to a limit.
    pub(crate) fn wants_first_by(&self, fields: &[&str]) -> bool {
        let given = self.params.get("sortfield").map(params::list).unwrap_or_default();
        let by = given.first().and_then(|field| field.as_str());
        let limited = self.params.get("limit").is_some_and(|limit| !limit.is_null());
        limited && by.is_some_and(|field| fields.contains(&field)) && !self.flag("countOutput")
    }

    /// Runs the query.
    pub(crate) fn run(self) -> ApiResult<Found<'c, 'a>> {
        let (call, params, object) = (self.call, self.params, self.object);
        self.query()?.run(call, params, object)
    }

    /// Adds the options that every `get` has.
    fn select(&mut self) -> ApiResult<()> {
        self.filter()?;
        self.search()?;
        limits::values(self.values.len())
    }

    fn query(mut self) -> ApiResult<Query<'c>> {
        let output = self.output()?;
        if let (Output::Fields(names), true) = (&output, self.object.strict) {
            self.check_output(names)?;
        }
        self.select()?;
        let mut query = Query {
            sql: String::new(),
            limit: self.limit()?,
            offset: if self.flag("countOutput") { 0 } else { offset(self.params)? },
            counts: self.flag("countOutput"),
            columns: self.columns(&output),
            output,
            values: self.values,
            also_shown: self.also_shown,
            hides_key: false,
            keep: self.in_memory.keep,
            rank: self.in_memory.rank,
            keys_only: false,
        };
        query.keys_only =
            query.keep.is_some() && (query.counts || query.limit.is_some() || query.offset > 0);
        query.keys_only |= query.rank.is_some();
        query.sql = format!("SELECT {} FROM {} t", query.selects(self.object), self.object.table);
        if !self.conditions.is_empty() {
            query.sql += &format!(" WHERE {}", self.conditions.join(" AND "));
        }
        let order = order(self.params, self.object, self.also_sort)?;
        if !query.counts {
            query.sql += &format!(" ORDER BY {order}{}", query.window());
        }
        Ok(query)
    }

    /// The whole condition with its values, for a query of the method's own.
    pub(crate) fn condition(mut self) -> ApiResult<(String, Vec<Value>)> {
        self.select()?;
        if self.conditions.is_empty() {
            self.and("1 = 1", []);
        }
        Ok((self.conditions.join(" AND "), self.values))
    }

    fn output(&self) -> ApiResult<Output> {
        let path = "/output";
        match self.params.get("output") {
            None => Ok(Output::Extend),
            // Objects that are not strict take any word but "extend" for the id alone.
            Some(Json::String(text)) if text != "extend" && !self.object.strict => {
                Ok(Output::Fields(Vec::new()))
            }
            Some(Json::Null) if !self.object.strict => Ok(Output::Fields(Vec::new())),
            Some(Json::String(text)) if text != "extend" => {
                Err(ApiError::at(path, "value must be \"extend\""))
            }
            Some(value) => Ok(Output::parse(value, path)?.unwrap_or(Output::Extend)),
        }
    }

    fn check_output(&self, names: &[String]) -> ApiResult<()> {
        // Nested members that are written are shown by `select…` options instead.
        let shown = |f: &&Field| match f.access {
            Access::ReadOnly => true,
            Access::WriteOnly => false,
            _ => f.kind != FieldKind::Nested,
        };
        let known: Vec<&Field> = self.object.fields.iter().filter(shown).collect();
        for (n, name) in names.iter().enumerate() {
            if !known.iter().any(|field| field.name == name) {
                let listed = known.iter().filter(|field| !field.named);
                let list: Vec<String> = listed.map(|f| format!("\"{}\"", f.name)).collect();
                let text = format!("value must be one of {}", list.join(", "));
                return Err(ApiError::at(&format!("/output/{}", n + 1), text));
            }
        }
        Ok(())
    }

    fn columns(&self, output: &Output) -> Vec<&'static str> {
        let wanted = |field: &&Field| {
            field.name == self.object.key
                || output.has_field(field)
                || self.needed.contains(&field.name)
        };
        let mut names: Vec<&str> =
            self.object.columns().filter(wanted).map(|field| field.name).collect();
        for name in std::iter::once(&self.object.key).chain(&self.needed) {
            if !names.contains(name) {
                names.push(name);
            }
        }
        names
    }

    /// Lets `search` or `filter` take a member that is no field of the object. `condition` has
    /// `{test}`, which becomes the test of its last column: `… WHERE i.ip {test})`.
    pub(crate) fn extra(&mut self, name: &'static str, condition: &'static str) {
        self.extra.push((name, condition));
    }

    fn extra_condition(&self, name: &str) -> Option<&'static str> {
        self.extra.iter().find(|(known, _)| *known == name).map(|(_, condition)| *condition)
    }

    /// Field of an option's member; a strict object refuses unknown ones, others ignore them.
    fn option_field(&self, option: &str, name: &str) -> ApiResult<Option<&'static Field>> {
        let field = self.object.columns().find(|field| field.name == name);
        if field.is_none() && self.object.strict {
            let text = format!("unexpected parameter \"{name}\"");
            return Err(ApiError::at(&format!("/{option}"), text));
        }
        Ok(field)
    }

    fn filter(&mut self) -> ApiResult<()> {
        let Some(Json::Object(members)) = self.params.get("filter") else { return Ok(()) };
        let mut parts = Vec::new();
        let mut values = Vec::new();
        for (name, wanted) in members {
            if wanted.is_null() {
                continue;
            }
            if let Some(condition) = self.extra_condition(name) {
                let texts = texts_of(wanted);
                let marks = placeholders(texts.len());
                let test =
                    if texts.is_empty() { "IN (NULL)".into() } else { format!("IN ({marks})") };
                parts.push(condition.replace("{test}", &test));
                values.extend(texts.into_iter().map(Value::Text));
                continue;
            }
            let Some(field) = self.option_field("filter", name)? else { continue };
            let wanted: Vec<Value> =
                params::list(wanted).into_iter().filter_map(|v| filter_value(field, v)).collect();
            if wanted.is_empty() {
                parts.push("1 = 0".to_owned());
            } else {
                parts.push(format!("t.{} IN ({})", field.name, placeholders(wanted.len())));
                values.extend(wanted);
            }
        }
        self.join(parts, values);
        Ok(())
    }

    fn search(&mut self) -> ApiResult<()> {
        let Some(Json::Object(members)) = self.params.get("search") else { return Ok(()) };
        let wildcards = self.flag("searchWildcardsEnabled");
        let (start, exclude) = (self.flag("startSearch"), self.flag("excludeSearch"));
        let mut parts = Vec::new();
        let mut values = Vec::new();
        for (name, wanted) in members {
            if wanted.is_null() {
                continue;
            }
            let texts = texts_of(wanted);
            let path = format!("/search/{name}");
            limits::alternatives(&path, texts.len())?;
            let like_one = if let Some(condition) = self.extra_condition(name) {
                condition.replace("{test}", "LIKE ? ESCAPE '!'")
            } else {
                let Some(field) = self.option_field("search", name)? else { continue };
                if !matches!(field.kind, FieldKind::Text(_) | FieldKind::Name(_)) {
                    if self.object.strict {
                        let text = format!("unexpected parameter \"{name}\"");
                        return Err(ApiError::at("/search", text));
                    }
                    continue;
                }
                format!("LOWER(t.{}) LIKE ? ESCAPE '!'", field.name)
            };
            if texts.is_empty() {
                continue;
            }
            let likes = vec![like_one; texts.len()];
            let not = if exclude { "NOT " } else { "" };
            parts.push(format!("{not}({})", likes.join(" OR ")));
            for text in &texts {
                values.push(limits::pattern(&path, like(text, start, wildcards))?.into());
            }
        }
        self.join(parts, values);
        Ok(())
    }

    /// All parts, or with `searchByAny` any of them.
    fn join(&mut self, parts: Vec<String>, values: Vec<Value>) {
        if !parts.is_empty() {
            let word = if self.flag("searchByAny") { " OR " } else { " AND " };
            self.and(format!("({})", parts.join(word)), values);
        }
    }

    fn limit(&self) -> ApiResult<Option<i64>> {
        match self.params.get("limit") {
            None | Some(Json::Null) => Ok(None),
            Some(value) => match params::int(value, "/limit") {
                Ok(n) if n > 0 => Ok(Some(n)),
                Ok(n) if n <= 0 && self.object.strict => {
                    Err(ApiError::at("/limit", "value must be one of 1-2147483647"))
                }
                Ok(_) => Ok(None),
                Err(error) if self.object.strict => Err(error),
                Err(_) => Ok(None),
            },
        }
    }
}

/// Rows to skip: ours, for windows of long lists.
fn offset(params: &Json) -> ApiResult<i64> {
    let Some(value) = params.get("offset").filter(|v| !v.is_null()) else { return Ok(0) };
    let offset = params::int(value, "/offset")?;
    if offset < 0 {
        return Err(ApiError::at("/offset", "value must be one of 0-2147483647"));
    }
    Ok(offset)
}

/// Texts of an option: one or many; what is no text is left out.
pub(crate) fn texts_of(value: &Json) -> Vec<String> {
    params::list(value).into_iter().filter_map(|v| params::text(v, "").ok()).collect()
}

/// A filter's value in the type of its column; what cannot be in the column matches nothing.
fn filter_value(field: &Field, value: &Json) -> Option<Value> {
    match field.kind {
        FieldKind::Id | FieldKind::Int(..) | FieldKind::OneOf(_) => {
            params::int(value, "").ok().map(Value::Int)
        }
        _ => params::text(value, "").ok().map(Value::Text),
    }
}

/// Pattern for LIKE, `!` as the escape character, in lower case.
pub(crate) fn like(text: &str, start: bool, wildcards: bool) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    if !start && !wildcards {
        pattern.push('%');
    }
    for c in text.chars().flat_map(char::to_lowercase) {
        match c {
            '*' if wildcards => pattern.push('%'),
            '!' | '%' | '_' => pattern.extend(['!', c]),
            c => pattern.push(c),
        }
    }
    if !wildcards {
        pattern.push('%');
    }
    pattern
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod pattern_tests {
    use super::like;

    #[test]
    fn search_patterns() {
        assert_eq!(like("CPU%", false, false), "%cpu!%%");
        assert_eq!(like("CPU", true, false), "cpu%");
        assert_eq!(like("a*b_", false, true), "a%b!_");
    }
}
