//! The parts that are made once in a process, made now.

use std::sync::{Arc, OnceLock};

use crate::{Compiled, Limits, Machine, Programs, Tier};

/// Makes what a process makes once and then shares: the words of the language, and what compiles machine
/// code.
///
/// For the moment before a process is forked while other threads run: one that was making any of it then is
/// not in the forked process, which would wait for it for ever. Takes a millisecond the first time and
/// nothing after.
pub fn prepare() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let _ = (Tier::of_environment(), Programs::of_process());
        let Ok(program) = Compiled::new("input data output out uint8 0 do data B-> out loop") else { return };
        let mut machine = Machine::new(Arc::new(program), Limits::default());
        // The compiler has things of its own that it makes once.
        machine.force_tier(Some(Tier::Compiled));
        machine.begin();
        // Whatever comes of it: what it takes was made.
        if machine.push(1).is_ok() {
            let _ = machine.resume(&[&[0]]);
        }
    });
}
