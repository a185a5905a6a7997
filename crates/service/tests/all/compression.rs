//! Requests may be compressed. Limits apply to their decompressed size.

use std::io::Write;

use crate::common::*;
use hearith_service::proto::paillier_client::PaillierClient;
use hearith_service::proto::{EncryptRequest, RegisterKeyRequest};
use hearith_service::server::Server;
use prost::Message;
use prost::bytes::Bytes;
use tonic::codec::CompressionEncoding;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};

async fn client(server: &Server) -> PaillierClient<Channel> {
    let channel = Endpoint::from_shared(url(server)).unwrap().connect().await.unwrap();
    PaillierClient::new(channel).send_compressed(CompressionEncoding::Gzip).accept_compressed(CompressionEncoding::Gzip)
}

/// Encrypts numbers from a client that compresses. The answer is not compressed, since its size
/// would reveal something about its numbers.
async fn encrypt(server: &Server, plaintexts: Bytes) -> Result<Vec<u8>, Status> {
    let mut client = client(server).await;
    let n = KEY.public().modulus_be().to_vec().into();
    let key = client.register_key(RegisterKeyRequest { n, ..Default::default() }).await?.into_inner().key;
    let request = EncryptRequest { key, plaintexts };
    let answer = client.encrypt(tokio_stream::once(request)).await?;
    assert_eq!(answer.metadata().get("grpc-encoding"), None);
    let mut answers = answer.into_inner();
    Ok(answers.message().await?.expect("one answer").ciphertexts.to_vec())
}

#[test]
fn requests_are_read_compressed() {
    let server = start();
    let plaintexts = plaintexts(KEY.public(), 100);
    let bytes = block_on(encrypt(&server, plaintexts.to_be_bytes().to_vec().into())).unwrap();
    let ciphertexts = KEY.public().ciphertexts_from_be(&bytes).unwrap();
    assert_eq!(opened(&KEY, &ciphertexts), numbers(100));
}

#[test]
fn a_message_is_as_large_as_it_is_without_compression() {
    let server = start_with(|options| options.limits.message_bytes = 64 << 10);
    let row = BITS as usize / 8;
    let fits = block_on(encrypt(&server, vec![0; 1000 * row].into())).unwrap();
    assert_eq!(fits.len(), 1000 * 2 * row);
    let status = block_on(encrypt(&server, vec![0; 64 << 20].into())).unwrap_err();
    assert_eq!(status.code(), Code::OutOfRange, "{status}");
    assert!(status.message().contains("larger than 65536 bytes"), "{status}");
    assert!(block_on(encrypt(&server, vec![0; row].into())).is_ok(), "others are not disturbed");
}

/// A body that is not gzip, or continues after its end, is rejected.
#[test]
fn broken_compression_is_a_bad_request() {
    let server = start();
    let message = EncryptRequest { key: String::new(), plaintexts: vec![1; 999].into() }.encode_to_vec();
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(&message).unwrap();
    let good = encoder.finish().unwrap();
    for (what, body) in [("none", b"plain".to_vec()), ("cut", good[..good.len() / 2].to_vec()), ("empty", Vec::new())] {
        let status = block_on(raw(&server, body));
        assert_eq!(status, "3", "{what}");
    }
}

/// Returns the gRPC status for a body that is marked as compressed.
async fn raw(server: &Server, body: Vec<u8>) -> String {
    use http_body_util::{BodyExt, Full};
    use hyper_util::client::legacy::Client;
    use hyper_util::rt::TokioExecutor;
    let mut frame = vec![1];
    frame.extend((body.len() as u32).to_be_bytes());
    frame.extend(body);
    let client = Client::builder(TokioExecutor::new()).http2_only(true).build_http();
    let request = axum::http::Request::post(format!("{}/hearith.v1.Paillier/Encrypt", url(server)))
        .header("content-type", "application/grpc")
        .header("grpc-encoding", "gzip")
        .header("te", "trailers")
        .body(Full::new(Bytes::from(frame)))
        .unwrap();
    let answer = client.request(request).await.unwrap();
    let headers = answer.headers().clone();
    let collected = answer.into_body().collect().await.unwrap();
    let status = headers.get("grpc-status").or_else(|| collected.trailers()?.get("grpc-status"));
    status.expect("a status").to_str().unwrap().to_owned()
}
