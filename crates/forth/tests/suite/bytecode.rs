//! The external bytecode and its text, as documentation and older tests show them.

use forthwith_forth::Compiled;

fn codes(source: &str) -> (Vec<i32>, Vec<i64>) {
    let program = Compiled::new(source).unwrap_or_else(|error| panic!("{error}"));
    (program.bytecodes().to_vec(), program.bytecodes_offsets().to_vec())
}

#[test]
fn parsers_have_the_documented_codes() {
    let head = "input x output y int32 ";
    assert_eq!(codes(&format!("{head} x i-> stack")).0, [-33, 0]);
    assert_eq!(codes(&format!("{head} x !i-> stack")).0, [-37, 0]);
    assert_eq!(codes(&format!("{head} x #!i-> stack")).0, [-39, 0]);
    assert_eq!(codes(&format!("{head} x #i-> y")).0, [-36, 0, 0]);
    assert_eq!(codes(&format!("{head} x #!3bit-> y")).0, [-136, 0, 3, 0]);
}

#[test]
fn segments_are_numbered_when_opened() {
    assert_eq!(
        codes("1 if 2 if 3 then else 4 then"),
        (vec![0, 1, 4, 72, 74, 0, 2, 3, 73, 0, 3, 0, 4], vec![0, 5, 9, 11, 13])
    );
    assert_eq!(codes("begin dup while 1- repeat"), (vec![72, 10, 73, 37, 52], vec![0, 3, 4, 5]));
    assert_eq!(codes(": f recurse ; f 3 0 do i loop").0, [72, 0, 3, 0, 0, 6, 73, 72, 34]);
    assert_eq!(codes(": a : b ; b ; a b").0, [72, 73, 73]);
    assert_eq!(codes("1 if begin exit again then").0, [0, 1, 3, 72, 73, 8, 11, 2]);
}

#[test]
fn canonical_text_decompiles_to_itself() {
    let text = "\
variable v
input x
output y int32
output z float64

: word
  dup
  if
    1-
    word
  then
;

: other
  word
  exit
;

10
0 do
  i
  v !
  x i-> stack
  y +<- stack
  begin
    x end
  until
  begin
    v @
  while
    x #!d-> z
    y dup
  repeat
  1 if
    begin
      halt
    again
  else
    s\" text\"
    .\" more\"
  then
  x enum s\" a\" s\" b\"
loop
";
    let text = text.replace("10\n0 do", "10\n0\ndo").replace("  1 if", "  1\n  if");
    assert_eq!(Compiled::new(&text).unwrap().decompiled(), text);
}

#[test]
fn case_decompiles_to_something_that_means_the_same() {
    let regular = "3 case\n0 of 10 endof 1 of endof 99 swap endcase";
    let text = Compiled::new(regular).unwrap().decompiled();
    assert_eq!(
        text,
        "3\ncase ( regular )\n  0 of\n    10\n  endof\n  1 of endof\n  ( default )\n    99\n    swap\nendcase\n"
    );
    assert_eq!(codes(&text).0, codes(regular).0);
    let general = "3 case 5 of 10 endof 3 of 20 endof 99 swap endcase";
    let text = Compiled::new(general).unwrap().decompiled();
    assert_eq!(super::support::stack(&text), super::support::stack(general));
}

#[test]
fn quotes_are_escaped_in_text() {
    let source = "s\" say \\\"hi\\\"\"\n";
    assert_eq!(Compiled::new(source).unwrap().decompiled(), source);
}

#[test]
fn only_where_an_instruction_begins_there_is_one() {
    let program =
        Compiled::new("input x output y int8 : w 9 ; x #3bit-> y 500 1 if w then x #4bit-> y").unwrap();
    let mut starts = Vec::new();
    for at in 0..program.bytecodes().len() + 3 {
        assert_eq!(program.instruction(at).is_some(), program.instruction_length(at).is_some());
        let place = program.location(at);
        assert_eq!(place.instruction.is_empty(), program.instruction(at).is_none(), "{at}");
        starts.extend(program.instruction_length(at).map(|length| (at, length)));
    }
    // The body of the `if` is an instruction of its own, the one a stepping host sees once the condition
    // held.
    assert_eq!(starts, [(0, 4), (4, 2), (6, 2), (8, 2), (9, 1), (10, 4), (14, 2), (16, 1)]);
}
