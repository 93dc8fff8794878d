//! [`Program`]: the contract between the translators that emit decoders and the engine that runs them.

use forthwith_columns::{DType, Finisher, Form};
use serde::{Deserialize, Serialize};

/// Exclusive upper bound on the index of an output. A request at a `pause` packs a position and an output as
/// `position * ASKED_OUTPUTS + output`.
pub const ASKED_OUTPUTS: i64 = 1 << 14;

/// Decoder as text: AwkwardForth source, the Form of its outputs, and the bindings between them.
///
/// The contract with the runtime:
/// * The machine has 64-bit cells. The inputs are, in this order: `data`, the payload of the block; `starts`
///   and `stops` if the format has entry bounds (little-endian `u32` byte positions in `data`, one for each
///   entry to decode); `constants` if values have defaults; `counts` if another column counts items.
/// * At the start, the number of entries is on the stack.
/// * Reaching the end of the source is success. Each entry must then have been consumed exactly: the program
///   checks this if it has bounds, and the runtime checks the end of `data` otherwise. `halt` with a number
///   on the stack raises the [`Fault`] with that code.
/// * The runtime writes the leading zero of offsets; the program only appends with `+<-`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// AwkwardForth source text.
    pub source: String,
    /// Form of the decoded array.
    pub form: Form,
    /// Outputs, in the order of their declarations in the source.
    pub outputs: Vec<OutputBinding>,
    /// Whether the source declares and uses `starts` and `stops`.
    pub bounded: bool,
    /// Faults by their codes: the meaning of the number on the stack at a `halt`.
    pub faults: Vec<Fault>,
    /// Members that the lines of the source read, ascending by line.
    pub members: Vec<Member>,
    /// Finishers that turn the outputs into the buffers of the Form after all blocks are decoded, in the
    /// order in which they run.
    #[serde(default)]
    pub finish: Vec<Finisher>,
    /// Bytes of the input `constants`, if the source declares it: encoded values that are not in the data.
    #[serde(default)]
    pub constants: Vec<u8>,
    /// Whether lengths and counts in the data are signed, so that offsets have to be checked for decreasing.
    #[serde(default)]
    pub signed: bool,
    /// Whether the stack has an origin below the number of entries: the number of bytes before the payload,
    /// which is subtracted from positions in the data.
    #[serde(default)]
    pub origin: bool,
    /// Whether the program asks the runtime at a `pause` if it read an object of this block before. On top of
    /// the stack is the position of the object in the data times [`ASKED_OUTPUTS`], plus the index of an
    /// output that [`Finisher::Objects`] completes. The answer is 0 if the object has to be read, and
    /// otherwise the value to append to that output.
    #[serde(default)]
    pub asks: bool,
    /// Whether the last input is `counts`: the values of the group's counter for the entries to decode, in
    /// native byte order.
    #[serde(default)]
    pub counts: bool,
    /// Whether `counts` is followed by an input `items`: the number of its values for each entry, as 64-bit
    /// integers in native byte order.
    #[serde(default)]
    pub items: bool,
    /// Whether an entry may consume all remaining bytes, so that its end is known only from the bounds. Other
    /// programs detect wrong bounds.
    #[serde(default)]
    pub to_end: bool,
}

impl Program {
    /// Returns the path of the member that a line of the source reads. Lines count from 1. Returns `None` for
    /// the outermost value and for lines before the first member.
    #[must_use]
    pub fn member_at(&self, line: u32) -> Option<&str> {
        let at = self.members.iter().rposition(|m| m.line <= line)?;
        Some(&*self.members[at].path).filter(|path| !path.is_empty())
    }

    /// Returns the fault with this code.
    #[must_use]
    pub fn fault(&self, code: i64) -> Option<&Fault> {
        self.faults.iter().find(|f| f.code == code)
    }
}

/// Output of a [`Program`], and the column it fills.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputBinding {
    /// Buffer name: `node0-offsets`, `node1-data`, …
    pub key: String,
    /// Element type.
    pub dtype: DType,
    /// Whether the output has offsets, which get a leading zero from the runtime and are rebased when blocks
    /// are decoded separately.
    pub offsets: bool,
    /// Path of the member in the column, for error messages: `hits[]`, `hits[][]`.
    pub member: String,
}

/// Reason for which a program halts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Number on top of the stack at the `halt`.
    pub code: i64,
    /// Description, as a phrase: "byte count does not end at the entry's end".
    pub what: String,
    /// Whether the data may be valid, and are only not supported.
    #[serde(default)]
    pub unsupported: bool,
}

/// Line of a program, with the member that it reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Line of the source, from 1.
    pub line: u32,
    /// Path of the member: `hits[][]`, `track.name`.
    pub path: String,
}
