//! Services: what the status of a business service is, when it changed, and how well that kept an agreement (SLA).
//!
//! The status follows from open problems that have the service's problem tags, and from its children:
//! [`tree`] is the core, without a database; [`keeper`] is the thread that keeps it up to date. [`sli`] computes how well an
//! agreement is kept, and [`access`] tells who sees which service.

pub mod access;
pub mod causes;
pub mod keeper;
pub mod sli;
pub mod tree;
