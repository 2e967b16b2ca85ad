//! Preprocessing, expressions, trigger functions, macros: values in, value out.

pub mod calendar;
pub mod expr;
pub mod func;
pub mod interval;
pub mod json;
pub mod jsonpath;
pub mod key;
pub mod macros;
pub mod num;
pub mod regex;
pub mod stats;
pub mod time;
pub mod units;
pub mod xpath;
pub mod preproc { #[derive(Debug,Clone,PartialEq)] pub struct Step; impl Step { pub fn from_api(_k:u8,_p:&str,_h:u8,_hp:&str)->Result<Self,String>{Ok(Self)} } }
