//! Builders: one file for each kind.
