//! Files behind a network.

pub(super) use forthwith_remote::{is_remote, open};

pub use forthwith_remote::StoreOptions;
