use forthwith_derive::Row;

#[derive(Row)]
struct Generic<T> {
    value: T,
}

#[derive(Row)]
struct Sized<const N: usize> {
    value: [f32; N],
}

#[derive(Row)]
struct Twice<'a, 'b> {
    one: &'a str,
    other: &'b str,
}

#[derive(Row)]
struct Changed<'a> {
    list: &'a mut [f32],
}

fn main() {}
