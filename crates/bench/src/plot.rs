//! Line plots as SVG.

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::prelude::*;

/// Size of one chart, pixels.
const WIDTH: u32 = 900;
const HEIGHT: u32 = 380;
const TEXT: (&str, i32) = ("sans-serif", 14);
const TITLE: (&str, i32) = ("sans-serif", 18);
/// Told apart by people who do not see all colours, too (Okabe and Ito's palette).
const COLOURS: [RGBColor; 5] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 86, 86),
];

const GRID: RGBColor = RGBColor(226, 226, 226);
const AXIS: RGBColor = RGBColor(120, 120, 120);
/// Name of the line of what could be, drawn dashed.
pub(crate) const IDEAL: &str = "ideal";

/// One chart.
#[derive(Debug, Clone)]
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    /// Name and points of each line.
    pub(crate) lines: Vec<(&'static str, Vec<(f64, f64)>)>,
    /// What a line may not reach: its name, and the points of a dashed line in its colour.
    pub(crate) limits: Vec<(&'static str, Vec<(f64, f64)>)>,
}

impl Chart {
    /// Without limits.
    pub(crate) fn of(
        title: &str,
        x: &'static str,
        y: &'static str,
        lines: Vec<(&'static str, Vec<(f64, f64)>)>,
    ) -> Self {
        Self { title: title.to_owned(), x, y, lines, limits: Vec::new() }
    }
}

/// The charts one below the other.
pub(crate) fn svg(charts: &[Chart]) -> anyhow::Result<String> {
    let count = u32::try_from(charts.len().max(1))?;
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (WIDTH, HEIGHT * count)).into_drawing_area();
        area.fill(&WHITE).map_err(|error| anyhow!("cannot plot: {error}"))?;
        for (part, chart) in area.split_evenly((charts.len().max(1), 1)).iter().zip(charts) {
            draw(part, chart).map_err(|error| anyhow!("cannot plot {}: {error}", chart.title))?;
        }
        area.present().map_err(|error| anyhow!("cannot plot: {error}"))?;
    }
    Ok(text)
}

type Failed<'a> = DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>;

fn draw<'a>(area: &DrawingArea<SVGBackend<'a>, Shift>, chart: &Chart) -> Result<(), Failed<'a>> {
    let (x_end, y_end) = ends(chart);
    let mut context = ChartBuilder::on(area)
        .caption(&chart.title, TITLE)
        .margin(12)
        .x_label_area_size(44)
        .y_label_area_size(84)
        .build_cartesian_2d(0.0..x_end, 0.0..y_end)?;
    context
        .configure_mesh()
        .x_desc(chart.x)
        .y_desc(chart.y)
        .label_style(TEXT)
        .x_label_formatter(&|x| label(*x))
        .y_label_formatter(&|y| label(*y))
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(AXIS)
        .draw()?;
    // What could be lies below what was measured, or it would hide that where both are the same.
    for (name, points) in chart.lines.iter().filter(|(name, _)| *name == IDEAL) {
        let style = AXIS.stroke_width(2);
        let dashed = DashedLineSeries::new(points.iter().copied(), 6, 5, style);
        context
            .draw_series(dashed)?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], style));
    }
    let measured = chart.lines.iter().filter(|(name, _)| *name != IDEAL);
    for ((name, points), colour) in measured.zip(COLOURS.iter().cycle()) {
        let line = LineSeries::new(points.iter().copied(), colour.stroke_width(2));
        context
            .draw_series(line)?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
        let dot = |point: &(f64, f64)| Circle::new(*point, 3, colour.filled());
        context.draw_series(points.iter().map(dot))?;
        for (_, limit) in chart.limits.iter().filter(|(of, _)| of == name) {
            let style = colour.stroke_width(1);
            context.draw_series(DashedLineSeries::new(limit.iter().copied(), 4, 4, style))?;
        }
    }
    context
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .label_font(TEXT)
        .draw()
}

/// Where the axes end.
fn ends(chart: &Chart) -> (f64, f64) {
    let points = || chart.lines.iter().chain(&chart.limits).flat_map(|(_, points)| points);
    let end = |of: fn(&(f64, f64)) -> f64| {
        let max = points().map(of).fold(0.0, f64::max);
        if max > 0.0 { max * 1.05 } else { 1.0 }
    };
    (end(|point| point.0), end(|point| point.1))
}

/// `1500` → `1.5k`, `0.25` → `0.25`.
fn label(x: f64) -> String {
    let (scaled, unit) = match x.abs() {
        size if size >= 1e6 => (x / 1e6, "M"),
        size if size >= 1e3 => (x / 1e3, "k"),
        _ => (x, ""),
    };
    let text = format!("{scaled:.2}");
    format!("{}{unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        for (x, expected) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (100.0, "100"),
            (1500.0, "1.5k"),
            (20_000.0, "20k"),
            (1_250_000.0, "1.25M"),
        ] {
            assert_eq!(label(x), expected);
        }
    }

    #[test]
    fn charts_hold_their_lines() {
        let chart = |title: &str, points: Vec<(f64, f64)>| Chart {
            title: title.to_owned(),
            x: "hosts",
            y: "values/s",
            lines: vec![("measured", points), (IDEAL, vec![(0.0, 0.0), (200.0, 20.0)])],
            limits: Vec::new(),
        };
        let text = svg(&[
            chart("One", vec![(100.0, 10.0), (200.0, 19.0)]),
            chart("Two & more", vec![(f64::MIN_POSITIVE, 0.0)]),
        ])
        .unwrap();
        for expected in ["<svg", "One", "Two &amp; more", "measured", "ideal", "values/s"] {
            assert!(text.contains(expected), "{expected}");
        }
        assert!(svg(&[]).unwrap().contains("<svg"));
    }

    #[test]
    fn limits_are_dashed_in_the_colour_of_their_line() {
        let strokes = |limits| {
            let lines = vec![("measured", vec![(1.0, 1.0), (2.0, 1.0)])];
            let chart = Chart { title: String::new(), x: "hosts", y: "%", lines, limits };
            svg(&[chart]).unwrap().matches("#0072B2").count()
        };
        let without = strokes(Vec::new());
        assert!(strokes(vec![("measured", vec![(0.0, 50.0), (2.0, 50.0)])]) > without + 5);
        assert_eq!(strokes(vec![("another", vec![(0.0, 50.0), (2.0, 50.0)])]), without);
    }
}
