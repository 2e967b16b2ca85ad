//! The text of an answer while it is written: a chain of blocks, which leave for the client while
//! further rows are read.

use std::cell::RefCell;
use std::ops::Range;

use serde_json::Map;
use tokio::sync::OwnedSemaphorePermit;

use crate::call::Json;
use crate::error::ApiResult;

/// Bytes of a block. An answer that is shorter is never divided.
pub(crate) const BLOCK_BYTES: usize = 64 * 1024;

/// Where blocks of an answer go.
pub(crate) trait Outlet {
    /// Takes the block, and may wait until there is room for it. An error ends the answer.
    fn send(&mut self, block: &[u8]) -> ApiResult<()>;
    /// Whether the next block would have to wait.
    fn is_full(&self) -> bool;
    /// Takes a part of the memory of all answers for what a call holds beside its blocks. May wait
    /// like [`Outlet::send`].
    fn hold(&mut self, bytes: usize) -> ApiResult<Hold>;
    /// The answer is complete; `rest` is its end, or all of it if no block has left.
    fn end(self: Box<Self>, rest: Vec<u8>);
}

/// A part of the memory of all answers, given back when dropped.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    _permit: Option<OwnedSemaphorePermit>,
}

impl From<OwnedSemaphorePermit> for Hold {
    fn from(permit: OwnedSemaphorePermit) -> Self {
        Self { _permit: Some(permit) }
    }
}

/// An answer in the making.
pub(crate) struct Answer {
    state: RefCell<State>,
    hides_key: bool,
}

struct State {
    text: Vec<u8>,
    /// Where the result of the call at hand begins in `text`.
    start: usize,
    /// A block has left since then.
    has_left: bool,
    /// `None`: the text stays here.
    outlet: Option<Box<dyn Outlet>>,
    /// Where each row is in the text, if the answer is a part of another.
    places: Option<Vec<(u64, Range<usize>)>>,
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").finish_non_exhaustive()
    }
}

impl Answer {
    /// One that is kept as a whole.
    pub(crate) fn whole() -> Self {
        Self::new(None)
    }

    /// One whose blocks leave through `outlet`.
    pub(crate) fn through(outlet: Box<dyn Outlet>) -> Self {
        Self::new(Some(outlet))
    }

    fn new(outlet: Option<Box<dyn Outlet>>) -> Self {
        let text = Vec::new();
        let state = State { text, start: 0, has_left: false, outlet, places: None };
        Self { state: RefCell::new(state), hides_key: false }
    }

    /// One that is a part of another answer: its rows are kept and can be found by their ids.
    pub(crate) fn of_rows(hides_key: bool) -> Self {
        let whole = Self::whole();
        whole.state.borrow_mut().places = Some(Vec::new());
        Self { hides_key, ..whole }
    }

    /// The rows go out without their ids.
    pub(crate) fn hides_key(&self) -> bool {
        self.hides_key
    }

    /// Appends a row, after what separates it from others.
    pub(crate) fn row(
        &self,
        id: u64,
        before: impl FnOnce(&mut Vec<u8>),
        row: impl FnOnce(&mut Vec<u8>),
    ) -> ApiResult<()> {
        {
            let state = &mut *self.state.borrow_mut();
            before(&mut state.text);
            let start = state.text.len();
            row(&mut state.text);
            if let Some(places) = &mut state.places {
                places.push((id, start..state.text.len()));
            }
        }
        self.write(|_| ())
    }

    /// The text and the places of its rows, in their order.
    pub(crate) fn into_rows(self) -> (Vec<u8>, Vec<(u64, Range<usize>)>) {
        let State { text, places, .. } = self.state.into_inner();
        (text, places.unwrap_or_default())
    }

    /// The text from here on is of the next call.
    pub(crate) fn start_call(&self) {
        let state = &mut *self.state.borrow_mut();
        (state.start, state.has_left) = (state.text.len(), false);
    }

    /// Forgets the text of the call; `false` = a part of it has left.
    pub(crate) fn undo_call(&self) -> bool {
        let state = &mut *self.state.borrow_mut();
        if !state.has_left {
            state.text.truncate(state.start);
        }
        !state.has_left
    }

    /// Appends what `write` writes.
    pub(crate) fn write(&self, write: impl FnOnce(&mut Vec<u8>)) -> ApiResult<()> {
        let state = &mut *self.state.borrow_mut();
        write(&mut state.text);
        if state.text.len() >= BLOCK_BYTES { state.leave() } else { Ok(()) }
    }

    /// Appends a value. Its text is cut into blocks on the way, so that it is not in memory twice.
    pub(crate) fn json(&self, value: &Json) -> ApiResult<()> {
        match value {
            Json::Array(list) => {
                self.write(|text| text.push(b'['))?;
                for (n, one) in list.iter().enumerate() {
                    self.write(|text| separate(text, n))?;
                    self.json(one)?;
                }
                self.write(|text| text.push(b']'))
            }
            Json::Object(members) => self.object(members),
            other => self.write(|text| push_json(text, other)),
        }
    }

    fn object(&self, members: &Map<String, Json>) -> ApiResult<()> {
        self.write(|text| text.push(b'{'))?;
        for (n, (name, value)) in members.iter().enumerate() {
            self.write(|text| {
                separate(text, n);
                push_text(text, name);
                text.push(b':');
            })?;
            self.json(value)?;
        }
        self.write(|text| text.push(b'}'))
    }

    /// Whether the next block would have to wait.
    pub(crate) fn is_full(&self) -> bool {
        let state = self.state.borrow();
        state.outlet.as_ref().is_some_and(|outlet| outlet.is_full())
    }

    /// See [`Outlet::hold`].
    pub(crate) fn hold(&self, bytes: usize) -> ApiResult<Hold> {
        match &mut self.state.borrow_mut().outlet {
            Some(outlet) if bytes >= BLOCK_BYTES => outlet.hold(bytes),
            _ => Ok(Hold::default()),
        }
    }

    /// Gives the rest to the outlet; without one, the whole text to the caller.
    pub(crate) fn end(self) -> Vec<u8> {
        let State { text, outlet, .. } = self.state.into_inner();
        let Some(outlet) = outlet else { return text };
        outlet.end(text);
        Vec::new()
    }
}

impl State {
    fn leave(&mut self) -> ApiResult<()> {
        let Some(outlet) = &mut self.outlet else { return Ok(()) };
        for block in self.text.chunks(BLOCK_BYTES) {
            outlet.send(block)?;
            self.has_left = true;
        }
        self.text.clear();
        self.start = 0;
        Ok(())
    }
}

/// A comma before all but the first.
pub(crate) fn separate(text: &mut Vec<u8>, n: usize) {
    if n > 0 {
        text.push(b',');
    }
}

/// Appends a JSON value.
pub(crate) fn push_json(text: &mut Vec<u8>, value: &Json) {
    serde_json::to_writer(text, value).expect("BUG: writing to memory does not fail");
}

/// Appends a JSON string.
pub(crate) fn push_text(text: &mut Vec<u8>, value: &str) {
    serde_json::to_writer(text, value).expect("BUG: writing to memory does not fail");
}

/// Appends a number as a JSON string.
pub(crate) fn push_number(text: &mut Vec<u8>, value: i64) {
    text.push(b'"');
    serde_json::to_writer(&mut *text, &value).expect("BUG: writing to memory does not fail");
    text.push(b'"');
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use serde_json::json;

    use super::*;
    use crate::error::ApiError;

    /// Keeps blocks; refuses those beyond `most`.
    struct Kept {
        blocks: Rc<RefCell<Vec<Vec<u8>>>>,
        most: usize,
    }

    impl Outlet for Kept {
        fn send(&mut self, block: &[u8]) -> ApiResult<()> {
            if self.is_full() {
                return Err(ApiError::application("full"));
            }
            self.blocks.borrow_mut().push(block.to_vec());
            Ok(())
        }
        fn is_full(&self) -> bool {
            self.blocks.borrow().len() == self.most
        }
        fn hold(&mut self, _bytes: usize) -> ApiResult<Hold> {
            Ok(Hold::default())
        }
        fn end(self: Box<Self>, rest: Vec<u8>) {
            self.blocks.borrow_mut().push(rest);
        }
    }

    fn kept(most: usize) -> (Answer, Rc<RefCell<Vec<Vec<u8>>>>) {
        let blocks = Rc::default();
        let outlet = Kept { blocks: Rc::clone(&blocks), most };
        (Answer::through(Box::new(outlet)), blocks)
    }

    #[test]
    fn a_value_is_written_as_serde_writes_it() {
        let value =
            json!({ "a": [], "b": { "c\"\n\u{1}ü": [1, -2.5, null, true, "/\\"] }, "": {} });
        let answer = Answer::whole();
        answer.json(&value).unwrap();
        assert_eq!(String::from_utf8(answer.end()).unwrap(), value.to_string());
    }

    #[test]
    fn blocks_leave_while_the_text_grows() {
        let value: Json = (0..30_000).map(|n| json!({ "itemid": n.to_string() })).collect();
        let (answer, blocks) = kept(100);
        answer.json(&value).unwrap();
        answer.end();
        let blocks = blocks.take();
        assert!(blocks.len() > 5, "{}", blocks.len());
        assert!(blocks.iter().all(|block| block.len() <= BLOCK_BYTES));
        assert_eq!(String::from_utf8(blocks.concat()).unwrap(), value.to_string());
    }

    #[test]
    fn a_call_is_undone_until_a_block_of_it_has_left() {
        let (answer, _blocks) = kept(1);
        answer.write(|text| text.extend(b"[1")).unwrap();
        answer.start_call();
        answer.write(|text| text.extend(b",{")).unwrap();
        assert!(answer.undo_call());
        answer.write(|text| text.resize(BLOCK_BYTES, b' ')).unwrap();
        assert!(!answer.undo_call());
        assert!(answer.is_full());
        assert!(answer.write(|text| text.resize(BLOCK_BYTES, b' ')).is_err());
    }
}
