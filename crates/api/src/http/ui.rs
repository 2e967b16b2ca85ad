//! The UI's files, inside the program.

use std::borrow::Cow;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};

use super::encoding::Encoding;
use super::redirect;

#[derive(rust_embed::RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Files;

/// A file of the UI, or the page of ours that stands for a bookmarked address of Zabbix; every other
/// address is the UI itself, which knows its own pages.
pub(super) async fn file(uri: Uri, headers: HeaderMap) -> Response {
    if let Some(page) = redirect::target(uri.path(), uri.query().unwrap_or("")) {
        // Temporary: what an address stands for may become a better page.
        return Redirect::temporary(&page).into_response();
    }
    answer(Files::get, uri.path().trim_start_matches('/'), &headers)
}

fn answer(
    get: impl Fn(&str) -> Option<rust_embed::EmbeddedFile>,
    path: &str,
    headers: &HeaderMap,
) -> Response {
    // Files that the build encoded are found under their plain names alone.
    let asked = if content_type(path).is_some() { get(path) } else { None };
    let (path, plain) = match asked {
        Some(file) => (path, file),
        None => match get("index.html") {
            Some(file) if !path.starts_with("assets/") => ("index.html", file),
            _ => {
                let text = "The UI is not part of this build: run `make build`.\n";
                return (StatusCode::NOT_FOUND, text).into_response();
            }
        },
    };
    let tag = etag(&plain.metadata.sha256_hash());
    let encoded = Encoding::choose(headers, &[Encoding::Brotli, Encoding::Gzip])
        .and_then(|encoding| Some((encoding, get(&format!("{path}{}", encoding.file_end()))?)));
    let (encoding, data) = match encoded {
        Some((encoding, file)) => (Some(encoding), file.data),
        None => (None, plain.data),
    };
    let mut answer = if headers.get(header::IF_NONE_MATCH) == Some(&tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Body::from(bytes(data)).into_response()
    };
    // Names under assets/ carry a hash of their content.
    let cache = if path.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let kind = content_type(path).unwrap_or("application/octet-stream");
    let told = answer.headers_mut();
    told.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    told.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    told.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    told.insert(header::ETAG, tag);
    if let Some(encoding) = encoding {
        told.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    }
    answer
}

/// Without a copy where the file is part of the program.
fn bytes(data: Cow<'static, [u8]>) -> Bytes {
    match data {
        Cow::Borrowed(data) => Bytes::from_static(data),
        Cow::Owned(data) => Bytes::from(data),
    }
}

/// Weak, because all encodings of a file share it.
fn etag(hash: &[u8]) -> HeaderValue {
    let mut text = String::from("W/\"");
    for byte in &hash[..8] {
        text.push_str(&format!("{byte:02x}"));
    }
    text.push('"');
    HeaderValue::try_from(text).expect("BUG: hexadecimal digits fit into a header")
}

/// None for what the UI has no files of.
fn content_type(path: &str) -> Option<&'static str> {
    Some(match path.rsplit('/').next().unwrap_or("").rsplit_once('.')?.1 {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "json" | "map" => "application/json",
        "woff2" => "font/woff2",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use rust_embed::{EmbeddedFile, Metadata};

    use super::*;

    fn get(path: &str) -> Option<EmbeddedFile> {
        let data: &'static [u8] = match path {
            "index.html" => b"the page",
            "assets/app-x1.js" => b"code",
            "assets/app-x1.js.br" => b"code in brotli",
            "assets/app-x1.js.gz" => b"code in gzip",
            _ => return None,
        };
        let metadata = Metadata::__rust_embed_new([7; 32], None, None);
        Some(EmbeddedFile { data: Cow::Borrowed(data), metadata })
    }

    fn ask(path: &str, asked: &[(header::HeaderName, &'static str)]) -> (Response, String) {
        let mut headers = HeaderMap::new();
        for (name, value) in asked {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let (parts, body) = answer(get, path, &headers).into_parts();
        let body = futures_util::FutureExt::now_or_never(axum::body::to_bytes(body, 1000));
        let body = String::from_utf8(body.unwrap().unwrap().to_vec()).unwrap();
        (Response::from_parts(parts, Body::empty()), body)
    }

    fn told(answer: &Response, name: header::HeaderName) -> &str {
        answer.headers().get(name).map_or("", |value| value.to_str().unwrap())
    }

    #[test]
    fn assets_are_encoded_and_kept_for_a_year() {
        let accept = |value| [(header::ACCEPT_ENCODING, value)];
        let cases = [
            ("gzip, br", "br", "code in brotli"),
            ("gzip", "gzip", "code in gzip"),
            ("identity", "", "code"),
        ];
        for (value, encoding, expected) in cases {
            let (answer, body) = ask("assets/app-x1.js", &accept(value));
            assert_eq!(answer.status(), StatusCode::OK);
            assert_eq!(body, expected);
            assert_eq!(told(&answer, header::CONTENT_ENCODING), encoding);
            assert_eq!(told(&answer, header::CONTENT_TYPE), "text/javascript; charset=utf-8");
            assert!(told(&answer, header::CACHE_CONTROL).contains("immutable"));
            assert_eq!(told(&answer, header::VARY), "Accept-Encoding");
        }
    }

    #[test]
    fn every_other_address_is_the_page_and_asked_again() {
        for path in ["", "problems", "hosts/10084", "hosts/a.b/edit", "assets.txt"] {
            let (answer, body) = ask(path, &[(header::ACCEPT_ENCODING, "gzip")]);
            assert_eq!(body, "the page", "{path}");
            assert_eq!(told(&answer, header::CACHE_CONTROL), "no-cache");
            assert_eq!(told(&answer, header::CONTENT_ENCODING), "");
        }
        let (answer, _) = ask("assets/gone-x2.js", &[]);
        assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    }

    #[test]
    fn unchanged_files_are_not_sent_again() {
        let (answer, _) = ask("", &[]);
        assert_eq!(told(&answer, header::ETAG), "W/\"0707070707070707\"");
        let (answer, body) = ask("", &[(header::IF_NONE_MATCH, "W/\"0707070707070707\"")]);
        assert_eq!((answer.status(), body.as_str()), (StatusCode::NOT_MODIFIED, ""));
        let (answer, _) = ask("", &[(header::IF_NONE_MATCH, "W/\"0000000000000000\"")]);
        assert_eq!(answer.status(), StatusCode::OK);
    }
}
