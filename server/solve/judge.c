// SPDX-License-Identifier: MIT
#include "solve/judge.h"

#include "base/assert.h"
#include "solve/certificate_relation.h"

#include <string.h>

// so many operations go by between two questions whether to stop
#define ASK_AFTER 1e6
// about what it takes to survey, or to measure, one contact, row or tree
#define OPERATIONS 200.0
// No impulse at all leaves what velocities and targets there are, V or twice that, and targets that
// contradict each other as much, whatever meets the others. What is further off has run away.
#define OWN_FAR 10.0

enum { RANGE = 64 }; // contacts that stay in the first cache while all that can be said of each is

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the answer.");
}

// ---- begin

static bool take_answer(Judge *judge) {
    const ContactProblem *problem = judge->problem;
    Arena *arena = judge->arena;
    Answer *answer = &judge->result->answer;
    answer->v = arena_take_array(arena, problem->velocity_count, sizeof(double));
    answer->momentum = arena_take_array(arena, problem->velocity_count, sizeof(double));
    answer->contact_impulse = arena_take_array(arena, problem->contact_count, 3 * sizeof(double));
    answer->row_impulse = arena_take_array(arena, problem->row_count, sizeof(double));
    answer->row = arena_take_array(arena, problem->row_count, sizeof(RowRelation));
    judge->result->residual = arena_take_array(arena, problem->contact_count, sizeof(double));
    judge->kept_contact = arena_take_array(arena, problem->contact_count, 3 * sizeof(double));
    judge->kept_row = arena_take_array(arena, problem->row_count, sizeof(double));
    return answer->v != NULL && answer->momentum != NULL && answer->contact_impulse != NULL &&
           answer->row_impulse != NULL && answer->row != NULL && judge->result->residual != NULL &&
           judge->kept_contact != NULL && judge->kept_row != NULL;
}

Status judge_begin(Judge *judge, const ContactProblem *problem, RelationKind relation,
                   double tolerance, bool is_warm, const Context *context, Arena *arena,
                   SolveResult *result, Error *error) {
    ASSERT(context != NULL && arena != NULL);
    ASSERT(!(problem->time_step <= 0.0));
    ASSERT(!(tolerance <= 0.0));
    *result = (SolveResult){.answer = {.relation = relation}};
    *judge = (Judge){.problem = problem,
                     .context = context,
                     .result = result,
                     .arena = arena,
                     .error = error,
                     .tolerance = tolerance,
                     .is_warm = is_warm};
    if (!take_answer(judge)) {
        return no_memory(error);
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        const ProblemRow *row = &problem->row[i];
        result->answer.row[i] =
            (RowRelation){.bias = row->bias,
                          .compliance = row->has_compliance ? row->compliance : 0.0,
                          .low = row->low,
                          .high = row->high};
    }
    return STATUS_OK;
}

// ---- limits

static bool is_to_end(void *context) {
    Judge *judge = context;
    judge->is_given_up = judge->is_given_up || stop_is_asked(judge->unlimited->stop);
    if (judge->is_given_up || judge->late != END_CONVERGED) {
        return true;
    }
    if (stop_is_asked(judge->unlimited->limit)) {
        judge->late = END_TIME;
    } else if (stop_is_asked(judge->unlimited->last_resort)) {
        judge->late = END_TIMEOUT;
    }
    return judge->late != END_CONVERGED;
}

void judge_limit(Judge *judge, double budget) {
    ASSERT(budget >= 0.0);
    ASSERT(judge->unlimited == NULL);
    judge->budget = budget;
    judge->allowance = (Allowance){.most = budget};
    judge->unlimited = judge->context;
    judge->any = (Stop){.asked = is_to_end, .context = judge, .allowance = &judge->allowance};
    judge->limited = *judge->context;
    judge->limited.stop = &judge->any;
    judge->context = &judge->limited;
}

double judge_left(const Judge *judge) {
    return judge->allowance.most - judge->allowance.spent;
}

double judge_take(Judge *judge) {
    double left = judge_left(judge);
    judge->allowance.most = HUGE_VAL;
    return left;
}

void judge_give(Judge *judge, double spent) {
    ASSERT(judge->allowance.most == HUGE_VAL);
    ASSERT(!(spent < 0.0));
    judge->allowance = (Allowance){.spent = spent, .most = HUGE_VAL};
}

bool judge_is_late(Judge *judge, Status status) {
    VALIDATE(!judge->is_late || judge->context == judge->unlimited);
    if (judge->unlimited == NULL || status != STATUS_ABORTED || judge->is_given_up) {
        return false;
    }
    if (judge->late != END_CONVERGED) {
        judge->is_late = true;
        judge->context = judge->unlimited;
    }
    judge->is_spent = judge->allowance.is_over;
    if (judge->error != NULL) {
        error_clear(judge->error); // as it is none
    }
    // what follows only says what came of it
    judge->allowance.most = HUGE_VAL;
    judge->allowance.is_over = false;
    return true;
}

bool judge_is_now_late(Judge *judge, Status status) {
    return !judge->is_late && judge_is_late(judge, status);
}

// ---- tasks

Status judge_ask(Judge *judge, double operations) {
    ASSERT(!(operations < 0.0));
    bool is_over = stop_spend(judge->context->stop, operations);
    judge->operations += operations;
    if (judge->operations < ASK_AFTER && !is_over) {
        return STATUS_OK;
    }
    judge->operations = 0.0;
    return is_over || stop_is_asked(judge->context->stop)
               ? error_set(judge->error, STATUS_ABORTED, "", "The solve was given up.")
               : STATUS_OK;
}

typedef struct Window {
    TaskBlock *block;
    void *work;
    uint32_t first;
} Window;

static void do_share(void *work, uint32_t block) {
    const Window *window = work;
    window->block(window->work, window->first + block);
}

// trees, contacts and rows of shares that follow each other
static double size_of(const Judge *judge, uint32_t begin, uint32_t end) {
    ASSERT(begin < end);
    const IslandRange *first = &judge->islands.share[begin].range,
                      *last = &judge->islands.share[end - 1].range;
    return (double)(last->tree_end - first->tree_begin) +
           (double)(last->contact_end - first->contact_begin) +
           (double)(last->row_end - first->row_begin);
}

Status judge_shares(Judge *judge, TaskBlock *block, void *work, uint32_t begin, uint32_t end) {
    ASSERT(end <= judge->islands.share_count);
    ASSERT(begin <= end);
    Status status = STATUS_OK;
    for (uint32_t i = begin; i < end && status == STATUS_OK; i += JUDGE_WINDOW) {
        Window window = {block, work, i};
        uint32_t count = end - i < JUDGE_WINDOW ? end - i : JUDGE_WINDOW;
        tasks_run(judge->context->tasks, do_share, &window, count);
        status = judge_ask(judge, OPERATIONS * size_of(judge, i, i + count));
    }
    return status;
}

// ---- survey

typedef struct Survey {
    Judge *judge;
    JudgeSurvey *also;
    void *solver;
    double *piece; // V of each share that is a piece
} Survey;

static double *scratch_of(const Judge *judge, uint32_t share) {
    VALIDATE(share < judge->islands.share_count);
    return judge->scratch + (size_t)3 * judge->mass.width_max * (share % JUDGE_WINDOW);
}

// Contacts at places [begin, end) of the list; returns V, not less than `most`.
static double survey_contacts(const Survey *survey, uint32_t begin, uint32_t end, double most) {
    const Judge *judge = survey->judge;
    const Islands *islands = &judge->islands;
    for (uint32_t i = begin, next; i < end; i = next) {
        next = end - i > RANGE ? i + RANGE : end;
        mass_add_contacts(&judge->mass, islands->contact + i, next - i);
        most = certificate_scale_contacts(judge->problem, islands, &judge->result->answer, i, next,
                                          most);
        if (survey->also != NULL) {
            survey->also(survey->solver, i, next);
        }
    }
    return most;
}

static double survey_rows(const Judge *judge, uint32_t begin, uint32_t end, double most) {
    return certificate_scale_rows(judge->problem, &judge->islands, &judge->result->answer, begin,
                                  end, most);
}

static void survey_share(void *work, uint32_t index) {
    const Survey *survey = work;
    const Judge *judge = survey->judge;
    const Islands *islands = &judge->islands;
    const IslandShare *share = &islands->share[index];
    double least = certificate_scale_least(judge->problem);
    if (share->is_piece) {
        const IslandRange *range = &share->range;
        double most = survey_contacts(survey, range->contact_begin, range->contact_end, least);
        survey->piece[index] = survey_rows(judge, range->row_begin, range->row_end, most);
        return;
    }
    for (uint32_t i = share->island_begin; i < share->island_end; i++) {
        IslandRange range = islands_range(islands, i, i + 1);
        double most = survey_contacts(survey, range.contact_begin, range.contact_end, least);
        judge->scale.v_scale[i] = survey_rows(judge, range.row_begin, range.row_end, most);
    }
}

// V of large islands, of their pieces
static void join_pieces(const Judge *judge, const double *piece) {
    const Islands *islands = &judge->islands;
    for (uint32_t i = 0; i < islands->share_count; i++) {
        const IslandShare *share = &islands->share[i];
        if (share->is_piece) {
            double *v_scale = &judge->scale.v_scale[share->island_begin];
            bool is_first = i == 0 || islands->share[i - 1].island_begin != share->island_begin;
            *v_scale = is_first ? piece[i] : relation_max(*v_scale, piece[i]);
        }
    }
}

static Status take_islands(Judge *judge, double **piece) {
    Arena *arena = judge->arena;
    const Islands *islands = &judge->islands;
    judge->scale = (CertificateScale){
        .islands = islands, .v_scale = arena_take_array(arena, islands->count, sizeof(double))};
    judge->island = arena_take_array(arena, islands->count, sizeof(*judge->island));
    judge->measure = arena_take_array(arena, islands->count, sizeof(*judge->measure));
    judge->piece = arena_take_array(arena, islands->share_count, sizeof(*judge->piece));
    judge->scratch = arena_take_array(arena, (size_t)3 * judge->mass.width_max * JUDGE_WINDOW,
                                      sizeof(*judge->scratch));
    *piece = arena_take_array(arena, islands->share_count, sizeof(**piece));
    if (judge->scale.v_scale == NULL || judge->island == NULL || judge->measure == NULL ||
        judge->piece == NULL || judge->scratch == NULL || *piece == NULL) {
        return no_memory(judge->error);
    }
    for (uint32_t i = 0; i < islands->count; i++) {
        judge->island[i] = (JudgeIsland){.best = HUGE_VAL, .reason = END_ITERATIONS};
    }
    return STATUS_OK;
}

// `warm` is Nullable
static void load_start(const double *warm, size_t count, double *impulse) {
    if (warm != NULL) {
        memcpy(impulse, warm, count * sizeof(double));
    } else {
        memset(impulse, 0, count * sizeof(double));
    }
}

Status judge_survey(Judge *judge, JudgeSurvey *also, void *solver) {
    const ContactProblem *problem = judge->problem;
    Status status =
        islands_find(problem, judge->context->tasks, judge->arena, &judge->islands, judge->error);
    status = STATUS_THEN(status, mass_init(&judge->mass, problem, judge->context->tasks,
                                           judge->arena, judge->error));
    Survey survey = {.judge = judge, .also = also, .solver = solver};
    status = STATUS_THEN(status, take_islands(judge, &survey.piece));
    status = STATUS_THEN(status,
                         judge_shares(judge, survey_share, &survey, 0, judge->islands.share_count));
    if (status != STATUS_OK) {
        return status;
    }
    join_pieces(judge, survey.piece);
    Answer *answer = &judge->result->answer;
    load_start(judge->is_warm ? problem->warm_contact : NULL, 3 * (size_t)problem->contact_count,
               answer->contact_impulse);
    load_start(judge->is_warm ? problem->warm_row : NULL, problem->row_count, answer->row_impulse);
    return STATUS_OK;
}

// ---- judging

static void make_momentum(const Judge *judge, const IslandRange *range) {
    const ContactProblem *problem = judge->problem;
    const Islands *islands = &judge->islands;
    const Answer *answer = &judge->result->answer;
    for (uint32_t i = range->tree_begin; i < range->tree_end; i++) {
        uint32_t tree = islands->tree[i];
        size_t width = problem_is_free(problem, tree) ? 6 : problem->tree[tree].width;
        double *momentum = answer->momentum + problem_first(problem, tree);
        for (size_t k = 0; k < width; k++) {
            momentum[k] = 0.0;
        }
    }
    certificate_add_momenta(problem, islands, answer, range->contact_begin, range->contact_end);
    for (uint32_t i = range->row_begin; i < range->row_end; i++) {
        uint32_t row = islands->row[i];
        problem_row_momentum(problem, row, answer->row_impulse[row], answer->momentum);
    }
}

// v = v_free + M^-1 (J^T gamma + G^T r), from scratch, so that a momentum error is one of rounding
static void make_velocities(const Judge *judge, uint32_t begin, uint32_t end) {
    const ContactProblem *problem = judge->problem;
    const Answer *answer = &judge->result->answer;
    for (uint32_t i = begin; i < end; i++) {
        uint32_t tree = judge->islands.tree[i];
        size_t first = problem_first(problem, tree);
        double *restrict v = answer->v + first;
        const double *momentum = answer->momentum + first, *v_free = problem->v_free + first;
        if (problem_is_free(problem, tree)) {
            const FreeMass *of = &problem->free[tree];
            Vec3 spin = sym3_mul_vec(of->inverse_inertia, vec3_load(momentum + 3));
            vec3_store(
                v, vec3_add(vec3_scale(of->inverse_mass, vec3_load(momentum)), vec3_load(v_free)));
            vec3_store(v + 3, vec3_add(spin, vec3_load(v_free + 3)));
            continue;
        }
        size_t width = problem->tree[tree].width;
        memcpy(v, momentum, width * sizeof(double));
        mass_dense_solve(&judge->mass, tree, v);
        for (size_t k = 0; k < width; k++) {
            v[k] += v_free[k];
        }
    }
}

// of islands from `island` on, which are measured into `measure`
static CertificateMeasure measure_of(const Judge *judge, uint32_t share, uint32_t island,
                                     IslandMeasure *measure) {
    return (CertificateMeasure){.problem = judge->problem,
                                .mass = &judge->mass,
                                .scale = &judge->scale,
                                .answer = &judge->result->answer,
                                .scratch = scratch_of(judge, share),
                                .island_begin = island,
                                .island = measure,
                                .residual = judge->result->residual};
}

static void measure_range(CertificateMeasure *measure, const IslandRange *range) {
    certificate_measure_contacts(measure, range->contact_begin, range->contact_end);
    certificate_measure_rows(measure, range->row_begin, range->row_end);
    certificate_measure_trees(measure, range->tree_begin, range->tree_end);
}

// The impulses of an island, from one array to another.
static void copy_impulses(const Judge *judge, uint32_t island, const double *contact_from,
                          const double *row_from, double *contact_to, double *row_to) {
    const Islands *islands = &judge->islands;
    IslandRange range = islands_range(islands, island, island + 1);
    for (uint32_t i = range.contact_begin; i < range.contact_end; i++) {
        size_t at = 3 * (size_t)islands->contact[i];
        memcpy(contact_to + at, contact_from + at, 3 * sizeof(double));
    }
    for (uint32_t i = range.row_begin; i < range.row_end; i++) {
        row_to[islands->row[i]] = row_from[islands->row[i]];
    }
}

static void clear_impulses(const Judge *judge, uint32_t island) {
    const Islands *islands = &judge->islands;
    const Answer *answer = &judge->result->answer;
    IslandRange range = islands_range(islands, island, island + 1);
    for (uint32_t i = range.contact_begin; i < range.contact_end; i++) {
        memset(answer->contact_impulse + 3 * (size_t)islands->contact[i], 0, 3 * sizeof(double));
    }
    for (uint32_t i = range.row_begin; i < range.row_end; i++) {
        answer->row_impulse[islands->row[i]] = 0.0;
    }
}

// What comes of an island that has been measured.
static void pass_verdict(const Judge *judge, uint32_t i) {
    ASSERT(i < judge->islands.count);
    JudgeIsland *island = &judge->island[i];
    double v_scale = judge->scale.v_scale[i];
    double own = certificate_measure_own(&judge->measure[i], v_scale);
    island->is_met = certificate_measure_is_met(&judge->measure[i], v_scale, judge->tolerance);
    island->is_kept = !(own < island->best) && island->best < HUGE_VAL;
    island->best = own < island->best ? own : island->best;
}

void judge_measure(const Judge *judge, uint32_t share, uint32_t begin, uint32_t end) {
    ASSERT(share < judge->islands.share_count);
    ASSERT(end <= judge->islands.count);
    ASSERT(begin < end);
    IslandRange range = islands_range(&judge->islands, begin, end);
    make_momentum(judge, &range);
    make_velocities(judge, range.tree_begin, range.tree_end);
    for (uint32_t i = begin; i < end; i++) {
        judge->measure[i] = certificate_measure_none();
    }
    CertificateMeasure measure = measure_of(judge, share, begin, &judge->measure[begin]);
    measure_range(&measure, &range);
}

void judge_islands(const Judge *judge, uint32_t share, uint32_t begin, uint32_t end) {
    judge_measure(judge, share, begin, end);
    for (uint32_t i = begin; i < end; i++) {
        pass_verdict(judge, i);
    }
}

static void make_piece_velocities(void *work, uint32_t share) {
    const Judge *judge = work;
    const IslandRange *range = &judge->islands.share[share].range;
    make_velocities(judge, range->tree_begin, range->tree_end);
}

static void measure_piece(void *work, uint32_t share) {
    const Judge *judge = work;
    const IslandShare *of = &judge->islands.share[share];
    judge->piece[share] = certificate_measure_none();
    CertificateMeasure measure = measure_of(judge, share, of->island_begin, &judge->piece[share]);
    measure_range(&measure, &of->range);
}

Status judge_measure_large(Judge *judge, uint32_t share) {
    ASSERT(share < judge->islands.share_count);
    const IslandShare *of = &judge->islands.share[share];
    ASSERT(of->is_piece);
    uint32_t i = of->island_begin, end = share + judge_pieces(judge, share);
    IslandRange range = islands_range(&judge->islands, i, i + 1);
    make_momentum(judge, &range);
    Status status = judge_shares(judge, make_piece_velocities, judge, share, end);
    status = STATUS_THEN(status, judge_shares(judge, measure_piece, judge, share, end));
    if (status != STATUS_OK) {
        return status;
    }
    judge->measure[i] = certificate_measure_none();
    for (uint32_t k = share; k < end; k++) {
        certificate_measure_add(&judge->measure[i], &judge->piece[k]);
    }
    return STATUS_OK;
}

Status judge_large(Judge *judge, uint32_t share) {
    Status status = judge_measure_large(judge, share);
    if (status == STATUS_OK) {
        pass_verdict(judge, judge->islands.share[share].island_begin);
    }
    return status;
}

Status judge_island(Judge *judge, uint32_t share, uint32_t island) {
    ASSERT(share < judge->islands.share_count);
    ASSERT(island < judge->islands.count);
    if (judge->islands.share[share].is_piece) {
        return judge_large(judge, share);
    }
    judge_islands(judge, share, island, island + 1);
    return STATUS_OK;
}

double judge_own(const Judge *judge, uint32_t i) {
    ASSERT(i < judge->islands.count);
    const JudgeIsland *island = &judge->island[i];
    double now = certificate_measure_own(&judge->measure[i], judge->scale.v_scale[i]);
    bool was_better = !island->is_met && island->best < HUGE_VAL && !(now < island->best);
    return was_better ? island->best : now;
}

void judge_go_on(const Judge *judge, uint32_t island) {
    ASSERT(island < judge->islands.count);
    JudgeIsland *of = &judge->island[island];
    ASSERT(!of->is_met);
    if (!of->is_kept) {
        const Answer *answer = &judge->result->answer;
        copy_impulses(judge, island, answer->contact_impulse, answer->row_impulse,
                      judge->kept_contact, judge->kept_row);
    }
}

void judge_look_back(const Judge *judge, uint32_t island) {
    ASSERT(island < judge->islands.count);
    judge->island[island].was_far = judge->island[island].best > OWN_FAR;
}

void judge_forget(const Judge *judge, uint32_t island) {
    ASSERT(island < judge->islands.count);
    judge->island[island] = (JudgeIsland){.best = HUGE_VAL, .reason = judge->island[island].reason};
}

void judge_start_again(const Judge *judge, uint32_t island) {
    ASSERT(island < judge->islands.count);
    judge_go_on(judge, island);
    const ContactProblem *problem = judge->problem;
    const Answer *answer = &judge->result->answer;
    IslandRange range = islands_range(&judge->islands, island, island + 1);
    const double *contact = judge->is_warm ? problem->warm_contact : NULL;
    const double *row = judge->is_warm ? problem->warm_row : NULL;
    for (uint32_t i = range.contact_begin; i < range.contact_end; i++) {
        size_t at = 3 * (size_t)judge->islands.contact[i];
        load_start(contact == NULL ? NULL : contact + at, 3, answer->contact_impulse + at);
    }
    for (uint32_t i = range.row_begin; i < range.row_end; i++) {
        uint32_t at = judge->islands.row[i];
        load_start(row == NULL ? NULL : row + at, 1, answer->row_impulse + at);
    }
}

// ---- end

static Status judge_any(Judge *judge, uint32_t share, uint32_t island) {
    if (judge->islands.share[share].is_piece) {
        return judge_large(judge, share);
    }
    judge_islands(judge, share, island, island + 1);
    return STATUS_OK;
}

// An island whose answer is further from what is asked than all that is asked is offered none: the
// impulses that it started from, or ran to, may be larger than anything they are for.
static Status offer_none(Judge *judge, uint32_t share, uint32_t i) {
    const Answer *answer = &judge->result->answer;
    const double v_scale = judge->scale.v_scale[i],
                 own = certificate_measure_own(&judge->measure[i], v_scale);
    const double far = judge->island[i].was_far ? 0.0 : OWN_FAR;
    if (judge->island[i].is_met || !(own > far && own < HUGE_VAL)) {
        return STATUS_OK; // what is no number is told as that
    }
    copy_impulses(judge, i, answer->contact_impulse, answer->row_impulse, judge->kept_contact,
                  judge->kept_row);
    clear_impulses(judge, i);
    Status status = judge_any(judge, share, i);
    if (status == STATUS_OK && !(certificate_measure_own(&judge->measure[i], v_scale) < own)) {
        copy_impulses(judge, i, judge->kept_contact, judge->kept_row, answer->contact_impulse,
                      answer->row_impulse);
        status = judge_any(judge, share, i);
    }
    return status;
}

// Islands of a share that were better before are what they were, and what nobody came to is judged.
static Status take_best(Judge *judge, uint32_t share) {
    const IslandShare *of = &judge->islands.share[share];
    const Answer *answer = &judge->result->answer;
    Status status = STATUS_OK;
    for (uint32_t i = of->island_begin; i < of->island_end && status == STATUS_OK; i++) {
        const JudgeIsland *island = &judge->island[i];
        if (!island->is_met && island->is_kept) {
            copy_impulses(judge, i, judge->kept_contact, judge->kept_row, answer->contact_impulse,
                          answer->row_impulse);
            status = judge_any(judge, share, i);
        } else if (judge->is_late && island->best == HUGE_VAL) {
            status = judge_any(judge, share, i);
        }
        status = STATUS_THEN(status, offer_none(judge, share, i));
    }
    return status;
}

// contacts and rows that move nothing because they have no tree
static void leave_idle(const Judge *judge) {
    const ContactProblem *problem = judge->problem;
    const Islands *islands = &judge->islands;
    const Answer *answer = &judge->result->answer;
    for (uint32_t i = islands->contact_first[islands->count]; i < problem->contact_count; i++) {
        memset(answer->contact_impulse + 3 * (size_t)islands->contact[i], 0, 3 * sizeof(double));
        judge->result->residual[islands->contact[i]] = 0.0;
    }
    for (uint32_t i = islands->row_first[islands->count]; i < problem->row_count; i++) {
        answer->row_impulse[islands->row[i]] = 0.0;
    }
}

Status judge_end(Judge *judge) {
    ASSERT(judge->measure != NULL || judge->islands.count == 0);
    uint32_t share = 0;
    Status status = STATUS_OK;
    while (share < judge->islands.share_count && status == STATUS_OK) {
        status = take_best(judge, share);
        share += judge_pieces(judge, share);
    }
    leave_idle(judge);
    Certificate *certificate = &judge->result->certificate;
    *certificate =
        certificate_of_islands(judge->problem, &judge->scale, judge->measure, judge->tolerance);
    OpenIsland *open = &certificate->worst_open;
    if (open->tree >= 0 && open->reason != END_NOT_FINITE) {
        open->reason = judge->is_late ? judge->late : judge->island[open->island].reason;
    }
    return status;
}
