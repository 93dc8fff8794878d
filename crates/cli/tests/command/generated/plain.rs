// Made by `forthwith gen rust plain.parquet`.

use forthwith::{
    Row,
    rows::{Date, Decimal, List, Milli, Nano, Timestamp},
};

/// A record.
#[derive(Row)]
pub struct EntryRecordB<'a> {
    pub c: Option<&'a str>,
    pub d: Option<f64>,
}

/// A record.
#[derive(Row)]
pub struct EntryRecord<'a> {
    pub a: Option<i32>,
    pub b: Option<EntryRecordB<'a>>,
}

/// A record.
#[derive(Row)]
pub struct EntryRecords<'a> {
    pub x: Option<f32>,
    pub tags: Option<List<'a, Option<&'a str>>>,
}

/// A row of `plain.parquet`.
#[derive(Row)]
pub struct Entry<'a> {
    pub bool: bool,
    pub int8: i8,
    pub uint16: u16,
    pub int32: i32,
    pub uint64: u64,
    pub float: f32,
    pub string: &'a str,
    pub o_bool: Option<bool>,
    pub o_int64: Option<i64>,
    pub o_double: Option<f64>,
    pub o_string: Option<&'a str>,
    pub o_binary: Option<&'a [u8]>,
    pub o_fixed: Option<&'a [u8]>,
    pub half: Option<u16>,
    pub date: Option<Date>,
    pub millis: Option<Timestamp<Milli>>,
    pub nanos: Option<Timestamp<Nano>>,
    pub decimal32: Option<Decimal<9, 2>>,
    pub decimal64: Option<Decimal<18, 2>>,
    pub decimal128: Option<Decimal<30, 2>>,
    pub one_value: Option<i32>,
    pub lists: Option<List<'a, Option<i32>>>,
    pub lists2: Option<List<'a, Option<List<'a, Option<i64>>>>>,
    pub strings: Option<List<'a, Option<&'a str>>>,
    pub record: Option<EntryRecord<'a>>,
    pub records: Option<List<'a, Option<EntryRecords<'a>>>>,
    pub one_long: Option<List<'a, Option<i16>>>,
    // nothing: unknown has no type here
    // map: (string, ?int32) has no type here
}
