// SPDX-License-Identifier: MIT
// The problems of the harness: some that are made here, and all files of tests/problems. Those made
// here have a solution: at rest nothing is violated.
#include "support/harness.h"

#include "base/assert.h"
#include "support/campaign.h"
#include "support/chain_build.h"

#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static const Vec3 up = {0.0, 0.0, 1.0};

static double random_of(uint64_t *state, double low, double high) {
    return low + 0.5 * (high - low) * (problem_build_random(state) + 1.0);
}

static void random_numbers(uint64_t *state, double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        numbers[i] = problem_build_random(state);
    }
}

static Vec3 random_direction(uint64_t *state) {
    for (;;) {
        double draw[3]; // one after the other: arguments are in no order
        random_numbers(state, draw, 3);
        Vec3 x = vec3(draw[2], draw[1], draw[0]);
        double size = vec3_norm(x);
        if (size > 0.1 && size <= 1.0) {
            return vec3_scale(1.0 / size, x);
        }
    }
}

static uint32_t add_ball(ProblemBuild *build, double mass, double fall) {
    const double v_free[6] = {0.0, 0.0, -fall, 0.0, 0.0, 0.0};
    double i = 0.4 * mass * 0.01;
    return problem_build_free(build, mass, (Sym3){i, i, i, 0.0, 0.0, 0.0}, v_free);
}

// Of two trees, one on top of the other; either may be PROBLEM_NO_TREE.
static ProblemContact *stack(ProblemBuild *build, uint32_t below, uint32_t above, double mu,
                             double bias) {
    ProblemContact *contact = problem_build_contact(build, up, mu, bias);
    problem_build_side(contact, 0, below, vec3_scale(0.1, up));
    problem_build_side(contact, 1, above, vec3_scale(-0.1, up));
    return contact;
}

// ---- hardly a problem

static void build_nothing(ProblemBuild *build, uint64_t *state) {
    (void)build;
    (void)state;
}

static void build_flight(ProblemBuild *build, uint64_t *state) {
    double mass[9], v_free[3];
    problem_build_random_mass(state, 3, 0.5, mass);
    random_numbers(state, v_free, 3);
    add_ball(build, 1.0, 0.1);
    problem_build_dense(build, 3, mass, v_free);
}

static void build_one_ball(ProblemBuild *build, uint64_t *state) {
    (void)state;
    stack(build, PROBLEM_NO_TREE, add_ball(build, 1.0, 0.1), 0.5, 0.0);
}

// Contacts and rows that move nothing, beside one that does: between two statics, which overlap,
// without a block, and with a Jacobian of zeros.
static void build_idle(ProblemBuild *build, uint64_t *state) {
    const double mass[4] = {1.0, 0.0, 0.0, 2.0}, v_free[2] = {-1.0, 0.5}, zero[6] = {0.0};
    (void)state;
    stack(build, PROBLEM_NO_TREE, PROBLEM_NO_TREE, 0.5, -0.1)->gap = -0.001;
    problem_build_row(build, 0.0, HUGE_VAL, -1.0);
    stack(build, PROBLEM_NO_TREE, add_ball(build, 1.0, 0.1), 0.5, 0.0);
    uint32_t tree = problem_build_dense(build, 2, mass, v_free);
    problem_build_dense_side(build, problem_build_contact(build, up, 0.5, 0.0), 1, tree, zero);
    problem_build_row(build, -HUGE_VAL, HUGE_VAL, 0.0);
    problem_build_block(build, tree, zero);
}

// ---- random ones

// What compliant models read: a contact that gives way by a tenth of a millimetre under 1 kg.
static void soften(ProblemBuild *build) {
    for (uint32_t i = 0; i < build->problem.contact_count; i++) {
        ContactLaw *law = &build->law[i];
        *law = (ContactLaw){.stiffness = 1e5, .dissipation_time = 0.002, .damping = 200.0};
        law->force = 0.0 - law->stiffness * build->contact[i].gap;
    }
    for (uint32_t i = 0; i < build->problem.row_count; i++) {
        build->row[i].stiffness = 1e7;
        build->row[i].dissipation_time = 0.002;
        build->row[i].damping = 1e4;
    }
}

// Nothing overlaps: where all stand still, everything is met.
static void build_bodies(ProblemBuild *build, uint64_t *state) {
    uint32_t bodies = 2 + (uint32_t)random_of(state, 0.0, 6.0);
    problem_build_random_bodies(build, state, bodies, 2 * bodies);
    for (uint32_t i = 0; i < build->problem.contact_count; i++) {
        build->contact[i].bias = fmax(build->contact[i].bias, 0.0);
        build->contact[i].motion[1] = i % 3 == 0 ? problem_build_random(state) : 0.0;
    }
}

static void build_frictionless(ProblemBuild *build, uint64_t *state) {
    build_bodies(build, state);
    for (uint32_t i = 0; i < build->problem.contact_count; i++) {
        build->contact[i].mu = 0.0;
    }
}

// Under a friction beyond all that is known to be solvable by sweeps.
static void build_sticky(ProblemBuild *build, uint64_t *state) {
    build_bodies(build, state);
    for (uint32_t i = 0; i < build->problem.contact_count; i++) {
        build->contact[i].mu = random_of(state, 1.0, 5.0);
    }
}

// On belts, from impulses that are none of this problem's, some outside of their cones.
static void build_warm(ProblemBuild *build, uint64_t *state) {
    build_bodies(build, state);
    size_t count = 3 * (size_t)build->problem.contact_count;
    double *warm = arena_take_array(&build->arena, count, sizeof(double));
    ck_assert_ptr_nonnull(warm);
    random_numbers(state, warm, count);
    for (uint32_t i = 0; i < build->problem.contact_count; i++) {
        build->contact[i].motion[2] = problem_build_random(state);
    }
    build->problem.warm_contact = warm;
}

static const uint32_t widths[] = {1, 2, 3, 4, 5, 6, 7, 12};
enum { WIDTHS = sizeof(widths) / sizeof(widths[0]), WIDTH_MAX = 64 };

static void add_random_tree(ProblemBuild *build, uint64_t *state, uint32_t width) {
    double mass[16 * 16], v_free[16];
    problem_build_random_mass(state, width, 0.5, mass);
    random_numbers(state, v_free, width);
    problem_build_dense(build, width, mass, v_free);
}

static void add_random_side(ProblemBuild *build, uint64_t *state, ProblemContact *contact, int side,
                            uint32_t tree) {
    double jacobian[3 * WIDTH_MAX];
    if (build->tree[tree].is_free) {
        problem_build_side(contact, side, tree, vec3_scale(0.5, random_direction(state)));
        return;
    }
    random_numbers(state, jacobian, 3 * (size_t)build->tree[tree].width);
    problem_build_dense_side(build, contact, side, tree, jacobian);
}

static void add_random_block(ProblemBuild *build, uint64_t *state, uint32_t tree) {
    double jacobian[WIDTH_MAX];
    random_numbers(state, jacobian, build->tree[tree].width);
    problem_build_block(build, tree, jacobian);
}

// Each tree touches the next one, or the ground.
static void touch_trees(ProblemBuild *build, uint64_t *state) {
    uint32_t trees = build->problem.tree_count;
    for (uint32_t i = 0; i < trees; i++) {
        double bias = random_of(state, 0.0, 0.1), mu = random_of(state, 0.0, 0.6);
        ProblemContact *contact = problem_build_contact(build, random_direction(state), mu, bias);
        add_random_side(build, state, contact, 1, i);
        if (i % 3 != 0) {
            add_random_side(build, state, contact, 0, (i + 1) % trees);
        }
    }
}

// Trees of all widths, free bodies among them, with contacts of every pair of kinds of sides.
static void build_trees(ProblemBuild *build, uint64_t *state) {
    for (uint32_t i = 0; i < WIDTHS; i++) {
        add_random_tree(build, state, widths[i]);
        if (i % 2 == 0) {
            add_ball(build, random_of(state, 0.5, 2.0), 1.0);
        }
    }
    touch_trees(build, state);
}

// bounds, bias, compliance
typedef struct RowKind {
    double low, high, bias, compliance;
} RowKind;

static const RowKind row_kinds[] = {
    {-HUGE_VAL, HUGE_VAL, 0.0, 0.0}, // a joint
    {-HUGE_VAL, HUGE_VAL, 0.5, 0.1}, // a spring
    {0.0, HUGE_VAL, 0.1, 0.0},       // a limit
    {-HUGE_VAL, 0.0, -0.1, 0.0},     // … of the other side
    {0.0, HUGE_VAL, -0.5, 0.2},      // … that gives way
    {-0.3, 0.3, 0.0, 0.0},           // dry friction
    {-0.5, 1.0, -2.0, 0.0},          // a motor with its effort
    {-0.1, 0.1, 1.0, 0.3},           // … that gives way
    {0.25, 0.25, 0.0, 0.0},          // a push
    {0.0, 0.0, 1.0, 0.0},            // what cannot push at all
};
enum { ROW_KINDS = sizeof(row_kinds) / sizeof(row_kinds[0]) };

// Rows of all kinds, of one tree and of two, beside contacts.
static void build_rows_on(ProblemBuild *build, uint64_t *state) {
    uint32_t trees = build->problem.tree_count;
    for (uint32_t i = 0; i < ROW_KINDS; i++) {
        ProblemRow *row =
            problem_build_row(build, row_kinds[i].low, row_kinds[i].high, row_kinds[i].bias);
        row->compliance = row_kinds[i].compliance;
        row->has_compliance = row->compliance > 0.0;
        row->group = i / 3;
        add_random_block(build, state, (3 * i + 2) % trees);
        if (i % 2 == 1) {
            add_random_block(build, state, (3 * i + 3) % trees);
        }
    }
}

static void build_rows(ProblemBuild *build, uint64_t *state) {
    build_trees(build, state);
    build_rows_on(build, state);
}

// Trees of links that touch each other, free bodies and dense trees, with rows of all kinds.
static void build_links(ProblemBuild *build, uint64_t *state) {
    static const uint32_t counts[] = {1, 3, 6, 9};
    for (uint32_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        problem_build_random_links(build, state, counts[i]);
        add_ball(build, random_of(state, 0.5, 2.0), 1.0);
    }
    add_random_tree(build, state, 4);
    touch_trees(build, state);
    build_rows_on(build, state);
}

// Without friction and rows: one velocity solves it.
static void build_smooth_links(ProblemBuild *build, uint64_t *state) {
    for (uint32_t i = 2; i < 12; i += 3) {
        problem_build_random_links(build, state, i);
    }
    touch_trees(build, state);
    for (uint32_t i = 0; i < build->problem.contact_count; i++) {
        build->contact[i].mu = 0.0;
    }
}

// ---- what is special

// A box on its four corners, each of them touched four times, and held by a joint whose rows are
// there three times.
static void build_redundant(ProblemBuild *build, uint64_t *state) {
    const double v_free[6] = {0.5, 0.3, -0.2, 0.1, 0.2, 0.3};
    const double along_x[6] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    (void)state;
    uint32_t box = problem_build_free(build, 2.0, (Sym3){0.1, 0.2, 0.3, 0.0, 0.0, 0.0}, v_free);
    for (int i = 0; i < 16; i++) {
        ProblemContact *contact = problem_build_contact(build, up, 0.3, 0.0);
        problem_build_side(contact, 1, box,
                           vec3(i % 2 == 0 ? 0.5 : -0.5, i % 4 < 2 ? 0.5 : -0.5, -0.5));
    }
    for (int i = 0; i < 3; i++) {
        problem_build_row(build, -HUGE_VAL, HUGE_VAL, 0.0);
        problem_build_block(build, box, along_x);
    }
}

// A net of rods: a chain across two others that hang, all joints twice, with a stop that clips and
// rods that touch the ground.
static void build_net(ProblemBuild *build, uint64_t *state) {
    uint32_t across = chain_build_rods(build, 6, vec3(1.0, 0.0, 0.0), false, 2);
    uint32_t left = chain_build_rods(build, 3, vec3(0.0, 0.0, -1.0), true, 1);
    uint32_t right = chain_build_rods(build, 3, vec3(0.0, 1.0, 0.0), true, 2);
    chain_build_joint(build, left + 2, vec3(0.0, 0.0, -0.5), across, vec3(-0.5, 0.0, 0.0), 500);
    chain_build_joint(build, right + 2, vec3(0.0, 0.5, 0.0), across + 5, vec3(0.5, 0.0, 0.0), 501);
    problem_build_row(build, 0.0, HUGE_VAL, 0.05);
    add_random_block(build, state, across + 2);
    add_random_block(build, state, across + 3);
    for (uint32_t i = across; i < across + 6; i++) {
        build->v_free[6 * (size_t)i + 1] = 0.2 * problem_build_random(state);
        ProblemContact *contact = problem_build_contact(build, up, random_of(state, 0.1, 0.6), 0.0);
        problem_build_side(contact, 1, i, vec3(0.3, 0.0, -0.05));
    }
}

// A pole of rods in one piece, on four feet: heavy for the one that stands on them, and beside a
// ball that it pushes, which no joint holds.
static void build_pole(ProblemBuild *build, uint64_t *state) {
    enum { RODS = 6 };
    uint32_t foot = build->problem.tree_count;
    for (uint32_t i = 0; i < RODS; i++) {
        uint32_t rod = chain_build_rods(build, 1, up, false, 1);
        if (i > 0) {
            chain_build_joint(build, rod - 1, vec3_scale(0.5, up), rod, vec3_scale(-0.5, up), i);
            chain_build_weld(build, rod - 1, rod);
        }
        build->v_free[6 * (size_t)rod] = 0.3;
    }
    for (int i = 0; i < 4; i++) {
        ProblemContact *contact = problem_build_contact(build, up, random_of(state, 0.2, 0.6), 0.0);
        problem_build_side(contact, 1, foot,
                           vec3(i % 2 == 0 ? 0.3 : -0.3, i < 2 ? 0.3 : -0.3, -0.5));
    }
    uint32_t ball = add_ball(build, 0.5, 0.1);
    stack(build, PROBLEM_NO_TREE, ball, 0.3, 0.0);
    ProblemContact *contact = problem_build_contact(build, vec3(1.0, 0.0, 0.0), 0.3, 0.0);
    problem_build_side(contact, 0, foot + 1, vec3(0.05, 0.0, 0.1));
    problem_build_side(contact, 1, ball, vec3(-0.1, 0.0, 0.0));
}

// A tower whose every ball weighs a hundred times the one below.
static void build_ladder(ProblemBuild *build, uint64_t *state) {
    (void)state;
    uint32_t below = PROBLEM_NO_TREE;
    double mass = 0.01;
    for (int i = 0; i < 4; i++) {
        uint32_t ball = add_ball(build, mass, 0.1);
        stack(build, below, ball, 0.5, 0.0);
        below = ball;
        mass *= 100.0;
    }
}

// Pairs of balls, each an island, some at rest already.
static void build_islands(ProblemBuild *build, uint64_t *state) {
    for (int i = 0; i < 300; i++) {
        uint32_t lower = add_ball(build, random_of(state, 0.5, 2.0), 0.1);
        uint32_t upper = add_ball(build, random_of(state, 0.5, 2.0), i % 7 == 0 ? -0.2 : 0.1);
        stack(build, PROBLEM_NO_TREE, lower, random_of(state, 0.0, 1.0), 0.0);
        stack(build, lower, upper, random_of(state, 0.0, 1.0), 0.0);
    }
}

// One island that is large enough to be cut into pieces: bodies on the ground on four feet each,
// and beside the next, which they hardly touch.
static void build_large(ProblemBuild *build, uint64_t *state) {
    enum { BODIES = 900 };
    uint32_t before = PROBLEM_NO_TREE;
    for (int i = 0; i < BODIES; i++) {
        const double v_free[6] = {0.05 * problem_build_random(state), 0.0, -0.1, 0.0, 0.0, 0.0};
        uint32_t body =
            problem_build_free(build, 1.0, (Sym3){0.02, 0.03, 0.04, 0.0, 0.0, 0.0}, v_free);
        for (int foot = 0; foot < 4; foot++) {
            ProblemContact *contact = problem_build_contact(build, up, 0.4, 0.0);
            problem_build_side(contact, 1, body,
                               vec3(foot % 2 == 0 ? 0.2 : -0.2, foot < 2 ? 0.2 : -0.2, -0.1));
        }
        if (before != PROBLEM_NO_TREE) {
            ProblemContact *contact = problem_build_contact(build, vec3(1.0, 0.0, 0.0), 0.4, 0.02);
            problem_build_side(contact, 0, before, vec3(0.2, 0.0, 0.0));
            problem_build_side(contact, 1, body, vec3(-0.2, 0.0, 0.0));
        }
        before = body;
    }
}

// ---- the table

typedef struct Maker {
    const char *name;
    void (*make)(ProblemBuild *build, uint64_t *state);
    int count; // at the scale of a change; 0: one, always
    HarnessSize size;
    bool is_unique;
} Maker;

static const Maker makers[] = {
    {"nothing", build_nothing, 0, HARNESS_SMALL, true},
    {"flight", build_flight, 0, HARNESS_SMALL, true},
    {"one ball", build_one_ball, 0, HARNESS_SMALL, true},
    {"idle", build_idle, 0, HARNESS_SMALL, true},
    {"bodies", build_bodies, 10, HARNESS_SMALL, false},
    {"frictionless", build_frictionless, 4, HARNESS_SMALL, true},
    {"sticky", build_sticky, 2, HARNESS_SMALL, false},
    {"warm", build_warm, 3, HARNESS_SMALL, false},
    {"trees", build_trees, 4, HARNESS_SMALL, false},
    {"rows", build_rows, 6, HARNESS_SMALL, false},
    {"links", build_links, 4, HARNESS_SMALL, false},
    {"smooth links", build_smooth_links, 3, HARNESS_SMALL, true},
    {"net", build_net, 3, HARNESS_SMALL, false},
    {"pole", build_pole, 2, HARNESS_SMALL, false},
    {"redundant", build_redundant, 0, HARNESS_SMALL, false},
    {"ladder", build_ladder, 0, HARNESS_SMALL, false},
    {"islands", build_islands, 0, HARNESS_DEAR, false},
    {"large", build_large, 0, HARNESS_DEAR, false},
};
enum { MAKERS = sizeof(makers) / sizeof(makers[0]) };

// ---- files

enum { FILES_MAX = 512, ATLAS_COUNT = 8, HARD_COUNT = 2 };

static const struct {
    const char *folder;
    int count; // at the scale of a change; 0: all, always
} folders[] = {{"", 0}, {"atlas/", ATLAS_COUNT}, {"hard/", HARD_COUNT}};
enum { FOLDERS = sizeof(folders) / sizeof(folders[0]) };

typedef struct FileList {
    char name[FILES_MAX][64]; // within tests/problems, without the ending
    uint32_t count;
} FileList;

static int compare_names(const void *a, const void *b) {
    return strcmp(a, b);
}

// Adds the problems of a folder, sorted; where it has more than `most`, so many spread over them.
static void list_folder(const char *folder, uint32_t most, FileList *list) {
    char path[512];
    snprintf(path, sizeof(path), MOREAU_SOURCE_DIR "/tests/problems/%s", folder);
    DIR *directory = opendir(path);
    ASSERT(directory != NULL);
    uint32_t first = list->count;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *ending = strstr(entry->d_name, ".json");
        if (ending != NULL) {
            ASSERT(list->count < FILES_MAX);
            snprintf(list->name[list->count++], sizeof(list->name[0]), "%s%.*s", folder,
                     (int)(ending - entry->d_name), entry->d_name);
        }
    }
    closedir(directory);
    uint32_t count = list->count - first;
    qsort(list->name[first], count, sizeof(list->name[0]), compare_names);
    if (count > most) {
        for (uint32_t i = 0; i < most; i++) {
            memmove(list->name[first + i], list->name[first + (size_t)i * count / most],
                    sizeof(list->name[0]));
        }
        list->count = first + most;
    }
}

static const FileList *files(void) {
    static FileList list;
    for (int i = 0; i < FOLDERS && list.count < FILES_MAX && (i > 0 || list.count == 0); i++) {
        uint32_t most =
            folders[i].count == 0 ? FILES_MAX : (uint32_t)campaign_count(folders[i].count);
        list_folder(folders[i].folder, most, &list);
    }
    return &list;
}

// ---- all of them

static uint32_t count_of(const Maker *maker) {
    return maker->count == 0 ? 1 : (uint32_t)campaign_count(maker->count);
}

uint32_t harness_problem_count(void) {
    uint32_t count = files()->count;
    for (int i = 0; i < MAKERS; i++) {
        count += count_of(&makers[i]);
    }
    return count;
}

static void make(const Maker *maker, uint32_t number, HarnessProblem *problem) {
    uint64_t state = 0x9e3779b97f4a7c15u * (number + 1);
    problem_build_init(&problem->build);
    maker->make(&problem->build, &state);
    soften(&problem->build);
    problem->problem = &problem->build.problem;
    problem->size = maker->size;
    problem->is_unique = maker->is_unique;
    if (maker->count == 0) {
        snprintf(problem->name, sizeof(problem->name), "%s", maker->name);
    } else {
        snprintf(problem->name, sizeof(problem->name), "%s %u", maker->name, number);
    }
}

// A file has an answer for a model where the velocity is unique.
static void open_file(const char *name, HarnessProblem *problem) {
    problem_file_open(&problem->file, name);
    problem->is_file = true;
    problem->problem = &problem->file.problem;
    bool is_hard = strncmp(name, "hard/", 5) == 0;
    bool is_large = problem->problem->contact_count > 200;
    problem->size = is_hard || is_large ? HARNESS_HARD : HARNESS_SMALL;
    problem->is_unique = problem_file_answer(&problem->file, "coulomb") != NULL &&
                         problem_file_answer(&problem->file, "dissipation") != NULL &&
                         problem_file_answer(&problem->file, "polyhedral:8") != NULL;
    snprintf(problem->name, sizeof(problem->name), "%s", name);
}

void harness_problem_open(uint32_t index, HarnessProblem *problem) {
    memset(problem, 0, sizeof(*problem));
    for (int i = 0; i < MAKERS; i++) {
        uint32_t count = count_of(&makers[i]);
        if (index < count) {
            make(&makers[i], index, problem);
            return;
        }
        index -= count;
    }
    ck_assert_uint_lt(index, files()->count);
    open_file(files()->name[index], problem);
}

void harness_problem_close(HarnessProblem *problem) {
    if (problem->is_file) {
        problem_file_close(&problem->file);
    } else {
        problem_build_deinit(&problem->build);
    }
}
