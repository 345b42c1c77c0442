// SPDX-License-Identifier: MIT
// One measure for all solvers: how good an answer to a contact problem is, computed by the same
// code from the velocities and impulses that are actually returned. "The certificate" in
// README.md beside this file says what each number means.
//
// Everything is measured per island (trees joined by contacts and rows) against the island's
// velocity scale V, and reported as the largest over islands. judge.h has all of it made in the
// right order; here are its parts, of contacts, rows and trees at places of the lists of islands,
// so that an island can be measured alone and a large one in pieces.
#pragma once

#include "base/arena.h"
#include "solve/answer.h"
#include "solve/island.h"
#include "solve/mass.h"
#include "solve/problem.h"

enum { CERTIFICATE_ENTRY_COUNT = 8 };

// The eight numbers, in the order of the report.
//
// e_mom tells whether velocities belong to the impulses: both of its sides are made from one sum
// J^T gamma in doubles, and what that sum itself has lost it does not show. That is 2^-53 of the
// sizes of all summands together. It counts where impulses are far larger than what they move, as
// of a contact that is wedged in a hinge: with summands of 1e6 times the largest |J_i^T gamma_i|,
// the truth may be 1e-10 where e_mom has 1e-15. Impulses that run on from there show in e_own,
// whose natural maps stop trusting w gamma at 1e8 V.
#define CERTIFICATE_MAP(X)                                                                         \
    X(MOM, e_mom)                                                                                  \
    X(PEN, e_pen)                                                                                  \
    X(COMP, e_comp)                                                                                \
    X(CONE, e_cone)                                                                                \
    X(MDP, e_mdp)                                                                                  \
    X(DS, e_ds)                                                                                    \
    X(OWN, e_own)                                                                                  \
    X(ROW, e_row)

#define X(upper, lower) CERTIFICATE_##upper,
typedef enum CertificateEntry { CERTIFICATE_MAP(X) } CertificateEntry;
#undef X

// Why the work on an island ended.
typedef enum EndReason {
    END_CONVERGED,
    END_ITERATIONS, // it had as many as it may have
    END_BUDGET,     // the operations for it were spent, or too few to begin with
    END_STALLED,    // the method knows no way on
    END_DIVERGED,   // its impulses ran away; it is the best that was before
    END_TIME,       // the solve met the time limit of whoever asked for it
    END_NOT_FINITE,
    END_TIMEOUT, // the solve met the last resort of whoever runs it
    END_REASON_COUNT
} EndReason;

// The open island that is furthest from being solved.
typedef struct OpenIsland {
    uint32_t island;
    int64_t tree;    // its first; -1: no island is open
    int64_t contact; // its worst; -1: it has none that moves anything
    uint32_t contacts;
    double residual;  // its e_own
    EndReason reason; // as the judge knows it
} OpenIsland;

typedef struct Certificate {
    double entry[CERTIFICATE_ENTRY_COUNT];    // divided by V where the entry is
    double velocity[CERTIFICATE_ENTRY_COUNT]; // [m/s] without the division; 0 for e_mom and e_cone
    double scale;                             // V [m/s], the largest over islands
    double penetration;                       // [m] deepest overlap, >= 0
    int64_t worst_contact; // with the largest own residual over its V; -1: none moves anything
    double tolerance;
    bool converged; // e_mom <= 1e-10 and e_own <= tolerance and, unless friction is lagged, whose
                    // bound is another, e_cone <= 1e-12
    uint32_t islands;
    uint32_t islands_open; // that did not converge
    int64_t worst_tree;    // the first of the island with the largest e_own; -1: no tree
    OpenIsland worst_open;
} Certificate;

// The bias that an answer declares for a contact.
static inline double certificate_bias(const ContactProblem *problem, const Answer *answer,
                                      uint32_t contact) {
    return answer->contact == NULL ? problem->contact[contact].bias : answer->contact[contact].bias;
}

// The certificate of a problem that has neither contacts nor rows, when its answer is its free
// velocities: what the measure would find.
Certificate certificate_of_nothing(const ContactProblem *problem, double tolerance);

// Islands and their scales, made once per solve: solvers use V for their own stopping tests.
typedef struct CertificateScale {
    const Islands *islands; // borrowed
    double *v_scale;        // [islands->count] V [m/s]
} CertificateScale;

// V of an island is the largest of these; of contacts and rows at places [begin, end) of the lists
// of islands, not less than `most`. It depends on the bias that the solver declares, so relations
// must be filled first.
double certificate_scale_least(const ContactProblem *problem);
double certificate_scale_contacts(const ContactProblem *problem, const Islands *islands,
                                  const Answer *answer, uint32_t begin, uint32_t end, double most);
double certificate_scale_rows(const ContactProblem *problem, const Islands *islands,
                              const Answer *answer, uint32_t begin, uint32_t end, double most);

// Adds the momentum that the impulses of contacts at places [begin, end) are to their trees, one
// contact after the other.
void certificate_add_momenta(const ContactProblem *problem, const Islands *islands,
                             const Answer *answer, uint32_t begin, uint32_t end);

// What an island, or a piece of one, has come to. Maxima are of velocities, so that V divides once.
typedef struct IslandMeasure {
    double velocity[CERTIFICATE_ENTRY_COUNT]; // [m/s], the largest so far
    double cone;                              // the largest share outside the cone
    double
        cone_claimed; // of that, what the solver meant to keep: lagged friction has another bound
    // the momentum balance, in the norm of M^-1
    double residual_square; // |M (v - v*) - J^T gamma - G^T r|^2
    double change_square;   // |M (v - v*)|^2
    double free_square;     // |M v*|^2
    double impulse_square;  // the largest single |J_i^T gamma_i|^2 or |G_j^T r_j|^2
    double penetration;     // [m]
    double worst_own;       // [m/s] of the contact that is ...
    int64_t worst_contact;  // ... the worst; -1: none moves anything
} IslandMeasure;

// The measure at work on islands that follow each other, once momentum and velocities are made.
typedef struct CertificateMeasure {
    const ContactProblem *problem;
    const ProblemMass *mass;
    const CertificateScale *scale;
    const Answer *answer;
    double *scratch;       // [3 mass->width_max], of whoever measures
    uint32_t island_begin; // the first of them
    IslandMeasure *island; // of island_begin and those after it
    double *residual;      // Nullable: [contact_count] own residuals over V, 0 of what moves
                           // nothing
} CertificateMeasure;

// Before anything is measured.
IslandMeasure certificate_measure_none(void);

// Contacts, rows and trees at places [begin, end) of the lists of islands, into their islands.
void certificate_measure_contacts(CertificateMeasure *measure, uint32_t begin, uint32_t end);
void certificate_measure_rows(CertificateMeasure *measure, uint32_t begin, uint32_t end);
void certificate_measure_trees(CertificateMeasure *measure, uint32_t begin, uint32_t end);

// Adds a piece of an island to the pieces before it.
void certificate_measure_add(IslandMeasure *island, const IslandMeasure *piece);

// The own residual of an island over its V, and whether the island is converged. What is not
// finite is not.
double certificate_measure_own(const IslandMeasure *island, double v_scale);
bool certificate_measure_is_met(const IslandMeasure *island, double v_scale, double tolerance);

// The certificate of all islands together. Not finite answers give not finite entries and converged
// = false.
Certificate certificate_of_islands(const ContactProblem *problem, const CertificateScale *scale,
                                   const IslandMeasure *island, double tolerance);
