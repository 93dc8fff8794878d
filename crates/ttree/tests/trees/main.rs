//! Behaviour of the crate: trees, branches, plans and baskets, on files made by ROOT.
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]
// A test that fails says where.
#![allow(clippy::unwrap_used)]

mod baskets;
mod check_baskets;
mod columns;
mod copied;
mod damage;
mod decode;
mod lookup;
mod refused;
mod rewritten;
mod support;
mod unframe;
mod written;
