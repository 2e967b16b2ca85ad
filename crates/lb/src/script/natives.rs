//! The functions behind `request` and `response`.

use std::cell::RefCell;
use std::rc::Rc;

use rquickjs::{Array, Ctx, Exception, Function, Object};

use super::facts::{Choice, Facts, Head};
use super::fields::Fields;

/// Makes the two objects of the functions.
const OBJECTS: &str = include_str!("policy.js");

/// What the script that runs is about.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) request: Option<Box<Facts>>,
    /// Of the response, if it is its script.
    pub(super) response: Option<Head>,
    /// Names of the pools that the script may choose.
    pub(super) pools: Vec<String>,
    pub(super) choice: Option<Choice>,
}

impl Run {
    fn fields(&self, side: &str) -> Option<&Fields> {
        match side {
            "request" => self.request.as_ref().map(|request| &request.fields),
            _ => self.response.as_ref().map(|response| &response.fields),
        }
    }

    fn fact(&self, name: &str) -> Option<String> {
        if name == "status" {
            return self.response.as_ref().map(|response| response.status.to_string());
        }
        let request = self.request.as_ref()?;
        let caller = &request.caller;
        let shared = |text: &Option<std::sync::Arc<str>>| text.as_deref().map(str::to_owned);
        match name {
            "method" => Some(request.method.clone()),
            "scheme" => Some(if caller.tls.is_empty() { "http" } else { "https" }.to_owned()),
            "host" => Some(request.host.clone()),
            "path" => Some(request.path.clone()),
            "query" => Some(request.query.clone().unwrap_or_default()),
            "version" => Some(request.version.to_owned()),
            "client" => Some(caller.address.to_canonical().to_string()),
            "port" => Some(caller.port.to_string()),
            "service" => Some(caller.service.to_string()),
            "tls" => (!caller.tls.is_empty()).then(|| caller.tls.to_owned()),
            "sni" => shared(&caller.sni),
            "certificate" => shared(&caller.certified),
            _ => None,
        }
    }

    fn edit(&mut self, side: &str, verb: &str, name: &str, value: &str) -> Result<(), String> {
        let fields = match (side, &mut self.response, &mut self.request) {
            ("response", Some(response), _) => &mut response.fields,
            ("request", None, Some(request)) => &mut request.fields,
            _ => return Err(SENT.to_owned()),
        };
        match verb {
            "set" => fields.set(name, value),
            "add" => fields.add(name, value),
            _ => fields.remove(name),
        }
    }

    fn rewrite(&mut self, member: &str, value: &str) -> Result<(), String> {
        let request = self.unsent()?;
        if member == "path" { request.set_path(value) } else { request.set_query(value) }
    }

    /// The request, while it can be changed.
    fn unsent(&mut self) -> Result<&mut Facts, String> {
        match (&self.response, &mut self.request) {
            (None, Some(request)) => Ok(request),
            _ => Err(SENT.to_owned()),
        }
    }

    fn choose(&mut self, choice: Result<Choice, String>) -> Result<(), String> {
        self.unsent()?;
        self.choice = Some(choice?);
        Ok(())
    }

    fn forward(&mut self, pool: &str) -> Result<(), String> {
        let at = self.pools.iter().position(|name| name == pool);
        let unknown = || {
            format!("the script may not choose the pool {pool:?}; add it to 'pools' of the script")
        };
        self.choose(at.map(Choice::Pool).ok_or_else(unknown))
    }
}

const SENT: &str = "the request has been sent: only its response can be changed";

type Shared = Rc<RefCell<Run>>;

/// An error of the engine as one of the script.
fn told<T>(ctx: &Ctx<'_>, result: Result<T, String>) -> Result<T, rquickjs::Error> {
    result.map_err(|problem| Exception::throw_message(ctx, &problem))
}

/// Makes `request` and `response`.
pub(super) fn install<'js>(
    ctx: &Ctx<'js>,
    run: &Shared,
) -> Result<(Object<'js>, Object<'js>), rquickjs::Error> {
    let native = Object::new(ctx.clone())?;
    readers(ctx, &native, run)?;
    writers(ctx, &native, run)?;
    let make: Function<'_> = ctx.eval(OBJECTS)?;
    let both: Array<'_> = make.call((native,))?;
    Ok((both.get(0)?, both.get(1)?))
}

fn readers<'js>(ctx: &Ctx<'js>, native: &Object<'js>, run: &Shared) -> Result<(), rquickjs::Error> {
    let own = Rc::clone(run);
    let fact = move |ctx: Ctx<'js>, name: String| null_or(&ctx, own.borrow().fact(&name));
    native.set("fact", Function::new(ctx.clone(), fact)?)?;
    let own = Rc::clone(run);
    let header = move |ctx: Ctx<'js>, side: String, name: String| {
        let run = own.borrow();
        let value = run.fields(&side).and_then(|fields| fields.values(&name).next());
        null_or(&ctx, value.map(str::to_owned))
    };
    native.set("header", Function::new(ctx.clone(), header)?)?;
    let own = Rc::clone(run);
    let headers = move |side: String, name: String| -> Vec<String> {
        let run = own.borrow();
        let values = run.fields(&side).map(|fields| fields.values(&name).map(str::to_owned));
        values.map(Iterator::collect).unwrap_or_default()
    };
    native.set("headers", Function::new(ctx.clone(), headers)?)?;
    let own = Rc::clone(run);
    let names = move |side: String| -> Vec<String> {
        own.borrow().fields(&side).map(Fields::names).unwrap_or_default()
    };
    native.set("names", Function::new(ctx.clone(), names)?)?;
    let own = Rc::clone(run);
    let cookie = move |ctx: Ctx<'js>, name: String| {
        let run = own.borrow();
        let value = run.request.as_ref().and_then(|request| request.fields.cookie(&name));
        null_or(&ctx, value.map(str::to_owned))
    };
    native.set("cookie", Function::new(ctx.clone(), cookie)?)
}

/// A text, or null: what does not exist is no empty text.
fn null_or<'js>(
    ctx: &Ctx<'js>,
    text: Option<String>,
) -> Result<rquickjs::Value<'js>, rquickjs::Error> {
    match text {
        Some(text) => rquickjs::IntoJs::into_js(text, ctx),
        None => Ok(rquickjs::Value::new_null(ctx.clone())),
    }
}

fn writers<'js>(ctx: &Ctx<'js>, native: &Object<'js>, run: &Shared) -> Result<(), rquickjs::Error> {
    let own = Rc::clone(run);
    let edit = move |ctx: Ctx<'js>, side: String, verb: String, name: String, value: String| {
        told(&ctx, own.borrow_mut().edit(&side, &verb, &name, &value))
    };
    native.set("edit", Function::new(ctx.clone(), edit)?)?;
    let own = Rc::clone(run);
    let rewrite = move |ctx: Ctx<'js>, member: String, value: String| {
        told(&ctx, own.borrow_mut().rewrite(&member, &value))
    };
    native.set("rewrite", Function::new(ctx.clone(), rewrite)?)?;
    let own = Rc::clone(run);
    let forward = move |ctx: Ctx<'js>, pool: String| told(&ctx, own.borrow_mut().forward(&pool));
    native.set("forward", Function::new(ctx.clone(), forward)?)?;
    let own = Rc::clone(run);
    let redirect = move |ctx: Ctx<'js>, status: f64, location: String| {
        told(&ctx, own.borrow_mut().choose(Choice::redirect(status, location)))
    };
    native.set("redirect", Function::new(ctx.clone(), redirect)?)?;
    let own = Rc::clone(run);
    let refuse = move |ctx: Ctx<'js>, status: f64| {
        told(&ctx, own.borrow_mut().choose(Choice::refuse(status)))
    };
    native.set("refuse", Function::new(ctx.clone(), refuse)?)?;
    let own = Rc::clone(run);
    let respond = move |ctx: Ctx<'js>, status: f64, fields: Vec<String>, body: String| {
        told(&ctx, own.borrow_mut().choose(Choice::respond(status, &fields, body)))
    };
    native.set("respond", Function::new(ctx.clone(), respond)?)
}
