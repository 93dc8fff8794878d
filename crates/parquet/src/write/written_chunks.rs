//! Comparison of written chunks with those of the `parquet` crate.

use super::{
    encode::{EncoderOptions, PageCodec},
    group_file::GroupFile,
    row_groups::RowGroups,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int8Array, Int16Array,
    Int32Array, Int64Array, LargeBinaryArray, LargeStringArray, RecordBatch, StringArray,
    TimestampMicrosecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::{Field, Schema};
use forthwith_io::Codec;
use forthwith_plan::OneThread;
use parquet::schema::types::ColumnDescPtr;
use parquet::{
    arrow::{
        ArrowSchemaConverter, ArrowWriter,
        arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder},
    },
    basic::{Compression, Type},
    file::{
        metadata::{ColumnChunkMetaData, PageIndexPolicy, page_index::PageIndexProvider},
        properties::WriterProperties,
    },
};
use std::sync::Arc;

/// Generator of pseudo-random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Returns 64-bit values with a random distribution: distinct, repeated, sequential or in runs.
fn values(random: &mut Random, rows: usize) -> Vec<u64> {
    let way = random.below(6);
    let distinct = random.one(&[1, 2, 3, 100, 70_000]);
    let mut last = 0;
    (0..rows)
        .map(|row| match way {
            0 => random.next(),
            1 => random.below(distinct),
            2 => row as u64,
            3 => (row as u64) / 7,
            4 => u64::MAX - row as u64,
            _ => {
                if random.below(20) == 0 {
                    last = random.next();
                }
                last
            }
        })
        .collect()
}

fn text(random: &mut Random, value: u64, longest: u64) -> String {
    let length = if longest > 100 { random.below(longest) } else { value % (longest + 1) };
    let mut text = format!("{value:x}");
    while (text.len() as u64) < length {
        text.push(random.one(&['a', 'ä', '\u{10ffff}', '€', 'z']));
    }
    text
}

const KINDS: u64 = 16;

fn array(random: &mut Random, kind: u64, rows: usize, is_nullable: bool) -> ArrayRef {
    let nulls = random.one(&[0, 1, 10, 99, 100]);
    let runs = random.below(2) == 0;
    let mut is_null = false;
    let raw = values(random, rows);
    let longest = random.one(&[0, 5, 20, 70, 3000]);
    let mut valid = |random: &mut Random| {
        if !runs || random.below(100) == 0 {
            is_null = random.below(100) < nulls;
        }
        !(is_nullable && is_null)
    };
    macro_rules! array {
        ($array:ty, $of:expr) => {
            Arc::new(raw.iter().map(|raw| valid(random).then(|| $of(*raw))).collect::<$array>())
        };
    }
    let nans = random.below(2) == 0;
    match kind {
        0 => array!(BooleanArray, |v| v & 1 == 1),
        1 => array!(Int8Array, |v| v as i8),
        2 => array!(Int16Array, |v| v as i16),
        3 => array!(Int32Array, |v| v as i32),
        4 => array!(Int64Array, |v| v as i64),
        5 => array!(UInt8Array, |v| v as u8),
        6 => array!(UInt16Array, |v| v as u16),
        7 => array!(UInt32Array, |v| v as u32),
        8 => array!(UInt64Array, |v| v),
        9 => array!(Float32Array, |v| if nans { f32::from_bits(v as u32) } else { v as i32 as f32 }),
        10 => array!(Float64Array, |v| if nans { f64::from_bits(v) } else { v as i64 as f64 }),
        11 => array!(Date32Array, |v| v as i32),
        12 => array!(TimestampMicrosecondArray, |v| v as i64),
        13 => {
            let texts = raw.iter().map(|raw| valid(random).then(|| text(random, *raw, longest)));
            Arc::new(texts.collect::<LargeStringArray>())
        }
        14 => {
            let texts = raw.iter().map(|raw| valid(random).then(|| text(random, *raw, longest)));
            Arc::new(texts.collect::<StringArray>())
        }
        _ => {
            let texts = raw.iter().map(|raw| valid(random).then(|| raw.to_le_bytes()));
            Arc::new(texts.collect::<LargeBinaryArray>())
        }
    }
}

fn ours(batches: &[RecordBatch], properties: WriterProperties, most: usize, codec: Option<Codec>) -> Vec<u8> {
    let schema = batches[0].schema();
    let descriptor = ArrowSchemaConverter::new().convert(&schema).unwrap();
    let file = GroupFile::new(Vec::new(), Arc::new(descriptor), &properties).unwrap();
    let column = parquet::schema::types::ColumnPath::new(Vec::new());
    let compression = properties.compression(&column);
    let options = EncoderOptions {
        codec: Some(PageCodec { compression, codec: codec.map(|codec| (codec, None)) }),
        dictionary: properties.dictionary_enabled(&column),
        properties: Arc::new(properties),
    };
    let mut groups = RowGroups::new(file, schema, options, most, Arc::new(OneThread::default()));
    let (first, last) = batches.split_at(batches.len() / 2);
    for batch in first {
        groups.write(std::slice::from_ref(batch), false).unwrap();
    }
    groups.write(last, true).unwrap();
    groups.into_inner().unwrap()
}

fn theirs(batches: &[RecordBatch], properties: WriterProperties) -> Vec<u8> {
    let options = parquet::arrow::arrow_writer::ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let mut writer = ArrowWriter::try_new_with_options(Vec::new(), batches[0].schema(), options).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.into_inner().unwrap()
}

fn metadata(file: &[u8]) -> ArrowReaderMetadata {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    ArrowReaderMetadata::load(&bytes::Bytes::copy_from_slice(file), options).unwrap()
}

fn check(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let random = &mut random;
    let kinds: Vec<(u64, bool)> = (0..3).map(|_| (random.below(KINDS), random.below(2) == 0)).collect();
    let count: usize = random.one(&[1, 1, 2, 5]);
    let longest = if count == 1 { random.one(&[20, 3000, 45_000]) } else { random.one(&[20, 3000]) };
    let most = random.one(&[7, 1000, 30_000, 1 << 20]);
    let batches: Vec<_> = (0..count)
        .map(|_| {
            let rows = random.below(longest) as usize + 1;
            let skipped = random.below(3) as usize;
            let columns = kinds.iter().enumerate().map(|(at, (kind, is_nullable))| {
                let array = array(random, *kind, rows + skipped, *is_nullable).slice(skipped, rows);
                (Arc::new(Field::new(format!("c{at}"), array.data_type().clone(), *is_nullable)), array)
            });
            let (fields, arrays): (Vec<_>, Vec<_>) = columns.unzip();
            RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
        })
        .collect();
    let (compression, codec) = random.one(&[
        (Compression::UNCOMPRESSED, None),
        (Compression::SNAPPY, Some(Codec::RawSnappy)),
        (Compression::LZ4_RAW, Some(Codec::Lz4)),
    ]);
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_enabled(random.below(4) > 0)
        .set_max_row_group_row_count(Some(most))
        .build();
    let (ours, theirs) = (ours(&batches, properties.clone(), most, codec), theirs(&batches, properties));
    let options = ArrowReaderOptions::new().with_schema(batches[0].schema());
    let file = bytes::Bytes::from(ours.clone());
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).unwrap();
    let mut rows = 0;
    let mut wanted: Vec<RecordBatch> = batches;
    for found in reader.with_batch_size(1 << 20).build().unwrap() {
        let mut found = found.unwrap();
        assert!(found.num_rows() > 0, "seed {seed}");
        while found.num_rows() > 0 {
            let some = found.num_rows().min(wanted[0].num_rows());
            for (found, wanted) in found.columns().iter().zip(wanted[0].columns()) {
                assert_values(&found.slice(0, some), &wanted.slice(0, some), seed, rows);
            }
            rows += some;
            found = found.slice(some, found.num_rows() - some);
            wanted[0] = wanted[0].slice(some, wanted[0].num_rows() - some);
            if wanted[0].num_rows() == 0 {
                wanted.remove(0);
            }
        }
    }
    assert!(wanted.is_empty(), "seed {seed}: rows are missing");
    assert_alike(&ours, &theirs, count, seed);
}

/// Compares values; floating-point numbers by their bits, so that NaN equals itself.
fn assert_values(found: &ArrayRef, wanted: &ArrayRef, seed: u64, row: usize) {
    macro_rules! bits {
        ($array:ty) => {
            if let (Some(found), Some(wanted)) =
                (found.as_any().downcast_ref::<$array>(), wanted.as_any().downcast_ref::<$array>())
            {
                let bits = |array: &$array| array.iter().map(|v| v.map(|v| v.to_bits())).collect::<Vec<_>>();
                assert!(bits(found) == bits(wanted), "seed {seed}, from row {row}");
                return;
            }
        };
    }
    bits!(Float32Array);
    bits!(Float64Array);
    assert!(found.to_data() == wanted.to_data(), "seed {seed}, from row {row}");
}

/// Compares indexes and statistics.
fn assert_alike(ours: &[u8], theirs: &[u8], batches: usize, seed: u64) {
    let (ours, theirs) = (metadata(ours), metadata(theirs));
    let (ours, theirs) = (ours.metadata(), theirs.metadata());
    assert_eq!(ours.file_metadata(), theirs.file_metadata(), "seed {seed}");
    assert_eq!(ours.num_row_groups(), theirs.num_row_groups(), "seed {seed}");
    // Only pages of required numbers in one batch end after the same rows in both.
    let is_comparable = |leaf: &ColumnDescPtr| {
        leaf.physical_type() != Type::BYTE_ARRAY && leaf.max_def_level() == 0 && batches == 1
    };
    for (group, metadata) in ours.row_groups().iter().enumerate() {
        let leaves = metadata.columns().iter().map(ColumnChunkMetaData::column_descr_ptr).enumerate();
        let (our_index, their_index) = (ours.page_index().unwrap(), theirs.page_index().unwrap());
        for (leaf, _) in leaves.filter(|(_, leaf)| is_comparable(leaf)) {
            let rows = |index: &dyn PageIndexProvider| {
                let pages = &index.offset_index(group, leaf).unwrap().page_locations;
                pages.iter().map(|page| page.first_row_index).collect::<Vec<_>>()
            };
            assert_eq!(rows(our_index.as_ref()), rows(their_index.as_ref()), "seed {seed}");
            let bounds = |index: &dyn PageIndexProvider| format!("{:?}", index.column_index(group, leaf));
            assert_eq!(bounds(our_index.as_ref()), bounds(their_index.as_ref()), "seed {seed}");
        }
    }
    for (ours, theirs) in ours.row_groups().iter().zip(theirs.row_groups()) {
        assert_eq!(ours.num_rows(), theirs.num_rows(), "seed {seed}");
        for (ours, theirs) in ours.columns().iter().zip(theirs.columns()) {
            // NaN is not equal to itself.
            assert_eq!(
                format!("{:?}", ours.statistics()),
                format!("{:?}", theirs.statistics()),
                "seed {seed}"
            );
            assert_eq!(ours.num_values(), theirs.num_values());
            assert_eq!(ours.definition_level_histogram(), theirs.definition_level_histogram());
            assert_eq!(ours.unencoded_byte_array_data_bytes(), theirs.unencoded_byte_array_data_bytes());
            assert_eq!(ours.compression(), theirs.compression());
        }
    }
}

#[test]
fn chunks_are_those_of_the_parquet_crate() {
    let count = std::env::var("FORTHWITH_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    (0..count).for_each(check);
}
