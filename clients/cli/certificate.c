// SPDX-License-Identifier: MIT
#include "cli/certificate.h"

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
