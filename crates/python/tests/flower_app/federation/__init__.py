"""A server and clients of a Flower federation that averages encrypted models."""
