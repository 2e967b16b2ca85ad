//! Which item keys the agent answers: `AllowKey` and `DenyKey` rules as in `zabbix_agentd.conf`.

use eval::key::ItemKey;

/// Rules in their order; the first one that matches a key decides. A key that no rule matches is allowed, except
/// `system.run`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyRules(Vec<Rule>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    allow: bool,
    pattern: Pattern,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Pattern {
    /// `*`: any key, with or without parameters.
    Any,
    /// A key without brackets.
    Name(String),
    Params {
        name: String,
        params: Vec<String>,
        /// The pattern ended in parameters that are just `*`: any parameters may follow, or none.
        open_end: bool,
    },
}

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleError {
    /// The text does not begin with `AllowKey=` or `DenyKey=`.
    #[error("\"{0}\" is not a rule: write AllowKey=<pattern> or DenyKey=<pattern>")]
    Form(String),
    /// The pattern is not an item key.
    #[error("\"{0}\" is not a pattern of item keys, such as vfs.file.*[/etc/*]")]
    Pattern(String),
    /// Nothing is denied, which is probably not what the rules are for.
    #[error("the rules deny no key: end them with DenyKey=*, or remove them")]
    NothingDenied,
}

impl KeyRules {
    /// Reads rules that are separated by line feeds or semicolons: `AllowKey=vfs.file.*[/var/log/*];
    /// DenyKey=vfs.file.*[*]`. A semicolon inside a pattern does not end it.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        let mut rules = Self::default();
        for rule in split(text) {
            match (rule.strip_prefix(ALLOW), rule.strip_prefix(DENY)) {
                (Some(pattern), _) => rules.add(true, pattern)?,
                (None, Some(pattern)) => rules.add(false, pattern)?,
                (None, None) => return Err(RuleError::Form(rule.to_owned())),
            }
        }
        rules.check()?;
        Ok(rules)
    }

    /// Adds a rule after the others.
    pub(crate) fn add(&mut self, allow: bool, pattern: &str) -> Result<(), RuleError> {
        let pattern = pattern.trim();
        let parsed = Pattern::parse(pattern).ok_or_else(|| RuleError::Pattern(pattern.into()))?;
        self.0.push(Rule { allow, pattern: parsed });
        Ok(())
    }

    /// Fails if the rules have no effect: all allow keys that are allowed without them.
    pub(crate) fn check(&self) -> Result<(), RuleError> {
        let allows_usual = |rule: &Rule| rule.allow && rule.pattern.name() != SYSTEM_RUN;
        if !self.0.is_empty() && self.0.iter().all(allows_usual) {
            return Err(RuleError::NothingDenied);
        }
        Ok(())
    }

    /// Whether the agent answers a key.
    pub fn allows(&self, key: &ItemKey) -> bool {
        let first = self.0.iter().find(|rule| rule.pattern.matches(key));
        first.map_or(key.name != SYSTEM_RUN, |rule| rule.allow)
    }
}

/// The key that needs a rule to be allowed.
const SYSTEM_RUN: &str = "system.run";
const ALLOW: &str = "AllowKey=";
const DENY: &str = "DenyKey=";

/// The rules of a text, trimmed. A rule ends where the next one begins.
fn split(text: &str) -> Vec<&str> {
    let mut rules = Vec::new();
    let mut begin = 0;
    for (at, sign) in text.char_indices().filter(|(_, sign)| matches!(sign, ';' | '\n')) {
        let next = text[at + 1..].trim_start();
        if sign == '\n' || next.is_empty() || next.starts_with(ALLOW) || next.starts_with(DENY) {
            rules.push(&text[begin..at]);
            begin = at + 1;
        }
    }
    rules.push(&text[begin..]);
    rules
        .iter()
        .map(|rule| rule.trim().trim_end_matches(';').trim_end())
        .filter(|rule| !rule.is_empty())
        .collect()
}

impl Pattern {
    /// Its name of keys; empty = any key.
    fn name(&self) -> &str {
        match self {
            Self::Any => "",
            Self::Name(name) | Self::Params { name, .. } => name,
        }
    }

    fn parse(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::Any);
        }
        let (name, params) = match text.find('[') {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        // Names of keys have no wildcards, so the grammar of keys is asked without them.
        let plain = format!("{}{params}", name.replace('*', "x"));
        let key = ItemKey::parse(&plain).ok()?;
        let name = name.to_owned();
        if key.params.is_none() {
            return Some(Self::Name(name));
        }
        let mut params: Vec<String> =
            (0..key.param_count()).map(|at| key.param(at).unwrap_or_default()).collect();
        let all = params.len();
        while params.last().is_some_and(|last| last == "*") {
            params.pop();
        }
        let open_end = params.len() < all;
        Some(Self::Params { name, params, open_end })
    }

    fn matches(&self, key: &ItemKey) -> bool {
        match self {
            Self::Any => true,
            Self::Name(name) => key.params.is_none() && wildcard(name, &key.name),
            Self::Params { name, params, open_end } => {
                let count = key.param_count();
                let count_fits =
                    if *open_end { count >= params.len() } else { count == params.len() };
                key.params.is_some()
                    && count_fits
                    && wildcard(name, &key.name)
                    && params
                        .iter()
                        .enumerate()
                        .all(|(at, pattern)| wildcard(pattern, &key.param(at).unwrap_or_default()))
            }
        }
    }
}

/// Whether `text` fits a pattern in which `*` stands for any characters.
pub(crate) fn wildcard(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allows(rules: &str, key: &str) -> bool {
        KeyRules::parse(rules).unwrap().allows(&ItemKey::parse(key).unwrap())
    }

    /// As a 7.0.22 agent answers with these rules.
    #[test]
    fn rules_decide_like_those_of_agentd() {
        for (rules, key, expected) in [
            ("", "agent.ping", true),
            ("DenyKey=agent.ping", "agent.ping", false),
            ("DenyKey=agent.ping[]", "agent.ping", true),
            ("DenyKey=agent.ping[*]", "agent.ping", true),
            ("DenyKey=*", "agent.ping", false),
            ("DenyKey=*[*]", "agent.ping", true),
            ("DenyKey=**", "agent.ping", false),
            ("DenyKey=*.ping", "agent.ping", false),
            ("DenyKey=a*.p*g", "agent.ping", false),
            ("DenyKey=AGENT.ping", "agent.ping", true),
            ("DenyKey=*", "f[/etc/x]", false),
            ("DenyKey=*[*]", "f[/etc/x]", false),
            ("DenyKey=f*", "f[/etc/x]", true),
            ("DenyKey=f[/etc/*]", "f[/etc/x]", false),
            ("DenyKey=f[/etc/*]", "f[/etc/x,file]", true),
            ("DenyKey=f[/etc/*,*]", "f[/etc/x,file]", false),
            ("DenyKey=f[/etc/*,*]", "f[/etc/x]", false),
            ("DenyKey=f[/etc/*,]", "f[/etc/x]", true),
            ("DenyKey=f[*]", "f", true),
            ("DenyKey=f", "f", false),
            ("DenyKey=f", "f[]", true),
            ("DenyKey=f[]", "f[]", false),
            ("DenyKey=f[]", "f", true),
            ("DenyKey=f[]", "f[,]", true),
            ("DenyKey=f[,*]", "f[]", false),
            ("DenyKey=f[*,file]", "f[/etc/x,\"file\"]", false),
            ("DenyKey=f[\"*\",file]", "f[/etc/x,file]", false),
            ("DenyKey=f[*]", "f[/etc/x,file]", false),
            ("DenyKey=f[/etc/x*]", "f[/etc/x,file]", true),
            ("DenyKey=f[*,*,*,*]", "f[/etc/x,file]", false),
            ("DenyKey=f[*,*]", "f[/etc/x,file,file]", false),
            ("DenyKey=f[a*b]", "f[ab]", false),
            ("DenyKey=f[ab*b]", "f[ab]", true),
            ("DenyKey=f[*/x]", "f[/etc/x]", false),
            ("DenyKey=f[[a,b]]", "f[[a,b]]", false),
            ("AllowKey=f[/etc/x]; DenyKey=f[*]", "f[/etc/x]", true),
            ("DenyKey=f[*]\nAllowKey=f[/etc/x]\n", "f[/etc/x]", false),
            ("AllowKey=agent.ping;DenyKey=*;", "agent.version", false),
            ("AllowKey=agent.ping;DenyKey=*;", "agent.ping", true),
            ("DenyKey=f[a;b]", "f[a;b]", false),
            ("", "system.run[id]", false),
            ("AllowKey=system.run[id*]", "system.run[id -u]", true),
            ("AllowKey=system.run[id*]", "system.run[id,nowait]", false),
            ("AllowKey=system.run[id*]", "agent.ping", true),
            ("AllowKey=system.run[*]", "system.run[id,nowait]", true),
            ("DenyKey=agent.ping", "system.run[id]", false),
        ] {
            assert_eq!(allows(rules, key), expected, "{rules} on {key}");
        }
    }

    #[test]
    fn unusable_rules_are_refused() {
        for (rules, expected) in [
            ("agent.ping", RuleError::Form("agent.ping".into())),
            ("DenyKey=agent.ping[", RuleError::Pattern("agent.ping[".into())),
            ("DenyKey=", RuleError::Pattern(String::new())),
            ("DenyKey=*,*", RuleError::Pattern("*,*".into())),
            ("DenyKey=agent ping", RuleError::Pattern("agent ping".into())),
            ("DenyKey=f[x][*]y", RuleError::Pattern("f[x][*]y".into())),
            ("AllowKey=agent.ping", RuleError::NothingDenied),
        ] {
            assert_eq!(KeyRules::parse(rules), Err(expected), "{rules}");
        }
    }
}
