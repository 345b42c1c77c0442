// SPDX-License-Identifier: MIT
// A row that a fast body hits, in every world of a group: each steps to the bits that it has alone,
// in every episode, however the episodes begin anew.
#include "group_lab.h"

#include "step/snapshot/snapshot.h"
#include "support/shot_row.h"

#include <stdio.h>

enum { WORLDS = 3, LIMIT = 4, STEPS = 13, CASES = 2 * 2 * SHOT_ROW_TURNS };

static ShotRowLab shoot(int number) {
    ShotRow row = shot_row_default();
    row.turn = number / 4;
    row.restitution = 0.3;
    ShotRowLab of = shot_row_create(&row);
    if (number % 2 == 1) {
        shot_row_sleep(&of);
    }
    shot_row_shoot(&of);
    return of;
}

// What drives the shot of a world, so that no two worlds are alike.
static void push_of(const ShotRowLab *of, uint32_t world, double force[6]) {
    memset(force, 0, 6 * sizeof(double));
    vec3_store(force, shot_row_turned(of, vec3(200.0 * (world + 1.0), 0.0, 0.0)));
}

// A world as it is alone.
typedef struct Alone {
    ShotRowLab of;
    uint32_t length;
    bool has_ended;
} Alone;

static void begin_anew(Alone *alone, int number) {
    lab_destroy(&alone->of.lab);
    *alone = (Alone){.of = shoot(number)};
}

// What a step of the group is to one of its worlds. What it ended with is seen where its next
// episode begins at once.
static void step_alone(Alone *alone, int number, const GroupLab *lab, uint32_t world,
                       const double force[6]) {
    if (alone->has_ended) {
        begin_anew(alone, number);
        return;
    }
    lab_step_pushed(&alone->of.lab, alone->of.shot, force);
    shot_row_check_order(&alone->of, SHOT_ROW_SLOW);
    alone->has_ended = ++alone->length == LIMIT;
    ck_assert_uint_eq(lab->call.row[world].ended != 0, alone->has_ended);
    if (alone->has_ended && lab->group->autoreset == AUTORESET_SAME_STEP) {
        ck_assert_mem_eq(row_of(lab, lab->call.final_observation, world), alone->of.lab.world->pose,
                         3 * sizeof(double));
        begin_anew(alone, number);
    }
}

START_TEST(a_world_of_a_group_has_the_bits_that_it_has_alone) {
    const Autoreset autoreset = _i / 2 % 2 == 0 ? AUTORESET_SAME_STEP : AUTORESET_NEXT_STEP;
    ShotRowLab template = shoot(_i);
    char shot[16];
    snprintf(shot, sizeof(shot), "#%u", template.shot + 1);
    const ChannelDef action = of_body(CHANNEL_BODY_FORCE, shot),
                     what = of_body(CHANNEL_BODY_POSITION, "#1");
    GroupDef def = group_def(WORLDS);
    def.action.count = def.observation.count = 1;
    def.action.channel = &action;
    def.observation.channel = &what;
    def.autoreset = autoreset;
    def.step_limit = LIMIT;
    Alone alone[WORLDS];
    double force[WORLDS][6], given[3 * WORLDS];
    for (uint32_t i = 0; i < WORLDS; i++) {
        alone[i] = (Alone){.of = shoot(_i)};
        push_of(&template, i, force[i]);
        memcpy(given + 3 * (size_t)i, force[i], 3 * sizeof(double));
    }
    GroupLab lab = group_lab_create(&def, take_world(&template.lab));
    group_lab_reset(&lab);
    for (int k = 0; k < STEPS; k++) {
        group_lab_step(&lab, given);
        for (uint32_t i = 0; i < WORLDS; i++) {
            step_alone(&alone[i], _i, &lab, i, force[i]);
            ck_assert_uint_eq(snapshot_hash(lab.group->world[i].world),
                              snapshot_hash(alone[i].of.lab.world));
        }
    }
    for (uint32_t i = 0; i < WORLDS; i++) {
        lab_destroy(&alone[i].of.lab);
    }
    group_lab_destroy(&lab);
}
END_TEST

static TCase *case_shots(void) {
    TCase *tcase = tcase_create("shots");
    tcase_add_loop_test(tcase, a_world_of_a_group_has_the_bits_that_it_has_alone, 0, CASES);
    return tcase;
}

SUITE_MAIN("run/groups/shots", case_shots)
