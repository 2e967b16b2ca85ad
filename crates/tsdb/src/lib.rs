//! The embedded history engine: WAL, head, segment, index, recovery.
