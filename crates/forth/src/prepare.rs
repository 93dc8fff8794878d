//! Initialisation of process-wide state ahead of its first use.

use std::sync::{Arc, OnceLock};

use crate::{Compiled, Limits, Machine, Programs, Tier};

/// Initialises the state that a process shares: the words of the language, the compiled programs and the
/// compiler of machine code.
///
/// Call it before a process with several threads is forked: a thread that is initialising any of this does
/// not exist in the forked process, which would wait for it forever. The first call takes about a
/// millisecond, later ones return at once.
pub fn prepare() {
    static DONE: OnceLock<()> = OnceLock::new();
    DONE.get_or_init(|| {
        let _ = (Tier::of_environment(), Programs::of_process());
        let Ok(program) = Compiled::new("input data output out uint8 0 do data B-> out loop") else { return };
        let mut machine = Machine::new(Arc::new(program), Limits::default());
        // The code generator has process-wide state of its own.
        machine.force_tier(Some(Tier::Compiled));
        machine.begin();
        // The outcome of the run does not matter: it initialises the state in any case.
        if machine.push(1).is_ok() {
            let _ = machine.resume(&[&[0]]);
        }
    });
}
