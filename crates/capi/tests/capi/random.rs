//! Random columns, ranges and steps of many files: the numbers behind the pointers are those of the façade.

use forthwith::columns::{
    Array,
    arrow::{FFI_ArrowArray, FFI_ArrowSchema},
};
use forthwith::{File, SelectOptions, Table};
use forthwith_c::*;
use std::ffi::{CStr, CString, c_char};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

const FILES: [&str; 9] = [
    "zmumu.root",
    "containers.root",
    "leaves.root",
    "mixed.root",
    "natives.root",
    "nested-one.root",
    "layout.root",
    "evolution",
    "parquet",
];

/// Numbers that follow each other at random, the same ones each time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if end == 0 { 0 } else { (self.0 >> 33) % end }
    }
}

/// The files with the names of FILES, or in folders of these names.
fn files() -> Vec<String> {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data");
    let found = FILES.iter().flat_map(|name| forthwith::files::expand(&[format!("{data}/{name}")]).unwrap());
    found.map(|path| path.to_str().unwrap().to_owned()).collect()
}

/// The bytes of the numbers of all rows.
///
/// # Safety
/// The pointers of the column are valid.
unsafe fn bytes(column: &Column) -> (Vec<u64>, Vec<u8>) {
    let width = match column.number {
        NumberType::Bool | NumberType::Int8 | NumberType::Uint8 => 1,
        NumberType::Int16 | NumberType::Uint16 => 2,
        NumberType::Int32 | NumberType::Uint32 | NumberType::Float32 => 4,
        NumberType::Int64 | NumberType::Uint64 | NumberType::Float64 => 8,
    };
    assert_eq!(column.data.addr() % width, 0, "aligned");
    let number = |count: u64| usize::try_from(count).unwrap() * width;
    let all = unsafe { std::slice::from_raw_parts(column.data.cast::<u8>(), number(column.count)) };
    if column.offsets.is_null() {
        assert_eq!(column.kind, ColumnKind::Numbers);
        return (Vec::new(), all[..number(column.rows * column.size)].to_vec());
    }
    let offsets =
        unsafe { std::slice::from_raw_parts(column.offsets, usize::try_from(column.rows).unwrap() + 1) };
    let at = |offset: i64| number(u64::try_from(offset).unwrap() * column.size);
    let lengths = offsets.windows(2).map(|pair| u64::try_from(pair[1] - pair[0]).unwrap());
    (lengths.collect(), all[at(offsets[0])..at(offsets[offsets.len() - 1])].to_vec())
}

/// The façade's values, as bytes of numbers and lengths of lists.
fn expected(array: &Array) -> (Vec<u64>, Vec<u8>) {
    let lists =
        array.as_lists().ok().filter(|_| matches!(array.form.kept(), forthwith::columns::Form::List { .. }));
    let flat = |array: &Array| -> Vec<u8> {
        let (key, column) = array.columns.iter().find(|(key, _)| key.ends_with("-data")).unwrap();
        assert!(key.ends_with("-data"));
        column.as_bytes().to_vec()
    };
    if let Ok(texts) = array.as_texts() {
        return (
            texts.iter().map(|text| text.len() as u64).collect(),
            texts.iter().flatten().copied().collect(),
        );
    }
    match lists {
        Some((offsets, items)) => {
            let lengths = offsets.windows(2).map(|pair| u64::try_from(pair[1] - pair[0]).unwrap()).collect();
            (lengths, flat(&items))
        }
        None => (Vec::new(), flat(array)),
    }
}

/// Reads columns of a table by the interface, and compares them. Returns how many values were compared.
fn compare(
    path: &str,
    table: &Table,
    columns: &[String],
    range: (u64, u64),
    step: u64,
    cut: Option<&str>,
) -> usize {
    let named: Vec<&str> = columns.iter().map(String::as_str).collect();
    let options = SelectOptions { cut: cut.map(str::to_owned), ..SelectOptions::default() };
    let whole = table.select(&named, options).unwrap().read(range.0..range.1, None, None).unwrap();
    let uri = CString::new(path).unwrap();
    let object = CString::new(table.path()).unwrap();
    let texts: Vec<CString> = columns.iter().map(|name| CString::new(name.as_str()).unwrap()).collect();
    let pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
    let cut = cut.map(|cut| CString::new(cut).unwrap());
    let cut = cut.as_ref().map_or(null(), |cut| cut.as_ptr());
    let mut found: Vec<Option<(Vec<u64>, Vec<u8>)>> = vec![Some(Default::default()); columns.len()];
    let mut rows = 0;
    let (mut file, mut opened, mut selection, mut steps) = (null_mut(), null_mut(), null_mut(), null_mut());
    // SAFETY: each handle is used before it is freed, and freed once; texts are ours.
    unsafe {
        assert_eq!(forthwith_open(uri.as_ptr(), null(), &raw mut file), Status::Ok);
        assert_eq!(forthwith_table(file, object.as_ptr(), &raw mut opened), Status::Ok);
        let count = pointers.len();
        assert_eq!(forthwith_select(opened, pointers.as_ptr(), count, cut, &raw mut selection), Status::Ok);
        assert_eq!(forthwith_steps(selection, range.0, range.1, step, &raw mut steps), Status::Ok);
        loop {
            let mut batch = null_mut();
            assert_eq!(forthwith_steps_next(steps, &raw mut batch), Status::Ok);
            if batch.is_null() {
                break;
            }
            rows += forthwith_batch_rows(batch);
            for (index, found) in found.iter_mut().enumerate() {
                let mut column = MaybeUninit::uninit();
                match (forthwith_batch_column(batch, index, column.as_mut_ptr()), found) {
                    (Status::Ok, Some((lengths, values))) => {
                        let (more_lengths, more) = bytes(&column.assume_init());
                        lengths.extend(more_lengths);
                        values.extend(more);
                    }
                    (status, found) => {
                        assert_eq!(
                            status,
                            Status::Unsupported,
                            "{path} {}",
                            CStr::from_ptr(forthwith_last_error()).to_string_lossy()
                        );
                        *found = None;
                    }
                }
            }
            let (mut array, mut schema) = (FFI_ArrowArray::empty(), FFI_ArrowSchema::empty());
            let status = forthwith_batch_arrow(batch, &raw mut array, &raw mut schema);
            assert!(matches!(status, Status::Ok | Status::Unsupported));
            if status == Status::Ok {
                assert_eq!(array.len() as u64, forthwith_batch_rows(batch));
            }
            forthwith_batch_free(batch);
        }
        forthwith_steps_free(steps);
        forthwith_selection_free(selection);
        forthwith_table_free(opened);
        forthwith_file_free(file);
    }
    let expected_rows = whole.kept.as_ref().map_or(range.1 - range.0, |kept| kept.len() as u64);
    assert_eq!(rows, expected_rows, "{path} {columns:?} {range:?}");
    let mut compared = 0;
    for ((found, array), name) in found.into_iter().zip(&whole.arrays).zip(columns) {
        let Some(found) = found.filter(|_| rows > 0) else { continue };
        assert!(found == expected(array), "{path} {name} {range:?} in steps of {step}");
        compared += 1;
    }
    compared
}

#[test]
fn columns_behind_pointers_are_those_of_the_facade() {
    let rounds = std::env::var("FORTHWITH_ROUNDS").map_or(40, |rounds| rounds.parse().unwrap());
    let (files, mut random, mut compared) = (files(), Random(11), 0);
    for round in 0..rounds {
        let path = &files[usize::try_from(random.below(files.len() as u64)).unwrap()];
        let Ok(file) = File::open(path) else { continue };
        let tables: Vec<_> = file.keys("", true).unwrap().into_iter().filter(|key| key.is_table).collect();
        if tables.is_empty() {
            continue;
        }
        let key = &tables[usize::try_from(random.below(tables.len() as u64)).unwrap()];
        let Ok(table) = file.table(&key.path) else { continue };
        let Ok(fields) = table.fields() else { continue };
        let fields = fields.iter().filter(|field| field.has_data);
        let paths: Vec<String> = fields.map(|field| field.path.clone()).collect();
        let mut columns = Vec::new();
        for _ in 0..=random.below(4) {
            let Some(path) = paths.get(usize::try_from(random.below(paths.len() as u64)).unwrap()) else {
                continue;
            };
            let field = table.find(path).unwrap();
            let is_whole =
                table.entry_range(field).is_ok_and(|range| range.end >= table.entries().unwrap_or(0));
            if table.select(&[path], SelectOptions::default()).is_ok_and(|one| one.forms().is_ok())
                && is_whole
            {
                columns.push(path.clone());
            }
        }
        let entries = table.entries().unwrap();
        let begin = random.below(entries + 1);
        let end = begin + random.below(entries - begin + 1);
        let step = 1 + random.below(entries / 3 + 2);
        let cut = (round % 3 == 0).then_some("Entry$ % 3 != 1");
        // Values that cannot be read are not compared.
        let named: Vec<&str> = columns.iter().map(String::as_str).collect();
        let all = table.select(&named, SelectOptions::default()).and_then(|all| all.read(.., None, None));
        if columns.is_empty() || all.is_err() {
            continue;
        }
        compared += compare(path, &table, &columns, (begin, end), step, cut);
    }
    assert!(compared > rounds / 2, "{compared} columns compared in {rounds} rounds");
}
