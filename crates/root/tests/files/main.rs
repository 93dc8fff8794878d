//! Behaviour of the lower half of the crate: files, keys, streamer infos and objects, on files made by ROOT.
mod corpus;
mod damage;
mod keys;
mod objects;
mod sparse;
mod streamers;
