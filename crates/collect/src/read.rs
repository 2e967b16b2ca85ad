//! Reading without a buffer that waits.

use std::future::poll_fn;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::ready;

use tokio::io::{AsyncRead, ReadBuf};

/// Reads once into a buffer on the stack, so that a waiting connection holds none.
pub async fn read_some<S, R>(stream: &mut S, take: impl FnOnce(&[u8]) -> R) -> std::io::Result<R>
where
    S: AsyncRead + Unpin,
{
    const BYTES: usize = 32 * 1024;
    let mut take = Some(take);
    poll_fn(|cx| {
        let mut space = [const { MaybeUninit::<u8>::uninit() }; BYTES];
        let mut buffer = ReadBuf::uninit(&mut space);
        ready!(Pin::new(&mut *stream).poll_read(cx, &mut buffer))?;
        let take = take.take().expect("BUG: polled after it was ready");
        std::task::Poll::Ready(Ok(take(buffer.filled())))
    })
    .await
}
