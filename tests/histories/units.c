// SPDX-License-Identifier: MIT
#include "histories/units.h"

#include "base/assert.h"
#include "histories/other_geometries.h"
#include "histories/variant.h"
#include "solve/ccp/ccp.h"
#include "solve/compliant/compliant.h"
#include "solve/mdp/mdp.h"
#include "solve/solver.h"
#include "world/sleep.h"
#include "world/world_commands.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { UNITS_STEPS = 3, UNITS_POWER = 10, UNITS_TRIES = 8 };

// How many of the old ones a new one is, as powers of two.
typedef struct Units {
    int length, mass, time;
} Units;

// A quantity: its exponents of length, mass and time, twice, as Hertz's law has halves of them.
typedef struct Dimension {
    int length, mass, time;
} Dimension;

static const Dimension pure = {0, 0, 0}, metre = {2, 0, 0}, second = {0, 0, 2},
                       kilogram = {0, 2, 0}, speed = {2, 0, -2}, spin = {0, 0, -2},
                       acceleration = {2, 0, -4}, force = {2, 2, -4}, torque = {4, 2, -4},
                       impulse = {2, 2, -2}, inertia = {4, 2, 0}, density = {-6, 2, 0},
                       viscosity = {-2, 2, -2}, pressure = {-2, 2, -4}, stiffness = {0, 2, -4},
                       damping = {0, 2, -2}, turn_stiffness = {4, 2, -4}, turn_damping = {4, 2, -2},
                       energy = {4, 2, -4};

static double factor(Units units, Dimension d) {
    return ldexp(1.0, (d.length * units.length + d.mass * units.mass + d.time * units.time) / 2);
}

static void scale(double *values, size_t count, double by) {
    for (size_t i = 0; i < count; i++) {
        values[i] *= by;
    }
}

static void scale_vec(Vec3 *v, double by) {
    *v = vec3_scale(by, *v);
}

static void scale_sym(Sym3 *m, double by) {
    *m = (Sym3){by * m->xx, by * m->yy, by * m->zz, by * m->xy, by * m->xz, by * m->yz};
}

// ---- a world in other units

// Of the solvers' parameters those that have a dimension; all others are pure.
static const struct {
    const char *name;
    Dimension dimension;
} parameters[] = {
    {"compliance", {0, -2, 4}},         // [m/N]
    {"stiffness_default", {0, 2, -4}},  // [N/m]
    {"tangential_damping", {0, 2, -2}}, // [N s/m]
    {"zeta", {0, 0, -2}},               // [1/s]
};

static void scale_parameters(WorldSettings *s, Units u) {
    const Solver *solver = solver_get((SolverKind)s->solver);
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        for (size_t k = 0; k < sizeof(parameters) / sizeof(parameters[0]); k++) {
            if (strcmp(solver->parameters[i].name, parameters[k].name) == 0) {
                s->parameter[i] *= factor(u, parameters[k].dimension);
            }
        }
    }
}

static void scale_settings(World *world, Units u) {
    WorldSettings *s = &world->settings;
    scale_vec(&s->gravity, factor(u, acceleration));
    scale_vec(&s->bounds_lower, factor(u, metre));
    scale_vec(&s->bounds_upper, factor(u, metre));
    s->time_step *= factor(u, second);
    s->margin *= factor(u, metre);
    s->restitution_threshold *= factor(u, speed);
    s->recovery_speed *= factor(u, speed);
    s->sleep_speed *= factor(u, speed);
    s->sleep_time *= factor(u, second);
    s->fluid_density *= factor(u, density);
    s->fluid_viscosity *= factor(u, viscosity);
    scale_parameters(s, u);
}

static void scale_surfaces(World *world, Units u) {
    for (size_t i = 0; i < world->material_count; i++) {
        Material *m = &world->material[i];
        // F = stiffness d^p: what is left of the dimension beside the tangent's
        const Dimension more = {(int)(2.0 * (1.0 - m->hertz_exponent)), 0, 0};
        m->stiffness *= factor(u, stiffness) * factor(u, more);
        m->damping *= factor(u, damping) * factor(u, more);
        m->dissipation_time *= factor(u, second);
    }
    for (size_t i = 0; i < world->primitive_count; i++) {
        Primitive *p = &world->primitive[i];
        scale_vec(&p->size, factor(u, metre));
        scale_vec(&p->local.position, factor(u, metre));
        p->density *= factor(u, density);
        p->foundation.modulus *= factor(u, pressure);
        p->foundation.depth *= factor(u, metre);
        p->foundation.damping *= factor(u, damping);
    }
    for (size_t i = 0; i < world->shape_count; i++) {
        Shape *shape = &world->shape[i];
        shape->volume_mass *= factor(u, kilogram);
        shape->radius *= factor(u, metre);
        scale_vec(&shape->center, factor(u, metre));
        scale_sym(&shape->inertia, factor(u, inertia));
    }
}

static void scale_bodies(World *world, Units u) {
    for (uint32_t i = 0; i < world->body_count; i++) {
        BodyMass *mass = &world->mass[i];
        mass->mass *= factor(u, kilogram);
        mass->thickening *= factor(u, inertia);
        scale_vec(&mass->center, factor(u, metre));
        scale_sym(&mass->inertia, factor(u, inertia));
        scale_sym(&mass->inverse_inertia, 1.0 / factor(u, inertia));
        scale(world->pose + 7 * (size_t)i, 3, factor(u, metre));
        scale(world->velocity + 6 * (size_t)i, 3, factor(u, speed));
        scale(world->velocity + 6 * (size_t)i + 3, 3, factor(u, spin));
    }
}

static void scale_axis(World *world, size_t at, bool is_turn, Units u) {
    JointAxis *a = &world->joint_axis[at];
    const double place = factor(u, is_turn ? pure : metre);
    const double rate = factor(u, is_turn ? spin : speed);
    const double effort = factor(u, is_turn ? torque : force);
    const double spring = factor(u, is_turn ? turn_stiffness : stiffness);
    const double damper = factor(u, is_turn ? turn_damping : damping);
    a->low *= place;
    a->high *= place;
    a->rest *= place;
    a->stiffness *= spring;
    a->damping *= damper;
    a->friction *= effort;
    a->armature *= factor(u, is_turn ? inertia : kilogram);
    a->drive_stiffness *= spring;
    a->drive_damping *= damper;
    a->effort_max *= effort;
    a->stall_effort *= effort;
    a->no_load_speed *= rate;
    a->lag_time *= factor(u, second);
    const double command[COMMAND_NUMBERS] = {place, rate, effort};
    double *under_way = world->joint_under_way + world_count_under_way(world->joint_axis, at);
    for (size_t i = 0; i < joint_axis_under_way(a); i++) {
        under_way[i] *= command[i % COMMAND_NUMBERS];
    }
    world->joint_velocity[at] *= rate;
    world->joint_target_velocity[at] *= rate;
    world->joint_target[at] *= place;
    world->joint_effort[at] *= effort;
}

static bool is_turn_alone(const World *world, uint32_t joint) {
    return (world->joint[joint].axes & JOINT_TURNS) != 0;
}

static bool couples_turn(const World *world, const Coupling *of) {
    return joint_axis_bit(world->joint[of->joint].axes, of->axis) >= 3;
}

static void scale_joint(World *world, Joint *joint, Units u) {
    const uint32_t axes = joint_axis_count(joint->axes);
    for (uint32_t k = 0; k < axes; k++) {
        const bool is_turn = joint_axis_bit(joint->axes, k) >= 3;
        scale_axis(world, joint->axis_first + k, is_turn, u);
        if (!is_turn) {
            world->joint_position[joint->position_first + k] *= factor(u, metre);
        }
    }
    for (int side = 0; side < 2; side++) {
        scale_vec(&joint->frame[side].position, factor(u, metre));
    }
    joint->length *= factor(u, metre);
    joint->break_force *= factor(u, force);
    joint->break_torque *= factor(u, torque);
    if (joint->kind == JOINT_GEAR) { // position of the second = ratio times that of the first
        const Dimension of = {2 * (int)is_turn_alone(world, joint->partner[0]) -
                                  2 * (int)is_turn_alone(world, joint->partner[1]),
                              0, 0};
        joint->ratio *= factor(u, of);
    }
    for (uint32_t i = 0; i < joint->coupling_count; i++) { // a tendon's length is one
        Coupling *of = &world->coupling[joint->coupling_first + i];
        of->coefficient *= couples_turn(world, of) ? factor(u, metre) : 1.0;
    }
}

// false, and nothing is done: in these units a geometry is beyond the lengths that it may have.
static bool scale_world(Variant *variant, Units u) {
    World *world = variant->world;
    const OtherWay way = {.size = factor(u, metre), .turn = quat_identity()};
    if (!other_geometries(world, &way)) {
        return false;
    }
    scale_settings(world, u);
    scale_surfaces(world, u);
    scale_bodies(world, u);
    for (size_t i = 0; i < world->joint_count; i++) {
        scale_joint(world, &world->joint[i], u);
    }
    world->time.value *= factor(u, second);
    world->time.rest *= factor(u, second);
    return true;
}

// ---- what is absolute all the same

// Of the units, what a constant fixes.
typedef enum Fixed { FIXED_LENGTH, FIXED_TIME, FIXED_SPEED } Fixed;

static bool has_turns_of_rows(const World *world) {
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        const bool locks_turns = joint->kind != JOINT_DISTANCE && !joint_couples(joint) &&
                                 (joint->axes & JOINT_TURNS) != JOINT_TURNS;
        if (joint->is_rows && locks_turns) {
            return true;
        }
        if (joint->kind == JOINT_GEAR &&
            (is_turn_alone(world, joint->partner[0]) || is_turn_alone(world, joint->partner[1]))) {
            return true;
        }
        for (uint32_t k = 0; k < joint->coupling_count; k++) {
            if (couples_turn(world, &world->coupling[joint->coupling_first + k])) {
                return true;
            }
        }
        for (uint32_t k = 0; k < joint_axis_count(joint->axes); k++) {
            const JointAxis *axis = &world->joint_axis[joint->axis_first + k];
            const bool has_rows = joint->is_rows || !isinf(axis->low) || !isinf(axis->high) ||
                                  axis->friction != 0.0 || !isinf(axis->effort_max) ||
                                  axis->stall_effort != 0.0;
            if (joint_axis_bit(joint->axes, k) >= 3 && has_rows) {
                return true;
            }
        }
    }
    return false;
}

// A joint of rows at a tree, whose coordinates may be turns beside moves.
static bool has_rows_at_trees(const World *world) {
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        for (int side = 0; joint->is_rows && side < 2; side++) {
            if (joint->body[side] != JOINT_NO_BODY &&
                tree_of_body(world->trees, joint->body[side]) != TREE_NONE) {
                return true;
            }
        }
    }
    return false;
}

static bool has_curved_law(const World *world) {
    for (size_t i = 0; i < world->material_count; i++) {
        if (world->material[i].hertz_exponent != 1.0) {
            return true;
        }
    }
    return false;
}

// What falls slower in a step, in any units here.
static bool may_be_slow(const World *world) {
    const double fall = vec3_norm(world->settings.gravity) * world->settings.time_step;
    return fall <= 1e-9 * 0x1p20;
}

// Gauss-Seidel and Lemke know no such pivots, nor do factors of symmetric systems.
static bool has_unsymmetric_factors(const World *world) {
    const double *parameter = world->settings.parameter;
    switch ((SolverKind)world->settings.solver) {
    case SOLVER_MDP:
        return parameter[MDP_METHOD] != MDP_GAUSS_SEIDEL;
    case SOLVER_CCP:
        return parameter[CCP_COULOMB] != CCP_RELAXED;
    case SOLVER_COMPLIANT:
        return true;
    case SOLVER_LCP:
    case SOLVER_SAP:
    case SOLVER_COUNT:
        break;
    }
    return false;
}

static bool has_friction_as_printed(const World *world) {
    return world->settings.solver == SOLVER_COMPLIANT &&
           world->settings.parameter[COMPLIANT_FRICTION] == COMPLIANT_PRINTED;
}

static const struct {
    const char *reason;
    bool (*holds)(const World *world);
    Fixed fixed;
} absolutes[] = {
    {"a radian counts as a metre: in the margin and the speed of recovery of limits (in "
     "step/joints/), in the certificate's V and residuals of rows, and so in what solvers aim at",
     has_turns_of_rows, FIXED_LENGTH},
    {"a factor of what is not symmetric takes the largest number of a column as its pivot, and "
     "forces stand there beside torques (ldlt.c): each length gives other roundings",
     has_unsymmetric_factors, FIXED_LENGTH},
    {"a radian of a tree's joint counts as a metre where rows are compared with each other, of "
     "which those that repeat others are left out, or brought together calmly (step/rows/rank.c)",
     has_rows_at_trees, FIXED_LENGTH},
    {"a law that is not linear is taken from 1e-12 m on (material.c, DEPTH_MIN)", has_curved_law,
     FIXED_LENGTH},
    {"compliant's printed friction program weighs normal forces against others by 1 / time_step, a "
     "number of seconds (compliant.h, COMPLIANT_ZETA)",
     has_friction_as_printed, FIXED_TIME},
    {"no velocity is measured against less than 1e-9 m/s (certificate.c, SCALE_MIN): where nothing "
     "moves there is no other measure",
     may_be_slow, FIXED_SPEED},
};

// Half of the worlds have sweeps alone, in all units.
static void choose_method(Variant *variant, Dice dice) {
    WorldSettings *settings = &variant->world->settings;
    if (settings->solver == SOLVER_MDP && dice_chance(&dice, 50)) {
        settings->parameter[MDP_METHOD] = MDP_GAUSS_SEIDEL;
    }
}

static Units allowed(const World *world, Units units) {
    for (size_t i = 0; i < sizeof(absolutes) / sizeof(absolutes[0]); i++) {
        if (absolutes[i].holds(world)) {
            units.length = absolutes[i].fixed == FIXED_LENGTH ? 0 : units.length;
            units.time = absolutes[i].fixed == FIXED_TIME    ? 0
                         : absolutes[i].fixed == FIXED_SPEED ? units.length
                                                             : units.time;
        }
    }
    return units;
}

// ---- the same bits

typedef struct Compare {
    Play *play;
    Units units;
    int step;
    bool is_same;
} Compare;

// Squares and cubes of what is less leave the range of doubles, in any units here.
static const double least = 1e-80;

static void compare(Compare *c, const char *what, const double *a, const double *b, size_t count,
                    Dimension dimension) {
    const double by = factor(c->units, dimension);
    for (size_t i = 0; i < count && c->is_same; i++) {
        const double meant = by * a[i];
        const bool is_nothing = fabs(meant) < least && fabs(b[i]) < least;
        if (memcmp(&meant, &b[i], sizeof(meant)) != 0 && !is_nothing &&
            !(isnan(meant) && isnan(b[i]))) {
            c->is_same = play_found(
                c->play, PROPERTY_UNITS, what,
                "%s [%zu] is %.17g, and %.17g in units of 2^%d m, 2^%d kg, 2^%d s (step %d)", what,
                i, a[i], b[i] / by, -c->units.length, -c->units.mass, -c->units.time, c->step);
        }
    }
}

static void compare_count(Compare *c, const char *what, uint64_t a, uint64_t b) {
    const double values[2] = {(double)a, (double)b};
    compare(c, what, &values[0], &values[1], 1, pure);
}

static bool has_one_below_least(const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (values[i] != 0.0 && fabs(values[i]) < least) {
            return true;
        }
    }
    return false;
}

// What momentum is left is known by squares of roundings of it (certificate.c), which for impulses
// of 1e-143 N s, of what has all but come to rest, are no doubles of full precision.
static void compare_certificates(Compare *c, const Variant *a, const Variant *b) {
    const Stepper *step = a->stepper;
    Certificate p = a->report.certificate, q = b->report.certificate;
    if (has_one_below_least(step->impulse, 3 * (size_t)step->problem.contact_count) ||
        has_one_below_least(step->row_impulse, step->problem.row_count)) {
        p.entry[CERTIFICATE_MOM] = q.entry[CERTIFICATE_MOM] = 0.0;
    }
    compare(c, "certificate", p.entry, q.entry, CERTIFICATE_ENTRY_COUNT, pure);
    compare(c, "scale", &p.scale, &q.scale, 1, speed);
    compare(c, "penetration", &p.penetration, &q.penetration, 1, metre);
}

static void compare_reports(Compare *c, const StepReport *a, const StepReport *b) {
    const StepEnergy *e = &a->energy, *f = &b->energy;
    compare_count(c, "contacts", a->contact_count, b->contact_count);
    compare_count(c, "rows", a->row_count, b->row_count);
    compare_count(c, "asleep", a->asleep_count, b->asleep_count);
    compare_count(c, "removed", a->removed_count, b->removed_count);
    compare_count(c, "broken", a->broken_count, b->broken_count);
    compare_count(c, "recovery", a->recovery_count, b->recovery_count);
    compare_count(c, "softened", a->softened_count, b->softened_count);
    compare_count(c, "idle", a->idle_count, b->idle_count);
    compare_count(c, "iterations", a->iterations, b->iterations);
    compare_count(c, "islands open", a->open.islands_open, b->open.islands_open);
    compare(c, "launch", &a->launch.speed, &b->launch.speed, 1, speed);
    const double of_a[] = {e->before, e->after,  e->contact, e->row,         e->applied,
                           e->drive,  e->scheme, e->swing,   e->unexplained, e->scale};
    const double of_b[] = {f->before, f->after,  f->contact, f->row,         f->applied,
                           f->drive,  f->scheme, f->swing,   f->unexplained, f->scale};
    compare(c, "energy", of_a, of_b, sizeof(of_a) / sizeof(of_a[0]), energy);
}

static void compare_vecs(Compare *c, const char *what, Vec3 a, Vec3 b, Dimension dimension) {
    const double of_a[3] = {a.x, a.y, a.z}, of_b[3] = {b.x, b.y, b.z};
    compare(c, what, of_a, of_b, 3, dimension);
}

static void compare_contact(Compare *c, const Stepper *a, const Stepper *b, uint32_t i) {
    const StepContact *p = &a->contact[i], *q = &b->contact[i];
    const ProblemContact *s = &a->problem.contact[i], *t = &b->problem.contact[i];
    const ContactLaw *k = &a->problem.law[i], *l = &b->problem.law[i];
    compare_count(c, "contact's a", p->a, q->a);
    compare_count(c, "contact's b", p->b, q->b);
    compare_count(c, "contact's part of a", p->part_a, q->part_a);
    compare_count(c, "contact's part of b", p->part_b, q->part_b);
    compare_count(c, "contact's feature", p->feature, q->feature);
    compare_vecs(c, "contact's point", p->point, q->point, metre);
    compare_vecs(c, "contact's normal", s->normal, t->normal, pure);
    compare_vecs(c, "contact's tangent", s->tangent[0], t->tangent[0], pure);
    compare(c, "friction", &s->mu, &t->mu, 1, pure);
    compare(c, "gap", &s->gap, &t->gap, 1, metre);
    compare(c, "bias", &s->bias, &t->bias, 1, speed);
    compare(c, "motion", s->motion, t->motion, 3, speed);
    compare(c, "approach", &k->approach, &l->approach, 1, speed);
    compare(c, "stiffness", &k->stiffness, &l->stiffness, 1, stiffness);
    compare(c, "damping", &k->damping, &l->damping, 1, damping);
    compare(c, "force", &k->force, &l->force, 1, force);
}

// What was asked of the solver, and what it answered.
static void compare_problems(Compare *c, const Stepper *a, const Stepper *b) {
    const ContactProblem *p = &a->problem, *q = &b->problem;
    compare_count(c, "trees", p->tree_count, q->tree_count);
    for (uint32_t i = 0; i < p->tree_count && c->is_same; i++) {
        const uint32_t first = p->tree[i].first;
        if (p->tree[i].is_free) {
            compare(c, "free velocity", p->v_free + first, q->v_free + first, 3, speed);
            compare(c, "free spin", p->v_free + first + 3, q->v_free + first + 3, 3, spin);
        }
    }
    for (uint32_t i = 0; i < p->contact_count; i++) {
        compare_contact(c, a, b, i);
    }
    compare(c, "impulse", a->impulse, b->impulse, 3 * (size_t)p->contact_count, impulse);
}

static void compare_joints(Compare *c, const World *a, const World *b) {
    for (size_t i = 0; i < a->joint_count; i++) {
        const Joint *joint = &a->joint[i];
        const size_t axis = joint->axis_first, place = joint->position_first;
        const uint32_t moves = joint_axis_count(joint->axes & JOINT_MOVES);
        const uint32_t axes = joint_axis_count(joint->axes);
        const uint32_t positions = joint_position_count(joint->axes);
        compare(c, "joint's move", a->joint_position + place, b->joint_position + place, moves,
                metre);
        compare(c, "joint's angle", a->joint_position + place + moves,
                b->joint_position + place + moves, positions - moves, pure);
        compare(c, "joint's speed", a->joint_velocity + axis, b->joint_velocity + axis, moves,
                speed);
        compare(c, "joint's rate", a->joint_velocity + axis + moves,
                b->joint_velocity + axis + moves, axes - moves, spin);
    }
}

static void compare_worlds(Compare *c, const World *a, const World *b) {
    for (size_t i = 0; i < a->body_count; i++) {
        const double *p = a->pose + 7 * i, *q = b->pose + 7 * i;
        const double *v = a->velocity + 6 * i, *w = b->velocity + 6 * i;
        compare(c, "velocity", v, w, 3, speed);
        compare(c, "spin", v + 3, w + 3, 3, spin);
        compare(c, "position", p, q, 3, metre);
        compare(c, "orientation", p + 3, q + 3, 4, pure);
    }
    compare_joints(c, a, b);
    const double *of_a = a->sleep == NULL ? NULL : a->sleep->rest;
    const double *of_b = b->sleep == NULL ? NULL : b->sleep->rest;
    compare_count(c, "sleep", of_a == NULL ? 0 : a->sleep->count,
                  of_b == NULL ? 0 : b->sleep->count);
    if (of_a != NULL && of_b != NULL) {
        compare(c, "rest", of_a, of_b, a->sleep->count, second);
    }
}

// ---- steps

// The largest float, which no number of a step may be beyond (step/fault.c), and a share of it:
// free velocities, and others on the way, are larger than what they come to.
static const double most = 1e-6 * FLT_MAX;

// What has stepped has come where the other one's numbers are beyond floats.
static bool is_beyond_floats(const World *world, Units units) {
    const double by[3] = {factor(units, metre), factor(units, speed), factor(units, spin)};
    for (size_t i = 0; i < world->body_count; i++) {
        const double *p = world->pose + 7 * i, *v = world->velocity + 6 * i;
        for (int k = 0; k < 3; k++) {
            if (!(fabs(by[0] * p[k]) <= most && fabs(by[1] * v[k]) <= most &&
                  fabs(by[2] * v[k + 3]) <= most)) {
                return true;
            }
        }
    }
    return false;
}

static bool fault_is_excused(const Compare *c, const Variant *old, const Variant *other) {
    const Units back = {-c->units.length, -c->units.mass, -c->units.time};
    return old->has_stepped ? is_beyond_floats(old->world, c->units)
                            : is_beyond_floats(other->world, back);
}

static bool step_both(Compare *c, Variant *old, Variant *other, const Push *push) {
    Push scaled = *push;
    for (size_t i = 0; i < 6 * push->count; i++) {
        scaled.wrench[i] *= factor(c->units, i % 6 < 3 ? force : torque);
    }
    variant_step(c->play, old, push);
    variant_step(c->play, other, &scaled);
    if (old->has_stepped != other->has_stepped && fault_is_excused(c, old, other)) {
        c->play->tally.units_beyond++;
        return false;
    }
    compare_count(c, "step", old->has_stepped, other->has_stepped);
    if (!old->has_stepped || !c->is_same) {
        return false;
    }
    compare_count(c, "contacts", old->stepper->contact_count, other->stepper->contact_count);
    if (c->is_same) {
        compare_problems(c, old->stepper, other->stepper);
        compare_certificates(c, old, other);
        compare_reports(c, &old->report, &other->report);
    }
    if (c->is_same) { // as many bodies and joints
        compare_worlds(c, old->world, other->world);
    }
    c->step++;
    return c->is_same && old->report.removed_count == 0; // whom wrenches push is still there
}

static int any_power(Dice *dice) { // even, for what has halves in its exponents
    return UNITS_POWER * ((int)dice_roll(dice, 3) - 1);
}

static bool is_as_before(Units units) {
    return units.length == 0 && units.mass == 0 && units.time == 0;
}

// In the same units: cold, and with no joints brought together, which is to 1e-10 m, as the .proto
// says (step/joints/project.c).
static bool make(Play *play, const World *world, Dice dice, Variant *variant) {
    if (!variant_make(play, world, variant)) {
        return false;
    }
    choose_method(variant, dice);
    variant->world->settings.joint_projection = false;
    return true;
}

bool ask_units(Play *play, const World *world, uint32_t seed) {
    Dice dice = dice_make(seed, 3);
    Compare c = {.play = play, .is_same = true};
    Variant old = {0}, other = {0};
    const Push push = variant_push(world, &dice);
    bool is_fine = make(play, world, dice, &old) && make(play, world, dice, &other);
    for (int i = 0; is_fine && i < UNITS_TRIES && is_as_before(c.units); i++) {
        const Units any = {any_power(&dice), any_power(&dice), any_power(&dice)};
        c.units = allowed(old.world, any);
    }
    if (is_fine) {
        play->tally.units++;
        const bool may_be = scale_world(&other, c.units);
        play->tally.units_beyond += !may_be;
        c.step = may_be ? 0 : UNITS_STEPS;
        variant_settle(&old);
        variant_settle(&other);
        while (c.step < UNITS_STEPS && step_both(&c, &old, &other, &push)) {
        }
        is_fine = c.is_same;
    }
    variant_end(&old);
    variant_end(&other);
    return is_fine;
}
