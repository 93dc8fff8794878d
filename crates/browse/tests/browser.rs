//! Browsers of the bundled files, driven by keys and drawn on buffers.

mod browser {
    mod damage;
    pub(crate) mod driver;
    mod filter_time;
    mod grids;
    mod plots;
    mod random_keys;
    mod slow_source;
    mod trees;
}
