// SPDX-License-Identifier: MIT
// Joints held by impulses, as rows of the problem between any two bodies, whether free, of a tree
// or not moved by forces at all. With A and B the two frames, u an axis of A, x the position of an
// axis and v its rate:
//
//     locked move   u (b - a) = 0      G v = u (velocity of B's body at b - of A's, there too, or,
//                                               where no move is free, at a)
//     locked turn   e = 0              G v = n (spin of B - of A)
//     distance      |b - a| = length
//     gear          x2 - ratio x1 = 0, and a tendon that is held, of any joints: sum c x = low
//     limit, friction, drive           as of coordinates (tree_rows.c)
//     of a tendon   the same along sum c x
//     spring        v + bias + R r = 0, R = 1/(c h^2 k + s h d), unbounded, taken where spring.h
//                   says: bias = R (h k stretch - (c - o) h^2 k rate before - ...), o and c its
//                   shares of the old rate and of its change; w as if the joint's locked axes were
//                   all that holds its bodies
//
// e of no free turn is the rotation vector of B against A; of one, k, its two parts of k x (B's k
// as A sees it); of two, i and j, the cosine between A's i and B's j.
//
// What is off is taken back as the solver takes back overlaps of contacts, at recovery_speed (also
// of radians) at most.
#include "step/joints/rows.h"

#include "base/assert.h"
#include "base/array.h"
#include "step/joints/pull.h"
#include "step/rows/rank.h"
#include "step/rows/rows.h"

#include <math.h>
#include <string.h>

// Parts of a joint that are rows: what is locked, then those of each axis.
enum { PART_AXES = 6 };
enum { PART_LOW, PART_HIGH, PART_FRICTION, PART_DRIVE, PART_SPRING, PART_COUNT };

// A joint in a step.
typedef struct RowJoint {
    StepState *state;
    const Joint *joint;
    uint32_t index;
    Vec3 origin[2]; // of the frames
    Mat3 axes[2];
    Vec3 rotation;       // of B against A, in A's axes: the rotation vector
    RowRanking *ranking; // Nullable: of what it locks
} RowJoint;

static Vec3 column(const Mat3 *m, int axis) {
    ASSERT(axis >= 0 && axis < 3);
    return axis == 0 ? m->c0 : axis == 1 ? m->c1 : m->c2;
}

static RowJoint place(StepState *state, uint32_t index) {
    ASSERT(index < state->world->joint_count);
    const Joint *joint = &state->world->joint[index];
    const Pose a = world_joint_frame(state->world, joint, 0),
               b = world_joint_frame(state->world, joint, 1);
    const Quat back = {a.orientation.w, -a.orientation.x, -a.orientation.y, -a.orientation.z};
    return (RowJoint){.state = state,
                      .joint = joint,
                      .index = index,
                      .origin = {a.position, b.position},
                      .axes = {quat_to_mat3(a.orientation), quat_to_mat3(b.orientation)},
                      .rotation = joint_rotation_vector(quat_mul(back, b.orientation))};
}

// ---- blocks

// The row's block of a tree: where both bodies are of one, they share it.
static double *block_of(StepState *state, ProblemRow *row, uint32_t tree) {
    const Stepper *stepper = state->stepper;
    for (uint32_t i = row->block_first; i < row->block_first + row->block_count; i++) {
        if (stepper->row_block[i].tree == tree) {
            return stepper->number + stepper->row_block[i].jacobian;
        }
    }
    return rows_add_block(state, row, tree);
}

// What a row is made of, beside its blocks.
typedef struct RowSum {
    double motion; // what bodies that no force moves add to it, themselves or as a tree's base
    double square; // of its levers along coordinates, whatever their directions
    double turned; // of those, what turns have
} RowSum;

// The derivative along the coordinates of a link of the velocity of a point that it carries, along
// a direction; or of its spin.
static void add_link(const StepState *state, uint32_t body, Vec3 direction, const Vec3 *point,
                     double *block, RowSum *sum) {
    ASSERT(body < state->world->body_count);
    const StepTree *tree = stage_tree(state, body);
    const TreeView *view = &tree->flight.view;
    const TreeFrame *frame = tree->flight.work.frame;
    const double size = point == NULL ? 1.0 : tree->extent + tree_point_size(*point);
    double square = 0.0;
    for (uint32_t at = state->world->trees->link_of_body[body]; at != TREE_NONE;
         at = view->link[at].parent) {
        const TreeLink *link = &view->link[at];
        for (uint32_t k = 0; k < tree_link_width(link); k++) {
            const Vec3 axis = frame[at].axis[k];
            const bool is_move = k < link->moves;
            Vec3 motion = is_move ? vec3(0.0, 0.0, 0.0) : axis;
            double lever = is_move ? 0.0 : 1.0;
            if (point != NULL) {
                const Vec3 arm = vec3_sub(*point, frame[at].anchor);
                motion = is_move ? axis : vec3_cross(axis, arm);
                lever = is_move ? 1.0 : vec3_dot(arm, arm);
            }
            double *number = &block[link->first + k];
            *number = tree_add(*number, vec3_dot(direction, motion), is_move ? 1.0 : size);
            square += lever;
            sum->turned += is_move ? 0.0 : lever;
        }
    }
    sum->square += square;
}

// What the base of a tree, where it is moved, moves a link with whose coordinates rest.
static double base_motion(const TreeView *view, Vec3 direction, const Vec3 *point) {
    if (point == NULL) {
        return vec3_dot(direction, view->base_spin);
    }
    const Vec3 arm = vec3_sub(*point, view->base.position);
    return vec3_dot(direction, tree_carried_velocity(view->base_velocity, view->base_spin, arm));
}

// Adds a side to a row: the velocity of its body at a point along a direction, or, without a
// point, its spin.
static bool add_side(const RowJoint *of, ProblemRow *row, uint32_t body, Vec3 direction,
                     const Vec3 *point, RowSum *sum) {
    StepState *state = of->state;
    if (body == JOINT_NO_BODY) {
        return true;
    }
    const Vec3 center = vec3_load(state->world->pose + 7 * (size_t)body);
    const Vec3 turn = point == NULL ? direction : vec3_cross(vec3_sub(*point, center), direction);
    const uint32_t tree = state->stepper->tree_of_body[body];
    if (tree == PROBLEM_NO_TREE) {
        const double *velocity = state->world->velocity + 6 * (size_t)body;
        sum->motion += vec3_dot(turn, vec3_load(velocity + 3));
        sum->motion += point == NULL ? 0.0 : vec3_dot(direction, vec3_load(velocity));
        return true;
    }
    double *block = block_of(state, row, tree);
    if (block == NULL) {
        return false;
    }
    if (tree >= state->free_count) {
        add_link(state, body, direction, point, block, sum);
        sum->motion += base_motion(&stage_tree(state, body)->flight.view, direction, point);
        return true;
    }
    if (point != NULL) {
        vec3_store(block, vec3_add(vec3_load(block), direction));
    }
    vec3_store(block + 3, vec3_add(vec3_load(block + 3), turn));
    return true;
}

// What a joint carries; not of rows that only put things in their places.
static bool add_act(const RowJoint *of, uint32_t row, Vec3 direction, const Vec3 *at_a,
                    const Vec3 *at_b) {
    StepJoints *told = of->state->stepper->joints;
    if (of->state->is_projecting) {
        return true;
    }
    if (!ARRAY_RESERVE(told->act, told->act_capacity, (size_t)told->act_count + 1)) {
        return false;
    }
    const bool is_turn = at_b == NULL;
    told->act[told->act_count++] =
        (StepAct){.joint = of->joint->id,
                  .body = {of->joint->body[0], of->joint->body[1]},
                  .row = row,
                  .is_turn = is_turn,
                  .direction = direction,
                  .at = {is_turn ? of->origin[0] : *at_a, is_turn ? of->origin[1] : *at_b}};
    return true;
}

// A row between the two bodies: of the velocities at a point of each, or of the spins.
static bool add_sides(const RowJoint *of, ProblemRow *row, Vec3 direction, const Vec3 *at_a,
                      const Vec3 *at_b, RowSum *sum) {
    return add_act(of, of->state->stepper->row_count - 1, direction, at_a, at_b) &&
           add_side(of, row, of->joint->body[0], vec3_neg(direction), at_a, sum) &&
           add_side(of, row, of->joint->body[1], direction, at_b, sum);
}

// ---- what is locked

// The speed at which what is off is taken back.
static double recovery(const StepState *state, double gap) {
    const double wanted = -state->solver_row->bias(state->stepper->solver.parameter,
                                                   state->input->time_step, -fabs(gap));
    return copysign(fmin(wanted, state->world->settings.recovery_speed), gap);
}

static ProblemRow *add_locked(const RowJoint *of, uint32_t part, double gap) {
    ProblemRow *row = rows_add(of->state, of->index, part);
    if (row != NULL) {
        row->group = of->index + 1;
        row->is_position = true;
        row->low = -HUGE_VAL;
        row->high = HUGE_VAL;
        row->gap = gap;
        row->bias = of->state->is_projecting ? gap : recovery(of->state, gap);
    }
    return row;
}

static bool is_empty(const Stepper *stepper, const ProblemRow *row) {
    const size_t first = row->block_count == 0 ? 0 : stepper->row_block[row->block_first].jacobian;
    for (size_t i = first; row->block_count > 0 && i < stepper->number_count; i++) {
        if (stepper->number[i] != 0.0) {
            return false;
        }
    }
    return true;
}

// Those of the row that is none.
static void drop_acts(Stepper *stepper) {
    StepJoints *told = stepper->joints; // NULL: of a projection
    while (told != NULL && told->act_count > 0 &&
           told->act[told->act_count - 1].row == stepper->row_count) {
        told->act_count--;
    }
}

// A row that no velocity has any part in, as of a loop in a plane, or of a hinge on another's axis,
// can move nothing, whatever its impulse: it is none.
static bool end_row(const RowJoint *of, const ProblemRow *row) {
    Stepper *stepper = of->state->stepper;
    if (!is_empty(stepper, row)) {
        return true;
    }
    if (row->block_count > 0) {
        stepper->number_count = stepper->row_block[row->block_first].jacobian;
    }
    stepper->row_block_count = row->block_first;
    stepper->row_count--;
    stepper->idle_row_count++;
    drop_acts(stepper);
    return false;
}

// What the bodies that no force moves add is known: the gap is what it would come to.
static void end_locked(const RowJoint *of, ProblemRow *row, const RowSum *sum) {
    const double recovery = row->bias;
    rows_last(of->state)->motion = sum->motion;
    if (!of->state->is_projecting) {
        row->bias += sum->motion;
        row->gap += of->state->input->time_step * sum->motion;
    }
    if (end_row(of, row) && of->ranking != NULL) {
        of->ranking->recovery[of->ranking->count] = recovery;
        of->ranking->motion[of->ranking->count] = of->state->is_projecting ? 0.0 : sum->motion;
        of->ranking->turned[of->ranking->count] = sum->turned;
        of->ranking->square[of->ranking->count++] = sum->square;
    }
}

static bool add_locked_move(const RowJoint *of, int axis) {
    ASSERT(axis >= 0 && axis < 3);
    const Vec3 direction = column(&of->axes[0], axis);
    const double gap = vec3_dot(direction, vec3_sub(of->origin[1], of->origin[0]));
    // where none is free, axes that turn along do not matter: each body's own point
    const bool is_point = (of->joint->axes & JOINT_MOVES) == 0;
    ProblemRow *row = add_locked(of, (uint32_t)axis, gap);
    RowSum sum = {0.0, 0.0, 0.0};
    if (row == NULL ||
        !add_sides(of, row, direction, &of->origin[!is_point], &of->origin[1], &sum)) {
        return false;
    }
    end_locked(of, row, &sum);
    return true;
}

static bool add_locked_turn(const RowJoint *of, uint32_t part, Vec3 direction, double gap) {
    ProblemRow *row = add_locked(of, part, gap);
    RowSum sum = {0.0, 0.0, 0.0};
    if (row == NULL || !add_sides(of, row, direction, NULL, NULL, &sum)) {
        return false;
    }
    end_locked(of, row, &sum);
    return true;
}

static bool is_turn_free(const RowJoint *of, int axis) {
    ASSERT(axis >= 0 && axis < 3);
    return (of->joint->axes & (8 << axis)) != 0;
}

// Turning by it takes b towards a. Near to a right angle its length says all but the same as 1; far
// from it, what is left of it would ask for more than the speed of recovery, and parallel, nothing
// says about which axis.
static Vec3 apart_turn(Vec3 a, Vec3 b) {
    const Vec3 turn = vec3_cross(b, a);
    const double length = vec3_norm(turn);
    const double unit = length > 0.9 ? 1.0 : length > TREE_ROUNDING ? 1.0 / length : 0.0;
    return vec3_scale(unit, turn);
}

static bool add_locked_turns(const RowJoint *of) {
    const uint32_t free_count = joint_axis_count(of->joint->axes & JOINT_TURNS);
    int i = 0, j = 1; // the two free turns
    if (free_count == 2) {
        i = is_turn_free(of, 0) ? 0 : 1;
        j = is_turn_free(of, 2) ? 2 : 1;
        const Vec3 a = column(&of->axes[0], i), b = column(&of->axes[1], j);
        return add_locked_turn(of, 3, apart_turn(a, b), vec3_dot(a, b));
    }
    int k = 0; // the one free turn
    while (free_count == 1 && !is_turn_free(of, k)) {
        k++;
    }
    const Vec3 off = vec3_cross(column(&of->axes[0], k), column(&of->axes[1], k));
    for (int axis = 0; free_count < 2 && axis < 3; axis++) {
        if (!is_turn_free(of, axis)) {
            const Vec3 direction = column(&of->axes[0], axis);
            const double gap =
                free_count == 1 ? vec3_dot(direction, off) : vec3_get(of->rotation, axis);
            if (!add_locked_turn(of, 3 + (uint32_t)axis, direction, gap)) {
                return false;
            }
        }
    }
    return true;
}

// From A's point to B's. Where both are at one place but for rounding, nothing says which way that
// is: it is A's x axis, as roundings are others wherever the world stands.
static Vec3 way_apart(const RowJoint *of, Vec3 apart, double length) {
    double size = 0.0;
    for (int side = 0; side < 2; side++) {
        size +=
            tree_point_size(of->origin[side]) + tree_point_size(of->joint->frame[side].position);
    }
    return length > TREE_ROUNDING * size ? vec3_scale(1.0 / length, apart)
                                         : column(&of->axes[0], 0);
}

static bool add_distance(const RowJoint *of) {
    ASSERT(of->joint->kind == JOINT_DISTANCE);
    const Vec3 apart = vec3_sub(of->origin[1], of->origin[0]);
    const double length = vec3_norm(apart);
    const Vec3 direction = way_apart(of, apart, length);
    ProblemRow *row = add_locked(of, 0, length - of->joint->length);
    RowSum sum = {0.0, 0.0, 0.0};
    if (row == NULL || !add_sides(of, row, direction, &of->origin[0], &of->origin[1], &sum)) {
        return false;
    }
    end_locked(of, row, &sum);
    return true;
}

// ---- along the free axes

static bool add_coupled(const RowJoint *of, ProblemRow *row, double scale, RowSum *sum);

// Adds `scale` times the rate of an axis to a row: of three turns the rate of the rotation vector,
// where it is asked for, else the spin.
static bool add_rate(const RowJoint *of, ProblemRow *row, uint32_t axis, double scale,
                     bool of_position, RowSum *sum) {
    if (joint_couples(of->joint)) {
        return add_coupled(of, row, scale, sum);
    }
    const uint8_t axes = of->joint->axes;
    const uint32_t moves = joint_axis_count(axes & JOINT_MOVES),
                   turns = joint_axis_count(axes & JOINT_TURNS);
    const int bit = joint_axis_bit(axes, axis);
    if (axis < moves) {
        const Vec3 direction = vec3_scale(scale, column(&of->axes[0], bit));
        return add_sides(of, row, direction, &of->origin[1], &of->origin[1], sum);
    }
    Vec3 direction = column(&of->axes[turns == 2 && axis > moves], bit - 3);
    if (turns == 3) {
        Vec3 along = vec3(bit == 3, bit == 4, bit == 5); // in B
        if (of_position) {
            const Mat3 q = tree_rotation_rates(of->rotation);
            along = vec3(vec3_get(q.c0, bit - 3), vec3_get(q.c1, bit - 3), vec3_get(q.c2, bit - 3));
        }
        direction = mat3_mul_vec(of->axes[1], along);
    }
    return add_sides(of, row, vec3_scale(scale, direction), NULL, NULL, sum);
}

// The position of an axis: of three turns a part of the rotation vector.
static double axis_position(const RowJoint *of, uint32_t axis) {
    ASSERT(axis < joint_axis_count(of->joint->axes));
    const uint32_t moves = joint_axis_count(of->joint->axes & JOINT_MOVES);
    const bool is_vector = (of->joint->axes & JOINT_TURNS) == JOINT_TURNS && axis >= moves;
    return is_vector ? vec3_get(of->rotation, (int)(axis - moves))
                     : of->state->world->joint_position[of->joint->position_first + axis];
}

static ProblemRow *add_axis_row(const RowJoint *of, uint32_t axis, uint32_t part) {
    return rows_add(of->state, of->index, PART_AXES + PART_COUNT * axis + part);
}

// How far an axis moves in the step at most, as long as nothing else does: what gravity adds
// included. A turn by 1 rad moves a point by 1 m.
static double axis_way(const StepState *state, size_t at) {
    const double h = state->input->time_step;
    return h * fabs(state->world->joint_velocity[at]) +
           h * h * vec3_norm(state->world->settings.gravity);
}

// Of a tendon, whose joints of coordinates have a free motion that is known.
static double tendon_way(const StepState *state, const Joint *tendon) {
    const World *world = state->world;
    double rate = 0.0, way = 0.0;
    for (uint32_t i = 0; i < tendon->coupling_count; i++) {
        const Coupling coupling = world_coupling(world, tendon, i);
        const Joint *joint = &world->joint[coupling.joint];
        if (joint->is_rows) {
            way += fabs(coupling.coefficient) * axis_way(state, joint->axis_first + coupling.axis);
            continue;
        }
        const StepTree *tree = stage_tree(state, joint->body[1]);
        ASSERT(tree != NULL); // a joint that sleeps has no rows
        const TreeLink *link = &tree->flight.view.link[world->trees->link_of_body[joint->body[1]]];
        rate += coupling.coefficient *
                state->v_free[state->tree[tree->problem].first + link->first + coupling.axis];
    }
    return way + state->input->time_step * fabs(rate);
}

static bool add_limit(const RowJoint *of, uint32_t axis, uint32_t part) {
    ASSERT(axis < joint_axis_count(of->joint->axes));
    const StepState *state = of->state;
    const JointAxis *what = &state->world->joint_axis[of->joint->axis_first + axis];
    const double sign = part == PART_LOW ? 1.0 : -1.0;
    const double gap =
        sign * (axis_position(of, axis) - (part == PART_LOW ? what->low : what->high));
    const double way = joint_couples(of->joint) ? tendon_way(state, of->joint)
                                                : axis_way(state, of->joint->axis_first + axis);
    if (!(gap <= state->world->settings.margin + 2.0 * way)) {
        return true;
    }
    ProblemRow *row = add_axis_row(of, axis, part);
    RowSum sum = {0.0, 0.0, 0.0};
    if (row == NULL || !add_rate(of, row, axis, sign, true, &sum)) {
        return false;
    }
    rows_limit(state, row, gap);
    end_locked(of, row, &sum);
    return true;
}

static bool add_friction(const RowJoint *of, uint32_t axis) {
    ASSERT(axis < joint_axis_count(of->joint->axes));
    const JointAxis *what = &of->state->world->joint_axis[of->joint->axis_first + axis];
    const double most = of->state->input->time_step * what->friction;
    ProblemRow *row = add_axis_row(of, axis, PART_FRICTION);
    RowSum sum = {0.0, 0.0, 0.0};
    if (row == NULL || !add_rate(of, row, axis, 1.0, false, &sum)) {
        return false;
    }
    rows_last(of->state)->motion = sum.motion;
    row->low = -most;
    row->high = most;
    row->bias = sum.motion;
    (void)end_row(of, row);
    return true;
}

static bool is_pull(const Pull *pull) {
    return joint_rows_feel(pull->stiffness, pull->damping) && pull->most > 0.0;
}

// What a unit impulse of the last row, of a joint, changes its rate by, with what it locks held.
static double mobility(const RowJoint *of) {
    const Stepper *stepper = of->state->stepper;
    const StepRow *key = stepper->row_key;
    const uint32_t row = stepper->row_count - 1;
    uint32_t first = row, count = 0;
    while (first > 0 && key[first - 1].joint == of->index) {
        first--;
    }
    while (first + count < row && key[first + count].part < PART_AXES) {
        count++;
    }
    return row_mobility(of->state, row, first, count);
}

// Where the pull of the last row is taken: that of a spring, and in `share` that of a damper; a
// drive is taken at one place. Asks for mobilities only where they count.
static SpringShare pull_share(const RowJoint *of, uint32_t part, const Pull *pull, double *share) {
    const uint8_t integrator = integrator_of_pushed(of->state->world->settings.integrator);
    const double h = of->state->input->time_step;
    const bool is_spring = part == PART_SPRING,
               is_kept = is_spring && integrator == INTEGRATOR_SYMPLECTIC && pull->stiffness > 0.0,
               is_slowed = integrator == INTEGRATOR_MIDPOINT && (!is_spring || pull->damping > 0.0);
    const double moves = is_kept || is_slowed ? mobility(of) : 0.0;
    const double pulled = is_spring ? 0.0 : h * pull->stiffness;
    *share = damper_share(integrator, moves * h * (pull->damping + pulled));
    return is_kept     ? spring_share(integrator, h * h * pull->stiffness * moves)
           : is_spring ? (SpringShare){tree_share(integrator),
                                       tree_share(integrator) * tree_share(integrator)}
                       : (SpringShare){*share, *share * *share};
}

// The rate of a row as the step begins, of what forces move.
static double rate_before(const StepState *state, const ProblemRow *row) {
    const Stepper *stepper = state->stepper;
    double rate = 0.0;
    for (uint32_t i = row->block_first; i < row->block_first + row->block_count; i++) {
        const RowBlock *block = &stepper->row_block[i];
        const double *before = stage_velocities_before(state, block->tree);
        for (uint32_t k = 0; k < state->tree[block->tree].width; k++) {
            rate += stepper->number[block->jacobian + k] * before[k];
        }
    }
    return rate;
}

static bool add_pull(const RowJoint *of, uint32_t axis, uint32_t part, const Pull *pull) {
    const double h = of->state->input->time_step;
    double share;
    ProblemRow *row = add_axis_row(of, axis, part);
    RowSum sum = {0.0, 0.0, 0.0};
    if (row == NULL || !add_rate(of, row, axis, 1.0, true, &sum)) {
        return false;
    }
    if (!end_row(of, row)) {
        return true;
    }
    const double rate = rate_before(of->state, row) + sum.motion;
    const SpringShare taken = pull_share(of, part, pull, &share);
    const double way = h * (taken.old - taken.change) * rate; // what the old rate has of it
    const double stretch = pull->position - axis_position(of, axis) - way;
    const double slip = pull->rate - (1.0 - share) * rate;
    const double stiff = h * (taken.change * h * pull->stiffness + share * pull->damping);
    StepRow *key = rows_last(of->state);
    key->kind = part == PART_SPRING ? STEP_ROW_SPRINGS : STEP_ROW_DRIVES;
    key->motion = sum.motion;
    key->stiffness = pull->stiffness;
    key->stretch = axis_position(of, axis) - pull->position;
    key->old = taken.old;
    key->damper = h * pull->damping;
    key->share = share;
    row->low = -h * pull->most;
    row->high = h * pull->most;
    row->has_compliance = true;
    row->compliance = 1.0 / stiff;
    row->bias = sum.motion - h * (pull->stiffness * stretch + pull->damping * slip) / stiff;
    return true;
}

// Of a tendon: then its length is one row, and no limit.
static bool is_held(const JointAxis *axis) {
    return axis->low == axis->high;
}

static bool add_axis(const RowJoint *of, uint32_t axis) {
    const World *world = of->state->world;
    const size_t at = of->joint->axis_first + axis;
    const JointAxis *what = &world->joint_axis[at];
    const bool is_explicit = world->settings.integrator == INTEGRATOR_EXPLICIT;
    const Pull drive = pull_of_drive(of->state, at), spring = pull_of_spring(world, at);
    const bool is_limited = of->joint->kind != JOINT_TENDON || !is_held(what);
    return (!is_limited || isinf(what->low) || add_limit(of, axis, PART_LOW)) &&
           (!is_limited || isinf(what->high) || add_limit(of, axis, PART_HIGH)) &&
           (what->friction == 0.0 || add_friction(of, axis)) &&
           (is_explicit || !is_pull(&drive) || add_pull(of, axis, PART_DRIVE, &drive)) &&
           (is_explicit || !is_pull(&spring) || add_pull(of, axis, PART_SPRING, &spring));
}

// ---- gears and tendons

// Adds `scale` times the rate of an axis that is coupled.
static bool add_coupling(StepState *state, ProblemRow *row, const Coupling *coupling, double scale,
                         RowSum *sum) {
    ASSERT(coupling->joint < state->world->joint_count);
    const Joint *joint = &state->world->joint[coupling->joint];
    ASSERT(joint_has_number(joint->axes, coupling->axis));
    if (joint->is_rows) {
        const RowJoint of = place(state, coupling->joint);
        return add_rate(&of, row, coupling->axis, scale, true, sum);
    }
    const StepTree *tree = stage_tree(state, joint->body[1]);
    ASSERT(tree != NULL); // a joint that sleeps has no rows
    double *block = block_of(state, row, tree->problem);
    if (block == NULL) {
        return false;
    }
    const uint32_t link = state->world->trees->link_of_body[joint->body[1]];
    block[tree->flight.view.link[link].first + coupling->axis] += scale;
    return true;
}

static bool add_coupled(const RowJoint *of, ProblemRow *row, double scale, RowSum *sum) {
    ASSERT(joint_couples(of->joint));
    for (uint32_t i = 0; i < world_coupling_count(of->joint); i++) {
        const Coupling coupling = world_coupling(of->state->world, of->joint, i);
        if (!add_coupling(of->state, row, &coupling, scale * coupling.coefficient, sum)) {
            return false;
        }
    }
    return true;
}

// The row of what is held at one place.
static bool add_held(const RowJoint *of, double gap) {
    ProblemRow *row = add_locked(of, 0, gap);
    RowSum sum = {0.0, 0.0, 0.0};
    if (row == NULL || !add_coupled(of, row, 1.0, &sum)) {
        return false;
    }
    end_locked(of, row, &sum);
    return true;
}

static bool add_gear(const RowJoint *of) {
    ASSERT(of->joint->kind == JOINT_GEAR);
    const World *world = of->state->world;
    double gap = 0.0;
    for (uint32_t i = 0; i < 2; i++) {
        const Coupling coupling = world_coupling(world, of->joint, i);
        gap += coupling.coefficient *
               world->joint_position[world->joint[coupling.joint].position_first];
    }
    return add_held(of, gap);
}

// Nothing, or that it has one length.
static bool add_tendon_held(const RowJoint *of) {
    ASSERT(of->joint->kind == JOINT_TENDON);
    const JointAxis *axis = &of->state->world->joint_axis[of->joint->axis_first];
    return !is_held(axis) || add_held(of, axis_position(of, 0) - axis->low);
}

static bool add_all_locked(const RowJoint *of) {
    if (of->joint->kind == JOINT_DISTANCE) {
        return add_distance(of);
    }
    for (int axis = 0; axis < 3; axis++) {
        if (!(of->joint->axes & (1 << axis)) && !add_locked_move(of, axis)) {
            return false;
        }
    }
    return add_locked_turns(of);
}

bool joint_rows_add_locked(StepState *state, uint32_t joint) {
    ASSERT(joint < state->world->joint_count);
    ASSERT(!joint_couples(&state->world->joint[joint]));
    RowRanking ranking = {.row_first = state->stepper->row_count};
    RowJoint of = place(state, joint);
    of.ranking = &ranking;
    return add_all_locked(&of) && row_rank_keep(state, &ranking);
}

bool joint_rows_add(StepState *state, uint32_t joint) {
    ASSERT(joint < state->world->joint_count);
    const RowJoint of = place(state, joint);
    if (of.joint->kind == JOINT_GEAR) {
        return add_gear(&of);
    }
    if (!(of.joint->kind == JOINT_TENDON ? add_tendon_held(&of)
                                         : joint_rows_add_locked(state, joint))) {
        return false;
    }
    for (uint32_t axis = 0; axis < joint_axis_count(of.joint->axes); axis++) {
        if (!add_axis(&of, axis)) {
            return false;
        }
    }
    return true;
}

// ---- forces of the begin

// What is fed forward along an axis of a joint of rows, by itself and by tendons.
static double fed_along(const StepState *state, size_t at) {
    const StepCommands *command = &state->command;
    return command->effort[at] + (command->pulled == NULL ? 0.0 : command->pulled[at]);
}

static double axis_force(const RowJoint *of, uint32_t axis) {
    ASSERT(axis < joint_axis_count(of->joint->axes));
    const World *world = of->state->world;
    const size_t at = of->joint->axis_first + axis;
    double force = fed_along(of->state, at);
    if (world->settings.integrator == INTEGRATOR_EXPLICIT) {
        const Pull drive = pull_of_drive(of->state, at), spring = pull_of_spring(world, at);
        const double position = axis_position(of, axis), rate = world->joint_velocity[at];
        force += pull_force(&drive, position, rate) + pull_force(&spring, position, rate);
    }
    return force;
}

// Adds what a force along an axis does to the two bodies: 6 numbers each. Returns it as a vector.
static Vec3 push_along(const RowJoint *of, uint32_t axis, double force, double wrench[2][6]) {
    ASSERT(axis < joint_axis_count(of->joint->axes));
    const uint8_t axes = of->joint->axes;
    const uint32_t moves = joint_axis_count(axes & JOINT_MOVES),
                   turns = joint_axis_count(axes & JOINT_TURNS);
    const int bit = joint_axis_bit(axes, axis);
    const bool is_of_b = axis >= moves && (turns == 3 || (turns == 2 && axis > moves));
    const Vec3 along = vec3_scale(force, column(&of->axes[is_of_b], bit % 3));
    for (int s = 0; s < 2; s++) {
        if (of->joint->body[s] == JOINT_NO_BODY) {
            continue;
        }
        const Vec3 own = s == 0 ? vec3_neg(along) : along;
        const Vec3 arm = vec3_sub(
            of->origin[1], vec3_load(of->state->world->pose + 7 * (size_t)of->joint->body[s]));
        const Vec3 turn = axis < moves ? vec3_cross(arm, own) : own;
        for (int k = 0; k < 3; k++) {
            wrench[s][k] += axis < moves ? vec3_get(own, k) : 0.0;
            wrench[s][3 + k] += vec3_get(turn, k);
        }
    }
    return along;
}

// The same, and tells of it. false: memory ends.
static bool add_wrenches(const RowJoint *of, uint32_t axis, double force, double wrench[2][6]) {
    const Vec3 impulse =
        vec3_scale(of->state->input->time_step, push_along(of, axis, force, wrench));
    const bool moves = axis < joint_axis_count(of->joint->axes & JOINT_MOVES);
    const Vec3 *at = moves ? &of->origin[1] : NULL;
    return add_act(of, STEP_ACT_GIVEN, impulse, at, at);
}

static bool pushes(const StepState *state, const Joint *joint) {
    const World *world = state->world;
    bool does = false;
    const bool may = joint->is_rows && !joint_couples(joint); // tendons do by what they couple
    for (uint32_t k = 0; may && k < joint_axis_count(joint->axes); k++) {
        const JointAxis *axis = &world->joint_axis[joint->axis_first + k];
        does = does || fed_along(state, joint->axis_first + k) != 0.0 ||
               (world->settings.integrator == INTEGRATOR_EXPLICIT &&
                (axis->stiffness > 0.0 || axis->damping > 0.0 || axis->drive_stiffness > 0.0 ||
                 axis->drive_damping > 0.0));
    }
    return does;
}

bool joint_rows_push(StepState *state, StepInput *input) {
    const World *world = state->world;
    size_t count = 0;
    *input = *state->input;
    for (size_t i = 0; i < world->joint_count; i++) {
        count += pushes(state, &world->joint[i]) ? 2 : 0;
    }
    if (count == 0) {
        return true;
    }
    const size_t given = input->wrench_count;
    uint32_t *bodies = arena_take_array(state->scratch, given + count, sizeof(uint32_t));
    double *wrenches = arena_take_array(state->scratch, given + count, 6 * sizeof(double));
    if (bodies == NULL || wrenches == NULL) {
        return false;
    }
    if (given > 0) {
        memcpy(bodies, input->wrench_body, given * sizeof(uint32_t));
        memcpy(wrenches, input->wrench, 6 * given * sizeof(double));
    }
    size_t at = given;
    for (uint32_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        if (!pushes(state, joint)) {
            continue;
        }
        const RowJoint of = place(state, i);
        double wrench[2][6] = {{0.0}};
        for (uint32_t k = 0; k < joint_axis_count(joint->axes); k++) {
            if (!add_wrenches(&of, k, axis_force(&of, k), wrench)) {
                return false;
            }
        }
        for (int s = 0; s < 2; s++) {
            if (joint->body[s] != JOINT_NO_BODY) {
                bodies[at] = joint->body[s];
                memcpy(wrenches + 6 * at++, wrench[s], 6 * sizeof(double));
            }
        }
    }
    input->wrench_count = at;
    input->wrench_body = bodies;
    input->wrench = wrenches;
    return true;
}

// ---- energies

double joint_rows_work(const StepState *state, uint32_t joint, uint32_t axis, double force) {
    const RowJoint of = place((StepState *)state, joint);
    double wrench[2][6] = {{0.0}}, power = 0.0;
    push_along(&of, axis, force, wrench);
    for (int s = 0; s < 2; s++) {
        const uint32_t body = of.joint->body[s];
        if (body == JOINT_NO_BODY || state->world->kind[body] != BODY_DYNAMIC) {
            continue;
        }
        const double *before = state->world->velocity + 6 * (size_t)body;
        const double *after = stage_velocity_after(state, body);
        for (int k = 0; k < 6; k++) {
            power += wrench[s][k] * 0.5 * (before[k] + after[k]);
        }
    }
    return state->input->time_step * power;
}

// What pushed along an axis from the begin of the step on is among the wrenches: some of it is
// not theirs.
static void book_push(const RowJoint *of, uint32_t axis, StepEnergy *energy) {
    const World *world = of->state->world;
    const size_t at = of->joint->axis_first + axis;
    const double position = axis_position(of, axis), rate = world->joint_velocity[at];
    double driving = fed_along(of->state, at), spring = 0.0;
    if (world->settings.integrator == INTEGRATOR_EXPLICIT) {
        const Pull drive = pull_of_drive(of->state, at);
        driving += pull_force(&drive, position, rate);
        spring = world->joint_axis[at].stiffness * (world->joint_axis[at].rest - position);
    }
    const double driven = joint_rows_work(of->state, of->index, axis, driving),
                 sprung = joint_rows_work(of->state, of->index, axis, spring);
    energy->drive += driven;
    energy->scheme += sprung;
    energy->applied -= driven + sprung;
}

// What springs hold, by where the axes are.
static double spring_energy(const World *world, const Joint *joint, const double *positions) {
    const uint32_t moves = joint_axis_count(joint->axes & JOINT_MOVES);
    double twice = 0.0, turned[6] = {0.0}; // three are used, where it turns about all axes
    if ((joint->axes & JOINT_TURNS) == JOINT_TURNS) {
        const double *q = positions + moves;
        vec3_store(turned, joint_rotation_vector((Quat){q[0], q[1], q[2], q[3]}));
    }
    for (uint32_t k = 0; k < joint_axis_count(joint->axes); k++) {
        const JointAxis *axis = &world->joint_axis[joint->axis_first + k];
        const bool is_vector = (joint->axes & JOINT_TURNS) == JOINT_TURNS && k >= moves;
        const double stretch = (is_vector ? turned[k - moves] : positions[k]) - axis->rest;
        twice += axis->stiffness * stretch * stretch;
    }
    return 0.5 * twice;
}

static bool has_spring(const World *world, const Joint *joint) {
    bool has = false;
    for (uint32_t k = 0; k < joint_axis_count(joint->axes); k++) {
        has = has || world->joint_axis[joint->axis_first + k].stiffness > 0.0;
    }
    return has;
}

static void book_spring(const StepState *state, const Joint *joint, StepEnergy *energy) {
    World later = *state->world; // where the bodies come to
    later.pose = state->pose_new;
    double after[JOINT_POSITION_MAX];
    const double *kept = state->world->joint_position + joint->position_first;
    world_follow_joint(&later, joint, kept, after);
    const double held = spring_energy(&later, joint, kept),
                 holds = spring_energy(&later, joint, after);
    energy->before += held;
    energy->after += holds;
    energy->scheme += holds - held;
    energy->scale += held + holds;
}

void joint_rows_book(StepState *state, StepEnergy *energy) {
    const World *world = state->world;
    for (uint32_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        if (!joint->is_rows || joint->axes == 0 || joint_couples(joint) ||
            stage_joint_sleeps(state, joint)) {
            continue;
        }
        if (pushes(state, joint)) {
            const RowJoint of = place(state, i);
            for (uint32_t k = 0; k < joint_axis_count(joint->axes); k++) {
                book_push(&of, k, energy);
            }
        }
        if (has_spring(world, joint)) {
            book_spring(state, joint, energy);
        }
    }
}

// ---- breaking

// The force and the torque that the locked axes of a joint carried, its rows from `row` on.
static bool is_broken(const StepState *state, const Joint *joint, uint32_t index, uint32_t row) {
    ASSERT(index < state->world->joint_count && row <= state->stepper->row_count);
    const Stepper *stepper = state->stepper;
    double force = 0.0, torque = 0.0;
    for (; row < stepper->row_count && stepper->row_key[row].joint == index &&
           stepper->row_key[row].part < PART_AXES;
         row++) {
        const double impulse =
            state->carried != NULL
                ? state->carried[PART_AXES * (size_t)index + stepper->row_key[row].part]
                : state->result.answer.row_impulse[row];
        *(stepper->row_key[row].part < 3 ? &force : &torque) += impulse * impulse;
    }
    const double h = state->step_time;
    return sqrt(force) > h * joint->break_force || sqrt(torque) > h * joint->break_torque;
}

void joint_rows_carry(StepState *state) {
    const Stepper *stepper = state->stepper;
    for (uint32_t row = 0; state->carried != NULL && row < stepper->row_count; row++) {
        const StepRow *key = &stepper->row_key[row];
        if (key->part < PART_AXES) {
            state->carried[PART_AXES * (size_t)key->joint + key->part] +=
                state->result.answer.row_impulse[row];
        }
    }
}

static Status no_room_for_broken(const StepState *state) {
    return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while looking for joints that broke: raise "
                     "--memory-bytes-max.");
}

Status joint_rows_find_broken(StepState *state) {
    const World *world = state->world;
    const Stepper *stepper = state->stepper;
    state->broken_count = 0;
    for (uint32_t row = 0; row < stepper->row_count; row++) {
        const uint32_t index = stepper->row_key[row].joint;
        if (row > 0 && stepper->row_key[row - 1].joint == index) {
            continue; // not its first
        }
        const Joint *joint = &world->joint[index];
        const bool may_break = joint->break_force < HUGE_VAL || joint->break_torque < HUGE_VAL;
        if (!may_break || !is_broken(state, joint, index, row)) {
            continue;
        }
        if (state->broken == NULL) {
            state->broken = arena_take_array(state->scratch, world->joint_count, sizeof(uint32_t));
            if (state->broken == NULL) {
                return no_room_for_broken(state);
            }
        }
        state->broken[state->broken_count++] = index;
    }
    StepJoints *told = stepper->joints;
    return state->broken_count == 0 ||
                   ARRAY_RESERVE(told->broken, told->broken_capacity, state->broken_count)
               ? STATUS_OK
               : no_room_for_broken(state);
}

void joint_rows_remove_broken(StepState *state) {
    ASSERT(state->broken_count <= state->world->joint_count);
    StepJoints *told = state->stepper->joints; // NULL where there is none
    for (uint32_t i = 0; i < state->broken_count; i++) {
        told->broken[told->broken_count++] = state->world->joint[state->broken[i]].id;
    }
    world_remove_joints(state->world, state->broken, state->broken_count);
}
