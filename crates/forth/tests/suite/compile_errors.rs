//! Every compile error has a kind, a place and the documented text.

use forthwith_forth::{CompileErrorKind as E, Compiled};

#[track_caller]
fn check(source: &str, kind: E, line: usize, column: usize) {
    let error = Compiled::new(source).expect_err(source);
    assert_eq!((error.kind(), error.line(), error.column()), (kind, line, column), "{source}");
    let start = format!("in AwkwardForth source code, line {line} col {column}, {}:\n\n    ", kind.message());
    assert!(error.to_string().starts_with(&start), "{error}");
}

#[test]
fn structures_must_close() {
    check("( 1 2", E::UnclosedComment, 1, 1);
    check("\n  : f 1", E::UnclosedDefinition, 2, 3);
    check(": f 1 if ;", E::UnclosedIf, 1, 7);
    check("1 if do then", E::UnclosedDo, 1, 6);
    check("0 case 1 of 2", E::UnclosedCase, 1, 3);
    check("0 case 1 of 2 endcase", E::UnbalancedOf, 1, 3);
    check("0 case endof 1 of endcase", E::UnbalancedOf, 1, 3);
    check("begin 1", E::UnclosedBegin, 1, 1);
    check("begin 1 while 2", E::UnclosedWhile, 1, 1);
    check("1 then", E::UnknownWord, 1, 3);
    check("1 if 1 else 2 else 3 then", E::UnknownWord, 1, 15);
    check("s\" abc", E::UnclosedString, 1, 1);
}

#[test]
fn phrases_must_be_complete() {
    check(":", E::MissingDefinitionName, 1, 1);
    check("variable", E::MissingVariableName, 1, 1);
    check("input", E::MissingInputName, 1, 1);
    check("output", E::MissingOutputName, 1, 1);
    check("output x", E::MissingOutputName, 1, 1);
    check("output x int33", E::UnknownDtype, 1, 1);
    check("variable x x", E::VariableWithoutAction, 1, 12);
    check("input x x", E::InputWithoutAction, 1, 9);
    check("input x x 3foobit-> stack", E::InputWithoutAction, 1, 9);
    check("input x x i->", E::ParserWithoutDestination, 1, 9);
    check("input x x textfloat-> stack", E::TextFloatToStack, 1, 9);
    check("input x x quotedstr-> stack", E::QuotedStrToStack, 1, 9);
    check("input x output y int32 x quotedstr-> y", E::QuotedStrDtype, 1, 24);
    check("output x int32 x <-", E::WriteWithoutStack, 1, 16);
    check("output x int32 x +<-", E::WriteAddWithoutStack, 1, 16);
    check("output x int32 x", E::OutputWithoutAction, 1, 16);
    check("input x x enum", E::EnumWithoutString, 1, 9);
    check("input x x enumonly 3", E::EnumOnlyWithoutString, 1, 9);
}

#[test]
fn names_must_be_free() {
    for name in ["if", "dup", "int32", "12", "0x1f", "#!i->", "64bit->", "stack", "taken"] {
        check(&format!("variable taken variable {name}"), E::NameTaken, 1, 16);
    }
    for name in ["!B->", "65bit->", "node1234567890123456789-data", "éé", "DUP"] {
        assert!(Compiled::new(&format!("input {name}")).is_ok(), "{name}");
    }
}

#[test]
fn words_stand_in_their_context() {
    check("i", E::IndexOutsideDo, 1, 1);
    check("2 0 do j loop", E::IndexOutsideNestedDo, 1, 8);
    check("2 0 do 2 0 do k loop loop", E::IndexOutsideDoublyNestedDo, 1, 15);
    check("2 0 do : f i ; loop", E::IndexOutsideDo, 1, 12);
    check("recurse", E::RecurseOutsideDefinition, 1, 1);
    check("1\n DUP", E::UnknownWord, 2, 2);
    check("12abc", E::UnknownWord, 1, 1);
    check("-0x5", E::UnknownWord, 1, 1);
    check("9223372036854775808", E::UnknownWord, 1, 1);
    check("len", E::UnknownWord, 1, 1);
    check("(x)", E::UnknownWord, 1, 1);
}

#[test]
#[cfg_attr(miri, ignore = "long, and nothing unsafe in it")]
fn nesting_has_a_limit_and_no_stack_overflow() {
    let deep = format!("{}{}", "1 if ".repeat(100_000), "then ".repeat(100_000));
    assert_eq!(Compiled::new(&deep).expect_err("too deep").kind(), E::NestedTooDeeply);
}
