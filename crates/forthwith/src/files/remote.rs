//! Files behind a network.

pub(super) use forthwith_remote::{folder, is_remote, open};

pub use forthwith_remote::StoreOptions;
