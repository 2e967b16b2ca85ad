//! SVG to PNG, with a font of our own: what a plot looks like depends on no machine.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

/// Latin letters, digits and signs of DejaVu Sans (its licence stands beside it).
const FONT: &[u8] = include_bytes!("../font/DejaVuSans-subset.ttf");
const FAMILY: &str = "DejaVu Sans";
/// Pixels of the picture for one of the drawing: sharp on a projector.
const SCALE: f32 = 2.0;
/// Larger drawings are refused; a picture takes four bytes a pixel.
const SIDE_MAX: f32 = 16_000.0;

/// The drawing on white, twice as large.
///
/// # Errors
/// When the text is no SVG, or one of more than 16,000 pixels a side.
pub fn png(svg: &str) -> anyhow::Result<Vec<u8>> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    let options =
        Options { font_family: FAMILY.to_owned(), fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).context("the plot is no SVG")?;
    let (width, height) = (tree.size().width() * SCALE, tree.size().height() * SCALE);
    if width > SIDE_MAX || height > SIDE_MAX {
        bail!("a plot of {width} x {height} pixels is too large for a picture");
    }
    let mut pixels =
        Pixmap::new(width.ceil() as u32, height.ceil() as u32).context("the plot has no size")?;
    pixels.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().context("cannot write the picture")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dark_pixels(text: &str) -> usize {
        let svg = format!(
            r#"<svg width="200" height="40" xmlns="http://www.w3.org/2000/svg">
                <text x="5" y="30" font-family="sans-serif" font-size="20">{text}</text></svg>"#
        );
        let picture = Pixmap::decode_png(&png(&svg).unwrap()).unwrap();
        assert_eq!((picture.width(), picture.height()), (400, 80));
        picture.pixels().iter().filter(|pixel| pixel.red() < 128).count()
    }

    #[test]
    fn text_is_drawn_without_fonts_of_the_machine() {
        assert_eq!(dark_pixels(""), 0);
        let (one, two) = (dark_pixels("values"), dark_pixels("values/s \u{2264} 5 \u{d7}"));
        assert!(one > 100 && two > one, "{one} {two}");
    }

    #[test]
    fn what_is_refused() {
        for svg in [
            "",
            "no drawing",
            r#"<svg width="9000" height="10" xmlns="http://www.w3.org/2000/svg"/>"#,
        ] {
            assert!(png(svg).is_err(), "{svg}");
        }
    }
}
