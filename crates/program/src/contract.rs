//! The Program contract: what every translator emits and the engine relies on.

use forthwith_columns::{DType, Finisher, Form};
use serde::{Deserialize, Serialize};

/// More outputs than any program has: positions are multiplied with it to leave room for the number of one.
pub const ASKED_OUTPUTS: i64 = 1 << 14;

/// A decoder as text: AwkwardForth source, the Form of what it writes, and how the two belong together.
///
/// The contract with the runtime:
/// * the machine is 64 bits wide; the inputs are, in this order, `data` (the block's payload), and where the
///   format has entry bounds `starts` and `stops` (little-endian `u32`, byte positions in `data`, one for
///   each entry to decode), and where values have defaults `constants`, and where another column counts items
///   `counts`;
/// * the number of entries is on the stack at the start;
/// * running off the end is success. Every entry's bytes must then be consumed exactly: the program checks it
///   where bounds exist, the runtime checks the end of `data` where they do not. `halt` with a number on the
///   stack names a [`Fault`];
/// * the leading zero of offsets belongs to the runtime: the program only appends with `+<-`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// AwkwardForth source text.
    pub source: String,
    /// The Form of the columns.
    pub form: Form,
    /// The outputs, in the order in which the source declares them.
    pub outputs: Vec<OutputBinding>,
    /// Whether the source declares and uses `starts` and `stops`.
    pub bounded: bool,
    /// The meaning of a `halt`, by the number on top of the stack.
    pub faults: Vec<Fault>,
    /// Which member each line of the source reads, ascending by line.
    pub members: Vec<Member>,
    /// The finishers that turn the outputs into the Form's buffers once all blocks are decoded, in this
    /// order.
    #[serde(default)]
    pub finish: Vec<Finisher>,
    /// Bytes of the second input, `constants`, if the source declares it: values that are not in the data.
    #[serde(default)]
    pub constants: Vec<u8>,
    /// Lengths and counts in the data have a sign: offsets have to be looked at for falling.
    #[serde(default)]
    pub signed: bool,
    /// At the start there stands, below the number of entries, what positions that the data name are counted
    /// from: how many bytes before the payload.
    #[serde(default)]
    pub origin: bool,
    /// A `pause` asks the runtime whether an object was met before in this block. On top of the stack stands
    /// its position in the data times [`ASKED_OUTPUTS`], plus the number of an output that
    /// [`Finisher::Objects`] completes. The answer is 0, or what to append to that output instead of reading
    /// the object again.
    #[serde(default)]
    pub asks: bool,
    /// The last input is `counts`: the values of the group's counter for the entries to decode, in the
    /// machine's byte order.
    #[serde(default)]
    pub counts: bool,
    /// Behind `counts` comes one more input, `items`: how many of these values each entry has, 64 bits each
    /// in the machine's byte order.
    #[serde(default)]
    pub items: bool,
    /// An entry may take all that is left of its bytes, so that only the bounds say how much it has. Of any
    /// other a wrong bound is noticed.
    #[serde(default)]
    pub to_end: bool,
}

impl Program {
    /// The member a line of the source (counted from 1) reads.
    #[must_use]
    pub fn member_at(&self, line: u32) -> Option<&str> {
        let at = self.members.iter().rposition(|m| m.line <= line)?;
        Some(&*self.members[at].path).filter(|path| !path.is_empty())
    }

    /// The meaning of a `halt` with this number on the stack.
    #[must_use]
    pub fn fault(&self, code: i64) -> Option<&Fault> {
        self.faults.iter().find(|f| f.code == code)
    }
}

/// One output of a [`Program`] and the column it fills.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputBinding {
    /// Buffer name: `node0-offsets`, `node1-data`, …
    pub key: String,
    /// Element type.
    pub dtype: DType,
    /// Offsets get a leading zero from the runtime, and are rebased when blocks are decoded apart.
    pub offsets: bool,
    /// The member the column holds, for error messages: `hits[]`, `hits[][]`.
    pub member: String,
}

/// A fault of the data at which a program halts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The number on top of the stack.
    pub code: i64,
    /// The fault, as a phrase: "byte count does not end at the entry's end".
    pub what: String,
    /// Nothing is wrong with the data: this is what a program cannot read.
    #[serde(default)]
    pub unsupported: bool,
}

/// One line of a program and the member it reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Line of the source, from 1.
    pub line: u32,
    /// The member path: `hits[][]`, `track.name`.
    pub path: String,
}
