//! Files behind a network as [`Source`](forthwith_io::Source)s: HTTP, S3, Google Cloud Storage and Azure.
//!
//! [`open`] creates a source from a URL. Its first request reads the beginning and the end of the file at
//! once, where files of all formats have their metadata; the answer contains the size and a mark of the
//! file's state, which all later answers have to match.
//!
//! A source plans its requests itself (`requests.rs`): ranges near each other are fetched together if the gap
//! is cheaper than a request (`server.rs`), long ones in pieces in parallel. Servers that support it are
//! asked for several ranges at once (`multipart.rs`); servers that cap ranges, or answer with the whole file,
//! are supported. A request that failed temporarily is repeated, from the byte reached.
//!
//! [`open_marked`] creates a source for a file whose metadata are all in an index: it makes no request, and
//! the first answer shows whether the file is still in the state that the index describes.
//!
//! [`create`] creates a sink for a URL of a store, and [`folder`] lists a folder of one.
//!
//! This is the only crate with an asynchronous runtime: two threads per process, started with the first
//! source (`runtime.rs`). Threads of the engine block on it, and check every 20 ms whether they should
//! continue ([`StoreOptions::going_on`]).
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

/// Schemes of URLs that [`open`] supports.
pub const SCHEMES: [&str; 9] = ["http", "https", "s3", "s3a", "gs", "az", "azure", "abfs", "abfss"];

/// Whether a name is a URL of one of the [`SCHEMES`].
#[must_use]
pub fn is_remote(name: &str) -> bool {
    name.split_once("://")
        .is_some_and(|(scheme, _)| SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme)))
}
