//! Building columns of a known type.
