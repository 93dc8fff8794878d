use forthwith_derive::Row;

#[derive(Row)]
union Bits {
    whole: u32,
    real: f32,
}

#[derive(Row)]
struct Pair(f32, f32);

#[derive(Row)]
struct Nothing;

#[derive(Row)]
enum Never {}

#[derive(Row)]
enum Shapes {
    Point,
    Segment(f32, f32),
    Circle { radius: f32 },
}

fn main() {}
