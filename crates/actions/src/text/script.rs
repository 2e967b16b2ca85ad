//! Texts of scripts: commands, parameters of webhooks, and what users are asked before they run one.

use config::Snapshot;
use eval::macros::{
    FunctionEnv, MacroKind, MacroScope, Token, TokenKind, UNKNOWN, UserMacro, substitute_in_form,
};
use eval::shell::Quoter;
use jiff::tz::TimeZone;
use model::HostId;

use super::{PARAMETER_BYTES_MAX, Person, words};

/// How values stand in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Quoting {
    /// As they are: a program gets them as a whole.
    #[default]
    None,
    /// Quoted for a shell.
    Shell,
    /// Quoted for a shell or the command line of a device, which runs each line: values have no control characters.
    Terminal,
}

/// What a text of a script is for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Script<'a> {
    /// The host that it runs for.
    pub target: Option<HostId>,
    /// How values stand in it.
    pub quoting: Quoting,
    /// Somebody may see it: values of secret macros are hidden.
    pub shown: bool,
    /// Who runs it; `None` = an action.
    pub user: Option<&'a Person>,
    /// What the user typed.
    pub input: Option<&'a str>,
}

impl Script<'_> {
    /// A text of a script that a user runs on a host, without an event.
    pub fn on_host(&self, template: &str, snapshot: &Snapshot) -> String {
        let hosts = Vec::from_iter(self.target);
        let scope = MacroScope { nodes: &*snapshot.macros, hosts: &hosts };
        let host = self.target.and_then(|id| snapshot.hosts.get(&id));
        self.text(
            template,
            &scope,
            &snapshot.settings.time_zone(),
            &mut |token| match &token.kind {
                TokenKind::User(wanted) => self.user_macro(&scope, wanted),
                TokenKind::Builtin { name, index: None } => {
                    self.own(name, snapshot).or_else(|| host?.macro_value(name))
                }
                _ => None,
            },
        )
    }

    /// The value of a user macro, as credentials have it too.
    pub fn user_macro(&self, scope: &MacroScope<'_>, wanted: &UserMacro) -> Option<String> {
        let found = scope.resolve(wanted)?;
        Some(match found.kind {
            _ if self.shown => found.masked().to_owned(),
            MacroKind::Vault => UNKNOWN.to_owned(),
            MacroKind::Text | MacroKind::Secret => found.value.clone(),
        })
    }

    /// Expands a text. Values are quoted, except those of global macros: only those who write scripts can set them.
    pub(super) fn text(
        &self,
        template: &str,
        scope: &MacroScope<'_>,
        tz: &TimeZone,
        resolve: &mut dyn FnMut(&Token<'_>) -> Option<String>,
    ) -> String {
        let mut quoter = match self.quoting {
            Quoting::None => None,
            Quoting::Shell => Some(Quoter::new(template, false)),
            Quoting::Terminal => Some(Quoter::new(template, true)),
        };
        let env = FunctionEnv { tz };
        substitute_in_form(template, PARAMETER_BYTES_MAX, &env, resolve, &mut |token, value| {
            match &mut quoter {
                None => value,
                Some(quoter) if is_global(scope, token) => {
                    quoter.trusted(token.span.clone(), value)
                }
                Some(quoter) => quoter.quote(token.span.clone(), &value),
            }
        })
    }

    /// Macros that only scripts have.
    pub(super) fn own(&self, name: &str, snapshot: &Snapshot) -> Option<String> {
        if let Some(of_target) = name.strip_prefix("HOST.TARGET.") {
            let of_host = match of_target {
                "CONN" => "HOST.CONN",
                "DNS" => "HOST.DNS",
                "HOST" => "HOST.HOST",
                "IP" => "HOST.IP",
                "NAME" => "HOST.NAME",
                _ => return None,
            };
            let host = self.target.and_then(|id| snapshot.hosts.get(&id));
            let value = host.and_then(|host| host.macro_value(of_host));
            return Some(value.unwrap_or_else(|| UNKNOWN.to_owned()));
        }
        if name == "MANUALINPUT" {
            return self.input.map(str::to_owned);
        }
        let user = self.user?;
        match name {
            "USER.ALIAS" | "USER.USERNAME" => Some(user.username.clone()),
            "USER.NAME" => Some(user.name.clone()),
            "USER.SURNAME" => Some(user.surname.clone()),
            "USER.FULLNAME" => Some(words::full_name(user)),
            _ => None,
        }
    }
}

/// The macro of this place is a global one.
fn is_global(scope: &MacroScope<'_>, token: &Token<'_>) -> bool {
    let wanted = match &token.kind {
        TokenKind::User(wanted) => wanted,
        TokenKind::Function { inner, .. } => match &inner.kind {
            TokenKind::User(wanted) => wanted,
            _ => return false,
        },
        _ => return false,
    };
    let global = MacroScope { nodes: scope.nodes, hosts: &[] };
    let (found, global) = (scope.resolve(wanted), global.resolve(wanted));
    found.zip(global).is_some_and(|(found, global)| std::ptr::eq(found, global))
}
