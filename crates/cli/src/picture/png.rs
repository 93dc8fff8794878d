//! Renders pictures as PNG.

use super::{
    font::{advance, outline},
    scene::{Anchor, Color, Lettering, Point, Scene, Shape},
};
use tiny_skia::{FillRule, LineCap, Paint, Path, PathBuilder, Pixmap, Stroke, Transform};
use ttf_parser::OutlineBuilder;

/// Pixels per unit of the picture.
const SCALE: f32 = 2.0;

/// Renders a picture, and returns the bytes of the file or an error text.
pub(super) fn file(scene: &Scene) -> Result<Vec<u8>, String> {
    let size = |units: f64| (units * f64::from(SCALE)) as u32;
    let mut pixels = Pixmap::new(size(scene.width), size(scene.height)).ok_or("invalid size of a picture")?;
    pixels.fill(tiny_skia::Color::WHITE);
    let whole = Transform::from_scale(SCALE, SCALE);
    for shape in &scene.shapes {
        match shape {
            Shape::Fill { outlines, color, is_smooth } => {
                if let Some(path) = path(outlines, true) {
                    let paint = paint(*color, *is_smooth);
                    pixels.fill_path(&path, &paint, FillRule::Winding, whole, None);
                }
            }
            Shape::Stroke { lines, color, width } => {
                if let Some(path) = path(lines, false) {
                    let stroke =
                        Stroke { width: *width as f32, line_cap: LineCap::Square, ..Stroke::default() };
                    pixels.stroke_path(&path, &paint(*color, true), &stroke, whole, None);
                }
            }
            Shape::Text(lettering) => {
                if let Some(path) = letters(lettering) {
                    let (x, y) = (lettering.at.0 as f32, lettering.at.1 as f32);
                    let place = whole.pre_translate(x, y).pre_rotate(-lettering.angle as f32);
                    pixels.fill_path(&path, &paint(lettering.color, true), FillRule::Winding, place, None);
                }
            }
        }
    }
    pixels.encode_png().map_err(|error| error.to_string())
}

fn paint(Color(red, green, blue): Color, is_smooth: bool) -> Paint<'static> {
    let mut paint = Paint { anti_alias: is_smooth, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, 255);
    paint
}

fn path(lines: &[Vec<Point>], is_closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for line in lines {
        for (at, (x, y)) in line.iter().enumerate() {
            let (x, y) = (*x as f32, *y as f32);
            if at == 0 { builder.move_to(x, y) } else { builder.line_to(x, y) }
        }
        if is_closed {
            builder.close();
        }
    }
    builder.finish()
}

/// Returns the outlines of a text placed at the origin.
fn letters(lettering: &Lettering) -> Option<Path> {
    let Lettering { label, size, anchor, .. } = lettering;
    let mut x = match anchor {
        Anchor::Start => 0.0,
        Anchor::Middle => -label.width(*size) / 2.0,
        Anchor::End => -label.width(*size),
    };
    let mut builder = PathBuilder::new();
    for (level, text) in &label.0 {
        let (height, rise) = (size * level.size(), size * level.rise());
        for character in text.chars() {
            let mut letter = Letter(PathBuilder::new());
            let scale = height as f32 / outline(character, &mut letter);
            let place = Transform::from_row(scale, 0.0, 0.0, -scale, x as f32, -rise as f32);
            if let Some(path) = letter.0.finish().and_then(|path| path.transform(place)) {
                builder.push_path(&path);
            }
            x += advance(character) * height;
        }
    }
    builder.finish()
}

/// Collects the outline of a letter in font units.
struct Letter(PathBuilder);

impl OutlineBuilder for Letter {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.0.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.0.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}
