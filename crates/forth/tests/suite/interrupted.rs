//! Runs that another thread ends, in every tier and of either width, and what becomes of the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use forthwith_forth::{Compiled, Limits, Machine, RunError, Status, Tier, W32, W64, Width};

use super::support::{TIERS, assert_same};

/// Runs until it is interrupted, and tells how long it took from then on.
fn end<W: Width>(source: &str, tier: Tier, inputs: &[&[u8]]) -> (Machine<W>, Duration) {
    let flag = Arc::new(AtomicBool::new(false));
    let mut machine = Machine::<W>::with_width(Arc::new(Compiled::new(source).unwrap()), Limits::default());
    machine.force_tier(Some(tier));
    machine.set_interrupt(Some(Arc::clone(&flag)));
    let asked = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(10));
            flag.store(true, Ordering::Relaxed);
            Instant::now()
        });
        assert_eq!(machine.run(inputs), Err(RunError::Interrupted), "{tier:?} {source}");
        let ended = Instant::now();
        ended.saturating_duration_since(asking.join().unwrap())
    });
    flag.store(false, Ordering::Relaxed);
    (machine, asked)
}

#[test]
#[cfg_attr(miri, ignore = "waits for a clock")]
fn whatever_does_not_end_is_ended() {
    let zeros = vec![0; 1 << 16];
    for source in [
        "begin 1 drop again",
        "begin begin 1 until again",
        "0 begin 1+ 0 until",
        "begin 1 while repeat",
        "2147483647 0 do i drop loop",
        "1000000000 0 do 1000000000 0 do i drop loop loop",
        "1000000000 0 do 1 0 do 1 0 do loop loop 0 +loop",
        ": forever begin 1 drop again ; forever",
        ": deep dup 0 > if 1 - dup deep drop dup deep drop then ; 200 deep",
        "input x output y int32 begin 0 x seek 1000 0 do x i-> y loop y len y rewind again",
        "input x output y int64 begin 0 x seek 1000 x #zigzag-> y y len y rewind again",
        "variable n begin 1 n +! n @ drop again",
        // The stack grows with each pass: nothing but tier 0 can run it.
        "begin 0 0 if dup then drop again",
    ] {
        let inputs: &[&[u8]] = if source.starts_with("input") { &[&zeros] } else { &[] };
        for tier in TIERS {
            let runs: [&dyn Fn() -> Duration; 2] =
                [&|| end::<W64>(source, tier, inputs).1, &|| end::<W32>(source, tier, inputs).1];
            for run in runs {
                // Other programs may have the processors for that long, but hardly three times.
                let took = (0..3).map(|_| run()).find(|took| *took < Duration::from_millis(100));
                assert!(took.is_some(), "three times more than 100 ms: {tier:?} {source}");
            }
        }
    }
}

/// The end of a run does not depend on how often it was interrupted on the way.
#[test]
#[cfg_attr(miri, ignore = "waits for a clock")]
fn an_interrupted_run_goes_on() {
    let data: Vec<u8> = (0..400_000_u32).flat_map(|number| (number % 3).to_be_bytes()).collect();
    for source in [
        "0 3000000 0 do i + loop",
        ": fib dup 1 > if dup 1- fib swap 2 - fib + then ; 25 fib",
        "0 begin 1+ dup 2000000 = until",
        "input x output y int32 output z int64 100000 0 do x !I-> stack dup z +<- stack drop x !i-> y loop",
        "input x output z int64 output y int32 50000 0 do x !I-> stack dup z +<- stack x #!i-> y loop",
    ] {
        let inputs: &[&[u8]] = if source.starts_with("input") { &[&data] } else { &[] };
        let compiled = Arc::new(Compiled::new(source).unwrap());
        let mut whole = Machine::new(Arc::clone(&compiled), Limits::default());
        assert_eq!(whole.run(inputs), Ok(Status::Done), "{source}");
        for tier in TIERS {
            let flag = Arc::new(AtomicBool::new(true));
            let mut machine = Machine::new(Arc::clone(&compiled), Limits::default());
            machine.force_tier(Some(tier));
            machine.set_interrupt(Some(Arc::clone(&flag)));
            machine.begin();
            let mut times = 0;
            let done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        flag.store(true, Ordering::Relaxed);
                        std::thread::sleep(Duration::from_micros(200));
                    }
                });
                let mut result = machine.resume(inputs);
                while result == Err(RunError::Interrupted) {
                    times += 1;
                    flag.store(false, Ordering::Relaxed);
                    result = machine.resume(inputs);
                }
                done.store(true, Ordering::Relaxed);
                assert_eq!(result, Ok(Status::Done), "{tier:?} {source}");
            });
            assert!(times > 0, "{tier:?} {source}");
            assert_same(&whole, &machine);
        }
    }
}

/// A step is one instruction, and a word that is called by itself is a run as any other.
#[test]
fn steps_go_on_and_calls_end() {
    let flag = Arc::new(AtomicBool::new(true));
    let compiled = Arc::new(Compiled::new(": forever begin 1 drop again ; 1 2 begin 3 drop again").unwrap());
    let mut machine = Machine::new(compiled, Limits::default());
    machine.set_interrupt(Some(flag));
    machine.begin();
    for _ in 0..20 {
        assert_eq!(machine.step(&[]), Ok(Status::Paused));
    }
    assert_eq!(machine.resume(&[]), Err(RunError::Interrupted));
    assert_eq!(machine.error(), None);
    assert_eq!(machine.call("forever", &[]), Err(RunError::Interrupted));
    assert_eq!(machine.resume(&[]), Err(RunError::Interrupted));
    machine.begin();
    assert_eq!((machine.stack(), machine.is_done()), (&[][..], false));
}
