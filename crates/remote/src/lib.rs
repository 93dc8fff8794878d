//! Files behind a network as [`Source`](forthwith_io::Source)s: HTTP, S3, Google Cloud Storage and Azure.
//!
//! [`open`] makes a source of a URL. Its first request asks for the beginning and the end of the file at once, where files of all formats
//! have their metadata; the size and a mark of the file's state come with the answer, and every later answer has to carry the same.
//!
//! A source plans its requests itself (`requests.rs`): ranges that lie near each other are fetched in one piece if the gap is cheaper than a
//! request (`server.rs`), long ones in pieces side by side. A server that answers several ranges at once is asked so (`multipart.rs`); one that
//! caps ranges, or answers with the whole file, is understood. A request that fails in passing is repeated, from the byte reached.
//!
//! [`open_marked`] makes a source of a file of which an index has all metadata: it makes no request, and the first answer shows whether the
//! file is still the one that the index is of.
//!
//! [`create`] makes a sink of a URL of a store, and [`folder`] lists one.
//!
//! This is the only crate with an asynchronous runtime: two threads for the process, started with the first source (`runtime.rs`). The
//! threads of the engine wait for it, and look every 20 ms whether they still should ([`StoreOptions::going_on`]).
#![deny(missing_docs, unsafe_code)]
#![allow(clippy::disallowed_methods, reason = "only for systems with processes and clocks")]

mod answer;
mod clients;
mod clock;
mod fetch;
mod http;
mod link;
mod list;
mod multipart;
mod options;
mod redact;
mod requests;
mod runtime;
mod server;
mod sink;
mod source;
mod store;

pub use list::{Folder, folder};
pub use options::StoreOptions;
pub use redact::redact;
pub use sink::create;
pub use source::{open, open_marked};

/// The schemes of URLs that [`open`] knows.
pub const SCHEMES: [&str; 9] = ["http", "https", "s3", "s3a", "gs", "az", "azure", "abfs", "abfss"];

/// Whether a name is a URL of one of the [`SCHEMES`].
#[must_use]
pub fn is_remote(name: &str) -> bool {
    name.split_once("://")
        .is_some_and(|(scheme, _)| SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)))
}
