//! `forthwith forth`: programs that decode branches, and programs of the user.

mod branch;
mod job;
mod keyboard;
mod listing;
mod npy;
mod report;
mod run;
mod step;
mod text;
mod view;

pub(crate) use branch::forth;
pub use keyboard::Keyboard;

use crate::{
    console::Console,
    failure::{Failure, Result},
    flags::{Act, Bits},
};
use forthwith::forth::{Tier, W32, W64};
use job::Job;

/// Executes a command about a program.
pub(crate) fn program(act: &Act, keyboard: &mut Keyboard<'_>, console: &mut Console<'_>) -> Result<()> {
    if let Err(text) = Tier::of_environment() {
        return Err(Failure::misuse(format!("FORTHWITH_TIER is {text}; it may be 0, 1 or 2")));
    }
    match act {
        Act::Run(args) => {
            let job = Job::new(&args.given, keyboard, console)?;
            match args.given.bits {
                Bits::Bits32 => run::run::<W32>(&job, args, console),
                Bits::Bits64 => run::run::<W64>(&job, args, console),
            }
        }
        Act::Step(args) => {
            let job = Job::new(&args.given, keyboard, console)?;
            match args.given.bits {
                Bits::Bits32 => step::step::<W32>(&job, args, keyboard, console),
                Bits::Bits64 => step::step::<W64>(&job, args, keyboard, console),
            }
        }
        Act::Dis(args) => {
            let (text, compiled) = job::compile(&args.program, keyboard, console)?;
            listing::dis(&text, &compiled, args, console)
        }
        Act::Explain(args) => {
            let (text, compiled) = job::compile(args, keyboard, console)?;
            listing::explain(&text, &compiled, console)
        }
    }
}
