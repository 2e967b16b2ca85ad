//! Memory that is only used to interrupt a script. An interrupt is an error object. If there is no memory for one, the
//! engine throws null instead, which a script can catch: it would never end.

use std::cell::RefCell;

use rquickjs::{Ctx, Persistent, String as Text};

/// Bytes of one piece: enough for an error with its stack.
const PIECE_BYTES: usize = 8 << 10;
/// Pieces: an interrupted script may be interrupted again while the engine closes its iterators.
const PIECES: usize = 8;

/// Texts in the memory of an engine that are freed at interrupts.
#[derive(Default)]
pub(crate) struct Reserve(RefCell<Vec<Persistent<Text<'static>>>>);

impl Reserve {
    /// Takes what is missing. False: there is no memory.
    pub(crate) fn fill(&self, ctx: &Ctx<'_>) -> bool {
        let mut pieces = self.0.borrow_mut();
        while pieces.len() < PIECES {
            let Ok(piece) = Text::from_str(ctx.clone(), &"-".repeat(PIECE_BYTES)) else {
                // The exception is of no use to others.
                drop(ctx.catch());
                return false;
            };
            pieces.push(Persistent::save(ctx, piece));
        }
        true
    }

    /// Makes room for one error.
    pub(crate) fn free_one(&self) {
        // It may be called while the reserve is filled: then there is memory.
        if let Ok(mut pieces) = self.0.try_borrow_mut() {
            drop(pieces.pop());
        }
    }

    pub(crate) fn free_all(&self) {
        self.0.borrow_mut().clear();
    }
}
