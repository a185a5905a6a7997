"""A client: it has the key pair, reads the model, trains and encrypts."""

from flwr.app import Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

import hearith as he
from federation.agreed import aggregator, drops_out, examples, trained
from hearith.flower import from_record, to_record

app = ClientApp()


@app.train()
def train(message, context):
    client, secret = context.node_config["client"], context.run_config["secret"]
    if drops_out(client, message.content["config"]["server-round"], secret):
        raise RuntimeError("this client drops out")
    private = he.PrivateKey.load(context.node_config["private"], insecure=True)
    agreed, count = aggregator(private.public, secret), examples(client)
    layers = trained(from_record(agreed, message.content["arrays"], private), client)
    update = agreed.encrypt(layers, private=private, weight=count if secret else 1)
    metrics = MetricRecord({"num-examples": 1 if secret else count})
    return Message(content=RecordDict({"arrays": to_record(update), "metrics": metrics}), reply_to=message)
