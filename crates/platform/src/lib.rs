//! Interfaces of the operating system, with substitutes for systems that lack them: WebAssembly has neither
//! processes nor, without WASI, clocks, and the functions of the standard library for them panic there.
//!
//! [`process_id`] identifies the process, [`Instant`] and [`wall_clock`] measure time, and [`parallelism`] is
//! the number of threads that can run at once. State that a forked process must not share with its parent is
//! in a [`ForkLocal`], behind a [`ProcessLock`], or initialised once in a [`ProcessOnce`]. Other crates use
//! these in place of `std::process::id`, `std::time::Instant::now`, `std::time::SystemTime::now` and
//! `std::thread::available_parallelism`, which clippy refuses.
//!
//! ```
//! use forthwith_platform::{ForkLocal, Instant, process_id};
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! static OPENED: ForkLocal<AtomicU32> = ForkLocal::new();
//! let began = Instant::now();
//! OPENED.get().fetch_add(1, Ordering::Relaxed);
//! assert_eq!(OPENED.get().load(Ordering::Relaxed), 1);
//! assert!(began.elapsed().as_secs() < 60 && process_id() != 0);
//! ```
#![deny(missing_docs)]

// One interface in two files: for systems with a clock, and for WebAssembly without one.
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod clock;
#[cfg(all(target_family = "wasm", target_os = "unknown"))]
#[path = "clock_absent.rs"]
mod clock;
mod fork_local;
mod parallelism;
mod process;
mod process_lock;
mod process_once;

pub use clock::{Instant, wall_clock};
pub use fork_local::ForkLocal;
pub use parallelism::parallelism;
pub use process::process_id;
pub use process_lock::{ProcessGuard, ProcessLock};
pub use process_once::{ProcessList, ProcessOnce};
