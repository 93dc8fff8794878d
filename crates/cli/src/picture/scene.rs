//! Shapes and text with positions in pixels, from which SVG and PNG are made.

use super::label::Label;

/// A position in pixels from the top left corner.
pub(super) type Point = (f64, f64);

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Color(pub(super) u8, pub(super) u8, pub(super) u8);

/// The part of a text placed at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A text in one colour.
#[derive(Clone, Debug)]
pub(super) struct Lettering {
    pub(super) label: Label,
    pub(super) at: Point,
    pub(super) size: f64,
    pub(super) anchor: Anchor,
    /// Rotation in degrees, counterclockwise.
    pub(super) angle: f64,
    pub(super) color: Color,
}

/// A shape.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Filled polygons. Cells are drawn without anti-aliasing, which would leave visible seams.
    Fill {
        outlines: Vec<Vec<Point>>,
        color: Color,
        is_smooth: bool,
    },
    /// Lines with a line width.
    Stroke {
        lines: Vec<Vec<Point>>,
        color: Color,
        width: f64,
    },
    Text(Lettering),
}

/// A picture: shapes in drawing order.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
}

/// A rectangle parallel to the axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// Returns the horizontal position for a fraction of the width, limited to the vicinity of the area.
    pub(super) fn x(&self, part: f64) -> f64 {
        self.left + self.width() * part.clamp(-1.0, 2.0)
    }

    /// Returns the vertical position for a fraction of the height from the bottom, limited to the vicinity of
    /// the area.
    pub(super) fn y(&self, part: f64) -> f64 {
        self.bottom - self.height() * part.clamp(-1.0, 2.0)
    }

    pub(super) fn outline(&self) -> Vec<Point> {
        let Self { left, top, right, bottom } = *self;
        vec![(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    }
}

impl Scene {
    pub(super) const fn new(width: f64, height: f64) -> Self {
        Self { width, height, shapes: Vec::new() }
    }

    pub(super) fn fill(&mut self, outlines: Vec<Vec<Point>>, color: Color, is_smooth: bool) {
        self.shapes.push(Shape::Fill { outlines, color, is_smooth });
    }

    pub(super) fn stroke(&mut self, lines: Vec<Vec<Point>>, color: Color, width: f64) {
        self.shapes.push(Shape::Stroke { lines, color, width });
    }

    /// Adds horizontal text in black.
    pub(super) fn text(&mut self, label: Label, at: Point, size: f64, anchor: Anchor) {
        self.lettering(label, at, size, anchor, 0.0);
    }

    /// Adds rotated text in black.
    pub(super) fn lettering(&mut self, label: Label, at: Point, size: f64, anchor: Anchor, angle: f64) {
        self.shapes.push(Shape::Text(Lettering { label, at, size, anchor, angle, color: BLACK }));
    }
}

pub(super) const BLACK: Color = Color(0, 0, 0);
