//! Short ways to run a program and look at what it left.

use std::sync::Arc;

use forthwith_forth::{Compiled, Limits, Machine, Output, RunError, Status, Tier, W32, Width};

/// All tiers there are.
pub(crate) const TIERS: [Tier; 3] = [Tier::Checked, Tier::Fused, Tier::Compiled];

/// Runs with the given items on the stack, in all tiers, and checks that they agree.
pub(crate) fn run(source: &str, stack: &[i64], inputs: &[&[u8]]) -> (Machine, Result<Status, RunError>) {
    run_compiled(&compiled(source), stack, inputs)
}

pub(crate) fn compiled(source: &str) -> Arc<Compiled> {
    Arc::new(Compiled::new(source).unwrap_or_else(|error| panic!("{error}")))
}

/// Likewise a program that was compiled before, as where it runs over many inputs.
pub(crate) fn run_compiled(
    compiled: &Arc<Compiled>,
    stack: &[i64],
    inputs: &[&[u8]],
) -> (Machine, Result<Status, RunError>) {
    let results = TIERS.map(|tier| {
        let mut machine = Machine::new(Arc::clone(compiled), Limits::default());
        machine.force_tier(Some(tier));
        machine.begin();
        for &item in stack {
            machine.push(item).expect("room");
        }
        let result = machine.resume(inputs);
        (machine, result)
    });
    let [checked, fast @ ..] = &results;
    for (machine, result) in fast {
        assert_eq!(result, &checked.1);
        assert_same(&checked.0, machine);
    }
    let [.., last] = results;
    last
}

pub(crate) fn assert_same<W: Width>(a: &Machine<W>, b: &Machine<W>) {
    let source = a.compiled().source();
    assert_eq!(a.stack(), b.stack(), "{source}");
    assert_eq!(a.variables(), b.variables(), "{source}");
    assert_eq!(a.error_location(), b.error_location(), "{source}");
    assert_eq!(a.outer_index(), b.outer_index(), "{source}");
    for input in 0..a.compiled().inputs().len() {
        assert_eq!(a.position(input), b.position(input), "position of input {input}: {source}");
    }
    for (a, b) in a.outputs().iter().zip(b.outputs()) {
        // Outputs are long.
        assert!(a.as_bytes() == b.as_bytes(), "{source}\n{a:?} differs from {b:?}");
    }
}

/// The stack a program leaves.
pub(crate) fn stack(source: &str) -> Vec<i64> {
    let (machine, result) = run(source, &[], &[]);
    assert_eq!(result, Ok(Status::Done), "{source}");
    machine.stack().to_vec()
}

/// The same with 32-bit items.
pub(crate) fn stack32(source: &str) -> Vec<i64> {
    let compiled = Arc::new(Compiled::new(source).unwrap_or_else(|error| panic!("{error}")));
    let mut machine = Machine::<W32>::new32(compiled, Limits::default());
    assert_eq!(machine.run(&[]), Ok(Status::Done), "{source}");
    machine.stack().to_vec()
}

/// Runs with 32-bit items, in every tier.
pub(crate) fn run32(source: &str, inputs: &[&[u8]]) -> (Machine<W32>, Result<Status, RunError>) {
    let compiled = Arc::new(Compiled::new(source).unwrap_or_else(|error| panic!("{error}")));
    let mut results = TIERS.map(|tier| {
        let mut machine = Machine::new32(Arc::clone(&compiled), Limits::default());
        machine.force_tier(Some(tier));
        let result = machine.run(inputs);
        (machine, result)
    });
    for (machine, result) in &results[1..] {
        assert_eq!(result, &results[0].1);
        assert_eq!(machine.stack(), results[0].0.stack());
    }
    results.swap(0, TIERS.len() - 1);
    let [last, ..] = results;
    last
}

/// The error and the stack a program ends with.
pub(crate) fn fails(source: &str, inputs: &[&[u8]]) -> (RunError, Vec<i64>) {
    let (machine, result) = run(source, &[], inputs);
    (result.expect_err(source), machine.stack().to_vec())
}

macro_rules! items {
    ($name:ident, $type:ty) => {
        pub(crate) fn $name(output: &Output) -> Vec<$type> {
            const SIZE: usize = size_of::<$type>();
            let items = output.as_bytes().chunks_exact(SIZE);
            items.map(|item| <$type>::from_ne_bytes(item.try_into().expect("chunk"))).collect()
        }
    };
}

items!(f32s, f32);
items!(f64s, f64);
items!(i8s, i8);
items!(i32s, i32);
items!(u32s, u32);
items!(i64s, i64);
items!(u64s, u64);

/// Runs all tiers, on both widths; what the first said.
pub(crate) fn agree(compiled: &Arc<Compiled>, entries: i64, inputs: &[&[u8]]) -> Result<Status, RunError> {
    macro_rules! run {
        ($machine:ty, $tier:expr) => {{
            let mut machine = <$machine>::with_width(Arc::clone(compiled), Limits::default());
            machine.force_tier(Some($tier));
            machine.begin();
            machine.push(entries as _).unwrap();
            let result = machine.resume(inputs);
            (machine, result)
        }};
    }
    let (wide, checked) = run!(Machine, Tier::Checked);
    let (narrow, checked32) = run!(Machine<W32>, Tier::Checked);
    for tier in TIERS {
        let (machine, result) = run!(Machine, tier);
        assert_eq!(result, checked, "{tier:?} {} bytes", inputs[0].len());
        assert_same(&wide, &machine);
        let (machine, result) = run!(Machine<W32>, tier);
        assert_eq!(result, checked32, "{tier:?} {} bytes, 32 bits", inputs[0].len());
        assert_same(&narrow, &machine);
    }
    checked
}
