//! Tests pictures of all kinds of histograms.

use super::{
    Style, chart, graphs, heat, png,
    scene::{Scene, Shape},
    svg,
};
use crate::{
    binned::{Binning, Filled, Grid},
    graph::{Errors, Graph},
};

/// Random numbers from a linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % most
    }

    /// Returns a number of any magnitude, including NaN and infinities.
    fn number(&mut self) -> f64 {
        let digits = self.below(2001) as f64 / 100.0 - 10.0;
        match self.below(40) {
            0 => f64::NAN,
            1 => f64::INFINITY,
            2 => f64::NEG_INFINITY,
            3 => f64::MAX,
            4 => 5e-324,
            5..15 => 0.0,
            15..20 => digits * 10_f64.powi(self.below(40) as i32 - 20),
            _ => digits.abs(),
        }
    }

    fn binning(&mut self, bins: usize) -> Binning {
        let mut edge = [0.0, -3.0, 1e9, -1e-12, 1e300][self.below(5)];
        let width = [1.0, 1e-3, 1e5, 1e298][self.below(4)];
        let mut edges = vec![edge];
        for _ in 0..bins {
            edge = (edge + width * (1.0 + self.below(3) as f64)).max(edge.next_up());
            edges.push(edge);
        }
        let titles = ["", "p_{T}^{#mu} [GeV]", "a<b> & \"c\" \u{1b}[31m", "名前"];
        let title = titles[self.below(4)].repeat(1 + 40 * (self.below(8) / 7));
        let labels =
            if self.below(6) == 0 { vec![(0, "first".into()), (bins, "none".into())] } else { vec![] };
        Binning { title, edges, labels }
    }

    fn filled(&mut self, binning: Binning) -> Filled {
        let bins = binning.edges.len() - 1;
        let numbers = |random: &mut Self| (0..bins).map(|_| random.number()).collect::<Vec<f64>>();
        let (values, errors) = (numbers(self), numbers(self));
        let (mean, is_profile) = (Some(self.number()).filter(|mean| mean.is_finite()), self.below(4) == 0);
        let name = binning.title.clone();
        Filled { name, binning, values, errors, mean, is_profile, entries: 3.0, ..Filled::default() }
    }

    fn style(&mut self) -> Style {
        let mut flag = || self.below(2) == 0;
        Style { log_x: flag(), log_y: flag(), log_z: flag(), stats: flag(), ratio: flag() }
    }
}

/// Checks that all coordinates are finite and all lines lie inside the picture.
fn check(scene: &Scene, seed: u64) {
    let text = svg::document(scene);
    assert!(!text.contains("NaN") && !text.contains("inf") && !text.contains('\u{1b}'), "{seed}: {text}");
    assert!(!text.contains("<b>") && text.ends_with("</svg>\n"), "{seed}: {text}");
    for shape in &scene.shapes {
        let places = match shape {
            Shape::Fill { outlines: lines, .. } | Shape::Stroke { lines, .. } => lines.concat(),
            Shape::Text(_) => vec![],
        };
        for (x, y) in places {
            let is_inside =
                (-1.0..=scene.width + 1.0).contains(&x) && (-1.0..=scene.height + 1.0).contains(&y);
            assert!(is_inside, "{seed}: {x} {y}");
        }
    }
}

#[test]
fn random_histograms_are_drawn() {
    for seed in 0..100 {
        let mut random = Random(seed);
        let bins = [1, 2, 10, 80, 200][random.below(5)];
        let binning = random.binning(bins);
        let count = 1 + random.below(3);
        let histograms: Vec<Filled> = (0..count).map(|_| random.filled(binning.clone())).collect();
        let style = random.style();
        check(&chart(&binning.title, &histograms, "Entries", style), seed);
        let (x, y) = (random.binning(bins.min(20)), random.binning(7));
        let values = (0..7 * bins.min(20)).map(|_| random.number()).collect();
        check(&heat(&x.title, &Grid { x: x.clone(), y, values, ..Grid::default() }, "Entries", style), seed);
    }
}

#[test]
fn random_graphs_are_drawn() {
    for seed in 0..100 {
        let mut random = Random(seed);
        let count = [0, 1, 2, 30][random.below(4)];
        let numbers = |random: &mut Random| (0..count).map(|_| random.number()).collect::<Vec<f64>>();
        let errors = |random: &mut Random| {
            (random.below(2) == 0).then(|| Errors { low: numbers(random), high: numbers(random) })
        };
        let mut graph = || {
            let (x, y) = (numbers(&mut random), numbers(&mut random));
            let (x_errors, y_errors) = (errors(&mut random), errors(&mut random));
            let Binning { title, .. } = random.binning(1);
            Graph { name: title.clone(), x_title: title, x, y, x_errors, y_errors, ..Graph::default() }
        };
        let all: Vec<Graph> = (0..1 + seed % 3).map(|_| graph()).collect();
        check(&graphs(&all[0].x_title, &all, random.style()).0, seed);
    }
}

#[test]
fn png_shows_what_svg_does() {
    let edges = vec![0.0, 1.0, 2.0];
    let binning = Binning { title: "x".into(), edges, labels: Vec::new() };
    let filled = Filled { binning, values: vec![1.0, 3.0], errors: vec![1.0, 1.0], ..Filled::default() };
    let scene = chart("title", &[filled], "Entries", Style::default());
    let bytes = png::file(&scene).expect("a picture");
    let pixels = tiny_skia::Pixmap::decode_png(&bytes).expect("a PNG file");
    assert_eq!((pixels.width(), pixels.height()), (1600, 1200));
    let color = |x: u32, y: u32| {
        let pixel = pixels.pixel(x, y).expect("a pixel");
        [pixel.red(), pixel.green(), pixel.blue()]
    };
    // The higher bin is filled at a height above the lower one.
    assert_eq!((color(400, 600), color(1200, 600)), ([255, 255, 255], [188, 216, 242]));
    assert_eq!(color(400, 1000), [188, 216, 242]);
    // Bin labels are drawn: some pixels below the axis are black.
    let dark = (1400..1560).flat_map(|x| (1120..1195).map(move |y| (x, y)));
    assert!(dark.filter(|(x, y)| color(*x, *y) == [0, 0, 0]).count() > 20);
}
