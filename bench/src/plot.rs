//! Plots of times by size, as SVG: both axes logarithmic.

use std::fmt::Write;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 560.0;
/// Margins for numbers and names around the plotting area.
const LEFT: f64 = 80.0;
const RIGHT: f64 = 190.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 56.0;
/// Colours that readers with colour vision deficiency can distinguish, plus dashes (Okabe and
/// Ito's).
const STYLES: [(&str, &str); 6] =
    [("#0072b2", ""), ("#0072b2", "7 4"), ("#d55e00", ""), ("#d55e00", "7 4"), ("#009e73", ""), ("#cc79a7", "")];

/// A line of a plot.
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its points, from left to right, all positive.
    pub points: Vec<(f64, f64)>,
}

/// Plots lines, each with at least one point. `label` is the text for screen readers.
pub fn log_log(label: &str, x_name: &str, y_name: &str, lines: &[Line]) -> String {
    let axis = |pick: fn(&(f64, f64)) -> f64| {
        let logs = lines.iter().flat_map(|line| &line.points).map(|point| pick(point).log10());
        let (least, most) = logs.fold((f64::MAX, f64::MIN), |(least, most), log| (least.min(log), most.max(log)));
        (least.floor() as i32, most.ceil().max(least.floor() + 1.0) as i32)
    };
    let (xs, ys) = (axis(|point| point.0), axis(|point| point.1));
    let share = |log: f64, (least, most): (i32, i32)| (log - f64::from(least)) / f64::from(most - least);
    let x = |log: f64| LEFT + share(log, xs) * (WIDTH - LEFT - RIGHT);
    let y = |log: f64| HEIGHT - BOTTOM - share(log, ys) * (HEIGHT - TOP - BOTTOM);
    let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"Helvetica, Arial, sans-serif\" \
         font-size=\"14\" fill=\"#1f2d3a\" role=\"img\" aria-label=\"{label}\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         fill=\"#fbfcfd\"/>\n"
    );
    let mut put = |text: String| svg.write_str(&text).expect("a string takes all");
    for log in xs.0..=xs.1 {
        let at = x(f64::from(log));
        put(format!("<path d=\"M{at:.1} {TOP}V{bottom}\" stroke=\"#d5dde5\"/>\n"));
        put(format!("<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n", bottom + 20.0, power(log)));
    }
    for log in ys.0..=ys.1 {
        let at = y(f64::from(log));
        put(format!("<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#d5dde5\"/>\n"));
        put(format!("<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n", LEFT - 8.0, at + 5.0, power(log)));
    }
    let middle = (TOP + bottom) / 2.0;
    put(format!(
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{x_name}</text>\n",
        (LEFT + right) / 2.0,
        HEIGHT - 12.0
    ));
    put(format!("<text transform=\"translate(20 {middle:.1}) rotate(-90)\" text-anchor=\"middle\">{y_name}</text>\n"));
    for (i, line) in lines.iter().enumerate() {
        let (colour, dashes) = STYLES[i % STYLES.len()];
        let stroke = format!("stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\" fill=\"none\"");
        let points = line.points.iter().map(|point| format!("{:.1},{:.1}", x(point.0.log10()), y(point.1.log10())));
        put(format!("<polyline points=\"{}\" {stroke}/>\n", points.collect::<Vec<_>>().join(" ")));
        let at = TOP + 16.0 + 24.0 * i as f64;
        put(format!("<path d=\"M{:.1} {at:.1}h30\" {stroke}/>\n", right + 14.0));
        put(format!("<text x=\"{:.1}\" y=\"{:.1}\">{}</text>\n", right + 52.0, at + 5.0, line.name));
    }
    svg + "</svg>\n"
}

fn power(log: i32) -> String {
    format!("10<tspan dy=\"-6\" font-size=\"10\">{log}</tspan>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_where_they_should_be() {
        let line = |name: &str, points: &[(f64, f64)]| Line { name: name.into(), points: points.into() };
        let svg =
            log_log("l", "x", "y", &[line("one", &[(10.0, 1.0), (1000.0, 100.0)]), line("two", &[(100.0, 10.0)])]);
        // The corners of the plotting area, and its centre.
        assert!(svg.contains("points=\"80.0,504.0 670.0,24.0\""), "{svg}");
        assert!(svg.contains("points=\"375.0,264.0\""), "{svg}");
        assert!(svg.contains(">one</text>") && svg.ends_with("</svg>\n"));
    }
}
