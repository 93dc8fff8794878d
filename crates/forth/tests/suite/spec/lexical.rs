//! Section by section: lexical.

use super::*;

#[test]
fn tokens_are_separated_by_six_characters_and_may_hold_anything_else() {
    assert_eq!(stack("1\t2\r3\u{b}4\u{c}5\n6"), [1, 2, 3, 4, 5, 6]);
    assert_eq!(stack(": é\u{a0}☃! 7 ; é\u{a0}☃!"), [7]);
    assert_eq!(kind("1 DUP"), E::UnknownWord);
}

#[test]
fn comments() {
    assert_eq!(stack("1 ( 2 ( 3 ) 4 ) 5"), [1, 5]);
    // A lone carriage return does not end a line.
    assert_eq!(stack("1 \\ 2 \r 3 \n 4"), [1, 4]);
    assert_eq!(stack("1 \\ 2 ( \n 3"), [1, 3]);
    assert_eq!(kind("1 ) 2"), E::UnknownWord);
    assert_eq!(kind("( ( )"), E::UnclosedComment);
    // A string inside a comment is none.
    assert_eq!(stack("( s\" ) 1"), [1]);
}

#[test]
fn integers() {
    assert_eq!(stack("04 +5 -0 0x1F 0xff 0x-A"), [4, 5, 0, 31, 255, -10]);
    assert_eq!(stack("9223372036854775807 -9223372036854775808"), [-1, 0]);
    for no in ["0Xff", "-0x5", "12abc", "0x", "1.5", "1e3", "0xfg", "9223372036854775808", "--1", "1_000"] {
        assert_eq!(kind(no), E::UnknownWord, "{no}");
    }
    // Only what is an integer may not be a name.
    assert!(Compiled::new("variable 99999999999999999999 variable 12abc").is_ok());
}

#[test]
fn strings() {
    let program =
        Compiled::new("s\" \" s\"  a\" s\" b\nc\" .\" \\\"d\\n\\\" \" input x x enum s\" e\"").unwrap();
    assert_eq!(program.strings(), ["", " a", "b\nc", "\"d\\n\" ", "e"]);
    assert_eq!(stack("s\" \" s\" abc\""), [0, 0, 1, 3]);
    // Lengths are in bytes.
    assert_eq!(stack("s\" é☃\""), [0, 5]);
    assert_eq!(kind("s\""), E::UnclosedString);
    // Lines in strings count.
    let error = Compiled::new("s\" a\nb\" nonsense").unwrap_err();
    assert_eq!((error.line(), error.column()), (2, 4));
}

#[test]
fn reserved_words_are_no_names() {
    let words = "( ) \\ : ; recurse variable input output halt pause if then else case of endof endcase do loop +loop
        begin again until while repeat exit ! +! @ enum enumonly peek len pos end seek skip skipws <- +<- stack rewind
        bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64
        dup drop swap over rot nip tuck + - * / mod /mod negate 1+ 1- abs min max = <> > >= < <= 0= invert and or xor
        lshift rshift false true i j k . cr .s
        ?-> b-> h-> i-> q-> n-> B-> H-> I-> Q-> N-> f-> d-> !h-> !i-> !q-> !n-> !H-> !I-> !Q-> !N-> !f-> !d->
        #?-> #b-> #h-> #i-> #q-> #n-> #B-> #H-> #I-> #Q-> #N-> #f-> #d->
        #!h-> #!i-> #!q-> #!n-> #!H-> #!I-> #!Q-> #!N-> #!f-> #!d->
        varint-> zigzag-> textint-> textfloat-> quotedstr-> #varint-> #zigzag-> #textint-> #textfloat-> #quotedstr->
        1bit-> !64bit-> #7bit-> #!7bit->";
    let mut count = 0;
    for word in words.split_whitespace().filter(|word| !matches!(*word, "(" | ")" | "\\")) {
        assert_eq!(kind(&format!("variable {word}")), E::NameTaken, "{word}");
        count += 1;
    }
    assert_eq!(count, 151);
    for name in ["s\" x\"", ".\" x\""] {
        assert!(Compiled::new(&format!("variable {name}")).is_err(), "{name}");
    }
    for free in
        ["!B->", "!b->", "!?->", "!varint->", "0bit->", "65bit->", "#!x->", "if?", "endif", "pick", "2dup"]
    {
        assert!(Compiled::new(&format!("variable {free} {free} @")).is_ok(), "{free}");
    }
}

#[test]
fn sub_words_stand_behind_a_name_only() {
    for word in
        ["len", "pos", "seek", "skip", "end", "peek", "enum", "rewind", "<-", "+<-", "@", "!", "i->", "stack"]
    {
        assert_eq!(kind(&format!("1 {word}")), E::UnknownWord, "{word}");
    }
}
