//! Bytes in: where they come from, and how they are decompressed. Bytes out: where they go.
//!
//! A [`Source`] answers byte ranges of one file, object or buffer. It knows no format: it is asked for ranges
//! and answers each of them exactly, or says why it cannot with an [`Error`] that carries the uri and the
//! byte. [`open`] picks the source for a uri; [`MappedFile`], [`PreadFile`], [`Memory`] and [`Callback`] can
//! be made directly; a [`StreamSource`] is read as far as it is asked for. [`coalesce`] merges many small ranges into few reads. An [`Index`] keeps what a
//! [`Recorder`] saw being read of a source, for an [`Indexed`] source of the same file to answer at once.
//!
//! A [`Sink`] is the opposite of a source: it takes a file's bytes from the first to the last, and nothing
//! counts before it is finished. A [`FileSink`] is a temporary file that is renamed when it is complete, an
//! [`UpdateSink`] a file that is there already. [`create`] picks the sink for a uri.
//!
//! A [`Decompressor`] holds the contexts of all codecs for one worker thread and turns one compressed block
//! into exactly as many bytes as the caller expects. Every byte it is given may lie: it never panics, never
//! writes more than it was asked for, and never allocates by a number found in the block beyond a fixed
//! limit.
//!
//! ```
//! use forthwith_io::{Codec, Decompressor, Memory, Source};
//!
//! // A file of 6 bytes, one LZ4 block from byte 2 on: a literal run of three bytes.
//! let file = Memory::new("example", vec![0xAA, 0xBB, 0x30, b'a', b'b', b'c']);
//! let block = file.read_one(2..6)?;
//! let mut out = [0; 3];
//! let used = Decompressor::new().decompress(Codec::Lz4, &block, &mut out)?;
//! assert_eq!((used, &out), (4, b"abc"));
//!
//! // Past the end is an error that names the place, never a short answer.
//! let error = file.read_one(4..10).unwrap_err();
//! assert_eq!(error.to_string(), "example, byte 4: bytes 4..10 wanted, but the source ends at 6");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Mapping a file is unsafe because another process may change it meanwhile. `source/mapped.rs` holds the
// block that maps and one that asks the system about a map, and its documentation says what a reader of a map
// must know. `source/guard_unix.rs` is the handler of the signal that a map of a cut file leads to.
// `sink/early.rs` calls the system. Nothing else in this crate is unsafe.
#![deny(unsafe_code)]

mod coalesce;
mod codec;
mod debug;
mod error;
mod hash;
mod headroom;
mod index;
mod sink;
mod source;

pub use coalesce::{Merged, coalesce};
pub use codec::{
    Codec, CodecError, Compressor, Decompressor, LARGEST_EXPANSION, levels, xz_reader, zstd_reader,
};
pub use error::{Error, ErrorKind, Result};
pub use hash::{Xxh3, xxh3, xxh64};
pub use headroom::has_headroom;
pub use index::{Index, Indexed, Recorder};
pub use sink::{Counted, FileSink, MemorySink, Sink, UpdateSink, WriterSink, create};
pub use source::{
    Advice, Appended, Callback, MappedFile, Memory, Patched, PreadFile, ReadAt, STREAM_IN_MEMORY, Several,
    Source, StreamSource, Version, follow_links_to_neighbours, open, open_unmapped, read_stream, unlisted,
};
