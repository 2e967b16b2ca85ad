use super::*;

fn round_trip(kind: Kind, run: &Run) -> (Run, usize) {
    let mut whole = Vec::new();
    let shape = shape(kind, run, &mut whole);
    let mut builder = Builder::default();
    builder.add(77, kind, run, &shape, &whole);
    let mut bytes = Vec::new();
    builder.finish(shape.likeness, &mut bytes);
    let block = Block::decode(&bytes).unwrap();
    let mut back = Run::default();
    block.read(block.find(77, kind).unwrap(), kind, &mut back).unwrap();
    (back, bytes.len())
}

fn run(values: &[f64], ns: impl Fn(u32) -> u32) -> Run {
    let mut run = Run::default();
    for (i, value) in (0..).zip(values) {
        run.push(at(1000 + i * 10, ns(i)), Raw::Bits(value.to_bits()));
    }
    run
}

fn check(values: &[f64]) -> usize {
    let run = run(values, |_| 0);
    let (back, bytes) = round_trip(Kind::Float, &run);
    assert_eq!((run.clock, run.ns, run.bits), (back.clock, back.ns, back.bits), "{values:?}");
    bytes
}

#[test]
fn floats_of_all_sorts_come_back_bit_for_bit() {
    for values in [
        &[0.0][..],
        &[-0.0],
        &[0.0, -0.0, 0.0],
        &[1.5, f64::NAN, 2.5],
        &[f64::INFINITY, f64::NEG_INFINITY],
        &[f64::MAX, f64::MIN, f64::MIN_POSITIVE, 5e-324],
        &[0.1, 0.12, 0.123, 0.1234, 0.12345, 0.123456],
        &[0.1, 0.2, 0.1 + 0.2],
        &[9.0e15, 9.1e15, 1.0],
        &[1e300, 1e-300],
        &[123_456_789.123_456_78, 1.0],
    ] {
        check(values);
    }
}

#[test]
fn decimals_cost_little() {
    let values: Vec<f64> = (0..5000).map(|i| f64::from(i % 7) / 100.0 + 20.0).collect();
    let bytes = check(&values);
    assert!(bytes < 3000, "{bytes}");
}

#[test]
fn whole_numbers_of_all_sizes_come_back() {
    for values in [
        vec![u64::MAX],
        vec![0, u64::MAX, 0, u64::MAX / 2],
        (0..300).map(|i| i * i * i).collect(),
        vec![1 << 63, 0],
    ] {
        let mut run = Run::default();
        for (i, value) in (0..).zip(&values) {
            run.push(at(u32::MAX - 1000 + i, i), Raw::Bits(*value));
        }
        let (back, _) = round_trip(Kind::Unsigned, &run);
        assert_eq!((back.bits, back.clock, back.ns), (values, run.clock, run.ns));
    }
}

#[test]
fn nanoseconds_have_the_unit_that_fits() {
    let values = [1.0; 100];
    for (unit, ns) in [(0, 0), (1, 7_000_000), (2, 9_000), (3, 1)] {
        let run = run(&values, |i| i * ns);
        assert_eq!(shape(Kind::Float, &run, &mut Vec::new()).likeness.unit, unit);
        assert_eq!(round_trip(Kind::Float, &run).0.ns, run.ns);
    }
}

#[test]
fn damage_is_an_error_not_a_panic() {
    let mut builder = Builder::default();
    let run = run(&[1.0, 2.5, 3.25], |i| i);
    let mut whole = Vec::new();
    let shape = shape(Kind::Float, &run, &mut whole);
    builder.add(1, Kind::Float, &run, &shape, &whole);
    let mut bytes = Vec::new();
    builder.finish(shape.likeness, &mut bytes);
    for len in 0..bytes.len() {
        assert!(Block::decode(&bytes[..len]).is_err(), "cut at {len}");
    }
    let block = Block::decode(&bytes).unwrap();
    assert!(block.read(0, Kind::Text, &mut Run::default()).is_err());
    assert_eq!(block.find(1, Kind::Unsigned), None);
    assert_eq!(block.find(2, Kind::Float), None);
}

/// Reading as far as a run gives what reading all gives.
#[test]
fn a_run_alone_is_the_same_as_within_its_block() {
    for kind in [Kind::Float, Kind::Unsigned, Kind::Text] {
        let mut builder = Builder::default();
        let (mut whole, mut likeness) = (Vec::new(), None);
        for item in 0..40u64 {
            let mut run = Run::default();
            for row in 0..1 + item * 7 {
                let clock = u32::try_from(row * 10 + item).unwrap();
                let text = "t".repeat(usize::try_from((row + item) % 9).unwrap());
                let raw = match kind {
                    Kind::Float => Raw::Bits((0.1 + row as f64).to_bits()),
                    Kind::Text => Raw::Bytes(text.as_bytes()),
                    _ => Raw::Bits(row * row),
                };
                run.push(at(clock, 0), raw);
            }
            let shape = shape(kind, &run, &mut whole);
            likeness.get_or_insert(shape.likeness);
            builder.add(item * 2, kind, &run, &shape, &whole);
        }
        let mut bytes = Vec::new();
        builder.finish(likeness.unwrap(), &mut bytes);
        let all = Block::decode(&bytes).unwrap();
        for item in 0..40 {
            let read = |block: &Block| {
                let mut run = Run::default();
                block.read(block.find(item * 2, kind).unwrap(), kind, &mut run).unwrap();
                (run.clock, run.ns, run.bits, run.bytes)
            };
            let alone = Block::decode_run(&bytes, item * 2, kind).unwrap();
            assert_eq!(read(&alone), read(&all), "{kind:?} {item}");
        }
        assert_eq!(Block::decode_run(&bytes, 3, kind).unwrap().find(3, kind), None);
    }
}
