// SPDX-License-Identifier: MIT
#include "solve/descent/bed.h"

#include "base/assert.h"

#include <string.h>

#define SIMD_COUNT 2
#include "solve/descent/bed_simd.h"

// What is turned by a frame that is none to this would not be what its contacts are.
#define FRAME_ROUNDING 1e-14

// ---- which contacts

// The side of a contact that moves, where that is one free body and its frame is one; else -1.
static int find_side(const NewtonIsland *n, uint32_t constraint) {
    const NewtonConstraint *c = &n->constraint[constraint];
    if (c->rows != NEWTON_ROWS_MAX || c->block_count != 1) {
        return -1;
    }
    const ProblemContact *contact = &n->problem->contact[c->index];
    const int s = contact->side[0].tree == PROBLEM_NO_TREE;
    const bool is_alone = contact->side[1 - s].tree == PROBLEM_NO_TREE;
    if (!is_alone || !problem_is_free(n->problem, contact->side[s].tree)) {
        return -1;
    }
    Vec3 third = vec3_sub(vec3_cross(contact->normal, contact->tangent[0]), contact->tangent[1]);
    const double off[3] = {vec3_dot(contact->normal, contact->normal) - 1.0,
                           vec3_dot(contact->normal, contact->tangent[0]), vec3_norm(third)};
    const bool is_frame = fabs(off[0]) <= FRAME_ROUNDING && fabs(off[1]) <= FRAME_ROUNDING &&
                          off[2] <= FRAME_ROUNDING;
    return is_frame ? s : -1;
}

static bool is_same(Vec3 a, Vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// Whether both move the same body in the same frame.
static bool is_beside(const NewtonIsland *n, uint32_t constraint, uint32_t next) {
    const ProblemContact *a = &n->problem->contact[n->constraint[constraint].index],
                         *b = &n->problem->contact[n->constraint[next].index];
    return a->side[0].tree == b->side[0].tree && a->side[1].tree == b->side[1].tree &&
           is_same(a->normal, b->normal) && is_same(a->tangent[0], b->tangent[0]) &&
           is_same(a->tangent[1], b->tangent[1]);
}

// Constraints [begin, end), one beside the other, and how many of them may be cells.
typedef struct Run {
    uint32_t begin, end, count;
    int side; // -1: none
} Run;

static Run run_from(const NewtonIsland *n, uint32_t begin, BedMay *may, const void *context) {
    ASSERT(begin < n->contact_count);
    Run run = {.begin = begin, .end = begin + 1, .side = find_side(n, begin)};
    if (run.side < 0) {
        return run;
    }
    while (run.end < n->contact_count && is_beside(n, begin, run.end)) {
        run.end++;
    }
    for (uint32_t i = begin; i < run.end; i++) {
        run.count += may(context, i);
    }
    return run;
}

static void put_cell(const NewtonIsland *n, const Bed *bed, int side, uint32_t constraint,
                     BedCells *cells, uint32_t place) {
    const NewtonConstraint *c = &n->constraint[constraint];
    const Vec3 arm = n->problem->contact[c->index].side[side].arm;
    cells->constraint[place] = constraint;
    cells->first[place] = (uint32_t)c->first;
    for (int k = 0; k < 3; k++) {
        cells->arm[k].at[place] = vec3_dot(bed->axis[k], arm);
    }
    cells->w.at[place] = c->w;
    cells->mu.at[place] = c->mu;
}

// All that fill places of four; what is left over is no cell.
static void fill(const NewtonIsland *n, const Run *run, BedMay *may, const void *context, Bed *bed,
                 uint32_t *next) {
    ASSERT(run->side == 0 || run->side == 1);
    const NewtonConstraint *c = &n->constraint[run->begin];
    const ProblemContact *contact = &n->problem->contact[c->index];
    const NewtonBlock *block = &n->block[c->block_first];
    bed->tree = block->tree;
    bed->velocity = block->velocity;
    bed->sign = run->side == 0 ? -1.0 : 1.0;
    bed->axis[0] = contact->normal;
    bed->axis[1] = contact->tangent[0];
    bed->axis[2] = contact->tangent[1];
    uint32_t cells = 0;
    for (uint32_t i = run->begin; cells < BED_PLACES * bed->count; i++) {
        if (may(context, i)) {
            put_cell(n, bed, run->side, i, &bed->cells[cells / BED_PLACES], cells % BED_PLACES);
            next[i] = i + 1;
            cells++;
        }
    }
}

Status bed_find(const NewtonIsland *n, BedMay *may, const void *context, Arena *arena, Bed **bed,
                uint32_t *bed_count, uint32_t *next, Error *error) {
    ASSERT(n->contact_count <= n->constraint_count);
    uint32_t count = 0, most = n->contact_count / BED_CELLS_MIN;
    *bed = arena_take_array(arena, most, sizeof(**bed));
    bool is_taken = *bed != NULL;
    for (uint32_t i = 0; i <= n->constraint_count; i++) {
        next[i] = i;
    }
    for (uint32_t i = 0; most > 0 && is_taken && i < n->contact_count;) {
        Run run = run_from(n, i, may, context);
        i = run.end;
        if (run.count < BED_CELLS_MIN) {
            continue;
        }
        Bed *one = &(*bed)[count];
        *one = (Bed){.count = run.count / BED_PLACES};
        one->cells = arena_take_zeroed(arena, one->count, sizeof(*one->cells));
        is_taken = one->cells != NULL;
        if (is_taken) {
            fill(n, &run, may, context, one, next);
            count++;
        }
    }
    // of those that follow each other, the first that is none
    for (uint32_t i = n->constraint_count; count > 0 && i-- > 0;) {
        next[i] = next[next[i]];
    }
    *bed_count = count;
    return is_taken ? STATUS_OK
                    : error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                                "The solver's memory is too small for Newton's method.");
}

// ---- a pass

static double sum_of(const BedFour *of) {
    return of->at[0] + of->at[1] + of->at[2] + of->at[3];
}

void bed_begin(const Bed *bed, BedPass *pass) {
    VALIDATE(bed->count > 0);
    if (pass->v == NULL) {
        return;
    }
    const double *v = pass->v + bed->velocity;
    for (int k = 0; k < 3; k++) {
        pass->twist[k] = bed->sign * vec3_dot(bed->axis[k], vec3_load(v));
        pass->twist[3 + k] = bed->sign * vec3_dot(bed->axis[k], vec3_load(v + 3));
    }
}

// [ D , -D [r] ; [r] D , -[r] D [r] ]
static void make_block(BedPass *pass) {
    _Static_assert(BED_SUMS == BED_BLOCK + 27, "three 3 x 3 blocks beside the plain one");
    double sum[BED_SUMS];
    for (int k = 0; k < BED_SUMS; k++) {
        sum[k] = sum_of(&pass->sum[k]);
    }
    const double plain[9] = {sum[BED_NN], 0.0,         0.0,         sum[BED_TN], sum[BED_TT],
                             sum[BED_TO], sum[BED_ON], sum[BED_TO], sum[BED_OO]};
    const double *right = sum + BED_BLOCK, *left = right + 9, *both = left + 9;
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            const int of = 3 * i + k;
            pass->block[BED_TWIST * i + k] = plain[of];
            pass->block[BED_TWIST * i + 3 + k] = -right[of];
            pass->block[BED_TWIST * (3 + i) + k] = left[of];
            pass->block[BED_TWIST * (3 + i) + 3 + k] = -both[of];
        }
    }
}

void bed_end(BedPass *pass, bool has_block) {
    VALIDATE(!has_block || !(pass->sum[BED_NN].at[0] < 0.0));
    if (has_block) {
        make_block(pass);
        return;
    }
    for (int k = 0; k < BED_TWIST; k++) {
        pass->wrench[k] = sum_of(&pass->sum[k]);
    }
}

static void pass_all(Bed *bed, BedKind kind, BedPass *pass) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        bed_pass_avx2(bed, kind, pass);
        return;
    }
#endif
    bed_pass_all(bed, kind, pass);
}

void bed_pass(Bed *bed, BedKind kind, BedPass *pass) {
    ASSERT(bed->count > 0);
    ASSERT((unsigned)kind <= BED_CHANGE);
    bed_begin(bed, pass);
    pass_all(bed, kind, pass);
    switch (kind) {
    case BED_SLOPE:
        bed_end(pass, true);
        break;
    case BED_SEARCH:
        pass->first = sum_of(&pass->sum[0]);
        pass->second = sum_of(&pass->sum[1]);
        pass->size = sum_of(&pass->sum[2]);
        break;
    case BED_LOOK:
        pass->cost = sum_of(&pass->sum[BED_TWIST]);
        bed_end(pass, false);
        break;
    case BED_MOMENTUM:
    case BED_REST:
        bed_end(pass, false);
        break;
    case BED_PRODUCT:
    case BED_CHANGE:
        break;
    }
}

// ---- out of the frame

static Vec3 turn_out(const Bed *bed, const double *x) {
    Vec3 sum = vec3_scale(x[0], bed->axis[0]);
    sum = vec3_add_scaled(sum, x[1], bed->axis[1]);
    return vec3_add_scaled(sum, x[2], bed->axis[2]);
}

void bed_add_momentum(const Bed *bed, const BedPass *pass, double *p) {
    ASSERT(p != pass->wrench);
    double *at = p + bed->velocity;
    vec3_store(at, vec3_add_scaled(vec3_load(at), bed->sign, turn_out(bed, pass->wrench)));
    vec3_store(at + 3,
               vec3_add_scaled(vec3_load(at + 3), bed->sign, turn_out(bed, pass->wrench + 3)));
}

// F B F^T of each 3 x 3 part; both signs of a side are those of both factors.
void bed_add_matrix(const Bed *bed, const BedPass *pass, Ldlt *ldlt) {
    ASSERT(bed->count > 0);
    double half[BED_TWIST][BED_TWIST], block[BED_TWIST * BED_TWIST];
    for (size_t i = 0; i < BED_TWIST; i++) {
        vec3_store(half[i], turn_out(bed, pass->block + BED_TWIST * i));
        vec3_store(half[i] + 3, turn_out(bed, pass->block + BED_TWIST * i + 3));
    }
    for (size_t k = 0; k < BED_TWIST; k++) {
        for (size_t part = 0; part < BED_TWIST; part += 3) {
            const double column[3] = {half[part][k], half[part + 1][k], half[part + 2][k]};
            double turned[3];
            vec3_store(turned, turn_out(bed, column));
            for (size_t i = 0; i < 3; i++) {
                block[BED_TWIST * (part + i) + k] = turned[i];
            }
        }
    }
    ldlt_add_vertex(ldlt, bed->tree, block);
}
