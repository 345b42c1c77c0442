// SPDX-License-Identifier: MIT
#include "collide/broad.h"

#include "collide/broad_parts.h"
#include "collide/broad_valid.h"
#include "collide/geometry.h"
#include "support/campaign.h"
#include "support/suite.h"

#include <string.h>

enum { COUNT_MAX = 100001 };

typedef struct Scene {
    uint32_t count;
    BroadBox *box;
    uint8_t *fixed;
    Arena *scratch;
} Scene;

static Scene scene_create(uint32_t count) {
    Arena *scratch = malloc(sizeof(*scratch));
    arena_init(scratch, SIZE_MAX);
    return (Scene){.count = count,
                   .box = calloc(count, sizeof(BroadBox)),
                   .fixed = calloc(count, 1),
                   .scratch = scratch};
}

static void scene_destroy(Scene *scene) {
    arena_deinit(scene->scratch);
    free(scene->scratch);
    free(scene->box);
    free(scene->fixed);
}

static BroadBox cube_at(Vec3 center, double half) {
    return (BroadBox){vec3_sub(center, vec3(half, half, half)),
                      vec3_add(center, vec3(half, half, half))};
}

static bool is_overlap(const BroadBox *a, const BroadBox *b) {
    return a->lower.x <= a->upper.x && b->lower.x <= b->upper.x && a->lower.x <= b->upper.x &&
           b->lower.x <= a->upper.x && a->lower.y <= b->upper.y && b->lower.y <= a->upper.y &&
           a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

static bool is_void(const BroadBox *box) {
    return !(box->lower.x <= box->upper.x);
}

static void assert_order(const BroadPair *pairs, size_t pair_count) {
    bool is_ordered = true;
    for (size_t k = 1; k < pair_count; k++) {
        is_ordered = is_ordered && (pairs[k - 1].a < pairs[k].a ||
                                    (pairs[k - 1].a == pairs[k].a && pairs[k - 1].b < pairs[k].b));
    }
    ck_assert(is_ordered);
}

// Sorted, none twice, no pair of two fixed or of a void one, and every overlap of the n^2 reference
// is there.
static size_t assert_candidates(const Scene *scene, const BroadPair *pairs, size_t pair_count) {
    size_t next = 0, missing = 0, overlaps = 0;
    for (size_t k = 0; k < pair_count; k++) {
        ck_assert(pairs[k].a < pairs[k].b && pairs[k].b < scene->count);
        ck_assert(k == 0 || pairs[k - 1].a < pairs[k].a ||
                  (pairs[k - 1].a == pairs[k].a && pairs[k - 1].b < pairs[k].b));
        ck_assert(!(scene->fixed[pairs[k].a] && scene->fixed[pairs[k].b]));
        ck_assert(!is_void(&scene->box[pairs[k].a]) && !is_void(&scene->box[pairs[k].b]));
    }
    for (uint32_t i = 0; i < scene->count; i++) {
        for (uint32_t j = i + 1; j < scene->count; j++) {
            if ((scene->fixed[i] && scene->fixed[j]) ||
                !is_overlap(&scene->box[i], &scene->box[j])) {
                continue;
            }
            overlaps++;
            while (next < pair_count &&
                   (pairs[next].a < i || (pairs[next].a == i && pairs[next].b < j))) {
                next++;
            }
            missing += !(next < pair_count && pairs[next].a == i && pairs[next].b == j);
        }
    }
    ck_assert_uint_eq(missing, 0);
    return overlaps;
}

static void update(Broad *broad, const Scene *scene, const BroadPair **pairs, size_t *pair_count) {
    ck_assert_int_eq(broad_update(broad, scene->count, scene->box, scene->fixed, scene->scratch,
                                  &(Context){0}, pairs, pair_count),
                     STATUS_OK);
    ck_assert_uint_eq(scene->scratch->used_bytes, 0);
}

static void fill_scene(Scene *scene, Dice *dice, double decades) {
    for (uint32_t i = 0; i < scene->count; i++) {
        double half = 0.3;
        for (double k = 10.0 * decades * dice_unit(dice); k > 0.0; k -= 1.0) {
            half *= 0.8; // a tenth of a decade
        }
        scene->box[i] = cube_at(dice_vec(dice, -2.0, 2.0), half);
        scene->fixed[i] = dice_unit(dice) < 0.2;
    }
    scene->box[3] =
        (BroadBox){vec3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL), vec3(HUGE_VAL, HUGE_VAL, -1.0)};
    scene->fixed[3] = 1;
    scene->box[4] = (BroadBox){vec3(1.0, 0.0, 0.0), vec3(-1.0, 0.0, 0.0)};
}

static void shift(BroadBox *box, Vec3 by) {
    box->lower = vec3_add(box->lower, by);
    box->upper = vec3_add(box->upper, by);
}

// One step of a scene in which bodies creep, jump, grow, vanish, come back and change from fixed to
// free.
static void stir(Scene *scene, Dice *dice, double busy) {
    for (uint32_t i = 5; i < scene->count; i++) {
        double chance = dice_unit(dice);
        if (scene->fixed[i]) {
            bool is_still = dice_unit(dice) < 0.5;
            scene->fixed[i] = is_still ? BROAD_STILL : BROAD_FIXED;
            if (is_still) {
                continue;
            }
        }
        if (chance < busy) {
            shift(&scene->box[i], dice_vec(dice, -0.05, 0.05));
        } else if (chance < busy + 0.002) {
            scene->box[i] = cube_at(dice_vec(dice, -2.0, 2.0), dice_between(dice, 0.001, 0.4));
        } else if (chance < busy + 0.0025) {
            scene->fixed[i] = !scene->fixed[i];
        } else {
            shift(&scene->box[i], dice_vec(dice, -1e-4, 1e-4));
        }
    }
    if (dice_unit(dice) < 0.1) {
        scene->box[4] = is_void(&scene->box[4])
                            ? cube_at(vec3(0.0, 0.0, 0.0), 1.0)
                            : (BroadBox){vec3(1.0, 0.0, 0.0), vec3(-1.0, 0.0, 0.0)};
    }
    if (dice_unit(dice) < 0.05) {
        scene->box[3].upper.z = dice_between(dice, -2.0, 0.0);
    }
}

static const struct {
    uint32_t count;
    double decades, busy;
} stirred[] = {{5, 0.0, 0.5},   {40, 1.0, 0.2},  {400, 0.0, 0.0}, {400, 0.0, 0.05},
               {400, 0.0, 1.0}, {400, 3.0, 0.1}, {700, 4.0, 0.3}, {700, 2.0, 0.01}};

START_TEST(every_overlap_is_a_candidate_however_the_bodies_move) {
    Dice dice = {0xabcdef + (uint64_t)_i};
    Scene scene = scene_create(stirred[_i].count);
    fill_scene(&scene, &dice, stirred[_i].decades);
    Broad *broad = broad_create();
    const BroadPair *pairs;
    size_t pair_count, overlaps = 0;
    for (int step = 0, campaign = campaign_count(120); step < campaign; step++) {
        update(broad, &scene, &pairs, &pair_count);
        overlaps += assert_candidates(&scene, pairs, pair_count);
        stir(&scene, &dice, stirred[_i].busy);
    }
    ck_assert_uint_gt(overlaps, scene.count < 10 ? 0 : (size_t)campaign_count(600));
    broad_destroy(broad);
    scene_destroy(&scene);
}
END_TEST

// What callers make of the candidates: the pairs whose boxes truly overlap.
static size_t filter_overlaps(const Scene *scene, const BroadPair *pairs, size_t pair_count,
                              BroadPair *kept) {
    size_t count = 0;
    for (size_t k = 0; k < pair_count; k++) {
        if (is_overlap(&scene->box[pairs[k].a], &scene->box[pairs[k].b])) {
            kept[count++] = pairs[k];
        }
    }
    return count;
}

START_TEST(what_is_made_of_the_candidates_does_not_depend_on_history) {
    Dice dice = {31};
    Scene scene = scene_create(500);
    fill_scene(&scene, &dice, 1.0);
    Broad *old = broad_create(), *forgetful = broad_create();
    BroadPair *kept_old = calloc(500 * 500, sizeof(BroadPair)),
              *kept_new = calloc(500 * 500, sizeof(BroadPair));
    const BroadPair *pairs;
    size_t pair_count;
    for (int step = 0, campaign = campaign_count(100); step < campaign; step++) {
        update(old, &scene, &pairs, &pair_count);
        size_t count_old = filter_overlaps(&scene, pairs, pair_count, kept_old);
        broad_reset(forgetful);
        update(forgetful, &scene, &pairs, &pair_count);
        size_t count_new = filter_overlaps(&scene, pairs, pair_count, kept_new);
        ck_assert_uint_eq(count_old, count_new);
        ck_assert_mem_eq(kept_old, kept_new, count_old * sizeof(BroadPair));
        stir(&scene, &dice, 0.1);
    }
    free(kept_old);
    free(kept_new);
    broad_destroy(old);
    broad_destroy(forgetful);
    scene_destroy(&scene);
}
END_TEST

START_TEST(the_number_of_bodies_may_change_without_a_word) {
    Dice dice = {5};
    Broad *broad = broad_create();
    const BroadPair *pairs;
    size_t pair_count;
    static const uint32_t counts[] = {0, 6, 300, 299, 6, 900, 0, 5};
    for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
        Scene scene = scene_create(counts[k] + 1); // calloc of nothing may be NULL
        if (counts[k] > 4) {
            fill_scene(&scene, &dice, 0.0);
        }
        scene.count = counts[k];
        update(broad, &scene, &pairs, &pair_count);
        assert_candidates(&scene, pairs, pair_count);
        scene_destroy(&scene);
    }
    broad_destroy(broad);
}
END_TEST

START_TEST(a_plane_meets_all_that_is_not_fixed) {
    Scene scene = scene_create(100);
    Dice dice = {6};
    for (uint32_t i = 0; i < 100; i++) {
        scene.box[i] = cube_at(dice_vec(&dice, -1e3, 1e3), 0.1);
        scene.fixed[i] = i % 2 == 0;
    }
    scene.box[10] =
        (BroadBox){vec3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL), vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL)};
    Broad *broad = broad_create();
    const BroadPair *pairs;
    size_t pair_count;
    update(broad, &scene, &pairs, &pair_count);
    ck_assert_uint_ge(pair_count, 50);
    assert_candidates(&scene, pairs, pair_count);
    broad_destroy(broad);
    scene_destroy(&scene);
}
END_TEST

START_TEST(boxes_that_are_no_numbers_touch_nothing_and_harm_nothing) {
    Dice dice = {8};
    Scene scene = scene_create(200);
    fill_scene(&scene, &dice, 0.0);
    Broad *broad = broad_create();
    const BroadPair *pairs;
    size_t pair_count;
    for (int step = 0; step < 20; step++) {
        stir(&scene, &dice, 0.2);
        scene.box[20 + step].lower.y = (double)NAN;
        scene.box[60 + step] = cube_at(vec3(1e308, -1e308, 1e308), 1e308);
        update(broad, &scene, &pairs, &pair_count);
        for (size_t k = 0; k < pair_count; k++) {
            ck_assert_uint_ne(pairs[k].a, (uint32_t)(20 + step));
            ck_assert_uint_ne(pairs[k].b, (uint32_t)(20 + step));
        }
        assert_candidates(&scene, pairs, pair_count);
    }
    broad_destroy(broad);
    scene_destroy(&scene);
}
END_TEST

START_TEST(a_steady_state_takes_no_more_memory) {
    Dice dice = {9};
    Scene scene = scene_create(2000);
    fill_scene(&scene, &dice, 1.0);
    Broad *broad = broad_create();
    const BroadPair *pairs;
    size_t pair_count, held = 0;
    for (int step = 0; step < 100; step++) {
        // to and fro: the same two states for ever
        for (uint32_t i = 5; i < scene.count; i++) {
            shift(&scene.box[i], vec3(step % 2 == 0 ? 0.3 : -0.3, 0.0, 0.0));
        }
        update(broad, &scene, &pairs, &pair_count);
        if (step == 4) {
            held = broad_bytes(broad);
        }
    }
    ck_assert_uint_eq(broad_bytes(broad), held);
    broad_destroy(broad);
    scene_destroy(&scene);
}
END_TEST

// Candidates are kept in order, and those of movers searched for beside them, which are found twice
// where two meet. Neither holds more than all pairs once and those of the movers twice, and half as
// much as reserve.
START_TEST(bodies_that_wander_for_ever_take_no_more_memory) {
    enum { COUNT = 40, PAIRS = COUNT * (COUNT - 1) / 2, LISTS = 2, BODY_BYTES = 512 };
    Dice dice = {12};
    Scene scene = scene_create(COUNT);
    fill_scene(&scene, &dice, 0.0);
    Broad *broad = broad_create();
    const BroadPair *pairs;
    size_t pair_count = 0;
    for (int step = 0, campaign = campaign_count(2000); step < campaign; step++) {
        double busy = dice_between(&dice, 0.0, 0.3);
        double spread = 2.5 - 2.0 * step / 2000.0; // each meets more and more
        for (uint32_t i = 5; i < scene.count; i++) {
            if (dice_unit(&dice) < busy) {
                scene.box[i] = cube_at(dice_vec(&dice, -spread, spread), 0.3);
            }
        }
        update(broad, &scene, &pairs, &pair_count);
    }
    ck_assert_uint_lt(broad_bytes(broad),
                      LISTS * 3 * PAIRS * sizeof(BroadPair) * 3 / 2 + COUNT * BODY_BYTES);
    broad_destroy(broad);
    scene_destroy(&scene);
}
END_TEST

// However often some move, and all is built anew in between: what one update needs beside the
// candidates is not held from one to the next but for those of its movers.
START_TEST(candidates_are_held_once) {
    enum { SIDE = 24, COUNT = SIDE * SIDE * SIDE, MOVED = COUNT / 100, NEIGHBOURS = 26 };
    Scene scene = scene_create(COUNT);
    Dice dice = {17};
    for (uint32_t i = 0; i < COUNT; i++) {
        scene.box[i] =
            cube_at(vec3(i % SIDE, (double)(i / SIDE % SIDE), (double)(i / (SIDE * SIDE))), 0.49);
    }
    Broad *broad = broad_create();
    const BroadPair *pairs;
    size_t pair_count, most = 0;
    for (int step = 0; step < 60; step++) {
        const bool all = step % 20 == 19;
        for (uint32_t k = 0; k < (all ? COUNT : MOVED); k++) {
            const uint32_t i = all ? k : (uint32_t)dice_between(&dice, 0.0, COUNT);
            shift(&scene.box[i], vec3(step % 2 == 0 ? 0.06 : -0.06, 0.0, 0.0));
        }
        update(broad, &scene, &pairs, &pair_count);
        assert_order(pairs, pair_count);
        most = pair_count > most ? pair_count : most;
    }
    ck_assert_uint_gt(most,
                      (size_t)COUNT * NEIGHBOURS / 2 * 8 / 10); // those at the sides have less
    const size_t held = (broad->pairs.capacity + broad->found.capacity) * sizeof(BroadPair);
    ck_assert_uint_eq(broad_bytes(broad), sizeof(*broad) + boxtree_bytes(&broad->tree) +
                                              broad->seen_capacity * sizeof(Seen) +
                                              broad->unbounded_capacity * sizeof(uint32_t) + held);
    // a quarter more than there are, and as much of those that were kept and found in one update
    const size_t found = (size_t)2 * MOVED * (NEIGHBOURS + 1);
    ck_assert_uint_le(held, (5 * (most + found) / 4 + 3 * found / 2) * sizeof(BroadPair));
    broad_destroy(broad);
    scene_destroy(&scene);
}
END_TEST

// A lattice of 100,000 touching cubes on a floor of 300 m: every cube has its 26 neighbours, and
// the answer can be counted.
START_TEST(a_hundred_thousand_bodies_are_all_found) {
    enum { SIDE_X = 100, SIDE_Y = 50, SIDE_Z = 20 };
    Scene scene = scene_create(COUNT_MAX);
    Dice dice = {10};
    for (int step = 0; step < 3; step++) {
        // the whole heap wanders, by more than any margin from the second step on
        Vec3 start = vec3(0.7 * step, -0.4 * step, 0.5);
        for (uint32_t i = 0; i + 1 < COUNT_MAX; i++) {
            Vec3 cell = vec3(i % SIDE_X, i / SIDE_X % SIDE_Y, i / (SIDE_X * SIDE_Y));
            scene.box[i] = cube_at(vec3_add(start, cell), 0.5 + 1e-9 + 1e-12 * dice_unit(&dice));
        }
        scene.box[COUNT_MAX - 1] = (BroadBox){vec3(-150.0, -150.0, -1.0), vec3(150.0, 150.0, 0.0)};
        scene.fixed[COUNT_MAX - 1] = 1;
        static Broad *broad;
        if (step == 0) {
            broad = broad_create();
        }
        const BroadPair *pairs;
        size_t pair_count, overlaps = 0;
        update(broad, &scene, &pairs, &pair_count);
        for (size_t k = 0; k < pair_count; k++) {
            overlaps += is_overlap(&scene.box[pairs[k].a], &scene.box[pairs[k].b]);
        }
        // ordered pairs of equal or neighbouring cells along an axis of n: 3 n - 2
        size_t neighbours =
            ((3 * SIDE_X - 2) * (3 * SIDE_Y - 2) * (3 * SIDE_Z - 2) - SIDE_X * SIDE_Y * SIDE_Z) / 2;
        ck_assert_uint_eq(overlaps, neighbours + SIDE_X * SIDE_Y);
        if (step == 2) {
            broad_destroy(broad);
        }
    }
    scene_destroy(&scene);
}
END_TEST

static TCase *case_candidates(void) {
    TCase *tcase = tcase_create("candidates");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, every_overlap_is_a_candidate_however_the_bodies_move, 0,
                        (int)(sizeof(stirred) / sizeof(stirred[0])));
    tcase_add_test(tcase, what_is_made_of_the_candidates_does_not_depend_on_history);
    tcase_add_test(tcase, the_number_of_bodies_may_change_without_a_word);
    tcase_add_test(tcase, a_plane_meets_all_that_is_not_fixed);
    tcase_add_test(tcase, boxes_that_are_no_numbers_touch_nothing_and_harm_nothing);
    tcase_add_test(tcase, a_steady_state_takes_no_more_memory);
    tcase_add_test(tcase, bodies_that_wander_for_ever_take_no_more_memory);
    return tcase;
}

// Says yes to the question of that number; 0: never.
typedef struct StopCounter {
    uint32_t count, last;
} StopCounter;

static bool count_question(void *context) {
    StopCounter *asker = context;
    return ++asker->count == asker->last;
}

static Status update_asking(Broad *broad, const Scene *scene, StopCounter *asker,
                            const BroadPair **pairs, size_t *pair_count) {
    Stop stop = {.asked = count_question, .context = asker};
    Context context = {.stop = &stop};
    Status status = broad_update(broad, scene->count, scene->box, scene->fixed, scene->scratch,
                                 &context, pairs, pair_count);
    ck_assert_uint_eq(scene->scratch->used_bytes, 0);
    return status;
}

// Everything in one place: n (n - 1)/2 pairs, each found once and moved through four passes of two
// loops. Then a tenth of the bodies move, and are searched for and merged.
START_TEST(an_update_that_is_given_up_asked_often_and_leaves_nothing_behind) {
    enum { COUNT = 1500, PAIRS = COUNT * (COUNT - 1) / 2, MOVED = COUNT / 10 };
    Scene scene = scene_create(COUNT);
    Dice dice = {31};
    for (uint32_t i = 0; i < COUNT; i++) {
        scene.box[i] = cube_at(dice_vec(&dice, -0.1, 0.1), 1.0);
    }
    Broad *broad = broad_create();
    const BroadPair *pairs;
    size_t pair_count;
    for (int phase = 0; phase < 2; phase++) {
        StopCounter willing = {0};
        ck_assert_int_eq(update_asking(broad, &scene, &willing, &pairs, &pair_count), STATUS_OK);
        ck_assert_uint_eq(pair_count, PAIRS);
        // pairs that were built, or found anew and merged into what was there
        size_t operations = phase == 0 ? 9 * (size_t)PAIRS : PAIRS + (size_t)MOVED * COUNT;
        ck_assert_uint_ge(willing.count, operations / 1000000);

        // given up at any question; phase 1 begins where phase 0 ended
        for (uint32_t last = 1; last <= willing.count; last += 1 + last / 4) {
            Broad *other = broad_create();
            StopCounter never = {0}, tired = {.last = last};
            if (phase == 1) {
                for (uint32_t i = 0; i < MOVED; i++) {
                    scene.box[i] = cube_at(vec3(0.0, 0.0, 0.0), 1.0);
                }
                update(other, &scene, &pairs, &pair_count);
                for (uint32_t i = 0; i < MOVED; i++) {
                    scene.box[i] = cube_at(vec3(0.3, 0.0, 0.0), 1.0);
                }
            }
            ck_assert_int_eq(update_asking(other, &scene, &tired, &pairs, &pair_count),
                             STATUS_ABORTED);
            ck_assert_uint_eq(tired.count, last); // and nothing was asked after
            ck_assert_int_eq(update_asking(other, &scene, &never, &pairs, &pair_count), STATUS_OK);
            ck_assert_uint_eq(pair_count, PAIRS);
            assert_order(pairs, pair_count);
            broad_destroy(other);
        }
        for (uint32_t i = 0; i < MOVED; i++) {
            scene.box[i] = cube_at(vec3(0.3, 0.0, 0.0), 1.0);
        }
    }
    broad_destroy(broad);
    scene_destroy(&scene);
}
END_TEST

static void run_reversed(void *lender, TaskBlock *block, void *work, uint32_t count) {
    (void)lender;
    while (count-- > 0) {
        block(work, count);
    }
}

// Boxes that drift, a twentieth of them or all, over two planes; in every tenth place lie hundreds,
// more pairs than a block has room for.
START_TEST(blocks_in_reverse_order_give_the_same_candidates) {
    enum { COUNT = 5000, ROUNDS = 8 };
    static const Tasks reversed = {.run = run_reversed};
    Scene scene = scene_create(COUNT);
    Dice dice = {57};
    Broad *broad = broad_create(), *straight = broad_create();
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t i = round % 2 == 0 ? 0 : 19; i < COUNT; i += round % 2 == 0 ? 1 : 20) {
            Vec3 at = dice_vec(&dice, -4.0, 4.0);
            scene.box[i] = cube_at(i % 10 == 0 ? vec3_scale(0.01, at) : at, 0.15);
        }
        for (uint32_t i = 0; i < 2; i++) {
            scene.box[i] = (BroadBox){vec3(-HUGE_VAL, -HUGE_VAL, -HUGE_VAL),
                                      vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL)};
            scene.fixed[i] = 1;
        }
        const BroadPair *pairs, *expected;
        size_t pair_count, expected_count;
        update(straight, &scene, &expected, &expected_count);
        ck_assert_int_eq(broad_update(broad, scene.count, scene.box, scene.fixed, scene.scratch,
                                      &(Context){.tasks = &reversed}, &pairs, &pair_count),
                         STATUS_OK);
        ck_assert_uint_gt(pair_count, 10 * (size_t)COUNT);
        ck_assert_uint_eq(pair_count, expected_count);
        ck_assert(memcmp(pairs, expected, pair_count * sizeof(*pairs)) == 0);
    }
    broad_destroy(broad);
    broad_destroy(straight);
    scene_destroy(&scene);
}
END_TEST

START_TEST(what_is_wrong_with_what_is_remembered_is_named) {
    Dice dice = {0xabcdef};
    Defect defect = {0};
    Scene scene = scene_create(50);
    fill_scene(&scene, &dice, 0.0);
    Broad *broad = broad_create();
    const BroadPair *pairs;
    size_t pair_count;
    ck_assert(broad_is_valid(broad, &defect));
    update(broad, &scene, &pairs, &pair_count);
    ck_assert(broad_is_valid(broad, &defect));
    const uint32_t body = broad->tree.item[0].body;
    broad->tree.item[0].body = broad->count;
    ck_assert(!broad_is_valid(broad, &defect));
    ck_assert_uint_eq(defect.index, body);
    broad->tree.item[0].body = body;
    broad->tree.node[0].box.upper.x = broad->tree.node[0].box.lower.x;
    ck_assert(!broad_is_valid(broad, &defect));
    ck_assert_str_eq(defect.thing, "node");
    broad_destroy(broad);
    scene_destroy(&scene);
}
END_TEST

static TCase *case_large(void) {
    TCase *tcase = tcase_create("large");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, what_is_wrong_with_what_is_remembered_is_named);
    tcase_add_test(tcase, candidates_are_held_once);
    tcase_add_test(tcase, a_hundred_thousand_bodies_are_all_found);
    tcase_add_test(tcase, blocks_in_reverse_order_give_the_same_candidates);
    tcase_add_test(tcase, an_update_that_is_given_up_asked_often_and_leaves_nothing_behind);
    return tcase;
}

SUITE_MAIN("collide/broad", case_candidates, case_large)
