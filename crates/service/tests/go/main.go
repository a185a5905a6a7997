// A client of the service in Go, with nothing of this project but what the service tells of itself: it asks the reflection service for the
// protocol, encrypts 1500 and -20, adds them up, multiplies -20 by 3, has both decrypted, and prints the results and the reason of a refusal.
// Arguments: the service's address, and the modulus n of a key that it decrypts with, in hexadecimal.
package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"os"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

const serviceName = "hearith.v1.Paillier"

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: client ADDRESS MODULUS")
	}
	modulus, err := hex.DecodeString(os.Args[2])
	check(err)
	connection, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(err)
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := client{ctx, connection, describe(ctx, connection)}

	handle := client.register(modulus)
	key := key{client, handle, new(big.Int).SetBytes(modulus), len(modulus)}
	numbers := key.call("Encrypt", values{"plaintexts": key.residues(1500, -20)}, "ciphertexts")
	first, second := numbers[:2*key.width], numbers[2*key.width:]
	sum := key.call("Add", values{"left": first, "right": second}, "ciphertexts")
	multiple := key.call("Multiply", values{"ciphertexts": second, "scalars": []byte{3}, "bits": uint32(2)}, "ciphertexts")
	plain := key.call("Decrypt", values{"ciphertexts": append(sum, multiple...)}, "plaintexts")

	key.handle = fmt.Sprintf("%064d", 0)
	_, err = key.stream("Encrypt", values{"plaintexts": key.residues(1)}, "ciphertexts")
	fmt.Println(key.integer(plain[:key.width]), key.integer(plain[key.width:]), reason(err), status.Code(err))
}

// The service as it describes itself.
func describe(ctx context.Context, connection *grpc.ClientConn) protoreflect.ServiceDescriptor {
	stream, err := reflection.NewServerReflectionClient(connection).ServerReflectionInfo(ctx)
	check(err)
	request := &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: serviceName}
	check(stream.Send(&reflection.ServerReflectionRequest{MessageRequest: request}))
	answer, err := stream.Recv()
	check(err)
	check(stream.CloseSend())
	files := answer.GetFileDescriptorResponse().GetFileDescriptorProto()
	if len(files) == 0 {
		log.Fatalf("no description: %v", answer)
	}
	file := new(descriptorpb.FileDescriptorProto)
	check(proto.Unmarshal(files[0], file))
	described, err := protodesc.NewFile(file, nil)
	check(err)
	return described.Services().ByName("Paillier")
}

type client struct {
	ctx        context.Context
	connection *grpc.ClientConn
	service    protoreflect.ServiceDescriptor
}

type values map[string]any

// The message that a method takes, with these fields, and an empty one of its answer.
func (c client) messages(method string, fields values) (request, answer *dynamicpb.Message) {
	described := c.service.Methods().ByName(protoreflect.Name(method))
	request, answer = dynamicpb.NewMessage(described.Input()), dynamicpb.NewMessage(described.Output())
	for name, value := range fields {
		request.Set(request.Descriptor().Fields().ByName(protoreflect.Name(name)), protoreflect.ValueOf(value))
	}
	return request, answer
}

func (c client) register(modulus []byte) string {
	request, answer := c.messages("RegisterKey", values{"n": modulus})
	check(c.connection.Invoke(c.ctx, "/"+serviceName+"/RegisterKey", request, answer))
	return answer.Get(answer.Descriptor().Fields().ByName("key")).String()
}

type key struct {
	client
	handle  string
	modulus *big.Int
	width   int
}

// One request on a stream of its own, and a field of the answer.
func (k key) stream(method string, fields values, field string) ([]byte, error) {
	fields["key"] = k.handle
	request, answer := k.messages(method, fields)
	description := &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}
	stream, err := k.connection.NewStream(k.ctx, description, "/"+serviceName+"/"+method)
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(request); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	if err := stream.RecvMsg(answer); err != nil {
		return nil, err
	}
	return answer.Get(answer.Descriptor().Fields().ByName(protoreflect.Name(field))).Bytes(), nil
}

func (k key) call(method string, fields values, field string) []byte {
	answer, err := k.stream(method, fields, field)
	check(err)
	return answer
}

// Integers as residues modulo n.
func (k key) residues(integers ...int64) []byte {
	var bytes []byte
	for _, integer := range integers {
		residue := new(big.Int).Mod(big.NewInt(integer), k.modulus)
		bytes = append(bytes, residue.FillBytes(make([]byte, k.width))...)
	}
	return bytes
}

// The integer of a residue: those above n/2 are negative.
func (k key) integer(bytes []byte) *big.Int {
	residue := new(big.Int).SetBytes(bytes)
	if new(big.Int).Lsh(residue, 1).Cmp(k.modulus) > 0 {
		residue.Sub(residue, k.modulus)
	}
	return residue
}

// The reason of a refusal.
func reason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.Reason
		}
	}
	return "none"
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
