// SPDX-License-Identifier: MIT
#include "cli/protocol/certificate.h"

#include "cli/text/fold.h"
#include "moreau.pb-c.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
    const char *entry, *key, *name, *meaning;
} entries[] = {
    {"e_mom", "e_mom", "e_mom", "momentum balance"},
    {"e_pen", "e_pen", "e_pen", "approach beyond what is allowed"},
    {"e_comp", "e_comp", "e_comp", "impulse where nothing touches"},
    {"e_cone", "e_cone", "e_cone", "impulse outside its friction cone"},
    {"e_mdp", "e_mdp", "e_mdp", "friction that does not oppose slip"},
    {"e_ds", "e_DS", "e_DS", "distance from exact Coulomb"},
    {"e_own", "e_own", "e_own", "residual of the solver's own model"},
    {"e_row", "e_row", "e_row", "joints, limits and motors"},
    {"penetration", "penetration", "overlap", "deepest overlap [m]"},
};

const char *certificate_meaning(const char *entry) {
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        if (strcmp(entries[i].entry, entry) == 0) {
            return entries[i].meaning;
        }
    }
    return "";
}

const char *certificate_key(const char *entry) {
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        if (strcmp(entries[i].entry, entry) == 0) {
            return entries[i].key;
        }
    }
    return entry;
}

const char *certificate_name(const char *entry) {
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        if (strcmp(entries[i].entry, entry) == 0) {
            return entries[i].name;
        }
    }
    return entry;
}

static const char *const rung_meanings[] = {
    [MOREAU__V1__RUNG__KIND__NONE] = "nothing to solve",
    [MOREAU__V1__RUNG__KIND__BASIS] = "the basis of the solve before solves it",
    [MOREAU__V1__RUNG__KIND__LEMKE] = "Lemke's algorithm",
    [MOREAU__V1__RUNG__KIND__COVER] = "Lemke's algorithm, another covering vector",
    [MOREAU__V1__RUNG__KIND__TIES] = "Lemke's algorithm, wider ties",
    [MOREAU__V1__RUNG__KIND__DIAGONAL] = "Lemke's algorithm, proximal points",
    [MOREAU__V1__RUNG__KIND__UNSOLVED_RAY] = "a ray: there may be no solution",
    [MOREAU__V1__RUNG__KIND__UNSOLVED_PIVOTS] = "the pivots ended: --param max_iterations",
    [MOREAU__V1__RUNG__KIND__UNSOLVED_RESIDUAL] = "what was found does not pass the check",
};

const char *certificate_rung(int rung) {
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(&moreau__v1__rung__kind__descriptor, rung);
    return value == NULL ? "" : value->name;
}

const char *certificate_rung_meaning(int rung) {
    bool is_known = rung >= 0 && (size_t)rung < sizeof(rung_meanings) / sizeof(rung_meanings[0]);
    return is_known ? rung_meanings[rung] : "";
}

static const char *const reason_meanings[] = {
    [MOREAU__V1__CERTIFICATE__REASON__CONVERGED] = "converged",
    [MOREAU__V1__CERTIFICATE__REASON__ITERATIONS_ENDED] = "its iterations ended",
    [MOREAU__V1__CERTIFICATE__REASON__BUDGET_ENDED] = "the budget of operations is too small",
    [MOREAU__V1__CERTIFICATE__REASON__STALLED] = "the method found no way on",
    [MOREAU__V1__CERTIFICATE__REASON__DIVERGED] = "its impulses ran away",
    [MOREAU__V1__CERTIFICATE__REASON__TIME_LIMIT] = "its deadline passed",
    [MOREAU__V1__CERTIFICATE__REASON__NOT_FINITE] = "its numbers are not finite",
    [MOREAU__V1__CERTIFICATE__REASON__WORK_TIMEOUT] = "the server's limit of time, its last resort",
};

const char *certificate_reason(int reason) {
    const ProtobufCEnumValue *value =
        protobuf_c_enum_descriptor_get_value(&moreau__v1__certificate__reason__descriptor, reason);
    return value == NULL ? "" : value->name;
}

const char *certificate_reason_meaning(int reason) {
    bool is_known =
        reason >= 0 && (size_t)reason < sizeof(reason_meanings) / sizeof(reason_meanings[0]);
    return is_known ? reason_meanings[reason] : "";
}

Table certificate_table(const TableColumn *head, size_t count) {
    Table table = table_fit(head, count, 2, 0);
    fold_printf("\n");
    if (table.width[1] == 0) {
        fold_printf("  %s%s%s\n", terminal_style(stdout, STYLE_DIM), CERTIFICATE_TITLE,
                    terminal_style(stdout, STYLE_PLAIN));
    }
    table_print_head(&table, NULL);
    return table;
}

void certificate_cells(Table *table, const char *entry) {
    table_cell(table, 0, STYLE_PLAIN, certificate_name(entry));
    table_cell(table, 1, STYLE_PLAIN, certificate_meaning(entry));
}
