//! Answers through an outlet.

use futures_util::StreamExt;

use super::*;
use crate::answer::Answer;

const KIB: usize = 1024;

/// Takes all of the room.
fn occupy(room: &Room) -> OwnedSemaphorePermit {
    let kib = u32::try_from(room.kib).unwrap();
    Arc::clone(&room.permits).try_acquire_many_owned(kib).unwrap()
}

/// The body as a client gets it, block by block; `None` = it broke off.
async fn read(body: Body) -> Option<Vec<u8>> {
    let (mut blocks, mut bytes) = (body.into_data_stream(), Vec::new());
    while let Some(block) = blocks.next().await {
        bytes.extend_from_slice(&block.ok()?);
    }
    Some(bytes)
}

fn write(answer: &Answer, bytes: usize) -> ApiResult<()> {
    answer.write(|text| text.resize(text.len() + bytes, b'x'))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_answer_passes_through_little_room() {
    let room = Room::new(128 * KIB);
    let (blocks, mut pieces) = outlet(&room, &HeaderMap::new(), Vec::new());
    let work = tokio::task::spawn_blocking(move || {
        let answer = Answer::through(Box::new(blocks));
        let written = (0..5_000).all(|_| write(&answer, KIB).is_ok());
        answer.end();
        written
    });
    assert!(matches!(pieces.first().await, Some(Sent::Stream(None))));
    let body = read(pieces.into_body(())).await.unwrap();
    assert!(body.len() == 5_000 * KIB && body.iter().all(|byte| *byte == b'x'));
    assert!(work.await.unwrap());
    assert_eq!(room.permits.available_permits(), room.kib);
}

#[tokio::test(flavor = "multi_thread")]
async fn small_answers_need_no_room() {
    let room = Room::new(128 * KIB);
    let _all = occupy(&room);
    let (blocks, mut pieces) = outlet(&room, &HeaderMap::new(), Vec::new());
    let answer = Answer::through(Box::new(blocks));
    write(&answer, 60 * KIB).unwrap();
    answer.end();
    let Some(Sent::Whole(None, bytes)) = pieces.first().await else { panic!("no whole answer") };
    assert_eq!(bytes.len(), 60 * KIB);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_room_is_an_error_that_can_be_sent() {
    let room = Room { patience: Duration::ZERO, ..Room::new(128 * KIB) };
    let _all = occupy(&room);
    let (blocks, mut pieces) = outlet(&room, &HeaderMap::new(), Vec::new());
    let work = tokio::task::spawn_blocking(move || {
        let answer = Answer::through(Box::new(blocks));
        answer.start_call();
        let error = write(&answer, 64 * KIB).unwrap_err();
        assert!(answer.undo_call());
        answer.write(|text| text.extend_from_slice(error.data.as_bytes())).unwrap();
        answer.end();
    });
    let Some(Sent::Whole(_, bytes)) = pieces.first().await else { panic!("no whole answer") };
    work.await.unwrap();
    assert!(
        String::from_utf8(bytes).unwrap().starts_with("There is no memory for this answer now")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_ends_with_its_client() {
    let room = Room::new(128 * KIB);
    let (blocks, mut pieces) = outlet(&room, &HeaderMap::new(), Vec::new());
    let work = tokio::task::spawn_blocking(move || {
        let answer = Answer::through(Box::new(blocks));
        // Without the error, it would write for ever.
        while write(&answer, 32 * KIB).is_ok() {}
    });
    assert!(matches!(pieces.first().await, Some(Sent::Stream(None))));
    drop(pieces);
    work.await.unwrap();
    assert_eq!(room.permits.available_permits(), room.kib);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_off_breaks_its_body() {
    let room = Room::new(256 * KIB);
    let (blocks, mut pieces) = outlet(&room, &HeaderMap::new(), Vec::new());
    let answer = Answer::through(Box::new(blocks));
    write(&answer, 100 * KIB).unwrap();
    drop(answer);
    assert!(matches!(pieces.first().await, Some(Sent::Stream(None))));
    assert!(read(pieces.into_body(())).await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_answer_lets_another_call_work() {
    let room = Room::new(1024 * KIB);
    let calls = Arc::new(Semaphore::new(1));
    let call = Arc::clone(&calls).try_acquire_owned().unwrap();
    let (blocks, mut pieces) = outlet(&room, &HeaderMap::new(), vec![call]);
    let work = tokio::task::spawn_blocking(move || {
        let answer = Answer::through(Box::new(blocks));
        (0..20).for_each(|_| write(&answer, 64 * KIB).unwrap());
        answer.end();
    });
    // The client does not read yet: only a call that waits gives its permit back.
    let other = calls.acquire().await.unwrap();
    assert!(matches!(pieces.first().await, Some(Sent::Stream(None))));
    drop(other);
    let body = read(pieces.into_body(())).await.unwrap();
    assert_eq!(body.len(), 20 * 64 * KIB);
    work.await.unwrap();
    assert_eq!(calls.available_permits(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_run_ahead_of_clients_while_memory_lasts() {
    let block = u32::try_from(BLOCK_BYTES / KIB).unwrap();
    let room = Room::new(256 * BLOCK_BYTES);
    let (mut blocks, pieces) = outlet(&room, &HeaderMap::new(), Vec::new());
    let others = Arc::clone(&room.permits).try_acquire_many_owned(100 * block).unwrap();
    for _ in 0..20 {
        assert!(!blocks.is_full());
        blocks.send(&[b'x'; BLOCK_BYTES]).unwrap();
    }
    // Others need it.
    let more = Arc::clone(&room.permits).try_acquire_many_owned(10 * block).unwrap();
    assert!(blocks.is_full());
    drop(more);
    assert!(!blocks.is_full());
    drop(others);
    while !blocks.is_full() {
        blocks.send(&[b'x'; BLOCK_BYTES]).unwrap();
    }
    let held = room.kib - room.permits.available_permits();
    assert!(held < BLOCKS_AHEAD_MAX * BLOCK_BYTES / KIB, "{held}");
    drop(pieces);
    assert!(blocks.send(&[b'x'; BLOCK_BYTES]).is_err());
}
