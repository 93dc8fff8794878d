//! Byte sources and sinks, and compression codecs.
//!
//! A [`Source`] reads byte ranges of one file, object or buffer, independently of the file format. It returns
//! exactly the requested bytes, or an [`Error`] with the uri and the byte offset. [`open`] selects the source
//! for a uri; [`MappedFile`], [`PreadFile`], [`Memory`] and [`Callback`] can be created directly; a
//! [`StreamSource`] reads a stream on demand. [`coalesce`] merges many small ranges into few reads. A
//! [`Recorder`] records the ranges that are read from a source in an [`Index`], from which an [`Indexed`]
//! source of the same file serves them later.
//!
//! A [`Sink`] takes the bytes of a file from the first to the last; the file is valid only after
//! [`finish`](Sink::finish). A [`FileSink`] writes a temporary file, which is renamed when it is complete,
//! and an [`UpdateSink`] changes an existing file. [`create`] selects the sink for a uri.
//!
//! A [`Decompressor`] holds the contexts of all codecs for one worker thread, and decompresses a block to
//! exactly the length that the caller expects. Blocks are untrusted input: it never panics, never writes more
//! bytes than requested, and bounds allocations that depend on a number in the block.
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

// Mapping a file is unsafe because another process may change it meanwhile. `source/mapped.rs` has the unsafe
// blocks that map a file and that query the page cache, and documents what readers of a map have to observe.
// `source/guard_unix.rs` installs a handler for `SIGBUS`, which is raised when a mapped file was truncated.
// `sink/early.rs` has a system call. Nothing else in this crate is unsafe.
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
