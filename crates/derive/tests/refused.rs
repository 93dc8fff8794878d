//! Types that cannot be rows: compile errors with the place of the reason.

#[test]
fn refused_types_are_errors_with_a_span() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
