//! Structure-aware mutants for a stable compiler: `mutants TARGET SEED COUNT` checks COUNT inputs from a seed on.
//!
//! Each round has a seed of its own, so that a failure is repeated by its seed and a count of 1.

use forthwith_fuzz::{Rng, json_mutants, proto_mutants};
use std::{
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    time::Instant,
};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, seed, count] = arguments.as_slice() else {
        eprintln!("mutants protobuf|json SEED COUNT");
        return ExitCode::from(2);
    };
    let (Ok(mut seed), Ok(count)) = (seed.parse::<u64>(), count.parse::<u64>()) else {
        eprintln!("SEED and COUNT are numbers");
        return ExitCode::from(2);
    };
    let (mut done, mut failed, mut slowest, start) = (0, 0, (0, 0.0), Instant::now());
    let mut shown = 0;
    while done < count {
        let mut rng = Rng::new(seed);
        let begun = Instant::now();
        let round = catch_unwind(AssertUnwindSafe(|| match (target.as_str(), rng.below(16)) {
            ("json", _) => json_mutants::check(&mut rng),
            (_, 0..8) => proto_mutants::check_messages(&mut rng),
            (_, 8..15) => proto_mutants::check_file(&mut rng),
            _ => proto_mutants::check_schema(&mut rng),
        }));
        let took = begun.elapsed().as_secs_f64();
        if took > slowest.1 {
            slowest = (seed, took);
        }
        match round {
            Ok(inputs) => done += inputs,
            Err(_) => {
                println!("{target}: seed {seed} failed");
                (done, failed) = (done + 1, failed + 1);
                if failed == 20 {
                    break;
                }
            }
        }
        seed += 1;
        if done / 500_000 > shown {
            shown = done / 500_000;
            println!("{target}: {done} inputs, {failed} failures, {:.0} s, next seed {seed}", start.elapsed().as_secs_f64());
            let _ = std::io::stdout().flush();
        }
    }
    println!(
        "{target}: {done} inputs, {failed} failures, {:.0} s, slowest round {:.3} s (seed {}), next seed {seed}",
        start.elapsed().as_secs_f64(),
        slowest.1,
        slowest.0
    );
    ExitCode::from(u8::from(failed > 0))
}
