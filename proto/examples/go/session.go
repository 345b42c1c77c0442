// SPDX-License-Identifier: MIT
// A session made from moreau.proto alone: a ball falls on a plane, its episode is recorded, and proven by stepping it
// again.
//
//	go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.33.0
//	protoc -I ../.. --go_out=. --go_opt=module=moreau.example --go_opt=Mmoreau.proto=moreau.example/moreau moreau.proto
//	go run . [HOST:PORT]
package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"os"

	"google.golang.org/protobuf/proto"

	moreau "moreau.example/moreau"
)

type session struct {
	connection net.Conn
	requests   uint64
}

// One call: its request, and the reply that ends it. Events, which some calls send before, are passed over.
func (s *session) call(request *moreau.Request) *moreau.Reply {
	s.requests++
	request.Id = proto.Uint64(s.requests)
	packed, err := proto.Marshal(request)
	must(err)
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(packed))) // a frame: the length in four bytes, and the message
	_, err = s.connection.Write(append(frame, packed...))
	must(err)
	for {
		var length [4]byte
		_, err = io.ReadFull(s.connection, length[:])
		must(err)
		packed = make([]byte, binary.BigEndian.Uint32(length[:]))
		_, err = io.ReadFull(s.connection, packed)
		must(err)
		reply := &moreau.Reply{}
		must(proto.Unmarshal(packed, reply))
		if status := reply.GetStatus(); status.GetCode() != moreau.Status_OK {
			log.Fatalf("%s: %s", status.GetField(), status.GetMessage())
		}
		if !reply.GetEvent() {
			return reply
		}
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func makeScene() *moreau.Scene {
	ground := &moreau.SceneBody{Kind: moreau.Body_STATIC.Enum(), Shapes: []*moreau.ScenePrimitive{
		{Shape: &moreau.ScenePrimitive_Plane{Plane: &moreau.ScenePlane{}}}}}
	ball := &moreau.SceneBody{Name: proto.String("ball"), Position: []float64{0, 0, 1}, Shapes: []*moreau.ScenePrimitive{
		{Shape: &moreau.ScenePrimitive_Sphere{Sphere: &moreau.SceneSphere{Radius: proto.Float64(0.1)}}}}}
	return &moreau.Scene{Bodies: []*moreau.SceneBody{ground, ball}}
}

func main() {
	address := "127.0.0.1:7667"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	connection, err := net.Dial("tcp", address)
	must(err)
	s := &session{connection: connection}
	s.call(&moreau.Request{Call: &moreau.Request_Hello{Hello: &moreau.Hello{
		ProtocolMajor: proto.Uint32(1), Client: proto.String("session.go")}}})
	world := s.call(&moreau.Request{Call: &moreau.Request_WorldCreate{WorldCreate: &moreau.WorldCreate{
		Scene: makeScene()}}}).GetWorldCreate().GetWorld()

	episode := s.call(&moreau.Request{Call: &moreau.Request_EpisodeStart{EpisodeStart: &moreau.EpisodeStart{
		World: proto.Uint64(world), Content: moreau.Episode_FRAMES.Enum()}}}).GetEpisodeStart().GetEpisode()
	step := s.call(&moreau.Request{Call: &moreau.Request_WorldStep{WorldStep: &moreau.WorldStep{
		Worlds: []uint64{world}, Steps: proto.Uint64(240), Poses: proto.Bool(true)}}}).GetWorldStep()
	for _, failure := range step.GetFailures() { // of single worlds: the status of the call is OK all the same
		log.Fatal(failure.GetMessage())
	}
	// 7 numbers per body, x y z first
	fmt.Printf("%.3f s: the ball is at a height of %.9f m\n", step.GetTime()[0], step.GetPose()[7+2])

	s.call(&moreau.Request{Call: &moreau.Request_EpisodeStop{EpisodeStop: &moreau.EpisodeStop{
		Episode: proto.String(episode)}}})
	proof := s.call(&moreau.Request{Call: &moreau.Request_EpisodeVerify{EpisodeVerify: &moreau.EpisodeVerify{
		Episode: proto.String(episode)}}}).GetEpisodeVerify()
	said := "the same bits"
	if !proof.GetVerified() {
		said = proof.GetDifferences()[0].GetMessage()
	}
	fmt.Printf("%d steps taken again: %s\n", proof.GetSteps(), said)
}
