//! Behaviour of the upper half of the crate: trees, branches, plans and baskets, on files made by ROOT.
mod columns;
mod support;
