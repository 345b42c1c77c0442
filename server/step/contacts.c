// SPDX-License-Identifier: MIT
// Which contacts a step has: boxes that hold what a body may reach in this step, candidates from
// the broad phase, points from the narrow phase, and of those the ones within reach (notation.md):
//
//     gap <= margin + 2 |g| h^2 + (h + tau) (|v_n| + mu |v_t|)   v: relative free velocity there
//
// where tau is the time of dissipation under a solver whose law has one, and pulls ahead by it.
// The second term is for bodies that rest on each other: they fall together, so their relative free
// velocity is zero, and a gap of one rounding error would let the upper one fall into the lower one
// by g h^2.
//
// Boxes and the narrow phase work with an upper bound of the right side: sqrt(1 + mu^2) |v| per
// body.
//
// With contact_plane = approach the plane is that of the free motion (collide/approach.h), and
// three things keep what a third body turns or kicks from going through: the reach is at least
// h |v|, a body that a fast one may hit reaches as far as that may push it, and boxes that may move
// farther than they are thick bring the ball inside them. Faces that neighbours cover do not push
// (seams.c).
#include "step/stages.h"

#include "base/assert.h"
#include "base/array.h"
#include "collide/approach.h"
#include "collide/convex.h"
#include "collide/foundation.h"
#include "collide/seam.h"
#include "step/near.h"

#include <math.h>
#include <string.h>

// what counts as touching, in tolerances of the solver, and at most, both as shares of g h^2: 17 nm
// with the defaults; a tower's slow ways to give are what makes the noise so many tolerances
#define TOUCH_TOLERANCES 100.0
#define TOUCH_SHARE_MAX  1e-4
// how much farther than two parts reach what is hidden goes on: no depth that they have is half
// of it
#define HIDDEN_FAR 4.0
enum { MAY_MEET_PAIRS = 16 }; // of bodies, and of a shape's primitives

static Status out_of_memory(StepState *state) {
    return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The contacts of this step do not fit the memory budget (option "
                     "--memory-bytes-max), or more "
                     "than 33 million pairs of bodies are near each other.");
}

static Status given_up(StepState *state) {
    return error_set(state->error, STATUS_ABORTED, "", "The step was given up while colliding.");
}

// The contacts of a block of candidates, in the order of the problem's, with as much room as a
// block mostly needs: what does not fit is counted, and the owner takes more.
struct PairBlock {
    const BroadPair *pair;
    size_t pair_count;
    StepFound *found; // sorted
    uint32_t room, count;
    uint32_t place;          // in the stepper's lists, of the first
    uint32_t recovery_count; // contacts that recovery_speed holds back
    bool asks_partners;      // of bodies (seams.c); without them it finds nothing
    bool is_done;
};

// The candidates of one search, and the blocks that stand for some of them.
typedef struct PairSearch {
    const StepState *state;
    PairBlock *block;
} PairSearch;

static bool is_within_reach(const StepState *state, const StepPair *pair, Vec3 normal,
                            const ManifoldPoint *point) {
    if (point->gap <= state->margin) {
        return true; // however slow they are
    }
    Vec3 v = stage_free_velocity_at(pair, point->position);
    double normal_speed = vec3_dot(normal, v);
    double tangent_speed = vec3_norm(vec3_add_scaled(v, -normal_speed, normal));
    double speed = fabs(normal_speed) + pair->material.friction * tangent_speed;
    if (state->world->settings.contact_plane == CONTACT_PLANE_APPROACH) {
        speed = fmax(speed, vec3_norm(v)); // what passes may be turned into the plane by a third
    }
    double reach = stage_ahead(state, &pair->material) * speed;
    if (stage_is_pair_pushed(state, pair->a, pair->b)) {
        reach = fmax(reach, state->reach[pair->a] + state->reach[pair->b]);
    }
    return point->gap <= state->margin + reach;
}

static bool reserve_contacts(Stepper *stepper, size_t count, bool is_divided) {
    // the contacts take the most of what a step needs; what the solver needs beside them is the
    // scratch memory's to limit
    if (count > stepper->contact_capacity && stepper_bytes(stepper) > stepper->bytes_max) {
        return false;
    }
    return ARRAY_RESERVE(stepper->contact, stepper->contact_capacity, count) &&
           ARRAY_RESERVE(stepper->problem_contact, stepper->problem_capacity, count) &&
           ARRAY_RESERVE(stepper->law, stepper->law_capacity, count) &&
           ARRAY_RESERVE(stepper->warm, stepper->warm_capacity, 3 * count) &&
           ARRAY_RESERVE(stepper->impulse, stepper->impulse_capacity, 3 * count) &&
           ARRAY_RESERVE(stepper->judged, stepper->judged_capacity, 2 * count) &&
           (!is_divided || ARRAY_RESERVE(stepper->meeting, stepper->meeting_capacity, count));
}

// Whether the parts, or between the same parts the feature, come before those of another contact of
// the pair.
static bool comes_before(const StepPart part[2], uint64_t feature, const StepFound *other) {
    if (part[0].index != other->part_a) {
        return part[0].index < other->part_a;
    }
    return part[1].index != other->part_b ? part[1].index < other->part_b
                                          : feature < other->feature;
}

// A place for a contact, by parts and feature, among those of its pair from `pair_first` on.
static StepFound *make_place(PairBlock *block, const StepPart part[2], uint64_t feature,
                             uint32_t pair_first) {
    uint32_t at = block->count++;
    if (at >= block->room) {
        return NULL;
    }
    ASSERT(block->found != NULL);
    ASSERT(pair_first <= at);
    for (; at > pair_first && comes_before(part, feature, &block->found[at - 1]); at--) {
        block->found[at] = block->found[at - 1];
    }
    return &block->found[at];
}

// The contact of these parts and that feature; NULL: there is none yet.
static StepFound *find_place(const PairBlock *block, const StepPart part[2], uint64_t feature,
                             uint32_t pair_first) {
    uint32_t low = pair_first, high = block->count < block->room ? block->count : block->room;
    while (low < high) { // sorted
        const uint32_t middle = low + (high - low) / 2;
        StepFound *found = &block->found[middle];
        if (comes_before(part, feature, found)) {
            high = middle;
        } else if (found->part_a == part[0].index && found->part_b == part[1].index &&
                   found->feature == feature) {
            return found;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

static bool is_of_face(uint64_t beside) {
    return (beside >> 32 & CONVEX_KINDS) == CONVEX_FACE;
}

// of a time: two ridges that are met no farther apart are met together, as at the corner of both
#define SAME_TIME_PART 1e-9

// Of two that a surface has of one feature: a ridge's or a peak's, as it is what is nearest; of two
// faces' the lower one, of two ridges' the one that is met first, and of those that are met
// together the lower one, whichever triangle came first.
static bool is_better(const StepFound *made, const StepFound *there) {
    if (made->is_of_face != there->is_of_face) {
        return there->is_of_face;
    }
    const bool are_together =
        fabs(made->time - there->time) <= SAME_TIME_PART * fmax(made->time, there->time);
    return made->is_of_face || are_together ? made->gap < there->gap : made->time < there->time;
}

// The points of two parts, which are of the pair's materials and meet at that time, that are within
// reach.
static void add_manifold(const StepState *state, const StepPair *pair, const StepPart part[2],
                         const Manifold *manifold, double time, const Primitive *foundation,
                         uint64_t beside, const PairPlace *place) {
    VALIDATE(manifold->count <= MANIFOLD_ROOM);
    for (uint32_t k = 0; k < manifold->count; k++) {
        const ManifoldPoint *point = &manifold->point[k];
        if (!is_within_reach(state, pair, manifold->normal, point)) {
            continue;
        }
        const StepFound made = {.a = pair->a,
                                .b = pair->b,
                                .part_a = part[0].index,
                                .part_b = part[1].index,
                                .feature = point->feature,
                                .material_a = pair->material_a,
                                .material_b = pair->material_b,
                                .point = point->position,
                                .normal = manifold->normal,
                                .gap = point->gap,
                                .foundation = foundation,
                                .is_of_face = is_of_face(beside),
                                .time = time};
        StepFound *there =
            beside == 0 ? NULL : find_place(place->block, part, point->feature, place->first);
        StepFound *found = there != NULL
                               ? is_better(&made, there) ? there : NULL
                               : make_place(place->block, part, point->feature, place->first);
        if (found != NULL) {
            *found = made;
        }
    }
}

// Takes the manifold of now, which is not empty, to that of the meeting; its time.
static double approach_parts(const StepState *state, const StepPart *a, const StepPart *b,
                             Manifold *manifold) {
    ASSERT(manifold->count > 0);
    if (state->world->settings.contact_plane != CONTACT_PLANE_APPROACH) {
        return 0.0;
    }
    const Approach approach = {.duration = state->input->time_step,
                               .reach = stage_pair_reach(state, a->body, b->body)};
    return approach_find(&a->mover, &b->mover, &approach, manifold);
}

double contacts_meet(const StepState *state, const StepPart *a, const StepPart *b,
                     Manifold *manifold) {
    narrow_collide_at(a->mover.primitive, a->mover.pose, b->mover.primitive, b->mover.pose,
                      stage_pair_reach(state, a->body, b->body), manifold);
    return manifold->count > 0 ? approach_parts(state, a, b, manifold) : 0.0;
}

// The least gap now, from which the free motion comes to the manifold's at its time.
static double gap_now(const StepPair *pair, const Manifold *manifold, double time) {
    double least = HUGE_VAL;
    for (uint32_t k = 0; k < manifold->count; k++) {
        const ManifoldPoint *point = &manifold->point[k];
        double closing = vec3_dot(manifold->normal, stage_free_velocity_at(pair, point->position));
        least = fmin(least, point->gap - time * closing);
    }
    return least;
}

// The sizes of two parts, and how far they may come: no farther than so many times these sizes, as
// what goes on farther takes the digits of what it meets with.
#define FAR_SPANS 1e6

static double far_of(const StepState *state, const StepPart part[2]) {
    const double far = state->margin + state->reach[part[0].body] + state->reach[part[1].body];
    const double spans =
        primitive_span(part[0].mover.primitive) + primitive_span(part[1].mover.primitive);
    return fmin(far + spans, FAR_SPANS * spans);
}

// A meeting of two parts as if their hidden faces were not there.
static double meet_beside(const StepState *state, const StepPart part[2], const uint32_t hidden[2],
                          Manifold *manifold) {
    const double far = far_of(state, part);
    Primitive primitive[2] = {*part[0].mover.primitive, *part[1].mover.primitive};
    Pose pose[2] = {*part[0].mover.pose, *part[1].mover.pose};
    StepPart beside[2] = {part[0], part[1]};
    for (int side = 0; side < 2; side++) {
        seam_extend(hidden[side] & SEAM_FACES, HIDDEN_FAR * far, &primitive[side], &pose[side]);
        beside[side].mover.primitive = &primitive[side];
        beside[side].mover.pose = &pose[side];
    }
    return contacts_meet(state, &beside[0], &beside[1], manifold);
}

// Where a cover or the owner goes its own way: who lies in a hidden face by little, and without it
// by a tenth of the smaller one's size and by many times as much, would leave through the whole of
// the other: in a heap it is a body that lies before a face for a moment, and its own contact that
// holds. In a ground in pieces nothing else would: there who is that deep comes out.
#define OTHER_SIDE_STEPS 100.0
#define OTHER_SIDE_TIMES 8.0

static bool is_other_side(double gap, double raw, double step, bool is_loose) {
    return gap < -step && (raw > -step || (is_loose && gap < -OTHER_SIDE_STEPS * step &&
                                           gap < OTHER_SIDE_TIMES * raw));
}

static bool is_on_hull(const Hull *hull, Vec3 place, double step) {
    bool is_on = true;
    for (uint32_t i = 0; is_on && i < hull->face_count; i++) {
        is_on = vec3_dot(hull->normal[i], place) <= hull->offset[i] + step;
    }
    return is_on;
}

// The meeting with a face of a hull as if the hull were all that is behind it, as both are now, at
// those points that are on the face; how deep it is.
static double meet_face(const StepState *state, const StepPart part[2], int side, uint32_t face,
                        Manifold *manifold) {
    static const Primitive plane = {.kind = PRIMITIVE_PLANE};
    const Hull *hull = part[side].mover.primitive->geometry->hull;
    const Pose *of = part[side].mover.pose;
    const Vec3 normal = hull->normal[face];
    const Pose on = {pose_apply(*of, vec3_scale(hull->offset[face], normal)),
                     quat_mul(of->orientation, stage_facing(normal))};
    const Primitive *primitive[2] = {part[0].mover.primitive, part[1].mover.primitive};
    const Pose *pose[2] = {part[0].mover.pose, part[1].mover.pose};
    primitive[side] = &plane;
    pose[side] = &on;
    narrow_collide_at(primitive[0], pose[0], primitive[1], pose[1],
                      stage_pair_reach(state, part[0].body, part[1].body), manifold);
    const SeamPoints points = seam_points(manifold, of, side);
    const double step = seam_step(part[0].mover.primitive, part[1].mover.primitive);
    double least = HUGE_VAL;
    uint32_t count = 0;
    for (uint32_t k = 0; k < manifold->count; k++) {
        if (is_on_hull(hull, points.point[k], step)) {
            manifold->point[count++] = manifold->point[k];
            least = fmin(least, manifold->point[k].gap);
        }
    }
    manifold->count = count;
    return least;
}

// Out of hulls that are ground in pieces, by that of their faces which nobody hides and which
// leaves least to go; as it was, where there is none. What is over none of their faces only leans
// on the rim of a hidden one, and is whoever's that hides it: a round one would be pushed aside.
// false: the partners are not at hand.
static bool leave_hulls(const StepState *state, const StepPart part[2], const uint32_t hidden[2],
                        double *time, Manifold *manifold, bool *asks_partners) {
    double best = -HUGE_VAL;
    bool is_over = false;
    for (int side = 0; side < 2; side++) {
        const Primitive *owner = part[side].mover.primitive;
        const uint32_t faces =
            (hidden[side] & SEAM_HIDES_ALL) != 0 ? owner->geometry->hull->face_count : 0;
        for (uint32_t face = 0; face < faces; face++) {
            Manifold by_face;
            const double gap = meet_face(state, part, side, face, &by_face);
            uint32_t behind[2] = {0, 0};
            is_over = is_over || by_face.count > 0;
            if (by_face.count == 0 || !(gap > best)) {
                continue;
            }
            if (!seams_find(state, part, 0.0, &by_face, behind, asks_partners)) {
                return false;
            }
            if (behind[side] == 0) {
                best = gap;
                *manifold = by_face;
                *time = 0.0;
            }
        }
    }
    manifold->count = is_over ? manifold->count : 0;
    return true;
}

// Whether two boxes that both go on behind hidden faces meet where neither of them is.
static bool meets_beyond(const StepPart part[2], const uint32_t hidden[2], double time, double step,
                         const Manifold *manifold) {
    ASSERT(step > 0.0 && manifold->count <= MANIFOLD_ROOM);
    uint32_t there = 0;
    for (int side = 0; side < 2 && hidden[0] != 0 && hidden[1] != 0; side++) {
        const Mover *mover = &part[side].mover;
        const Pose pose = time > 0.0 ? approach_pose(mover, time) : *mover->pose;
        const SeamPoints points = seam_points(manifold, &pose, side);
        for (uint32_t k = 0; k < points.count; k++) {
            const SeamPoints one = {.count = 1, .point = {points.point[k]}};
            there |= seam_is_on(mover->primitive, &one, step) ? 1u << k : 0u;
        }
    }
    return hidden[0] != 0 && hidden[1] != 0 && there + 1u != 1u << manifold->count;
}

// Takes the manifold, of which faces are hidden, to one that leans on none such, and its time with
// it; none is left where all of it did. Two that overlap deeply, and may leave each other by hidden
// faces alone, leave as if there were none: beyond those they are nowhere. false: the partners are
// not at hand.
static bool leave_hidden(const StepState *state, StepPair *pair, const StepPart part[2],
                         uint32_t hidden[2], double *time, Manifold *manifold,
                         bool *asks_partners) {
    ASSERT((hidden[0] | hidden[1]) != 0);
    const double step = seam_step(part[0].mover.primitive, part[1].mover.primitive);
    const double raw = gap_now(pair, manifold, *time), raw_time = *time;
    const Manifold raw_manifold = *manifold;
    uint32_t before[2];
    do {
        const bool is_loose = ((hidden[0] | hidden[1]) & SEAM_IS_LOOSE) != 0;
        if (((hidden[0] | hidden[1]) & SEAM_HIDES_ALL) != 0) {
            manifold->count = raw < -step ? manifold->count : 0; // who is deep in it comes out
            if (manifold->count == 0 || is_loose) {
                return true;
            }
            const bool is_known = leave_hulls(state, part, hidden, time, manifold, asks_partners);
            stage_load_pair(state, pair, pair->a, pair->b, *time);
            return is_known;
        }
        *time = meet_beside(state, part, hidden, manifold);
        stage_load_pair(state, pair, pair->a, pair->b, *time);

        // what is left and lies deep is the other side of something, unless all of it is deep
        const double gap = gap_now(pair, manifold, *time);
        const bool is_beyond = meets_beyond(part, hidden, *time, step, manifold);
        if (is_beyond ? raw > -step : is_other_side(gap, raw, step, is_loose)) {
            manifold->count = 0;
        } else if (is_beyond || gap < -0.5 * HIDDEN_FAR * far_of(state, part)) {
            *manifold = raw_manifold;
            *time = raw_time;
            stage_load_pair(state, pair, pair->a, pair->b, *time);
            return true;
        }
        before[0] = hidden[0];
        before[1] = hidden[1];
        if (!seams_find(state, part, *time, manifold, hidden, asks_partners)) {
            return false;
        }
    } while (hidden[0] != before[0] || hidden[1] != before[1]);
    return true;
}

// The same of any manifold: of most no face is hidden.
static bool respect_seams(const StepState *state, StepPair *pair, const StepPart part[2],
                          double *time, Manifold *manifold, bool *asks_partners) {
    const double step = seam_step(part[0].mover.primitive, part[1].mover.primitive);
    if (*time == 0.0 && seam_is_none(manifold, step)) {
        return true;
    }
    uint32_t hidden[2] = {0, 0};
    if (!seams_find(state, part, *time, manifold, hidden, asks_partners)) {
        return false;
    }
    return (hidden[0] | hidden[1]) == 0 ||
           leave_hidden(state, pair, part, hidden, time, manifold, asks_partners);
}

// Gaps of a manifold of a later time, as of now: those from which the free motion comes to the gaps
// that the bodies then have,
//
//     gap = gap(t) - t v_n(t),
//
// so that gap + h v_n >= 0 asks for bodies that do not overlap along the plane when the step ends.
static void take_back_gaps(const StepPair *pair, double time, Manifold *manifold) {
    for (uint32_t k = 0; time > 0.0 && k < manifold->count; k++) {
        ManifoldPoint *point = &manifold->point[k];
        point->gap -=
            time * vec3_dot(manifold->normal, stage_free_velocity_at(pair, point->position));
    }
}

void contacts_take(const StepState *state, StepPair *pair, const StepPart part[2], double time,
                   uint64_t beside, Manifold *manifold, const PairPlace *place) {
    ASSERT(manifold->count > 0);
    const Primitive *a = part[0].mover.primitive, *b = part[1].mover.primitive;
    bool has_ball = a->kind == PRIMITIVE_SPHERE || b->kind == PRIMITIVE_SPHERE;
    if (!has_ball && state->world->settings.contact_plane == CONTACT_PLANE_APPROACH) {
        double motion = state->reach[pair->a] + state->reach[pair->b];
        const uint32_t count = manifold->count;
        approach_add_inner_ball(&part[0].mover, &part[1].mover, motion, time, manifold);
        if (manifold->count > count) {
            manifold->point[count].feature |= beside;
        }
    }
    take_back_gaps(pair, time, manifold);
    stage_set_materials(state->world, pair, a->material, b->material);
    add_manifold(state, pair, part, manifold, time, NULL, beside, place);
}

// The contacts of two parts, of which the manifold of now, not empty, is at hand.
static void collide_parts(const StepState *state, StepPair *pair, const StepPart part[2],
                          Manifold *manifold, PairBlock *block, uint32_t pair_first) {
    const Primitive *a = part[0].mover.primitive, *b = part[1].mover.primitive;
    double time = approach_parts(state, &part[0], &part[1], manifold);
    stage_load_pair(state, pair, pair->a, pair->b, time);
    if (primitive_rows[a->kind].has_seams || primitive_rows[b->kind].has_seams) {
        if (!respect_seams(state, pair, part, &time, manifold, &block->asks_partners)) {
            return;
        }
        if (manifold->count == 0) {
            return;
        }
    }
    const PairPlace place = {block, pair_first, &block->asks_partners};
    contacts_take(state, pair, part, time, 0, manifold, &place);
}

// The cells of a foundation of part `s`, as they meet the other part now. Their springs stand on
// points of the body, whatever the step's motion.
static void collide_foundation(const StepState *state, StepPair *pair, const StepPart part[2],
                               int s, const PairPlace *place) {
    ASSERT(s == 0 || s == 1);
    const Mover *on = &part[s].mover, *base = &part[1 - s].mover;
    FoundationGrid grid = foundation_grid(on->primitive, on->pose, base->primitive, base->pose);
    stage_load_pair(state, pair, pair->a, pair->b, 0.0);
    stage_set_materials(state->world, pair, part[0].mover.primitive->material,
                        part[1].mover.primitive->material);
    StepPair cells = *pair; // which look ahead as far as their springs do
    cells.material.stiffness = foundation_stiffness(on->primitive);
    cells.material.damping = on->primitive->foundation.damping;
    cells.material.dissipation_time = cells.material.damping / cells.material.stiffness;
    Manifold cell = {.normal = s == 1 ? grid.normal : vec3_neg(grid.normal), .count = 1};
    for (uint32_t i = 0; i < grid.count; i++) {
        if (foundation_cell(&grid, i, &cell.point[0])) {
            add_manifold(state, &cells, part, &cell, 0.0, on->primitive, 0, place);
        }
    }
}

int stage_find_foundation(const World *world, const uint32_t body[2],
                          const Primitive *const primitive[2], const Pose *const placed[2]) {
    for (int s = 0; s < 2; s++) {
        const Primitive *base = primitive[1 - s];
        const bool is_base =
            base->kind == PRIMITIVE_PLANE ||
            (base->kind == PRIMITIVE_BOX && world->kind[body[1 - s]] == BODY_STATIC);
        if (is_base && primitive[s]->foundation.face != 0 &&
            foundation_faces(primitive[s], placed[s], base, placed[1 - s])) {
            return s;
        }
    }
    return -1;
}

static int find_foundation(const StepState *state, const StepPart part[2]) {
    const uint32_t body[2] = {part[0].body, part[1].body};
    const Primitive *const primitive[2] = {part[0].mover.primitive, part[1].mover.primitive};
    if (primitive[0]->foundation.face == 0 && primitive[1]->foundation.face == 0) {
        return -1;
    }
    const Pose *const placed[2] = {part[0].mover.pose, part[1].mover.pose};
    return stage_find_foundation(state->world, body, primitive, placed);
}

static void collide_pair(const StepState *state, StepPair *pair, PairBlock *block) {
    const World *world = state->world;
    const Shape *shape_a = &world->shape[world->body_shape[pair->a]],
                *shape_b = &world->shape[world->body_shape[pair->b]];
    const Primitive *primitive_a = &world->primitive[shape_a->primitive_first],
                    *primitive_b = &world->primitive[shape_b->primitive_first];
    const Pose *placed_a = &state->placed[state->placed_first[pair->a]],
               *placed_b = &state->placed[state->placed_first[pair->b]];
    const double reach = stage_pair_reach(state, pair->a, pair->b);
    uint32_t pair_first = block->count;

    for (uint32_t i = 0; i < shape_a->primitive_count; i++) {
        for (uint32_t j = 0; j < shape_b->primitive_count; j++) {
            Manifold manifold;
            if (!primitives_collide(&primitive_a[i], &primitive_b[j])) {
                continue;
            }
            const bool is_a = primitive_is_surface(primitive_a[i].kind);
            if (is_a || primitive_is_surface(primitive_b[j].kind)) {
                const StepPart part[2] = {stage_part(state, pair->a, i),
                                          stage_part(state, pair->b, j)};
                const PairPlace place = {block, pair_first, &block->asks_partners};
                surfaces_collide(state, pair, part, is_a ? 0 : 1, &place);
                continue;
            }
            narrow_collide_at(&primitive_a[i], &placed_a[i], &primitive_b[j], &placed_b[j], reach,
                              &manifold);
            if (manifold.count > 0) {
                const StepPart part[2] = {stage_part(state, pair->a, i),
                                          stage_part(state, pair->b, j)};
                int on = find_foundation(state, part);
                if (on >= 0) {
                    const PairPlace place = {block, pair_first, &block->asks_partners};
                    collide_foundation(state, pair, part, on, &place);
                } else {
                    collide_parts(state, pair, part, &manifold, block, pair_first);
                }
            }
        }
    }
}

static bool lacks_partners(const StepState *state, const PairBlock *block) {
    return block->asks_partners && state->partner_first == NULL;
}

// Nothing moves between them, or nothing that feels forces. Without sleepers there are no such
// candidates.
static bool is_idle(const StepState *state, uint32_t a, uint32_t b) {
    VALIDATE(a < b && b < state->world->body_count);
    return state->still != NULL &&
           ((state->still[a] && state->still[b]) ||
            (state->world->kind[a] != BODY_DYNAMIC && state->world->kind[b] != BODY_DYNAMIC));
}

// Whether the two of a candidate may come together, which is known where partners were listed.
static bool is_near(const StepState *state, NearBody *from, const BroadPair *candidate) {
    if (state->near != NULL) {
        return state->near[candidate - state->candidate];
    }
    if (candidate->a != from->body) {
        near_load(state, candidate->a, from);
    }
    return !near_is_far(state, from, candidate->b);
}

static void collide_block(void *work, uint32_t index) {
    const PairSearch *search = work;
    const StepState *state = search->state;
    PairBlock *block = &search->block[index];
    if (block->is_done) {
        return;
    }
    block->count = 0;
    block->asks_partners = false;
    StepPair pair = stage_no_pair();
    NearBody from = {.body = UINT32_MAX};
    for (size_t i = 0; i < block->pair_count; i++) {
        const BroadPair *candidate = &block->pair[i];
        if (is_idle(state, candidate->a, candidate->b) || !is_near(state, &from, candidate) ||
            trees_bar(state->world->trees, state->world->joint, candidate->a, candidate->b)) {
            continue;
        }
        pair.a = candidate->a;
        pair.b = candidate->b;
        collide_pair(state, &pair, block);
        if (lacks_partners(state, block)) {
            return; // and it is done again
        }
    }
    block->is_done = block->count <= block->room;
}

static void fill_block(void *work, uint32_t index) {
    const PairSearch *search = work;
    PairBlock *block = &search->block[index];
    block->recovery_count = fill_contacts(search->state, block->found, block->count, block->place);
    assemble_recall(search->state, block->place, block->count);
    if (search->state->substep_count > 1) {
        substeps_meet(search->state, block->found, block->count, block->place);
    }
}

// Gives blocks what they lack. false: memory ends.
static bool provide(StepState *state, PairBlock *block, uint32_t block_count) {
    for (uint32_t i = 0; i < block_count; i++) {
        if (lacks_partners(state, &block[i]) && !seams_list_partners(state)) {
            return false;
        }
        if (block[i].count > block[i].room) {
            block[i].room = block[i].count;
            block[i].found = arena_take_array(state->scratch, block[i].room, sizeof(StepFound));
        }
        if (block[i].found == NULL) {
            return false;
        }
    }
    return true;
}

// The contacts of some of the candidates: found in blocks, and put where those of the blocks before
// end.
static Status collide_group(StepState *state, PairBlock *block, uint32_t block_count) {
    const Tasks *tasks = state->input->context.tasks;
    Stepper *stepper = state->stepper;
    PairSearch search = {.state = state, .block = block};
    bool is_done = false;
    while (!is_done) {
        tasks_run(tasks, collide_block, &search, block_count);
        is_done = true;
        for (uint32_t i = 0; i < block_count; i++) {
            is_done = is_done && block[i].is_done;
        }
        if (!is_done && !provide(state, block, block_count)) {
            return STATUS_RESOURCE_EXHAUSTED;
        }
    }
    size_t count = stepper->contact_count;
    for (uint32_t i = 0; i < block_count; i++) {
        block[i].place = (uint32_t)count;
        count += block[i].count;
    }
    if (count > UINT32_MAX || !reserve_contacts(stepper, count, state->substep_count > 1)) {
        return STATUS_RESOURCE_EXHAUSTED;
    }
    stepper->contact_count = (uint32_t)count;
    tasks_run(tasks, fill_block, &search, block_count);
    for (uint32_t i = 0; i < block_count; i++) {
        state->recovery_count += block[i].recovery_count;
        stepper->has_seams = stepper->has_seams || block[i].asks_partners;
    }
    return STATUS_OK;
}

enum {
    BLOCK_PAIRS = 128,
    GROUP_BLOCKS = 64, // between two questions pass some 500 us
    FOUND_ROOM_MIN = 64
};

// Blocks for as many candidates, with room for a face on a face of each. NULL: memory ends.
static PairBlock *take_blocks(StepState *state, size_t candidate_count, uint32_t block_count) {
    size_t pairs = candidate_count < BLOCK_PAIRS ? candidate_count : BLOCK_PAIRS;
    uint32_t room = (uint32_t)(MANIFOLD_SPREAD * pairs);
    room = room < FOUND_ROOM_MIN ? FOUND_ROOM_MIN : room;
    PairBlock *block = arena_take_array(state->scratch, block_count, sizeof(PairBlock));
    StepFound *found =
        arena_take_array(state->scratch, (size_t)block_count * room, sizeof(StepFound));
    if (block == NULL || found == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < block_count; i++) {
        block[i] = (PairBlock){.found = found + (size_t)i * room, .room = room};
    }
    return block;
}

// One lane finds and fills a block at a time, while what was found is still at hand; several need
// many blocks at once.
static Status collide_candidates(StepState *state) {
    const Context *context = &state->input->context;
    size_t left = state->candidate_count;
    if (left == 0) {
        return STATUS_OK;
    }
    uint32_t group = context->tasks == NULL ? 1 : GROUP_BLOCKS;
    uint32_t needed = tasks_blocks(left, BLOCK_PAIRS);
    group = needed < group ? needed : group;
    PairBlock *block = take_blocks(state, left, group);
    if (block == NULL) {
        return STATUS_RESOURCE_EXHAUSTED;
    }
    const BroadPair *next = state->candidate;
    Status status = STATUS_OK;
    for (uint32_t done = 0; status == STATUS_OK && left > 0; done += group) {
        if (done % GROUP_BLOCKS == 0 && done > 0 && stop_is_asked(context->stop)) {
            return STATUS_ABORTED;
        }
        uint32_t count = 0;
        for (; count < group && left > 0; count++) {
            size_t pairs = left < BLOCK_PAIRS ? left : BLOCK_PAIRS;
            block[count].pair = next;
            block[count].pair_count = pairs;
            block[count].is_done = false;
            next += pairs;
            left -= pairs;
        }
        status = collide_group(state, block, count);
    }
    return status;
}

// Whether groups and joints let two bodies touch. Of shapes of many primitives: it may be.
static bool may_meet(const World *world, uint32_t a, uint32_t b) {
    const Shape *of_a = world_body_shape(world, a), *of_b = world_body_shape(world, b);
    if (of_a == NULL || of_b == NULL ||
        (world->kind[a] != BODY_DYNAMIC && world->kind[b] != BODY_DYNAMIC) ||
        trees_bar(world->trees, world->joint, a, b)) {
        return false;
    }
    if (of_a->primitive_count > MAY_MEET_PAIRS || of_b->primitive_count > MAY_MEET_PAIRS) {
        return true;
    }
    const Primitive *first_a = &world->primitive[of_a->primitive_first],
                    *first_b = &world->primitive[of_b->primitive_first];
    bool may = false;
    for (uint32_t i = 0; !may && i < of_a->primitive_count; i++) {
        for (uint32_t j = 0; !may && j < of_b->primitive_count; j++) {
            may = primitives_collide(&first_a[i], &first_b[j]);
        }
    }
    return may;
}

// Whether the groups of some primitives of the world let others touch them.
static bool groups_may_meet(const World *world) {
    uint32_t group = 0, mask = 0;
    ASSERT(world->primitive != NULL || world->primitive_count == 0);
    for (size_t i = 0; i < world->primitive_count; i++) {
        group |= world->primitive[i].group;
        mask |= world->primitive[i].mask;
    }
    bool may = false;
    for (size_t i = 0; !may && i < world->primitive_count; i++) {
        const Primitive *primitive = &world->primitive[i];
        may = (primitive->mask & group) != 0 && (primitive->group & mask) != 0;
    }
    return may;
}

// false: no two bodies can touch, ever: what has a surface is there to be seen. So few are asked
// about that it costs nothing beside a step; where these are not all, only groups are looked at.
static bool has_meetings(const World *world) {
    uint32_t pairs = 0;
    for (uint32_t a = 0; world->primitive_count > 0 && a < world->body_count; a++) {
        for (uint32_t b = a + 1; b < world->body_count; b++) {
            if (pairs++ == MAY_MEET_PAIRS) {
                return groups_may_meet(world);
            }
            if (may_meet(world, a, b)) {
                return true;
            }
        }
    }
    return false;
}

Status contacts_run(StepState *state) {
    ASSERT(state->tree_count >= state->free_count);
    ASSERT(state->stepper->contact_count == 0);
    const World *world = state->world;
    double h = state->input->time_step;
    double fall = h * h * vec3_norm(world->settings.gravity);
    double touch = TOUCH_TOLERANCES * state->stepper->solver.parameter[SOLVER_TOLERANCE];
    state->margin = world->settings.margin + 2.0 * fall;
    state->touch = (touch < TOUCH_SHARE_MAX ? touch : TOUCH_SHARE_MAX) * fall;
    bool had_seams = state->stepper->has_seams;
    state->stepper->has_seams = false;
    state->recovery_count = 0;
    state->partner_first = NULL;
    state->near = NULL;
    if (state->places == NULL && !has_meetings(world)) {
        return STATUS_OK;
    }
    Status status = reach_run(state);
    // where a step asked for them the next one mostly does
    status =
        STATUS_THEN_IF(status, had_seams && !seams_list_partners(state), STATUS_RESOURCE_EXHAUSTED);
    status = STATUS_THEN(status, collide_candidates(state));
    switch (status) {
    case STATUS_OK:
        return STATUS_OK;
    case STATUS_ABORTED:
        return given_up(state);
    default:
        return out_of_memory(state);
    }
}
