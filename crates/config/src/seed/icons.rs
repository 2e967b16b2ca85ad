//! The icons of an empty database: names are those that maps and API clients know from Zabbix, the pictures
//! are our own.
//!
//! `icons.txt` has a picture of 16 × 16 signs for each group of names.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use data_encoding::BASE64;

use super::media_types::SeedRow;
use crate::db::Value;
use crate::table;

const PICTURES: &str = include_str!("icons.txt");

/// Columns of [`icon_rows`].
pub(crate) const ICON_COLUMNS: &[&str] = &["imageid", "name", "image"];

/// Signs of a side of a picture.
const SIDE: u32 = 16;

/// Signs with their colours: red, green, blue, opacity.
const COLOURS: &[(u8, [u8; 4])] = &[
    (b'.', [0, 0, 0, 0]),
    (b'#', [0x37, 0x47, 0x4f, 255]),
    (b'o', [0x90, 0xa4, 0xae, 255]),
    (b'-', [0xec, 0xef, 0xf1, 255]),
    (b'+', [0x1e, 0x88, 0xe5, 255]),
    (b'*', [0x43, 0xa0, 0x47, 255]),
    (b'!', [0xe6, 0x4a, 0x19, 255]),
];

/// Lengths of a side in pixels, in the order of their names as texts.
const SIZES: &[u32] = &[128, 24, 48, 64, 96];

/// Icons with these beginnings have no small sizes.
const LARGE: &[&str] = &["Rack", "Zabbix"];

fn sizes_of(name: &str) -> impl Iterator<Item = u32> {
    let is_large = LARGE.iter().any(|start| name.starts_with(start));
    SIZES.iter().copied().filter(move |size| !is_large || *size >= 64)
}

/// Rows of the table `images`, the same in each database.
pub(crate) fn icon_rows() -> &'static [SeedRow] {
    static ROWS: OnceLock<Vec<SeedRow>> = OnceLock::new();
    ROWS.get_or_init(|| {
        let mut pictures = BTreeMap::new();
        for block in PICTURES.split("\n\n") {
            let (names, picture) = block.split_once('\n').unwrap_or((block, ""));
            pictures.extend(names.split(' ').map(|name| (name, picture)));
        }
        let all = pictures.iter().flat_map(|(name, picture)| {
            sizes_of(name).map(move |size| (format!("{name}_({size})"), drawn(picture, size)))
        });
        let row = |(id, (name, png)): (u64, (String, Vec<u8>))| -> SeedRow {
            let image = BASE64.encode(&png);
            let values = [Value::from(id), name.into(), image.into()];
            (&table::IMAGES, ICON_COLUMNS.iter().copied().zip(values).collect())
        };
        (1..).zip(all).map(row).collect()
    })
}

/// A picture of `size` × `size` pixels, as PNG.
fn drawn(picture: &str, size: u32) -> Vec<u8> {
    let place = |sign| COLOURS.iter().position(|(known, _)| *known == sign).unwrap_or(0);
    let of_line = |line: &str| -> Vec<u8> {
        let signs: Vec<u8> =
            line.bytes().map(|sign| u8::try_from(place(sign)).unwrap_or(0)).collect();
        let at = |x: u32| signs.get((x * SIDE / size) as usize).copied().unwrap_or(0);
        (0..size).map(at).collect()
    };
    let lines: Vec<Vec<u8>> = picture.lines().map(of_line).collect();
    let rows = (0..size).filter_map(|y| lines.get((y * SIDE / size) as usize));
    let pixels: Vec<u8> = rows.flatten().copied().collect();
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, size, size);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder
        .set_palette(COLOURS.iter().flat_map(|(_, [r, g, b, _])| [*r, *g, *b]).collect::<Vec<_>>());
    encoder.set_trns(COLOURS.iter().map(|(_, colour)| colour[3]).collect::<Vec<_>>());
    let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&pixels));
    written.expect("BUG: a picture of as many pixels as it has");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_sixteen_lines_of_known_signs() {
        for block in PICTURES.split("\n\n") {
            let lines: Vec<&str> = block.lines().collect();
            assert_eq!(lines.len(), 17, "{block}");
            for line in &lines[1..] {
                let is_known = |sign| COLOURS.iter().any(|(known, _)| *known == sign);
                assert!(line.len() == 16 && line.bytes().all(is_known), "{} {line}", lines[0]);
            }
        }
    }

    #[test]
    fn icons_have_the_names_ids_and_sizes_of_the_field() {
        let name = |(_, row): &SeedRow| row[1].1.to_string();
        let rows = icon_rows();
        assert_eq!(rows.len(), 187);
        for (id, wanted) in [(4, "Cloud_(64)"), (150, "Server_(64)"), (155, "Switch_(64)")] {
            assert_eq!(name(&rows[id - 1]), wanted);
        }
        let mut bytes = 0;
        for (_, row) in rows {
            let image = BASE64.decode(row[2].1.to_string().as_bytes()).unwrap();
            let decoder = png::Decoder::new(std::io::Cursor::new(&image));
            let mut reader = decoder.read_info().unwrap();
            let (width, height) = reader.info().size();
            assert!(width == height && row[1].1.to_string().ends_with(&format!("_({width})")));
            let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut pixels).unwrap();
            bytes += image.len();
        }
        assert!(bytes < 200_000, "{bytes}");
    }
}
