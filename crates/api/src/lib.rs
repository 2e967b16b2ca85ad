//! JSON-RPC methods, permissions, sessions, UI files.
