use super::*;
use crate::rows::value_of;
use model::SampleValue;

fn run_of(rows: &[(u32, u32, Raw<'_>)]) -> Run {
    let mut run = Run::default();
    rows.iter().for_each(|&(clock, ns, raw)| run.push(at(clock, ns), raw));
    run
}

/// What a page has of an item: moments and values, oldest first; `None` = in the block.
fn all(page: &Page, item: u64, kinds: Kinds) -> Vec<Option<(Timestamp, SampleValue)>> {
    let mut found = Vec::new();
    for series in page.find(item, kinds, &mut 0) {
        match series {
            Found::Here(kind, rows) => {
                let rows = rows.into_iter().flatten();
                found.extend(rows.map(|(at, raw)| Some((at, value_of(kind, raw).unwrap()))));
            }
            Found::Elsewhere(_) => found.push(None),
        }
    }
    found
}

fn float(value: f64) -> Raw<'static> {
    Raw::Bits(value.to_bits())
}

fn page() -> (u64, Vec<u8>) {
    let mut builder = Builder::default();
    let long = "x".repeat(TEXT_MAX + 1);
    builder.push(5, Kind::Float, &run_of(&[(7, 9, float(0.25))]));
    builder.push(5, Kind::Unsigned, &run_of(&[(1, 0, Raw::Bits(1)), (2, 5, Raw::Bits(u64::MAX))]));
    builder.push(5, Kind::Text, &run_of(&[(3, 1, Raw::Bytes(b"a")), (4, 0, Raw::Bytes(b""))]));
    builder.push(5, Kind::UnsignedNum, &run_of(&[(0, 0, Raw::Bits(8))]));
    let many: Vec<_> = (0..100).map(|i| (i * 60, i, float(f64::from(i) / 8.0))).collect();
    builder.push(9, Kind::Float, &run_of(&many));
    let odd = [(1, 999_999_999, float(f64::NAN)), (2, 0, float(1e300))];
    builder.push(u64::MAX, Kind::Float, &run_of(&odd));
    let texts = [(1, 0, Raw::Bytes(b"short")), (2, 0, Raw::Bytes(long.as_bytes()))];
    builder.push(u64::MAX, Kind::Text, &run_of(&texts));
    let mut pages = builder.finish();
    assert_eq!(pages.len(), 1);
    pages.remove(0)
}

#[test]
fn the_newest_two_rows_of_each_series_come_back() {
    let (first, bytes) = page();
    assert_eq!(first, 5);
    let page = Page::decode(&bytes, first).unwrap();
    let float = |clock, ns, value| Some((at(clock, ns), SampleValue::Float(value)));
    let whole = |clock, ns, value| Some((at(clock, ns), SampleValue::Unsigned(value)));
    let text = |clock, ns, text: &str| Some((at(clock, ns), SampleValue::Text(text.into())));
    let numbers = [float(7, 9, 0.25), whole(1, 0, 1), whole(2, 5, u64::MAX)];
    assert_eq!(all(&page, 5, Kinds::NUMBERS), numbers);
    assert_eq!(all(&page, 5, Kinds::from(Kind::Text)), [text(3, 1, "a"), text(4, 0, "")]);
    assert_eq!(all(&page, 5, Kinds::TRENDS), []);
    let expected = [float(98 * 60, 98, 98.0 / 8.0), float(99 * 60, 99, 99.0 / 8.0)];
    assert_eq!(all(&page, 9, Kinds::ALL), expected);
    let last = all(&page, u64::MAX, Kinds::ALL);
    assert_eq!((&last[1..], last.len()), (&[float(2, 0, 1e300), None][..], 3));
    assert_eq!(last[0].as_ref().unwrap().0, at(1, 999_999_999));
    for item in [0, 4, 6, 8, 10, u64::MAX - 1] {
        assert_eq!(all(&page, item, Kinds::ALL), [], "{item}");
    }
    // In one go, as many items are looked for.
    let mut from = 0;
    let found: Vec<usize> = [4, 5, 7, 9, 10, u64::MAX]
        .into_iter()
        .map(|item| page.find(item, Kinds::ALL, &mut from).count())
        .collect();
    assert_eq!(found, [0, 3, 0, 1, 0, 2]);
}

#[test]
fn many_series_make_many_pages_and_no_item_is_torn() {
    let mut builder = Builder::default();
    let items = (PAGE_SERIES as u64) * 2;
    for item in 0..items {
        let clock = u32::try_from(item % 1000).unwrap();
        builder.push(item * 3, Kind::Float, &run_of(&[(clock, 0, float(0.5))]));
        builder.push(item * 3, Kind::Unsigned, &run_of(&[(clock, 1, Raw::Bits(item))]));
        builder.push(item * 3, Kind::Log, &run_of(&[]));
    }
    let pages = builder.finish();
    assert_eq!(pages.len(), 4);
    let mut found = 0;
    for (page, (first, bytes)) in pages.iter().enumerate() {
        let page_read = Page::decode(bytes, *first).unwrap();
        assert!(page_read.memory() > PAGE_SERIES * 40);
        let till = pages.get(page + 1).map_or(u64::MAX, |(first, _)| *first);
        for item in (0..items).map(|item| item * 3).filter(|item| (*first..till).contains(item)) {
            assert_eq!(all(&page_read, item, Kinds::ALL).len(), 2, "{item}");
            found += 1;
        }
    }
    assert_eq!(found, items);
}

#[test]
fn damage_is_an_error_not_a_panic() {
    let (first, bytes) = page();
    for len in 0..bytes.len() {
        assert!(Page::decode(&bytes[..len], first).is_err(), "cut at {len}");
    }
    for at in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[at] ^= 1 << (at % 8);
        // The checksum finds it before; whatever comes out here, it is no panic.
        if let Ok(page) = Page::decode(&bytes, first) {
            let find = |item| page.find(item, Kinds::ALL, &mut 0).count();
            assert!([5, 9, u64::MAX].into_iter().map(find).sum::<usize>() < 100);
        }
    }
}
