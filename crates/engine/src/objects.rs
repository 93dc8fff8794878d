//! Objects of a block that a program has decoded, by their positions.

use forthwith_columns::OBJECT_BITS;
use forthwith_forth::Output;
use forthwith_program::ASKED_OUTPUTS;
use std::collections::HashMap;

/// Cache of decoded objects, to which a program's pointers refer. Columns without such requests are not
/// cached.
#[derive(Default)]
pub(crate) struct ObjectCache {
    /// Length of each output when the block started.
    begun: Vec<usize>,
    outputs: HashMap<usize, Seen>,
}

/// The objects of an output up to `looked_at`.
struct Seen {
    looked_at: usize,
    objects: i64,
    /// Numbers of the objects by their positions.
    at: HashMap<i64, i64>,
}

impl ObjectCache {
    /// Clears the cache for another block, in which positions have another meaning.
    pub(crate) fn begin(&mut self, outputs: &[Output]) {
        self.outputs.clear();
        self.begun.clear();
        self.begun.extend(outputs.iter().map(Output::len));
    }

    /// Returns the response to a request, as [`Program::asks`](forthwith_program::Program::asks) describes
    /// it.
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
