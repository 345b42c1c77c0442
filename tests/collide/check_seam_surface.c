// SPDX-License-Identifier: MIT
// Places above and below hills: where one look around all of them finds nothing, none of them finds
// a triangle that it is on.
#include "collide/seam.h"

#include "collide/cells.h"
#include "collide/geometry.h"
#include "support/campaign.h"
#include "support/suite.h"

enum { SIDE = 8, POINTS = (SIDE + 1) * (SIDE + 1), PLACES = 6 };

// 2 m by 2 m of cells of a quarter of a metre.
static Mesh *make_hills(Dice *dice, double bump) {
    Vec3 point[POINTS];
    for (uint32_t k = 0; k < POINTS; k++) {
        const uint32_t row = k / (SIDE + 1), column = k % (SIDE + 1);
        point[k] =
            vec3(0.25 * column - 1.0, 0.25 * row - 1.0, bump * dice_between(dice, -1.0, 1.0));
    }
    return make_cells(point, SIDE);
}

START_TEST(where_nothing_is_near_any_of_many_places_none_is_on_a_triangle) {
    Dice dice = {4701};
    int none = 0, found = 0;
    for (int round = 0, rounds = campaign_count(40); round < rounds; round++) {
        Mesh *mesh = make_hills(&dice, round % 2 == 0 ? 0.02 : 0.2);
        for (int i = 0; i < 500; i++) {
            const double depth = pow(10.0, dice_between(&dice, -3.0, -0.5));
            const double step = depth * dice_between(&dice, 0.1, 1.0);
            const Vec3 middle = dice_vec(&dice, -1.3, 1.3);
            const double spread = pow(10.0, dice_between(&dice, -3.0, -0.5));
            Vec3 place[PLACES], low = vec3(HUGE_VAL, HUGE_VAL, HUGE_VAL), high = vec3_neg(low);
            for (int k = 0; k < PLACES; k++) {
                place[k] = vec3_add(middle, dice_vec(&dice, -spread, spread));
                low = vec3_min(low, place[k]);
                high = vec3_max(high, place[k]);
            }
            const bool finds = seam_search_finds(mesh, low, high, depth);
            for (int k = 0; k < PLACES; k++) {
                SeamSearch search;
                uint32_t triangle;
                seam_search_begin(&search, mesh, place[k], step, depth);
                const bool is_on = seam_search_next(&search, &triangle);
                ck_assert(finds || !is_on);
                found += is_on;
            }
            none += !finds;
        }
        free(mesh);
    }
    ck_assert_int_gt(none, campaign_count(4000));
    ck_assert_int_gt(found, campaign_count(2000));
}
END_TEST

static TCase *case_seam_surface(void) {
    TCase *tcase = tcase_create("seam surface");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, where_nothing_is_near_any_of_many_places_none_is_on_a_triangle);
    return tcase;
}

SUITE_MAIN("collide/seam_surface", case_seam_surface)
