//! Spans at an independent collector, built from OpenTelemetry's own definition of the protocol.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use crate::common::*;
use hearith_service::proto::paillier_client::PaillierClient;
use hearith_service::proto::{EncryptRequest, RegisterKeyRequest};
use hearith_service::server::{Error, Server};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{TraceService, TraceServiceServer};
use opentelemetry_proto::tonic::collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use tonic::{Request, Response, Status};

#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<ExportTraceServiceRequest>>>);

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        self.0.lock().unwrap().push(request.into_inner());
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    /// Listens in the background until the tests end.
    fn start(&self) -> SocketAddr {
        let service = TraceServiceServer::new(self.clone());
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            block_on(async {
                let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
                sender.send(listener.local_addr().unwrap()).unwrap();
                let router = tonic::service::Routes::new(service).into_axum_router();
                axum::serve(listener, router).await.unwrap();
            });
        });
        receiver.recv().unwrap()
    }

    fn spans(&self) -> Vec<Span> {
        let requests = self.0.lock().unwrap();
        let scopes = requests.iter().flat_map(|request| &request.resource_spans).flat_map(|spans| &spans.scope_spans);
        scopes.flat_map(|scope| scope.spans.clone()).collect()
    }
}

fn attribute(span: &Span, key: &str) -> Option<Value> {
    span.attributes.iter().find(|attribute| attribute.key == key)?.value.clone()?.value
}

/// Encrypts five rows within a client's trace.
fn encrypt_traced(server: &Server, parent: &str) {
    block_on(async {
        let channel = tonic::transport::Endpoint::from_shared(url(server)).unwrap().connect().await.unwrap();
        let mut client = PaillierClient::new(channel);
        let n = KEY.public().modulus_be().to_vec().into();
        let key = client.register_key(RegisterKeyRequest { n, ..Default::default() }).await.unwrap().into_inner().key;
        let plaintexts = plaintexts(KEY.public(), 5).to_be_bytes().to_vec().into();
        let mut request = Request::new(tokio_stream::once(EncryptRequest { key, plaintexts }));
        request.metadata_mut().insert("traceparent", parent.parse().unwrap());
        let mut answers = client.encrypt(request).await.unwrap().into_inner();
        answers.message().await.unwrap().unwrap();
    });
}

#[test]
fn requests_are_spans_of_their_clients_traces() {
    let collector = Collector::default();
    let address = collector.start();
    let server = start_with(|options| options.collector = Some(address));
    encrypt_traced(&server, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    let ciphertexts = remote(&server, DJN.public()).encrypt(&plaintexts(DJN.public(), 2)).unwrap();
    remote(&server, DJN.public()).decrypt(&ciphertexts).unwrap_err();
    assert!(server.stop());
    let spans = collector.spans();
    let five = spans.iter().find(|span| attribute(span, "hearith.rows") == Some(Value::IntValue(5))).unwrap();
    assert_eq!((five.name.as_str(), hex(&five.trace_id)), ("encrypt", "0af7651916cd43dd8448eb211c80319c".to_owned()));
    assert_eq!(hex(&five.parent_span_id), "b7ad6b7169203331");
    assert_eq!(attribute(five, "hearith.outcome"), Some(Value::StringValue("ok".to_owned())));
    assert!(five.start_time_unix_nano <= five.end_time_unix_nano);
    let two = spans.iter().find(|span| attribute(span, "hearith.rows") == Some(Value::IntValue(2))).unwrap();
    assert!(two.parent_span_id.is_empty() && two.name == "encrypt");
    // Nothing that a client sent, or that identifies it.
    let known = ["rpc.system", "hearith.rows", "hearith.outcome"];
    let attributes = spans.iter().flat_map(|span| &span.attributes);
    attributes.for_each(|attribute| assert!(known.contains(&attribute.key.as_str()), "{}", attribute.key));
}

#[test]
fn a_collector_that_is_gone_disturbs_nobody() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = start_with(|options| options.collector = Some(gone));
    let remote = remote(&server, KEY.public());
    assert_eq!(opened(&KEY, &remote.encrypt(&plaintexts(KEY.public(), 3)).unwrap()), numbers(3));
    assert!(server.stop());
    let mut elsewhere = options();
    elsewhere.collector = Some("192.0.2.1:4317".parse().unwrap());
    assert!(matches!(Server::start(elsewhere).map(drop), Err(Error::CollectorNotLoopback(_))));
}
