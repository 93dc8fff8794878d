//! `structs FILE ROUNDS`: the messages of a file as prost's structs, with text checked.
//!
//! Prints the least processor time of a round in seconds, the number of messages, and sums by which the caller knows that all was read. A
//! round reads the file and decodes all messages into one vector, which is dropped outside of the time.

use prost::{Message, bytes::Buf};

#[derive(Clone, PartialEq, Message)]
struct Hit {
    #[prost(uint32, tag = "1")]
    channel: u32,
    #[prost(float, tag = "2")]
    charge: f32,
    #[prost(sint32, tag = "3")]
    time: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Track {
    #[prost(message, repeated, tag = "1")]
    hits: Vec<Hit>,
    #[prost(double, tag = "2")]
    px: f64,
    #[prost(double, tag = "3")]
    py: f64,
    #[prost(double, optional, tag = "4")]
    chi2: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
struct Event {
    #[prost(int64, tag = "1")]
    id: i64,
    #[prost(message, repeated, tag = "2")]
    tracks: Vec<Track>,
    #[prost(int32, tag = "3")]
    kind: i32,
    #[prost(string, tag = "4")]
    name: String,
    #[prost(int32, repeated, tag = "5")]
    codes: Vec<i32>,
    #[prost(bool, tag = "6")]
    good: bool,
    #[prost(fixed64, tag = "7")]
    clock: u64,
    #[prost(double, optional, tag = "8")]
    weight: Option<f64>,
    #[prost(string, tag = "9")]
    stream: String,
    #[prost(uint64, tag = "10")]
    mask: u64,
}

/// Processor time of this thread, in seconds.
fn processor_time() -> f64 {
    // The first field is the time on the processor in nanoseconds.
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    stat.split(' ').next().and_then(|text| text.parse::<f64>().ok()).expect("a number") / 1e9
}

fn decode(path: &str) -> Vec<Event> {
    let bytes = std::fs::read(path).expect("the file can be read");
    let mut left = bytes.as_slice();
    let mut events = Vec::new();
    while left.has_remaining() {
        events.push(Event::decode_length_delimited(&mut left).expect("a message"));
    }
    events
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let rounds: usize = arguments[2].parse().expect("a number of rounds");
    let (mut least, mut events) = (f64::INFINITY, Vec::new());
    for _ in 0..rounds {
        drop(std::mem::take(&mut events));
        let start = processor_time();
        events = decode(&arguments[1]);
        least = least.min(processor_time() - start);
    }
    let hits = || events.iter().flat_map(|event| &event.tracks).flat_map(|track| &track.hits);
    let channels: u64 = hits().map(|hit| u64::from(hit.channel)).sum();
    let letters: usize = events.iter().map(|event| event.name.len() + event.stream.len()).sum();
    println!("{least} {} {channels} {letters}", events.len());
}
