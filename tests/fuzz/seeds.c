// SPDX-License-Identifier: MIT
// Writes the seeds of the fuzz targets that read our own formats, from small files of tests/scenes
// and tests/problems, to tests/<room>/corpus/<target>. `deploy/fuzz --seeds` runs it; the files are
// kept, so run it again when a format or DYNAMICS_VERSION changes.
#include "log/format/signature.h"
#include "wire/codec.h"
#include "wire/scene/scene.h"
#include "access/seal_key.h"
#include "base/assert.h"
#include "cli/json/read.h"
#include "cli/problems/problem.h"
#include "net/frame.h"
#include "run/worlds/door.h"
#include "step/snapshot/snapshot.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const scenes[] = {"one_ball", "incline", "spheres", "leaving", "asleep"};
static const char *const problems[] = {"one-ball", "joint",  "limit-motor",
                                       "trees",    "bodies", "links"};
static const char *const calls[] = {
    "{\"id\": 1, \"hello\": {}}",
    "{\"id\": 2, \"world_step\": {\"worlds\": [1], \"steps\": 240}}",
    "{\"id\": 3, \"deadline_ms\": 50, \"world_hash\": {\"worlds\": [1]}}",
    "{\"id\": 4, \"group_step\": {\"group\": 1, \"mask\": \"Aw==\", \"action\": [0.5, -1]}}",
    ("{\"id\": 5, \"world_ray_cast\": {\"worlds\": [1], \"count\": [1], \"origin\": [0, 0, 3],"
     "\"way\": [0.1, 0, -4], \"group\": [1], \"mask\": [3]}}"),
};

// What a learner asks for, of a scene.
static const struct {
    const char *scene, *call;
} groups[] = {
    {"joints/cart_pole",
     "{\"count\": 2, \"action\": [{\"joint\": \"rail\", \"low\": -1, \"high\": 1, \"scale\": 10}],"
     "\"observation\": [{\"kind\": \"JOINT_POSITION\", \"joint\": \"rail\"},"
     "{\"kind\": \"JOINT_VELOCITY\", \"joint\": \"hinge\"},"
     "{\"kind\": \"BODY_ROTATION\", \"body\": \"pole\", \"relative_to\": \"cart\"}],"
     "\"extra\": [{\"kind\": \"TIME\"}, {\"kind\": \"ACTION\"}, {\"kind\": \"RAYS\","
     "\"body\": \"pole\", \"ray_way\": [0, 0, -3], \"ray_origin\": [0, 1, 0], \"ray_mask\": 3},"
     " {\"kind\": \"ACCELEROMETER\", \"body\": \"pole\", \"mount\": [0, 0, 1, 1, 0, 0, 0],"
     "\"noise_deviation\": 0.1, \"bias_deviation\": 1, \"bias_walk\": 2, \"delay\": 1,"
     "\"delay_max\": 2}],"
     "\"noise\": [{\"channel\": {\"kind\": \"JOINT_POSITION\", \"joint\": \"hinge\"},"
     "\"distribution\": \"GAUSSIAN\", \"deviation\": 0.1}],"
     "\"bounds\": [{\"kind\": \"JOINT_POSITION\", \"joint\": \"hinge\", \"low\": -0.2, \"high\": "
     "0.2}],"
     "\"step_limit\": 2, \"autoreset\": \"SAME_STEP\","
     "\"parameters\": [{\"body\": \"pole\", \"values\": [0.1, 0.2]}]}"},
    {"one_ball", "{\"count\": 1, \"double_precision\": true, \"substeps\": 2,"
                 "\"action\": [{\"kind\": \"BODY_FORCE\", \"body\": \"#2\", \"axes\": 5}],"
                 "\"observation\": [{\"kind\": \"CONTACT_FORCE\", \"body\": \"#2\"},"
                 "{\"kind\": \"BODY_LOCAL_VELOCITY\", \"body\": \"#2\"}],"
                 "\"noise\": [{\"channel\": {\"kind\": \"BODY_ROTATION\", \"body\": \"#2\"},"
                 "\"low\": -0.1, \"high\": 0.1}]}"},
};

// A path under tests/.
static const char *path_of(const char *folder, const char *name, const char *ending) {
    static char path[1024];
    snprintf(path, sizeof(path), MOREAU_SOURCE_DIR "/tests/%s/%s%s", folder, name, ending);
    return path;
}

static void write_seed(const char *corpus, const char *name, const void *bytes, size_t count) {
    const char *path = path_of(corpus, name, "");
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) {
        fprintf(stderr, "cannot write the seed %s\n", path);
        exit(EXIT_FAILURE);
    }
}

static JsonText load(const char *folder, const char *name) {
    JsonText json;
    JsonError error = {0};
    if (!json_text_load(&json, path_of(folder, name, ".json"), &error)) {
        fprintf(stderr, "%s\n", error.message);
        exit(EXIT_FAILURE);
    }
    return json;
}

// A request as a frame's body, and the short ones as frames.
static void write_request(const Moreau__V1__Request *request, const char *name) {
    size_t count = moreau__v1__request__get_packed_size(request);
    uint8_t *frame = malloc(FRAME_HEADER_BYTES + count);
    ASSERT(frame != NULL);
    frame_header(frame, count);
    moreau__v1__request__pack(request, frame + FRAME_HEADER_BYTES);
    write_seed("api/corpus/request", name, frame + FRAME_HEADER_BYTES, count);
    if (count < 300) {
        write_seed("net/corpus/frame", name, frame, FRAME_HEADER_BYTES + count);
    }
    free(frame);
}

static void carry_out(Door *door, const Input *input, Arena *arena) {
    Error error;
    StepRun run;
    if (input->kind != INPUT_STEP) {
        ASSERT(door_change(door, input, arena, NULL, NULL, &error) == STATUS_OK);
        return;
    }
    ASSERT(door_step_begin(door, input, arena, &run, &error) == STATUS_OK);
    ASSERT(door_step(door, &run, arena, UINT64_MAX, NULL, &error) == STATUS_OK);
}

// The inputs that make the scene's world, two steps, and the world after them.
static void write_world(const Moreau__V1__Scene *scene, const char *name) {
    const WorldLimits limits = {.body_count_max = 100, .bytes_max = (size_t)1 << 26};
    Arena arena;
    arena_init(&arena, (size_t)1 << 26);
    Door door;
    Error error;
    ScenePlan plan;
    ASSERT(door_init(&door, &limits, &error) == STATUS_OK);
    ASSERT(scene_plan(scene, NULL, &arena, &plan, &error) == STATUS_OK);
    Input step = {.kind = INPUT_STEP, .step = {.steps = 2}};
    const size_t room = (size_t)1 << 20;
    Sink all = {.bytes = arena_take(&arena, room)};
    ASSERT(all.bytes != NULL);
    for (size_t i = 0; i <= plan.input_count; i++) {
        const Input *input = i < plan.input_count ? &plan.input[i] : &step;
        carry_out(&door, input, &arena);
        ASSERT(input_bytes(input) <= room - all.count);
        input_encode(input, &all);
    }
    write_seed("run/corpus/input", name, all.bytes, all.count);
    uint8_t *snapshot;
    size_t count;
    ASSERT(snapshot_write(door.world, &arena, &snapshot, &count, &error) == STATUS_OK);
    write_seed("step/corpus/snapshot", name, snapshot, count);
    door_deinit(&door);
    arena_deinit(&arena);
}

static void write_scene(const char *name) {
    JsonText json = load("scenes", name);
    JsonError error = {0};
    Moreau__V1__Scene *scene = (Moreau__V1__Scene *)(void *)json_read_message(
        &json, json.root, "", &moreau__v1__scene__descriptor, &error);
    ASSERT(scene != NULL);
    write_seed("clients/corpus/scene", name, json.text, json.bytes);
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.scene = scene;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_CREATE;
    request.world_create = &create;
    write_request(&request, name);
    write_world(scene, name);
    moreau__v1__scene__free_unpacked(scene, NULL);
    json_text_free(&json);
}

// Without its answers, which are most of a file.
static void write_problem(const char *name) {
    JsonText json = load("problems", name);
    JsonError error = {0};
    ProblemSolver solver;
    Moreau__V1__ContactProblem *problem = problem_read(&json, &solver, &error);
    ASSERT(problem != NULL);
    json_t *written = problem_write(problem, name, solver.name, solver.parameters);
    problem_solver_free(&solver);
    char *text = json_dumps(written, JSON_COMPACT);
    ASSERT(text != NULL);
    write_seed("clients/corpus/problem", name, text, strlen(text));
    Moreau__V1__Solve solve = MOREAU__V1__SOLVE__INIT;
    solve.problem = problem;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_SOLVE;
    request.solve = &solve;
    write_request(&request, name);
    free(text);
    json_decref(written);
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
    json_text_free(&json);
}

static void write_call(const char *text, const char *name) {
    JsonText json;
    JsonError error = {0};
    ASSERT(json_text_parse(&json, name, text, strlen(text), &error));
    Moreau__V1__Request *request = (Moreau__V1__Request *)(void *)json_read_message(
        &json, json.root, "", &moreau__v1__request__descriptor, &error);
    ASSERT(request != NULL);
    write_seed("clients/corpus/scene", name, text, strlen(text));
    write_request(request, name);
    moreau__v1__request__free_unpacked(request, NULL);
    json_text_free(&json);
}

// As fuzz_group.c reads it: length, message, actions.
static void write_group(size_t index) {
    JsonText scene_json = load("scenes", groups[index].scene), json;
    JsonError error = {0};
    const char *text = groups[index].call;
    ASSERT(json_text_parse(&json, "group", text, strlen(text), &error));
    Moreau__V1__GroupCreate *create = (Moreau__V1__GroupCreate *)(void *)json_read_message(
        &json, json.root, "", &moreau__v1__group_create__descriptor, &error);
    ASSERT(create != NULL);
    create->scene = (Moreau__V1__Scene *)(void *)json_read_message(
        &scene_json, scene_json.root, "", &moreau__v1__scene__descriptor, &error);
    ASSERT(create->scene != NULL);
    const double actions[6] = {0.5, -1.0, 3.0, -2.0, 1e3, 0.0};
    const size_t length = moreau__v1__group_create__get_packed_size(create);
    uint8_t *bytes = malloc(2 + length + sizeof(actions));
    ASSERT(bytes != NULL && length < 65536);
    bytes[0] = (uint8_t)length;
    bytes[1] = (uint8_t)(length >> 8);
    moreau__v1__group_create__pack(create, bytes + 2);
    memcpy(bytes + 2 + length, actions, sizeof(actions));
    char name[16];
    snprintf(name, sizeof(name), "group-%zu", index);
    write_seed("wire/corpus/group", name, bytes, 2 + length + sizeof(actions));
    free(bytes);
    moreau__v1__group_create__free_unpacked(create, NULL);
    json_text_free(&json);
    json_text_free(&scene_json);
}

// A signature of two chains, of this key, and the seal behind it.
static void write_signatures(void) {
    enum { CHAINS = 2, SEAL_BYTES = 400 };
    const SignatureHow hows[] = {SIGNATURE_LIVE, SIGNATURE_LAST, SIGNATURE_FOUND};
    const char *const names[] = {"live", "last", "found"};
    SignedChain chains[CHAINS] = {{.chain = 0, .chunk_count = 3}, {.chain = 1, .chunk_count = 2}};
    uint8_t secret[SIGNATURE_KEY_BYTES], message[SIGNATURE_MESSAGE_BYTES];
    uint8_t bytes[CHUNK_HEADER_BYTES + SEAL_BYTES] = {0};
    memset(secret, 7, sizeof(secret));
    EVP_PKEY *pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, sizeof(secret));
    for (size_t i = 0; i < sizeof(hows) / sizeof(hows[0]); i++) {
        Signature signature = {.how = hows[i], .chain_count = CHAINS};
        const size_t count = CHUNK_HEADER_BYTES + signature_bytes(CHAINS);
        Chunk chunk = {.kind = CHUNK_SIGNATURE, .version = CHUNK_FORMAT_SIGNATURES};
        size_t length = SIGNATURE_KEY_BYTES, value_bytes = SIGNATURE_VALUE_BYTES;
        chunk.sequence = 3, chunk.world_count = 1, chunk.first_step = chunk.last_step = 16;
        ASSERT(count <= sizeof(bytes));
        ASSERT(EVP_PKEY_get_raw_public_key(pair, signature.key, &length) == 1);
        uint8_t *value = signature_write(&signature, chains, bytes + CHUNK_HEADER_BYTES);
        memset(value, 0, SIGNATURE_VALUE_BYTES);
        chunk_seal(bytes, count, &chunk);
        signature_message(bytes, count, message);
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        ASSERT(EVP_DigestSignInit(context, NULL, NULL, NULL, pair) == 1);
        ASSERT(EVP_DigestSign(context, value, &value_bytes, message, sizeof(message)) == 1);
        EVP_MD_CTX_free(context);
        chunk_seal(bytes, count, &chunk);
        ASSERT(seal_public_verifies(signature.key, message, sizeof(message), value));
        write_seed("log/corpus/signature", names[i], bytes, count);
    }
    EVP_PKEY_free(pair);
    memset(bytes, 0, sizeof(bytes));
    Chunk seal = {.kind = CHUNK_SEAL, .version = CHUNK_FORMAT_SIGNATURES};
    seal.sequence = 4, seal.world_count = 1, seal.last_step = 16;
    chunk_seal(bytes, sizeof(bytes), &seal);
    write_seed("log/corpus/signature", "seal", bytes, sizeof(bytes));
}

int main(void) {
    write_signatures();
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        write_group(i);
    }
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
        write_scene(scenes[i]);
    }
    for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++) {
        write_problem(problems[i]);
    }
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        char name[16];
        snprintf(name, sizeof(name), "call-%zu", i);
        write_call(calls[i], name);
    }
    return EXIT_SUCCESS;
}
