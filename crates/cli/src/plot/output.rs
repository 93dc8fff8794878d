//! Writes histograms and graphs as a picture, text or JSON.

use super::{Plotting, drawing::Drawing};
use crate::{
    binned::{Binning, Filled, Grid},
    console::Console,
    failure::{Failure, Result},
    graph::Graph,
    heat::shaded,
    histogram::Bars,
    human,
    picture::{chart, graphs, heat},
    shape::Shape,
};
use serde::Serialize;

/// Height of bar pictures in lines.
const HEIGHT: usize = 16;

/// A histogram or graph as JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum Report<'a> {
    One(&'a Filled),
    Two(&'a Grid),
    Points(&'a Graph),
}

/// Writes the picture, or prints text or JSON.
pub(super) fn all(
    drawings: Vec<Drawing>,
    plotting: &Plotting,
    shape: Shape,
    console: &mut Console<'_>,
) -> Result<()> {
    let mut drawings = drawings;
    if plotting.is_density {
        for drawing in &mut drawings {
            if let Drawing::One { filled, .. } = drawing {
                filled.normalize();
            }
        }
    }
    let has_graphs = drawings.iter().any(|drawing| matches!(drawing, Drawing::Points { .. }));
    if has_graphs && (plotting.is_density || plotting.style.stats) {
        return Err(Failure::misuse("--density and --stats are for histograms".into()));
    }
    if plotting.style.ratio {
        check_ratio(&drawings)?;
    }
    if plotting.output.is_some() {
        return picture(drawings, plotting, console);
    }
    if shape == Shape::Json {
        let mut reports = Vec::new();
        for drawing in &drawings {
            match drawing {
                Drawing::One { filled, .. } => reports.push(Report::One(filled)),
                Drawing::Two { grid, .. } => reports.push(Report::Two(grid)),
                Drawing::Points { graph, .. } => reports.push(Report::Points(graph)),
                Drawing::Nothing(why) => console.note(why),
            }
        }
        return console.json(&reports);
    }
    for (at, drawing) in drawings.iter().enumerate() {
        if at > 0 {
            console.line("")?;
        }
        text(drawing, plotting, console)?;
    }
    Ok(())
}

/// Checks that histograms for a ratio have the same bins.
fn check_ratio(drawings: &[Drawing]) -> Result<()> {
    let mut edges = None;
    for drawing in drawings {
        match drawing {
            Drawing::One { filled, .. } => match edges {
                None => edges = Some(&filled.binning.edges),
                Some(first) if *first == filled.binning.edges => {}
                Some(_) => {
                    let what = format!("--ratio needs the same bins, and {} has others", filled.name);
                    return Err(Failure::misuse(human::clean(&what)));
                }
            },
            Drawing::Two { .. } | Drawing::Points { .. } => {
                return Err(Failure::misuse("--ratio is for histograms of one dimension".into()));
            }
            Drawing::Nothing(_) => {}
        }
    }
    if drawings.len() < 2 {
        return Err(Failure::misuse("--ratio needs two histograms or more".into()));
    }
    Ok(())
}

fn picture(drawings: Vec<Drawing>, plotting: &Plotting, console: &mut Console<'_>) -> Result<()> {
    let Some(picture) = &plotting.output else { return Ok(()) };
    let (mut histograms, mut captions, mut titles, mut y_titles) = (vec![], vec![], vec![], vec![]);
    let mut points = Vec::new();
    let count = drawings.len();
    for drawing in drawings {
        match drawing {
            Drawing::One { filled, title, caption, y_title } => {
                histograms.push(*filled);
                titles.push(title);
                captions.push(caption);
                y_titles.push(y_title);
            }
            Drawing::Two { grid, title, caption, z_title } if count == 1 => {
                return picture.write(&heat(&title, &grid, &z_title, plotting.style), &caption, console);
            }
            Drawing::Two { .. } => {
                let what = format!("one picture has one histogram of two dimensions, not {count} histograms");
                return Err(Failure::misuse(what));
            }
            Drawing::Points { graph, caption } => {
                titles.push(graph.title.clone());
                captions.push(caption);
                points.push(*graph);
            }
            Drawing::Nothing(why) => console.note(&why),
        }
    }
    titles.dedup();
    captions.dedup();
    // Titles that differ are shown in the legend instead.
    let title = if let [title] = &titles[..] { title.as_str() } else { "" };
    if !points.is_empty() {
        if !histograms.is_empty() {
            return Err(Failure::misuse("one picture has histograms or graphs, not both".into()));
        }
        let (scene, drawn) = graphs(title, &points, plotting.style);
        let all: usize = points.iter().map(|graph| graph.x.len()).sum();
        if drawn < all || all == 0 {
            let count = human::count((all - drawn) as u64);
            console.note(&format!(
                "{count} of {} points not shown: no numbers, or not on the axes",
                human::count(all as u64)
            ));
        }
        return picture.write(&scene, &captions.join("; "), console);
    }
    if histograms.is_empty() {
        return Ok(());
    }
    let y_title = if plotting.is_density { "Density" } else { y_titles.first().map_or("", String::as_str) };
    let mut columns: Vec<&str> =
        histograms.iter().map(|histogram| histogram.binning.title.as_str()).collect();
    columns.dedup();
    histograms[0].binning.title = columns.join(", ");
    let scene = chart(title, &histograms, y_title, plotting.style);
    picture.write(&scene, &captions.join("; "), console)
}

/// Prints a histogram as text.
fn text(drawing: &Drawing, plotting: &Plotting, console: &mut Console<'_>) -> Result<()> {
    let style = plotting.style;
    match drawing {
        Drawing::Nothing(why) => console.line(why),
        Drawing::One { filled, caption, .. } => {
            heading(caption, filled, plotting, console)?;
            let width = super::fill::text_width(console);
            let (low, high, label) = ends(&filled.binning, style.log_x);
            let bars = Bars { low, high, heights: filled.values.clone() };
            let wide =
                if plotting.bins.is_some() { (width / bars.heights.len().max(1)).clamp(1, 8) } else { 1 };
            let draw = if style.log_y { Bars::draw_log } else { Bars::draw };
            console.text(&draw(&bars, HEIGHT, wide, &label, console.paint))?;
            if style.stats { console.line(&statistics(filled)) } else { Ok(()) }
        }
        // Several graphs; a single graph is shown as an object.
        Drawing::Points { graph, caption } => {
            console.line(&format!("{caption}\n"))?;
            match crate::object::points(graph, super::fill::text_width(console), console.paint) {
                Some(points) => console.text(&points),
                None => console.line("no points that are numbers"),
            }
        }
        Drawing::Two { grid, caption, .. } => {
            console.line(&format!("{caption}\n"))?;
            let (x_low, x_high, x) = ends(&grid.x, style.log_x);
            let (y_low, y_high, y) = ends(&grid.y, style.log_y);
            let columns = grid.x.edges.len().saturating_sub(1);
            let label = format!("{} →  {} ↑", human::clean(&x), human::clean(&y));
            let ends = [(x_low, x_high), (y_low, y_high)];
            console.text(&shaded(&grid.values, columns, ends, &label, style.log_z, console.paint))
        }
    }
}

/// Prints the line above a histogram, with its name in bold.
fn heading(caption: &str, filled: &Filled, plotting: &Plotting, console: &mut Console<'_>) -> Result<()> {
    let name = human::clean(&filled.binning.title);
    let caption = match caption.strip_prefix(&name) {
        Some(rest) => format!("{}{rest}", console.paint.strong(&name)),
        None => console.paint.strong(caption),
    };
    let legend = human::clean(&filled.name);
    let legend = if plotting.is_overlay && legend != name { format!("{legend}: ") } else { String::new() };
    console.line(&format!("{legend}{caption}\n"))
}

/// Returns the ends and title of an axis in text. Ends of a logarithmic axis are logarithms.
fn ends(binning: &Binning, is_log: bool) -> (f64, f64, String) {
    let end = |edge: Option<&f64>| edge.map_or(0.0, |edge| if is_log { edge.log10() } else { *edge });
    let title = if is_log { format!("log10 {}", binning.title) } else { binning.title.clone() };
    (end(binning.edges.first()), end(binning.edges.last()), title)
}

/// Formats entries, mean and standard deviation in one line.
fn statistics(filled: &Filled) -> String {
    let short = crate::histogram::short;
    let mean = filled.mean.map_or_else(String::new, |mean| format!(", mean {}", short(mean)));
    let deviation = filled.deviation.map_or_else(String::new, |one| format!(", std dev {}", short(one)));
    format!("{} entries{mean}{deviation}", short(filled.entries))
}
