//! Any bytes as a file or a stream of Arrow's IPC format. What can be read is written and read again.
#![no_main]

use forthwith::OpenOptions;
use forthwith_fuzz::{read_all, same, written};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((names, arrays)) = read_all("fuzz.arrow", bytes, &OpenOptions::new()) else { return };
    let Some(bytes) = written("again.arrow", &names, &arrays) else { return };
    let (_, again) =
        read_all("again.arrow", &bytes, &OpenOptions::new()).expect("what was written can be read");
    assert!(same(&arrays, &again), "what was written is read again");
});
