//! What a log keeps.

use super::*;
use crate::testing::transaction;
use crate::{Builder, Encoder};

const ALL: Limits = Limits { bytes: u64::MAX, age_us: u64::MAX };

fn block(from: u64) -> Vec<u8> {
    let mut builder = Builder::default();
    (from..from + 100).for_each(|number| builder.push(&transaction(number)));
    builder.finish(&mut Encoder::new().unwrap())
}

fn rows(path: &Path) -> u64 {
    Folder::open(path).unwrap().rows()
}

#[test]
fn a_folder_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let log = Log::open(folder.path(), ALL).unwrap();
    let second = Log::open(folder.path(), ALL).unwrap_err();
    assert_eq!(second.kind(), io::ErrorKind::ResourceBusy);
    assert!(second.to_string().contains("in use by another process"), "{second}");
    drop(log);
    Log::open(folder.path(), ALL).unwrap();
}

#[test]
fn the_log_of_a_process_that_follows_appends_in_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut tail = crate::Tail::new(folder.path(), crate::Position::default());
    let mut old = Log::open(folder.path(), ALL).unwrap();
    old.append(&block(0)).unwrap();
    let mut new = Log::open_beside(folder.path(), ALL).unwrap();
    assert!(Log::open(folder.path(), ALL).is_err());
    let mut read = Vec::new();
    let mut written = vec![block(0)];
    for from in 1..9 {
        let log = if from % 3 == 0 { &mut new } else { &mut old };
        log.append(&block(from * 100)).unwrap();
        written.push(block(from * 100));
        read.extend(std::iter::from_fn(|| tail.read().unwrap()));
    }
    let blocks: Vec<_> = read.into_iter().map(|(_, bytes)| bytes).collect();
    assert!(blocks == written, "a reader finds all blocks in their order");
    assert_eq!(names(folder.path()).unwrap().len(), 2, "the file of the first, that of the second");
    drop(old);
    new.append(&block(900)).unwrap();
    let third = Log::open(folder.path(), ALL).unwrap_err();
    assert_eq!(third.kind(), io::ErrorKind::ResourceBusy, "the folder belongs to the second");
}

#[test]
fn the_oldest_files_go_when_there_are_too_many_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { bytes: 200_000, ..ALL };
    let mut log = Log::open(folder.path(), limits).unwrap();
    for from in 0..200 {
        log.append(&block(from * 100)).unwrap();
        log.delete_old(0).unwrap();
        let bytes: u64 = names(folder.path())
            .unwrap()
            .iter()
            .map(|name| std::fs::metadata(folder.path().join(name)).unwrap().len())
            .sum();
        assert!(bytes <= 200_000, "{bytes} bytes");
    }
    let found = Folder::open(folder.path()).unwrap();
    assert!(found.rows() >= 1_000, "{} rows are left", found.rows());
    let newest = (19_900..20_000).map(|number| transaction(number).began_us).max();
    assert_eq!(found.span().map(|span| span.1), newest);
}

#[test]
fn old_files_go_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    Log::open(folder.path(), ALL).unwrap().append(&block(0)).unwrap();
    let limits = Limits { age_us: 10_000_000, ..ALL };
    let mut log = Log::open(folder.path(), limits).unwrap();
    log.append(&block(100)).unwrap();
    log.delete_old(11_000_000).unwrap();
    assert_eq!(rows(folder.path()), 200, "nothing is older than the limit");
    log.append(&block(200)).unwrap();
    log.delete_old(11_100_000).unwrap();
    assert_eq!(rows(folder.path()), 200, "the file of the first run is");
}

#[test]
fn a_block_that_was_cut_off_hides_no_other() {
    let folder = tempfile::tempdir().unwrap();
    Log::open(folder.path(), ALL).unwrap().append(&block(0)).unwrap();
    let path = file_path(folder.path(), 1);
    let bytes = std::fs::read(&path).unwrap();
    // A crash in the middle of a block, then another run.
    std::fs::write(&path, [&bytes[..], &bytes[..bytes.len() / 2]].concat()).unwrap();
    Log::open(folder.path(), ALL).unwrap().append(&block(100)).unwrap();
    assert_eq!(rows(folder.path()), 200);
}

#[test]
fn a_process_that_dies_within_a_block_hides_none_of_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let mut tail = crate::Tail::new(folder.path(), crate::Position::default());
    let mut old = Log::open(folder.path(), ALL).unwrap();
    old.append(&block(0)).unwrap();
    let mut new = Log::open_beside(folder.path(), ALL).unwrap();
    new.append(&block(100)).unwrap();
    old.append(&block(200)).unwrap();
    let half = block(300);
    let mut file = File::options().append(true).open(file_path(folder.path(), 2)).unwrap();
    file.write_all(&half[..half.len() / 2]).unwrap();
    drop(old);
    for from in [400, 500] {
        new.append(&block(from)).unwrap();
    }
    assert_eq!(rows(folder.path()), 500);
    let read: Vec<_> =
        std::iter::from_fn(|| tail.read().unwrap()).map(|(_, bytes)| bytes).collect();
    assert!(read == [0, 100, 200, 400, 500].map(block));
    assert_eq!(names(folder.path()).unwrap().len(), 3);
}

#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er");
    Log::open(&path, ALL).unwrap().append(&block(0)).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&path), mode(&file_path(&path, 1))), (0o700, 0o600));
}
