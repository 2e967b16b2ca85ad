//! Preprocessing stage, history syncer, triggers.
