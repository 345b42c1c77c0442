// SPDX-License-Identifier: MIT
#include "simulate/model.h"

#include "base/hash.h"
#include "run/worlds/apply.h"
#include "simulate/dice.h"
#include "simulate/edit.h"
#include "simulate/jointed.h"
#include "simulate/link.h"
#include "simulate/schedule.h"
#include "simulate/state.h"
#include "simulate/watch.h"
#include "step/snapshot/snapshot.h"
#include "wire/joints.h"

enum { PENDING_MAX = 32, TRIES_MAX = 5000 };

const double model_shape_size[9] = {0, 0, 0, 0.1, 0, 0, 0.1, 0.08, 0.06};

static double draw(Dice *dice, double low, double high) {
    return low + (high - low) * ((double)(dice_bits(dice) >> 11) * 0x1p-53);
}

ModelStart model_start(uint64_t seed) {
    ModelStart start = {0};
    Dice dice = {seed};
    start.count = 2 + seed % (MODEL_BODIES_MAX - 1);
    start.sleep_speed = dice_chance(&dice, 60) ? 0.1 : 0.0;
    start.sleep_time = 0.02;
    start.shape[0] = 1;
    start.pose[3] = 1.0;
    for (size_t i = 1; i < start.count; i++) {
        double *at = start.pose + 7 * i;
        at[0] = draw(&dice, 0.0, 0.1);
        at[1] = draw(&dice, 0.0, 0.1);
        at[2] = 0.12 + 0.22 * (double)(i - 1);
        at[3] = 1.0;
        start.shape[i] = 2 + i % 2;
    }
    return start;
}

uint64_t model_motion(const double *pose, const double *velocity, size_t body_count) {
    return hash_bytes(pose, body_count * 7 * sizeof(double), 0) * 31 +
           hash_bytes(velocity, body_count * 6 * sizeof(double), 0);
}

uint64_t model_step_count(const Model *model) {
    return model->world->step;
}

uint64_t model_taken(const Model *model) {
    return model->taken;
}

bool model_is_change(ModelChange change) {
    return change.steps + change.edit + change.restore > 0;
}

uint64_t model_hash(Model *model) {
    return snapshot_hash(model->world);
}

// ---- life

static void demand(Status status, const Error *error) {
    if (status != STATUS_OK) {
        fail("the reference is refused: %s", error->message);
    }
}

static void fill(World *world, uint64_t seed) {
    ModelStart start = model_start(seed);
    uint32_t primitive[3] = {PRIMITIVE_PLANE, PRIMITIVE_SPHERE, PRIMITIVE_BOX};
    uint32_t kind[MODEL_BODIES_MAX] = {BODY_STATIC, BODY_DYNAMIC, BODY_DYNAMIC, BODY_DYNAMIC};
    ShapeColumns shapes = {.shape_count = 3,
                           .primitive_count = 3,

                           .kind = primitive,
                           .size = model_shape_size};
    BodyColumns bodies = {
        .count = (uint32_t)start.count, .pose = start.pose, .kind = kind, .shape = start.shape};
    Id ids[MODEL_BODIES_MAX];
    Error error = {0};
    demand(world_add_shapes(world, &shapes, ids, &error), &error);
    demand(world_add_bodies(world, &bodies, ids, &error), &error);
}

static void join(Model *model) {
    Jointed jointed;
    Input input = {.kind = INPUT_JOINTS};
    Error error = {0};
    const ArenaMark mark = arena_mark(&model->scratch);
    jointed_draw(&jointed, model->seed, 0);
    if (jointed.add.n_kind > 0) {
        demand(joints_columns(&jointed.add, &model->scratch, &input.joints, &error), &error);
        demand(
            apply_change(model->world, model->stepper, &input, &model->scratch, NULL, NULL, &error),
            &error);
    }
    arena_reset_to(&model->scratch, mark);
}

GeometryShelf *model_shelf(void) {
    static GeometryShelf *shelf; // threads have their turns
    shelf = shelf == NULL ? geometry_shelf_create() : shelf;
    if (shelf == NULL) {
        fail("no memory for the reference");
    }
    return shelf;
}

static void build(Model *model) {
    enum { MEMORY_BYTES = 1 << 28 };
    WorldLimits limits = {.body_count_max = MODEL_LATER_BODIES_MAX,
                          .bytes_max = MEMORY_BYTES,
                          .shelf = model_shelf()};
    model->world = world_create(&limits);
    model->stepper = stepper_create(MEMORY_BYTES);
    if (model->world == NULL || model->stepper == NULL) {
        fail("no memory for the reference");
    }
    arena_init(&model->scratch, MEMORY_BYTES);
    WorldSettings settings = settings_default();
    SolverSettings solver = solver_default(SOLVER_MDP);
    step_set_solver(&settings, &solver);
    const ModelStart start = model_start(model->seed);
    settings.sleep_speed = start.sleep_speed;
    settings.sleep_time = start.sleep_time;
    settings.margin = 0.0;
    settings.effort = WORLD_BALANCED; // as WorldCreate has it
    world_set_settings(model->world, &settings);
    fill(model->world, model->seed);
    join(model);
    model->change_count = 0;
    model->taken = 0;
}

static uint64_t motion_of(const World *world) {
    double pose[7 * MODEL_LATER_BODIES_MAX];
    for (uint32_t i = 0; i < world->body_count; i++) {
        world_body_pose(world, i, pose + 7 * (size_t)i);
    }
    return model_motion(pose, world->velocity, world->body_count);
}

uint64_t model_state(const Model *model) {
    return watch_state(model_step_count(model), motion_of(model->world));
}

// Also what is no step: watchers may see it.
static void note_state(Model *model, bool is_step) {
    const uint64_t step = model_step_count(model), motion = motion_of(model->world);
    HistoryWorld *history = model->history;
    watch_note((uintptr_t)history, watch_state(step, motion));
    if (!is_step) {
        return;
    }
    history->motion[model->taken] = motion;
    if (model->taken > history->step_count) {
        history->step_count = model->taken;
        history->acked_ns[model->taken] = schedule_now_ns();
    }
}

void model_init(Model *model, uint64_t seed, HistoryWorld *history) {
    *model = (Model){.seed = seed, .history = history};
    build(model);
    note_state(model, false);
}

void model_deinit(Model *model) {
    world_destroy(model->world);
    stepper_destroy(model->stepper);
    arena_deinit(&model->scratch);
}

// ---- changes

// false: the world refuses it, and is what it was.
static bool edit(Model *model, uint64_t number) {
    Edit drawn;
    Input input;
    Error error = {0};
    Arena *arena = &model->scratch;
    const ArenaMark mark = arena_mark(arena);
    const uint64_t before = model_hash(model);
    edit_draw(&drawn, number, 0);
    Status status = edit_input(&drawn, arena, &input, &error);
    if (status == STATUS_OK) {
        status = apply_change(model->world, model->stepper, &input, arena, NULL, NULL, &error);
    }
    arena_reset_to(arena, mark);
    if (status != STATUS_OK && model_hash(model) != before) {
        fail("a refused change has changed the reference: %s", error.message);
    }
    return status == STATUS_OK;
}

static void restore(Model *model, uint64_t number) {
    const State *state = state_get(number);
    const Input input = {.kind = INPUT_RESTORE,
                         .restore = {.snapshot = state->bytes, .snapshot_bytes = state->count}};
    const ArenaMark mark = arena_mark(&model->scratch);
    Error error = {0};
    demand(apply_change(model->world, model->stepper, &input, &model->scratch, NULL, NULL, &error),
           &error);
    arena_reset_to(&model->scratch, mark);
}

static void take_step(Model *model) {
    StepInput input = {.time_step = model->world->settings.time_step};
    StepReport report;
    Error error = {0};
    demand(
        stepper_run(model->stepper, model->world, &input, &model->scratch, NULL, &report, &error),
        &error);
    model->taken++;
}

// Without a note: a try. false: refused.
static bool carry_out(Model *model, ModelChange change, bool is_known) {
    if (change.edit > 0 && !edit(model, change.edit)) {
        return false;
    }
    if (change.restore > 0) {
        restore(model, change.restore);
    }
    if ((change.edit > 0 || change.restore > 0) && is_known) {
        note_state(model, false);
    }
    for (uint64_t i = 0; i < change.steps; i++) {
        take_step(model);
        if (is_known) {
            note_state(model, true);
        }
    }
    // steps in a row are one change
    ModelChange *last = model->change_count == 0 ? NULL : &model->change[model->change_count - 1];
    if (last != NULL && last->steps > 0 && change.steps > 0) {
        last->steps += change.steps;
    } else if (model_is_change(change)) {
        if (model->change_count == MODEL_CHANGES_MAX) {
            fail("a world is changed more often than MODEL_CHANGES_MAX");
        }
        model->change[model->change_count++] = change;
    }
    return true;
}

void model_init_at(Model *model, const Model *of, uint64_t step, bool is_now,
                   HistoryWorld *history) {
    model_init(model, of->seed, history);
    for (size_t i = 0; i < of->change_count && (is_now || model_taken(model) < step); i++) {
        ModelChange change = of->change[i];
        const uint64_t left = step - model_taken(model);
        change.steps = change.steps < left ? change.steps : left;
        carry_out(model, change, false);
    }
    note_state(model, false);
}

bool model_apply(Model *model, ModelChange change) {
    return carry_out(model, change, true);
}

// ---- what has happened?

typedef struct Search {
    Model *model;
    const ModelChange *change;
    size_t count, first; // those before the first have not happened, or are as if they had not
    uint64_t hash;
    ModelChange chosen[PENDING_MAX];
    uint32_t tries;
} Search;

static void begin_again(Model *model, const ModelChange *change, size_t count) {
    model_deinit(model);
    build(model);
    for (size_t i = 0; i < count; i++) {
        carry_out(model, change[i], false);
    }
}

// Once more from the beginning, with what was chosen.
static void do_chosen(const Search *search, const Model *base, bool is_known) {
    begin_again(search->model, base->change, base->change_count);
    for (size_t i = search->first; i < search->count; i++) {
        if (model_is_change(search->chosen[i])) {
            carry_out(search->model, search->chosen[i], is_known);
        }
    }
}

static bool fits(Search *search, const Model *base) {
    search->tries++;
    do_chosen(search, base, false);
    return model_hash(search->model) == search->hash;
}

// Chooses for the index-th change and those behind it. Whole ones are tried first: most often the
// first try is right.
static bool choose(Search *search, const Model *base, size_t index, uint64_t steps_left) {
    if (search->tries > TRIES_MAX) {
        return false;
    }
    if (index == search->count) {
        return steps_left == 0 && fits(search, base);
    }
    ModelChange change = search->change[index];
    if (change.restore > 0) { // the search begins with the last that has happened
        search->chosen[index] = (ModelChange){0};
        return choose(search, base, index + 1, steps_left);
    }
    uint64_t steps = change.steps < steps_left ? change.steps : steps_left;
    if (change.steps == 0) {
        search->chosen[index] = change;
        if (choose(search, base, index + 1, steps_left)) {
            return true;
        }
    }
    for (uint64_t part = steps + 1; part-- > 0;) {
        search->chosen[index] = (ModelChange){.steps = part};
        if (choose(search, base, index + 1, steps_left - part)) {
            return true;
        }
    }
    return false;
}

// `last`: the last of the pending restores that has happened; `count`: none has.
static bool find_behind(Search *search, const Model *base, uint64_t known, size_t last,
                        uint64_t step) {
    const bool is_restored = last < search->count;
    const uint64_t from = is_restored ? state_get(search->change[last].restore)->step : known;
    search->first = is_restored ? last : 0;
    search->tries = 0;
    if (step < from) {
        return false;
    }
    if (is_restored) {
        search->chosen[last] = search->change[last];
    }
    return choose(search, base, is_restored ? last + 1 : 0, step - from);
}

bool model_find(Model *model, const ModelChange *change, size_t count, uint64_t step,
                uint64_t hash) {
    if (count > PENDING_MAX) {
        return false;
    }
    Model base = *model; // its list of changes alone
    const uint64_t known = model_step_count(model);
    Search search = {.model = model, .change = change, .count = count, .hash = hash};
    bool is_found = false;
    for (size_t i = count; i-- > 0 && !is_found;) {
        is_found = change[i].restore > 0 && find_behind(&search, &base, known, i, step);
    }
    is_found = is_found || find_behind(&search, &base, known, count, step);
    if (is_found) {
        do_chosen(&search, &base, true);
    }
    return is_found;
}
