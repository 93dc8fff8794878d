//! Renders pictures as SVG.

use super::{
    label::Level,
    scene::{Anchor, Color, Lettering, Point, Scene, Shape},
};
use std::fmt::Write as _;

/// Renders a picture as an SVG document.
pub(super) fn document(scene: &Scene) -> String {
    let Scene { width, height, shapes } = scene;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for shape in shapes {
        match shape {
            Shape::Fill { outlines, color, is_smooth } => {
                let edges = if *is_smooth { "" } else { " shape-rendering=\"crispEdges\"" };
                let (path, color) = (path(outlines, "Z"), hexadecimal(*color));
                text.push_str(&format!("<path d=\"{path}\" fill=\"{color}\"{edges}/>\n"));
            }
            Shape::Stroke { lines, color, width } => {
                let (path, color) = (path(lines, ""), hexadecimal(*color));
                text.push_str(&format!(
                    "<path d=\"{path}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/>\n"
                ));
            }
            Shape::Text(lettering) => text.push_str(&letters(lettering)),
        }
    }
    text.push_str("</svg>\n");
    text
}

fn path(lines: &[Vec<Point>], end: &str) -> String {
    let mut path = String::new();
    for line in lines {
        for (at, (x, y)) in line.iter().enumerate() {
            // Writing to a string never fails.
            let _ = write!(path, "{}{x:.2} {y:.2}", if at == 0 { 'M' } else { 'L' });
        }
        path.push_str(end);
    }
    path
}

fn letters(lettering: &Lettering) -> String {
    let Lettering { label, at: (x, y), size, anchor, angle, color } = lettering;
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let turn = if *angle == 0.0 {
        String::new()
    } else {
        format!(" transform=\"rotate({} {x:.1} {y:.1})\"", -angle)
    };
    let (mut parts, mut base) = (String::new(), 0.0);
    for (level, text) in &label.0 {
        let text = escaped(text);
        let shift = base - level.rise() * size;
        base = level.rise() * size;
        if *level == Level::Line && shift == 0.0 {
            parts.push_str(&text);
        } else {
            let size = size * level.size();
            parts.push_str(&format!("<tspan dy=\"{shift:.1}\" font-size=\"{size:.1}\">{text}</tspan>"));
        }
    }
    let color = hexadecimal(*color);
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{color}\"{turn}>{parts}</text>\n"
    )
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn hexadecimal(Color(red, green, blue): Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}
