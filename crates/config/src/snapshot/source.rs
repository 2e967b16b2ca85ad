//! What a check needs to know beside the key, by the type of its item.

use eval::macros::Place;
use serde_json::Value as Json;

use super::ItemType;
use super::web::Scenario;

/// What only items of some types have; macros resolved.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Source {
    /// The key says all.
    #[default]
    Key,
    /// Simple checks, SSH, Telnet, database monitor: credentials.
    Login(Login),
    /// SNMP agent: the OID, or `get[…]`, `walk[…]`, `discovery[…]`.
    Snmp(Box<str>),
    /// IPMI: the sensor.
    Ipmi(Box<str>),
    Jmx(Jmx),
    /// HTTP agent.
    Http(Box<Http>),
    /// The item that a web scenario hangs on.
    Web(Box<Scenario>),
    /// Script, browser: names and values of the parameters.
    Script(Vec<(String, String)>),
}

/// A user. The numbers are the API's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Login {
    /// Name.
    pub username: String,
    /// Password, or passphrase of the private key.
    pub password: String,
    /// SSH: 0 password, 1 key.
    pub by_key: bool,
    /// File name of the public key.
    pub public_key: String,
    /// File name of the private key.
    pub private_key: String,
}

/// Where a JMX item asks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Jmx {
    /// `service:jmx:rmi:///jndi/rmi://…`
    pub endpoint: String,
    /// Name; empty = none.
    pub username: String,
    pub password: String,
}

/// The request of an HTTP agent item and what is wanted of its answer. The numbers are the API's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Http {
    /// Address, without the query fields.
    pub url: String,
    /// Names and values, not encoded.
    pub query_fields: Vec<(String, String)>,
    /// Names and values.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub posts: String,
    /// 0 raw, 2 JSON, 3 XML.
    pub post_type: u8,
    /// 0 GET, 1 POST, 2 PUT, 3 HEAD.
    pub method: u8,
    /// Ranges of status codes that are wanted, `200,301-302`; empty = any.
    pub status_codes: String,
    /// Whether redirects are followed, at most ten.
    pub follow_redirects: bool,
    /// 0 body, 1 headers, 2 both.
    pub retrieve_mode: u8,
    /// 0 raw, 1 JSON.
    pub output_format: u8,
    /// Proxy, `[protocol://][user[:password]@]host[:port]`; empty = the environment's.
    pub proxy: String,
    /// 0 none, 1 basic, 2 NTLM, 3 Kerberos, 4 digest.
    pub authtype: u8,
    /// Name.
    pub username: String,
    pub password: String,
    /// Check the certificate of the peer.
    pub verify_peer: bool,
    /// Check that the certificate names the host.
    pub verify_host: bool,
    /// File name of the client's certificate.
    pub ssl_cert_file: String,
    /// File name of the client's key.
    pub ssl_key_file: String,
    /// Password of that key.
    pub ssl_key_password: String,
}

impl Source {
    /// Columns of `items` that sources are made of.
    pub(crate) const COLUMNS: &'static [&'static str] = &[
        "snmp_oid",
        "ipmi_sensor",
        "authtype",
        "username",
        "password",
        "publickey",
        "privatekey",
        "jmx_endpoint",
        "url",
        "query_fields",
        "parameters",
        "posts",
        "status_codes",
        "follow_redirects",
        "post_type",
        "http_proxy",
        "headers",
        "retrieve_mode",
        "request_method",
        "output_format",
        "ssl_cert_file",
        "ssl_key_file",
        "ssl_key_password",
        "verify_peer",
        "verify_host",
        "params",
    ];

    /// Items of this type have one.
    fn is_of(kind: ItemType) -> bool {
        use ItemType::{
            Browser, Database, HttpAgent, Ipmi, Jmx, Script, Simple, Snmp, Ssh, Telnet, Web,
        };
        matches!(
            kind,
            Simple
                | Web
                | Database
                | Ipmi
                | Ssh
                | Telnet
                | Jmx
                | HttpAgent
                | Snmp
                | Script
                | Browser
        )
    }

    /// The API's numbers of the types that have one, for a query.
    pub(crate) fn types() -> String {
        let numbers = ItemType::all().filter(|kind| Self::is_of(*kind));
        numbers.map(|kind| kind.info().number).collect::<Vec<_>>().join(", ")
    }

    /// The source of an item: `column` gives a member as the API names it, `resolve` a text with
    /// the macros of its place resolved.
    pub fn new(
        kind: ItemType,
        column: &dyn Fn(&str) -> String,
        resolve: &dyn Fn(&str, Place) -> String,
    ) -> Self {
        let fields = Fields { column, resolve };
        match kind {
            ItemType::Simple | ItemType::Ssh | ItemType::Telnet | ItemType::Database => {
                Self::Login(fields.login())
            }
            ItemType::Snmp => Self::Snmp(fields.text("snmp_oid", Place::ItemKey).into()),
            ItemType::Ipmi => Self::Ipmi(fields.text("ipmi_sensor", Place::ItemScript).into()),
            ItemType::Jmx => Self::Jmx(Jmx {
                endpoint: fields.text("jmx_endpoint", Place::JmxEndpoint),
                username: fields.text("username", Place::ItemScript),
                password: fields.text("password", Place::ItemScript),
            }),
            ItemType::Web => match Scenario::parse(&column("params"), resolve) {
                Some(scenario) => Self::Web(Box::new(scenario)),
                None => Self::Key,
            },
            ItemType::HttpAgent => Self::Http(Box::new(fields.http())),
            ItemType::Script | ItemType::Browser => {
                Self::Script(fields.pairs("parameters", Place::ItemParameters))
            }
            _ => Self::Key,
        }
    }
}

impl Source {
    /// Bytes on the heap, about.
    pub(crate) fn bytes(&self) -> usize {
        /// What an allocation costs beside its bytes.
        const BLOCK: usize = 16;
        let pairs = |list: &[(String, String)]| -> usize {
            list.iter().map(|(name, value)| name.len() + value.len() + 2 * (24 + BLOCK)).sum()
        };
        match self {
            Self::Key => 0,
            Self::Snmp(text) | Self::Ipmi(text) => text.len() + BLOCK,
            Self::Login(login) => login.username.len() + login.password.len() + 2 * BLOCK,
            Self::Jmx(jmx) => jmx.endpoint.len() + jmx.username.len() + jmx.password.len(),
            Self::Http(http) => {
                let texts = [&http.url, &http.posts, &http.username, &http.password];
                let texts: usize = texts.into_iter().map(String::len).sum();
                size_of::<Http>() + texts + pairs(&http.query_fields) + pairs(&http.headers)
            }
            Self::Script(parameters) => pairs(parameters),
            // About what their texts take.
            Self::Web(scenario) => size_of::<Scenario>() + scenario.steps.len() * 1024,
        }
    }
}

fn xml_escaped(value: &str) -> String {
    value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&apos;")
}

struct Fields<'a> {
    column: &'a dyn Fn(&str) -> String,
    resolve: &'a dyn Fn(&str, Place) -> String,
}

impl Fields<'_> {
    fn text(&self, name: &str, place: Place) -> String {
        (self.resolve)(&(self.column)(name), place)
    }

    fn small(&self, name: &str) -> u8 {
        (self.column)(name).parse().unwrap_or(0)
    }

    /// Names and values, stored as JSON. Macros are resolved in each, so that a value with quotes
    /// stays one value.
    fn pairs(&self, name: &str, place: Place) -> Vec<(String, String)> {
        let list: Json = serde_json::from_str(&(self.column)(name)).unwrap_or_default();
        let of = |pair: &Json, name: &str| {
            (self.resolve)(pair[name].as_str().unwrap_or_default(), place)
        };
        if let Json::Object(members) = &list {
            // As a request for a test gives them.
            let value = |value: &Json| (self.resolve)(value.as_str().unwrap_or_default(), place);
            return members.iter().map(|(name, text)| (name.clone(), value(text))).collect();
        }
        let list = list.as_array().map_or(&[][..], Vec::as_slice);
        list.iter().map(|pair| (of(pair, "name"), of(pair, "value"))).collect()
    }

    fn login(&self) -> Login {
        let text = |name| self.text(name, Place::ItemScript);
        Login {
            username: text("username"),
            password: text("password"),
            by_key: self.small("authtype") == 1,
            public_key: text("publickey"),
            private_key: text("privatekey"),
        }
    }

    /// The body of a request. In JSON and XML values of macros keep to their place.
    fn posts(&self) -> String {
        let raw = (self.column)("posts");
        let place = Place::HttpField;
        let escape: fn(&str) -> String = match self.small("post_type") {
            2 => |value| {
                let quoted = Json::from(value).to_string();
                quoted[1..quoted.len() - 1].to_owned()
            },
            3 => xml_escaped,
            _ => return (self.resolve)(&raw, place),
        };
        let (mut out, mut at) = (String::with_capacity(raw.len()), 0);
        for token in eval::macros::tokens(&raw) {
            let written = &raw[token.span.clone()];
            out.push_str(&raw[at..token.span.start]);
            at = token.span.end;
            let value = (self.resolve)(written, place);
            if value == written { out.push_str(written) } else { out.push_str(&escape(&value)) }
        }
        out + &raw[at..]
    }

    fn http(&self) -> Http {
        let text = |name| self.text(name, Place::HttpField);
        let flag = |name| self.small(name) == 1;
        Http {
            url: text("url"),
            query_fields: self.pairs("query_fields", Place::HttpField),
            headers: self.pairs("headers", Place::HttpField),
            posts: self.posts(),
            post_type: self.small("post_type"),
            method: self.small("request_method"),
            status_codes: text("status_codes"),
            follow_redirects: flag("follow_redirects"),
            retrieve_mode: self.small("retrieve_mode"),
            output_format: self.small("output_format"),
            proxy: text("http_proxy"),
            authtype: self.small("authtype"),
            username: text("username"),
            password: text("password"),
            verify_peer: flag("verify_peer"),
            verify_host: flag("verify_host"),
            ssl_cert_file: text("ssl_cert_file"),
            ssl_key_file: text("ssl_key_file"),
            ssl_key_password: text("ssl_key_password"),
        }
    }
}

/// How to speak with an SNMP interface; macros resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Snmp {
    /// 1, 2 (v2c) or 3.
    pub version: u8,
    /// Several values may be asked for in one request.
    pub bulk: bool,
    /// Of GETBULK.
    pub max_repetitions: u32,
    /// For v1 and v2c.
    pub community: String,
    /// For v3.
    pub user: SnmpUser,
}

/// SNMPv3 credentials. The numbers are the API's.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SnmpUser {
    /// Security name.
    pub name: String,
    /// 0 noAuthNoPriv, 1 authNoPriv, 2 authPriv.
    pub level: u8,
    /// 0 MD5, 1 SHA1, 2 SHA224, 3 SHA256, 4 SHA384, 5 SHA512.
    pub auth_protocol: u8,
    /// Passphrase of authentication.
    pub auth_passphrase: String,
    /// 0 DES, 1 AES128, 2 AES192, 3 AES256, 4 AES192 and 5 AES256 with Cisco's extension of keys.
    pub priv_protocol: u8,
    /// Passphrase of privacy.
    pub priv_passphrase: String,
    /// Context name.
    pub context: String,
}

impl Snmp {
    /// From the details of an interface, the API's JSON; `None` where there are none.
    pub fn new(details: &str, resolve: &dyn Fn(&str, Place) -> String) -> Option<Self> {
        let details: Json = serde_json::from_str(details).ok()?;
        let raw = |name: &str| match &details[name] {
            Json::String(text) => text.clone(),
            Json::Null => String::new(),
            other => other.to_string(),
        };
        let text = |name: &str| resolve(&raw(name), Place::ItemScript);
        let small = |name: &str| raw(name).parse().unwrap_or(0);
        Some(Self {
            version: raw("version").parse().ok()?,
            bulk: raw("bulk") != "0",
            max_repetitions: raw("max_repetitions").parse().unwrap_or(10),
            community: text("community"),
            user: SnmpUser {
                name: text("securityname"),
                level: small("securitylevel"),
                auth_protocol: small("authprotocol"),
                auth_passphrase: text("authpassphrase"),
                priv_protocol: small("privprotocol"),
                priv_passphrase: text("privpassphrase"),
                context: text("contextname"),
            },
        })
    }
}

/// IPMI credentials; macros are resolved.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ipmi {
    /// -1 default, 0 none, 1 MD2, 2 MD5, 4 straight, 5 OEM, 6 RMCP+.
    pub auth_type: i64,
    /// 1 callback, 2 user, 3 operator, 4 administrator, 5 OEM.
    pub privilege: u8,
    /// Name.
    pub username: String,
    pub password: String,
}

impl Default for Ipmi {
    fn default() -> Self {
        Self { auth_type: -1, privilege: 2, username: String::new(), password: String::new() }
    }
}

impl Ipmi {
    /// `column` gives a member of the host as the API names it; what is missing has its default.
    pub fn new(column: &dyn Fn(&str) -> String, resolve: &dyn Fn(&str, Place) -> String) -> Self {
        let text = |name: &str| resolve(&column(name), Place::ItemScript);
        Self {
            auth_type: column("ipmi_authtype").parse().unwrap_or(-1),
            privilege: column("ipmi_privilege").parse().unwrap_or(2),
            username: text("ipmi_username"),
            password: text("ipmi_password"),
        }
    }
}
