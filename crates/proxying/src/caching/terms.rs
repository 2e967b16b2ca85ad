//! Which responses may be stored, and on which terms (RFC 9111, 3).

use super::directives::{RequestDirectives, ResponseDirectives};
use super::{Arrival, Validators, values, vary};
use crate::http1::{Field, Known, trim};

/// Statuses that are stored. Of errors only those that are about the resource: an error about the request, such as 400
/// or 405, would let one client take a resource from all others.
const STORED: [u16; 10] = [200, 203, 204, 300, 301, 302, 307, 308, 404, 410];

/// RFC 9110, 9.2.1. An unknown method may change something.
#[must_use]
pub fn is_safe(method: &[u8]) -> bool {
    matches!(method, b"GET" | b"HEAD" | b"OPTIONS" | b"TRACE")
}

/// What a request says about its client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Asker {
    /// The server learns who the client is: Authorization, a client certificate, an authenticated user.
    pub credentials: bool,
    /// It has cookies.
    pub cookies: bool,
}

impl Asker {
    /// Of a request with these fields. Cookies for which `own` is true are those of the balancer itself.
    #[must_use]
    pub fn of(fields: &[Field<'_>], own: impl Fn(&[u8]) -> bool) -> Self {
        let credentials = ["authorization", "proxy-authorization"];
        let foreign = |value: &[u8]| {
            value.split(|byte| *byte == b';').map(trim).any(|pair| {
                let end = memchr::memchr(b'=', pair).unwrap_or(pair.len());
                !pair.is_empty() && !own(&pair[..end])
            })
        };
        Self {
            credentials: credentials.iter().any(|name| values(fields, name).next().is_some()),
            cookies: fields
                .iter()
                .any(|field| field.known == Known::Cookie && foreign(field.value)),
        }
    }
}

/// How a stored response can be used for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// As it is.
    Fresh,
    /// After the server has confirmed it.
    Validate,
}

/// Seconds after the end of its freshness for which a response may still be used (RFC 5861).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stale {
    /// Instead of an error, while servers fail.
    pub if_error_s: u64,
    /// At once, while it is validated.
    pub while_revalidate_s: u64,
}

/// How a stored response may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Seconds from its origin for which it is fresh.
    pub lifetime_s: u64,
    /// It is validated before each use.
    pub validate: bool,
    /// How long it may be used beyond that.
    pub stale: Stale,
    /// It says that it is for all users, so it may be given to those with credentials or cookies.
    pub shared: bool,
}

impl Terms {
    /// The terms of a response; `None`: it is not stored. `stale` is for those that do not name a time.
    #[must_use]
    pub fn of(
        status: u16,
        fields: &[Field<'_>],
        asker: Asker,
        arrival: Arrival,
        stale: Stale,
    ) -> Option<Self> {
        let said = ResponseDirectives::of(fields);
        let is_set_cookie = |field: &Field<'_>| field.known == Known::SetCookie;
        if !STORED.contains(&status) || said.no_store || fields.iter().any(is_set_cookie) {
            return None;
        }
        let names = vary::names(fields)?;
        // Freshness for shared caches is meant for all users, too (RFC 9111, 3.5). That a response must be validated
        // when it is stale is not, although the specification accepts it.
        let shared = said.public || said.s_maxage_s.is_some();
        let by_cookie = names.iter().any(|name| name == "cookie");
        if !shared && (asker.credentials || (asker.cookies && !by_cookie)) {
            return None;
        }
        let lifetime_s =
            said.s_maxage_s.or(said.max_age_s).or_else(|| arrival.expires_s(fields))?;
        let never_stale = said.must_revalidate || said.no_cache || said.s_maxage_s.is_some();
        let terms = Self {
            lifetime_s,
            validate: said.no_cache,
            stale: match never_stale {
                true => Stale::default(),
                false => Stale {
                    if_error_s: said.stale_if_error_s.unwrap_or(stale.if_error_s),
                    while_revalidate_s: said
                        .stale_while_revalidate_s
                        .unwrap_or(stale.while_revalidate_s),
                },
            },
            shared,
        };
        let usable = lifetime_s > arrival.age_s(fields) && !terms.validate;
        (usable || Validators::of(fields).is_some()).then_some(terms)
    }

    /// Whether a stored response may be considered for a request with these properties. Its Vary names `Cookie`
    /// if `by_cookie`: then it is compared with that of the request.
    #[must_use]
    pub fn suits(&self, asker: Asker, by_cookie: bool) -> bool {
        self.shared || !(asker.credentials || (asker.cookies && !by_cookie))
    }

    /// Whether it is validated before each use.
    #[must_use]
    pub fn is_never_fresh(&self) -> bool {
        self.validate || self.lifetime_s == 0
    }

    /// How a response of this age can be used.
    #[must_use]
    pub fn usable(&self, age_s: u64, asked: &RequestDirectives) -> Use {
        let left = self.lifetime_s.saturating_sub(age_s);
        let fresh = !self.validate
            && left > 0
            && !asked.no_cache
            && asked.max_age_s.is_none_or(|most| age_s <= most)
            && asked.min_fresh_s.is_none_or(|least| left >= least);
        if fresh { Use::Fresh } else { Use::Validate }
    }

    /// Whether a response of this age may stand in for a server that fails (RFC 5861, 4).
    #[must_use]
    pub fn stands_in(&self, age_s: u64, asked: &RequestDirectives) -> bool {
        self.is_within(self.stale.if_error_s, age_s, asked)
    }

    /// Whether a response of this age may be used while it is validated (RFC 5861, 3).
    #[must_use]
    pub fn serves_meanwhile(&self, age_s: u64, asked: &RequestDirectives) -> bool {
        self.is_within(self.stale.while_revalidate_s, age_s, asked)
    }

    /// Whether a response has expired at most `stale_s` seconds ago. A client that demands a validation or an age does
    /// not get it.
    fn is_within(&self, stale_s: u64, age_s: u64, asked: &RequestDirectives) -> bool {
        stale_s > 0
            && age_s < self.lifetime_s.saturating_add(stale_s)
            && !asked.no_cache
            && asked.max_age_s.is_none()
            && asked.min_fresh_s.is_none()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ARRIVAL: Arrival = Arrival { at_s: 784_111_777, delay_s: 0 };
    const DATE: (&str, &str) = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT");

    fn terms(status: u16, fields: &[(&str, &str)], asker: Asker) -> Option<Terms> {
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| Field::new(name.as_bytes(), value.as_bytes()))
            .collect();
        let stale = Stale { if_error_s: 30, while_revalidate_s: 20 };
        Terms::of(status, &fields, asker, ARRIVAL, stale)
    }

    const ANONYMOUS: Asker = Asker { credentials: false, cookies: false };
    const USER: Asker = Asker { credentials: true, cookies: false };
    const VISITOR: Asker = Asker { credentials: false, cookies: true };

    fn lifetime_s(fields: &[(&str, &str)]) -> Option<u64> {
        terms(200, fields, ANONYMOUS).map(|terms| terms.lifetime_s)
    }

    #[test]
    fn freshness_must_be_explicit() {
        let expires = ("Expires", "Sun, 06 Nov 1994 08:50:37 GMT");
        assert_eq!(lifetime_s(&[DATE, expires]), Some(60));
        assert_eq!(lifetime_s(&[expires]), Some(60), "without Date, from its arrival");
        assert_eq!(lifetime_s(&[expires, ("Cache-Control", "max-age=9")]), Some(9));
        assert_eq!(lifetime_s(&[("Cache-Control", "s-maxage=8, max-age=9")]), Some(8));
        assert_eq!(lifetime_s(&[("Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT")]), None);
        assert_eq!(lifetime_s(&[("Cache-Control", "public"), ("ETag", "\"a\"")]), None);
        assert_eq!(lifetime_s(&[("Expires", "0"), ("ETag", "\"a\"")]), Some(0));
        assert_eq!(lifetime_s(&[("Expires", "0")]), None, "never fresh, and nothing validates it");
        assert_eq!(lifetime_s(&[expires, expires, ("ETag", "\"a\"")]), Some(0));
        assert_eq!(lifetime_s(&[("Age", "60"), ("Cache-Control", "max-age=60")]), None);
    }

    #[test]
    fn what_is_for_one_user_is_not_stored() {
        let fresh = ("Cache-Control", "max-age=60");
        for directive in
            ["private, max-age=60", "no-store, max-age=60", "max-age=60, private=\"x\""]
        {
            assert_eq!(terms(200, &[("Cache-Control", directive)], ANONYMOUS), None, "{directive}");
        }
        for public in ["max-age=60", "public, s-maxage=60"] {
            let fields = [("Cache-Control", public), ("Set-Cookie", "id=1")];
            assert_eq!(terms(200, &fields, ANONYMOUS), None, "Set-Cookie with {public}");
        }
        for asker in [USER, VISITOR] {
            assert_eq!(terms(200, &[fresh], asker), None);
            let revalidated = [("Cache-Control", "max-age=60, must-revalidate")];
            assert_eq!(terms(200, &revalidated, asker), None);
            for public in ["public, max-age=60", "s-maxage=60"] {
                assert!(terms(200, &[("Cache-Control", public)], asker).unwrap().shared);
            }
        }
        assert!(terms(200, &[fresh, ("Vary", "Accept, Cookie")], VISITOR).is_some());
        assert_eq!(terms(200, &[fresh, ("Vary", "Accept, Cookie")], USER), None);
        assert_eq!(terms(200, &[fresh, ("Vary", "*")], ANONYMOUS), None);
    }

    #[test]
    fn errors_about_requests_are_not_stored() {
        let fresh = [("Cache-Control", "public, max-age=60")];
        for status in [200, 204, 301, 404, 410] {
            assert!(terms(status, &fresh, ANONYMOUS).is_some(), "{status}");
        }
        for status in [100, 206, 304, 400, 401, 403, 405, 413, 414, 431, 500, 501, 503] {
            assert!(terms(status, &fresh, ANONYMOUS).is_none(), "{status}");
        }
    }

    #[test]
    fn only_responses_that_allow_it_are_used_when_they_are_stale() {
        let stale = |value: &str| terms(200, &[("Cache-Control", value)], ANONYMOUS).unwrap().stale;
        let of = |if_error_s, while_revalidate_s| Stale { if_error_s, while_revalidate_s };
        assert_eq!(stale("max-age=60"), of(30, 20));
        assert_eq!(stale("max-age=60, stale-if-error=7"), of(7, 20));
        assert_eq!(stale("max-age=60, stale-while-revalidate=7"), of(30, 7));
        assert_eq!(stale("max-age=60, stale-if-error=0, stale-while-revalidate=0"), of(0, 0));
        let both = "stale-if-error=7, stale-while-revalidate=7";
        for forbids in
            ["max-age=60, must-revalidate", "max-age=60, proxy-revalidate", "s-maxage=60"]
        {
            assert_eq!(stale(&format!("{forbids}, {both}")), of(0, 0), "{forbids}");
        }
    }

    #[test]
    fn cookies_of_the_balancer_are_no_cookies() {
        let asker = |value: &str| {
            let fields = [Field::new(b"Cookie", value.as_bytes())];
            Asker::of(&fields, |name| name == b"lb").cookies
        };
        assert!(!asker("lb=1") && !asker(" lb=1; ") && !asker(""));
        assert!(asker("lb=1; id=2") && asker("id") && asker("lb2=1"));
    }

    proptest! {
        #[test]
        fn a_fresh_response_is_younger_than_all_limits(
            lifetime_s in 0..200_u64,
            age in 0..300_u64,
            max_age_s in proptest::option::of(0..300_u64),
            min_fresh_s in proptest::option::of(0..300_u64),
            (validate, no_cache) in (any::<bool>(), any::<bool>()),
        ) {
            let stale = Stale { if_error_s: 50, while_revalidate_s: 40 };
            let terms = Terms { lifetime_s, validate, stale, shared: false };
            let asked = RequestDirectives { no_cache, max_age_s, min_fresh_s, ..Default::default() };
            let fresh = terms.usable(age, &asked) == Use::Fresh;
            let expected = age < lifetime_s && !validate && !no_cache
                && max_age_s.is_none_or(|most| age <= most)
                && min_fresh_s.is_none_or(|least| age + least <= lifetime_s);
            prop_assert_eq!(fresh, expected);
            if terms.stands_in(age, &asked) {
                prop_assert!(age < lifetime_s + 50 && !no_cache && max_age_s.is_none());
            }
            if terms.serves_meanwhile(age, &asked) {
                prop_assert!(age < lifetime_s + 40 && terms.stands_in(age, &asked));
            }
        }

        #[test]
        fn any_directives_of_a_response_for_one_user_keep_it_out(
            before in "[ -~]{0,20}", after in "[ -~]{0,20}", word in 0..3_usize,
        ) {
            let word = ["no-store", "private", "private=\"x\""][word];
            // Whatever is around it, also an open quote, the response is not stored.
            let value = format!("max-age=60,{before},{word},{after}");
            let quoted = before.contains('"');
            let stored = terms(200, &[("Cache-Control", &value)], ANONYMOUS).is_some();
            prop_assert!(!stored || quoted, "{}", value);
        }
    }
}
