//! Alerting: media types, alerts, and scripts.

use crate::event::EventSource;
use crate::numbered::numbered;

numbered! {
    /// How messages are sent; the API's `type` of media types.
    MediaTypeKind: u8 {
        /// A mail server.
        Email = 0, "EMAIL", "Email";
        /// A program on the server.
        Script = 1, "SCRIPT", "Script";
        /// A GSM modem.
        Sms = 2, "SMS", "SMS";
        /// JavaScript.
        Webhook = 4, "WEBHOOK", "Webhook";
    }
}

numbered! {
    /// Whose mail server it is; the API's `provider`.
    EmailProvider: u8 {
        /// Any server.
        Smtp = 0, "GENERIC_SMTP", "Generic SMTP";
        /// Gmail, with an account.
        Gmail = 1, "GMAIL", "Gmail";
        /// Gmail's relay.
        GmailRelay = 2, "GMAIL_RELAY", "Gmail relay";
        /// Office 365, with an account.
        Office365 = 3, "OFFICE365", "Office365";
        /// Office 365's relay.
        Office365Relay = 4, "OFFICE365_RELAY", "Office365 relay";
    }
}

numbered! {
    /// How the connection to a mail server is encrypted; the API's `smtp_security`.
    SmtpSecurity: u8 {
        /// It is not.
        None = 0, "NONE", "None";
        /// From the command STARTTLS on.
        StartTls = 1, "STARTTLS", "STARTTLS";
        /// From the start.
        Tls = 2, "SSL_OR_TLS", "SSL/TLS";
    }
}

numbered! {
    /// How a mail server knows the client; the API's `smtp_authentication`.
    SmtpAuthentication: u8 {
        /// It does not.
        None = 0, "NONE", "None";
        /// By user name and password.
        Password = 1, "PASSWORD", "Username and password";
    }
}

numbered! {
    /// What the text of a mail is; the API's `message_format`.
    MessageFormat: u8 {
        /// Plain text.
        Text = 0, "TEXT", "Plain text";
        /// HTML.
        Html = 1, "HTML", "HTML";
    }
}

numbered! {
    /// What an operation or a default text is for; the API's `recovery`.
    OperationMode: u8 {
        /// A problem, and all events that have no end.
        Problem = 0, "PROBLEM", "Problem";
        /// The end of a problem.
        Recovery = 1, "RECOVERY", "Recovery";
        /// A change of a problem by a user, or of a service's status.
        Update = 2, "UPDATE", "Update";
    }
}

impl OperationMode {
    /// The modes that events of this source have.
    pub const fn of(source: EventSource) -> &'static [Self] {
        match source {
            EventSource::Trigger | EventSource::Service => Self::ALL,
            EventSource::Internal => &[Self::Problem, Self::Recovery],
            EventSource::Discovery | EventSource::Autoregistration => &[Self::Problem],
        }
    }
}

numbered! {
    /// How far an alert is; the API's `status` of alerts.
    AlertStatus: u8 {
        /// It waits for the next attempt.
        NotSent = 0, "", "In progress";
        /// It was sent, or its command was started.
        Sent = 1, "", "Sent";
        /// There are no further attempts.
        Failed = 2, "", "Failed";
        /// It waits for the first attempt.
        New = 3, "", "New";
        /// It is not sent by itself: another message tells of it, or nobody is to get it.
        Withheld = 4, "", "Withheld";
    }
}

numbered! {
    /// Why a message is not sent by itself; the API's `withheld` of alerts.
    Withholding: u8 {
        /// It waits for others of its group.
        Grouped = 1, "", "Grouped";
        /// A more severe problem with equal tags is open.
        Inhibited = 2, "", "Inhibited";
        /// The recipient has got too many messages.
        Storm = 3, "", "Message storm";
        /// Problems of its trigger mostly end by themselves soon.
        Transient = 4, "", "Transient";
        /// Its trigger opens and ends problems all the time.
        Flapping = 5, "", "Flapping";
    }
}

impl Withholding {
    /// As `event.explain` and `action.rehearse` name it.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Grouped => "grouped",
            Self::Inhibited => "inhibited",
            Self::Storm => "storm",
            Self::Transient => "transient",
            Self::Flapping => "flapping",
        }
    }

    /// The recipient gets to know of it by another message: he counts as one who was told of the problem.
    pub const fn is_told(self) -> bool {
        matches!(self, Self::Grouped | Self::Storm)
    }
}

numbered! {
    /// What an alert is; the API's `alerttype`.
    AlertType: u8 {
        /// A message to a user.
        Message = 0, "", "Message";
        /// A script on a host or on the server.
        Command = 1, "", "Command";
    }
}

numbered! {
    /// How far an escalation is.
    EscalationStatus: u8 {
        /// The next step is done when it is due.
        Active = 0, "", "Active";
        /// Steps wait until the problem is neither suppressed nor a symptom, and all that its trigger depends on is in
        /// order.
        Paused = 1, "", "Paused";
    }
}

numbered! {
    /// What a script is; the API's `type` of scripts.
    ScriptType: u8 {
        /// A shell command.
        Shell = 0, "", "Script";
        /// An IPMI command.
        Ipmi = 1, "", "IPMI";
        /// Commands over SSH.
        Ssh = 2, "", "SSH";
        /// Commands over Telnet.
        Telnet = 3, "", "Telnet";
        /// JavaScript.
        Webhook = 5, "", "Webhook";
        /// An address that the browser opens.
        Url = 6, "", "URL";
    }
}

numbered! {
    /// Where a script is used; the API's `scope` of scripts.
    ScriptScope: u8 {
        /// In operations of actions.
        Action = 1, "", "Action operation";
        /// Users run it on hosts.
        Host = 2, "", "Manual host action";
        /// Users run it on events.
        Event = 4, "", "Manual event action";
    }
}

numbered! {
    /// Where a shell command runs; the API's `execute_on`.
    ExecuteOn: u8 {
        /// On the agent.
        Agent = 0, "", "Agent";
        /// On the server.
        Server = 1, "", "Server";
        /// On the proxy of the host, or on the server.
        Proxy = 2, "", "Server or proxy";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_the_numbers_of_the_api() {
        assert_eq!(MediaTypeKind::NUMBERS, [0, 1, 2, 4]);
        assert_eq!(ScriptType::NUMBERS, [0, 1, 2, 3, 5, 6]);
        assert_eq!(ScriptScope::NUMBERS, [1, 2, 4]);
        for (source, modes) in [
            (EventSource::Trigger, 3),
            (EventSource::Discovery, 1),
            (EventSource::Autoregistration, 1),
            (EventSource::Internal, 2),
            (EventSource::Service, 3),
        ] {
            assert_eq!(OperationMode::of(source).len(), modes, "{source:?}");
        }
    }
}
