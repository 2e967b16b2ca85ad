//! A connection of which the first bytes were read already.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// Gives the bytes that were read, then what comes.
#[derive(Debug)]
pub(crate) struct Begun {
    stream: TcpStream,
    read: Vec<u8>,
    /// Of `read`, given already.
    given: usize,
}

impl Begun {
    /// Call it within a tokio runtime. The stream does not block.
    pub(crate) fn new(stream: std::net::TcpStream, read: Vec<u8>) -> io::Result<Self> {
        Ok(Self { stream: TcpStream::from_std(stream)?, read, given: 0 })
    }

    /// The first byte, which reading gives again; `None` = the peer has closed.
    pub(crate) async fn first(&self) -> io::Result<Option<u8>> {
        if let Some(first) = self.read.first() {
            return Ok(Some(*first));
        }
        let mut first = [0];
        Ok((self.stream.peek(&mut first).await? > 0).then_some(first[0]))
    }
}

impl AsyncRead for Begun {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let rest = self.read.get(self.given..).unwrap_or_default();
        if rest.is_empty() {
            return Pin::new(&mut self.stream).poll_read(context, buffer);
        }
        let now = rest.len().min(buffer.remaining());
        buffer.put_slice(rest.get(..now).unwrap_or_default());
        self.given += now;
        if self.given == self.read.len() {
            (self.read, self.given) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Begun {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn what_was_read_comes_before_the_rest() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (stream, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let mut begun = Begun::new(stream, b"abc".to_vec()).unwrap();
        peer.write_all(b"def").await.unwrap();
        peer.shutdown().await.unwrap();
        assert_eq!(begun.first().await.unwrap(), Some(b'a'));
        let mut two = [0; 2];
        begun.read_exact(&mut two).await.unwrap();
        let mut rest = Vec::new();
        begun.read_to_end(&mut rest).await.unwrap();
        assert_eq!((&two, &rest[..]), (b"ab", &b"cdef"[..]));
        assert_eq!(begun.first().await.unwrap(), None);
    }
}
