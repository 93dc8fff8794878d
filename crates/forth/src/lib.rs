//! forth
