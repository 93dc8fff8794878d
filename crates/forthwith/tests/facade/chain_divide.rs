//! Partitions of many files, of which one of each schema is looked at.
#![cfg(all(feature = "parquet", feature = "avro"))]
#![allow(clippy::unwrap_used, reason = "tests")]

use forthwith::{
    Chain, ChainFile, ChainOptions, DivisionSchema, Step,
    columns::{Array, Column, Form},
    plan::WriteOptions,
};
use std::path::Path;

fn write(path: &Path, name: &str, column: &Column) -> ChainFile {
    let form = Form::Numpy { key: name.to_owned(), dtype: column.dtype(), shape: vec![] };
    let fields = [(name.to_owned(), form.clone())];
    let array =
        Array { form, length: column.len() as u64, columns: vec![(format!("{name}-data"), column.clone())] };
    let options = WriteOptions { block_entries: Some(4), ..WriteOptions::default() };
    let mut writer = forthwith::create(path.to_str().unwrap(), &fields, &options).unwrap();
    writer.write(&[array]).unwrap();
    writer.finish().unwrap();
    ChainFile { path: path.to_owned(), ..ChainFile::default() }
}

#[test]
fn files_of_a_schema_are_divided_as_each_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    for (at, entries) in [10_i32, 3, 0, 9].into_iter().enumerate() {
        let numbers = Column::from_slice(&(0..entries).collect::<Vec<i32>>());
        files.push(write(&folder.path().join(format!("{at}.parquet")), "n", &numbers));
    }
    // Another type, another name, and a file without a table.
    let wide = Column::from_slice(&(0..7).map(f64::from).collect::<Vec<f64>>());
    files.push(write(&folder.path().join("4.parquet"), "n", &wide));
    files.push(write(&folder.path().join("5.parquet"), "m", &wide));
    std::fs::write(folder.path().join("6.parquet"), b"nothing").unwrap();
    files.push(ChainFile { path: folder.path().join("6.parquet"), ..ChainFile::default() });

    let chain = Chain::new(files, ChainOptions::default()).unwrap();
    let schema = |file: usize| DivisionSchema { table: chain.table(file).unwrap(), fields: vec![0] };
    let schemas = [schema(0), schema(4)];
    for step in [None, Some(Step::Entries(3)), Some(Step::Entries(100)), Some(Step::Bytes(12))] {
        for align in [false, true] {
            let divided = chain.divide_alike(&schemas, step, align);
            assert_eq!(divided.len(), chain.len());
            for (file, schema) in [(0, 0), (1, 0), (2, 0), (3, 0), (4, 1)] {
                let alone = chain.table(file).unwrap().divide(&[0], step, align).unwrap();
                assert_eq!(divided[file], Some((schema, alone)));
            }
            assert_eq!(&divided[5..], [None, None]);
        }
    }
}

#[test]
fn partitions_end_where_blocks_end_if_they_are_to() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = Column::from_slice(&(0..10).collect::<Vec<i32>>());
    let file = write(&folder.path().join("0.parquet"), "n", &numbers);
    let table = Chain::new(vec![file], ChainOptions::default()).unwrap().table(0).unwrap();
    let divided = |step, align| table.divide(&[0], step, align).unwrap();
    assert_eq!(divided(Some(Step::Entries(3)), false).partitions, [0..3, 3..6, 6..9, 9..10]);
    assert_eq!(divided(Some(Step::Entries(3)), true).partitions, [0..4, 4..8, 8..10]);
    assert_eq!(divided(Some(Step::Entries(5)), true).partitions, [0..8, 8..10]);
    for step in [Some(Step::Entries(9)), None] {
        let partitions = divided(step, true).partitions;
        assert_eq!((partitions.len(), &partitions[0]), (1, &(0..10)));
    }
    let whole = divided(None, false);
    assert_eq!(whole.entries, 10);
    assert_eq!(whole.stored_bytes, table.plan(&[0_u32], ..).unwrap().stored_bytes());
    assert_eq!(table.divide(&[], None, true).unwrap().stored_bytes, 0);
}
