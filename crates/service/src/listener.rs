//! Connections: how many there are, and which of them came too late.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::server::Connected;

use crate::metrics::Metrics;

/// A connection. It counts as a client as long as it is open.
#[derive(Debug)]
pub(crate) struct Socket {
    stream: TcpStream,
    /// Whether there is no room for it, of which it is told.
    surplus: bool,
    _place: OwnedSemaphorePermit,
    metrics: Arc<Metrics>,
}

/// What handlers learn of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Client {
    /// Whether it came when there was no room.
    pub(crate) surplus: bool,
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
            let socket = Socket { stream, surplus, _place: place, metrics: metrics.clone() };
            if sender.send(Ok(socket)).await.is_err() {
                return;
            }
        }
    });
    ReceiverStream::new(sockets)
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.metrics.clients.dec();
    }
}

impl Connected for Socket {
    type ConnectInfo = Client;

    fn connect_info(&self) -> Client {
        Client { surplus: self.surplus }
    }
}

impl AsyncRead for Socket {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
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
        Pin::new(&mut self.stream).poll_shutdown(cx)
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
