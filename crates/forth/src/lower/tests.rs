//! Programs and what becomes of them.

use crate::Compiled;

fn dump(source: &str, bits: u32) -> String {
    Compiled::new(source).unwrap_or_else(|error| panic!("{error}")).code(bits).to_string()
}

#[test]
fn show() {
    for source in [
        ": fib dup 1 > if 1- dup 1- recurse swap recurse + then ; fib",
        "input data output a int64 output b float32 0 do data !I-> stack dup a +<- stack data #!f-> b loop",
        "input data variable v begin data end invert while data B-> stack dup 5 < if v +! else drop pause then repeat",
        ": w 5 0 do i 2 = if exit then i drop loop ; w 3 . w",
        "0 begin dup 10 < while 1+ swap over repeat case 0 of 1 endof 1 of 2 endof drop 3 dup endcase",
    ] {
        eprintln!("=== {source}\n{}", dump(source, 64));
    }
}
