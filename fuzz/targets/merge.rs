//! Any bytes as a file that is merged, cut, compressed anew, and continued.
#![no_main]

use forthwith_fuzz::merged;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| merged(bytes));
