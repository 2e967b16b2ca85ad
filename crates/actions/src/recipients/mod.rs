//! Who gets a message of an operation, and by which media: a function of users, media and media types as they are now.
//! It reads no clock and no database.

mod on_call;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use model::alert::Silence;
use objects::{EventSource, OperationMode, Severity};

use crate::bundles::Limit;
use crate::globals::Globals;
pub(crate) use on_call::{OnCall, Rota, Who};

/// A user, as far as messages are concerned.
#[derive(Debug, Clone)]
pub(crate) struct User {
    pub(crate) id: u64,
    /// A member of a disabled user group, whatever the user's other groups.
    pub(crate) disabled: bool,
    /// May read all hosts of the event.
    pub(crate) reads: bool,
    /// The user's setting: a name, or `default`.
    pub(crate) zone: String,
    pub(crate) media: Vec<Media>,
}

/// Where a user gets messages.
#[derive(Debug, Clone)]
pub(crate) struct Media {
    pub(crate) address: Address,
    pub(crate) enabled: bool,
    /// A bit for each severity.
    pub(crate) severities: i64,
    /// When it is used; may have global macros.
    pub(crate) period: String,
}

/// A media type and an address as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Address {
    pub(crate) media_type: u64,
    pub(crate) sendto: String,
}

/// What messages need to know of a media type.
#[derive(Debug, Clone, Default)]
pub(crate) struct MediaType {
    pub(crate) enabled: bool,
    pub(crate) templates: BTreeMap<(EventSource, OperationMode), Text>,
    /// Names and values of a webhook's or script's parameters with unexpanded macros.
    pub(crate) parameters: Vec<(String, String)>,
    /// How many messages an address takes.
    pub(crate) limit: Option<Limit>,
}

/// Subject and text with unexpanded macros.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Text {
    pub(crate) subject: String,
    pub(crate) message: String,
}

/// The message of an operation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Message {
    pub(crate) to: Audience,
    /// `None` = all.
    pub(crate) media_type: Option<u64>,
    /// `None` = that of each media type.
    pub(crate) text: Option<Text>,
}

/// Who a message is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Audience {
    Named {
        users: Vec<u64>,
        groups: Vec<u64>,
        on_call: Vec<OnCall>,
    },
    /// All users who got a message of the escalation; of updates also those who changed the problem before.
    Involved,
}

impl Default for Audience {
    fn default() -> Self {
        Self::Named { users: Vec::new(), groups: Vec::new(), on_call: Vec::new() }
    }
}

/// The users and media types that operations name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directory {
    pub(crate) users: BTreeMap<u64, User>,
    /// Members of user groups.
    pub(crate) members: BTreeMap<u64, Vec<u64>>,
    pub(crate) media_types: BTreeMap<u64, MediaType>,
}

/// What messages are about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Occasion<'a> {
    pub(crate) source: EventSource,
    pub(crate) mode: OperationMode,
    /// The trigger's, not the one that a user gave the problem.
    pub(crate) severity: Severity,
    pub(crate) now: i64,
    /// Of the escalation.
    pub(crate) step: u32,
    /// Who made the update: gets no message of it.
    pub(crate) author: Option<u64>,
    pub(crate) involved: &'a [Involved],
}

/// A user who is involved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Involved {
    pub(crate) user: u64,
    /// The media of a message that the user got; `None` = the user changed the problem.
    pub(crate) address: Option<Address>,
    /// What the message said.
    pub(crate) last: Text,
}

/// A message to one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) user: u64,
    /// `None` = the user has none.
    pub(crate) address: Option<Address>,
    pub(crate) text: Text,
    pub(crate) fate: Fate,
}

/// Whether a message can be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Send,
    /// The user has no media, or only of other types.
    NoMedia,
    /// The message has no user, because this schedule has a gap.
    NobodyOnCall(u64),
    MediaTypeDisabled,
    /// The media type has no text for the occasion.
    NoText,
    /// The program failed to make the text.
    Faulty,
    /// The database refused the text.
    Refused,
}

impl Fate {
    /// The error of the alert, and its number of attempts, which clients compare; empty = none.
    pub(crate) fn error(self) -> (&'static str, i64) {
        match self {
            Self::Send => ("", 0),
            Self::NoMedia => ("No media defined for user.", 3),
            // The row names the schedule.
            Self::NobodyOnCall(_) => ("Nobody is on call.", 0),
            Self::MediaTypeDisabled => ("Media type disabled.", 0),
            Self::NoText => ("No message defined for media type.", 0),
            Self::Faulty => (
                "Internal error: the text of the message could not be made. See the server's log.",
                0,
            ),
            Self::Refused => {
                ("The database refused the text of the message. See the server's log.", 0)
            }
        }
    }

    /// Errors of alerts that were never sent to their address.
    pub(crate) fn never_sent() -> [&'static str; 4] {
        [Self::MediaTypeDisabled, Self::NoText, Self::Faulty, Self::Refused]
            .map(|fate| fate.error().0)
    }
}

/// Whether a user gets a message by one media.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Case<'u> {
    /// `None` = it has nothing to do with a single media.
    pub(crate) address: Option<&'u Address>,
    pub(crate) verdict: Verdict,
}

/// Whether there is an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Made(Fate),
    Silent(Silence),
}

/// Makes messages.
#[derive(Debug)]
pub(crate) struct Recipients<'a> {
    pub(crate) directory: &'a Directory,
    pub(crate) globals: &'a Globals<'a>,
    pub(crate) occasion: Occasion<'a>,
}

impl Recipients<'_> {
    /// One for each address that gets the operation's message, the last user first, as 7.0 makes alerts.
    pub(crate) fn of(&self, message: &Message) -> Vec<Draft> {
        match &message.to {
            Audience::Named { on_call, .. } => {
                let users = self.users(&message.to).into_iter().rev();
                let drafts = users.flat_map(|user| self.named(message, user));
                drafts.chain(self.gaps(on_call).map(|gap| self.unattended(message, gap))).collect()
            }
            Audience::Involved => self.involved(message),
        }
    }

    /// Whom an audience names. A user who is named more than once gets one message.
    pub(crate) fn users(&self, to: &Audience) -> BTreeSet<u64> {
        let Audience::Named { users, groups, on_call } = to else { return BTreeSet::new() };
        let of_groups = groups.iter().filter_map(|id| self.directory.members.get(id));
        let of_schedules = on_call.iter().flat_map(|one| self.on_call(one));
        users.iter().chain(of_groups.flatten()).copied().chain(of_schedules).collect()
    }

    /// Who of a schedule gets the message.
    pub(crate) fn on_call(&self, one: &OnCall) -> Vec<u64> {
        one.users(self.occasion.now, self.occasion.step)
    }

    /// Schedules in which nobody gets the message.
    pub(crate) fn gaps<'o>(&self, on_call: &'o [OnCall]) -> impl Iterator<Item = &'o OnCall> {
        on_call.iter().filter(|one| self.on_call(one).is_empty()).collect::<Vec<_>>().into_iter()
    }

    /// Says that a message went to nobody.
    fn unattended(&self, message: &Message, gap: &OnCall) -> Draft {
        let text = message.text.clone().unwrap_or_default();
        Draft { user: 0, address: None, text, fate: Fate::NobodyOnCall(gap.rota.id) }
    }

    /// A note to all addresses that got a message, with the subject of the last one and what it said.
    pub(crate) fn note(&self, note: &str) -> Vec<Draft> {
        let mut drafts: Vec<Draft> = Vec::new();
        // The last message to an address comes last.
        for one in self.occasion.involved.iter().rev() {
            let Ok(user) = self.user(one.user) else { continue };
            for address in self.addresses_again(user, one) {
                let known =
                    drafts.iter().any(|d| d.user == user.id && d.address.as_ref() == Some(address));
                if !known {
                    let text = Text {
                        subject: one.last.subject.clone(),
                        message: format!("{note}\nLast message sent:\n{}", one.last.message),
                    };
                    drafts.push(self.draft(user.id, address, Some(&text)));
                }
            }
        }
        drafts.reverse();
        drafts
    }

    /// The user's addresses of a media type that take a message of the occasion.
    pub(crate) fn addresses(&self, user: u64, media_type: u64) -> Vec<&Address> {
        let Ok(user) = self.user(user) else { return Vec::new() };
        let fits = |media: &&Media| {
            media.address.media_type == media_type && self.silence(media, user).is_none()
        };
        user.media.iter().filter(fits).map(|media| &media.address).collect()
    }

    /// A user who gets messages at all.
    fn user(&self, id: u64) -> Result<&User, Silence> {
        let user = self.directory.users.get(&id).ok_or(Silence::Deleted)?;
        match () {
            () if user.disabled => Err(Silence::Disabled),
            () if !user.reads => Err(Silence::NoRight),
            () if self.occasion.author == Some(id) => Err(Silence::Author),
            () => Ok(user),
        }
    }

    /// Whether the user takes a message at this address now.
    pub(crate) fn takes(&self, user: u64, address: &Address) -> bool {
        self.user(user).is_ok_and(|user| {
            let mut media = user.media.iter().filter(|media| media.address == *address);
            media.any(|media| self.silence(media, user).is_none())
        })
    }

    fn named(&self, message: &Message, user: u64) -> Vec<Draft> {
        let own = message.text.as_ref();
        let made = |case: Case<'_>| match (case.verdict, case.address) {
            (Verdict::Silent(_), _) => None,
            (Verdict::Made(_), Some(address)) => Some(self.draft(user, address, own)),
            (Verdict::Made(fate), None) => {
                Some(Draft { user, address: None, text: own.cloned().unwrap_or_default(), fate })
            }
        };
        self.cases(message, user).into_iter().filter_map(made).collect()
    }

    /// Whether a user whom an operation names gets its message: one case for each of the user's media, or one if
    /// none of them counts.
    pub(crate) fn cases<'u>(&'u self, message: &Message, user: u64) -> Vec<Case<'u>> {
        let whole = |verdict| vec![Case { address: None, verdict }];
        let user = match self.user(user) {
            Ok(user) => user,
            Err(silence) => return whole(Verdict::Silent(silence)),
        };
        let fits = |media: &Media| {
            message.media_type.is_none_or(|wanted| wanted == media.address.media_type)
        };
        if !user.media.iter().any(fits) {
            return whole(Verdict::Made(Fate::NoMedia));
        }
        let case = |media: &'u Media| {
            let silence =
                if fits(media) { self.silence(media, user) } else { Some(Silence::OtherMediaType) };
            let fate = || self.fate(&media.address, message.text.is_some());
            let verdict = silence.map_or_else(|| Verdict::Made(fate()), Verdict::Silent);
            Case { address: Some(&media.address), verdict }
        };
        user.media.iter().map(case).collect()
    }

    fn involved(&self, message: &Message) -> Vec<Draft> {
        let involved = self.occasion.involved;
        let mut addresses: BTreeMap<u64, BTreeSet<&Address>> = BTreeMap::new();
        for one in involved.iter().filter(|one| one.address.is_some()) {
            let Ok(user) = self.user(one.user) else { continue };
            addresses.entry(user.id).or_default().extend(self.addresses_again(user, one));
        }
        let told: BTreeSet<u64> =
            involved.iter().filter(|one| one.address.is_some()).map(|one| one.user).collect();
        let only_changed: BTreeSet<u64> =
            involved.iter().map(|one| one.user).filter(|user| !told.contains(user)).collect();
        let again = addresses.into_iter().rev().flat_map(|(user, addresses)| {
            addresses.into_iter().map(move |address| (user, address))
        });
        let again = again.map(|(user, address)| self.draft(user, address, message.text.as_ref()));
        let others = only_changed.into_iter().rev().flat_map(|user| {
            // A user who only changed the problem and has no media gets no alert that says so.
            self.named(message, user).into_iter().filter(|draft| draft.fate != Fate::NoMedia)
        });
        again.chain(others).collect()
    }

    /// The user's media by which a message came; if the address has changed since, those of its type.
    fn addresses_again<'u>(
        &self,
        user: &'u User,
        involved: &Involved,
    ) -> impl Iterator<Item = &'u Address> {
        let used = involved.address.as_ref();
        let is_known = user.media.iter().any(|media| Some(&media.address) == used);
        let fits = |media: &&Media| {
            used.is_some_and(|used| {
                media.address == *used || !is_known && media.address.media_type == used.media_type
            }) && self.silence(media, user).is_none()
        };
        user.media.iter().filter(fits).map(|media| &media.address).collect::<Vec<_>>().into_iter()
    }

    /// Why the media takes no message of this severity now.
    fn silence(&self, media: &Media, user: &User) -> Option<Silence> {
        let zone = self.globals.zone(&user.zone);
        let severity = 1 << self.occasion.severity.number();
        let period = self.globals.in_periods(&media.period, self.occasion.now, &zone);
        if !media.enabled {
            Some(Silence::MediaDisabled)
        } else if media.severities & severity == 0 {
            Some(Silence::Severity)
        } else if !period.unwrap_or(false) {
            Some(Silence::Period)
        } else {
            None
        }
    }

    /// Whether a message to the address can be sent; `own`: it has a text of its own.
    fn fate(&self, address: &Address, own: bool) -> Fate {
        let occasion = (self.occasion.source, self.occasion.mode);
        match self.directory.media_types.get(&address.media_type).filter(|one| one.enabled) {
            None => Fate::MediaTypeDisabled,
            Some(one) if own || one.templates.contains_key(&occasion) => Fate::Send,
            Some(_) => Fate::NoText,
        }
    }

    fn draft(&self, user: u64, address: &Address, own: Option<&Text>) -> Draft {
        let media_type = self.directory.media_types.get(&address.media_type);
        let occasion = (self.occasion.source, self.occasion.mode);
        let template = || media_type.and_then(|one| one.templates.get(&occasion)).cloned();
        let text = own.cloned().or_else(template).unwrap_or_default();
        let fate = self.fate(address, own.is_some());
        Draft { user, address: Some(address.clone()), text, fate }
    }
}
