//! Handshakes in memory: revocation lists, sessions that go on, certificates that have not arrived.

use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertificateRevocationListParams, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose,
    RevokedCertParams, SerialNumber, date_time_ymd,
};
use rustls::{ClientConnection, HandshakeKind, ServerConnection};

use super::*;
use crate::tickets::TicketSecrets;

const NAME: &str = "www.example.com";
/// Serial number of the certificate that lists name.
const REVOKED: u64 = 7;

struct Authority {
    params: CertificateParams,
    key: KeyPair,
    certificate: Certificate,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "authority");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self { params, key, certificate }
    }

    fn issuer(&self) -> Issuer<'_, &KeyPair> {
        Issuer::from_params(&self.params, &self.key)
    }

    fn pem(&self) -> Pem {
        Pem::Text(self.certificate.pem())
    }

    /// A certificate for both sides, with its key.
    fn issue(&self, serial: u64) -> (CertificateDer<'static>, PrivateKeyDer<'static>, String) {
        let mut params = CertificateParams::new([NAME.to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from(serial));
        params.extended_key_usages =
            vec![ExtendedKeyUsagePurpose::ClientAuth, ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer()).unwrap();
        let pem = format!("{}{}", certificate.pem(), key.serialize_pem());
        let der = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        (certificate.der().clone(), der, pem)
    }

    /// The list that names [`REVOKED`], until this year.
    fn list(&self, until: i32) -> Pem {
        Pem::Text(self.list_of(2020, until, REVOKED))
    }

    /// A list of this year that names this number.
    fn list_of(&self, from: i32, until: i32, revoked: u64) -> String {
        let params = CertificateRevocationListParams {
            this_update: date_time_ymd(from, 1, 1),
            next_update: date_time_ymd(until, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: vec![RevokedCertParams {
                serial_number: SerialNumber::from(revoked),
                revocation_time: date_time_ymd(2020, 1, 1),
                reason_code: None,
                invalidity_date: None,
            }],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        params.signed_by(&self.issuer()).unwrap().pem().unwrap()
    }

    fn material(&self, serial: u64, secrets: &TicketSecrets) -> Material {
        let (_, _, pem) = self.issue(serial);
        let certificate = crate::config::Certificate {
            name: "www".to_owned(),
            cert: Pem::Text(pem.clone()),
            key: Pem::Text(pem),
        };
        let tickets = Arc::new(Tickets::new(None));
        tickets.share(secrets.clone());
        let certificates = HashMap::from([("www".to_owned(), load(&certificate).unwrap())]);
        Material { certificates, staples: Vec::new(), tickets }
    }

    /// A client that shows the certificate with this number.
    fn client(&self, serial: u64) -> Arc<ClientConfig> {
        let (certificate, key, _) = self.issue(serial);
        let config = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots(&self.pem()).unwrap())
            .with_client_auth_cert(vec![certificate], key)
            .unwrap();
        Arc::new(config)
    }
}

fn tls(authority: &Authority, list: Option<Pem>) -> Tls {
    Tls {
        certificates: vec!["www".to_owned()],
        client_auth: ClientAuth::Require,
        client_ca: Some(authority.pem()),
        client_crl: list,
        ..Tls::default()
    }
}

/// A whole handshake, with the tickets after it.
fn shake(
    client: &Arc<ClientConfig>,
    server: &Arc<ServerConfig>,
) -> Result<HandshakeKind, rustls::Error> {
    let name = ServerName::try_from(NAME).unwrap();
    let mut client = ClientConnection::new(Arc::clone(client), name).unwrap();
    let mut server = ServerConnection::new(Arc::clone(server)).unwrap();
    for _ in 0..5 {
        let mut bytes = Vec::new();
        client.write_tls(&mut bytes).unwrap();
        server.read_tls(&mut &bytes[..]).unwrap();
        server.process_new_packets()?;
        bytes.clear();
        server.write_tls(&mut bytes).unwrap();
        client.read_tls(&mut &bytes[..]).unwrap();
        client.process_new_packets()?;
    }
    Ok(server.handshake_kind().unwrap())
}

#[test]
fn revoked_clients_and_expired_lists_are_refused() {
    let authority = Authority::new();
    let material = authority.material(1, &TicketSecrets::random().unwrap());
    let accepted = |serial, list: Option<Pem>, expired_crl| {
        let tls = Tls { expired_crl, ..tls(&authority, list) };
        let server = client_side("web", &tls, &material).unwrap();
        shake(&authority.client(serial), &server).is_ok()
    };
    let (valid, old) = (Some(authority.list(2090)), Some(authority.list(2021)));
    for (serial, list, expired, result) in [
        (REVOKED, None, ExpiredCrl::Refuse, true),
        (REVOKED, valid.clone(), ExpiredCrl::Refuse, false),
        (REVOKED, old.clone(), ExpiredCrl::Accept, false),
        (8, valid, ExpiredCrl::Refuse, true),
        (8, old.clone(), ExpiredCrl::Refuse, false),
        (8, old, ExpiredCrl::Accept, true),
        // Each authority needs its list.
        (8, Some(Authority::new().list(2090)), ExpiredCrl::Accept, false),
    ] {
        let shown = list.is_some();
        assert_eq!(accepted(serial, list, expired), result, "{serial} {shown} {expired:?}");
    }
    let none = Some(authority.pem());
    let error = client_side("web", &tls(&authority, none), &material).unwrap_err();
    assert!(error.contains("no certificate revocation list"), "{error}");
}

#[test]
fn a_revoked_server_is_refused() {
    let authority = Authority::new();
    let secrets = TicketSecrets::random().unwrap();
    let open = Tls { certificates: vec!["www".to_owned()], ..Tls::default() };
    let accepted = |serial, until, expired_crl| {
        let server = client_side("web", &open, &authority.material(serial, &secrets)).unwrap();
        let settings = ServerTls {
            crl: Some(authority.list(until)),
            expired_crl,
            ..ServerTls::new(authority.pem(), NAME.to_owned())
        };
        shake(&server_side(&settings, Protocol::Http1).unwrap().config, &server).is_ok()
    };
    assert!(accepted(8, 2090, ExpiredCrl::Refuse));
    assert!(!accepted(REVOKED, 2090, ExpiredCrl::Refuse));
    assert!(!accepted(8, 2021, ExpiredCrl::Refuse));
    assert!(accepted(8, 2021, ExpiredCrl::Accept));
}

#[test]
fn server_connection_is_reused_for_equal_settings_only() {
    let (authority, other) = (Authority::new(), Authority::new());
    let settings = ServerTls::new(authority.pem(), NAME.to_owned());
    let trust = |tls: &ServerTls| server_side(tls, Protocol::Http1).unwrap().trust;
    assert_eq!(trust(&settings), trust(&settings.clone()));
    let listed = |until| ServerTls { crl: Some(authority.list(until)), ..settings.clone() };
    let all = [
        settings.clone(),
        ServerTls::new(other.pem(), NAME.to_owned()),
        ServerTls::new(authority.pem(), "b.example.com".to_owned()),
        listed(2090),
        listed(2091),
        ServerTls { expired_crl: ExpiredCrl::Accept, ..listed(2090) },
    ];
    let numbers: std::collections::HashSet<u64> = all.iter().map(trust).collect();
    assert_eq!(numbers.len(), all.len());
}

#[test]
fn session_resumes_at_another_engine_of_the_same_service() {
    let authority = Authority::new();
    let secrets = TicketSecrets::random().unwrap();
    let client = authority.client(8);
    let open = Tls { certificates: vec!["www".to_owned()], ..Tls::default() };
    let engine = |service: &str, secrets: &TicketSecrets| {
        client_side(service, &open, &authority.material(1, secrets)).unwrap()
    };
    let kinds: Vec<HandshakeKind> = [
        engine("web", &secrets),
        engine("web", &secrets),
        engine("web", &secrets.rotated().unwrap()),
        engine("shop", &secrets),
    ]
    .iter()
    .map(|server| shake(&client, server).unwrap())
    .collect();
    let (full, resumed) = (HandshakeKind::Full, HandshakeKind::Resumed);
    assert_eq!(kinds, [full, resumed, resumed, full]);
}

#[test]
fn a_client_shows_its_certificate_in_each_handshake() {
    let authority = Authority::new();
    let material = authority.material(1, &TicketSecrets::random().unwrap());
    let versions = [&rustls::version::TLS12, &rustls::version::TLS13];
    for (version, client_auth) in versions
        .into_iter()
        .flat_map(|version| [ClientAuth::Optional, ClientAuth::Require].map(|auth| (version, auth)))
    {
        let tls = Tls { client_auth, ..tls(&authority, None) };
        let server = client_side("web", &tls, &material).unwrap();
        let (certificate, key, _) = authority.issue(8);
        let client = ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots(&authority.pem()).unwrap())
            .with_client_auth_cert(vec![certificate], key)
            .unwrap();
        let client = Arc::new(client);
        for _ in 0..2 {
            assert_eq!(shake(&client, &server).unwrap(), HandshakeKind::Full, "{version:?}");
        }
    }
}

#[test]
fn the_newest_of_several_lists_of_an_authority_counts() {
    let authority = Authority::new();
    let material = authority.material(1, &TicketSecrets::random().unwrap());
    let (old, new) = (authority.list_of(2020, 2090, 9), authority.list_of(2021, 2090, REVOKED));
    for lists in [format!("{old}{new}"), format!("{new}{old}")] {
        let server = client_side("web", &tls(&authority, Some(Pem::Text(lists))), &material);
        let server = server.unwrap();
        assert!(shake(&authority.client(REVOKED), &server).is_err());
        assert!(shake(&authority.client(9), &server).is_ok());
    }
}

#[test]
fn expected_certificate_names_are_refused() {
    let authority = Authority::new();
    let mut material = authority.material(1, &TicketSecrets::random().unwrap());
    let expected =
        ExpectedCertificate { name: "soon".to_owned(), names: vec!["soon.example.com".to_owned()] };
    material.certificates.insert("soon".to_owned(), Named::expected(&expected));
    let tls = Tls { certificates: vec!["soon".to_owned(), "www".to_owned()], ..Tls::default() };
    let server = client_side("web", &tls, &material).unwrap();
    shake(&authority.client(8), &server).unwrap();
    let alone = Tls { certificates: vec!["soon".to_owned()], ..Tls::default() };
    let server = client_side("web", &alone, &material).unwrap();
    shake(&authority.client(8), &server).unwrap_err();
}
