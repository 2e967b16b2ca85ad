//! Rules of users' fields beyond type and length.

use crate::call::Json;
use crate::error::{ApiError, ApiResult};
use crate::params;

const LANGUAGES: &[&str] = &[
    "default", "en_GB", "en_US", "bg_BG", "ca_ES", "zh_CN", "zh_TW", "cs_CZ", "da_DK", "nl_NL",
    "fi_FI", "fr_FR", "ka_GE", "de_DE", "el_GR", "he_IL", "hu_HU", "id_ID", "it_IT", "ko_KR",
    "ja_JP", "lv_LV", "lt_LT", "nb_NO", "fa_IR", "pl_PL", "pt_BR", "pt_PT", "ro_RO", "ru_RU",
    "sk_SK", "es_ES", "sv_SE", "tr_TR", "uk_UA", "vi_VN",
];

const THEMES: &[&str] = &["default", "blue-theme", "dark-theme", "hc-light", "hc-dark"];

/// Checks language, theme, times, time zone and address of a user.
pub(super) fn check(object: &Json, path: &str) -> ApiResult<()> {
    let at = |name: &str| format!("{path}/{name}");
    let text = |name: &str| object.get(name).map(|v| params::text(v, &at(name))).transpose();
    for (name, allowed) in [("lang", LANGUAGES), ("theme", THEMES)] {
        if let Some(value) = text(name)?
            && !allowed.contains(&value.as_str())
        {
            let list: Vec<String> = allowed.iter().map(|word| format!("\"{word}\"")).collect();
            let what = format!("value must be one of {}", list.join(", "));
            return Err(ApiError::at(&at(name), what));
        }
    }
    if let Some(value) = text("autologout")? {
        let seconds = params::time_unit(&value, &at("autologout"))?;
        if seconds != 0 && !(90..=86_400).contains(&seconds) {
            return Err(ApiError::at(&at("autologout"), "value must be one of 0, 90-86400"));
        }
        let autologin = object.get("autologin").is_some_and(|v| params::flag(Some(v)));
        if autologin && seconds != 0 {
            return Err(ApiError::params(
                "Auto-login and auto-logout options cannot be enabled together.",
            ));
        }
    }
    if let Some(value) = text("refresh")?
        && params::time_unit(&value, &at("refresh"))? > 3_600
    {
        return Err(ApiError::at(&at("refresh"), "value must be one of 0-3600"));
    }
    if let Some(value) = text("timezone")?
        && !is_time_zone(&value)
    {
        return Err(ApiError::at(&at("timezone"), "the name of a time zone is expected"));
    }
    if let Some(value) = text("url")?
        && !is_address(&value)
    {
        return Err(ApiError::at(&at("url"), "unacceptable URL"));
    }
    Ok(())
}

/// `default`, `UTC`, `Area/Place`. Which places there are is for the one who shows the time.
fn is_time_zone(name: &str) -> bool {
    const AREAS: &[&str] = &[
        "Africa",
        "America",
        "Antarctica",
        "Arctic",
        "Asia",
        "Atlantic",
        "Australia",
        "Europe",
        "Indian",
        "Pacific",
    ];
    if name == "default" || name == "UTC" {
        return true;
    }
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '/');
    match name.split_once('/') {
        Some((area, place)) => {
            AREAS.contains(&area) && !place.is_empty() && place.chars().all(word)
        }
        None => false,
    }
}

/// No scheme (a page of our own) or one that a browser opens without running it.
pub(crate) fn is_address(url: &str) -> bool {
    let read = as_browsers_read(url);
    let scheme = read.split_once(':').map(|(scheme, _)| scheme.trim_end().to_ascii_lowercase());
    match scheme {
        Some(scheme)
            if scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b)) =>
        {
            ["http", "https", "ftp", "file", "mailto", "tel", "ssh"].contains(&scheme.as_str())
        }
        _ => true,
    }
}

/// Without control characters before it, and without line ends and tabs anywhere.
pub(crate) fn as_browsers_read(url: &str) -> String {
    let read: String = url.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    read.trim_start_matches(|c: char| c <= ' ').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_refused() {
        for (object, good) in [
            (json!({}), true),
            (json!({ "lang": "de_DE", "theme": "dark-theme" }), true),
            (json!({ "lang": "xx" }), false),
            (json!({ "theme": "x" }), false),
            (json!({ "autologout": "90s" }), true),
            (json!({ "autologout": "10s" }), false),
            (json!({ "autologout": "0", "autologin": 1 }), true),
            (json!({ "autologout": "90s", "autologin": 1 }), false),
            (json!({ "refresh": "1h" }), true),
            (json!({ "refresh": "2h" }), false),
            (json!({ "refresh": "x" }), false),
            (json!({ "timezone": "Europe/Riga" }), true),
            (json!({ "timezone": "X/Y" }), false),
            (json!({ "url": "hosts?x=1:2" }), true),
            (json!({ "url": "https://example.org" }), true),
            (json!({ "url": "javascript:x" }), false),
            (json!({ "url": " \u{1}java\nscript\t:x" }), false),
        ] {
            assert_eq!(check(&object, "/1").is_ok(), good, "{object}");
        }
    }
}
