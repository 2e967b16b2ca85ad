//! Preprocessing, expressions, trigger functions, macros: values in, value out.
