//! Wrong arguments are errors that name them.

use forthwith_c::*;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

fn last_error() -> String {
    // SAFETY: a text that ends with NUL, of this thread.
    unsafe { CStr::from_ptr(forthwith_last_error()) }.to_str().unwrap().to_owned()
}

#[track_caller]
fn fails(status: Status, expected: Status, message: &str) {
    assert_eq!((status, last_error().contains(message)), (expected, true), "{}", last_error());
}

fn data(name: &str) -> CString {
    CString::new(format!("{}/../../tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn table() -> *mut TableHandle {
    let (mut file, mut table) = (null_mut(), null_mut());
    // SAFETY: texts of ours; the file is freed once.
    unsafe {
        assert_eq!(forthwith_open(data("zmumu.root").as_ptr(), null(), &raw mut file), Status::Ok);
        fails(
            forthwith_table(file, null(), &raw mut table),
            Status::Invalid,
            "has 2 tables: name one as path",
        );
        fails(forthwith_table(file, c"event".as_ptr(), &raw mut table), Status::NotFound, "did you mean");
        assert_eq!(forthwith_table(file, c"events".as_ptr(), &raw mut table), Status::Ok);
        // The table remains valid.
        forthwith_file_free(file);
    }
    table
}

fn select(
    table: *const TableHandle,
    columns: &[&CStr],
    cut: Option<&CStr>,
) -> (Status, *mut SelectionHandle) {
    let names: Vec<*const c_char> = columns.iter().map(|name| name.as_ptr()).collect();
    let mut selection = null_mut();
    // SAFETY: a table of the test, texts of ours.
    let status = unsafe {
        let cut = cut.map_or(null(), CStr::as_ptr);
        forthwith_select(table, names.as_ptr(), names.len(), cut, &raw mut selection)
    };
    (status, selection)
}

#[test]
fn null_is_refused_everywhere() {
    use Status::Invalid;
    let zmumu = data("zmumu.root");
    // SAFETY: null, and texts of ours.
    unsafe {
        let mut file = null_mut();
        fails(forthwith_open(null(), null(), &raw mut file), Invalid, "uri is null");
        fails(forthwith_open(zmumu.as_ptr(), null(), null_mut()), Invalid, "out is null");
        let mut names = null_mut();
        fails(forthwith_file_keys(null(), null(), 0, &raw mut names), Invalid, "file is null");
        fails(forthwith_file_tables(null(), &raw mut names), Invalid, "file is null");
        let mut table = null_mut();
        fails(forthwith_table(null(), null(), &raw mut table), Invalid, "file is null");
        fails(
            forthwith_chain(null(), 3, null(), &raw mut table),
            Invalid,
            "names is null, but has a length of 3",
        );
        fails(forthwith_chain(null(), 0, null(), &raw mut table), Invalid, "a chain needs a file");
        let mut count = 0;
        fails(forthwith_table_entries(null(), &raw mut count), Invalid, "table is null");
        fails(forthwith_table_columns(null(), &raw mut names), Invalid, "table is null");
        let (mut selection, mut steps, mut batch) = (null_mut(), null_mut(), null_mut());
        fails(forthwith_select(null(), null(), 0, null(), &raw mut selection), Invalid, "table is null");
        fails(forthwith_selection_schema(null(), null_mut()), Invalid, "out is null");
        fails(forthwith_selection_stream(null(), 0, 1, 0, null_mut()), Invalid, "out is null");
        fails(forthwith_steps(null(), 0, 1, 0, &raw mut steps), Invalid, "selection is null");
        fails(forthwith_steps_next(null_mut(), &raw mut batch), Invalid, "steps is null");
        fails(forthwith_for_each(null(), 0, 1, 0, None, null_mut()), Invalid, "selection is null");
        fails(forthwith_batch_range(null(), null_mut(), null_mut()), Invalid, "batch is null");
        fails(forthwith_batch_column(null(), 0, null_mut()), Invalid, "out is null");
        fails(forthwith_batch_arrow(null(), null_mut(), null_mut()), Invalid, "array is null");
        assert_eq!((forthwith_batch_rows(null()), forthwith_names_count(null())), (0, 0));
        assert!(forthwith_batch_kept(null()).is_null() && forthwith_names_name(null(), 0).is_null());
        assert!(forthwith_file_format(null()).is_null() && forthwith_names_type(null(), 0).is_null());
        forthwith_file_free(null_mut());
        forthwith_table_free(null_mut());
        forthwith_selection_free(null_mut());
        forthwith_steps_free(null_mut());
        forthwith_batch_free(null_mut());
        forthwith_names_free(null_mut());
    }
}

#[test]
fn wrong_names_and_options_are_named() {
    let open = |uri: &CStr, options: Option<&CStr>| {
        let mut file = std::ptr::dangling_mut();
        // SAFETY: texts of ours.
        let status =
            unsafe { forthwith_open(uri.as_ptr(), options.map_or(null(), CStr::as_ptr), &raw mut file) };
        assert!(file.is_null());
        status
    };
    let zmumu = data("zmumu.root");
    fails(open(c"nowhere.root", None), Status::NotFound, "nowhere.root");
    fails(open(c"\xff", None), Status::Invalid, "uri is not UTF-8");
    fails(open(&data("README.md"), None), Status::Damaged, "README.md");
    fails(open(&zmumu, Some(c"[1]")), Status::Invalid, "options is not a JSON object");
    fails(open(&zmumu, Some(c"{")), Status::Invalid, "options is not a JSON object");
    fails(open(&zmumu, Some(c"{\"check_txt\": true}")), Status::Invalid, "did you mean check_text?");
    fails(open(&zmumu, Some(c"{\"check_text\": 1.5}")), Status::Invalid, "check_text");
    fails(
        open(&zmumu, Some(c"{\"threads\": 0}")),
        Status::Invalid,
        "the option threads is a number from 1 on, not 0",
    );
    fails(open(&zmumu, Some(c"{\"damage\": \"skip\"}")), Status::Invalid, "does not list what is lost");
    fails(
        open(&zmumu, Some(c"{\"store\": {\"secret\": 1}}")),
        Status::Invalid,
        "store is an object of texts",
    );
    let deep = CString::new("[".repeat(100_000)).unwrap();
    fails(open(&zmumu, Some(&deep)), Status::Invalid, "options is not a JSON object");
    let table = table();
    fails(select(table, &[c"MET_p"], None).0, Status::NotFound, "MET_pt");
    fails(select(table, &[c"MET_pt +"], None).0, Status::Invalid, "MET_pt +");
    fails(select(table, &[c"MET_pt"], Some(c"Muon_pt > 3")).0, Status::Invalid, "for each entry");
    // SAFETY: freed once.
    unsafe { forthwith_table_free(table) };
}

#[test]
fn ranges_columns_and_callbacks_are_checked() {
    unsafe extern "C" fn stop(batch: *const BatchHandle, seen: *mut c_void) -> i32 {
        let rows = unsafe { forthwith_batch_rows(batch) };
        let seen = unsafe { &mut *seen.cast::<u64>() };
        *seen += rows;
        i32::from(*seen >= 2000)
    }
    let table = table();
    let (status, selection) = select(table, &[c"MET_pt"], None);
    assert_eq!(status, Status::Ok);
    // SAFETY: handles of this test; the callback changes a number of ours.
    unsafe {
        let mut steps = null_mut();
        fails(
            forthwith_steps(selection, 5, 4, 0, &raw mut steps),
            Status::Invalid,
            "the end 4 is before the begin 5",
        );
        let mut seen = 0_u64;
        let context = (&raw mut seen).cast();
        let status = forthwith_for_each(selection, 0, u64::MAX, 1000, Some(stop), context);
        fails(status, Status::Cancelled, "the callback returned 1");
        assert_eq!(seen, 2000);
        fails(forthwith_for_each(selection, 0, 9, 1, None, null_mut()), Status::Invalid, "callback is null");
        assert_eq!(forthwith_steps(selection, 3599, u64::MAX, u64::MAX, &raw mut steps), Status::Ok);
        let mut batch = null_mut();
        assert_eq!(forthwith_steps_next(steps, &raw mut batch), Status::Ok);
        let mut column = std::mem::MaybeUninit::uninit();
        assert_eq!(forthwith_batch_column(batch, 0, column.as_mut_ptr()), Status::Ok);
        fails(forthwith_batch_column(batch, 1, column.as_mut_ptr()), Status::Invalid, "column 1 of 1");
        assert_eq!(column.assume_init().rows, 1);
        let mut end = std::ptr::dangling_mut();
        assert_eq!(forthwith_steps_next(steps, &raw mut end), Status::Ok);
        assert!(end.is_null());
        forthwith_steps_free(steps);
        forthwith_selection_free(selection);
        forthwith_table_free(table);
        // Batches outlive what they were read of.
        assert_eq!(forthwith_batch_rows(batch), 1);
        forthwith_batch_free(batch);
    }
}
