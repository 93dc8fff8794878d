//! Tests of the lowered code of programs.

use crate::Compiled;
use crate::lower::ir::Variant;

fn dump(source: &str, bits: u32) -> String {
    Compiled::new(source).unwrap_or_else(|error| panic!("{error}")).code(Variant::of(bits)).to_string()
}

/// Returns the code without points and scopes.
fn code(source: &str, bits: u32) -> String {
    let dump = dump(source, bits);
    let code = dump.split("@0:").next().unwrap_or_default();
    code.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_list_keeps_its_count_in_a_register() {
    let source =
        "input data output a int64 output b float32 0 do data !I-> stack dup a +<- stack data #!f-> b loop";
    let expected = "\
f0 main: 1 -- 0, registers 4, height 10 5 5
  b0: entry @0
    r2 = 0
    r3 = r0
    jump b3
  b1:
    return @5
  b2:
    r0 = in0 !I-> @2
    write-add out0 r0 @3
    in0 #!f-> out1 r0 @4
    advance r2 1
    jump b3
  b3: entry @1
    native 1 r2 r3
    if r2 < r3 b2 else b1
@0: pc 0 scope 0 [r0]
@1: pc 4 scope 1 []
@2: pc 4 scope 1 []
@3: pc 7 scope 1 [r0 r0]
@4: pc 9 scope 1 [r0]
@5: pc 4 scope 0 []
scope 0: end 4
scope 1: end 12, loop 4..4 loops 1, loop 0: r2 r3 body 1
";
    assert_eq!(dump(source, 64), expected);
}

#[test]
fn recursion_is_a_function_of_its_own() {
    let fibonacci = code(": fib dup 1 > if 1- dup 1- recurse swap recurse + then ; fib", 64);
    assert!(fibonacci.contains("f1 word(0): 1 -- 1"), "{fibonacci}");
    assert!(fibonacci.contains("if r0 > 1 b1 else b2"), "{fibonacci}");
    assert!(fibonacci.contains("r1 = call f1 r1 @6 @7"), "{fibonacci}");
}

#[test]
fn words_are_put_in_place_and_shuffling_costs_nothing() {
    let inlined = code("variable x : twice dup + ; 3 twice x ! 5 6 swap drop x +!", 64);
    assert!(inlined.contains("r0 = add 3 3\nstore v0 r0\nincrement v0 6\nreturn"), "{inlined}");
}

#[test]
fn an_index_is_wrapped_in_32_bits_only() {
    let source = "variable x 3 0 do i x +! loop";
    assert!(code(source, 64).contains("increment v0 r2\nadvance r2 1"), "{}", code(source, 64));
    assert!(code(source, 32).contains("r0 = r2\nincrement v0 r0\nadvance r2 1"), "{}", code(source, 32));
}

#[test]
fn what_is_static_in_a_dynamic_program_is_found() {
    let source = "input data variable v v @ if 1 then 5 0 do data B-> stack v +! loop";
    let found = code(source, 64);
    assert!(found.starts_with("f0 loop("), "{found}");
    assert!(Compiled::new(source).is_ok_and(|program| {
        program
            .explain()
            .contains("main program: checked: `if` leaves another number of items than it skips (line 1 col")
    }));
}

#[test]
fn a_command_at_each_pause_is_static() {
    let program =
        Compiled::new("output o int64 begin pause dup 3 = if drop 1 halt else o +<- stack then again");
    assert!(program.is_ok_and(|program| program.explain().contains("main program: flat code")));
}
