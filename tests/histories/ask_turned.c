// SPDX-License-Identifier: MIT
#include "histories/ask_turned.h"

#include "base/array.h"
#include "base/assert.h"
#include "collide/approach.h"
#include "histories/certify.h"
#include "histories/other_geometries.h"
#include "histories/seen.h"
#include "solve/mdp/mdp.h"
#include "solve/solver.h"
#include "step/step.h"

#include <math.h>
#include <stdio.h>

// Of the bodies' size; and of V.
static const double contact_part = 1e-9, velocity_part = 1e-6;

// Of both: the angle of faces that count as parallel.
static const double parallel_part = 1.5e-3;

// How near the original's own answers must be to each other, of V, to be one.
static const double answer_part = 1e-7;

// Of the bodies' size: how much farther one point is than another that is as far (facet_meet.c).
static const double as_far_part = 1e-6;

static const double tolerance = 1e-10;

// What an answer of the one world may leave open in the other, where contacts are the same but for
// roundings.
static const double tolerance_of_both = 1e-9;

// Of their sizes: how near the works of two answers are to each other that are one.
static const double work_part = 1e-9;

// How far things are moved to see whether they are about to be otherwise, of the bodies' size, one
// after the other: roundings of what happens here, and of what happens ten sizes away, and what is
// so near to a crossing that it has no direction (capsule.c). Contacts move by no more than some
// hundred times as much, where they are not about to be otherwise.
static const double nudges[] = {1e-15, 1e-13, 1e-11, 1e-7};
enum {
    NUDGES = sizeof(nudges) / sizeof(nudges[0]),
    NUDGE_ROUNDS = 5,
    TIE_ROUNDS = 20,
    ITERATIONS = 10000
};

// Two bodies that touch in one of the worlds, by their indices in the original.
typedef struct Pair {
    uint32_t a, b;
    bool is_odd; // their contacts are not the same
} Pair;

typedef struct Ask {
    Play *play;
    const World *from;
    Dice dice;
    Seen seen, plain; // plain: nothing is seen otherwise
    Push push;
    Variant here, there;
    Pair *pair;
    uint32_t pair_count, odd_count;
    bool has_other; // some contacts are others, as they may be
    // what bears nothing, in the place of the answers, where those throw bodies at each other that
    // differ; a witness for as long as the ask
    bool is_unanswered;
    StandIn nothing;
} Ask;

// ---- worlds

static void set_parameter(World *world, const char *name, double value) {
    SolverSettings solver = step_solver(&world->settings);
    Error error = {0};
    ASSERT(solver_set(&solver, name, value, &error) == STATUS_OK);
    step_set_solver(&world->settings, &solver);
}

static bool make(Ask *ask, Variant *variant) {
    if (!variant_make(ask->play, ask->from, variant)) {
        return false;
    }
    World *world = variant->world;
    world->settings.has_bounds = false;
    world->settings.bounds_lower = world->settings.bounds_upper = vec3(0.0, 0.0, 0.0);
    // where a mend of more than 1 m along an axis of the world is none (step/joints/project.c)
    world->settings.joint_projection = false;
    world->settings.effort = WORLD_EXACT; // what is left open follows the order of the contacts
    world->settings.substeps = 1; // else contacts are where the answers before have brought them
    set_parameter(world, "tolerance", tolerance);
    set_parameter(world, "max_iterations", ITERATIONS);
    if (world->settings.solver == SOLVER_LCP) { // whose passes take contacts anew
        set_parameter(world, "passes", 1.0);
    }
    variant->witness = ask->is_unanswered ? &ask->nothing.witness : NULL;
    variant_settle(variant);
    return true;
}

static void nudge_numbers(Dice *dice, double *values, size_t count, double by) {
    for (size_t i = 0; i < count; i++) {
        values[i] += variant_chance(dice, by);
    }
}

// A solver that starts from impulses begins elsewhere than one that starts from none.
static void remember(Variant *variant, const Variant *from, Dice *dice) {
    World *world = variant->world;
    ASSERT(ARRAY_RESERVE(world->memory, world->memory_capacity, from->world->memory_count));
    world->memory_count = from->world->memory_count;
    for (size_t i = 0; i < world->memory_count; i++) {
        world->memory[i] = from->world->memory[i];
        for (int k = 0; k < 3; k++) {
            world->memory[i].impulse[k] *= 1.0 + variant_chance(dice, 1.0);
        }
    }
    ASSERT(ARRAY_RESERVE(world->joint_memory, world->joint_memory_capacity,
                         from->world->joint_memory_count));
    world->joint_memory_count = from->world->joint_memory_count;
    for (size_t i = 0; i < world->joint_memory_count; i++) {
        world->joint_memory[i] = from->world->joint_memory[i];
        world->joint_memory[i].impulse *= 1.0 + variant_chance(dice, 1.0);
    }
}

static void nudge_pose(Dice *dice, Pose *pose, double by, double turn_by) {
    double packed[7];
    pose_store(packed, *pose);
    nudge_numbers(dice, packed, 3, by);
    nudge_numbers(dice, packed + 3, 4, turn_by);
    *pose = pose_load(packed);
    pose->orientation = quat_normalize(pose->orientation);
}

// Where a joint of coordinates puts a body follows from its frames and its numbers.
static void nudge_joint(Dice *dice, World *world, Joint *joint, double part) {
    double *position = world->joint_position + joint->position_first;
    const uint32_t turns = joint_axis_count(joint->axes & JOINT_TURNS);
    const uint32_t moves = joint_axis_count(joint->axes & JOINT_MOVES);
    if (turns < 3) {
        nudge_numbers(dice, position, moves + turns, part);
    } else {
        nudge_numbers(dice, position, moves + 4, part);
        world_normalize_joint_position(joint->axes, position);
    }
    if (!joint->is_rows) {
        const double size = 0.1 + variant_size(world, joint->body[1]);
        nudge_pose(dice, &joint->frame[0], part * size, part);
    }
}

// Where its impulse stands in the memory, still nothing.
static ContactMemory memory_of(const StepContact *contact) {
    return (ContactMemory){.a = contact->a,
                           .b = contact->b,
                           .part_a = contact->part_a,
                           .part_b = contact->part_b,
                           .feature = contact->feature};
}

// Any contact of the two that touch at contact i.
static uint32_t any_of_pair(const Stepper *stepper, uint32_t i, Dice *dice) {
    uint32_t found = i, met = 0;
    for (uint32_t k = 0; k < stepper->contact_count; k++) {
        if (stepper->contact[k].a == stepper->contact[i].a &&
            stepper->contact[k].b == stepper->contact[i].b && dice_roll(dice, ++met) == 0) {
            found = k;
        }
    }
    return found;
}

// What one contact of two bodies bears another starts from: where one alone could bear it as well,
// there are several answers.
static void exchange_impulses(Variant *variant, const Variant *from, Dice *dice) {
    World *world = variant->world;
    const Stepper *stepper = from->stepper;
    const uint32_t count = stepper->contact_count;
    ASSERT(ARRAY_RESERVE(world->memory, world->memory_capacity, count));
    world->memory_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const StepContact *contact = &stepper->contact[i];
        const uint32_t other = any_of_pair(stepper, i, dice);
        const ProblemContact *of = &stepper->problem.contact[other];
        const double *impulse = stepper->impulse + 3 * (size_t)other;
        Vec3 borne = vec3_scale(impulse[0], of->normal);
        borne = vec3_add_scaled(borne, impulse[1], of->tangent[0]);
        borne = vec3_add_scaled(borne, impulse[2], of->tangent[1]);
        world->memory[i] = memory_of(contact);
        vec3_store(world->memory[i].impulse, borne);
    }
}

// The original, every body of which is some roundings away, and whose solver starts elsewhere.
static bool make_nudged(Ask *ask, double part, Variant *variant) {
    if (!make(ask, variant)) {
        return false;
    }
    World *world = variant->world;
    for (uint32_t i = 0; i < world->body_count; i++) {
        double *packed = world->pose + 7 * (size_t)i, *velocity = world->velocity + 6 * (size_t)i;
        Pose pose = pose_load(packed);
        nudge_pose(&ask->dice, &pose, part * (0.1 + variant_size(world, i)), part);
        pose_store(packed, pose);
        for (int k = 0; k < 6; k++) {
            velocity[k] *= 1.0 + variant_chance(&ask->dice, part);
        }
    }
    // a geometry's own roundings, and which of many corners of a face are as good (polygon_meet.c);
    // where one is none when it is turned they stay as they are
    const OtherWay way = {.size = 1.0, .turn = seen_any_turn(&ask->dice), .dice = &ask->dice};
    other_geometries(world, &way);
    for (size_t i = 0; i < world->joint_count; i++) {
        nudge_joint(&ask->dice, world, &world->joint[i], part);
    }
    // what leaves an overlap is as fast as it may, whatever its place: just as what sleeps may be,
    // but for how it is solved
    world->settings.sleep_speed *= 1.0 + variant_chance(&ask->dice, fmax(part, answer_part));
    remember(variant, &ask->here, &ask->dice);
    variant_settle(variant);
    return true;
}

// ---- contacts

// A ball inside a body has no face; it goes by the plane of those that have (approach.c).
static bool is_inner_ball(const Variant *variant, uint32_t i) {
    return (variant->stepper->contact[i].feature & APPROACH_INNER_BALL) != 0;
}

// Of two parts of one size the one that is nearer to the plane has the ball (approach.c): of two
// that lie flat on each other neither is, as both balls have one gap, and rounding says which.
static bool may_be_other_ball(const Variant *here, uint32_t i, const Variant *there, uint32_t k) {
    const World *world = here->world;
    const StepContact *contact = &here->stepper->contact[i];
    const Primitive *p = &world->primitive[world_body_shape(world, contact->a)->primitive_first],
                    *q = &world->primitive[world_body_shape(world, contact->b)->primitive_first];
    return is_inner_ball(here, i) && is_inner_ball(there, k) &&
           primitive_span(&p[contact->part_a]) == primitive_span(&q[contact->part_b]);
}

// Contact i of one world, seen by somebody, against contact k of what he has: between the same two
// bodies, along the same normal, as far apart and as rough, wherever it is.
static bool is_alike(const Seen *seen, const Variant *here, uint32_t i, const Variant *there,
                     uint32_t k, double size, double part) {
    const StepContact *a = &here->stepper->contact[i], *b = &there->stepper->contact[k];
    const ProblemContact *p = &here->stepper->problem.contact[i];
    const ProblemContact *q = &there->stepper->problem.contact[k];
    const uint32_t to[2] = {seen->body[a->a], seen->body[a->b]};
    const bool is_swapped = to[0] > to[1];
    if (to[is_swapped] != b->a || to[!is_swapped] != b->b) {
        return false;
    }
    Vec3 normal = seen_vector(seen, p->normal);
    normal = is_swapped ? vec3_neg(normal) : normal;
    return vec3_norm(vec3_sub(normal, q->normal)) <= part && fabs(p->gap - q->gap) <= part * size &&
           p->mu == q->mu;
}

static bool is_same_contact(const Seen *seen, const Variant *here, uint32_t i, const Variant *there,
                            uint32_t k, double size, double part) {
    const Vec3 point = seen_point(seen, here->stepper->contact[i].point);
    return is_alike(seen, here, i, there, k, size, part) &&
           (vec3_norm(vec3_sub(point, there->stepper->contact[k].point)) <= part * size ||
            may_be_other_ball(here, i, there, k));
}

static void add_pair(Ask *ask, uint32_t a, uint32_t b) {
    const Pair pair = {a < b ? a : b, a < b ? b : a, false};
    for (uint32_t i = 0; i < ask->pair_count; i++) {
        if (ask->pair[i].a == pair.a && ask->pair[i].b == pair.b) {
            return;
        }
    }
    ask->pair[ask->pair_count++] = pair;
}

static void list_pairs(Ask *ask) {
    const Stepper *here = ask->here.stepper, *there = ask->there.stepper;
    const uint32_t n = here->contact_count, m = there->contact_count;
    uint32_t *back =
        arena_take_zeroed(&ask->play->memory, ask->from->body_count + 1, sizeof(*back));
    ask->pair = arena_take_zeroed(&ask->play->memory, n + m + 1, sizeof(*ask->pair));
    ASSERT(ask->pair != NULL && back != NULL);
    for (uint32_t i = 0; i < ask->from->body_count; i++) {
        back[ask->seen.body[i]] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        add_pair(ask, here->contact[i].a, here->contact[i].b);
    }
    for (uint32_t i = 0; i < m; i++) {
        add_pair(ask, back[there->contact[i].a], back[there->contact[i].b]);
    }
}

static bool is_of_pair(const StepContact *contact, uint32_t a, uint32_t b) {
    return (contact->a == a && contact->b == b) || (contact->a == b && contact->b == a);
}

// How many contacts two bodies have, which may be named either way round.
static uint32_t count_contacts(const Variant *variant, uint32_t a, uint32_t b) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < variant->stepper->contact_count; i++) {
        count += is_of_pair(&variant->stepper->contact[i], a, b);
    }
    return count;
}

// As many, and each of one is one of the other.
static bool has_same_contacts(const Ask *ask, const Pair *pair, const Seen *seen,
                              const Variant *there, double part) {
    const Stepper *here = ask->here.stepper;
    const double size = fmax(variant_size(ask->from, pair->a), variant_size(ask->from, pair->b));
    if (count_contacts(&ask->here, pair->a, pair->b) !=
        count_contacts(there, seen->body[pair->a], seen->body[pair->b])) {
        return false;
    }
    for (uint32_t i = 0; i < here->contact_count; i++) {
        const StepContact *contact = &here->contact[i];
        uint32_t k = 0;
        if (contact->a != pair->a || contact->b != pair->b) {
            continue;
        }
        while (k < there->stepper->contact_count &&
               !is_same_contact(seen, &ask->here, i, there, k, size, part)) {
            k++;
        }
        if (k == there->stepper->contact_count) {
            return false;
        }
    }
    return true;
}

// What pairs of one kind, of two of one size, have in common: which of the two is the reference, or
// the first of two lines that lie along each other, turns on how they lie to each other
// (pair_order.c, convex_pair.c), as nothing else tells them apart. Whoever swaps the two turns it
// round, and in a mirror, where the way from one to the other is turned round and boxes and
// cylinders look as before, it is turned round too. No order does without that: one that a mirror
// does not turn changes its sign with the two turns alone, as f(A, B, d) = -f(B, A, -d) =
// -f(B, A, d), and so is nothing where A = B, as of all that lies flat on something: noise would
// turn it there from step to step. A hull's order goes by its own frame, which is another one
// wherever it is turned.
static const PrimitiveKind with_references[] = {PRIMITIVE_BOX, PRIMITIVE_CYLINDER, PRIMITIVE_HULL};
enum { WITH_REFERENCES = sizeof(with_references) / sizeof(with_references[0]) };

// A body's first primitive of a kind; NULL: it has none.
static const Primitive *first_of_kind(const World *world, uint32_t body, PrimitiveKind kind) {
    const Shape *shape = world_body_shape(world, body);
    for (uint32_t i = 0; shape != NULL && i < shape->primitive_count; i++) {
        const Primitive *primitive = &world->primitive[shape->primitive_first + i];
        if (primitive->kind == kind) {
            return primitive;
        }
    }
    return NULL;
}

static bool turns_round(const Seen *seen, PrimitiveKind kind) {
    return seen->sign < 0.0 || (kind == PRIMITIVE_HULL && seen->turn.w != 1.0);
}

static bool wear_one_size(const World *world, const Seen *seen, uint32_t a, uint32_t b) {
    for (size_t i = 0; i < WITH_REFERENCES; i++) {
        if (!turns_round(seen, with_references[i])) {
            continue;
        }
        const Primitive *p = first_of_kind(world, a, with_references[i]),
                        *q = first_of_kind(world, b, with_references[i]);
        if (p != NULL && q != NULL && vec3_norm(p->size) == vec3_norm(q->size) &&
            p->geometry == q->geometry) {
            return true;
        }
    }
    return false;
}

static PrimitiveKind kind_of_part(const World *world, uint32_t body, uint32_t part) {
    return world->primitive[world_body_shape(world, body)->primitive_first + part].kind;
}

// Whether both bodies are of one of those kinds there.
static bool has_reference(const World *world, const Seen *seen, const StepContact *contact,
                          PrimitiveKind *kind) {
    *kind = kind_of_part(world, contact->a, contact->part_a);
    bool has = false;
    for (size_t i = 0; i < WITH_REFERENCES; i++) {
        has = has || *kind == with_references[i];
    }
    return has && turns_round(seen, *kind) &&
           kind_of_part(world, contact->b, contact->part_b) == *kind;
}

static bool is_reference(const StepContact *contact, uint32_t body) {
    const uint32_t side = contact->feature >> 15 & 1;
    return (contact->a == body) == (side == 0);
}

// How far the contacts of two bodies are from each other, at most [m].
static double find_spread(const Variant *variant, uint32_t a, uint32_t b) {
    const Stepper *stepper = variant->stepper;
    double most = 0.0;
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            const StepContact *p = &stepper->contact[i], *q = &stepper->contact[k];
            if (p->a == a && p->b == b && q->a == a && q->b == b) {
                most = fmax(most, vec3_norm(vec3_sub(p->point, q->point)));
            }
        }
    }
    return most;
}

// How far two bodies' centres are from each other along a direction, as it is in the other world.
static double find_offset(const Ask *ask, const Pair *pair, Vec3 normal) {
    const Vec3 a = vec3_load(ask->from->pose + 7 * (size_t)pair->a),
               b = vec3_load(ask->from->pose + 7 * (size_t)pair->b);
    return fabs(vec3_dot(seen_vector(&ask->seen, vec3_sub(b, a)), normal));
}

// Contact i here is of the same two faces as contact k there, but that of the other body is the
// reference: normals and gaps are the same within the angle of faces that count as parallel. Places
// may differ by more: corners of what the faces share, where edges cross that are themselves nearly
// parallel, and which four of eight corners are taken. One that is in the middle of the other, but
// for that angle, may leave it on either side.
static bool is_of_other_reference(const Ask *ask, const Pair *pair, uint32_t i, uint32_t k,
                                  double size) {
    const Stepper *here = ask->here.stepper, *there = ask->there.stepper;
    const StepContact *a = &here->contact[i], *b = &there->contact[k];
    const uint32_t to[2] = {ask->seen.body[a->a], ask->seen.body[a->b]};
    const bool is_swapped = b->a == to[1];
    PrimitiveKind kind, other;
    if (!(b->a == to[is_swapped] && b->b == to[!is_swapped]) ||
        !has_reference(ask->here.world, &ask->seen, a, &kind) ||
        !has_reference(ask->there.world, &ask->seen, b, &other) || kind != other) {
        return false;
    }
    const ProblemContact *p = &here->problem.contact[i], *q = &there->problem.contact[k];
    const Vec3 normal = seen_vector(&ask->seen, p->normal);
    double off = vec3_norm(is_swapped ? vec3_add(normal, q->normal) : vec3_sub(normal, q->normal));
    if (off > 1.0 && find_offset(ask, pair, normal) <= parallel_part * size) {
        off = vec3_norm(is_swapped ? vec3_sub(normal, q->normal) : vec3_add(normal, q->normal));
    }
    // of two of one size the features say which of the two that were put in order; another normal
    // is another face's
    const bool is_other = kind != PRIMITIVE_BOX || off > contact_part ||
                          is_reference(a, a->a) != is_reference(b, to[0]);
    return is_other && off <= parallel_part && fabs(p->gap - q->gap) <= 2.0 * parallel_part * size;
}

// Whether both have contacts, and each is there, or one of those. How many corners two faces share
// that are parallel but for that angle turns on the reference as well.
static bool has_other_reference(const Ask *ask, const Pair *pair) {
    const Stepper *here = ask->here.stepper, *there = ask->there.stepper;
    const uint32_t to[2] = {ask->seen.body[pair->a], ask->seen.body[pair->b]};
    const double size = fmax(variant_size(ask->from, pair->a), variant_size(ask->from, pair->b));
    const double spread = fmax(size, find_spread(&ask->here, pair->a, pair->b));
    if (count_contacts(&ask->here, pair->a, pair->b) == 0 ||
        count_contacts(&ask->there, to[0], to[1]) == 0) {
        return false;
    }
    for (uint32_t i = 0; i < here->contact_count; i++) {
        bool is_met = here->contact[i].a != pair->a || here->contact[i].b != pair->b ||
                      is_inner_ball(&ask->here, i);
        for (uint32_t k = 0; k < there->contact_count && !is_met; k++) {
            is_met =
                is_same_contact(&ask->seen, &ask->here, i, &ask->there, k, size, contact_part) ||
                is_of_other_reference(ask, pair, i, k, spread);
        }
        if (!is_met) {
            return false;
        }
    }
    return true;
}

// Whether a third body wears a box of the size of one of the pair's that it touches: what it covers
// of the pair's faces follows from the reference of these two (seams.c).
static bool may_be_covered_otherwise(const Ask *ask, const Pair *pair) {
    for (uint32_t i = 0; i < ask->pair_count; i++) {
        const Pair *other = &ask->pair[i];
        const bool is_at = other->a == pair->a || other->a == pair->b || other->b == pair->a ||
                           other->b == pair->b;
        if (other != pair && is_at && wear_one_size(ask->from, &ask->seen, other->a, other->b)) {
            return true;
        }
    }
    return false;
}

// Of two faces that are parallel within 1.4e-3 one is the reference (box_box.c): both are as good
// as their angle.
static bool is_other_reference(const Ask *ask, const Pair *pair) {
    return ((wear_one_size(ask->from, &ask->seen, pair->a, pair->b) &&
             has_other_reference(ask, pair)) ||
            may_be_covered_otherwise(ask, pair));
}

// ---- points that are as good

// The lowest of a pair's contacts; the number of contacts: it has none.
static uint32_t find_lowest(const Variant *variant, uint32_t a, uint32_t b) {
    const Stepper *stepper = variant->stepper;
    uint32_t lowest = stepper->contact_count;
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        if (is_of_pair(&stepper->contact[i], a, b) &&
            (lowest == stepper->contact_count ||
             stepper->problem.contact[i].gap < stepper->problem.contact[lowest].gap)) {
            lowest = i;
        }
    }
    return lowest;
}

static double measure_way(const Variant *variant, uint32_t i, uint32_t k) {
    return vec3_norm(
        vec3_sub(variant->stepper->contact[i].point, variant->stepper->contact[k].point));
}

// Of more points than there is room for four are taken, the lowest and what goes farthest with it
// (facet_meet.c, polygon_meet.c). Where one is left out on each side of what is the same on both
// sides, it is the one that is named later, and a mirror names them the other way round: it has one
// that is as low, and as far from the lowest.
static bool has_as_good_contacts(const Ask *ask, const Pair *pair) {
    const Variant *here = &ask->here, *there = &ask->there;
    const uint32_t a = ask->seen.body[pair->a], b = ask->seen.body[pair->b];
    const uint32_t lowest = find_lowest(here, pair->a, pair->b), other = find_lowest(there, a, b);
    const double size = fmax(variant_size(ask->from, pair->a), variant_size(ask->from, pair->b));
    const uint32_t count = count_contacts(here, pair->a, pair->b);
    uint32_t met = 0;
    for (uint32_t i = 0; i < here->stepper->contact_count; i++) {
        bool is_met = false;
        for (uint32_t k = 0; k < there->stepper->contact_count && !is_met; k++) {
            is_met = is_of_pair(&here->stepper->contact[i], pair->a, pair->b) &&
                     (is_same_contact(&ask->seen, here, i, there, k, size, contact_part) ||
                      (is_alike(&ask->seen, here, i, there, k, size, contact_part) &&
                       fabs(measure_way(here, i, lowest) - measure_way(there, k, other)) <=
                           as_far_part * size));
        }
        met += is_met;
    }
    return ask->seen.sign < 0.0 && count >= MANIFOLD_SPREAD && met == count &&
           count == count_contacts(there, a, b);
}

// Of the points of two faces one may be a millionth beside another, as where an edge cuts two sides
// at a corner, and of four that are kept it is either (quadrangle.h), as they are named: of four
// contacts one may be that far from where it is seen.
static bool has_contacts_beside(const Ask *ask, const Pair *pair) {
    const Variant *here = &ask->here, *there = &ask->there;
    const double size = fmax(variant_size(ask->from, pair->a), variant_size(ask->from, pair->b));
    uint32_t exact = 0;
    for (uint32_t i = 0; i < here->stepper->contact_count; i++) {
        bool is_exact = false;
        for (uint32_t k = 0; k < there->stepper->contact_count && !is_exact; k++) {
            is_exact = is_of_pair(&here->stepper->contact[i], pair->a, pair->b) &&
                       is_same_contact(&ask->seen, here, i, there, k, size, contact_part);
        }
        exact += is_exact;
    }
    const uint32_t count = count_contacts(here, pair->a, pair->b);
    return MANIFOLD_SPREAD * (count - exact) <= count &&
           has_same_contacts(ask, pair, &ask->seen, there, as_far_part);
}

static void find_odd(Ask *ask) {
    list_pairs(ask);
    for (uint32_t i = 0; i < ask->pair_count; i++) {
        Pair *pair = &ask->pair[i];
        pair->is_odd = !has_same_contacts(ask, pair, &ask->seen, &ask->there, contact_part);
        if (pair->is_odd && (is_other_reference(ask, pair) || has_as_good_contacts(ask, pair) ||
                             has_contacts_beside(ask, pair))) {
            pair->is_odd = false;
            ask->has_other = true;
            ask->play->tally.turned_seams++;
        }
        ask->odd_count += pair->is_odd;
    }
    ask->play->tally.turned_pairs += ask->pair_count;
}

// Pairs that a nudge makes odd are about to be otherwise.
static void excuse_odd(Ask *ask, const Variant *nudged, double by) {
    const double part = fmax(contact_part, 300.0 * by);
    for (uint32_t i = 0; i < ask->pair_count; i++) {
        Pair *pair = &ask->pair[i];
        if (pair->is_odd && !has_same_contacts(ask, pair, &ask->plain, nudged, part)) {
            pair->is_odd = false;
            ask->odd_count--;
            ask->play->tally.turned_seams++;
        }
    }
}

static bool tell_odd(const Ask *ask) {
    uint32_t i = 0;
    while (!ask->pair[i].is_odd) {
        i++;
    }
    const Pair *pair = &ask->pair[i];
    const uint32_t a = pair->a, b = pair->b;
    char place[96];
    snprintf(place, sizeof(place), "contacts %s", seen_name(&ask->seen));
    return play_found(ask->play, PROPERTY_TURNED, place,
                      "%s, bodies %u and %u have %u contacts, and %u here", seen_name(&ask->seen),
                      a, b, count_contacts(&ask->there, ask->seen.body[a], ask->seen.body[b]),
                      count_contacts(&ask->here, a, b));
}

// ---- velocities

static double velocity_scale(const Ask *ask) {
    const World *before = ask->from, *after = ask->here.world;
    const double h = before->settings.time_step;
    double scale = h * vec3_norm(before->settings.gravity);
    for (uint32_t i = 0; i < before->body_count; i++) {
        const double *v = before->velocity + 6 * (size_t)i, *w = after->velocity + 6 * (size_t)i;
        const double size = variant_size(before, i);
        scale = fmax(scale, vec3_norm(vec3_load(v)) + size * vec3_norm(vec3_load(v + 3)));
        scale = fmax(scale, vec3_norm(vec3_load(w)) + size * vec3_norm(vec3_load(w + 3)));
    }
    for (size_t i = 0; i < ask->push.count; i++) {
        const double mass = before->mass[ask->push.body[i]].mass;
        scale = fmax(scale, h * vec3_norm(vec3_load(ask->push.wrench + 6 * i)) / mass);
    }
    return scale;
}

// What velocities may differ by: trees settle their free motion to 1e-8 of the velocity that all
// their energy would give (step/trees/fly.c), of the lightest of them here, and ten roundings of
// that.
static double allowed_velocity(const Ask *ask, double V) {
    const World *world = ask->here.world;
    double energy = 0.0, lightest = HUGE_VAL;
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (tree_of_body(world->trees, i) != TREE_NONE) {
            const BodyMass *mass = &world->mass[i];
            const Vec3 v = vec3_load(world->velocity + 6 * (size_t)i),
                       w = vec3_load(world->velocity + 6 * (size_t)i + 3);
            const double inertia = mass->inertia.xx + mass->inertia.yy + mass->inertia.zz;
            energy += mass->mass * vec3_dot(v, v) + inertia * vec3_dot(w, w);
            lightest = fmin(lightest, mass->mass);
        }
    }
    return velocity_part * V + 1e-7 * sqrt(energy / lightest);
}

// How far the velocities of a world are from those of one as the original is, seen so [m/s].
static double farthest_velocity(const Ask *ask, const Variant *here, const Seen *seen,
                                const Variant *there, uint32_t *body) {
    double farthest = 0.0;
    *body = 0;
    for (uint32_t i = 0; i < ask->from->body_count; i++) {
        const double *v = here->world->velocity + 6 * (size_t)i;
        const double *w = there->world->velocity + 6 * (size_t)seen->body[i];
        const Vec3 move = seen_vector(seen, vec3_load(v)), spin = seen_spin(seen, vec3_load(v + 3));
        const double off = vec3_norm(vec3_sub(move, vec3_load(w))) +
                           variant_size(ask->from, i) * vec3_norm(vec3_sub(spin, vec3_load(w + 3)));
        if (!(off <= farthest)) {
            farthest = off;
            *body = i;
        }
    }
    return farthest;
}

static bool is_solved(const Variant *variant) {
    return variant->report.certificate.converged;
}

// Another way to an answer, which may be another.
static void go_another_way(Variant *variant) {
    if (variant->world->settings.solver == SOLVER_MDP) {
        set_parameter(variant->world, "method", MDP_GAUSS_SEIDEL);
        set_parameter(variant->world, "acceleration", 0.0);
    }
}

// What nudges say: whether the pairs that differ are about to, and whether there is one answer.
static bool nudge(Ask *ask, double V, bool *is_one) {
    bool is_fine = true;
    for (int i = 0; i < NUDGE_ROUNDS * NUDGES && is_fine; i++) {
        const double by = nudges[i % NUDGES];
        const bool is_other_way = i / NUDGES % 2 == 1;
        Variant nudged;
        uint32_t body;
        is_fine = make_nudged(ask, by, &nudged);
        if (is_fine && is_other_way) {
            exchange_impulses(&nudged, &ask->here, &ask->dice);
            go_another_way(&nudged);
        }
        if (is_fine && variant_step(ask->play, &nudged, &ask->push)) {
            const double off = farthest_velocity(ask, &ask->here, &ask->plain, &nudged, &body);
            excuse_odd(ask, &nudged, by);
            if (by < contact_part && (is_solved(&nudged) || !is_other_way)) {
                *is_one = *is_one && is_solved(&nudged) && off <= answer_part * V;
            }
        }
        variant_end(&nudged);
    }
    return is_fine;
}

// What lies on a crossing goes either way: of a heap of such pairs some are as they were after any
// few nudges. And what is hard to solve is given up, where contacts ask for no solver.
static bool excuse_ties(Ask *ask) {
    bool is_fine = true;
    for (int i = 0; i < TIE_ROUNDS * NUDGES && is_fine && ask->odd_count > 0; i++) {
        const double by = nudges[i % NUDGES];
        Variant nudged;
        is_fine = make_nudged(ask, by, &nudged);
        if (is_fine) {
            nudged.world->settings.effort = WORLD_FAST;
            set_parameter(nudged.world, "max_iterations", 1.0);
            if (variant_step(ask->play, &nudged, &ask->push)) {
                excuse_odd(ask, &nudged, by);
            }
        }
        variant_end(&nudged);
    }
    return is_fine;
}

// How many of the original's are the same as contact k there: parts of one body may touch at one
// place.
static uint32_t count_same_here(const Ask *ask, uint32_t k, double size) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < ask->here.stepper->contact_count; i++) {
        count += is_same_contact(&ask->seen, &ask->here, i, &ask->there, k, size, contact_part);
    }
    return count;
}

// Contact i of the original bears its share of what the ones that are the same there bore.
static void bear_as_there(const Ask *ask, uint32_t i, ContactMemory *memory) {
    const Stepper *here = ask->here.stepper, *there = ask->there.stepper;
    const StepContact *contact = &here->contact[i];
    const double size =
        fmax(variant_size(ask->from, contact->a), variant_size(ask->from, contact->b));
    Vec3 borne = vec3(0.0, 0.0, 0.0);
    for (uint32_t k = 0; k < there->contact_count; k++) {
        if (!is_same_contact(&ask->seen, &ask->here, i, &ask->there, k, size, contact_part)) {
            continue;
        }
        const ProblemContact *of = &here->problem.contact[i], *as = &there->problem.contact[k];
        const double *p = there->impulse + 3 * (size_t)k;
        const bool is_swapped = ask->seen.body[contact->a] != there->contact[k].a;
        const Vec3 axes[3] = {of->normal, of->tangent[0], of->tangent[1]};
        const double part_of_it = (is_swapped ? -1.0 : 1.0) / count_same_here(ask, k, size);
        Vec3 impulse = vec3_scale(part_of_it * p[0], as->normal);
        impulse = vec3_add_scaled(impulse, part_of_it * p[1], as->tangent[0]);
        impulse = vec3_add_scaled(impulse, part_of_it * p[2], as->tangent[1]);
        for (int axis = 0; axis < 3; axis++) {
            const double part = vec3_dot(seen_vector(&ask->seen, axes[axis]), impulse);
            borne = vec3_add_scaled(borne, part, axes[axis]);
        }
    }
    *memory = memory_of(contact);
    vec3_store(memory->impulse, borne);
}

// The original once more, with the other world's answer in the place of its own: what contacts and
// rows bore there, and the velocities which that makes. Where the original's certificate says that
// this solves it, and all is as fast as it was there, the other answer is one of the original, too:
// the question has several, as of contacts that share normals and differ in what rubs at them, or
// of bodies that are squeezed. Nobody looks for it, as there are answers that every way leaves: of
// twelve that are squeezed a sweep is eleven times as far from one as what it started from.
static bool is_answer_here(Ask *ask, double V) {
    Variant again;
    uint32_t body;
    bool is = make(ask, &again);
    if (is) {
        StandIn other = stand_in(tolerance_of_both, &ask->play->memory);
        World *world = again.world;
        const uint32_t count = ask->here.stepper->contact_count;
        ASSERT(ARRAY_RESERVE(world->memory, world->memory_capacity, count));
        world->memory_count = count;
        for (uint32_t i = 0; i < count; i++) {
            bear_as_there(ask, i, &world->memory[i]);
        }
        seen_recall_rows(&ask->seen, ask->from, ask->there.stepper, world);
        world->settings.effort = WORLD_FAST; // what the solver finds is not asked
        set_parameter(world, "max_iterations", 1.0);
        again.witness = &other.witness;
        is = variant_step(ask->play, &again, &ask->push) && other.certificate.converged &&
             farthest_velocity(ask, &again, &ask->seen, &ask->there, &body) <=
                 allowed_velocity(ask, V);
    }
    variant_end(&again);
    return is;
}

// Whether a row of the other world asks for something else than the same one does in the original.
// Its sign counts: where two joints pull a body apart, each as fast as it may, one asks for as much
// as the other does, the other way.
static bool asks_otherwise(const Ask *ask, uint32_t there, double by) {
    const Stepper *stepper = ask->here.stepper;
    const SeenRow row = seen_row(&ask->seen, ask->from, &ask->there.stepper->row_key[there]);
    const double bias = row.sign * ask->there.stepper->problem.row[there].bias;
    bool is_otherwise = false;
    for (uint32_t i = 0; i < stepper->problem.row_count; i++) {
        const StepRow *key = &stepper->row_key[i];
        is_otherwise = is_otherwise || (key->joint == row.joint && key->part == row.part &&
                                        !(fabs(stepper->problem.row[i].bias - bias) <= by));
    }
    return is_otherwise;
}

// Of joints that contradict each other the first ones hold; and of rows that all but repeat others
// the first ones ask for what they are off by, and the others calmly (step/rows/rank.c).
static bool follows_order(const Ask *ask, double V) {
    const uint32_t count = ask->here.stepper->problem.row_count;
    if (!ask->seen.is_ordered || count != ask->there.stepper->problem.row_count) {
        return ask->seen.is_ordered;
    }
    bool is_same = ask->here.report.idle_count == 0;
    for (uint32_t i = 0; i < count; i++) {
        is_same = is_same && !asks_otherwise(ask, i, velocity_part * V);
    }
    return !is_same;
}

// Of worlds that have stepped.
static bool compare(Ask *ask) {
    PlayTally *tally = &ask->play->tally;
    const double V = velocity_scale(ask);
    uint32_t body;
    bool is_one = true;
    find_odd(ask);
    const double off = farthest_velocity(ask, &ask->here, &ask->seen, &ask->there, &body);
    const bool is_odd = ask->odd_count > 0 || ask->has_other;
    const bool is_off =
        !(off <= allowed_velocity(ask, V)) && ask->from->settings.solver != SOLVER_LCP;
    const bool is_open = !is_solved(&ask->here) || !is_solved(&ask->there);
    tally->turned_answers++;
    if (!is_odd && !is_off) {
        return true;
    }
    if (!nudge(ask, V, &is_one) || !excuse_ties(ask)) {
        return false;
    }
    if (ask->odd_count > 0) {
        return tell_odd(ask);
    }
    tally->turned_open += !is_odd && is_open;
    is_one = is_one && !follows_order(ask, V);
    is_one = is_one && (is_odd || is_open || !is_answer_here(ask, V));
    tally->turned_loose += !is_odd && !is_open && !is_one;
    if (is_odd || is_open || !is_one) {
        return true;
    }
    char place[96];
    snprintf(place, sizeof(place), "velocities %s", seen_name(&ask->seen));
    return play_found(ask->play, PROPERTY_TURNED, place,
                      "%s, body %u is %.3g m/s off, of %.3g, under %s", seen_name(&ask->seen), body,
                      off, V, solver_get((SolverKind)ask->from->settings.solver)->name);
}

// Both worlds, and a step of each. False: one could not be made.
static bool step_both(Ask *ask, bool *have_stepped) {
    Play *play = ask->play;
    *have_stepped = false;
    if (!make(ask, &ask->here) || !make(ask, &ask->there)) {
        return false;
    }
    const Push push = seen_push(&ask->seen, &ask->push);
    if (seen_apply(&ask->seen, &ask->there, &ask->dice, &play->memory)) {
        play->tally.turned += !ask->is_unanswered;
        *have_stepped =
            variant_step(play, &ask->here, &ask->push) && variant_step(play, &ask->there, &push);
    }
    return true;
}

static void end_both(Ask *ask) {
    variant_end(&ask->here);
    variant_end(&ask->there);
}

static bool is_thrown(const Ask *ask) {
    return ask->here.answers > 1 || ask->there.answers > 1;
}

// Whom an answer throws farther than anybody had looked meets others there: where there are several
// answers, contacts follow from which one it is.
static bool is_thrown_otherwise(const Ask *ask) {
    const FirstAnswer *a = &ask->here.first, *b = &ask->there.first;
    return is_thrown(ask) && !(fabs(a->work - b->work) <= work_part * fmax(a->size, b->size));
}

bool ask_turned(Play *play, const World *world, uint32_t seed) {
    Ask ask = {.play = play, .from = world, .dice = dice_make(seed, 4)};
    ask.push = variant_push(world, &ask.dice);
    ask.seen = seen_make(world, &ask.dice, &play->memory);
    ask.plain = seen_plain(world, &play->memory);
    ask.nothing = stand_in(tolerance, &play->memory);
    bool have_stepped;
    bool is_fine = step_both(&ask, &have_stepped);
    play->tally.turned_thrown += have_stepped && is_thrown(&ask);
    if (have_stepped && is_thrown_otherwise(&ask)) {
        play->tally.turned_thrown_otherwise++;
        ask.is_unanswered = true;
        end_both(&ask);
        is_fine = step_both(&ask, &have_stepped);
    }
    is_fine = is_fine && (!have_stepped || compare(&ask));
    end_both(&ask);
    return is_fine;
}
