//! Parquet files in memory: written, read back, and damaged.

#![allow(clippy::unwrap_used)] // a test may end so

mod damage;
mod footers;
mod read;
mod round_trips;
