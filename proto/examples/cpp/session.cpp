// SPDX-License-Identifier: MIT
// A session made from moreau.proto alone: a ball falls on a plane, its episode is recorded, and proven by stepping it
// again.
//   protoc -I ../.. --cpp_out=. moreau.proto
//   c++ -std=c++17 session.cpp moreau.pb.cc $(pkg-config --cflags --libs protobuf) -o session && ./session [HOST PORT]
#include "moreau.pb.h"

#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <netdb.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace proto = moreau::v1;

[[noreturn]] static void fail(const std::string &why) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::exit(1);
}

class Session {
public:
    Session(const char *host, const char *port) {
        addrinfo hints{}, *found = nullptr;
        hints.ai_socktype = SOCK_STREAM;
        if (getaddrinfo(host, port, &hints, &found) != 0) fail("no such address");
        socket_ = socket(found->ai_family, found->ai_socktype, 0);
        if (socket_ < 0 || connect(socket_, found->ai_addr, found->ai_addrlen) != 0) fail("no server there");
        freeaddrinfo(found);
    }
    ~Session() { close(socket_); }

    // One call: its request, and the reply that ends it. Events, which some calls send before, are passed over.
    proto::Reply call(proto::Request request) {
        request.set_id(++requests_);
        std::string packed = request.SerializeAsString();
        // a frame: the length in four bytes, and the message
        uint32_t length = htonl(static_cast<uint32_t>(packed.size()));
        packed.insert(0, reinterpret_cast<const char *>(&length), sizeof(length));
        for (size_t sent = 0; sent < packed.size();) {
            ssize_t count = send(socket_, packed.data() + sent, packed.size() - sent, MSG_NOSIGNAL);
            if (count <= 0) fail("the server is gone");
            sent += static_cast<size_t>(count);
        }
        for (;;) {
            read(&length, sizeof(length));
            std::string bytes(ntohl(length), '\0');
            read(bytes.data(), bytes.size());
            proto::Reply reply;
            if (!reply.ParseFromString(bytes)) fail("no reply of this protocol");
            const proto::Status &status = reply.status();
            if (status.code() != proto::Status::OK) fail(status.field() + ": " + status.message());
            if (!reply.event()) return reply;
        }
    }

private:
    void read(void *bytes, size_t size) {
        for (size_t got = 0; got < size;) {
            ssize_t count = recv(socket_, static_cast<char *>(bytes) + got, size - got, 0);
            if (count <= 0) fail("the server is gone");
            got += static_cast<size_t>(count);
        }
    }

    int socket_;
    uint64_t requests_ = 0;
};

static void make_scene(proto::Scene *scene) {
    proto::SceneBody *ground = scene->add_bodies();
    ground->set_kind(proto::Body::STATIC);
    ground->add_shapes()->mutable_plane();
    proto::SceneBody *ball = scene->add_bodies();
    ball->set_name("ball");
    for (double x : {0.0, 0.0, 1.0}) ball->add_position(x);
    ball->add_shapes()->mutable_sphere()->set_radius(0.1);
}

int main(int argc, char **argv) {
    Session session(argc > 2 ? argv[1] : "127.0.0.1", argc > 2 ? argv[2] : "7667");
    proto::Request hello, create, start, step, stop, verify;
    hello.mutable_hello()->set_protocol_major(1);
    hello.mutable_hello()->set_client("session.cpp");
    session.call(hello);
    make_scene(create.mutable_world_create()->mutable_scene());
    uint64_t world = session.call(create).world_create().world();

    start.mutable_episode_start()->set_world(world);
    start.mutable_episode_start()->set_content(proto::Episode::FRAMES);
    std::string episode = session.call(start).episode_start().episode();
    step.mutable_world_step()->add_worlds(world);
    step.mutable_world_step()->set_steps(240);
    step.mutable_world_step()->set_poses(true);
    proto::WorldStepReply stepped = session.call(step).world_step();
    if (stepped.failures_size() > 0) fail(stepped.failures(0).message()); // the status of the call is OK all the same
    // 7 numbers per body, x y z first
    std::printf("%.3f s: the ball is at a height of %.9f m\n", stepped.time(0), stepped.pose(7 + 2));

    stop.mutable_episode_stop()->set_episode(episode);
    session.call(stop);
    verify.mutable_episode_verify()->set_episode(episode);
    proto::EpisodeVerifyReply proof = session.call(verify).episode_verify();
    std::printf("%llu steps taken again: %s\n", static_cast<unsigned long long>(proof.steps()),
                proof.verified() ? "the same bits" : proof.differences(0).message().c_str());
}
