// SPDX-License-Identifier: MIT
// The articulated trees of a world in its step: they are trees of the problem like free bodies,
// with masses and Jacobians in numbers. Their free motion is step/trees/fly.h's; their new state is
// that of their coordinates, moved with the velocity that the integrator names, and what their
// bodies' columns say follows from it (world/tree_place.h).
//
// Mass blocks are A = M + armature + what is implicit along the coordinates, where the integrator
// takes it; Jacobians and what bodies move with are of the begin of the step, as contacts are.
#include "step/stages.h"

#include "base/array.h"
#include "base/assert.h"
#include "solve/idle.h"

#include <string.h>

// What a landing may make of the kinetic energy of the rates that bring the links there: a turn of
// t changes it by shares of t.
#define LANDING_GAIN 1.25

static Status out_of_memory(const StepState *state) {
    return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while moving %u trees of joints: raise --memory-bytes-max.",
                     state->articulated_count);
}

// ---- free motion

static size_t bytes_of(const Tree *tree) {
    return tree_flight_bytes(tree) + tree->link_count * sizeof(TreeFrame) +
           (tree->position_count + 2 * (size_t)tree->width) * sizeof(double);
}

// As of free bodies (integrate.c), what a root that floats keeps is its spin in its own axes: the
// step's numbers are those.
static void begin_floating(TreeFlight *flight) {
    if (flight->view.link[0].joint == TREE_NONE) {
        const Mat3 own = quat_to_mat3(pose_load(flight->positions).orientation);
        flight->view.has_own_spin = true;
        vec3_store(flight->velocities + 3, mat3_tmul_vec(own, vec3_load(flight->velocities + 3)));
    }
}

static void open_tree(StepState *state, uint32_t index, unsigned char *at) {
    const World *world = state->world;
    StepTree *tree = &state->articulated[index];
    TreeFlight *flight = &tree->flight;
    flight->view = world_tree_view(world, index);
    const Tree *of = flight->view.tree;
    tree_flight_take(flight, of, at);
    at += tree_flight_bytes(of);
    tree->there = stage_take_part(&at, of->link_count, sizeof(TreeFrame));
    tree->positions = stage_take_part(&at, of->position_count, sizeof(double));
    tree->velocities = stage_take_part(&at, of->width, sizeof(double));
    tree->there_with = stage_take_part(&at, of->width, sizeof(double));
    flight->axes = (TreeAxes){.axis = world->joint_axis,
                              .target = state->command.target,
                              .target_velocity = state->command.target_velocity,
                              .effort = state->command.fed,
                              .pulled = state->command.pulled,
                              .is_explicit = world->settings.integrator == INTEGRATOR_EXPLICIT};
    flight->acts = tree_axes_act(&flight->view, &flight->axes);
    flight->mass = world->mass;
    flight->pose = world->pose;
    flight->velocity = world->velocity;
    flight->gravity = world->settings.gravity;
    flight->h = state->input->time_step;
    flight->integrator = world->settings.integrator;
    flight->rotation = world->settings.rotation;
    world_tree_numbers(world, &flight->view, flight->positions, flight->velocities);
    begin_floating(flight);
    memset(flight->wrenches, 0, (size_t)of->link_count * 6 * sizeof(double));
}

static void add_wrenches(StepState *state) {
    const StepInput *input = state->input;
    for (size_t i = 0; i < input->wrench_count; i++) {
        const uint32_t body = input->wrench_body[i];
        StepTree *tree = stage_tree(state, body);
        if (tree != NULL) {
            tree->flight.has_wrenches = true;
            double *sum =
                tree->flight.wrenches + 6 * (size_t)state->world->trees->link_of_body[body];
            for (int k = 0; k < 6; k++) {
                sum[k] += input->wrench[6 * i + (size_t)k];
            }
        }
    }
}

// What all trees share: per link of all of them.
static bool take_links(StepState *state, size_t links) {
    state->link_free = arena_take_array(state->scratch, links, 6 * sizeof(double));
    state->link_new = arena_take_array(state->scratch, links, 6 * sizeof(double));
    state->link_change =
        state->wants_gdot ? arena_take_array(state->scratch, links, sizeof(TreePair)) : NULL;
    return state->link_free != NULL && state->link_new != NULL &&
           (state->link_change != NULL || !state->wants_gdot);
}

Status articulate_begin(StepState *state) {
    const WorldTrees *trees = state->world->trees;
    state->wide_link_count = 0;
    state->tree_count = state->free_count;
    state->velocity_count = 6 * (size_t)state->free_count;
    state->articulated_count = trees == NULL ? 0 : trees->tree_count;
    if (state->articulated_count == 0) {
        return STATUS_OK;
    }
    state->articulated =
        arena_take_zeroed(state->scratch, state->articulated_count, sizeof(StepTree));
    if (state->articulated == NULL || !take_links(state, trees->link_count)) {
        return out_of_memory(state);
    }
    for (uint32_t i = 0; i < state->articulated_count; i++) {
        StepTree *tree = &state->articulated[i];
        tree->problem = PROBLEM_NO_TREE;
        tree->is_asleep = stage_is_asleep(state, trees->link[trees->tree[i].link_first].body);
        if (tree->is_asleep) {
            continue;
        }
        unsigned char *at = arena_take(state->scratch, bytes_of(&trees->tree[i]));
        if (at == NULL) {
            return out_of_memory(state);
        }
        open_tree(state, i, at);
        tree->link = trees->tree[i].link_first;
        tree->problem = trees->tree[i].width == 0 ? PROBLEM_NO_TREE : state->tree_count++;
        state->velocity_count += trees->tree[i].width;
        state->wide_link_count += tree_is_wide(&trees->tree[i]) ? trees->tree[i].link_count : 0;
    }
    add_wrenches(state);
    return STATUS_OK;
}

// How many numbers the masses of a tree take.
static size_t mass_numbers(const TreeView *view) {
    const size_t width = view->tree->width;
    size_t numbers = 6 * width;
    if (!tree_is_wide(view->tree)) {
        return width * width;
    }
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const size_t count = tree_link_width(&view->link[i]);
        numbers += count * count;
    }
    return numbers;
}

// Masses stand at the begin of the numbers, tree by tree.
static Status list_problem_trees(StepState *state) {
    size_t first = 6 * (size_t)state->free_count, numbers = 0;
    uint32_t link = 0;
    for (uint32_t i = 0; i < state->articulated_count; i++) {
        StepTree *tree = &state->articulated[i];
        const Tree *of = tree->flight.view.tree;
        if (tree->problem == PROBLEM_NO_TREE) {
            continue;
        }
        ProblemTree *problem = &state->tree[tree->problem];
        *problem = (ProblemTree){.first = (uint32_t)first, .width = of->width, .mass = numbers};
        if (tree_is_wide(of)) {
            problem->link_count = of->link_count;
            problem->mass = link;
            link += of->link_count;
        }
        tree->mass = numbers;
        state->body_of_tree[tree->problem] = tree->flight.view.link[0].body;
        first += of->width;
        numbers += mass_numbers(&tree->flight.view);
    }
    ASSERT(first == state->velocity_count);
    ASSERT(link == state->wide_link_count);
    Stepper *stepper = state->stepper;
    stepper->number_count = state->mass_number_count = numbers;
    state->mass_factor = arena_take_array(state->scratch, numbers, sizeof(double));
    return state->mass_factor != NULL &&
                   ARRAY_RESERVE(stepper->number, stepper->number_capacity, numbers)
               ? STATUS_OK
               : out_of_memory(state);
}

// Seen from the root's centre of mass.
static void fill_links(const StepState *state, const StepTree *tree) {
    const TreeFlight *flight = &tree->flight;
    const TreeView *view = &flight->view;
    ProblemLink *links = state->problem_link + state->tree[tree->problem].mass;
    double *number = state->stepper->number;
    size_t at = tree->mass;
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const TreeLink *link = &view->link[i];
        const TreeFrame *frame = &flight->work.frame[i];
        const TreeInertia *own = &flight->work.own[i];
        const uint32_t count = tree_link_width(link);
        links[i] =
            (ProblemLink){.parent = link->parent == TREE_NONE ? PROBLEM_NO_LINK : link->parent,
                          .first = link->first,
                          .count = count,
                          .mass = own->mass,
                          .inertia = own->inertia,
                          .center = vec3_sub(own->center, flight->work.own[0].center),
                          .motion = at,
                          .added = at + 6 * (size_t)count};
        for (uint32_t k = 0; k < count; k++) {
            const TreePair motion = tree_motion(link, frame, k);
            vec3_store(number + at + 6 * (size_t)k, motion.linear);
            vec3_store(number + at + 6 * (size_t)k + 3, motion.angular);
        }
        double *added = number + links[i].added;
        memset(added, 0, (size_t)count * count * sizeof(double));
        for (uint32_t k = 0; k < count; k++) {
            added[k * (size_t)count + k] = flight->added[link->first + k];
        }
        at += (6 + (size_t)count) * count;
    }
}

static void store_velocities(const StepTree *tree, double *velocity) {
    for (uint32_t i = 0; i < tree->flight.view.tree->link_count; i++) {
        const TreeFrame *frame = &tree->flight.work.frame[i];
        vec3_store(velocity + 6 * (size_t)(tree->link + i), frame->velocity);
        vec3_store(velocity + 6 * (size_t)(tree->link + i) + 3, frame->spin);
    }
}

static void fly_tree(void *work, uint32_t index) {
    const StepState *state = work;
    StepTree *tree = &state->articulated[index];
    TreeFlight *flight = &tree->flight;
    double none = 0.0, *v = &none;
    if (tree->is_asleep) {
        return;
    }
    if (tree->problem != PROBLEM_NO_TREE) {
        const ProblemTree *of = &state->tree[tree->problem];
        const bool is_wide = of->link_count > 0;
        v = state->v_free + of->first;
        flight->matrix = is_wide ? NULL : state->stepper->number + of->mass;
        flight->factor = is_wide ? NULL : state->mass_factor + of->mass;
    }
    tree_fly(flight, v);
    if (flight->factor != NULL) {
        state->tree[tree->problem].is_factored = flight->is_factored;
    }
    if (tree_is_wide(flight->view.tree)) {
        fill_links(state, tree);
    }
    if (state->wants_gdot) {
        tree_flight_return(flight, flight->velocities);
        tree_accelerate(&flight->view, flight->velocities, NULL, &flight->work);
        memcpy(state->link_change + tree->link, flight->work.change,
               flight->view.tree->link_count * sizeof(TreePair));
        flight->is_moving = false;
    }
    if (!flight->is_moving) {
        tree_flight_return(flight, v);
    }
    store_velocities(tree, state->link_free);
}

Status articulate_fly(StepState *state) {
    Status status = list_problem_trees(state);
    if (status == STATUS_OK) {
        tasks_run(state->input->context.tasks, fly_tree, state, state->articulated_count);
    }
    return status;
}

// ---- contacts

// Of the numbers that a contact's point was made of: where it is in the world, and how large what
// it is on is. They may cancel, where it is on a joint, and what is left says nothing of that.
static double contact_size(const StepState *state, uint32_t body, Vec3 at) {
    const Shape *shape = world_body_shape(state->world, body);
    ASSERT(shape != NULL); // it touches
    return tree_point_size(at) + (shape->is_unbounded ? 0.0 : shape->radius);
}

// Adds what a side's body, of a tree, says of it to the Jacobian at `place`.
static void add_side(const StepState *state, uint32_t i, int side, uint32_t body, uint32_t place) {
    const ProblemContact *contact = &state->stepper->problem_contact[i];
    ASSERT(side == 0 || side == 1);
    const StepTree *tree = stage_tree(state, body);
    const TreeFlight *flight = &tree->flight;
    const uint32_t link = state->world->trees->link_of_body[body];
    const Vec3 direction[3] = {contact->normal, contact->tangent[0], contact->tangent[1]};
    const Vec3 point = vec3_add(flight->work.frame[link].center, contact->side[side].arm);
    const double size = tree->extent + tree_point_size(point) +
                        contact_size(state, body, state->stepper->contact[i].point);
    tree_jacobian(&flight->view, flight->work.frame, link, point, size, direction,
                  side == 0 ? -1.0 : 1.0, state->stepper->number + place);
}

static bool is_articulated(const StepState *state, const ContactSide *side) {
    return side->tree != PROBLEM_NO_TREE && side->tree >= state->free_count;
}

static void fill_contact(const StepState *state, uint32_t i) {
    ASSERT(i < state->stepper->contact_count);
    const StepContact *bodies = &state->stepper->contact[i];
    const ProblemContact *contact = &state->stepper->problem_contact[i];
    bool is_within = is_articulated(state, &contact->side[0]) &&
                     stage_tree(state, bodies->a) == stage_tree(state, bodies->b);
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &contact->side[s];
        if (is_articulated(state, side)) {
            memset(state->stepper->number + side->jacobian, 0,
                   3 * (size_t)state->tree[side->tree].width * sizeof(double));
            add_side(state, i, s, s == 0 ? bodies->a : bodies->b, side->jacobian);
        }
    }
    if (is_within) {
        add_side(state, i, 1, bodies->b, contact->side[0].jacobian);
    }
}

// Takes a contact that can move nothing out of the problem, as one without trees. Of free bodies
// there is none.
static bool leave_out(const StepState *state, uint32_t i) {
    ASSERT(i < state->stepper->contact_count);
    const Stepper *stepper = state->stepper;
    ProblemContact *contact = &stepper->problem_contact[i];
    const ContactProblem problem = {.tree = state->tree, .number = stepper->number};
    const bool has_springs = state->solver_row->time != NULL;
    if ((!is_articulated(state, &contact->side[0]) && !is_articulated(state, &contact->side[1])) ||
        !idle_is_contact(&problem, contact, &stepper->law[i], has_springs)) {
        return false;
    }
    contact->side[0].tree = contact->side[1].tree = PROBLEM_NO_TREE;
    return true;
}

// The contacts with trees of joints, in blocks.
typedef struct JacobianFill {
    const StepState *state;
    uint32_t *idle; // per block: how many were left out
} JacobianFill;

static void fill_block(void *work, uint32_t block) {
    const JacobianFill *fill = work;
    uint32_t end = stage_block_end(block, fill->state->stepper->contact_count);
    fill->idle[block] = 0;
    for (uint32_t i = block * STAGE_BLOCK; i < end; i++) {
        fill_contact(fill->state, i);
        fill->idle[block] += leave_out(fill->state, i);
    }
}

// Where the Jacobian of each side that needs one begins. A tree that touches itself is one side:
// solvers know a tree at most once in a contact.
static Status place_jacobians(StepState *state) {
    Stepper *stepper = state->stepper;
    size_t count = stepper->number_count;
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        ContactSide *sides = stepper->problem_contact[i].side;
        if (is_articulated(state, &sides[0]) && sides[0].tree == sides[1].tree) {
            sides[1].tree = PROBLEM_NO_TREE;
        }
        for (int s = 0; s < 2; s++) {
            ContactSide *side = &sides[s];
            if (is_articulated(state, side) && count <= UINT32_MAX) {
                side->jacobian = (uint32_t)count;
                count += 3 * (size_t)state->tree[side->tree].width;
            }
        }
    }
    if (count > UINT32_MAX ||
        (count > stepper->number_capacity && stepper_bytes(stepper) > stepper->bytes_max) ||
        !ARRAY_RESERVE(stepper->number, stepper->number_capacity, count)) {
        return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                         "The Jacobians of %u contacts of trees of joints do not fit the memory "
                         "budget (option --memory-bytes-max).",
                         stepper->contact_count);
    }
    stepper->number_count = count;
    return STATUS_OK;
}

// What rounds the Jacobians of contacts and of the rows of joints, as the links are now.
static void measure_tree(void *work, uint32_t index) {
    const StepState *state = work;
    StepTree *tree = &state->articulated[index];
    if (!tree->is_asleep) {
        tree->extent = tree_extent(&tree->flight.view, tree->flight.work.frame, state->world->mass);
    }
}

static bool asks_extents(const StepState *state) {
    bool asks = state->stepper->contact_count > 0;
    for (uint32_t i = 0; !asks && i < state->world->joint_count; i++) {
        asks = state->world->joint[i].is_rows;
    }
    return asks;
}

Status articulate_assemble(StepState *state) {
    if (asks_extents(state)) {
        tasks_run(state->input->context.tasks, measure_tree, state, state->articulated_count);
    }
    Status status = place_jacobians(state);
    if (status != STATUS_OK) {
        return status;
    }
    const uint32_t blocks = tasks_blocks(state->stepper->contact_count, STAGE_BLOCK);
    if (blocks == 0) {
        return STATUS_OK;
    }
    JacobianFill fill = {state, arena_take_array(state->scratch, blocks, sizeof(uint32_t))};
    if (fill.idle == NULL) {
        return out_of_memory(state);
    }
    tasks_run(state->input->context.tasks, fill_block, &fill, blocks);
    for (uint32_t i = 0; i < blocks; i++) {
        state->idle_contact_count += fill.idle[i];
    }
    return STATUS_OK;
}

// ---- where a solver asks

static TreeView later_view(const StepState *state, const TreeFlight *flight) {
    TreeView view = flight->view;
    if (view.tree->base != JOINT_NO_BODY) {
        const double h = state->input->time_step;
        view.base.position = vec3_add_scaled(view.base.position, h, view.base_velocity);
        view.base.orientation = quat_turn(view.base.orientation, view.base_spin, h);
    }
    return view;
}

Pose articulate_pose_there(const StepState *state, uint32_t body, const double *v) {
    ASSERT(body < state->world->body_count && stage_tree(state, body) != NULL);
    StepTree *tree = stage_tree(state, body);
    TreeFlight *flight = &tree->flight;
    const size_t width = flight->view.tree->width;
    const double *with = width == 0 ? tree->there_with : v + state->tree[tree->problem].first;
    if (!tree->is_there || memcmp(with, tree->there_with, width * sizeof(double)) != 0) {
        const TreeView view = later_view(state, flight);
        tree_advance(&view, flight->positions, with, state->input->time_step, flight->moved);
        tree_place(&view, flight->moved, tree->there);
        memcpy(tree->there_with, with, width * sizeof(double));
        tree->is_there = true;
    }
    const TreeFrame *frame = &tree->there[state->world->trees->link_of_body[body]];
    return (Pose){frame->center, frame->orientation};
}

// ---- the end of the step

// Back to world axes, where the root has come to.
static void end_floating(StepTree *tree) {
    const Quat turn = pose_load(tree->positions).orientation;
    vec3_store(tree->velocities + 3, quat_rotate(turn, vec3_load(tree->velocities + 3)));
}

// What moves the coordinates, in flight.way, and where it brings them.
static void advance_tree(const StepState *state, StepTree *tree) {
    TreeFlight *flight = &tree->flight;
    const uint32_t width = flight->view.tree->width;
    if (width > 0) {
        const double *after = state->result.answer.v + state->tree[tree->problem].first;
        memcpy(state->stepper->v + state->tree[tree->problem].first, after, width * sizeof(double));
        memcpy(tree->velocities, after, width * sizeof(double));
    }
    if (flight->by_stages && stage_is_pushed(state, tree->problem)) {
        flight->integrator = integrator_of_pushed(flight->integrator);
    }
    const double share = tree_share(flight->integrator);
    for (uint32_t k = 0; k < width; k++) {
        const double before = flight->velocities[k], after = tree->velocities[k];
        flight->way[k] = share == 1.0 ? after : share == 0.0 ? before : 0.5 * (before + after);
    }
    if (integrator_is_staged(flight->integrator) && flight->by_stages) {
        memcpy(flight->way, flight->moving, width * sizeof(double));
    }
    tree_advance(&flight->view, flight->positions, flight->way, state->input->time_step,
                 tree->positions);
}

// The base is where it has landed. `moved` is of one that may move.
static const TreeView *landed_view(const StepState *state, const TreeFlight *flight,
                                   TreeView *moved) {
    const TreeView *view = &flight->view;
    if (view->tree->base == JOINT_NO_BODY) {
        return view;
    }
    *moved = *view;
    moved->base = pose_load(state->pose_new + 7 * (size_t)view->tree->base);
    return moved;
}

static void judge_link(const StepState *state, StepTree *tree, uint32_t link) {
    ASSERT(link < tree->flight.view.tree->link_count);
    const TreeLink *of = &tree->flight.view.link[link];
    const uint32_t body = of->body, width = tree_link_width(of);
    const double *pose = state->pose_new + 7 * (size_t)body,
                 *velocity = state->link_new + 6 * (size_t)(tree->link + link);
    // rates that cancel in the body's are what a later step, or tree, begins with
    const bool has_rates = numbers_fit_float(tree->velocities + of->first, width);
    if (tree->quantity == NULL && !(numbers_fit_float(velocity, 6) && has_rates)) {
        tree->quantity = "velocity";
        tree->body = body;
    }
    // as in integrate.c: a spin whose square overflows leaves no orientation at all
    const bool has_orientation =
        pose[3] != 0.0 || pose[4] != 0.0 || pose[5] != 0.0 || pose[6] != 0.0;
    if (tree->quantity == NULL && !(numbers_fit_float(pose, 7) && has_orientation)) {
        tree->quantity = "pose";
        tree->body = body;
    }
}

// Where the links of a tree come to that is thrown, and what of their velocities is left there.
static void throw_tree(StepTree *tree, const TreeView *view) {
    TreeFlight *flight = &tree->flight;
    tree_recall(&flight->view, flight->pose, flight->velocity, tree->there);
    tree_move(&flight->view, flight->way, tree->there);
    tree_scatter(view, tree->there, flight->h, tree->positions, flight->work.frame);
    tree_carry(flight, view, tree->positions, tree->velocities);
}

static void place_landed(StepTree *tree, const TreeView *view) {
    TreeView of_world;
    if (view->has_own_spin) {
        end_floating(tree);
        of_world = *view;
        of_world.has_own_spin = false;
        view = &of_world;
    }
    tree_place(view, tree->positions, tree->flight.work.frame);
    tree_move(view, tree->velocities, tree->flight.work.frame);
}

// Of links that have landed: their rates, `velocities`, may be worth more where they have brought
// them than where they began. If the tree turns by little, the next step's velocity products take
// that back; if not, it is thrown.
static bool lands_apart(const StepTree *tree, const double *velocities) {
    const TreeFlight *flight = &tree->flight;
    const TreeView *view = &flight->view;
    const TreeFrame *landed = flight->work.frame;
    double fastest = 0.0;
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        const double square = vec3_dot(landed[i].spin, landed[i].spin);
        fastest = square > fastest ? square : fastest;
    }
    if (flight->h * flight->h * fastest <= TREE_RESOLVED * TREE_RESOLVED) {
        return false;
    }
    tree_recall(view, flight->pose, flight->velocity, tree->there);
    tree_move(view, velocities, tree->there);
    const double begun = tree_kinetic_energy(view, flight->mass, tree->there),
                 ended = tree_kinetic_energy(view, flight->mass, landed);
    return !(ended <= LANDING_GAIN * begun);
}

static void land_links(const StepState *state, StepTree *tree) {
    TreeFlight *flight = &tree->flight;
    const size_t bytes = flight->view.tree->width * sizeof(double);
    TreeView moved;
    const TreeView *view = landed_view(state, flight, &moved);
    if (!flight->is_thrown) {
        double *rates = memcpy(flight->mean, tree->velocities, bytes);
        place_landed(tree, view);
        if (integrator_is_staged(flight->integrator) || !lands_apart(tree, rates)) {
            return;
        }
        memcpy(tree->velocities, rates, bytes);
        flight->is_thrown = true;
    }
    throw_tree(tree, view);
    place_landed(tree, view);
}

static void land_tree(void *work, uint32_t index) {
    StepState *state = work;
    StepTree *tree = &state->articulated[index];
    if (tree->is_asleep) {
        return;
    }
    advance_tree(state, tree);
    energy_begin_tree(state, tree);
    land_links(state, tree);
    const TreeFlight *flight = &tree->flight;
    const TreeView *view = &flight->view;
    for (uint32_t i = 0; i < view->tree->link_count; i++) {
        tree_store(&flight->work.frame[i], state->pose_new + 7 * (size_t)view->link[i].body,
                   state->link_new + 6 * (size_t)(tree->link + i));
        judge_link(state, tree, i);
    }
    energy_end_tree(state, tree);
}

Status articulate_land(StepState *state) {
    tasks_run(state->input->context.tasks, land_tree, state, state->articulated_count);
    for (uint32_t i = 0; i < state->articulated_count; i++) {
        if (state->articulated[i].quantity != NULL) {
            return fault_body(state, state->articulated[i].body, state->articulated[i].quantity);
        }
    }
    return STATUS_OK;
}

void articulate_commit(StepState *state) {
    for (uint32_t i = 0; i < state->articulated_count; i++) {
        const StepTree *tree = &state->articulated[i];
        if (!tree->is_asleep) {
            world_set_tree_numbers(state->world, &tree->flight.view, tree->positions,
                                   tree->velocities);
        }
    }
}
