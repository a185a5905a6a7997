//! Connections: how many there are, and which of them came too late.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::Sleep;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;

use crate::metrics::Metrics;

/// How long an ended connection waits for the other side to end it too.
const LINGER: Duration = Duration::from_secs(1);

/// A connection. It counts as a client as long as it is open.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    client: Client,
    /// Since all was said: see [`Socket::linger`].
    said: Option<Pin<Box<Sleep>>>,
    _place: OwnedSemaphorePermit,
    metrics: Arc<Metrics>,
}

/// What handlers learn of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Client {
    /// Whether it came when there was no room, of which it is told.
    pub(crate) surplus: bool,
    cut: Arc<Cut>,
}

/// How a connection is told to end.
#[derive(Debug, Default)]
struct Cut {
    off: AtomicBool,
    reader: AtomicWaker,
}

impl Client {
    /// Ends the connection, and with it all that is kept for it.
    pub(crate) fn cut_off(&self, metrics: &Metrics) {
        if !self.cut.off.swap(true, Ordering::AcqRel) {
            metrics.cut_off.inc();
            tracing::info!("a client that does not read is cut off");
        }
        self.cut.reader.wake();
    }

    /// Whether it was ended.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.cut.off.load(Ordering::Acquire)
    }
}

/// Connections as they come. As many as `clients` have a place, as many again are let in as surplus, further ones are closed.
pub(crate) fn accept(
    listener: TcpListener,
    clients: usize,
    metrics: Arc<Metrics>,
) -> ReceiverStream<Result<Socket, io::Error>> {
    let (sender, sockets) = mpsc::channel(1);
    let (places, more) = (Arc::new(Semaphore::new(clients)), Arc::new(Semaphore::new(clients)));
    tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = sender.closed() => return,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Most often too many open files: it passes.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    continue;
                }
            };
            let place = places.clone().try_acquire_owned().map(|place| (place, false));
            let place = place.or_else(|_| more.clone().try_acquire_owned().map(|place| (place, true)));
            let Ok((place, surplus)) = place else { continue };
            // Without it small answers wait for one another.
            let _ = stream.set_nodelay(true);
            metrics.clients.inc();
            let client = Client { surplus, ..Client::default() };
            let socket = Socket { stream, client, said: None, _place: place, metrics: metrics.clone() };
            if sender.send(Ok(socket)).await.is_err() {
                return;
            }
        }
    });
    ReceiverStream::new(sockets)
}

impl Socket {
    /// Reads what still comes, to no end, until the other side has nothing more to say or the time is over.
    ///
    /// A socket that is closed with something unread is reset, and the reset overtakes the last answers.
    fn linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let over = self.said.get_or_insert_with(|| Box::pin(tokio::time::sleep(LINGER)));
        // Asked first: a client that never stops sending does not keep it from being heard.
        if over.as_mut().poll(cx).is_ready() || self.client.is_cut_off() {
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

impl Drop for Socket {
    fn drop(&mut self) {
        self.metrics.clients.dec();
    }
}

impl Connected for Socket {
    type ConnectInfo = Client;

    fn connect_info(&self) -> Client {
        self.client.clone()
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        // Noted before it is looked at, so that no end is missed.
        self.client.cut.reader.register(cx.waker());
        if self.client.is_cut_off() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio_stream::StreamExt;

    #[tokio::test]
    async fn the_last_answer_arrives_although_something_was_left_unread() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let mut sockets = accept(listener, 1, Arc::new(Metrics::default()));
        let mut socket = sockets.next().await.unwrap().unwrap();
        client.write_all(&[1; 100_000]).await.unwrap();
        let server = tokio::spawn(async move {
            socket.write_all(&[2; 8_000_000]).await.unwrap();
            socket.shutdown().await.unwrap();
        });
        let mut answer = Vec::new();
        // Slower than the server: the end of the answer waits in its buffers when it has said all.
        tokio::time::sleep(Duration::from_millis(100)).await;
        client.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer.len(), 8_000_000);
        drop(client);
        server.await.unwrap();
    }
}
