//! Preprocessing, expressions, trigger functions, macros: values in, value out.
pub mod interval {
    #[derive(Debug, Clone, PartialEq)]
    pub struct UpdateInterval;
}
pub mod preproc {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Step;
}
pub mod expr {
    #[derive(Debug, Clone, PartialEq)]
    pub struct Expression;
}
