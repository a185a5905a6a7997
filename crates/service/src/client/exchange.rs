//! The calls of the service, one stream of messages each.

use prost::bytes::Bytes;
use tonic::transport::Channel;
use tonic::{Request, Response, Status, Streaming};

use crate::proto;
use crate::proto::paillier_client::PaillierClient;

/// The request type of an operation.
pub(super) trait Exchange: Sized + Send + 'static {
    type Answer;

    fn call(
        client: PaillierClient<Channel>,
        requests: Request<Messages<Self>>,
    ) -> impl Future<Output = Result<Response<Streaming<Self::Answer>>, Status>> + Send;

    fn numbers(answer: Self::Answer) -> Bytes;
}

/// A stream of prepared messages.
pub(super) type Messages<E> = tokio_stream::Iter<std::vec::IntoIter<E>>;

macro_rules! exchange {
    ($($request:ident, $answer:ident, $method:ident, $numbers:ident;)*) => {$(
        impl Exchange for proto::$request {
            type Answer = proto::$answer;

            async fn call(
                mut client: PaillierClient<Channel>,
                requests: Request<Messages<Self>>,
            ) -> Result<Response<Streaming<Self::Answer>>, Status> {
                client.$method(requests).await
            }

            fn numbers(answer: Self::Answer) -> Bytes {
                answer.$numbers
            }
        }
    )*};
}

exchange! {
    EncryptRequest, EncryptResponse, encrypt, ciphertexts;
    RerandomiseRequest, RerandomiseResponse, rerandomise, ciphertexts;
    AddRequest, AddResponse, add, ciphertexts;
    MultiplyRequest, MultiplyResponse, multiply, ciphertexts;
    SumGroupsRequest, SumGroupsResponse, sum_groups, ciphertexts;
    DecryptRequest, DecryptResponse, decrypt, plaintexts;
}
