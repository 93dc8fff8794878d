//! One damaged basket of a bundled file, with everything around it sound. The first two bytes choose the branch, the third
//! says which lengths are mended, the rest is the basket.
#![no_main]

use forthwith::plan::Stored;
use forthwith_fuzz::{Case, cases, mend};
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static CASES: LazyLock<Vec<Case>> = LazyLock::new(cases);

fuzz_target!(|bytes: &[u8]| {
    let [a, b, how, basket @ ..] = bytes else { return };
    let case = &CASES[usize::from(u16::from_le_bytes([*a, *b])) % CASES.len()];
    let mut plan = case.plan.clone();
    plan.tasks[case.task].stored = Stored::Inline(if how & 2 == 0 {
        mend(basket, how & 1 == 1)
    } else {
        bytes::Bytes::copy_from_slice(basket)
    });
    let format = forthwith::format(&plan.format).expect("the plan was made by a format there is");
    let source = case.file.source();
    let engine = case.file.engine();
    let _ = engine.raw(&plan, case.task, source, format);
    if let Ok(arrays) = engine.read(&plan, source, format, Some(1), None) {
        for array in arrays {
            array.validate().expect("what is delivered is valid");
            let _ = array.preview(0..array.length.min(4), 40).lines();
            let _ = array.preview(array.length.saturating_sub(2)..array.length, 40).lines();
        }
    }
});
