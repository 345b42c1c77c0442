// SPDX-License-Identifier: MIT
// What the scenes of tests/scenes take of memory is no more the longer they are stepped. Steps that
// were taken once are taken again by the same stepper, from the same state: nobody needs room that
// he does not have. And of its last step a stepper has as many things as one that was never used.
#include "wire/scene/scene.h"

#include "step/snapshot/snapshot.h"
#include "support/campaign.h"
#include "support/scene_list.h"
#include "support/scene_world.h"
#include "support/step_counts.h"
#include "support/suite.h"

static SceneList scenes;

// Of a change; deploy/test --all takes ten times as many, and the large scenes.
enum { STEPS = 60 };

typedef struct Held {
    size_t stepper, world, scratch;
} Held;

// A snapshot in memory of its own.
typedef struct Kept {
    Arena arena;
    uint8_t *bytes;
    size_t count;
} Kept;

static Kept keep(const World *world) {
    Kept kept;
    arena_init(&kept.arena, (size_t)1 << 28);
    ck_assert_int_eq(snapshot_write(world, &kept.arena, &kept.bytes, &kept.count, NULL), STATUS_OK);
    return kept;
}

static void put_back(Stage *stage, const Kept *kept) {
    const Input input = {.kind = INPUT_RESTORE,
                         .restore = {.snapshot = kept->bytes, .snapshot_bytes = kept->count}};
    Arena arena;
    Error error = {0};
    arena_init(&arena, (size_t)1 << 28);
    ck_assert_int_eq(apply_change(stage->world, stage->stepper, &input, &arena, NULL, NULL, &error),
                     STATUS_OK);
    arena_deinit(&arena);
}

static void step(Stage *stage) {
    const StepInput input = {.time_step = stage->world->settings.time_step};
    Error error = {0};
    arena_reset(&stage->arena);
    const Status status = stepper_run(stage->stepper, stage->world, &input, &stage->arena, NULL,
                                      &stage->report, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
}

// The last of them is also taken by a stepper that has taken none.
static void take_steps(Stage *stage, int count, const char *name) {
    for (int i = 0; i + 1 < count; i++) {
        step(stage);
    }
    Kept before = keep(stage->world);
    const WorldLimits limits = stage->world->limits;
    Stage fresh = {0};
    Error error = {0};
    arena_init(&fresh.arena, (size_t)1 << 30);
    ck_assert_int_eq(apply_create(&limits, &fresh.world, &fresh.stepper, &error), STATUS_OK);
    put_back(&fresh, &before);
    step(stage);
    step(&fresh);
    const StepCount differs = step_counts_differ(stage->world, stage->stepper, fresh.stepper);
    ck_assert_msg(differs.of == NULL, "%s: %zu %s, and %zu by a stepper that took no other step",
                  name, differs.one, differs.of, differs.other);
    world_destroy(fresh.world);
    stepper_destroy(fresh.stepper);
    arena_deinit(&fresh.arena);
    arena_deinit(&before.arena);
}

static Held held_by(Stage *stage) {
    arena_reset(&stage->arena); // into one block
    return (Held){stepper_bytes(stage->stepper), world_bytes(stage->world),
                  stage->arena.total_bytes};
}

START_TEST(a_scene_takes_no_more_memory_the_longer_it_is_stepped) {
    const char *name = scenes.name[_i];
    Stage stage = stage_open_file(name);
    const int steps = campaign_count(STEPS);
    take_steps(&stage, 1 + steps / 3, name);
    Kept kept = keep(stage.world);
    put_back(&stage, &kept); // as it will be once more
    take_steps(&stage, steps - steps / 3, name);
    const Held first = held_by(&stage);
    put_back(&stage, &kept);
    take_steps(&stage, steps - steps / 3, name);
    const Held again = held_by(&stage);
    ck_assert_msg(again.stepper <= first.stepper, "%s: the stepper held %zu bytes, and then %zu",
                  name, first.stepper, again.stepper);
    ck_assert_msg(again.world <= first.world, "%s: the world held %zu bytes, and then %zu", name,
                  first.world, again.world);
    ck_assert_msg(again.scratch <= first.scratch,
                  "%s: the scratch memory was of %zu bytes, and then of %zu", name, first.scratch,
                  again.scratch);
    arena_deinit(&kept.arena);
    stage_close(&stage);
}
END_TEST

static TCase *case_memory(void) {
    scene_list_add(&scenes, "");
    scene_list_add(&scenes, "joints/");
    scene_list_add(&scenes, "shapes/");
    if (campaign_count(100) > 100) {
        scene_list_add(&scenes, "large/");
        scene_list_add(&scenes, "moving/");
    }
    TCase *tcase = tcase_create("memory");
    tcase_set_timeout(tcase, 600.0);
    tcase_add_loop_test(tcase, a_scene_takes_no_more_memory_the_longer_it_is_stepped, 0,
                        scenes.count);
    return tcase;
}

SUITE_MAIN("wire/memory_scenes", case_memory)
