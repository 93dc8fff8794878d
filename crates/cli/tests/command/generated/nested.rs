// Made by `forthwith gen rust nested.avro:Event`.

use forthwith::{Row, rows::List};

/// A record.
#[derive(Row)]
pub struct EventHits<'a> {
    pub x: f32,
    pub tags: List<'a, &'a str>,
    pub at: List<'a, &'a [i32]>,
}

/// A record.
#[derive(Row)]
pub struct EventBest<'a> {
    pub x: f32,
    pub tags: List<'a, &'a str>,
    pub at: List<'a, &'a [i32]>,
}

/// A row of `nested.avro:Event`.
#[derive(Row)]
pub struct Event<'a> {
    pub numbers: &'a [f64],
    pub longs: &'a [i64],
    pub flags: List<'a, bool>,
    pub deep: List<'a, List<'a, &'a [f32]>>,
    pub hits: List<'a, EventHits<'a>>,
    pub best: EventBest<'a>,
    pub blobs: List<'a, &'a [u8]>,
    pub ids: List<'a, &'a [u8]>,
    pub suits: List<'a, &'a str>,
    // names: (string, int64) has no type here
    // lists: (string, var * string) has no type here
    // hitmap: (string, {x: float32, tags: var * string, at: var * var * int32}) has no type here
    // nothing: unknown has no type here
}
