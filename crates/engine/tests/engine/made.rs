//! A format made for the purpose, and a file of it.

use bytes::Bytes;
use forthwith_columns::{Array, DType, Encoding, Form, Policy};
use forthwith_engine::{Engine, Options};
use forthwith_io::{Memory, ReadAt, Source};
use forthwith_plan::{
    Block, BlockFormat, ColumnSpec, Decoder, Error, Group, Kernel, Plan, Result, Scratch, Slot, Stored, Task,
};
use forthwith_program::{Count, Dialect, Frame, Layout, TextLength, translate};
use std::{ops::Range, sync::Arc};

/// `u32` entries, `u32` number of bounds, the bounds, the payload.
pub(crate) struct Plain;

impl BlockFormat for Plain {
    fn id(&self) -> &'static str {
        "plain"
    }

    fn unframe<'a>(
        &self,
        _group: &Group,
        _task: &Task,
        stored: &'a [u8],
        scratch: &'a mut Scratch,
    ) -> Result<Block<'a>> {
        let word = |at: usize| u32::from_le_bytes(stored[at..at + 4].try_into().unwrap());
        let bounds = 4 * word(4) as usize;
        let body = &stored[8 + bounds..];
        // Copied, so that scratch is used as if something had been decompressed.
        let (payload, _, _) = scratch.rooms(body.len(), 0)?;
        payload.copy_from_slice(body);
        Ok(Block { payload, entries: u64::from(word(0)), bounds: &stored[8..8 + bounds], origin: 0 })
    }
}

/// A format of the same name that cannot unframe any block.
pub(crate) struct Refuses(pub(crate) &'static str);

impl BlockFormat for Refuses {
    fn id(&self) -> &'static str {
        "plain"
    }

    fn unframe<'a>(&self, _: &Group, _: &Task, _: &'a [u8], _: &'a mut Scratch) -> Result<Block<'a>> {
        Err(Error::unsupported(self.0))
    }
}

/// Deterministic numbers.
pub(crate) fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[derive(Default)]
pub(crate) struct Made {
    pub(crate) file: Vec<u8>,
    pub(crate) plan: Plan,
}

pub(crate) struct Truth {
    pub(crate) flat: Vec<i32>,
    pub(crate) offsets: Vec<i64>,
    pub(crate) jagged: Vec<f64>,
    pub(crate) outer: Vec<i64>,
    pub(crate) inner: Vec<i64>,
    pub(crate) nested: Vec<f32>,
}

pub(crate) const ENTRIES: u64 = 3000;

pub(crate) fn spec(key: &str, dtype: DType, offsets: bool) -> ColumnSpec {
    let member = key.to_owned();
    ColumnSpec {
        key: key.into(),
        dtype,
        offsets,
        member,
        bytes_per_payload_byte: if offsets { 2 } else { 1 },
    }
}

pub(crate) fn numpy(key: &str, dtype: DType) -> Form {
    Form::Numpy { key: key.into(), dtype, shape: vec![] }
}

pub(crate) fn list(key: &str, content: Form) -> Form {
    Form::List { key: key.into(), content: Box::new(content) }
}

pub(crate) fn groups() -> Vec<Group> {
    let nested = Layout::Number(Encoding::Big(DType::Float32)).list().list();
    let dialect = Dialect { counts: Count::Big32, text: TextLength::ByteThenWord, entry: Frame::Counted };
    let program = translate(&nested, &dialect, true, "nested").unwrap();
    let columns = program.outputs.iter().map(|o| spec(&o.key, o.dtype, o.offsets)).collect();
    let kernel = |k| Decoder::Kernel(k);
    vec![
        Group {
            path: "flat".into(),
            decoder: kernel(Kernel::Flat { wire: Encoding::Big(DType::Int32), per_entry: 1 }),
            reason: String::new(),
            form: numpy("node0", DType::Int32),
            columns: vec![spec("node0-data", DType::Int32, false)],
            counter: None,
            split: false,
            joins: false,
            items: None,
            views: None,
        },
        Group {
            path: "jagged".into(),
            decoder: kernel(Kernel::Jagged { header: 2, wire: Encoding::Big(DType::Float64), per_item: 1 }),
            reason: String::new(),
            form: list("node0", numpy("node1", DType::Float64)),
            columns: vec![
                spec("node0-offsets", DType::Int64, true),
                spec("node1-data", DType::Float64, false),
            ],
            counter: None,
            split: false,
            joins: false,
            items: None,
            views: None,
        },
        Group {
            path: "nested".into(),
            form: program.form.clone(),
            decoder: Decoder::Program(Arc::new(program)),
            reason: String::new(),
            columns,
            counter: None,
            split: false,
            joins: false,
            items: None,
            views: None,
        },
        Group {
            path: "slots".into(),
            decoder: kernel(Kernel::Slots {
                size: 5,
                slots: vec![
                    Slot { at: 0, wire: Encoding::Bool, count: 1 },
                    Slot { at: 1, wire: Encoding::Big(DType::UInt16), count: 2 },
                ],
            }),
            reason: String::new(),
            form: Form::Record {
                fields: Some(vec!["a".into(), "b".into()]),
                contents: vec![
                    numpy("node0", DType::Bool),
                    Form::Regular { size: 2, content: Box::new(numpy("node1", DType::UInt16)) },
                ],
                name: None,
            },
            columns: vec![spec("node0-data", DType::Bool, false), spec("node1-data", DType::UInt16, false)],
            counter: None,
            split: false,
            joins: false,
            items: None,
            views: None,
        },
    ]
}

/// A file of four groups, blocks of uneven size, the groups' blocks interleaved.
pub(crate) fn make() -> (Made, Truth) {
    let mut rng = 7;
    let mut made = Made::default();
    let mut truth = Truth {
        flat: vec![],
        offsets: vec![0],
        jagged: vec![],
        outer: vec![0],
        inner: vec![0],
        nested: vec![],
    };
    let mut tasks: Vec<Vec<Task>> = vec![vec![]; 4];
    let mut entry = 0;
    let mut block = 0;
    while entry < ENTRIES {
        let end = (entry + 1 + next(&mut rng) % 200).min(ENTRIES);
        for group in 0..4_u32 {
            let mut payload = Vec::new();
            let mut bounds = vec![0_u32];
            for e in entry..end {
                match group {
                    0 => {
                        let value = next(&mut rng) as i32;
                        truth.flat.push(value);
                        payload.extend(value.to_be_bytes());
                    }
                    1 => {
                        payload.extend([1, 2]);
                        for _ in 0..next(&mut rng) % 5 {
                            let value = next(&mut rng) as f64;
                            truth.jagged.push(value);
                            payload.extend(value.to_be_bytes());
                        }
                        truth.offsets.push(truth.jagged.len() as i64);
                    }
                    2 => {
                        let start = payload.len();
                        payload.extend([0; 4]);
                        payload.extend([0, 9]);
                        let lists = next(&mut rng) % 4;
                        payload.extend((lists as u32).to_be_bytes());
                        for _ in 0..lists {
                            let items = next(&mut rng) % 12;
                            payload.extend((items as u32).to_be_bytes());
                            for _ in 0..items {
                                let value = next(&mut rng) as f32;
                                truth.nested.push(value);
                                payload.extend(value.to_be_bytes());
                            }
                            truth.inner.push(truth.nested.len() as i64);
                        }
                        truth.outer.push(truth.inner.len() as i64 - 1);
                        let count = (payload.len() - start - 4) as u32 | 0x4000_0000;
                        payload[start..start + 4].copy_from_slice(&count.to_be_bytes());
                    }
                    _ => payload.extend([(e % 3) as u8, 0, e as u8, 1, 0]),
                }
                bounds.push(payload.len() as u32);
            }
            if matches!(group, 0 | 3) {
                bounds.clear();
            }
            let start = made.file.len() as u64;
            made.file.extend(((end - entry) as u32).to_le_bytes());
            made.file.extend((bounds.len() as u32).to_le_bytes());
            bounds.iter().for_each(|b| made.file.extend(b.to_le_bytes()));
            made.file.extend(&payload);
            let stored = Stored::Range(start..made.file.len() as u64);
            let payload_hint = payload.len() as u64;
            let (entries, wanted) = (entry..end, entry..end);
            tasks[group as usize].push(Task {
                group,
                block,
                entries,
                wanted,
                stored,
                payload_hint,
                needs: vec![],
                note: 0,
                numbers: Vec::new(),
            });
        }
        block += 1;
        entry = end;
    }
    made.plan = Plan {
        format: "plain".into(),
        uri: "made".into(),
        object: "table".into(),
        entries: 0..ENTRIES,
        groups: groups(),
        delivered: 4,
        tasks: tasks.concat(),
        ..Plan::default()
    };
    (made, truth)
}

pub(crate) fn engine() -> Engine {
    let policy = Policy { pool_bytes: 1 << 20, huge_pages: false, ..Policy::default() };
    Engine::new(Options { threads: 1, policy, read_ahead: 5000 })
}

pub(crate) fn memory(file: &[u8]) -> Arc<dyn Source> {
    Arc::new(Memory::new("made", Bytes::copy_from_slice(file)))
}

/// A source that is neither mapped nor to be asked from several threads.
pub(crate) struct Slow(pub(crate) Vec<u8>);

impl ReadAt for Slow {
    fn size(&mut self) -> std::result::Result<u64, String> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&mut self, at: u64, into: &mut [u8]) -> std::result::Result<usize, String> {
        let n = into.len().min(self.0.len() - at as usize);
        into[..n].copy_from_slice(&self.0[at as usize..at as usize + n]);
        Ok(n)
    }
}

/// A source that copies, and may be asked from several threads: like a local file.
#[derive(Debug)]
pub(crate) struct Copying {
    pub(crate) file: Vec<u8>,
    /// Says that it would answer views, of which none is at hand.
    pub(crate) distant: bool,
}

impl Source for Copying {
    fn uri(&self) -> &str {
        "copying"
    }
    fn size(&self) -> forthwith_io::Result<u64> {
        Ok(self.file.len() as u64)
    }
    fn read(&self, ranges: &[std::ops::Range<u64>]) -> forthwith_io::Result<Vec<Bytes>> {
        assert!(!self.distant, "a view of what is not at hand");
        let copy = |r: &Range<u64>| Bytes::copy_from_slice(&self.file[r.start as usize..r.end as usize]);
        Ok(ranges.iter().map(copy).collect())
    }
    fn read_into(&self, at: u64, into: &mut [u8]) -> forthwith_io::Result<()> {
        into.copy_from_slice(&self.file[at as usize..at as usize + into.len()]);
        Ok(())
    }
    fn zero_copy(&self) -> bool {
        self.distant
    }
    fn at_hand(&self, _: &Range<u64>) -> bool {
        !self.distant
    }
    fn concurrent(&self) -> bool {
        true
    }
}

pub(crate) fn check(arrays: &[Array], truth: &Truth) {
    let column = |a: usize, key: &str| arrays[a].column(key).unwrap();
    assert_eq!(column(0, "node0-data").items::<i32>().unwrap(), truth.flat);
    assert_eq!(column(1, "node0-offsets").items::<i64>().unwrap(), truth.offsets);
    assert_eq!(column(1, "node1-data").items::<f64>().unwrap(), truth.jagged);
    assert_eq!(column(2, "node0-offsets").items::<i64>().unwrap(), truth.outer);
    assert_eq!(column(2, "node1-offsets").items::<i64>().unwrap(), truth.inner);
    assert_eq!(column(2, "node2-data").items::<f32>().unwrap(), truth.nested);
    assert_eq!(column(3, "node0-data").len() as u64, ENTRIES);
    assert_eq!(column(3, "node1-data").items::<u16>().unwrap()[2..4], [1, 256]);
    assert!(arrays.iter().all(|a| a.length == ENTRIES));
}
