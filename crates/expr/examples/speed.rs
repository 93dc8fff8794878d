//! How long expressions take, by the item: `cargo run --release -p forthwith-expr --example speed`.
//!
//! Prints a line for each expression: the text, a tab, nanoseconds by the item. `benches/expressions/compare.py` runs it, and
//! compares with NumPy and Awkward Array.
#![allow(clippy::disallowed_methods, reason = "tests and examples run where there are processes and clocks")]
#![allow(clippy::print_stdout, reason = "what an example is for")]

use forthwith_columns::{Array, Column, Form, Native};
use forthwith_expr::{Expression, Named, Program};
use std::time::Instant;

const ENTRIES: usize = 1_000_000;
const ROUNDS: usize = 7;

/// Of flat columns `x`, `y`, `n` and of lists `px`, `py`.
const EXPRESSIONS: [&str; 10] = [
    "x * 2 + 1",
    "sqrt(x**2 + y**2)",
    "(x > 0.2) & (y < 0.8)",
    "where(x > y, x, y)",
    "n % 7 == 3",
    "x + n",
    "sqrt(px**2 + py**2)",
    "px * x",
    "sum(px[px > 0.5])",
    "any((px > 0.9) & (py > 0.9))",
];

fn flat<T: Native>(items: Vec<T>) -> Array {
    let form = Form::Numpy { key: "x".into(), dtype: T::DTYPE, shape: vec![] };
    Array { form, length: items.len() as u64, columns: vec![("x-data".into(), Column::from_vec(items))] }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as u32
    };
    let mut offsets = vec![0_i64];
    for at in 0..ENTRIES {
        offsets.push(offsets[at] + i64::from(next() % 5));
    }
    let items = offsets[ENTRIES] as usize;
    let offsets = Column::from_vec(offsets);
    let mut floats =
        |count: usize| -> Vec<f32> { (0..count).map(|_| next() as f32 / 16_777_216.0).collect() };
    let mut jagged = || {
        let content = flat(floats(items));
        Array {
            form: Form::List { key: "l".into(), content: Box::new(content.form) },
            length: ENTRIES as u64,
            columns: vec![("l-offsets".into(), offsets.clone()), content.columns[0].clone()],
        }
    };
    let (px, py) = (jagged(), jagged());
    let columns = [
        ("x", flat(floats(ENTRIES))),
        ("y", flat(floats(ENTRIES))),
        ("n", flat((0..ENTRIES as i32).collect())),
        ("px", px),
        ("py", py),
    ];
    for text in EXPRESSIONS {
        let expression = Expression::parse(text)?;
        let program = Program::new(&[&expression], &mut |name| match columns
            .iter()
            .find(|(known, _)| *known == name)
        {
            Some((_, array)) => Named::Column(array.form.clone()),
            None => Named::Unknown(vec![]),
        })?;
        let inputs: Vec<&Array> = program
            .inputs()
            .filter_map(|name| columns.iter().find(|(known, _)| *known == name).map(|(_, array)| array))
            .collect();
        let count = if text.contains('p') && text.contains("px") { items } else { ENTRIES };
        let mut best = f64::INFINITY;
        for _ in 0..ROUNDS {
            let began = Instant::now();
            let made = program.run(&inputs, ENTRIES as u64)?;
            best = best.min(began.elapsed().as_secs_f64());
            assert_eq!(made[0].length, ENTRIES as u64);
        }
        println!("{text}\t{:.3}", best * 1e9 / count as f64);
    }
    Ok(())
}
