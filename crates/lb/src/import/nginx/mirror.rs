//! `mirror` as a mirror of rules. Source: nginx's documentation of `ngx_http_mirror_module`.

use super::Import;
use super::blocks::Block;
use crate::config::{Mirror, Then};
use crate::import::Directive;

/// The mirror of a location whose requests go to the pool in `then`.
pub(super) fn mirror(
    import: &mut Import,
    server: &Block,
    location: &Block,
    then: &Then,
) -> Option<Mirror> {
    let from = if location.first("mirror").is_some() { location } else { server };
    let (block, more) = (from.first("mirror")?, from.all("mirror").skip(1));
    for other in more {
        import.report.missing(&other.at, "a request has one mirror");
    }
    let uri = block.at.parameter(0);
    if uri == "off" {
        return None;
    }
    let of = |form: &[&str]| server.all("location").find(|one| one.at.parameters() == form);
    let Some(target) = of(&["=", uri]).or_else(|| of(&[uri])).or_else(|| of(&["^~", uri])) else {
        import.report.missing(&block.at, "the server has no location of this path for the mirror");
        return None;
    };
    let pass = target.first("proxy_pass");
    let Some(pool) = pass.and_then(|pass| pool(import, &pass.at, uri)) else {
        let at = pass.map_or(&target.at, |pass| &pass.at);
        import.report.missing(
            at,
            "a mirror needs proxy_pass with an upstream or an address, and no path or $request_uri",
        );
        return None;
    };
    if Some(&pool) == then.pool.as_ref() {
        import.report.missing(&block.at, "the mirror is the upstream that gets the requests");
        return None;
    }
    if let Some(pass) = pass {
        import.encrypt([target, server], &pass.at, Some(&pool));
    }
    remarks(import, [target, location, server], &block.at);
    Some(Mirror { max_body: Mirror::BODY_MOST, ..Mirror::to(pool) })
}

/// The pool of `scheme://target` or `scheme://target$request_uri`.
fn pool(import: &mut Import, at: &Directive, uri: &str) -> Option<String> {
    let (scheme, rest) = at.parameter(0).split_once("://")?;
    let target = rest.strip_suffix("$request_uri").unwrap_or(rest);
    let pool = import.pool_of(target, if scheme == "https" { 443 } else { 80 })?;
    if target == rest {
        import.report.differs(at, format!("copies have the path of the request, not '{uri}'"));
    }
    Some(pool)
}

/// Names what copies do otherwise.
fn remarks(import: &mut Import, blocks: [&Block; 3], at: &Directive) {
    let ([target, ..], report) = (blocks, &mut import.report);
    let body = blocks.iter().find_map(|block| block.first("mirror_request_body"));
    if let Some(block) = body.filter(|block| block.at.parameter(0) == "off") {
        report.missing(&block.at, "copies have the content of the request");
    }
    report.differs(at, "up to 64 copies at once, of requests with up to 1 MiB of content");
    for block in target.inside.iter().filter(|block| block.name() == "proxy_set_header") {
        report.missing(&block.at, "copies have the headers of the request");
    }
}
