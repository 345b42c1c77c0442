// SPDX-License-Identifier: MIT
#include "solve/launch.h"

#include "base/assert.h"

#include <math.h>

Launch launch_of(const ContactProblem *problem, const Answer *answer) {
    ASSERT(answer->contact == NULL || problem->contact_count == 0 ||
           answer->contact_impulse != NULL);
    Launch launch = {.contact = -1};
    if (answer->contact == NULL || answer->relation != RELATION_CONE) {
        return launch;
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        const ContactRelation *relation = &answer->contact[i];
        const ProblemContact *contact = &problem->contact[i];
        const double *gamma = answer->contact_impulse + 3 * (size_t)i;
        if (relation->s >= 1.0 || contact->mu == 0.0 || !(gamma[0] > 0.0)) {
            continue;
        }
        double u[3], r_t = relation->tangent_compliance;
        problem_contact_velocity(problem, i, answer->v, u);
        double t = u[1] + r_t * gamma[1], o = u[2] + r_t * gamma[2];
        double speed = (1.0 - relation->s) * contact->mu * sqrt(t * t + o * o);
        double height = contact->gap + problem->time_step * u[0];
        if (speed > launch.speed) {
            launch.speed = speed;
            launch.contact = i;
        }
        launch.height = speed > 0.0 && height > launch.height ? height : launch.height;
    }
    return launch;
}
