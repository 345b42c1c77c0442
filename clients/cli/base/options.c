// SPDX-License-Identifier: MIT
#include "cli/base/options.h"

#include "cli/text/fold.h"
#include "cli/text/nearest.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_COLUMN = 27 };

// What a parse carries along.
typedef struct Parsing {
    int argc;
    char **argv;
    int at; // next argument
    char *message;
    size_t message_bytes;
} Parsing;

static bool name_matches(const Option *option, const char *argument) {
    size_t count = strlen(option->name);
    return strncmp(option->name, argument, count) == 0 &&
           (argument[count] == '\0' || argument[count] == '=');
}

static const Option *find_option(const OptionTable *tables, size_t table_count,
                                 const char *argument) {
    for (size_t t = 0; t < table_count; t++) {
        for (size_t i = 0; i < tables[t].count; i++) {
            if (name_matches(&tables[t].option[i], argument)) {
                return &tables[t].option[i];
            }
        }
    }
    return NULL;
}

static void refuse_option(const Parsing *parsing, const OptionTable *tables, size_t table_count,
                          const char *argument) {
    char name[64];
    char hint[NEAREST_HINT_BYTES];
    snprintf(name, sizeof(name), "%.*s", (int)strcspn(argument, "="), argument);
    Nearest nearest = {.typed = name};
    for (size_t t = 0; t < table_count; t++) {
        for (size_t i = 0; i < tables[t].count; i++) {
            nearest_offer(&nearest, tables[t].option[i].name);
        }
    }
    snprintf(parsing->message, parsing->message_bytes, "there is no option %s here%s", name,
             nearest_hint(&nearest, hint));
}

static bool take_whole(const char *text, uint64_t least, uint64_t *whole) {
    char *end;
    errno = 0;
    *whole = strtoull(text, &end, 10);
    if (end != text && *end == '\0' && text[0] != '-') {
        return errno == 0 && *whole >= least;
    }
    double number = strtod(text, &end); // so that 1e6 may be written
    if (end == text || *end != '\0' || !(number >= (double)least && number <= 0x1p53) ||
        number != floor(number)) {
        return false;
    }
    *whole = (uint64_t)number;
    return true;
}

static bool take_number(const char *text, double *number) {
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number);
}

static bool refuse_value(Parsing *parsing, const Option *option, const char *value,
                         const char *wanted) {
    snprintf(parsing->message, parsing->message_bytes, "%s takes %s, not \"%s\"", option->name,
             wanted, value);
    return false;
}

static bool store(Parsing *parsing, const Option *option, const char *value) {
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)option->target = true;
        return true;
    case OPTION_TEXT:
    case OPTION_CHOICE:
        *(const char **)option->target = value;
        return true;
    case OPTION_LIST: {
        OptionList *list = option->target;
        if (list->count == OPTION_LIST_MAX) {
            snprintf(parsing->message, parsing->message_bytes, "%s was given more than %d times",
                     option->name, OPTION_LIST_MAX);
            return false;
        }
        list->item[list->count++] = value;
        return true;
    }
    case OPTION_COUNT:
        return take_whole(value, 1, option->target) ||
               refuse_value(parsing, option, value, "a whole number from 1, as 240 or 1e6");
    case OPTION_INDEX:
        return take_whole(value, 0, option->target) ||
               refuse_value(parsing, option, value, "a whole number from 0, as 240 or 1e6");
    case OPTION_NUMBER:
        return (take_number(value, option->target) && *(double *)option->target > 0.0) ||
               refuse_value(parsing, option, value, "a number above zero, as 0.001");
    case OPTION_FACTOR:
        return (take_number(value, option->target) && *(double *)option->target >= 0.0) ||
               refuse_value(parsing, option, value, "a number that is not negative, as 0.5");
    }
    return false;
}

static bool take_option(Parsing *parsing, const Option *option) {
    const char *argument = parsing->argv[parsing->at++];
    const char *value = strchr(argument, '=');
    if (option->kind == OPTION_FLAG) {
        if (value != NULL) {
            snprintf(parsing->message, parsing->message_bytes, "%s takes no value", option->name);
            return false;
        }
        return store(parsing, option, NULL);
    }
    if (value != NULL) {
        return store(parsing, option, value + 1);
    }
    if (option->kind == OPTION_CHOICE) {
        return store(parsing, option, "");
    }
    if (parsing->at == parsing->argc) {
        snprintf(parsing->message, parsing->message_bytes, "%s needs %s behind it", option->name,
                 option->argument);
        return false;
    }
    return store(parsing, option, parsing->argv[parsing->at++]);
}

static bool keep_word(Parsing *parsing, OptionList *positional, const char *word) {
    if (positional->count == OPTION_LIST_MAX) {
        snprintf(parsing->message, parsing->message_bytes, "there are too many arguments");
        return false;
    }
    positional->item[positional->count++] = word;
    return true;
}

int options_parse(const OptionTable *tables, size_t table_count, int argc, char **argv,
                  bool stop_at_word, OptionList *positional, char *message, size_t message_bytes) {
    Parsing parsing = {argc, argv, 0, message, message_bytes};
    bool only_words = false;
    bool good = true;
    while (good && parsing.at < argc) {
        const char *argument = argv[parsing.at];
        bool is_word = only_words || argument[0] != '-' || argument[1] == '\0';
        if (is_word && stop_at_word) {
            break;
        }
        if (is_word) {
            good = keep_word(&parsing, positional, argument);
            parsing.at++;
        } else if (strcmp(argument, "--") == 0) {
            only_words = true;
            parsing.at++;
        } else {
            const Option *option = find_option(tables, table_count, argument);
            if (option == NULL) {
                refuse_option(&parsing, tables, table_count, argument);
            }
            good = option != NULL && take_option(&parsing, option);
        }
    }
    return good ? parsing.at : -1;
}

void options_print(OptionTable table) {
    for (size_t i = 0; i < table.count; i++) {
        const Option *option = &table.option[i];
        char left[64];
        const char *format = option->kind == OPTION_CHOICE ? "%s[=%s]" : "%s %s";
        snprintf(left, sizeof(left), format, option->name,
                 option->argument != NULL ? option->argument : "");
        fold_printf("  %-*s%s\n", HELP_COLUMN - 2, left, option->meaning);
    }
}
