//! SSH checks: one command on a host, its output is the value.

use std::borrow::Cow;
use std::cell::Cell;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use config::snapshot::source::Login;
use russh::client::{self, AuthResult, Handle, KeyboardInteractiveAuthResponse as Dialogue};
use russh::keys::{Algorithm, PrivateKey, PrivateKeyWithHashAlg, PublicKeyOrCertificate};
use russh::{Channel, ChannelMsg, MethodKind, Preferred, cipher, kex, mac};
use tokio::time::timeout;

use super::check::Check;
use super::host_keys::HostKeys;
use super::login::{self, OUTPUT_BYTES_MAX, Place};
use super::reply::CheckReply;

const PORT: u16 = 22;
/// Questions of one keyboard-interactive dialogue that are answered.
const ROUNDS_MAX: usize = 8;
/// Bytes of a key file.
const KEY_BYTES_MAX: u64 = 64 << 10;

/// Runs the item's command.
pub(crate) async fn check(host_keys: &Arc<HostKeys>, check: &Check<'_>) -> CheckReply {
    let stage = Cell::new("Cannot connect to SSH server");
    let asked = timeout(check.timeout, ask(host_keys, check, &stage)).await;
    match asked.unwrap_or_else(|_| Err(format!("{}: timeout error", stage.get()))) {
        Ok(text) => CheckReply::Value(text),
        Err(why) => CheckReply::NotSupported(why),
    }
}

async fn ask(
    host_keys: &Arc<HostKeys>,
    check: &Check<'_>,
    stage: &Cell<&'static str>,
) -> Result<String, String> {
    let place = login::place(check, "ssh.run", 6, PORT)?;
    let option = |n: usize| place.more.get(n).map_or("", String::as_str);
    let mut preferred = preferred(option(0))?;
    if !option(0).contains("HostkeyAlgorithms") {
        let known = host_keys.algorithms(&place.host, place.port);
        preferred.key = known_first(preferred.key, &known);
    }
    let (command, login) = login::task(check.item);
    let command = command.replace("\r\n", "\n");
    let key = match login.by_key {
        true => Some(key(&check.shared.config.ssh_keys, login)?),
        false => None,
    };
    let failed = |why| format!("{}: {why}", stage.get());
    let stream = login::connect(check.shared, &place).await.map_err(failed)?;
    stage.set("Cannot establish SSH session");
    let failed = |why: russh::Error| format!("{}: {why}", stage.get());
    let config = client::Config {
        preferred,
        // Ends what is left of a session that was given up.
        inactivity_timeout: Some(check.timeout + Duration::from_secs(1)),
        nodelay: true,
        ..client::Config::default()
    };
    let refused = Arc::new(OnceLock::new());
    let doorman = Doorman {
        host_keys: Arc::clone(host_keys),
        host: place.host.clone(),
        port: place.port,
        refused: Arc::clone(&refused),
    };
    let session = client::connect_stream(Arc::new(config), stream, doorman).await;
    let mut session = session.map_err(|why| match refused.get() {
        Some(refused) => format!("{}: {refused}", stage.get()),
        None => failed(why),
    })?;
    stage.set("Cannot authenticate at SSH server");
    match key {
        Some(key) => by_key(&mut session, &login.username, key).await?,
        None => by_password(&mut session, login).await?,
    }
    stage.set("Cannot read data from SSH server");
    let mut channel = session.channel_open_session().await.map_err(failed)?;
    match option(1) {
        "" => channel.exec(true, command).await.map_err(failed)?,
        subsystem => {
            channel.request_subsystem(true, subsystem).await.map_err(failed)?;
            channel.data(command.as_bytes()).await.map_err(failed)?;
            channel.eof().await.map_err(failed)?;
        }
    }
    let output = read(&mut channel).await?;
    let _ = session.disconnect(russh::Disconnect::ByApplication, "", "").await;
    decode(&output, &place)
}

/// The output without white space at its end.
fn decode(output: &[u8], place: &Place) -> Result<String, String> {
    let mut text = login::decode(output, &place.encoding, "SSH")?;
    text.truncate(text.trim_end_matches([' ', '\t', '\r', '\n']).len());
    Ok(text)
}

/// What the command writes to its standard output.
async fn read(channel: &mut Channel<client::Msg>) -> Result<Vec<u8>, String> {
    let mut output = Vec::new();
    while let Some(message) = channel.wait().await {
        match message {
            ChannelMsg::Data { data } => {
                output.extend_from_slice(&data);
                if output.len() > OUTPUT_BYTES_MAX {
                    let limit = OUTPUT_BYTES_MAX >> 10;
                    return Err(format!("Command output exceeded limit of {limit} KB"));
                }
            }
            ChannelMsg::Failure => {
                return Err("The SSH server refuses to run the command or subsystem.".to_owned());
            }
            ChannelMsg::Eof | ChannelMsg::Close => break,
            _ => {}
        }
    }
    Ok(output)
}

/// Lets hosts in whose key is right.
struct Doorman {
    host_keys: Arc<HostKeys>,
    host: String,
    port: u16,
    /// Why one is not, for the item.
    refused: Arc<OnceLock<String>>,
}

impl client::Handler for Doorman {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        key: &PublicKeyOrCertificate,
    ) -> Result<bool, russh::Error> {
        let checked = match key {
            PublicKeyOrCertificate::PublicKey { key, .. } => {
                self.host_keys.check(&self.host, self.port, key)
            }
            // None was asked for.
            PublicKeyOrCertificate::Certificate(_) => Err("it is a certificate".to_owned()),
        };
        Ok(match checked {
            Ok(()) => true,
            Err(why) => {
                let _ = self.refused.set(why);
                false
            }
        })
    }
}

/// The private key of a login. The public one has to be there too, as people of the field know it.
fn key(folder: &Path, login: &Login) -> Result<PrivateKey, String> {
    file(folder, &login.public_key, "public")?;
    let private = file(folder, &login.private_key, "private")?;
    let text = std::fs::read_to_string(&private).map_err(|_| no_access("private", &private))?;
    let passphrase = Some(login.password.as_str()).filter(|text| !text.is_empty());
    russh::keys::decode_secret_key(&text, passphrase)
        .map_err(|why| format!("Public key authentication failed: the private key: {why}"))
}

fn file(folder: &Path, name: &str, which: &str) -> Result<PathBuf, String> {
    let path = folder.join(name);
    let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let about = std::fs::metadata(&path);
    match about {
        Ok(about) if inside && about.is_file() && about.len() <= KEY_BYTES_MAX => Ok(path),
        _ => Err(no_access(which, &path)),
    }
}

fn no_access(which: &str, path: &Path) -> String {
    format!("Cannot access {which} key file {}", path.display())
}

async fn by_key(session: &mut Handle<Doorman>, user: &str, key: PrivateKey) -> Result<(), String> {
    let failed = |why: russh::Error| format!("Public key authentication failed: {why}");
    let hash = match key.algorithm() {
        Algorithm::Rsa { .. } => session.best_supported_rsa_hash().await.map_err(failed)?.flatten(),
        _ => None,
    };
    let key = PrivateKeyWithHashAlg::new(Arc::new(key), hash);
    match session.authenticate_publickey(user, key).await.map_err(failed)? {
        AuthResult::Success => Ok(()),
        AuthResult::Failure { .. } => Err("Public key authentication failed: the server does not \
                                           accept this user with this key"
            .to_owned()),
    }
}

async fn by_password(session: &mut Handle<Doorman>, login: &Login) -> Result<(), String> {
    const FAILED: &str = "Password authentication failed";
    let failed = |why: russh::Error| format!("{FAILED}: {why}");
    let methods = match session.authenticate_none(&login.username).await.map_err(failed)? {
        AuthResult::Success => return Ok(()),
        AuthResult::Failure { remaining_methods, .. } => remaining_methods,
    };
    if methods.contains(&MethodKind::Password) {
        let result = session.authenticate_password(&login.username, &login.password).await;
        return match result.map_err(failed)? {
            AuthResult::Success => Ok(()),
            AuthResult::Failure { .. } => {
                Err(format!("{FAILED}: Authentication failed (username/password)"))
            }
        };
    }
    if methods.contains(&MethodKind::KeyboardInteractive) {
        return by_dialogue(session, login).await;
    }
    let offered: Vec<&str> = methods.iter().map(Into::into).collect();
    Err(format!("Unsupported authentication method. Supported methods: {}", offered.join(",")))
}

/// Every hidden question gets the password.
async fn by_dialogue(session: &mut Handle<Doorman>, login: &Login) -> Result<(), String> {
    const FAILED: &str = "Keyboard-interactive authentication failed";
    let failed = |why: russh::Error| format!("{FAILED}: {why}");
    let user = login.username.as_str();
    let mut said =
        session.authenticate_keyboard_interactive_start(user, None).await.map_err(failed)?;
    for _ in 0..ROUNDS_MAX {
        let Dialogue::InfoRequest { prompts, .. } = &said else { break };
        let answer = |echo| if echo { String::new() } else { login.password.clone() };
        let answers = prompts.iter().map(|prompt| answer(prompt.echo)).collect();
        said = session.authenticate_keyboard_interactive_respond(answers).await.map_err(failed)?;
    }
    match said {
        Dialogue::Success => Ok(()),
        _ => Err(format!("{FAILED}: Authentication failed (keyboard-interactive)")),
    }
}

/// Names for devices of old, tried last.
const OLD_KEX: [kex::Name; 3] = [kex::DH_GEX_SHA1, kex::DH_G14_SHA1, kex::DH_G1_SHA1];
const OLD_CIPHERS: [cipher::Name; 3] =
    [cipher::AES_256_CBC, cipher::AES_192_CBC, cipher::AES_128_CBC];
/// What is no algorithm but belongs to the list of them.
const KEX_EXTENSIONS: [kex::Name; 2] =
    [kex::EXTENSION_SUPPORT_AS_CLIENT, kex::EXTENSION_OPENSSH_STRICT_KEX_AS_CLIENT];

/// The algorithms that are offered: all that are built in, or what the key's options
/// (`Ciphers=a,b;MACs=c`) say.
fn preferred(options: &str) -> Result<Preferred, String> {
    let mut preferred = Preferred::default();
    add(&mut preferred.kex, &OLD_KEX);
    add(&mut preferred.cipher, &OLD_CIPHERS);
    add(&mut preferred.mac, &[mac::HMAC_SHA1_ETM, mac::HMAC_SHA1]);
    add(&mut preferred.key, &[Algorithm::Rsa { hash: None }]);
    for option in options.split(';').filter(|option| !option.is_empty()) {
        let (name, list) = option.split_once('=').unwrap_or((option, ""));
        match name {
            "KexAlgorithms" => {
                preferred.kex = known(list, |name| kex::Name::try_from(name).ok())?;
                add(&mut preferred.kex, &KEX_EXTENSIONS);
            }
            "HostkeyAlgorithms" => preferred.key = known(list, |name| name.parse().ok())?,
            "Ciphers" => preferred.cipher = known(list, |name| cipher::Name::try_from(name).ok())?,
            "MACs" => preferred.mac = known(list, |name| mac::Name::try_from(name).ok())?,
            _ => return Err(format!("SSH option \"{name}\" is not supported.")),
        }
    }
    Ok(preferred)
}

/// Algorithms in whose form a host's key is known go first, so that a host with several keys shows
/// the one that can be compared.
fn known_first(all: Cow<'static, [Algorithm]>, known: &[Algorithm]) -> Cow<'static, [Algorithm]> {
    let is_rsa = |one: &Algorithm| matches!(one, Algorithm::Rsa { .. });
    let same =
        |one: &Algorithm| known.iter().any(|known| known == one || (is_rsa(known) && is_rsa(one)));
    let (mut first, rest): (Vec<_>, Vec<_>) = all.iter().cloned().partition(same);
    first.extend(rest);
    Cow::Owned(first)
}

fn add<T: Clone + PartialEq>(list: &mut Cow<'static, [T]>, more: &[T]) {
    let missing: Vec<T> = more.iter().filter(|one| !list.contains(one)).cloned().collect();
    list.to_mut().extend(missing);
}

fn known<T: Clone>(
    list: &str,
    of: impl Fn(&str) -> Option<T>,
) -> Result<Cow<'static, [T]>, String> {
    let found: Vec<T> = list.split(',').filter_map(|name| of(name.trim())).collect();
    match found.is_empty() {
        true => Err(format!(
            "Cannot establish SSH session: none of the algorithms \"{list}\" is built in"
        )),
        false => Ok(Cow::Owned(found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_choose_algorithms() {
        let all = preferred("").unwrap();
        assert!(all.kex.contains(&kex::CURVE25519) && all.kex.contains(&kex::DH_G1_SHA1));
        let only =
            preferred("KexAlgorithms=nosuch,diffie-hellman-group14-sha256;MACs=hmac-sha2-256")
                .unwrap();
        assert_eq!(only.kex[0], kex::DH_G14_SHA256);
        assert_eq!(only.kex.len(), 1 + KEX_EXTENSIONS.len());
        assert_eq!(*only.mac, [mac::HMAC_SHA256]);
        assert_eq!(only.cipher, all.cipher);
        for (options, expected) in [
            ("Nosuch=x", "SSH option \"Nosuch\" is not supported."),
            ("foo", "SSH option \"foo\" is not supported."),
            ("Ciphers=nosuch", "none of the algorithms"),
        ] {
            let why = preferred(options).unwrap_err();
            assert!(why.contains(expected), "{options}: {why}");
        }
    }

    #[test]
    fn keys_come_from_one_folder() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("key"), "no key").unwrap();
        let login = |public: &str, private: &str| Login {
            public_key: public.to_owned(),
            private_key: private.to_owned(),
            ..Login::default()
        };
        for (public, private, expected) in [
            ("", "key", "Cannot access public key file"),
            ("none", "key", "Cannot access public key file"),
            ("key", "none", "Cannot access private key file"),
            ("../x/key", "key", "Cannot access public key file"),
            ("key", "key", "Public key authentication failed"),
        ] {
            let why = key(folder.path(), &login(public, private)).unwrap_err();
            assert!(why.starts_with(expected), "{public} {private}: {why}");
        }
    }
}
