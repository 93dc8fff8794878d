//! What goes on up to the end of each entry: numbers of which a bit says that two bytes more stand behind
//! them, texts and lists. Whole, cut off, and with ends that lie.

use std::sync::Arc;

use forthwith_forth::{Compiled, Limits, Machine, RunError, Status};

use super::support;

fn source(read: &str, dtype: &str) -> String {
    format!(
        "input data input starts input stops variable stop output offsets int64 output bits {dtype}
        0 do
          starts I-> stack data seek
          stops I-> stack stop !
          0 begin data pos stop @ < while 1+
            data {read}-> stack dup 16 and if 2 data skip then bits <- stack
          repeat offsets +<- stack
          data pos stop @ <> if 3 halt then
        loop"
    )
}

/// Entries of several numbers, with a bit set at regular distances; their bytes, where they begin and where
/// they end.
fn entries(lengths: &[usize], each: usize, big: bool) -> (Vec<u8>, Vec<u32>, Vec<u32>) {
    let (mut data, mut starts, mut stops) = (Vec::new(), Vec::new(), Vec::new());
    let mut numbers = 0_u32;
    for &length in lengths {
        starts.push(data.len() as u32);
        for _ in 0..length {
            numbers += 1;
            let flagged = each > 0 && (numbers as usize).is_multiple_of(each);
            // Every bit but the one that counts, in some number or other.
            let number = numbers.wrapping_mul(0x9e37_79b9) & !16 | u32::from(flagged) << 4;
            data.extend(if big { number.to_be_bytes() } else { number.to_le_bytes() });
            data.extend(flagged.then_some([0xff_u8; 2]).into_iter().flatten());
        }
        stops.push(data.len() as u32);
    }
    (data, starts, stops)
}

/// What all tiers say.
fn agree(compiled: &Arc<Compiled>, data: &[u8], starts: &[u32], stops: &[u32]) -> Result<Status, RunError> {
    let bytes = |bounds: &[u32]| bounds.iter().flat_map(|bound| bound.to_le_bytes()).collect::<Vec<u8>>();
    let (starts, stops) = (bytes(starts), bytes(stops));
    support::agree(compiled, starts.len() as i64 / 4, &[data, &starts, &stops])
}

/// Cut off anywhere, and with bounds that lie.
fn damaged(compiled: &Arc<Compiled>, data: &[u8], starts: &[u32], stops: &[u32], step: usize) {
    for cut in (0..data.len()).step_by(step) {
        let _ = agree(compiled, &data[..cut], starts, stops);
    }
    for at in 0..starts.len() {
        let changes: &[u32] =
            if cfg!(miri) { &[2, 64] } else { &[1, 2, 4, 8, 60, 64, 400, 1 << 31, u32::MAX - 3] };
        for &change in changes {
            let mut bounds = [starts.to_vec(), stops.to_vec()];
            let bound = &mut bounds[change as usize / 2 % 2][at];
            *bound = bound.wrapping_add(change);
            let [starts, stops] = bounds;
            let _ = agree(compiled, data, &starts, &stops);
        }
    }
}

#[test]
fn all_tiers_agree_on_flagged_numbers() {
    let lengths: &[usize] = if cfg!(miri) { &[0, 3, 17] } else { &[0, 1, 3, 0, 16, 17, 40, 2, 15, 5] };
    for (read, dtype, big) in
        [("!I", "uint32", true), ("!i", "int32", true), ("I", "uint32", false), ("!I", "int64", true)]
    {
        let compiled = Arc::new(Compiled::new(&source(read, dtype)).unwrap());
        if cfg!(miri) && dtype != "uint32" {
            continue;
        }
        for each in if cfg!(miri) { 0..2 } else { 0..6 } {
            let (data, starts, stops) = entries(lengths, each, big);
            assert_eq!(agree(&compiled, &data, &starts, &stops), Ok(Status::Done));
            damaged(&compiled, &data, &starts, &stops, if cfg!(miri) { 67 } else { 3 });
        }
    }
}

/// Texts, with lengths of one byte and of five, and lists of numbers, with what is changed in any byte.
#[test]
fn all_tiers_agree_on_lists_to_the_end() {
    const TEXT: &str =
        "data B-> stack dup 255 = if drop data !I-> stack then dup inner +<- stack data #B-> items";
    const LIST: &str = "data !I-> stack dup inner +<- stack data #!f-> items";
    for (body, dtype, size) in [(TEXT, "uint8", 1), (LIST, "float32", 4)] {
        let source = format!(
            "input data input starts input stops variable stop
            output outer int64 output inner int64 output items {dtype}
            0 do
              starts I-> stack data seek
              stops I-> stack stop !
              0 begin data pos stop @ < while 1+ {body} repeat outer +<- stack
              data pos stop @ <> if 3 halt then
            loop"
        );
        let compiled = Arc::new(Compiled::new(&source).unwrap());
        assert!(compiled.explain().contains("native entry loop"), "{}", compiled.explain());
        // Of the second, one entry is longer than what is taken at once.
        let short: &[&[usize]] =
            &[&[], &[0], &[3, 0, 70], &[], &[254, 1, 255], &[1, 2, 3, 4, 5, 6, 7], &[64]];
        let long: &[&[usize]] = &[&[5], &[70_000], &[2, 1], &[300; 300], &[], &[9]];
        for lengths in if cfg!(miri) { vec![short] } else { vec![short, long] } {
            let (mut data, mut starts, mut stops) = (Vec::new(), Vec::new(), Vec::new());
            for entry in lengths {
                starts.push(data.len() as u32);
                for &length in *entry {
                    match u8::try_from(length) {
                        Ok(length) if size == 1 && length < 255 => data.push(length),
                        _ => {
                            data.extend((size == 1).then_some(255));
                            data.extend((length as u32).to_be_bytes());
                        }
                    }
                    data.extend((0..length * size).map(|byte| (byte * 37 % 251) as u8));
                }
                stops.push(data.len() as u32);
            }
            assert_eq!(agree(&compiled, &data, &starts, &stops), Ok(Status::Done));
            if cfg!(miri) || lengths.len() == long.len() {
                continue;
            }
            damaged(&compiled, &data, &starts, &stops, 3);
            for at in 0..data.len() {
                for change in [1, 0x80, 0xff] {
                    let mut changed = data.clone();
                    changed[at] ^= change;
                    let _ = agree(&compiled, &changed, &starts, &stops);
                }
            }
        }
    }
}

/// The numbers are where they were, and counted.
#[test]
fn flagged_numbers_are_read() {
    let compiled = Arc::new(Compiled::new(&source("!I", "uint32")).unwrap());
    for each in [0, 3] {
        let (data, starts, stops) = entries(&[2, 0, 20], each, true);
        let mut machine = Machine::new(Arc::clone(&compiled), Limits::default());
        let bytes = |bounds: &[u32]| bounds.iter().flat_map(|bound| bound.to_le_bytes()).collect::<Vec<u8>>();
        machine.begin();
        machine.push(3).unwrap();
        assert_eq!(machine.resume(&[&data, &bytes(&starts), &bytes(&stops)]), Ok(Status::Done));
        let outputs = machine.take_outputs();
        let offsets: Vec<i64> =
            outputs[0].as_bytes().as_chunks().0.iter().map(|one| i64::from_ne_bytes(*one)).collect();
        assert_eq!(offsets, [2, 2, 22]);
        let numbers = outputs[1].as_bytes().as_chunks().0.iter().map(|one| u32::from_ne_bytes(*one));
        let expected = (1..=22_u32).map(|number| {
            number.wrapping_mul(0x9e37_79b9) & !16
                | u32::from(each > 0 && (number as usize).is_multiple_of(each)) << 4
        });
        assert!(numbers.eq(expected));
    }
}
