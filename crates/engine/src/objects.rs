//! Which objects of a block were met, and where their rows are.

use forthwith_columns::OBJECT_BITS;
use forthwith_forth::Output;
use forthwith_program::ASKED_OUTPUTS;
use std::collections::HashMap;

/// The objects that a program asks for when a pointer leads to one elsewhere. Nothing is kept of columns
/// without such requests.
#[derive(Default)]
pub(crate) struct ObjectCache {
    /// For each output how long it was when the block began.
    begun: Vec<usize>,
    outputs: HashMap<usize, Seen>,
}

/// The objects of an output, as far as it was looked at.
struct Seen {
    looked_at: usize,
    objects: i64,
    /// By their positions, which objects they are.
    at: HashMap<i64, i64>,
}

impl ObjectCache {
    /// Forgets everything: positions mean something else in another block.
    pub(crate) fn begin(&mut self, outputs: &[Output]) {
        self.outputs.clear();
        self.begun.clear();
        self.begun.extend(outputs.iter().map(Output::len));
    }

    /// The answer to a request, as [`Program::asks`](forthwith_program::Program::asks) describes it.
    pub(crate) fn answer(&mut self, request: i64, outputs: &[Output]) -> i64 {
        let (position, number) = (request.div_euclid(ASKED_OUTPUTS), request.rem_euclid(ASKED_OUTPUTS));
        let number = number as usize; // below the number of outputs there may be
        let Some(items) = outputs.get(number) else { return 0 };
        let items = items.as_bytes().as_chunks::<8>().0;
        let begun = self.begun.get(number).copied().unwrap_or(0);
        let new = || Seen { looked_at: begun, objects: 0, at: HashMap::new() };
        let seen = self.outputs.entry(number).or_insert_with(new);
        for item in items.get(seen.looked_at..).unwrap_or_default() {
            let item = i64::from_ne_bytes(*item);
            if item > 0 {
                seen.at.insert(item >> OBJECT_BITS, seen.objects);
                seen.objects += 1;
            }
        }
        seen.looked_at = items.len();
        seen.at.get(&position).map_or(0, |object| (object - seen.objects) << 32)
    }
}
