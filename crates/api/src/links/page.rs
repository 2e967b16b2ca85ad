//! The page of a link: plain HTML for any browser, without scripts.

use std::fmt::Write as _;

use axum::http::StatusCode;
use config::links::LinkKind;
use objects::Severity;

use super::{About, Progress, Refusal};

/// The style of all pages.
pub(crate) const STYLE: &str = include_str!("style.css");

/// The page, with its status.
pub(crate) fn page(result: &Result<About, Refusal>) -> (StatusCode, String) {
    match result {
        Ok(about) => (StatusCode::OK, whole(title(about), &of_problem(about))),
        Err(refusal) => {
            let (status, title, why) = refused(refusal);
            (status, whole(title, &format!("<p>{}</p>", escaped(why))))
        }
    }
}

/// The status of a refused response, and why.
pub(crate) fn refusal(refusal: &Refusal) -> (StatusCode, String) {
    let (status, title, why) = refused(refusal);
    (status, format!("{title}. {why}"))
}

fn whole(title: &str, main: &str) -> String {
    let title = escaped(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"robots\" content=\"noindex\">\n<title>{title} – Vedette</title>\n\
         <link rel=\"stylesheet\" href=\"style.css\">\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n{main}\n\
         </main>\n</body>\n</html>\n"
    )
}

fn title(about: &About) -> &'static str {
    match (about.progress, about.kind) {
        (Progress::Acknowledged, _) => "The problem is already acknowledged",
        (Progress::Ended, _) => "The problem has ended",
        (Progress::Possible, LinkKind::Acknowledge) => "Acknowledge the problem?",
        (Progress::Possible, LinkKind::Suppress) => "Suppress the problem for 1 hour?",
        (Progress::Possible, LinkKind::Close) => "Close the problem?",
        (Progress::Possible, LinkKind::Reply) => "Comment on the problem?",
        (Progress::Done, LinkKind::Acknowledge) => "The problem is acknowledged",
        (Progress::Done, LinkKind::Suppress) => "The problem is suppressed for 1 hour",
        (Progress::Done, LinkKind::Close) => "The problem is closed",
        (Progress::Done, LinkKind::Reply) => "The comment is stored",
    }
}

/// What the button does, and its text.
fn button(kind: LinkKind) -> (&'static str, &'static str) {
    match kind {
        LinkKind::Acknowledge => ("The problem is marked as acknowledged.", "Acknowledge"),
        LinkKind::Suppress => {
            ("The problem is hidden, and its messages wait, for 1 hour.", "Suppress for 1 hour")
        }
        LinkKind::Close => ("The problem ends now, whatever its trigger says.", "Close"),
        LinkKind::Reply => ("The problem gets a comment.", "Comment"),
    }
}

fn of_problem(about: &About) -> String {
    let severity = about.severity.label();
    let mut out = String::from("<dl>\n");
    let mut line = |name: &str, value: &str, class: &str| {
        let written = writeln!(out, "<dt>{name}</dt><dd{class}>{}</dd>", escaped(value));
        written.expect("BUG: a text takes what is written into it");
    };
    line("Problem", &about.problem, "");
    line("Host", &about.hosts.join(", "), "");
    line("Severity", severity, class(about.severity));
    line("Since", &about.since, "");
    line("You", &about.user, "");
    out.push_str("</dl>");
    if about.progress == Progress::Possible {
        let (what, text) = button(about.kind);
        let written = write!(
            out,
            "\n<p>{what}</p>\n<form method=\"post\"><button type=\"submit\">{text}</button></form>"
        );
        written.expect("BUG: a text takes what is written into it");
    }
    out
}

const fn class(severity: Severity) -> &'static str {
    match severity {
        Severity::NotClassified | Severity::Information => "",
        Severity::Warning | Severity::Average => " class=\"warning\"",
        Severity::High | Severity::Disaster => " class=\"high\"",
    }
}

fn refused(refusal: &Refusal) -> (StatusCode, &'static str, &str) {
    match refusal {
        Refusal::Unknown => (
            StatusCode::NOT_FOUND,
            "Unknown link",
            "This server did not make this link. Part of it may be missing: copy the whole address.",
        ),
        Refusal::Expired => (
            StatusCode::GONE,
            "The link has expired",
            "Sign in to the monitoring system to change the problem.",
        ),
        Refusal::Used => (
            StatusCode::GONE,
            "The link was used",
            "A link works once. Sign in to the monitoring system to change the problem again.",
        ),
        Refusal::TooMany => (
            StatusCode::TOO_MANY_REQUESTS,
            "Too many requests",
            "Too many links from your address did not work. Try again in a minute.",
        ),
        Refusal::NotAllowed(why) => (StatusCode::FORBIDDEN, "Not allowed", why),
        Refusal::Failed => (
            StatusCode::SERVICE_UNAVAILABLE,
            "The server cannot do this now",
            "Nothing was changed. Try again later.",
        ),
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
