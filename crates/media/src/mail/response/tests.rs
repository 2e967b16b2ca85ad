use super::*;

const TOKEN: &str = "aeaqaaaaaaaaabcdefghijklmnopqrstuvwxyz234567a";

fn mail(headers: &str, body: &str) -> String {
    format!(
        "Return-Path: <bob@example.com>\r\nFrom: Bob Smith <Bob@example.com>\r\n\
         To: Vedette <vedette+{TOKEN}@monitor.test>\r\nMessage-ID: <1@example.com>\r\n{headers}\r\n{body}"
    )
}

fn text(mail: &str) -> Result<String, Unused> {
    read(mail.as_bytes(), Envelope::default()).map(|response| response.text)
}

#[test]
fn a_response_has_token_author_and_text() {
    let plain = mail("", "I look at it.\r\n\r\nOn Sunday, Vedette wrote:\r\n> Problem: full\r\n");
    let expected = Response {
        token: TOKEN.to_owned(),
        from: "Bob@example.com".to_owned(),
        message_id: "1@example.com".to_owned(),
        text: "I look at it.".to_owned(),
    };
    assert_eq!(read(plain.as_bytes(), Envelope::default()), Ok(expected));
}

#[test]
fn bodies_are_decoded() {
    for (headers, body) in [
        (
            "Content-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n",
            "Gr=FC=\r\n=DFe",
        ),
        (
            "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n",
            "R3LDvMOfZQ==",
        ),
        (
            "Content-Type: text/html; charset=utf-8\r\n",
            "<html><body><p>Gr&uuml;&szlig;e</p></body></html>",
        ),
        (
            "Content-Type: multipart/alternative; boundary=b\r\n",
            "--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGrüße\r\n--b\r\nContent-Type: text/html\r\n\r\n<b>x</b>\r\n--b--\r\n",
        ),
    ] {
        assert_eq!(text(&mail(headers, body)).as_deref(), Ok("Grüße"), "{headers}");
    }
}

#[test]
fn nothing_comes_of_what_programs_write() {
    for (header, why) in [
        ("Auto-Submitted: auto-replied", "Auto-Submitted"),
        ("auto-submitted: Auto-Generated", "Auto-Submitted"),
        ("Precedence: bulk", "Precedence"),
        ("X-Autoreply: yes", "X-Autoreply"),
        ("List-Id: <ops.example.com>", "List-Id"),
        ("Content-Type: multipart/report; report-type=delivery-status; boundary=b", "a report"),
    ] {
        let mail = mail(&format!("{header}\r\n"), "absent");
        assert_eq!(text(&mail), Err(Unused::Automatic(why)), "{header}");
    }
    assert!(text(&mail("Auto-Submitted: no\r\n", "x")).is_ok());
    let bounce = mail("", "x").replace("<bob@example.com>", "<>");
    assert_eq!(text(&bounce), Err(Unused::Automatic("no sender")));
    let daemon = mail("", "x").replace("Bob@example.com", "MAILER-DAEMON@x.test");
    assert_eq!(text(&daemon), Err(Unused::Automatic("the author")));
    let plain = mail("", "x");
    let of_nobody = Envelope { sender: Some(""), ..Envelope::default() };
    assert!(read(plain.as_bytes(), of_nobody).is_err());
    let of_bob = Envelope { sender: Some("bob@example.com"), ..Envelope::default() };
    assert!(read(bounce.as_bytes(), of_bob).is_ok());
}

#[test]
fn tokens_are_found_where_the_mail_came_to() {
    let other = TOKEN.replace("abc", "cba");
    let to = |recipient| {
        let envelope = Envelope { recipient: Some(recipient), sender: None };
        read(mail("", "x").as_bytes(), envelope).map(|response| response.token)
    };
    let upper = format!("<VEDETTE+{}@monitor.test>", other.to_uppercase());
    assert_eq!(to(&upper), Ok(other.clone()), "the envelope counts more than headers");
    for none in [
        "vedette@monitor.test",
        "vedette+short@monitor.test",
        "",
        "vedette+01890189018901890189018901890189@x",
    ] {
        assert_eq!(to(none), Err(Unused::NoToken), "{none}");
    }
    let delivered = mail(&format!("Delivered-To: vedette+{other}@monitor.test\r\n"), "x");
    assert_eq!(read(delivered.as_bytes(), Envelope::default()).unwrap().token, other);
    let copied = mail(&format!("Cc: a+b@x.test,\r\n vedette+{other}@monitor.test\r\n"), "x");
    let copied = copied.replace(&format!("vedette+{TOKEN}@"), "list@");
    assert_eq!(read(copied.as_bytes(), Envelope::default()).unwrap().token, other);
}

#[test]
fn what_cannot_be_used() {
    assert_eq!(text(&mail("", "> quoted")), Err(Unused::NoText));
    assert_eq!(text(""), Err(Unused::Unreadable));
    let nobody = mail("", "x").replace("From: Bob Smith <Bob@example.com>\r\n", "");
    assert_eq!(text(&nobody), Err(Unused::NoAuthor));
    let long = mail("", "x").replace("Bob@", &format!("{}@", "b".repeat(ADDRESS_BYTES_MAX)));
    assert_eq!(text(&long), Err(Unused::NoAuthor), "the server takes no body of any length");
    for damaged in [&b"\xff\xfe\0\0"[..], b"From", b"\r\n\r\n\r\n", &[b'a'; 100_000]] {
        assert!(read(damaged, Envelope::default()).is_err());
    }
}

#[test]
fn long_texts_are_cut() {
    let long =
        text(&mail("Content-Type: text/plain; charset=utf-8\r\n", &"ä".repeat(3_000))).unwrap();
    assert_eq!(long.chars().count(), TEXT_CHARS_MAX);
    assert!(long.ends_with("ä…"), "{long}");
}
