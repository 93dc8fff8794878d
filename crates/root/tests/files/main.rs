//! Behaviour of the crate: files, keys, streamer infos and objects, on files made by ROOT.
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]
// The files that were skipped, and how much was compared, are part of a test's result.
#![allow(clippy::print_stderr)]

mod check_recover;
mod corpus;
mod damage;
mod functions;
mod keys;
mod large;
mod objects;
mod sparse;
mod standard;
mod streamers;
mod updated;
mod written;
