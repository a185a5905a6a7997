//! A TCP connection that can be ended from outside, and that does not lose its last bytes when it
//! ends.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;
use tokio_rustls::server::TlsStream;

/// How long an ended connection waits for the peer to end it too.
const LINGER: Duration = Duration::from_secs(1);

/// Ends a connection from outside.
#[derive(Clone, Debug, Default)]
pub struct Cut(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    off: AtomicBool,
    reader: std::sync::Mutex<Option<Waker>>,
}

impl Cut {
    /// Ends the connection and releases its resources. Returns whether it was open before.
    pub fn off(&self) -> bool {
        let first = !self.0.off.swap(true, Ordering::AcqRel);
        let reader = self.0.reader.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(reader) = reader {
            reader.wake();
        }
        first
    }

    /// Whether the connection was ended.
    pub fn is_off(&self) -> bool {
        self.0.off.load(Ordering::Acquire)
    }

    /// Stores the reader's waker. Callers do this before [`is_off`](Self::is_off), so no cut is
    /// missed.
    fn register(&self, reader: &Waker) {
        let mut kept = self.0.reader.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !kept.as_ref().is_some_and(|kept| kept.will_wake(reader)) {
            *kept = Some(reader.clone());
        }
    }
}

/// A TCP connection with its descriptor permit.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    cut: Cut,
    /// The deadline of [`Socket::linger`], set once everything was sent.
    said: Option<Pin<Box<Sleep>>>,
    _descriptor: Option<OwnedSemaphorePermit>,
}

impl Socket {
    pub(crate) fn new(stream: TcpStream, cut: Cut, descriptor: Option<OwnedSemaphorePermit>) -> Self {
        // Otherwise Nagle's algorithm delays small answers.
        let _ = stream.set_nodelay(true);
        Self { stream, cut, said: None, _descriptor: descriptor }
    }

    /// Reads and discards until the peer ends the connection or [`LINGER`] has passed.
    ///
    /// Closing a socket with unread data sends a reset, which can overtake the last answers.
    fn linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let over = self.said.get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER)));
        // Polled first, so a client that never stops sending cannot starve the deadline.
        if over.as_mut().poll(cx).is_ready() || self.cut.is_off() {
            return Poll::Ready(());
        }
        let mut unread = [0; 4096];
        loop {
            let mut buffer = ReadBuf::new(&mut unread);
            match ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => (),
                _ => return Poll::Ready(()),
            }
        }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.cut.register(cx.waker());
        if self.cut.is_off() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.said.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
        }
        self.linger(cx).map(Ok)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// A connection whose handshake is done, with or without TLS.
#[derive(Debug)]
pub struct Stream {
    /// The bytes read to identify the protocol. The protocol reads them again.
    first: Vec<u8>,
    transport: Transport,
}

#[derive(Debug)]
pub(crate) enum Transport {
    Plain(Socket),
    Tls(Box<TlsStream<Socket>>),
}

/// A connection whose first bytes belong to another protocol.
#[derive(Debug)]
pub(crate) struct Foreign {
    pub(crate) stream: Stream,
}

impl Stream {
    /// Reads the client's first bytes, which must equal `expected`. If `expected` is empty, reads
    /// any one byte.
    ///
    /// # Errors
    /// The connection ended before that, or failed.
    pub(crate) async fn open(mut transport: Transport, expected: &[u8]) -> io::Result<Result<Self, Foreign>> {
        let mut first = vec![0; expected.len().max(1)];
        let mut read = 0;
        while read < first.len() {
            let more = match &mut transport {
                Transport::Plain(socket) => socket.read(&mut first[read..]).await?,
                Transport::Tls(stream) => stream.read(&mut first[read..]).await?,
            };
            if more == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            read += more;
            if !expected.is_empty() && first[..read] != expected[..read] {
                first.truncate(read);
                return Ok(Err(Foreign { stream: Self { first, transport } }));
            }
        }
        Ok(Ok(Self { first, transport }))
    }

    /// Returns the client's first bytes.
    pub(crate) fn first(&self) -> &[u8] {
        &self.first
    }
}

macro_rules! transport {
    ($stream:ident, $method:ident $(, $argument:expr)*) => {
        match &mut $stream.get_mut().transport {
            Transport::Plain(socket) => Pin::new(socket).$method($($argument),*),
            Transport::Tls(stream) => Pin::new(&mut **stream).$method($($argument),*),
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if !self.first.is_empty() {
            let count = self.first.len().min(buffer.remaining());
            buffer.put_slice(&self.first[..count]);
            self.first.drain(..count);
            return Poll::Ready(Ok(()));
        }
        transport!(self, poll_read, cx, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        transport!(self, poll_write, cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        transport!(self, poll_flush, cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        transport!(self, poll_shutdown, cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        transport!(self, poll_write_vectored, cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        match &self.transport {
            Transport::Plain(socket) => socket.is_write_vectored(),
            Transport::Tls(stream) => stream.is_write_vectored(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;
    use tokio::net::TcpListener;

    async fn pair() -> (TcpStream, Socket, Cut) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let cut = Cut::default();
        (client, Socket::new(listener.accept().await.unwrap().0, cut.clone(), None), cut)
    }

    #[tokio::test]
    async fn the_last_answer_arrives_although_something_was_left_unread() {
        let (mut client, mut socket, _) = pair().await;
        client.write_all(&[1; 100_000]).await.unwrap();
        let server = tokio::spawn(async move {
            socket.write_all(&[2; 8_000_000]).await.unwrap();
            socket.shutdown().await.unwrap();
        });
        let mut answer = Vec::new();
        // The client reads later than the server writes, so the end of the answer is still in the
        // server's buffers when the server closes.
        tokio::time::sleep(Duration::from_millis(100)).await;
        client.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer.len(), 8_000_000);
        drop(client);
        server.await.unwrap();
    }

    #[tokio::test]
    async fn a_connection_is_ended_from_outside() {
        let (_client, mut socket, cut) = pair().await;
        let reading = tokio::spawn(async move { socket.read_u8().await });
        tokio::task::yield_now().await;
        assert!(cut.off() && !cut.off() && cut.is_off());
        assert_eq!(reading.await.unwrap().unwrap_err().kind(), io::ErrorKind::ConnectionAborted);
    }

    #[tokio::test]
    async fn what_was_read_first_is_read_again() {
        let (mut client, socket, _) = pair().await;
        client.write_all(b"hello, world").await.unwrap();
        let mut stream = Stream::open(Transport::Plain(socket), b"hello").await.unwrap().unwrap();
        let mut text = [0; 12];
        stream.read_exact(&mut text).await.unwrap();
        assert_eq!(&text, b"hello, world");

        let (mut client, socket, _) = pair().await;
        // A wrong byte is enough: it does not wait for the rest.
        client.write_all(b"ha").await.unwrap();
        let foreign = Stream::open(Transport::Plain(socket), b"hello").await.unwrap().unwrap_err();
        assert_eq!(foreign.stream.first(), b"ha");
        let (client, socket, _) = pair().await;
        drop(client);
        let ended = Stream::open(Transport::Plain(socket), b"").await.unwrap_err();
        assert_eq!(ended.kind(), io::ErrorKind::UnexpectedEof);
    }
}
