// SPDX-License-Identifier: MIT
#include "histories/ask_scene_steps.h"

#include "base/assert.h"
#include "histories/ask.h"
#include "histories/members.h"
#include "step/snapshot/snapshot.h"
#include "support/scene_forget.h"

// Questions are PLAY_QUESTIONS_MAX's.
enum { STEPS = 20, QUESTIONS_MAX = 20 };

// The world itself; what its scene makes; and what that one's scene makes.
typedef enum Who { FORGETFUL, MADE, MADE_AGAIN, WHO_COUNT } Who;

typedef struct Race {
    Play *play;
    Door door[WHO_COUNT];
    bool is_in[WHO_COUNT]; // it begins as MADE does, to the bit
    uint64_t questions;
    bool is_over; // a solver took too long
} Race;

static bool make_forgetful(Race *race, const World *world) {
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    Arena *arena = &race->play->memory;
    ASSERT(snapshot_write(world, arena, &bytes, &count, NULL) == STATUS_OK);
    const Input input = {.kind = INPUT_RESTORE,
                         .restore = {.snapshot = bytes, .snapshot_bytes = count}};
    if (door_change(&race->door[FORGETFUL], &input, arena, NULL, NULL, &error) != STATUS_OK) {
        return play_found(race->play, PROPERTY_AGAIN, "own snapshot",
                          "its own snapshot is refused: %.300s", error.message);
    }
    scene_forget(race->door[FORGETFUL].world, arena);
    return true;
}

static bool ask_to_stop(void *context) {
    Race *race = context;
    return ++race->questions > QUESTIONS_MAX;
}

static Status step(Race *race, Who who) {
    const Stop stop = {.asked = ask_to_stop, .context = race};
    const Context context = {.stop = &stop};
    Door *door = &race->door[who];
    const uint64_t before = door->world->step;
    Input order = {.kind = INPUT_STEP, .step = {.steps = 1}};
    StepRun run;
    Status status = door_step_begin(door, &order, &race->play->memory, &run, NULL);
    if (status == STATUS_OK) {
        status = door_step(door, &run, &race->play->scratch, 0, &context, NULL);
        race->is_over = race->is_over || (status == STATUS_OK && door->world->step == before);
    }
    return status;
}

// Those that are in it are where MADE is.
static bool are_abreast(Race *race, int steps) {
    const char *const names[WHO_COUNT] = {
        [FORGETFUL] = "steps of a scene", [MADE_AGAIN] = "steps of a scene's scene"};
    for (Who who = 0; who < WHO_COUNT; who++) {
        const char *apart = race->is_in[who]
                                ? members_move_apart(race->door[who].world, race->door[MADE].world)
                                : NULL;
        if (apart != NULL) {
            return play_found(race->play, PROPERTY_SCENE, names[who],
                              "%d steps behind its scene it has another %s", steps, apart);
        }
    }
    return true;
}

static bool run(Race *race) {
    for (Who who = 0; who < WHO_COUNT; who++) {
        race->is_in[who] = members_are_placed_alike(race->door[who].world, race->door[MADE].world);
    }
    Status status = STATUS_OK;
    bool is_fine = true;
    for (int i = 0; is_fine && !race->is_over && status == STATUS_OK && i < STEPS; i++) {
        status = step(race, MADE);
        for (Who who = 0; who < WHO_COUNT && is_fine && !race->is_over; who++) {
            // one that was given up says nothing of whether it can
            const bool is_same =
                who == MADE || !race->is_in[who] || step(race, who) == status || race->is_over;
            is_fine = is_same || play_found(race->play, PROPERTY_SCENE, "step of a scene",
                                            "one of them cannot take its step %d", i + 1);
        }
        is_fine = is_fine && (race->is_over || are_abreast(race, i + 1));
    }
    return is_fine;
}

bool ask_scene_steps(Play *play, const World *world) {
    Race race = {.play = play};
    for (Who who = 0; who < WHO_COUNT; who++) {
        ASSERT(door_init(&race.door[who], &world->limits, NULL) == STATUS_OK);
    }
    const bool is_fine =
        make_forgetful(&race, world) && ask_make_scene(play, world, &race.door[MADE]) &&
        ask_make_scene(play, race.door[MADE].world, &race.door[MADE_AGAIN]) && run(&race);
    for (Who who = 0; who < WHO_COUNT; who++) {
        door_deinit(&race.door[who]);
    }
    return is_fine;
}
