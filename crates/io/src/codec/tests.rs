#![allow(clippy::unwrap_used)] // a test fails by panicking

use proptest::prelude::*;

use super::*;

const ALL: [Codec; 5] = [Codec::Zlib, Codec::OldDeflate, Codec::Xz, Codec::Lz4, Codec::Zstd];

/// One block of `bytes`, written by the library that is not under test where there are two.
pub(super) fn compress(codec: Codec, bytes: &[u8]) -> Vec<u8> {
    let level = libdeflater::CompressionLvl::default();
    match codec {
        Codec::Zlib => {
            let mut deflate = libdeflater::Compressor::new(level);
            let mut stored = vec![0; deflate.zlib_compress_bound(bytes.len())];
            let length = deflate.zlib_compress(bytes, &mut stored).unwrap();
            stored.truncate(length);
            stored
        }
        Codec::OldDeflate => {
            let mut deflate = libdeflater::Compressor::new(level);
            let mut stored = vec![0; deflate.deflate_compress_bound(bytes.len())];
            let length = deflate.deflate_compress(bytes, &mut stored).unwrap();
            stored.truncate(length);
            stored
        }
        Codec::Xz => xz(bytes, 1),
        Codec::Lz4 => lz4_flex::block::compress(bytes),
        Codec::Zstd => zstd(bytes, |_| {}),
        Codec::Snappy => {
            let mut stored = snap::raw::Encoder::new().compress_vec(bytes).unwrap();
            stored.extend(crc32fast::hash(bytes).to_be_bytes());
            stored
        }
        Codec::Bzip2 => {
            use std::io::Write;
            let mut stream = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
            stream.write_all(bytes).unwrap();
            stream.finish().unwrap()
        }
        Codec::RawSnappy => snap::raw::Encoder::new().compress_vec(bytes).unwrap(),
        Codec::Gzip => {
            use std::io::Write;
            // Two members.
            let member = |bytes: &[u8]| {
                let mut to = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                to.write_all(bytes).unwrap();
                to.finish().unwrap()
            };
            let (first, second) = bytes.split_at(bytes.len() / 3);
            [member(first), member(second)].concat()
        }
        Codec::SizedLz4 => lz4_flex::block::compress_prepend_size(bytes),
        Codec::HadoopLz4 => {
            let piece = |bytes: &[u8]| {
                let packed = lz4_flex::block::compress(bytes);
                let lengths = [bytes.len() as u32, packed.len() as u32].map(u32::to_be_bytes);
                [&lengths.concat()[..], &packed].concat()
            };
            let (first, second) = bytes.split_at(bytes.len() / 3);
            [piece(first), piece(second)].concat()
        }
        Codec::Brotli => unreachable!("nothing here writes it"),
    }
}

/// The codecs of blocks that do not say how much they hold.
const UNKNOWN: [Codec; 6] =
    [Codec::OldDeflate, Codec::Xz, Codec::Zstd, Codec::Snappy, Codec::Bzip2, Codec::SizedLz4];

#[test]
fn blocks_of_unknown_length_give_back_what_went_in() {
    let mut decompressor = Decompressor::new();
    let mut room = Vec::new();
    for bytes in [sample(0), sample(1), sample(100), sample(70_000), vec![7; 3_000_000], sample(400_000)] {
        for codec in UNKNOWN {
            let stored = compress(codec, &bytes);
            if let Some(front) = room.get_mut(..3) {
                front.fill(9);
            }
            let produced = decompressor.append(codec, &stored, &mut room, 3, 1 << 24);
            assert_eq!(produced, Ok(bytes.len()), "{codec}");
            assert!(room[3..][..bytes.len()] == bytes[..], "{codec}");
        }
    }
    assert_eq!(&room[..3], [9; 3]);
}

#[test]
fn a_limit_on_unknown_lengths_is_kept() {
    let mut decompressor = Decompressor::new();
    let bytes = vec![7; 1_000_000];
    for codec in UNKNOWN {
        let stored = compress(codec, &bytes);
        let mut room = Vec::new();
        let enough = decompressor.append(codec, &stored, &mut room, 0, bytes.len());
        assert_eq!(enough, Ok(bytes.len()), "{codec}");
        let mut room = Vec::new();
        let limit = 70_000;
        let error = decompressor.append(codec, &stored, &mut room, 10, limit).unwrap_err();
        assert_eq!(error, CodecError::TooLong { codec, expected: limit });
        assert!(room.len() <= limit + 10);
    }
}

#[test]
fn a_wrong_checksum_of_a_snappy_block_is_told() {
    let mut stored = compress(Codec::Snappy, b"some bytes");
    *stored.last_mut().unwrap() ^= 1;
    let error = Decompressor::new().append(Codec::Snappy, &stored, &mut Vec::new(), 0, 100).unwrap_err();
    assert!(matches!(error, CodecError::Checksum { codec: Codec::Snappy, .. }), "{error}");
}

fn xz(bytes: &[u8], preset: u32) -> Vec<u8> {
    use liblzma::stream::{Action, Check, Stream};
    let mut stored = Vec::with_capacity(bytes.len() * 2 + 200);
    let mut stream = Stream::new_easy_encoder(preset, Check::Crc32).unwrap();
    stream.process_vec(bytes, &mut stored, Action::Finish).unwrap();
    stored
}

fn zstd(bytes: &[u8], set: impl Fn(&mut zstd_safe::CCtx<'_>)) -> Vec<u8> {
    let mut context = zstd_safe::CCtx::create();
    set(&mut context);
    let mut stored = vec![0; zstd_safe::compress_bound(bytes.len())];
    let length = context.compress2(stored.as_mut_slice(), bytes).unwrap();
    stored.truncate(length);
    stored
}

/// Something that compresses, but not too well.
fn sample(length: usize) -> Vec<u8> {
    let mut state = 1u32;
    (0..length)
        .map(|i| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if i % 3 == 0 { (state >> 28) as u8 } else { (i / 50) as u8 }
        })
        .collect()
}

#[test]
fn every_codec_gives_back_what_went_in_from_one_context() {
    let mut decompressor = Decompressor::new();
    for length in [0, 1, 2, 15, 100, 70_000, 300_000] {
        let bytes = sample(length);
        for codec in ALL {
            let stored = compress(codec, &bytes);
            let mut out = vec![0xEE; length];
            assert_eq!(
                decompressor.decompress(codec, &stored, &mut out),
                Ok(stored.len()),
                "{codec} {length}"
            );
            assert_eq!(out, bytes, "{codec} {length}");
        }
    }
}

#[test]
fn another_length_than_expected_is_an_error() {
    let mut decompressor = Decompressor::new();
    let bytes = sample(1000);
    for codec in ALL {
        let stored = compress(codec, &bytes);
        for expected in [1001, 5000] {
            let error = decompressor.decompress(codec, &stored, &mut vec![0; expected]).unwrap_err();
            assert_eq!(error, CodecError::WrongLength { codec, expected, produced: 1000 });
        }
        for expected in [0, 1, 999] {
            let error = decompressor.decompress(codec, &stored, &mut vec![0; expected]).unwrap_err();
            assert_eq!(error, CodecError::TooLong { codec, expected });
        }
    }
}

#[test]
fn a_cut_block_is_an_error() {
    let mut decompressor = Decompressor::new();
    let bytes = sample(300);
    for codec in ALL {
        let stored = compress(codec, &bytes);
        for length in 0..stored.len() {
            let error = decompressor.decompress(codec, &stored[..length], &mut [0; 300]).unwrap_err();
            match (codec, &error) {
                // The library does not tell a cut block from a corrupt one.
                (Codec::Zlib | Codec::OldDeflate, CodecError::Corrupt { .. }) => {}
                // It reads a few zeros past the end before it notices, and they may mean more output than
                // there is room.
                (Codec::Zlib | Codec::OldDeflate, CodecError::TooLong { .. }) => {}
                // A cut after the last four bytes looks like four other bytes there.
                (Codec::Zlib, CodecError::Checksum { .. }) => {}
                // A bare block has no end mark: cut between two sequences it is a shorter block.
                (Codec::Lz4, CodecError::WrongLength { .. }) => {}
                _ => assert_eq!(error, CodecError::Truncated { codec, stored: length }),
            }
        }
    }
}

#[test]
fn bytes_after_the_block_are_left_alone() {
    let mut decompressor = Decompressor::new();
    let bytes = sample(500);
    for codec in [Codec::Zlib, Codec::OldDeflate, Codec::Xz, Codec::Zstd] {
        let stored = compress(codec, &bytes);
        let padded = [&stored[..], &[0xFF; 7]].concat();
        let mut out = vec![0; 500];
        let used = decompressor.decompress(codec, &padded, &mut out).unwrap();
        assert_eq!(out, bytes, "{codec}");
        let knows = matches!(codec, Codec::Xz | Codec::Zstd);
        assert_eq!(used, if knows { stored.len() } else { padded.len() }, "{codec}");
    }
}

#[test]
fn a_wrong_checksum_is_named() {
    let bytes = sample(500);
    let mut stored = compress(Codec::Zlib, &bytes);
    let end = stored.len() - 4;
    let expected = u64::from(libdeflater::adler32(&bytes));
    stored[end..].copy_from_slice(&[1, 2, 3, 4]);
    assert_eq!(
        Decompressor::new().decompress(Codec::Zlib, &stored, &mut [0; 500]),
        Err(CodecError::Checksum { codec: Codec::Zlib, expected: 0x0102_0304, found: expected })
    );
}

#[test]
fn zlib_with_a_dictionary_is_unsupported() {
    let error = Decompressor::new().decompress(Codec::Zlib, &[0x78, 0xBB, 0, 0, 0, 0, 0], &mut [0; 5]);
    assert!(matches!(error, Err(CodecError::Unsupported { codec: Codec::Zlib, .. })), "{error:?}");
}

#[test]
fn zstd_frames_need_not_tell_their_size_and_may_follow_each_other() {
    use zstd_safe::CParameter;
    let bytes = sample(400_000);
    let (a, b) = bytes.split_at(150_000);
    let unsized_frame = |part| {
        zstd(part, |context| {
            context.set_parameter(CParameter::ContentSizeFlag(false)).unwrap();
            context.set_parameter(CParameter::ChecksumFlag(true)).unwrap();
        })
    };
    let skippable = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0], &b"abc"[..]].concat();
    let stored = [unsized_frame(a), skippable, unsized_frame(b)].concat();
    let mut out = vec![0; bytes.len()];
    assert_eq!(Decompressor::new().decompress(Codec::Zstd, &stored, &mut out), Ok(stored.len()));
    assert_eq!(out, bytes);
}

#[test]
fn a_context_recovers_after_an_error() {
    let mut decompressor = Decompressor::new();
    let bytes = sample(5000);
    for codec in ALL {
        let stored = compress(codec, &bytes);
        let mut broken = stored.clone();
        broken[stored.len() / 2..].fill(0xA5);
        let mut out = vec![0; 5000];
        let _ = decompressor.decompress(codec, &broken, &mut out);
        decompressor.decompress(codec, &stored, &mut out).unwrap();
        assert_eq!(out, bytes, "{codec}");
    }
}

#[test]
fn the_largest_xz_preset_is_allowed_and_a_larger_dictionary_is_not() {
    let bytes = sample(2000);
    let mut out = vec![0; 2000];
    let stored = xz(&bytes, 9);
    assert_eq!(Decompressor::new().decompress(Codec::Xz, &stored, &mut out), Ok(stored.len()));

    use liblzma::stream::{Action, Check, Filters, LzmaOptions, Stream};
    let mut options = LzmaOptions::new_preset(0).unwrap();
    options.dict_size(256 << 20);
    let mut stored = Vec::with_capacity(4000);
    let mut stream = Stream::new_stream_encoder(Filters::new().lzma2(&options), Check::Crc32).unwrap();
    stream.process_vec(&bytes, &mut stored, Action::Finish).unwrap();
    assert_eq!(
        Decompressor::new().decompress(Codec::Xz, &stored, &mut out),
        Err(CodecError::MemoryLimit { codec: Codec::Xz, limit: 128 << 20 })
    );
}

#[test]
fn a_decompressor_moves_between_threads() {
    fn is_send<T: Send>(_: &T) {}
    is_send(&Decompressor::new());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 400 }))]

    #[test]
    fn mutated_blocks_never_harm(
        length in 0..3000usize,
        claimed in prop_oneof![Just(None), (0..4000usize).prop_map(Some)],
        hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in prop_oneof![3 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)],
        tail in proptest::collection::vec(any::<u8>(), 0..20),
    ) {
        let bytes = sample(length);
        let mut decompressor = Decompressor::new();
        for codec in ALL {
            let mut stored = compress(codec, &bytes);
            let whole = stored.clone();
            for (place, value) in &hits {
                let place = place.index(stored.len());
                stored[place] = *value;
            }
            if let Some(cut) = cut {
                stored.truncate(cut.index(stored.len()));
            }
            stored.extend(&tail);
            // Bytes beyond the answer must not be touched.
            let expected = claimed.unwrap_or(length);
            let mut guarded = vec![0xC3; expected + 64];
            let result = decompressor.decompress(codec, &stored, &mut guarded[..expected]);
            prop_assert!(guarded[expected..].iter().all(|&byte| byte == 0xC3));
            if let Ok(used) = result {
                prop_assert!(used <= stored.len());
            }
            // And the context still works.
            let mut out = vec![0; length];
            prop_assert_eq!(decompressor.decompress(codec, &whole, &mut out), Ok(whole.len()));
            prop_assert_eq!(&out, &bytes);
        }
    }

    #[test]
    fn mutated_blocks_of_unknown_length_never_harm(
        length in 0..3000usize,
        hits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in prop_oneof![3 => Just(None), 1 => any::<prop::sample::Index>().prop_map(Some)],
        limit in 0..100_000usize,
    ) {
        let bytes = sample(length);
        let mut decompressor = Decompressor::new();
        for codec in UNKNOWN {
            let mut stored = compress(codec, &bytes);
            let whole = stored.clone();
            for (place, value) in &hits {
                let place = place.index(stored.len());
                stored[place] = *value;
            }
            if let Some(cut) = cut {
                stored.truncate(cut.index(stored.len()));
            }
            let mut room = Vec::new();
            if let Ok(produced) = decompressor.append(codec, &stored, &mut room, 5, limit) {
                prop_assert!(produced <= limit && produced + 5 <= room.len());
            }
            prop_assert!(room.len() <= limit + 5);
            prop_assert_eq!(decompressor.append(codec, &whole, &mut room, 0, 1 << 20), Ok(length));
            prop_assert!(room[..length] == bytes[..]);
        }
    }

    #[test]
    fn noise_never_harms(noise in proptest::collection::vec(any::<u8>(), 0..200), length in 0..400usize) {
        let mut decompressor = Decompressor::new();
        for codec in ALL {
            let _ = decompressor.decompress(codec, &noise, &mut vec![0; length]);
        }
    }
}

#[test]
fn no_codec_gives_more_than_the_limit() {
    let bytes = vec![0; 3_000_000];
    let mut decompressor = Decompressor::new();
    decompressor.set_limit(Some(1_000_000));
    let over = |codec: Codec| CodecError::OverLimit { codec: codec.name(), limit: 1_000_000 };
    for codec in ALL {
        let stored = compress(codec, &bytes);
        assert_eq!(decompressor.decompress(codec, &stored, &mut vec![0; bytes.len()]), Err(over(codec)));
        let stored = compress(codec, &bytes[..1_000_000]);
        assert!(decompressor.decompress(codec, &stored, &mut vec![0; 1_000_000]).is_ok(), "{codec}");
    }
    for codec in UNKNOWN {
        let mut room = Vec::new();
        let stored = compress(codec, &bytes);
        assert_eq!(decompressor.append(codec, &stored, &mut room, 0, 1 << 24), Err(over(codec)));
        assert!(room.len() <= 1_000_000 && room.capacity() <= 2_000_000, "{codec}: {}", room.capacity());
        // The caller's own, lower limit is another matter.
        let error = decompressor.append(codec, &stored, &mut room, 0, 1000).unwrap_err();
        assert!(matches!(error, CodecError::TooLong { expected: 1000, .. }), "{error}");
        // Bytes that are there already count.
        let stored = compress(codec, &bytes[..400_000]);
        assert_eq!(decompressor.append(codec, &stored, &mut room, 600_000, 1 << 24), Ok(400_000));
        assert_eq!(decompressor.append(codec, &stored, &mut room, 600_001, 1 << 24), Err(over(codec)));
    }
}
