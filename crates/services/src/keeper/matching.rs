//! Which services a problem belongs to: those all of whose problem tags it has.

use std::collections::BTreeSet;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use objects::ServiceTagOperator;

/// Name and value.
pub(crate) type Tag = (String, String);

/// A tag that problems of a service have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProblemTag {
    pub(crate) name: String,
    pub(crate) operator: ServiceTagOperator,
    pub(crate) value: String,
}

impl ProblemTag {
    fn is_in(&self, tags: &[Tag]) -> bool {
        tags.iter().any(|(name, value)| {
            *name == self.name
                && match self.operator {
                    ServiceTagOperator::Equals => *value == self.value,
                    ServiceTagOperator::Contains => value.contains(&self.value),
                }
        })
    }
}

type Services = BTreeSet<u64>;

/// The problem tags of all services, found by one tag of each: what a problem costs does not depend on the number of
/// services that have other tags.
#[derive(Debug, Default)]
pub(crate) struct Matching {
    wanted: HashMap<u64, Vec<ProblemTag>, FixedState>,
    by_value: HashMap<Tag, Services, FixedState>,
    by_name: HashMap<String, Services, FixedState>,
}

impl Matching {
    /// No service has problem tags.
    pub(crate) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Makes these the problem tags of a service.
    pub(crate) fn set(&mut self, service: u64, tags: Vec<ProblemTag>) {
        if let Some(before) = self.wanted.remove(&service) {
            self.unlist(service, &before);
        }
        let Some(first) = leading(&tags) else { return };
        let listed = match first.operator {
            ServiceTagOperator::Equals => {
                self.by_value.entry((first.name.clone(), first.value.clone())).or_default()
            }
            ServiceTagOperator::Contains => self.by_name.entry(first.name.clone()).or_default(),
        };
        listed.insert(service);
        self.wanted.insert(service, tags);
    }

    fn unlist(&mut self, service: u64, tags: &[ProblemTag]) {
        let Some(first) = leading(tags) else { return };
        match first.operator {
            ServiceTagOperator::Equals => {
                let key = (first.name.clone(), first.value.clone());
                take(&mut self.by_value, &key, service);
            }
            ServiceTagOperator::Contains => take(&mut self.by_name, &first.name, service),
        }
    }

    /// The problem tags of a service.
    pub(crate) fn of(&self, service: u64) -> &[ProblemTag] {
        self.wanted.get(&service).map_or(&[], Vec::as_slice)
    }

    /// Services that have problem tags.
    pub(crate) fn services_with_tags(&self) -> impl Iterator<Item = u64> {
        self.wanted.keys().copied()
    }

    /// The services that a problem with these tags belongs to.
    pub(crate) fn services(&self, tags: &[Tag]) -> Services {
        let mut found = Services::new();
        for tag in tags {
            let by_value = self.by_value.get(tag).into_iter().flatten();
            let by_name = self.by_name.get(&tag.0).into_iter().flatten();
            let fits = |service: &&u64| self.of(**service).iter().all(|wanted| wanted.is_in(tags));
            found.extend(by_value.chain(by_name).filter(fits));
        }
        found
    }
}

/// The tag by which a service is found.
fn leading(tags: &[ProblemTag]) -> Option<&ProblemTag> {
    let equal = tags.iter().find(|tag| tag.operator == ServiceTagOperator::Equals);
    equal.or_else(|| tags.first())
}

fn take<K: std::hash::Hash + Eq>(
    lists: &mut HashMap<K, Services, FixedState>,
    key: &K,
    service: u64,
) {
    if let Some(listed) = lists.get_mut(key) {
        listed.remove(&service);
        if listed.is_empty() {
            lists.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(text: &str) -> Vec<Tag> {
        let pair = |one: &str| {
            one.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))
        };
        text.split_whitespace().filter_map(pair).collect()
    }

    /// `name=value` equals, `name~value` contains.
    fn wanted(text: &str) -> Vec<ProblemTag> {
        let one = |one: &str| {
            let at = one.find(['=', '~'])?;
            let equals = one[at..].starts_with('=');
            let operator =
                if equals { ServiceTagOperator::Equals } else { ServiceTagOperator::Contains };
            Some(ProblemTag {
                name: one[..at].to_owned(),
                operator,
                value: one[at + 1..].to_owned(),
            })
        };
        text.split_whitespace().filter_map(one).collect()
    }

    /// Observed on Zabbix 7.0.22.
    #[test]
    fn all_problem_tags_must_be_there() {
        let mut matching = Matching::default();
        for (service, text) in [
            (1, "svc=x"),
            (2, "svc~X k=a"),
            (3, "svc~x"),
            (4, "svc="),
            (5, "svc~"),
            (6, "SVC=x"),
            (7, "svc=x k=a"),
            (8, "svc=x k=zz"),
            (9, "k=a k=b"),
            (10, "k~a"),
            (11, ""),
        ] {
            matching.set(service, wanted(text));
        }
        for (problem, expected) in [
            ("svc=x k=a", &[1, 3, 5, 7, 10][..]),
            ("svc=x", &[1, 3, 5]),
            ("k=a k=b", &[9, 10]),
            ("svc= k=b", &[4, 5]),
            ("svc=yxy", &[3, 5]),
            ("other=x", &[]),
            ("", &[]),
        ] {
            assert_eq!(Vec::from_iter(matching.services(&tags(problem))), expected, "{problem}");
        }
    }

    #[test]
    fn other_tags_replace_those_before() {
        let mut matching = Matching::default();
        matching.set(1, wanted("a=1"));
        matching.set(1, wanted("a~2"));
        assert!(matching.services(&tags("a=1")).is_empty());
        assert_eq!(Vec::from_iter(matching.services(&tags("a=12"))), [1]);
        matching.set(1, Vec::new());
        assert!(matching.is_empty() && matching.by_name.is_empty() && matching.by_value.is_empty());
    }
}
