// SPDX-License-Identifier: MIT
// The granular channel with some 500 large grains, sparser than the paper's, on a real server: what
// came in is inside or has left, the energy book closes, nothing goes through a wall, and the bits
// are the same every time.
#include "channel/figures.h"
#include "support/server_process.h"
#include "support/suite.h"

#include <math.h>

enum { GRAINS = 1500, LAYERS = 20, LAYER_STEPS = 20 };

static ServerProcess *server;
static MoreauClient *client;

static void open_server(void) {
    MoreauError error;
    server = server_start("--workers 2");
    ck_assert_msg(moreau_connect(server->address[0], NULL, &client, &error) == MOREAU_OK, "%s",
                  error.message);
}

static void close_server(void) {
    moreau_disconnect(client);
    server_stop(server);
}

#define EXPECT_OK(call) ck_assert_msg((call) == MOREAU_OK, "%s", moreau_error(client)->message)

static Channel open_channel(bool has_dumbbells, bool maximizes_dissipation) {
    Channel channel;
    ChannelDef def = channel_def_default();
    def.grains = GRAINS;
    def.spacing = 1.6;
    def.layer_steps = LAYER_STEPS;
    def.has_dumbbells = has_dumbbells;
    def.maximizes_dissipation = maximizes_dissipation;
    EXPECT_OK(channel_open(&channel, client, &def));
    return channel;
}

// Both shapes, under both laws.
static Channel channel_of(int index) {
    return open_channel(index / 2 == 1, index % 2 == 1);
}

typedef struct Sampled {
    Figures figures;
    uint64_t steps;
} Sampled;

// Each of some 500 grains adds a dozen products to the book, of which each may be off by 1.1e-16 of
// itself, and none is larger than the energies by far: 1e-12 of those leaves room.
static void check_step(const Channel *channel, const MoreauStepResult *result, void *context) {
    Sampled *sampled = context;
    const MoreauEnergies *energy = &result->energy;
    double before = energy->before[0], after = energy->after[0],
           booked = energy->contact[0] + energy->row[0] + energy->applied[0] + energy->scheme[0] +
                    energy->unexplained[0] + energy->drive[0];
    double rounding = 1e-12 * (fabs(before) + fabs(after));
    ck_assert_double_le(fabs(after - before - booked), rounding);
    ck_assert_double_le(fabs(energy->unexplained[0]), rounding);
    if (++sampled->steps % LAYER_STEPS == 0) {
        EXPECT_OK(figures_sample(&sampled->figures, channel, result));
    }
}

static uint64_t count_grains(const Channel *channel) {
    MoreauReply *reply;
    MoreauWorldState state;
    EXPECT_OK(moreau_world_get(client, channel->world, 0, 0, false, &reply, &state));
    uint64_t grains = state.total - channel->piston; // what was made before grains has these ids
    ck_assert_uint_eq(state.removed, channel->removed);
    moreau_reply_free(reply);
    return grains;
}

START_TEST(grains_and_energy_are_accounted_for_and_nothing_leaks) {
    Channel channel = channel_of(_i);
    Sampled sampled = {.figures.deepest_leak = -HUGE_VAL};
    for (int layer = 0; layer < LAYERS; layer++) {
        EXPECT_OK(channel_push_layer(&channel, LAYER_STEPS, check_step, &sampled));
        ck_assert_uint_eq(channel.added, count_grains(&channel) + channel.removed);
    }
    ck_assert_uint_gt(channel.removed, 50);
    const Figures *figures = &sampled.figures;
    ck_assert_double_lt(figures->deepest_leak, 0.0); // no centre in what is solid
    ck_assert_double_gt(figures->power, 0.0); // contacts take energy, whatever the piston gives
    ck_assert_double_gt(figures->flow, 0.3 * (double)figures->samples);
    ck_assert_double_lt(figures->flow, 1.2 * (double)figures->samples);
    ck_assert_double_lt(channel.penetration, 0.2 * channel.ball);
    EXPECT_OK(channel_close(&channel));
}
END_TEST

static uint64_t play(bool has_dumbbells, bool maximizes_dissipation, Figures *figures) {
    Channel channel = open_channel(has_dumbbells, maximizes_dissipation);
    uint64_t hash;
    Sampled sampled = {.figures.deepest_leak = -HUGE_VAL};
    for (int layer = 0; layer < LAYERS / 2; layer++) {
        EXPECT_OK(channel_push_layer(&channel, LAYER_STEPS, check_step, &sampled));
    }
    EXPECT_OK(moreau_world_hash(client, 1, &channel.world, &hash, NULL));
    EXPECT_OK(channel_close(&channel));
    *figures = sampled.figures;
    return hash;
}

START_TEST(the_bits_are_the_same_every_time_and_others_for_the_other_law) {
    Figures coulomb, again, other;
    uint64_t hash = play(_i == 1, false, &coulomb);
    ck_assert_uint_eq(play(_i == 1, false, &again), hash);
    ck_assert_uint_ne(play(_i == 1, true, &other), hash);
    ck_assert_double_eq(coulomb.power, again.power);
    // the flow as a whole hardly sees which law it obeys, as the paper has it for spheres
    ck_assert_double_lt(fabs(coulomb.flow - other.flow), 0.05 * coulomb.flow);
}
END_TEST

static TCase *case_channel(void) {
    TCase *tcase = tcase_create("channel");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_checked_fixture(tcase, open_server, close_server);
    tcase_add_loop_test(tcase, grains_and_energy_are_accounted_for_and_nothing_leaks, 0, 4);
    tcase_add_loop_test(tcase, the_bits_are_the_same_every_time_and_others_for_the_other_law, 0, 2);
    return tcase;
}

SUITE_MAIN("system/channel", case_channel)
