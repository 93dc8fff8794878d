//! Inputs that another thread writes while the machine reads them: nothing is read or written out of place,
//! nothing panics, and the machine goes on.
//!
//! `FORTHWITH_REWRITE_SECONDS` says how long it may take, 4 by default; under valgrind or a sanitizer,
//! readings outside of an input are found, too. `mutable_inputs` in the crate is about memory that is written
//! meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::{Duration, Instant};

use forthwith_forth::{
    Compiled, LEAD, Limits, Machine, Memory, OutOfMemory, Output, SLACK, Tier, W32, W64, Width,
};

use super::support::TIERS;

/// Bytes behind the slack that must stay as they are.
const GUARD: usize = 1 << 12;
const UNTOUCHED: u8 = 0xa5;

/// Memory that grows to exactly what is asked for, with a guard on either side.
struct Guarded(Vec<u64>, usize);

impl Guarded {
    fn with(capacity: usize) -> Self {
        let bytes = GUARD + LEAD + capacity + SLACK + GUARD;
        let mut this = Self(vec![0; bytes.div_ceil(8)], capacity);
        let (behind, end) = (GUARD + LEAD + capacity + SLACK, this.0.len() * 8);
        this.bytes()[..GUARD].fill(UNTOUCHED);
        this.bytes()[behind..end].fill(UNTOUCHED);
        this
    }

    fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: numbers are plain bytes.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * 8) }
    }
}

// SAFETY: guards, leading bytes, capacity and slack are one vector of numbers; the start is a multiple of 8.
unsafe impl Memory for Guarded {
    fn as_ptr(&self) -> *mut u8 {
        self.0.as_ptr().cast::<u8>().wrapping_add(GUARD + LEAD).cast_mut()
    }

    fn capacity(&self) -> usize {
        self.1
    }

    fn grow(&mut self, used: usize, needed: usize) -> Result<(), OutOfMemory> {
        let mut larger = Self::with(needed);
        let kept = GUARD..GUARD + LEAD + used;
        larger.bytes()[kept.clone()].copy_from_slice(&self.bytes()[kept]);
        std::mem::swap(self, &mut larger);
        Ok(())
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let behind = GUARD + LEAD + self.1 + SLACK;
        let bytes = self.bytes();
        let whole = bytes[..GUARD].iter().chain(&bytes[behind..]).all(|byte| *byte == UNTOUCHED);
        assert!(whole || std::thread::panicking(), "something was written outside of an output");
    }
}

/// Bytes that are read here and written there.
struct Shared(Vec<AtomicU8>);

impl Shared {
    fn new(bytes: &[u8]) -> Self {
        Self(bytes.iter().copied().map(AtomicU8::new).collect())
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: none by the letter: others write these bytes. It is what hosts do that lend buffers, and
        // what is tested.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len()) }
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below.max(1)
    }
}

/// What counts, flags, lengths and levels are likely to be, and what they must not be.
const BYTES: [u8; 12] = [0, 1, 2, 3, 4, 6, 16, 0x40, 0x7f, 0x80, 0xfe, 0xff];

/// Writes until told to stop: single bytes, runs, and what was there at first.
fn rewrite(inputs: &[Shared], originals: &[Vec<u8>], stop: &AtomicBool, seed: u64) {
    let mut random = Random(seed);
    while !stop.load(Ordering::Relaxed) {
        let input = random.next(inputs.len());
        let (to, original) = (&inputs[input].0, &originals[input]);
        let at = random.next(to.len());
        let length = [1, 1, 4, 8, 64, to.len()][random.next(6)].min(to.len() - at);
        let byte = BYTES[random.next(BYTES.len())];
        for _ in 0..random.next(8) {
            to[at..at + length].iter().for_each(|to| to.store(byte, Ordering::Relaxed));
            let old = to[at..at + length].iter().zip(&original[at..]);
            old.for_each(|(to, old)| to.store(*old, Ordering::Relaxed));
        }
        if random.next(64) == 0 {
            to.iter().for_each(|to| to.store(byte, Ordering::Relaxed));
            to.iter().zip(original).for_each(|(to, old)| to.store(*old, Ordering::Relaxed));
        }
    }
}

struct Case {
    program: String,
    stack: Vec<i64>,
    inputs: Vec<Vec<u8>>,
}

fn run<W: Width>(
    case: &Case,
    compiled: &Arc<Compiled>,
    inputs: &[Shared],
    tier: Tier,
    until: Instant,
) -> u64 {
    let mut machine = Machine::<W>::with_width(Arc::clone(compiled), Limits::default());
    machine.force_tier(Some(tier));
    let mut runs = 0;
    while runs == 0 || Instant::now() < until {
        let output = |dtype| Output::new(dtype, Box::new(Guarded::with(0)));
        let outputs = compiled.outputs().iter().map(|declared| output(declared.dtype)).collect();
        machine.begin_with(outputs).unwrap();
        case.stack.iter().for_each(|item| machine.push(*item).unwrap());
        let slices: Vec<&[u8]> = inputs.iter().map(Shared::bytes).collect();
        // What it says is nothing that could be foretold.
        let _ = machine.resume(&slices);
        for (at, input) in slices.iter().enumerate() {
            assert!(machine.position(at) <= input.len(), "position {at}: {}", case.program);
        }
        for output in machine.take_outputs() {
            let used = output.len() * output.dtype().size();
            let memory = output.into_memory();
            assert!(used <= memory.capacity(), "{used} of {}: {}", memory.capacity(), case.program);
        }
        runs += 1;
    }
    runs
}

/// Entries of framed lists of lists with their starts and stops, as ROOT has them.
fn entries(header: bool, body: impl Fn(u32, &mut Vec<u8>)) -> Vec<Vec<u8>> {
    let (mut data, mut starts, mut stops) = (Vec::new(), Vec::new(), Vec::new());
    for entry in 0..24 {
        starts.extend((data.len() as u32).to_le_bytes());
        let mut inside = Vec::new();
        body(entry, &mut inside);
        if header {
            data.extend((0x4000_0000 + 2 + inside.len() as u32).to_be_bytes());
            data.extend([0, 9]);
        }
        data.extend(inside);
        stops.extend((data.len() as u32).to_le_bytes());
    }
    data.extend([0; 80]);
    vec![data, starts, stops]
}

fn list(items: u32, of: &[u8]) -> impl Fn(&mut Vec<u8>) {
    move |to| {
        to.extend(items.to_be_bytes());
        (0..items).for_each(|_| to.extend(of));
    }
}

/// Every idiom of the page, with bytes that many of its passes are at home in.
fn idioms() -> Vec<Case> {
    let manual = include_str!("../../IDIOMS.md");
    let sources = manual.split("```forth\n").skip(1).map(|block| block.split("```").next().unwrap());
    sources
        .map(|source| {
            let compiled = Compiled::new(source).unwrap();
            let counted = |entry: u32, to: &mut Vec<u8>| list(entry % 5, &[0, 0, 1, 2])(to);
            let inputs = match compiled.inputs().len() {
                1 => vec![plausible(700, 7)],
                _ => entries(source.contains("!H->"), counted),
            };
            Case { program: source.to_owned(), stack: vec![24], inputs }
        })
        .collect()
}

/// Small numbers for the most part: as counts, lengths and branches they lead on.
fn plausible(bytes: usize, seed: u64) -> Vec<u8> {
    let mut random = Random(seed);
    (0..bytes).map(|_| if random.next(4) == 0 { [2, 3, 4, 6][random.next(4)] } else { 0 }).collect()
}

fn others() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut case = |program: &str, stack: &[i64], inputs: Vec<Vec<u8>>| {
        cases.push(Case { program: program.to_owned(), stack: stack.to_vec(), inputs });
    };
    // Lists in lists, and short strings, between starts and stops.
    let around = |body: &str| {
        format!(
            "input data input starts input stops variable stop
             output a int64 output b int64 output c int64 output text uint8 output floats float32 output bits uint32
             0 do starts I-> stack data seek stops I-> stack stop ! {body} data pos stop @ <> if 3 halt then loop"
        )
    };
    const COUNTED: &str = "data !I-> stack dup c +<- stack data #!f-> floats";
    const TEXT: &str = "data B-> stack dup 255 = if drop data !I-> stack then dup c +<- stack data #B-> text";
    let lists = |entry: u32, to: &mut Vec<u8>| list(entry % 4, &[0, 0, 0, 1, 9, 9, 9, 9])(to);
    let texts = |entry: u32, to: &mut Vec<u8>| list(entry % 4, &[2, b'a', b'b'])(to);
    let nested = |inner: &str| format!("data !I-> stack dup b +<- stack 0 do {inner} loop");
    case(&around(&nested(COUNTED)), &[24], entries(false, lists));
    case(&around(&nested(TEXT)), &[24], entries(false, texts));
    case(
        &around(&format!("data !I-> stack dup a +<- stack 0 do {} loop", nested(COUNTED))),
        &[24],
        entries(false, |entry, to| list(entry % 3, &[0, 0, 0, 1, 0, 0, 0, 1, 9, 9, 9, 9])(to)),
    );
    let to_end = |inner: &str| format!("0 begin data pos stop @ < while 1+ {inner} repeat a +<- stack");
    case(&around(&to_end(COUNTED)), &[24], entries(false, |entry, to| list(entry % 4, &[])(to)));
    case(&around(&to_end(TEXT)), &[24], entries(false, |_, to| to.extend([1, b'a', 2, b'b', b'c'])));
    let masked = "data !I-> stack dup 16 and if 2 data skip then bits <- stack";
    let bits = |entry: u32, to: &mut Vec<u8>| (0..entry % 5).for_each(|_| to.extend([1, 2, 3, 4]));
    case(&around(&to_end(masked)), &[24], entries(false, bits));
    // Every parser, alone and many at once, into each kind of output.
    let parsers =
        "? b h i q n B H I Q N f d !h !i !q !H !I !Q !f !d varint zigzag textint textfloat 3bit !7bit 5msb";
    for parser in parsers.split(' ') {
        let text = parser.starts_with("text");
        let body = if text {
            format!("x skipws x {parser}-> y x skipws 3 x #{parser}-> y")
        } else {
            format!("x {parser}-> y x B-> stack 7 and x #{parser}-> y x {parser}-> stack drop")
        };
        for dtype in ["uint8", "int32", "float64"] {
            let inputs = if text { b"12 3.5 -4e2 77 0 1 ".repeat(30) } else { plausible(600, 3) };
            case(&format!("input x output y {dtype} 0 do {body} loop"), &[30], vec![inputs]);
        }
    }
    case(
        "input x output y uint8 0 do x skipws x quotedstr-> y loop",
        &[20],
        vec![b"\"ab\\n\\u00e9c\" ".repeat(30)],
    );
    case(
        "input x 0 do x skipws x enum s\" ab\" s\" abc\" s\" x\" drop 1 x skip 0 x peek drop loop",
        &[50],
        vec![b"abc x ab ".repeat(40)],
    );
    cases
}

#[test]
#[cfg_attr(miri, ignore = "races on purpose")]
fn outputs_stay_within_their_room() {
    let seconds = std::env::var("FORTHWITH_REWRITE_SECONDS").ok().and_then(|text| text.parse().ok());
    let cases: Vec<Case> = idioms().into_iter().chain(others()).collect();
    let share = Duration::from_secs_f64(seconds.unwrap_or(4.0)) / (cases.len() * TIERS.len() * 2) as u32;
    let mut runs = 0;
    for (number, case) in cases.iter().enumerate() {
        let compiled =
            Compiled::new(&case.program).unwrap_or_else(|error| panic!("{error}: {}", case.program));
        let compiled = Arc::new(compiled);
        let inputs: Vec<Shared> = case.inputs.iter().map(|bytes| Shared::new(bytes)).collect();
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| rewrite(&inputs, &case.inputs, &stop, number as u64 + 1));
            let done = std::panic::catch_unwind(|| {
                TIERS.map(|tier| {
                    runs_of::<W64>(case, &compiled, &inputs, tier, share)
                        + runs_of::<W32>(case, &compiled, &inputs, tier, share)
                })
            });
            stop.store(true, Ordering::Relaxed);
            writer.join().unwrap();
            runs += done.unwrap().iter().sum::<u64>();
        });
    }
    assert!(runs >= (cases.len() * TIERS.len() * 2) as u64);
}

fn runs_of<W: Width>(
    case: &Case,
    compiled: &Arc<Compiled>,
    inputs: &[Shared],
    tier: Tier,
    share: Duration,
) -> u64 {
    run::<W>(case, compiled, inputs, tier, Instant::now() + share)
}
