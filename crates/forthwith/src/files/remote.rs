//! Remote files.

pub(super) use forthwith_remote::{create, folder, is_remote, open, open_marked};

pub use forthwith_remote::{StoreOptions, redact};
