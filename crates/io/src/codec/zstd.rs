//! Zstandard frames, by the C library.

use std::io::{BufRead, Error as IoError, ErrorKind as IoKind, Read};
use zstd_safe::{CCtx, DCtx, InBuffer, OutBuffer};

use super::append::{Room, STEP, place};
use super::{Codec, CodecError};

const CODEC: Codec = Codec::Zstd;

/// Decompression context of the library, created on first use and reused between blocks.
#[derive(Default)]
pub(super) struct Context(Option<DCtx<'static>>);

impl Context {
    fn made(&mut self) -> Result<&mut DCtx<'static>, CodecError> {
        match &mut self.0 {
            Some(context) => Ok(context),
            none => Ok(none.insert(DCtx::try_create().ok_or(CodecError::OutOfMemory { codec: CODEC })?)),
        }
    }
}

/// Decodes concatenated frames, usually one, until `out` is full. A frame is decoded directly into the rest
/// of `out`, which bounds it, so the content size that its header declares is not relied on.
pub(super) fn decompress(context: &mut Context, stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    let context = context.made()?;
    let expected = out.len();
    let (mut used, mut produced) = (0, 0);
    loop {
        let rest = &stored[used..];
        if rest.is_empty() && used > 0 {
            return Err(CodecError::WrongLength { codec: CODEC, expected, produced });
        }
        let fail = |code| explain(code, stored.len(), expected);
        // The library requires exactly one frame as input. Finding its end reads block headers only.
        let length = zstd_safe::find_frame_compressed_size(rest).map_err(fail)?;
        // The length is at most that of `rest`; `get` avoids a panic if the library is wrong.
        let frame = rest.get(..length).ok_or(CodecError::Corrupt { codec: CODEC })?;
        produced += context.decompress(&mut out[produced..], frame).map_err(fail)?;
        used += length;
        if produced == expected {
            return Ok(used);
        }
    }
}

fn explain(code: usize, stored: usize, expected: usize) -> CodecError {
    // Stable error codes of the library (`zstd_errors.h`), which it returns negated.
    match code.wrapping_neg() {
        14 => CodecError::Unsupported { codec: CODEC, feature: "a frame parameter" },
        32 => CodecError::Unsupported { codec: CODEC, feature: "an external dictionary" },
        64 => CodecError::OutOfMemory { codec: CODEC },
        70 => CodecError::TooLong { codec: CODEC, expected },
        72 => CodecError::Truncated { codec: CODEC, stored },
        _ => CodecError::Corrupt { codec: CODEC },
    }
}

/// Decodes all frames, of unknown length.
pub(super) fn append(context: &mut Context, stored: &[u8], room: &mut Room<'_>) -> Result<usize, CodecError> {
    let context = context.made()?;
    let mut produced = 0;
    let mut used = 0;
    while used < stored.len() || used == 0 {
        let rest = &stored[used..];
        let fail = |code| explain(code, stored.len(), 0);
        let length = zstd_safe::find_frame_compressed_size(rest).map_err(fail)?;
        let frame = rest.get(..length).ok_or(CodecError::Corrupt { codec: CODEC })?;
        // The declared content size is used only up to a plausible compression ratio.
        let likely = frame.len().saturating_mul(64).max(1 << 20);
        let claimed = zstd_safe::get_frame_content_size(frame).ok().flatten();
        let claimed = claimed.and_then(|n| usize::try_from(n).ok()).filter(|n| *n <= likely);
        let wanted = claimed.unwrap_or_else(|| frame.len().saturating_mul(4).max(STEP));
        room.make(produced + wanted)?;
        loop {
            match context.decompress(&mut room.make(0)?[produced..], frame) {
                Ok(written) => {
                    produced += written;
                    break;
                }
                Err(code) => match fail(code) {
                    CodecError::TooLong { .. } => room.more()?,
                    error => return Err(error),
                },
            }
        }
        used += length;
    }
    Ok(produced)
}

/// Compresses blocks and reuses the library's compression context.
#[derive(Default)]
pub(super) struct Compress(Option<CCtx<'static>>);

impl Compress {
    /// Compresses a block into `scratch` from offset `front` on, and returns its compressed length.
    pub(super) fn run(
        &mut self,
        level: i32,
        bytes: &[u8],
        scratch: &mut Vec<u8>,
        front: usize,
    ) -> Result<usize, CodecError> {
        let refused = || CodecError::OutOfMemory { codec: CODEC };
        let context = match &mut self.0 {
            Some(context) => context,
            none => none.insert(CCtx::try_create().ok_or_else(refused)?),
        };
        let room = place(scratch, front, zstd_safe::compress_bound(bytes.len()), CODEC)?;
        context.compress(room, bytes, level).map_err(|_| refused())
    }
}

/// Returns a reader of the decompressed bytes of one or more concatenated frames.
pub fn reader<'a>(input: impl BufRead + Send + 'a) -> Box<dyn Read + Send + 'a> {
    Box::new(Frames { input, context: DCtx::create(), is_between: true })
}

/// Reader of concatenated frames.
struct Frames<R> {
    input: R,
    context: DCtx<'static>,
    /// Whether the previous frame was decoded completely.
    is_between: bool,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while !into.is_empty() {
            let piece = self.input.fill_buf()?;
            if piece.is_empty() {
                let cut = || IoError::new(IoKind::UnexpectedEof, "the frame is cut off");
                return if self.is_between { Ok(0) } else { Err(cut()) };
            }
            let (mut from, mut to) = (InBuffer::around(piece), OutBuffer::around(&mut *into));
            let invalid = |code| IoError::new(IoKind::InvalidData, zstd_safe::get_error_name(code));
            self.is_between = self.context.decompress_stream(&mut to, &mut from).map_err(invalid)? == 0;
            let (used, made) = (from.pos(), to.pos());
            self.input.consume(used);
            if made > 0 {
                return Ok(made);
            }
        }
        Ok(0)
    }
}
