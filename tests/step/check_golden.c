// SPDX-License-Identifier: MIT
// Golden hashes: the same inputs give the same bits on every compiler, optimisation level and
// machine. This program is run from every build (gcc and clang, -O0 and -O2, with sanitizers); all
// must meet the values below.
//
// When a change of the dynamics is meant to change bits: raise DYNAMICS_VERSION
// (step/snapshot/snapshot.h), run `MOREAU_PRINT_GOLDEN=1 step-check_golden`, copy the values, write
// the fuzzers' snapshots anew (`deploy/fuzz --seeds`), and say so in CHANGELOG.md. `deploy/golden`
// runs it on more machines.
#include "step/snapshot/snapshot.h"

#include "support/heap.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct Golden {
    const char *name;
    uint64_t seed;
    int bodies, capsules, cylinders, figures, steps;
    const char *parameter; // of the solver
    double value;
    uint64_t hash;
    SolverKind solver;
} Golden;

static const Golden goldens[] = {
    {"a heap of 12, settling", 11, 12, 0, 0, 0, 300, "friction", 0.0, 0x99aad0cf9f3b02a5u,
     SOLVER_MDP},
    {"a heap of 60, falling", 12, 60, 0, 0, 0, 150, "friction", 0.0, 0x3d2d99efa0f877dau,
     SOLVER_MDP},
    {"a heap of 12, Coulomb", 13, 12, 0, 0, 0, 300, "friction", 1.0, 0xeedc08ca23802828u,
     SOLVER_MDP},
    {"a heap of 60, Coulomb", 12, 60, 0, 0, 0, 150, "friction", 1.0, 0x6f10c57799da54a2u,
     SOLVER_MDP},
    {"a heap of 12, by sweeps", 13, 12, 0, 0, 0, 300, "method", 0.0, 0x173aa316485b4330u,
     SOLVER_MDP},
    {"a heap of 12, by Newton", 13, 12, 0, 0, 0, 300, "method", 1.0, 0x5d1deec2d4af6028u,
     SOLVER_MDP},
    {"a heap of 12, small budget", 13, 12, 0, 0, 0, 300, "budget", 2e6, 0xdf5c1d2df582a665u,
     SOLVER_MDP},
    {"a heap of 12, lcp", 14, 12, 0, 0, 0, 200, "directions", 8.0, 0x14d0d0ec28c2f32au, SOLVER_LCP},
    {"a heap of 12, ccp", 17, 12, 0, 0, 0, 300, "compliance", 0.0, 0xa42fa95ed76d41d4u, SOLVER_CCP},
    {"a heap of 12, ccp, exact", 17, 12, 0, 0, 0, 100, "coulomb", 1.0, 0x9d939e2f7e35787eu,
     SOLVER_CCP},
    {"a heap of 12, sap", 15, 12, 0, 0, 0, 300, "friction", 0.0, 0x180b49ac67c1e34du, SOLVER_SAP},
    {"a heap of 12, sap as in the paper", 15, 12, 0, 0, 0, 150, "method", 1.0, 0x4762dbb55c0db525u,
     SOLVER_SAP},
    {"a heap of 12, sap, lagged", 16, 12, 0, 0, 0, 300, "friction", 1.0, 0x66e53764e0997029u,
     SOLVER_SAP},
    {"a heap of 12, compliant", 17, 12, 0, 0, 0, 300, "activation", 0.0, 0x68d4a3895cd39076u,
     SOLVER_COMPLIANT},
    {"a heap of 60, compliant", 12, 60, 0, 0, 0, 100, "tangential_damping", 1e4,
     0xafc24296186b2f08u, SOLVER_COMPLIANT},
    {"capsules among a heap", 18, 12, 12, 0, 0, 300, "friction", 1.0, 0xf1b8fac41ae10df1u,
     SOLVER_MDP},
    {"capsules among a heap, lcp", 18, 6, 6, 0, 0, 150, "directions", 8.0, 0x18d060b6e6aaa63eu,
     SOLVER_LCP},
    {"cylinders among a heap", 18, 12, 0, 12, 0, 300, "friction", 1.0, 0x2aabe306631d1d67u,
     SOLVER_MDP},
    {"cylinders among a heap, ccp", 18, 6, 3, 6, 0, 150, "compliance", 0.0, 0x3e6cee9ee8d48359u,
     SOLVER_CCP},
    {"figures on a heap", 19, 6, 0, 0, 2, 200, "friction", 1.0, 0x618dddc28dc1a082u, SOLVER_MDP},
    {"figures on a heap, lcp", 19, 3, 0, 0, 1, 100, "directions", 4.0, 0x9214e7d6d2b8c472u,
     SOLVER_LCP},
    {"figures on a heap, ccp", 19, 6, 0, 0, 2, 100, "compliance", 0.0, 0xdd6559efd19cd85eu,
     SOLVER_CCP},
    {"figures on a heap, sap", 19, 6, 0, 0, 2, 200, "friction", 0.0, 0x7355a8b201057bc7u,
     SOLVER_SAP},
    {"figures on a heap, compliant", 19, 6, 0, 0, 2, 100, "activation", 0.0, 0x7154f1ca099e74d6u,
     SOLVER_COMPLIANT},
};

// Figures that fall onto a heap, by each integrator, which has stages of its own as long as nothing
// pushes.
static const uint64_t golden_integrators[INTEGRATOR_COUNT] = {
    [INTEGRATOR_SYMPLECTIC] = 0x22e9bca0c575cb81u, [INTEGRATOR_EXPLICIT] = 0xae75599a617fb612u,
    [INTEGRATOR_IMPLICIT] = 0x33ea5c9b45857d07u,   [INTEGRATOR_MIDPOINT] = 0x65aacd6225783dfeu,
    [INTEGRATOR_RK4] = 0x3a286982f8e23400u,        [INTEGRATOR_VERLET] = 0xe4be5fc2aeb1d745u,
};

// Above the heap, one over the other.
static void add_long(Lab *lab, PrimitiveKind kind, int count) {
    if (count == 0) {
        return;
    }
    Id material = lab_material(lab, 0.4, 0.1);
    Id shape = lab_shape(lab, kind, vec3(0.1, 0.2, 0.0), material);
    uint64_t seed = 5;
    for (int i = 0; i < count; i++) {
        double draw[6]; // one after the other: arguments and initialisers are in no order
        for (int k = 0; k < 6; k++) {
            draw[k] = lab_random(&seed, -1.0, 1.0);
        }
        Quat turn = quat_normalize((Quat){draw[0], draw[1], draw[2], draw[3]});
        Vec3 place = vec3(0.2 * draw[4], 0.2 * draw[5], 1.5 + 0.3 * i);
        lab_body(lab, shape, BODY_DYNAMIC, (Pose){place, turn}, NULL, 5.0, NULL);
    }
}

// Between the two bodies that were added last, ends 0.2 m from their middles, along x. All numbers
// are per free axis, alike.
static void join_last(Lab *lab, JointKind kind, bool is_rows) {
    const uint32_t as_rows = is_rows, of = (uint32_t)kind, b = lab->world->body_count - 1;
    const uint32_t axes = joint_axis_count(joint_kind_axes(kind));
    const Id ids[2] = {lab->world->body_id[b - 1], lab->world->body_id[b]};
    const double frame_a[7] = {0.2, 0.0, 0.0, 1.0}, frame_b[7] = {-0.2, 0.0, 0.0, 1.0};
    double number[8][6];
    static const double each[8] = {-0.4, 0.5, 3.0, 0.2, 0.05, 0.01, 20.0, 4.0};
    for (int k = 0; k < 48; k++) {
        number[k / 6][k % 6] = each[k / 6];
    }
    const JointColumns columns = {.count = 1,
                                  .axis_count = axes,
                                  .position_count = joint_position_count(joint_kind_axes(kind)),
                                  .kind = &of,
                                  .as_rows = &as_rows,
                                  .body_a = &ids[0],
                                  .body_b = &ids[1],
                                  .frame_a = frame_a,
                                  .frame_b = frame_b,
                                  .low = number[0],
                                  .high = number[1],
                                  .stiffness = number[2],
                                  .damping = number[3],
                                  .friction = number[4],
                                  .armature = is_rows ? NULL : number[5],
                                  .drive_stiffness = number[6],
                                  .effort_max = number[7],
                                  .target = number[3]};
    lab_joints(lab, &columns);
}

// Limbs in a line, each joined to the one before in another way, that fall onto the heap: the first
// figure has so many that its tree stands as links, the others stand as matrices.
static void add_figures(Lab *lab, int count) {
    static const struct {
        JointKind kind;
        bool is_rows;
    } ways[] = {{JOINT_BALL, true},   {JOINT_HINGE, true},     {JOINT_BALL, false},
                {JOINT_HINGE, false}, {JOINT_SLIDER, false},   {JOINT_UNIVERSAL, false},
                {JOINT_BALL, false},  {JOINT_BALL, false},     {JOINT_HINGE, false},
                {JOINT_BALL, false},  {JOINT_UNIVERSAL, false}};
    enum { WAYS = sizeof(ways) / sizeof(ways[0]), WAYS_OF_OTHERS = 5 };
    for (int i = 0; i < count; i++) {
        Id shape =
            lab_shape(lab, PRIMITIVE_CAPSULE, vec3(0.06, 0.1, 0.0), lab_material(lab, 0.6, 0.0));
        for (int limb = 0; limb <= (i == 0 ? WAYS : WAYS_OF_OTHERS); limb++) {
            Vec3 place = vec3(0.4 * limb - 1.2, 0.1 * i, 1.2 + 0.5 * i);
            lab_body(lab, shape, BODY_DYNAMIC, (Pose){place, quat_identity()}, NULL, 2.0, NULL);
            if (limb > 0) {
                join_last(lab, ways[limb - 1].kind, ways[limb - 1].is_rows);
            }
        }
    }
}

static void judge_hash(const char *name, uint64_t hash, uint64_t golden) {
    if (getenv("MOREAU_PRINT_GOLDEN") != NULL) {
        printf("%s: 0x%016" PRIx64 "u\n", name, hash);
    } else {
        ck_assert_msg(hash == golden, "%s gives 0x%016" PRIx64 ", golden is 0x%016" PRIx64, name,
                      hash, golden);
    }
}

START_TEST(the_same_inputs_give_the_golden_bits) {
    const Golden *golden = &goldens[_i];
    Lab lab = heap_create(golden->seed, golden->bodies);
    add_long(&lab, PRIMITIVE_CAPSULE, golden->capsules);
    add_long(&lab, PRIMITIVE_CYLINDER, golden->cylinders);
    add_figures(&lab, golden->figures);
    const SolverSettings solver = solver_default(golden->solver);
    step_set_solver(&lab.world->settings, &solver);
    lab_set(&lab, golden->parameter, golden->value);
    lab_step(&lab, golden->steps);
    judge_hash(golden->name, snapshot_hash(lab.world), golden->hash);
    lab_destroy(&lab);
}
END_TEST

START_TEST(integrators_give_the_golden_bits) {
    char name[32];
    Lab lab = heap_create(20, 4);
    add_figures(&lab, 2);
    lab.world->settings.integrator = (uint8_t)_i;
    lab_step(&lab, 120);
    snprintf(name, sizeof(name), "integrator %d", _i);
    judge_hash(name, snapshot_hash(lab.world), golden_integrators[_i]);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_golden(void) {
    TCase *tcase = tcase_create("golden");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, the_same_inputs_give_the_golden_bits, 0,
                        sizeof(goldens) / sizeof(goldens[0]));
    tcase_add_loop_test(tcase, integrators_give_the_golden_bits, 0, INTEGRATOR_COUNT);
    return tcase;
}

SUITE_MAIN("step/golden", case_golden)
