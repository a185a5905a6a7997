//! A connection to another trustee.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsStream;
use zeroize::Zeroizing;

/// How long trustees wait for a message of a round.
const ROUND_TIMEOUT: Duration = Duration::from_secs(600);
/// How long the last messages may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum bytes of a message: a batch of 65 536 candidates for the longest key.
const MAX_MESSAGE_BYTES: u32 = 1 << 27;

/// A connection to another trustee. Messages are sent in the background while this side computes or
/// waits.
pub(super) struct Link {
    outgoing: UnboundedSender<Vec<u8>>,
    writer: JoinHandle<()>,
    incoming: ReadHalf<TlsStream<TcpStream>>,
}

impl Link {
    /// Starts sending in the background.
    pub(super) fn new(stream: TlsStream<TcpStream>) -> Self {
        let (incoming, mut outward): (_, WriteHalf<_>) = tokio::io::split(stream);
        let (outgoing, mut messages) = unbounded_channel::<Vec<u8>>();
        let writer = tokio::spawn(async move {
            while let Some(message) = messages.recv().await {
                let message = Zeroizing::new(message);
                let length = (message.len() as u32).to_be_bytes();
                let written = async {
                    outward.write_all(&length).await?;
                    outward.write_all(&message).await?;
                    outward.flush().await
                };
                // The receiving side notices that the connection is closed.
                if written.await.is_err() {
                    break;
                }
            }
            let _ = outward.shutdown().await;
        });
        Link { outgoing, writer, incoming }
    }

    /// Sends a message.
    pub(super) fn send(&self, message: Vec<u8>) {
        let _ = self.outgoing.send(message);
    }

    /// Returns the next message, or `None` if it did not arrive in time or the connection ended.
    pub(super) async fn receive(&mut self) -> Option<Vec<u8>> {
        let read = async {
            let length = self.incoming.read_u32().await.ok().filter(|&length| length <= MAX_MESSAGE_BYTES)?;
            let mut message = vec![0; length as usize];
            self.incoming.read_exact(&mut message).await.ok()?;
            Some(message)
        };
        timeout(ROUND_TIMEOUT, read).await.ok().flatten()
    }

    /// Waits until all messages are sent and the other side has closed too.
    ///
    /// Closing a socket with unread bytes resets its connection, and the last messages would never
    /// arrive.
    async fn close(self) {
        let Link { outgoing, writer, mut incoming } = self;
        drop(outgoing);
        let mut rest = Zeroizing::new([0; 4096]);
        let unread = async { while matches!(incoming.read(&mut rest[..]).await, Ok(1..)) {} };
        let _ = timeout(CLOSE_TIMEOUT, async { tokio::join!(writer, unread) }).await;
    }
}

/// Closes all connections concurrently, so no trustee waits for another that is itself waiting.
pub(super) async fn close(links: Vec<Option<Link>>) {
    let closing: Vec<_> = links.into_iter().flatten().map(|link| tokio::spawn(link.close())).collect();
    for link in closing {
        let _ = link.await;
    }
}
