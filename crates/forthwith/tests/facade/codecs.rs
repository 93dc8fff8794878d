//! Names of codecs, as far as the metadata of a format have them.

use forthwith::File;
use std::{collections::BTreeSet, path::Path};

/// The codecs of all columns of the first table of a bundled file.
fn codecs(name: &str) -> BTreeSet<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data").join(name);
    let file = File::open(path).expect(name);
    let keys = file.keys("", true).expect(name);
    let key = keys.iter().find(|key| key.is_table).expect("a table");
    let table = file.table(&key.path).expect(name);
    let fields = (0..).zip(table.fields().expect(name)).filter(|(_, field)| field.has_data && !field.is_part);
    fields.flat_map(|(field, _)| table.codecs(field).expect(name)).collect()
}

#[test]
fn columns_name_the_codecs_of_their_blocks() {
    assert_eq!(codecs("zmumu.root"), BTreeSet::from(["ZSTD level 5".into()]));
    for (file, codec) in [
        ("codec-lz4.root", "LZ4 level"),
        ("codec-zlib.root", "ZLIB level"),
        ("codec-lzma.root", "LZMA level"),
        ("codec-none.root", "none"),
        ("ntuple.root", "ZSTD level"),
        ("avro/codec-snappy.avro", "snappy"),
        ("avro/nested.avro", ""),
    ] {
        let found = codecs(file);
        assert!(!found.is_empty() && found.iter().all(|found| found.starts_with(codec)), "{file}: {found:?}");
    }
    assert!(!codecs("parquet/plain.parquet").is_empty());
}
