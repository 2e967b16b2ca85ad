//! The live stream: server-sent events to signed-in browsers, for as long as their session lasts.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use model::ItemId;
use objects::UserType;
use tokio::sync::{broadcast, watch};
use tokio::time::Interval;

use super::{Http, bearer};
use crate::call::User;
use crate::permission::Need;
use crate::service::Allowed;
use crate::{Api, LiveNote, session};

/// How often a stream checks that its session has not expired. A logout, a new password and changes
/// of users, roles and groups are checked at once.
const CHECK_EVERY: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 10_000 });

/// `GET /api/live` with the session or token in the `Authorization` header: what received values,
/// that problems or the configuration changed. The stream ends with the session.
pub(super) async fn live(State(http): State<Http>, headers: HeaderMap) -> Response {
    let Some(secret) = bearer(&headers) else { return refused() };
    // Before the user is read, so that no change in between is missed.
    let changes = http.api.sessions.changes();
    let notes = http.api.deps.hub.listen();
    let (api, own) = (Arc::clone(&http.api), secret.clone());
    let user = tokio::task::spawn_blocking(move || session::authenticate(&api, Some(&own)));
    let Ok(Ok(user)) = user.await else { return refused() };
    let mut check = tokio::time::interval(CHECK_EVERY);
    check.reset();
    let stream = LiveStream { api: Arc::clone(&http.api), secret, user, notes, changes, check };
    let stream = futures_util::stream::unfold(stream, |mut stream| async move {
        let (name, data) = stream.next().await?.event();
        Some((Ok::<_, Infallible>(Event::default().event(name).data(data.to_string())), stream))
    });
    // Asks reverse proxies not to buffer: each event is of use only at once.
    let unbuffered = [(HeaderName::from_static("x-accel-buffering"), "no")];
    (unbuffered, Sse::new(stream).keep_alive(KeepAlive::default())).into_response()
}

fn refused() -> Response {
    (StatusCode::UNAUTHORIZED, "Session terminated, re-login, please.").into_response()
}

struct LiveStream {
    api: Arc<Api>,
    secret: String,
    user: User,
    notes: broadcast::Receiver<LiveNote>,
    changes: watch::Receiver<u64>,
    check: Interval,
}

impl LiveStream {
    /// The next note for this user; `None` = the session has ended, or the server stops.
    async fn next(&mut self) -> Option<LiveNote> {
        loop {
            let note = tokio::select! {
                // A revoked session gets no further note, whatever waits.
                biased;
                changed = self.changes.changed() => {
                    changed.ok()?;
                    self.recheck().await?;
                    continue;
                }
                _ = self.check.tick() => {
                    self.recheck().await?;
                    continue;
                }
                note = self.notes.recv() => note,
            };
            match note {
                Ok(LiveNote::Values(items)) => {
                    let items = self.visible(items).await;
                    if !items.is_empty() {
                        return Some(LiveNote::Values(items));
                    }
                }
                Ok(note) => return Some(note),
                // Too slow: it missed notes and reads everything again.
                Err(broadcast::error::RecvError::Lagged(_)) => return Some(LiveNote::Config),
                Err(broadcast::error::RecvError::Closed) => return None,
            }
        }
    }

    /// Reads the user's rights again; `None` = the session has ended. An open stream is no use of a
    /// session, so it does not keep one alive.
    async fn recheck(&mut self) -> Option<()> {
        let (api, secret) = (Arc::clone(&self.api), self.secret.clone());
        let user = tokio::task::spawn_blocking(move || session::look(&api, &secret)).await;
        match user.ok()? {
            Ok(user) => self.user = user,
            // The database cannot be read now; the next check decides.
            Err(error) if error.is_of_database() => {}
            Err(_) => return None,
        }
        Some(())
    }

    /// The items among these that the user may see.
    async fn visible(&self, mut items: Vec<ItemId>) -> Vec<ItemId> {
        if self.user.kind == UserType::SuperAdmin {
            return items;
        }
        let (api, user) = (Arc::clone(&self.api), self.user.clone());
        let visible = move || {
            let snapshot = api.deps.config.snapshot();
            let host = |item: &ItemId| snapshot.items.get(item).map(|item| item.host);
            let hosts = items.iter().filter_map(host);
            match Allowed::load(&api, &user, Need::Read, hosts) {
                Ok(allowed) => items.retain(|item| host(item).is_some_and(|h| allowed.has(h))),
                // Without its rights a user sees nothing; the UI polls as well.
                Err(_) => items.clear(),
            }
            items
        };
        tokio::task::spawn_blocking(visible).await.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use axum::body::{Bytes, to_bytes};
    use axum::http::{Request, header};
    use futures_util::{FutureExt, StreamExt};
    use serde_json::{Value, json};

    use super::super::tests::{Site, site, told};
    use super::*;

    async fn open(site: &Site, token: &str) -> Response {
        let request = Request::get("/api/live")
            .header(header::ACCEPT_ENCODING, "gzip, br")
            .header(header::AUTHORIZATION, format!("Bearer {token}"));
        site.ask(request, String::new()).await
    }

    type Pieces = axum::body::BodyDataStream;

    async fn pieces(site: &Site, token: &str) -> Pieces {
        let answer = open(site, token).await;
        assert_eq!(answer.status(), StatusCode::OK);
        answer.into_body().into_data_stream()
    }

    async fn piece(stream: &mut Pieces) -> Option<Bytes> {
        stream.next().await.map(Result::unwrap)
    }

    fn call(site: &Site, method: &str, params: &Value, token: &str) -> Value {
        site.api.call(method, params, token, [127, 0, 0, 1].into()).unwrap()
    }

    fn login(site: &Site, user: &str) -> String {
        let login = json!({ "jsonrpc": "2.0", "id": 1, "method": "user.login",
            "params": { "username": user, "password": "Pa55word-x" } });
        let text = site.api.handle(login.to_string().as_bytes(), None, [127, 0, 0, 1].into());
        let answer: Value = serde_json::from_str(&text.unwrap()).unwrap();
        answer["result"].as_str().unwrap().to_owned()
    }

    /// A user of a new user group; ids of both.
    fn user(site: &Site, name: &str, hostgroup: Option<&str>) -> (String, String) {
        let rights: Vec<_> =
            hostgroup.iter().map(|id| json!({ "id": id, "permission": 2 })).collect();
        let group = json!({ "name": name, "hostgroup_rights": rights });
        let group = call(site, "usergroup.create", &group, &site.token);
        let group = group["usrgrpids"][0].as_str().unwrap().to_owned();
        let user = json!({ "username": name, "passwd": "Pa55word-x", "roleid": "1",
            "autologout": "90s", "usrgrps": [{ "usrgrpid": group }] });
        let user = call(site, "user.create", &user, &site.token);
        (user["userids"][0].as_str().unwrap().to_owned(), group)
    }

    #[tokio::test]
    async fn events_are_sent_at_once_and_not_encoded() {
        let site = site();
        let answer = open(&site, &site.token).await;
        assert_eq!(answer.status(), StatusCode::OK);
        assert_eq!(told(&answer, header::CONTENT_TYPE), "text/event-stream");
        assert_eq!(told(&answer, header::CONTENT_ENCODING), "");
        assert_eq!(told(&answer, HeaderName::from_static("x-accel-buffering")), "no");
        let mut stream = answer.into_body().into_data_stream();
        for _ in 0..2 {
            // One note, one piece of the stream: it does not wait for a second note.
            site.api.deps.hub.tell(LiveNote::Problems);
            assert_eq!(&piece(&mut stream).await.unwrap()[..], b"event: problems\ndata: {}\n\n");
        }
    }

    #[tokio::test]
    async fn each_change_of_the_configuration_is_sent_once() {
        let site = site();
        let mut stream = pieces(&site, &site.token).await;
        for (method, params) in [
            ("hostgroup.create", json!({ "name": "g" })),
            ("usermacro.createglobal", json!({ "macro": "{$M}", "value": "1" })),
            // Monitoring does not read these.
            ("usergroup.create", json!({ "name": "g" })),
            ("role.create", json!({ "name": "r", "type": 1 })),
        ] {
            call(&site, method, &params, &site.token);
            assert_eq!(&piece(&mut stream).await.unwrap()[..], b"event: config\ndata: {}\n\n");
            assert!(piece(&mut stream).now_or_never().is_none(), "{method}");
        }
        let refused = json!({ "name": "g" });
        site.api
            .call("hostgroup.create", &refused, &site.token, [127, 0, 0, 1].into())
            .unwrap_err();
        assert!(piece(&mut stream).now_or_never().is_none());
    }

    #[tokio::test]
    async fn only_the_header_opens_a_stream() {
        let site = site();
        assert_eq!(open(&site, "nobody").await.status(), StatusCode::UNAUTHORIZED);
        for address in ["/api/live".to_owned(), format!("/api/live?token={}", site.token)] {
            let answer = site.ask(Request::get(&address), String::new()).await;
            assert_eq!(answer.status(), StatusCode::UNAUTHORIZED, "{address}");
            to_bytes(answer.into_body(), 1000).await.unwrap();
        }
    }

    #[tokio::test]
    async fn streams_end_with_their_session() {
        /// Site, user, user group, session.
        type Revoke = fn(&Site, &str, &str, &str);
        let site = site();
        let revoke: [(&str, Revoke); 4] = [
            ("logout", |site, _, _, token| {
                call(site, "user.logout", &json!([]), token);
            }),
            ("password", |site, user, _, _| {
                let change = json!({ "userid": user, "passwd": "An0ther-pass" });
                call(site, "user.update", &change, &site.token);
            }),
            ("disabled", |site, _, group, _| {
                let change = json!({ "usrgrpid": group, "users_status": 1 });
                call(site, "usergroup.update", &change, &site.token);
            }),
            ("deleted", |site, user, _, _| {
                call(site, "user.delete", &json!([user]), &site.token);
            }),
        ];
        for (name, revoke) in revoke {
            let (id, group) = user(&site, name, None);
            let token = login(&site, name);
            let mut stream = pieces(&site, &token).await;
            let mut other = pieces(&site, &site.token).await;
            revoke(&site, &id, &group, &token);
            site.api.deps.hub.tell(LiveNote::Problems);
            assert_eq!(piece(&mut stream).await, None, "{name}");
            assert!(piece(&mut other).await.is_some(), "{name}: the stream of another session");
        }
    }

    #[tokio::test]
    async fn streams_end_when_the_session_expires_unused() {
        let site = site();
        user(&site, "idle", None);
        let token = login(&site, "idle");
        let mut stream = pieces(&site, &token).await;
        site.clock.advance(Duration::from_secs(80));
        tokio::time::sleep(CHECK_EVERY * 3 / 2).await;
        site.api.deps.hub.tell(LiveNote::Problems);
        assert!(piece(&mut stream).await.is_some(), "80 s unused of 90");
        site.clock.advance(Duration::from_secs(11));
        assert_eq!(piece(&mut stream).await, None);
    }

    #[tokio::test]
    async fn items_of_hidden_hosts_are_not_named() {
        let site = site();
        let group = |name: &str| {
            let made = call(&site, "hostgroup.create", &json!({ "name": name }), &site.token);
            made["groupids"][0].as_str().unwrap().to_owned()
        };
        let mut items = Vec::new();
        let groups = [group("seen"), group("hidden")];
        for (n, group) in groups.iter().enumerate() {
            let host = json!({ "host": format!("h{n}"), "groups": [{ "groupid": group }] });
            let host = call(&site, "host.create", &host, &site.token)["hostids"][0].clone();
            let item =
                json!({ "name": "i", "key_": "i", "hostid": host, "type": 2, "value_type": 3 });
            let item = call(&site, "item.create", &item, &site.token)["itemids"][0].clone();
            items.push(item.as_str().unwrap().parse().map(ItemId).unwrap());
        }
        user(&site, "reader", Some(&groups[0]));
        let mut reader = pieces(&site, &login(&site, "reader")).await;
        let mut admin = pieces(&site, &site.token).await;
        let told = |items: &[ItemId]| {
            let ids: Vec<String> = items.iter().map(ToString::to_string).collect();
            format!("event: values\ndata: {}\n\n", json!({ "itemids": ids }))
        };
        for note in [vec![items[1]], items.clone()] {
            site.api.deps.hub.tell(LiveNote::Values(note.clone()));
            assert_eq!(piece(&mut admin).await.unwrap(), told(&note));
        }
        assert_eq!(piece(&mut reader).await.unwrap(), told(&items[..1]));
        assert!(piece(&mut reader).now_or_never().is_none(), "nothing of the hidden host");
    }
}
