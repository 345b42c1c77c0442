// SPDX-License-Identifier: MIT
#include "bench/curve/verdict.h"

#include "support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void add_point(CurveLine *line, const char *name, double ns, double ds) {
    CurvePoint *point = &line->point[line->count++];
    *point = (CurvePoint){.ns = ns, .ns_worst = ns, .ds = ds, .ds_worst = ds, .count = 1};
    snprintf(point->name, sizeof(point->name), "%s", name);
}

// Ours: 1e-2 in 10 us, 1e-4 in 100, certified in 1 ms.
static CurveScene scene_of(void) {
    CurveScene scene = {.name = "s", .about = "s", .count = 1};
    add_point(&scene.line[0], "few", 1e4, 1e-2);
    add_point(&scene.line[0], "many", 1e5, 1e-4);
    add_point(&scene.line[0], "exact", 1e6, 4e-7);
    return scene;
}

static CurveLine *add_peer(CurveScene *scene) {
    CurveLine *peer = &scene->line[scene->count++];
    peer->is_peer = peer->is_bound = true;
    snprintf(peer->name, sizeof(peer->name), "peer");
    return peer;
}

static void assert_text(const CurveScene *scene, const char *expected) {
    char text[VERDICT_BYTES];
    verdict_write(scene, text);
    ck_assert_str_eq(text, expected);
}

START_TEST(who_is_slower_and_coarser_everywhere_is_met) {
    CurveScene scene = scene_of();
    CurveLine *peer = add_peer(&scene);
    add_point(peer, "2", 2e4, 2e-2);
    add_point(peer, "20", 2e5, 1e-3);
    Verdict verdict = verdict_of(&scene, peer);
    ck_assert_uint_eq(verdict.ahead, 2);
    ck_assert_uint_eq(verdict.ahead_of, 2);
    ck_assert_double_eq(verdict.ratio_max, 0.5); // 1e4 / 2e4, 1e5 / 2e5
    assert_text(&scene, "met: ahead at 2 of 2; at most 0.50x the time of peer, 2");
}
END_TEST

START_TEST(who_is_faster_or_finer_is_named) {
    CurveScene scene = scene_of();
    CurveLine *peer = add_peer(&scene);
    add_point(peer, "2", 5e3, 5e-1);  // before we have anything
    add_point(peer, "20", 5e4, 1e-3); // what takes us twice as long
    Verdict verdict = verdict_of(&scene, peer);
    ck_assert_uint_eq(verdict.ahead, 0);
    ck_assert_uint_eq(verdict.ahead_of, 2);
    ck_assert_double_eq(verdict.ratio_max, 2.0);
    assert_text(&scene, "missed: ahead at 0 of 2; at most 2.00x the time of peer, 2");
}
END_TEST

// A bound of nothing is not seen; what is as good as solved is as good as another's solution.
START_TEST(nobody_asks_for_more_than_a_certificate_does) {
    CurveScene scene = scene_of();
    CurveLine *peer = add_peer(&scene);
    add_point(peer, "2", 1e3, 0.0);
    add_point(peer, "20", 2e6, 1e-13);
    Verdict verdict = verdict_of(&scene, peer);
    ck_assert_uint_eq(verdict.ahead_of, 1);
    ck_assert_uint_eq(verdict.ahead, 1);
    ck_assert_double_eq(verdict.ratio_max, 0.5);
    ck_assert_double_eq(verdict_ns(&scene, 1e-13), 1e6);
}
END_TEST

START_TEST(what_is_never_reached_is_said) {
    CurveScene scene = scene_of();
    scene.line[0].count = 2; // without the exact one
    CurveLine *peer = add_peer(&scene);
    add_point(peer, "50", 1e7, 1e-5);
    ck_assert(isinf(verdict_of(&scene, peer).ratio_max));
    assert_text(&scene, "missed: ahead at 0 of 1; never as peer, 50");
    scene.count = 1;
    assert_text(&scene, "no peer; 1e-3 in 0.1 ms, 1e-6 never");
}
END_TEST

static TCase *case_verdict(void) {
    TCase *tcase = tcase_create("verdict");
    tcase_add_test(tcase, who_is_slower_and_coarser_everywhere_is_met);
    tcase_add_test(tcase, who_is_faster_or_finer_is_named);
    tcase_add_test(tcase, nobody_asks_for_more_than_a_certificate_does);
    tcase_add_test(tcase, what_is_never_reached_is_said);
    return tcase;
}

SUITE_MAIN("bench/curve/verdict", case_verdict)
