// SPDX-License-Identifier: MIT
// The friction program's parts: what becomes of a constraint in it, and where its numbers begin.
#include "solve/compliant/program_parts.h"

#include "base/assert.h"

#include <string.h>

static bool is_one_sided(const CompliantLaw *law) {
    return (law->low == 0.0 && !isfinite(law->high)) || (law->high == 0.0 && !isfinite(law->low));
}

PartKind program_part_kind(const NewtonConstraint *c, const CompliantLaw *law) {
    ASSERT(c->rows == compliant_law_size(law));
    if (c->w == 0.0 || compliant_law_is_far(law)) {
        return PART_NONE;
    }
    if (!law->is_row) {
        return PART_CONTACT;
    }
    if (!isfinite(law->low) && !isfinite(law->high)) {
        return PART_BILATERAL;
    }
    return is_one_sided(law) ? PART_LIMIT : law->low == law->high ? PART_FIXED : PART_BOUNDED;
}

ProgramPart program_part(const CompliantProgram *p, const NewtonConstraint *c,
                         const CompliantLaw *law) {
    ASSERT(c->rows == 1 || c->rows == NEWTON_ROWS_MAX);
    ProgramPart part = {
        .kind = program_part_kind(c, law), .count = c->rows, .sign = 1.0, .mu = law->mu};
    double own = p->weight * p->tangent * p->tangent;
    for (uint32_t r = 0; r < c->rows; r++) {
        part.target[r] = law->target[r];
        part.r[r] = compliant_law_r(law, r);
        part.own[r] = r == 0 ? p->zeta * own : own;
    }
    part.weight = part.kind == PART_CONTACT ? p->weight : 0.0;
    part.low = law->low;
    part.high = law->high;
    if (part.kind == PART_LIMIT && law->low != 0.0) {
        part.sign = -1.0;
        part.target[0] = -law->target[0];
    }
    if (part.kind == PART_BOUNDED) {
        double share = p->tangent / part.r[0];
        part.own[0] = own;
        part.weight = p->weight * share * share;
    }
    return part;
}

void program_product(const CompliantProgram *p, uint32_t i, const double *v, double *u) {
    VALIDATE(i < p->island->constraint_count);
    newton_product(p->island, &p->island->constraint[i], v, u);
    for (uint32_t r = 0; r < p->part[i].count; r++) {
        u[r] *= p->part[i].sign;
    }
}

void program_momentum(const CompliantProgram *p, uint32_t i, const double *of, double *to) {
    VALIDATE(i < p->island->constraint_count);
    const ProgramPart *part = &p->part[i];
    const double signed_of[3] = {part->sign * of[0], part->count > 1 ? of[1] : 0.0,
                                 part->count > 1 ? of[2] : 0.0};
    newton_momentum(p->island, &p->island->constraint[i], signed_of, to);
}

double program_size(const CompliantProgram *p, uint32_t i) {
    VALIDATE(i < p->island->constraint_count);
    return p->island->v_scale / (p->island->constraint[i].w + p->part[i].r[0]);
}

void program_begin_part(CompliantProgram *p, uint32_t i) {
    ASSERT(i < p->island->constraint_count);
    ProgramPart *part = &p->part[i];
    double size = program_size(p, i), v = p->island->v_scale, w = p->island->constraint[i].w;
    memset(part->gamma, 0, sizeof(part->gamma));
    memset(part->z, 0, sizeof(part->z));
    part->eta = part->p = 1.0;
    switch (part->kind) {
    case PART_CONTACT:
        part->z[0] = p->weight * v * w * (1.0 + part->mu);
        part->gamma[0] = size;
        break;
    case PART_LIMIT:
        part->z[0] = p->weight * v * w;
        part->gamma[0] = size;
        break;
    case PART_BOUNDED: {
        bool has_low = isfinite(part->low), has_high = isfinite(part->high);
        double middle = has_low && has_high ? 0.5 * (part->low + part->high)
                        : has_low           ? part->low + size
                                            : part->high - size;
        part->gamma[0] = middle;
        part->z[0] = has_low ? p->weight * v * w : 0.0;
        part->z_high = has_high ? p->weight * v * w : 0.0;
        break;
    }
    case PART_FIXED:
        part->gamma[0] = part->low;
        break;
    default:
        break;
    }
    if (part->kind == PART_CONTACT || part->kind == PART_LIMIT) {
        part->eta = p->weight * v;
        part->p = v;
    }
}
