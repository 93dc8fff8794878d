//! Tests that programs compile to machine code; the property tests of the tiers check its results.

use super::Jit;
use crate::Compiled;
use crate::lower::ir::Variant;

#[test]
fn everything_translates() {
    for source in [
        ": fib dup 1 > if 1- dup 1- recurse swap recurse + then ; fib",
        "input data output a int64 output b float32 0 do data !I-> stack dup a +<- stack data #!f-> b loop",
        "input data variable v begin data end invert while data B-> stack dup 5 < if v +! else drop pause then repeat",
        ": w 5 0 do i 2 = if exit then i drop loop ; w 3 . w",
        "0 begin dup 10 < while 1+ swap over repeat case 0 of 1 endof 1 of 2 endof drop 3 dup endcase",
        "input a output x uint8 output y float64 output z bool
         begin a varint-> x a zigzag-> y a f-> z a d-> x a q-> y a !h-> x a Q-> y 5 a #2bit-> x 3 x dup a 7bit-> y
           a textint-> x a skipws a enum s\" a\" s\" b\" a enumonly s\" c\" + 7 mod a peek a seek 2 a skip 1 x rewind x len y <- stack
           a f-> stack a d-> stack a ?-> stack / a n-> stack 3 / + y +<- stack a #?-> z a #!q-> y again",
    ] {
        for bits in [32, 64] {
            let compiled = Compiled::new(source).unwrap_or_else(|error| panic!("{error}"));
            let code = compiled.code(Variant::of(bits));
            let jit = Jit::new(&compiled.ir, &compiled.plans, code).unwrap_or_else(|refusal| panic!("{}: {source}\n{code}", refusal.text()));
            assert!(code.functions.is_empty() || (0..code.entries.len()).any(|entry| jit.has_entry(entry)), "{source}\n{code}");
        }
    }
}
