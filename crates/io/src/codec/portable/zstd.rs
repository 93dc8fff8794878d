//! Zstandard frames in Rust, for targets without a C compiler.

use ruzstd::decoding::errors::{FrameDecoderError as Error, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::{BufRead, Error as IoError, ErrorKind as IoKind, Read};

use super::append::{Room, STEP, place};
use super::{Codec, CodecError};

const CODEC: Codec = Codec::Zstd;

/// Number of bytes that are decoded before they are copied out of the decoder.
const AT_ONCE: usize = 1 << 20;

/// Decoder whose buffers are reused between blocks.
#[derive(Default)]
pub(super) struct Context(Option<Box<FrameDecoder>>);

impl Context {
    fn made(&mut self) -> &mut FrameDecoder {
        self.0.get_or_insert_with(|| Box::new(FrameDecoder::new()))
    }
}

/// Decodes concatenated frames until `out` is full.
pub(super) fn decompress(context: &mut Context, stored: &[u8], out: &mut [u8]) -> Result<usize, CodecError> {
    let expected = out.len();
    let decoder = context.made();
    let (mut rest, mut produced) = (stored, 0);
    loop {
        if rest.is_empty() && rest.len() < stored.len() {
            return Err(CodecError::WrongLength { codec: CODEC, expected, produced });
        }
        let mut put = |decoder: &mut FrameDecoder| {
            produced +=
                decoder.read(&mut out[produced..]).map_err(|_| CodecError::Corrupt { codec: CODEC })?;
            match decoder.can_collect() {
                0 => Ok(()),
                _ => Err(CodecError::TooLong { codec: CODEC, expected }),
            }
        };
        frame(decoder, &mut rest, stored.len(), &mut put)?;
        if produced == expected {
            return Ok(stored.len() - rest.len());
        }
    }
}

/// Decodes all frames, of unknown length.
pub(super) fn append(context: &mut Context, stored: &[u8], room: &mut Room<'_>) -> Result<usize, CodecError> {
    let decoder = context.made();
    let (mut rest, mut produced) = (stored, 0);
    room.make(stored.len().saturating_mul(4).max(STEP))?;
    while !rest.is_empty() || rest.len() == stored.len() {
        let mut put = |decoder: &mut FrameDecoder| {
            loop {
                let to = &mut room.make(0)?[produced..];
                produced += decoder.read(to).map_err(|_| CodecError::Corrupt { codec: CODEC })?;
                if decoder.can_collect() == 0 {
                    return Ok(());
                }
                room.more()?;
            }
        };
        frame(decoder, &mut rest, stored.len(), &mut put)?;
    }
    Ok(produced)
}

/// Decodes the next frame and removes it from `rest`; `put` copies the bytes out of the decoder.
fn frame(
    decoder: &mut FrameDecoder,
    rest: &mut &[u8],
    stored: usize,
    put: &mut dyn FnMut(&mut FrameDecoder) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    let truncated = CodecError::Truncated { codec: CODEC, stored };
    match decoder.init(&mut *rest) {
        Ok(()) => {}
        Err(Error::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
            *rest = rest.get(length as usize..).ok_or(truncated)?;
            return Ok(());
        }
        Err(error) => return Err(explain(&error, stored)),
    }
    while !decoder.is_finished() {
        let strategy = BlockDecodingStrategy::UptoBytes(AT_ONCE);
        decoder.decode_blocks(&mut *rest, strategy).map_err(|error| explain(&error, stored))?;
        put(decoder)?;
    }
    put(decoder)?;
    match (decoder.get_checksum_from_data(), decoder.get_calculated_checksum()) {
        (Some(expected), Some(found)) if expected != found => {
            Err(CodecError::Checksum { codec: CODEC, expected: expected.into(), found: found.into() })
        }
        _ => Ok(()),
    }
}

fn explain(error: &Error, stored: usize) -> CodecError {
    let unsupported = |feature| CodecError::Unsupported { codec: CODEC, feature };
    match error {
        Error::DictNotProvided { .. } => unsupported("an external dictionary"),
        Error::WindowSizeTooBig { .. } => unsupported("a frame parameter"),
        error if is_truncated(error) => CodecError::Truncated { codec: CODEC, stored },
        _ => CodecError::Corrupt { codec: CODEC },
    }
}

/// Whether the input was truncated, by the chain of causes of an error.
fn is_truncated(error: &Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        let io = error.downcast_ref::<std::io::Error>();
        if io.is_some_and(|error| error.kind() == std::io::ErrorKind::UnexpectedEof) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Compresses blocks.
#[derive(Default)]
pub(super) struct Compress;

impl Compress {
    /// Compresses a block into `scratch` from offset `front` on, and returns its compressed length. The level
    /// is ignored: the library has one.
    pub(super) fn run(
        &mut self,
        _level: i32,
        bytes: &[u8],
        scratch: &mut Vec<u8>,
        front: usize,
    ) -> Result<usize, CodecError> {
        let made = compress_to_vec(bytes, CompressionLevel::Fastest);
        place(scratch, front, made.len(), CODEC)?[..made.len()].copy_from_slice(&made);
        Ok(made.len())
    }
}

/// Returns a reader of the decompressed bytes of one or more concatenated frames.
pub fn reader<'a>(input: impl BufRead + Send + 'a) -> Box<dyn Read + Send + 'a> {
    Box::new(Frames { input, decoder: FrameDecoder::new(), is_between: true })
}

/// Reader of concatenated frames.
struct Frames<R> {
    input: R,
    decoder: FrameDecoder,
    /// Whether the previous frame was read completely.
    is_between: bool,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        while !into.is_empty() {
            let invalid = |error: Error| {
                let kind = if is_truncated(&error) { IoKind::UnexpectedEof } else { IoKind::InvalidData };
                IoError::new(kind, error.to_string())
            };
            if self.is_between {
                if self.input.fill_buf()?.is_empty() {
                    return Ok(0);
                }
                match self.decoder.init(&mut self.input) {
                    Ok(()) => self.is_between = false,
                    Err(Error::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                        let length = u64::from(length);
                        if std::io::copy(&mut (&mut self.input).take(length), &mut std::io::sink())? < length
                        {
                            return Err(IoError::new(IoKind::UnexpectedEof, "the frame is cut off"));
                        }
                        continue;
                    }
                    Err(error) => return Err(invalid(error)),
                }
            }
            let made = self.decoder.read(into)?;
            if made > 0 {
                return Ok(made);
            }
            if self.decoder.is_finished() {
                self.is_between = true;
            } else {
                let strategy = BlockDecodingStrategy::UptoBytes(AT_ONCE);
                self.decoder.decode_blocks(&mut self.input, strategy).map_err(invalid)?;
            }
        }
        Ok(0)
    }
}
