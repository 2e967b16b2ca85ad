//! References between objects of Avi.

use std::rc::Rc;

use avi::{Kind, Members, Reference, Target, Targets};

use super::world::{Found, Listed, Which, World, built_in, reference, uuid_of};
use super::{AviResult, refuse};

/// References that one document may have.
const REFERENCES_MAX: usize = 10_000;

/// Bytes of all profiles that one request reads through references, as JSON text.
const PROFILES_BYTES_MAX: usize = 2 << 20;

impl World<'_, '_> {
    /// The object that a reference leads to.
    pub(super) fn find(&self, text: &str) -> AviResult<Option<Rc<Found>>> {
        let reference = Reference::parse("", text)?;
        if let Some(known) = self.known.borrow().get(&reference) {
            return Ok(known.clone());
        }
        let (kind, listed) = match &reference {
            Reference::Uuid(kind, uuid) => (*kind, self.list(*kind, Which::Uuid(uuid))?),
            Reference::Name(kind, name) => (*kind, self.list(*kind, Which::Named(name))?),
        };
        let found = match listed.into_iter().next() {
            Some(listed) => Some(Rc::new(self.found(kind, listed)?)),
            None => None,
        };
        let mut known = self.known.borrow_mut();
        if known.len() >= REFERENCES_MAX {
            known.clear();
            self.known_bytes.set(0);
        }
        known.insert(reference, found.clone());
        Ok(found)
    }

    fn found(&self, kind: Kind, listed: Listed) -> AviResult<Found> {
        let built_in = built_in(kind).find(|one| uuid_of(one) == listed.uuid);
        let document = match built_in {
            Some(one) => one.document.clone(),
            None if kind.vedette().is_some() => Members::new(),
            None => {
                let bytes = self.known_bytes.get().saturating_add(listed.bytes);
                if bytes > PROFILES_BYTES_MAX {
                    let text = "The profiles and policy sets that the object refers to are together larger \
                                than 2 MiB.";
                    return Err(refuse(400, text));
                }
                self.known_bytes.set(bytes);
                let mut document = self.document(listed.row)?;
                // A set refers to pools and groups, which are found without their documents.
                self.canonical(kind, &mut document, false)?;
                document
            }
        };
        let (uuid, name) = (listed.uuid, listed.name);
        let id = listed.ids.first().copied();
        Ok(Found { kind, uuid, name, id, document: document.into() })
    }

    /// Writes the references of an object of this type as `/api/TYPE/UUID`. Those that lead nowhere are errors,
    /// or are removed.
    pub(super) fn canonical(
        &self,
        kind: Kind,
        document: &mut Members,
        strict: bool,
    ) -> AviResult<()> {
        let (mut failure, mut count) = (None, 0);
        let result = avi::each_reference(document, &mut |path, text| {
            if text.is_empty() || failure.is_some() {
                return Ok(None);
            }
            count += 1;
            if count > REFERENCES_MAX {
                let text = format!("the object has more than {REFERENCES_MAX} references");
                return Err(avi::Refused::at(path, text));
            }
            match check_kind(kind, path, text) {
                Err(refused) if strict => return Err(refused),
                Err(_) => return Ok(None),
                Ok(()) => {}
            }
            match self.find(text) {
                Ok(Some(found)) => Ok(Some(reference(found.kind, &found.uuid))),
                Ok(None) if strict => {
                    Err(avi::Refused::at(path, format_args!("\"{text}\" does not exist")))
                }
                Ok(None) => Ok(None),
                Err(error) => {
                    failure = Some(error);
                    Ok(None)
                }
            }
        });
        match failure {
            Some(failure) => Err(failure),
            None => Ok(result?),
        }
    }

    /// What a document with canonical references refers to, also through its policies: now, or before this
    /// request.
    pub(super) fn targets(&self, document: &Members, before: bool) -> AviResult<Targets> {
        let mut targets = Targets::default();
        let mut open = vec![Rc::new(document.clone())];
        while let Some(document) = open.pop() {
            let mut references = Vec::new();
            avi::each_reference(&mut Rc::unwrap_or_clone(document), &mut |_, reference| {
                references.push(reference.to_owned());
                Ok(None)
            })?;
            for reference in references {
                if targets.by_reference.contains_key(&reference) {
                    continue;
                }
                let old = match before {
                    true => self.changed.borrow().get(&reference).cloned(),
                    false => None,
                };
                let found = match old {
                    Some(old) => Some(old),
                    None => self.find(&reference)?,
                };
                let Some(found) = found else { continue };
                if found.kind == Kind::HttpPolicySet {
                    open.push(Rc::clone(&found.document));
                }
                let target = Target { id: found.id, document: Rc::clone(&found.document) };
                targets.by_reference.insert(reference, target);
            }
        }
        Ok(targets)
    }
}

/// Refuses a reference that a member of this object cannot have.
fn check_kind(owner: Kind, path: &str, text: &str) -> avi::Result<()> {
    let (Reference::Uuid(kind, _) | Reference::Name(kind, _)) = Reference::parse(path, text)?;
    let Some(expected) = avi::referred(path) else {
        let text = "Vedette does not have this reference; leave it out";
        return Err(avi::Refused::at(path, text));
    };
    if kind != expected {
        let text = format!("a reference to an object of type {} is expected", expected.word());
        return Err(avi::Refused::at(path, text));
    }
    match owner.may_refer_to(kind) {
        true => Ok(()),
        false => {
            let text = format!("a {} cannot refer to a {}", owner.word(), kind.word());
            Err(avi::Refused::at(path, text))
        }
    }
}
