//! Columns of decoded data, the types that describe them, and the kernels that fill them.
//!
//! A [`Builder`] is a column being filled. It allocates from a [`Memory`], which reserves address space
//! generously, asks for huge pages where they pay and keeps the pages of dropped columns for the next step of
//! a loop. A finished [`Column`] holds typed items in memory that is shared and immutable. A [`Form`]
//! describes the structure of several columns in Awkward Array's vocabulary, and an [`Array`] is a Form with
//! its columns: `ak.from_buffers` takes it, [`arrow`] exports it, and [`Array::preview`] shows it.
//!
//! [`kernels`] are the loops that decode bytes of a file to items of a column; an [`Encoding`] describes how
//! a single value is stored in a file.
//!
//! ```
//! use forthwith_columns::{Array, Builder, DType, Form, Memory, Encoding, kernels};
//!
//! let memory = Memory::default();
//! let offsets = Builder::new(&memory, DType::Int64, true, 1 << 10)?;
//! let items = Builder::new(&memory, DType::Float32, false, 1 << 10)?;
//!
//! // A block of two entries, of two values and of one, most significant byte first.
//! let block = [1.5f32, 2.5, -1.0].map(f32::to_be_bytes).concat();
//! let bounds = [0u32, 8, 12].map(u32::to_le_bytes).concat();
//! let total = kernels::offsets_from_bounds(&bounds, 0, 4, 0, &mut offsets.append(2)?)?;
//! kernels::decode(Encoding::Big(DType::Float32), &block, &mut items.append(total as usize)?)?;
//!
//! let content = Form::Numpy { key: "node1".into(), dtype: DType::Float32, shape: vec![] };
//! let array = Array {
//!     form: Form::List { key: "node0".into(), content: Box::new(content) },
//!     length: 2,
//!     columns: vec![("node0-offsets".into(), offsets.finish()), ("node1-data".into(), items.finish())],
//! };
//! array.validate()?;
//! assert_eq!(array.preview(0..2, 40).lines()?, ["[1.5, 2.5]", "[-1]"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Memory
//!
//! Writing to fresh pages costs more than decoding, because the system clears each page first. [`Memory`]
//! does this:
//!
//! * A large buffer *reserves address space* for the largest size its payload can have, and returns the
//!   unused end when it is finished.
//! * A buffer that is expected to hold 3 MiB or more asks for *huge pages*. Smaller ones have their 4 KiB
//!   pages made in batches of up to 128 KiB just before they are written, which takes two thirds of the time
//!   of single faults.
//! * Columns that are too small for huge pages of their own, but fill them together, share one mapping
//!   ([`Memory::allocate_together`]). Each column has little spare capacity in it; a column that outgrows its
//!   share is moved to a mapping of its own. One huge page at the start of each of many small columns would
//!   waste most of the memory, and on a virtual machine whose host reclaims free huge pages, one such page
//!   may take milliseconds.
//! * Pages of dropped columns are kept for the next step of a loop, up to a limit. The newest 256 MiB belong
//!   to the process, so that a loop over files reuses them as well; beyond the first 64 MiB, the system may
//!   reclaim the pages at any time. A forked process starts without kept pages.
//! * Each buffer has readable bytes before its start and writable slack after its end, so that short runs are
//!   copied in whole blocks without a test for the end.
//! * Threads that write to adjacent slots would fault on the same fresh huge page, and the system would clear
//!   it once for each of them. The thread that takes a slot therefore makes the page after the next one
//!   (`builder.rs`), outside the section that takes slots in order.
//!
//! # Unsafe code
//!
//! This crate has unsafe code in five places:
//!
//! * `memory`: mappings, their movement and their release; access to bytes before the start and after the
//!   capacity of a buffer.
//! * `builder`: slots are disjoint slices of one buffer, written by several threads at once.
//! * `column`: reinterpretation of bytes as numbers, and of numbers as bytes.
//! * `kernels`: calls of functions compiled for CPU features that were detected first.
//! * `arrow`: Arrow buffers made of validated offsets without a second validation.
//!
//! Everything but the mappings runs under Miri, where all memory comes from the ordinary allocator.

#![allow(unsafe_code)] // for the reasons above

mod array;
pub mod arrow;
mod awkward;
mod builder;
mod cast;
mod column;
mod decimal;
mod digits;
mod encoding;
mod finish;
mod flatten;
mod form;
mod from_awkward;
mod gather;
mod invalid;
pub mod kernels;
mod logical;
mod logical_type;
mod lookup;
#[cfg_attr(
    not(all(target_os = "linux", not(miri))),
    allow(
        unreachable_code,
        unused_variables,
        unused_assignments,
        irrefutable_let_patterns,
        reason = "without mappings, the code that handles them cannot be reached"
    )
)]
mod memory;
mod mixed;
mod moment;
mod part;
mod pick;
mod presence;
mod preview;
mod qualified_names;
mod regular;
mod repeated_name;
mod rows_without_bytes;
mod safe;
mod spread;
mod text;
mod text_policy;
mod text_views;
mod time_title;
mod unite;
mod validate;
mod value;
mod views;
mod zone;
mod zoned;

pub use array::Array;
pub use builder::{Builder, Slot};
pub use cast::{CastError, CastReason, NumberCast};
pub use column::{Column, Native, bytes_of, items_of};
pub use decimal::decimal_count;
pub use digits::ManyDigits;
pub use encoding::Encoding;
pub use finish::{FinishError, Finisher, OBJECT_BITS};
pub use form::{Form, MAP};
pub use forthwith_dtype::{DType, with_integer};
pub use from_awkward::AwkwardImportError;
pub use invalid::Invalid;
pub use logical_type::{LogicalType, LongDecimal, TimeUnit, calendar};
pub use lookup::{Lookup, rows_of};
pub use memory::{Buffer, Memory, OutOfMemory, Policy, PoolStats};
pub use mixed::NO_NUMBER;
pub use moment::Moment;
pub use presence::Presence;
pub use preview::Preview;
pub use qualified_names::qualified_names;
pub use repeated_name::repeated_name;
pub use safe::{SafeJson, is_unsafe_to_show, json_text, safe_lines, safe_text};
pub use text::NotText;
pub use text_policy::TextPolicy;
pub use text_views::{SHORT, TextViews, VIEW, view, view_within, viewed};
pub use unite::Unlike;

pub use value::Value;
pub use views::{Jagged, ViewError};
pub use zone::Zone;

/// Initializes the state that a process initializes once and then shares. Call it before a fork while other
/// threads run: an initialization in progress would never complete in the forked process, which would wait
/// for it forever.
pub fn prepare() {
    let _ = forthwith_kernels::CpuFeatures::current();
    memory::prepare();
}
