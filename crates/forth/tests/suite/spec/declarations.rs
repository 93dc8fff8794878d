//! Section by section: declarations.

use super::*;

#[test]
fn declarations_are_global_and_come_first() {
    assert_eq!(stack(": f variable v 3 v ! ; f v @"), [3]);
    assert_eq!(stack("0 if variable v then v @"), [0]);
    assert_eq!(kind("v @ variable v"), E::UnknownWord);
    assert_eq!(kind("f : f 1 ;"), E::UnknownWord);
    for again in ["variable x", "input x", "output x int8", ": x ;"] {
        for first in ["variable x", "input x", "output x int8", ": x ;"] {
            assert_eq!(kind(&format!("{first} {again}")), E::NameTaken, "{first} {again}");
        }
    }
}

#[test]
fn words_may_be_nested_and_stand_anywhere() {
    let program = Compiled::new(": a : b 1 ; b ; 0 if : c 2 ; then : d 3 ;").unwrap();
    assert_eq!(program.dictionary(), ["a", "b", "c", "d"]);
    assert_eq!(stack(": a : b 1 ; b ; a b 0 if : c 2 ; then c"), [1, 1, 2]);
    assert_eq!(stack(": f dup 0 > if 1- recurse else drop 9 then ; 3 f"), [9]);
    assert_eq!(stack(": f dup 0 > if 1- f else drop 9 then ; 3 f"), [9]);
    // `recurse` is the innermost definition.
    assert_eq!(stack(": a : b dup if 1- recurse then ; 3 b ; a"), [0]);
}

#[test]
fn every_dtype_can_be_declared() {
    for dtype in DType::ALL {
        let program = Compiled::new(&format!("output y {dtype}")).unwrap();
        assert_eq!(program.outputs()[0].dtype, *dtype);
    }
    assert_eq!(DType::ALL.len(), 11);
}
