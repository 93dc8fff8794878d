//! The font of pictures: text widths for SVG and PNG, glyph outlines for PNG.

use std::sync::OnceLock;
use ttf_parser::{Face, GlyphId};

/// A subset of DejaVu Sans (`fonts/README.md`).
static FONT: &[u8] = include_bytes!("../../fonts/sans.ttf");

fn face() -> Option<&'static Face<'static>> {
    static FACE: OnceLock<Option<Face<'static>>> = OnceLock::new();
    FACE.get_or_init(|| Face::parse(FONT, 0).ok()).as_ref()
}

/// Returns the glyph of a character, or a box if missing from the font.
fn glyph(face: &Face<'_>, character: char) -> GlyphId {
    face.glyph_index(character).unwrap_or(GlyphId(0))
}

/// Returns the width of a character in pixels at size 1.
pub(super) fn advance(character: char) -> f64 {
    let Some(face) = face() else { return 0.6 };
    let width = face.glyph_hor_advance(glyph(face, character)).unwrap_or(0);
    f64::from(width) / f64::from(face.units_per_em())
}

/// Draws the outline of a character in font units with y upwards. Returns the number of font units per size
/// 1.
pub(super) fn outline(character: char, builder: &mut dyn ttf_parser::OutlineBuilder) -> f32 {
    let Some(face) = face() else { return 1.0 };
    // A blank has no outline.
    let _ = face.outline_glyph(glyph(face, character), builder);
    f32::from(face.units_per_em())
}
