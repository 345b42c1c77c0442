// SPDX-License-Identifier: MIT
// One measure for all solvers: how good an answer to a contact problem is, computed by the same
// code from the velocities and impulses that are actually returned. README, "The certificate", says
// what each number means.
//
// Everything is measured per island (trees joined by contacts and rows) against the island's
// velocity scale V, and reported as the largest over islands.
#pragma once

#include "base/arena.h"
#include "solve/mass.h"
#include "solve/problem.h"

// The relation that a solver claims to have met.
typedef enum RelationKind {
    RELATION_CONE, // (*)  K in gamma _|_ u - shift e_n + R gamma + s mu |u_t + R_t gamma_t| e_n in
                   // K^*
    RELATION_DISSIPATION, // (D)  maximum dissipation
    RELATION_POLYHEDRAL,  // (P)  polyhedral cone of `directions` directions
    RELATION_LAGGED,      // (L)  friction bounded by a lagged normal impulse
    RELATION_PROGRAM      // (Q)  the optimality conditions of the solver's own quadratic program
} RelationKind;

// What a solver meant a contact to obey; zeros are a rigid contact.
typedef struct ContactRelation {
    double bias;                // [m/s]
    double normal_compliance;   // R_n [1/kg]
    double tangent_compliance;  // R_t [1/kg]
    double shift;               // [m/s]
    double s;                   // De Saxce term: 1 exact Coulomb, 0 convex relaxation
    double bound;               // (L): largest tangential impulse [N s]
    double program_gradient[3]; // (Q): grad f - A^T eta of x = gamma/h
    double program_curvature;   // (Q): largest diagonal entry of the contact's block of grad^2 f
    double program_multiplier;  // (Q): eta of the contact's row A x >= q
    double program_slack;       // (Q): (A x - q) of that row
} ContactRelation;

typedef struct RowRelation {
    double bias;       // [m/s]
    double compliance; // R [1/kg]
    double low, high;  // [N s]
} RowRelation;

// A solver's answer, judged by the certificate. All arrays are borrowed from the caller's arena.
typedef struct Answer {
    RelationKind relation;
    uint32_t directions;      // (P)
    double *v;                // [velocity_count]
    double *momentum;         // [velocity_count] J^T gamma + G^T r, by certificate_momentum
    double *contact_impulse;  // [3 contact_count]
    double *row_impulse;      // [row_count]
    ContactRelation *contact; // [contact_count]; NULL: all rigid, with the biases of the problem
    RowRelation *row;         // [row_count]
} Answer;

enum { CERTIFICATE_ENTRY_COUNT = 8 };

// The eight numbers, in the order of the report.
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

typedef struct Certificate {
    double entry[CERTIFICATE_ENTRY_COUNT];    // divided by V where the entry is
    double velocity[CERTIFICATE_ENTRY_COUNT]; // [m/s] without the division; 0 for e_mom and e_cone
    double scale;                             // V [m/s], the largest over islands
    double penetration;                       // [m] deepest overlap, >= 0
    int64_t worst_contact; // with the largest own residual over its V; -1: no contact
    double tolerance;
    bool converged; // e_mom <= 1e-10 and e_cone <= 1e-12 and e_own <= tolerance
} Certificate;

// The bias that an answer declares for a contact.
static inline double certificate_bias(const ContactProblem *problem, const Answer *answer,
                                      uint32_t contact) {
    return answer->contact == NULL ? problem->contact[contact].bias : answer->contact[contact].bias;
}

// The certificate of a problem that has neither contacts nor rows, when its answer is its free
// velocities: what the measure would find.
Certificate certificate_of_nothing(const ContactProblem *problem, double tolerance);

// Islands and their scales, made once per solve: solvers use V for their own stopping tests. The
// scale depends on the bias that the solver declares, so relations must be filled first.
typedef struct CertificateScale {
    uint32_t *island_of_tree; // [tree_count]
    uint32_t island_count;
    double *v_scale; // [island_count] V [m/s]
} CertificateScale;

// begin, every contact once, end: only then is anything of the scale set. Contacts come in ranges
// [begin, end), so that other measures may be taken of each range while it is at hand.
Status certificate_scale_begin(const ContactProblem *problem, Arena *arena, CertificateScale *scale,
                               Error *error);
void certificate_scale_add(const ContactProblem *problem, const Answer *answer, uint32_t begin,
                           uint32_t end, CertificateScale *scale);
void certificate_scale_end(const ContactProblem *problem, const Answer *answer,
                           CertificateScale *scale);

// The island of a contact or row (by its first tree).
uint32_t certificate_island_of_contact(const ContactProblem *problem, const CertificateScale *scale,
                                       uint32_t contact);
uint32_t certificate_island_of_row(const ContactProblem *problem, const CertificateScale *scale,
                                   uint32_t row);

// Makes the momentum of an answer from its impulses, for the measure to set its velocities against;
// a solver may make the velocities of it. Begin, then every contact once and in order, then rows.
void certificate_momentum_begin(const ContactProblem *problem, Answer *answer);
void certificate_momentum_add(const ContactProblem *problem, uint32_t begin, uint32_t end,
                              Answer *answer);
void certificate_momentum_end(const ContactProblem *problem, Answer *answer);

// The measure, once the momentum is made. Not finite answers give not finite entries and converged
// = false. `residual` is Nullable: [contact_count], the own residual of each contact over V.
Status certificate_measure(const ContactProblem *problem, const ProblemMass *mass,
                           const CertificateScale *scale, const Answer *answer, double tolerance,
                           Arena *arena, double *residual, Certificate *certificate, Error *error);
