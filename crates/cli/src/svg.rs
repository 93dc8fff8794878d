//! A histogram as an SVG picture: `forthwith plot -o FILE.svg`.

use crate::{
    console::Console,
    destination::is_replaced,
    failure::{Failure, Result},
    histogram::{Bars, nice_step, tick_text, ticks},
    human,
};
use forthwith::{
    io::{FileSink, Sink},
    plan::Error,
};
use std::{ffi::OsString, io::Write, path::Path};

/// The bins of a branch, if their number is not given.
pub(crate) const BINS: u16 = 60;
/// Columns of the picture, at most, of an object with its own bins.
pub(crate) const COLUMNS: usize = 520;

/// Standard output.
const STANDARD: &str = "-";
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 420.0;
/// The frame: left, top, right and bottom.
const FRAME: [f64; 4] = [80.0, 44.0, 620.0, 360.0];

/// A picture to be written.
#[derive(Debug, PartialEq)]
pub(crate) struct Picture {
    path: OsString,
    force: bool,
}

impl Picture {
    /// The file of a command line; `-` is standard output.
    ///
    /// # Errors
    /// Its name does not end in `.svg`.
    pub(crate) fn of(path: OsString, force: bool) -> Result<Self> {
        if path == STANDARD
            || Path::new(&path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("svg"))
        {
            return Ok(Self { path, force });
        }
        let what =
            format!("plot writes SVG pictures, and {} does not end in .svg", Path::new(&path).display());
        Err(Failure::misuse(what))
    }

    /// Writes a histogram, and says so unless it is printed.
    ///
    /// # Errors
    /// There is a file of that name, and nothing says that it may be replaced; or it cannot be written.
    pub(crate) fn write(
        &self,
        bars: &Bars,
        title: &str,
        label: &str,
        console: &mut Console<'_>,
    ) -> Result<()> {
        if self.path == STANDARD {
            return console.text(&drawn(bars, title, label));
        }
        is_replaced(&self.path, self.force)?;
        let path = Path::new(&self.path);
        let mut file = FileSink::create(path).map_err(Error::from)?;
        file.write_all(drawn(bars, title, label).as_bytes())?;
        Box::new(file).finish().map_err(Error::from)?;
        console.line(&human::clean(&format!("{title}: {}", path.display())))
    }
}

/// The document.
fn drawn(bars: &Bars, title: &str, label: &str) -> String {
    let [left, top, right, bottom] = FRAME;
    let finite = || bars.heights.iter().copied().filter(|height| height.is_finite());
    let lowest = finite().fold(0.0, f64::min);
    let highest = finite().fold(lowest, f64::max);
    let span =
        if highest > lowest && (highest - lowest).is_finite() { (highest - lowest) * 1.05 } else { 1.0 };
    let wide = (right - left) / bars.heights.len().max(1) as f64;
    let across = |bin: usize| left + wide * bin as f64;
    let up = |height: f64| bottom - (bottom - top) * ((height - lowest) / span).clamp(0.0, 1.0);
    let mut outline = format!("M{left:.1} {:.1}", up(0.0));
    for (bin, height) in bars.heights.iter().enumerate() {
        let y = up(if height.is_finite() { *height } else { 0.0 });
        outline.push_str(&format!("L{:.2} {y:.2}L{:.2} {y:.2}", across(bin), across(bin + 1)));
    }
    outline.push_str(&format!("L{right:.1} {:.1}Z", up(0.0)));

    let mut marks = String::new();
    let step = nice_step(bars.high - bars.low, 8);
    for (value, part) in ticks(bars.low, bars.high - bars.low, step).take_while(|(_, part)| *part <= 1.0) {
        let x = left + (right - left) * part;
        marks.push_str(&format!("<path d=\"M{x:.1} {bottom}v6\"/>"));
        marks.push_str(&text(x, bottom + 22.0, "middle", &tick_text(value, step)));
    }
    let step = nice_step(span, 6);
    for (value, part) in ticks(lowest, span, step).take_while(|(_, part)| *part <= 1.0) {
        let y = bottom - (bottom - top) * part;
        marks.push_str(&format!("<path d=\"M{left} {y:.1}h-6\"/>"));
        marks.push_str(&text(left - 10.0, y + 4.0, "end", &tick_text(value, step)));
    }
    let middle = f64::midpoint(left, right);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <path d=\"{outline}\" fill=\"#9ecae1\" stroke=\"#08519c\"/>\n\
         <g fill=\"none\" stroke=\"black\"><rect x=\"{left}\" y=\"{top}\" width=\"{}\" height=\"{}\"/>{marks}</g>\n\
         {}\n{}\n</svg>\n",
        right - left,
        bottom - top,
        text(middle, top - 16.0, "middle", title),
        text(middle, bottom + 46.0, "middle", label),
    )
}

fn text(x: f64, y: f64, anchor: &str, words: &str) -> String {
    let words = human::clean(words).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"black\" stroke=\"none\">{words}</text>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_bars_stay_within_the_frame() {
        let heights = vec![1.0, f64::NAN, -2.0, 1e300];
        let picture = drawn(&Bars { low: 0.0, high: 4.0, heights }, "a<b> & c\u{1b}[31m", "x");
        assert!(picture.contains("a&lt;b&gt; &amp; c") && !picture.contains('\u{1b}'), "{picture}");
        assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
        let empty = drawn(&Bars { low: 0.0, high: 1.0, heights: vec![0.0] }, "", "");
        assert!(!empty.contains("NaN"), "{empty}");
    }

    #[test]
    fn other_endings_are_refused() {
        assert!(Picture::of("a.png".into(), false).is_err());
        assert!(Picture::of("a.SVG".into(), false).is_ok());
    }
}
