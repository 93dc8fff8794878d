//! Rows copied out of an array.

use crate::arrays::{everything, replaced, tangled};
use forthwith_columns::{Array, Column, Invalid};

fn rows(array: &Array) -> Vec<String> {
    array.preview(0..array.length, 200).lines().unwrap()
}

#[test]
fn a_part_is_the_same_rows_and_nothing_else() {
    for whole in [everything(), tangled()] {
        let all = rows(&whole);
        for start in 0..=whole.length {
            for end in start..=whole.length {
                let part = whole.part(start..end).unwrap();
                part.validate().unwrap();
                assert_eq!(part.form, whole.form);
                assert_eq!(rows(&part), all[start as usize..end as usize], "{start}..{end}");
                assert!(part.nbytes() <= whole.nbytes());
                for (name, column) in part.columns.iter().filter(|(name, _)| name.ends_with("-offsets")) {
                    assert_eq!(column.as_i64().unwrap()[0], 0, "{name}");
                }
            }
        }
    }
}

#[test]
fn a_part_of_a_part_is_a_part() {
    let whole = everything();
    let part = whole.part(1..whole.length).unwrap();
    assert_eq!(part.part(0..1).unwrap(), whole.part(1..2).unwrap());
}

#[test]
fn rows_that_are_not_there_are_an_error() {
    let whole = everything();
    #[expect(clippy::reversed_empty_ranges, reason = "it is what is tried")]
    for rows in [0..whole.length + 1, 2..1, u64::MAX..u64::MAX] {
        assert!(matches!(whole.part(rows), Err(Invalid::Range { .. })));
    }
}

#[test]
fn buffers_that_lie_are_errors() {
    let whole = everything();
    for (name, column) in &whole.columns {
        for with in
            [column.slice(0..0), Column::from_vec(vec![-5i64; 64]), Column::from_vec(vec![1i64 << 60; 64])]
        {
            let lying = replaced(&whole, name, with);
            // An index or offsets that lie may do so in rows that are not asked for; nothing may be made up
            // from them.
            if let Ok(part) = lying.part(0..lying.length) {
                assert_eq!(part.validate().is_ok(), lying.validate().is_ok(), "{name}");
            }
        }
    }
}
