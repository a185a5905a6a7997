//! OpenTelemetry traces: a span for every request that enters the queue, sent to a collector on
//! this machine by OTLP over gRPC.
//!
//! A span contains the operation, the rows, the outcome and the duration, but no number, key or
//! client. A collector that is slow or unavailable delays no request: spans beyond the exporter's
//! queue are dropped.

use std::net::SocketAddr;
use std::time::Duration;

use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{Span, SpanKind, Tracer, TracerProvider};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithExportConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tonic::metadata::MetadataMap;

use crate::refusal::Refusal;

/// How long the shutdown waits for the last spans.
const LAST_SPANS: Duration = Duration::from_secs(1);
const PARENT: &str = "traceparent";

/// The exporter of spans.
#[derive(Debug)]
pub(crate) struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

impl Traces {
    /// Creates an exporter to a collector's address. Call it within the runtime that sends the
    /// spans.
    pub(crate) fn to(collector: SocketAddr) -> Result<Self, ExporterBuildError> {
        let exporter = SpanExporter::builder().with_tonic().with_endpoint(format!("http://{collector}")).build()?;
        let resource = Resource::builder().with_service_name("hearith").build();
        let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build();
        let tracer = provider.tracer("hearith-service");
        Ok(Self { provider, tracer })
    }

    /// Begins a request's span, as part of the client's trace if it sent one.
    pub(crate) fn begin(&self, parent: &Context, operation: &'static str, rows: usize) -> RequestSpan {
        let attributes = [KeyValue::new("rpc.system", "grpc"), KeyValue::new("hearith.rows", rows as i64)];
        let span = self.tracer.span_builder(operation).with_kind(SpanKind::Server).with_attributes(attributes);
        RequestSpan(span.start_with_context(&self.tracer, parent))
    }

    /// Sends the remaining spans. Blocks for at most a second.
    pub(crate) fn end(&self) {
        if let Err(error) = self.provider.shutdown_with_timeout(LAST_SPANS) {
            tracing::warn!(%error, "not all spans were sent");
        }
    }
}

/// A request's span. Dropping it ends the span.
#[derive(Debug)]
pub(crate) struct RequestSpan(<SdkTracer as Tracer>::Span);

impl RequestSpan {
    /// Records how the request ended.
    pub(crate) fn outcome<T>(&mut self, result: &Result<T, Refusal>) {
        let outcome = result.as_ref().map_or_else(|refusal| refusal.reason().name(), |_| "ok");
        self.0.set_attribute(KeyValue::new("hearith.outcome", outcome));
    }
}

/// Returns the trace that a call belongs to, from its `traceparent` (W3C Trace Context). Ignores
/// vendor data (`tracestate`).
pub(crate) fn parent(metadata: &MetadataMap) -> Context {
    struct Parent<'a>(&'a MetadataMap);
    impl Extractor for Parent<'_> {
        fn get(&self, key: &str) -> Option<&str> {
            (key == PARENT).then(|| self.0.get(PARENT)?.to_str().ok())?
        }
        fn keys(&self) -> Vec<&str> {
            vec![PARENT]
        }
    }
    TraceContextPropagator::new().extract_with_context(&Context::new(), &Parent(metadata))
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry::trace::TraceContextExt;

    #[test]
    fn parents_are_read_and_nothing_else() {
        let read = |text: &'static str| {
            let mut metadata = MetadataMap::new();
            metadata.insert("traceparent", text.parse().unwrap());
            metadata.insert("tracestate", "secret=1".parse().unwrap());
            let context = parent(&metadata);
            let span = context.span();
            let span = span.span_context();
            assert_eq!(span.trace_state().header(), "");
            span.is_valid().then(|| span.trace_id().to_string())
        };
        let good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        assert_eq!(read(good).as_deref(), Some("0af7651916cd43dd8448eb211c80319c"));
        for wrong in ["", "00", "00-00000000000000000000000000000000-b7ad6b7169203331-01", "zz-0af7-b7ad-01", "----"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert!(!parent(&MetadataMap::new()).span().span_context().is_valid());
    }
}
