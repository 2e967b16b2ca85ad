//! Configuration database, template linkage, discovery, the immutable snapshot.
