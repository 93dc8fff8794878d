//! Files behind a network.

pub(super) use forthwith_remote::{create, folder, is_remote, open};

pub use forthwith_remote::StoreOptions;
