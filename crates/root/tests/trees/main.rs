//! Behaviour of the upper half of the crate: trees, branches, plans and baskets, on files made by ROOT.
mod baskets;
mod columns;
mod damage;
mod decode;
mod lookup;
mod support;
mod unframe;
