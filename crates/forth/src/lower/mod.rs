//! From the structured program to code for the fast tiers.

#[allow(dead_code, reason = "what reads it follows")]
pub(crate) mod ir;
