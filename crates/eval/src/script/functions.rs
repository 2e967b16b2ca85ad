//! Functions that scripts call: digests, base64, XML, signatures.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use hmac::Mac;
use openssl::hash::MessageDigest;
use openssl::pkey::PKey;
use openssl::sign::Signer;
use rquickjs::function::Opt;
use rquickjs::{Coerced, Ctx, Exception, Function, Object, TypedArray, Value};
use sha2::Digest;

/// Puts the functions into the context.
pub(super) fn install(ctx: &Ctx<'_>) -> Result<(), rquickjs::Error> {
    let globals = ctx.globals();
    globals.set("md5", Function::new(ctx.clone(), js_md5)?)?;
    globals.set("sha256", Function::new(ctx.clone(), js_sha256)?)?;
    globals.set("hmac", Function::new(ctx.clone(), js_hmac)?)?;
    globals.set("btoa", Function::new(ctx.clone(), js_btoa)?)?;
    globals.set("atob", Function::new(ctx.clone(), js_atob)?)?;
    globals.set("sign", Function::new(ctx.clone(), js_sign)?)?;
    let xml = Object::new(ctx.clone())?;
    xml.set("query", Function::new(ctx.clone(), js_xml_query)?)?;
    xml.set("toJson", Function::new(ctx.clone(), js_xml_to_json)?)?;
    xml.set("fromJson", Function::new(ctx.clone(), js_xml_from_json)?)?;
    globals.set("XML", xml)?;
    // As text a byte array says what it is, not what it holds: the field's engine does so.
    ctx.eval("Uint8Array.prototype.toString = Object.prototype.toString;")
}

/// Texts that enter or leave the engine end at their first U+0000, as at the field's server, where
/// they are C strings.
pub(super) fn up_to_nul(mut text: String) -> String {
    if let Some(end) = text.find('\0') {
        text.truncate(end);
    }
    text
}

/// Bytes of a text, see [`up_to_nul`], or of a `Uint8Array`.
pub(super) fn bytes_of(value: &Value<'_>) -> Option<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return text.to_string().ok().map(|text| up_to_nul(text).into_bytes());
    }
    if value.is_null() || value.is_undefined() {
        return None;
    }
    if let Ok(array) = TypedArray::<u8>::from_value(value.clone()) {
        // Read element by element: a borrowed slice could be detached by the script.
        return (0..array.len())
            .map(|i| array.as_object().get::<_, u8>(i.to_string()).ok())
            .collect();
    }
    value.get::<Coerced<String>>().ok().map(|t| up_to_nul(t.0).into_bytes())
}

type Param<'js> = Opt<Value<'js>>;

fn param(ctx: &Ctx<'_>, value: &Param<'_>, which: &str) -> Result<Vec<u8>, rquickjs::Error> {
    let bytes = value.0.as_ref().and_then(bytes_of);
    bytes.ok_or_else(|| Exception::throw_message(ctx, &format!("cannot obtain {which} parameter")))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn js_md5<'js>(ctx: Ctx<'js>, data: Param<'js>) -> Result<String, rquickjs::Error> {
    Ok(hex(&md5::Md5::digest(param(&ctx, &data, "first")?)))
}

fn js_sha256<'js>(ctx: Ctx<'js>, data: Param<'js>) -> Result<String, rquickjs::Error> {
    Ok(hex(&sha2::Sha256::digest(param(&ctx, &data, "first")?)))
}

fn js_hmac<'js>(
    ctx: Ctx<'js>,
    kind: Param<'js>,
    key: Param<'js>,
    data: Param<'js>,
) -> Result<String, rquickjs::Error> {
    let kind = param(&ctx, &kind, "first")?;
    let key = param(&ctx, &key, "second")?;
    let data = param(&ctx, &data, "third")?;
    let long_key = "BUG: HMAC takes keys of any length";
    match &kind[..] {
        b"md5" => {
            let mut mac = hmac::Hmac::<md5::Md5>::new_from_slice(&key).expect(long_key);
            mac.update(&data);
            Ok(hex(&mac.finalize().into_bytes()))
        }
        b"sha256" => {
            let mut mac = hmac::Hmac::<sha2::Sha256>::new_from_slice(&key).expect(long_key);
            mac.update(&data);
            Ok(hex(&mac.finalize().into_bytes()))
        }
        _ => Err(Exception::throw_message(&ctx, "unsupported hash function")),
    }
}

fn js_btoa<'js>(ctx: Ctx<'js>, data: Param<'js>) -> Result<String, rquickjs::Error> {
    Ok(base64::engine::general_purpose::STANDARD.encode(param(&ctx, &data, "first")?))
}

/// Signs that are no base64 and missing ones at the end do not matter.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Always a `Uint8Array`, as the field's scripts get it.
fn js_atob<'js>(ctx: Ctx<'js>, data: Param<'js>) -> Result<Value<'js>, rquickjs::Error> {
    let mut data = param(&ctx, &data, "first")?;
    data.retain(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/'));
    if data.len() % 4 == 1 {
        data.pop();
    }
    let decoded = LENIENT
        .decode(data)
        .map_err(|_| Exception::throw_message(&ctx, "the parameter is not base64"))?;
    Ok(TypedArray::<u8>::new(ctx, decoded)?.into_value())
}

fn text_param(ctx: &Ctx<'_>, value: &Param<'_>, which: &str) -> Result<String, rquickjs::Error> {
    Ok(String::from_utf8_lossy(&param(ctx, value, which)?).into_owned())
}

fn js_xml_query<'js>(
    ctx: Ctx<'js>,
    document: Param<'js>,
    path: Param<'js>,
) -> Result<String, rquickjs::Error> {
    let document = text_param(&ctx, &document, "first")?;
    let path = text_param(&ctx, &path, "second")?;
    crate::xpath::query(&document, &path)
        .map_err(|e| Exception::throw_message(&ctx, &e.to_string()))
}

fn js_xml_to_json<'js>(ctx: Ctx<'js>, document: Param<'js>) -> Result<String, rquickjs::Error> {
    let document = text_param(&ctx, &document, "first")?;
    crate::preproc::xml_to_json(&document).map_err(|e| Exception::throw_message(&ctx, &e))
}

fn js_xml_from_json<'js>(ctx: Ctx<'js>, document: Param<'js>) -> Result<String, rquickjs::Error> {
    let document = text_param(&ctx, &document, "first")?;
    crate::preproc::json_to_xml(&document).map_err(|e| Exception::throw_message(&ctx, &e))
}

/// The signature of a text by a private key in PEM form, in hexadecimal.
fn js_sign<'js>(
    ctx: Ctx<'js>,
    kind: Param<'js>,
    key: Param<'js>,
    data: Param<'js>,
) -> Result<String, rquickjs::Error> {
    let failed = |text: &str| Exception::throw_message(&ctx, text);
    if param(&ctx, &kind, "first")? != b"sha256" {
        return Err(failed("unsupported hash function, only 'sha256' is supported"));
    }
    let key = text_param(&ctx, &key, "second")?;
    let data = data.0.as_ref().and_then(bytes_of).filter(|data| !data.is_empty());
    let data = data.ok_or_else(|| failed("data cannot be empty"))?;
    let pem = pem(&key).ok_or_else(|| failed("failed to import private key"))?;
    let key = PKey::private_key_from_pem_passphrase(pem.as_bytes(), b"")
        .map_err(|_| failed("failed to import private key"))?;
    let signature = Signer::new(MessageDigest::sha256(), &key)
        .and_then(|mut signer| signer.sign_oneshot_to_vec(&data))
        .map_err(|e| failed(&format!("failed to sign: {e}")))?;
    Ok(hex(&signature))
}

/// A PEM text as its readers want it, whatever became of its line ends.
fn pem(text: &str) -> Option<String> {
    let (_, after) = text.split_once("-----BEGIN ")?;
    let (kind, after) = after.split_once("-----")?;
    let (body, _) = after.split_once("-----END ")?;
    let body: Vec<u8> = body.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let mut out = format!("-----BEGIN {kind}-----\n");
    for line in body.chunks(64) {
        out.push_str(std::str::from_utf8(line).ok()?);
        out.push('\n');
    }
    out.push_str(&format!("-----END {kind}-----\n"));
    Some(out)
}
