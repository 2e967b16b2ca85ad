//! `GET /oncall/TOKEN.ics`: on-call shifts for calendar programs, which have no session.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Path, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use super::{Http, ui};
use crate::methods::oncall::calendar_of;

pub(super) async fn calendar(
    State(http): State<Http>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Path(file): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    // Other addresses are those of the UI.
    let Some(token) = file.strip_suffix(".ics").map(str::to_owned) else {
        return ui::file(uri, headers).await;
    };
    // A stranger until the token is known: a source has a share of the calls.
    let share = http.strangers.share(peer.ip());
    let Some(calls) = http.strangers.call(&share).await else {
        return StatusCode::SERVICE_UNAVAILABLE.into_response();
    };
    let api = Arc::clone(&http.api);
    let work = move || {
        let _calls = calls;
        calendar_of(&api, &token)
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(Some(text))) => {
            let said = [
                (header::CONTENT_TYPE, "text/calendar; charset=utf-8"),
                (header::CACHE_CONTROL, "no-store"),
            ];
            (said, text).into_response()
        }
        Ok(Ok(None)) => StatusCode::NOT_FOUND.into_response(),
        Ok(Err(error)) => {
            tracing::warn!(%error, "cannot make the calendar of an on-call schedule");
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
