// SPDX-License-Identifier: MIT
// moreau-channel: plays the channel on a server for both laws of friction, with spheres and with
// dumbbells, and writes the paper's second table and the speeds as a picture.
#include "channel/draw.h"

#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "moreau-channel: the granular channel of Preclik, Eibl and Ruede\n"
    "  moreau-channel [options]\n"
    "  --server ADDR      default 127.0.0.1:7667\n"
    "  --grains N         in the flowing channel, about; 100 ... 1000000; default 25000\n"
    "  --seconds T        simulated; the second half is measured; default 0.4\n"
    "  --tolerance X      of the solver; default 1e-4\n"
    "  --iterations N     of the solver; default 200\n"
    "  --budget N         of the solver, a step; default 1e9; 0: sweeps alone, as in the paper\n"
    "  --layer-steps N    steps in which a layer comes in; default 80\n"
    "  --spacing X        of the grid on which they do, in diameters; default 1/0.94\n"
    "  --grain KIND       spheres or dumbbells; default: both\n"
    "  --picture FILE     default channel.svg\n"
    "The table goes to standard output, progress to standard error.\n";

enum { CASES = 4, SAMPLE_LAYERS = 5 };

typedef struct Options {
    const char *server, *picture;
    double seconds;
    ChannelDef def;
    int begin, end; // of the cases that are played
} Options;

typedef struct Case {
    const char *title;
    bool has_dumbbells, maximizes_dissipation;
    const Options *options; // borrowed
    Channel channel;
    Figures figures;
} Case;

static Case cases[CASES] = {
    {.title = "spheres, Coulomb"},
    {.title = "spheres, maximum dissipation", .maximizes_dissipation = true},
    {.title = "dumbbells, Coulomb", .has_dumbbells = true},
    {.title = "dumbbells, maximum dissipation",
     .has_dumbbells = true,
     .maximizes_dissipation = true},
};

static double read_number(const char *text, double least, double most) {
    char *end;
    double value = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || !(value >= least && value <= most)) {
        fprintf(stderr, "moreau-channel: \"%s\" is no number from %g to %g\n", text, least, most);
        exit(2);
    }
    return value;
}

// Spheres stand before dumbbells.
static void read_kind(const char *text, Options *options) {
    bool is_dumbbells = strcmp(text, "dumbbells") == 0;
    if (!is_dumbbells && strcmp(text, "spheres") != 0) {
        fprintf(stderr, "moreau-channel: \"%s\" is neither spheres nor dumbbells\n", text);
        exit(2);
    }
    options->begin = is_dumbbells ? CASES / 2 : 0;
    options->end = options->begin + CASES / 2;
}

static Options read_options(int argc, char **argv) {
    static const struct option known[] = {{"server", required_argument, NULL, 's'},
                                          {"grains", required_argument, NULL, 'g'},
                                          {"seconds", required_argument, NULL, 't'},
                                          {"tolerance", required_argument, NULL, 'e'},
                                          {"iterations", required_argument, NULL, 'i'},
                                          {"budget", required_argument, NULL, 'b'},
                                          {"grain", required_argument, NULL, 'k'},
                                          {"picture", required_argument, NULL, 'p'},
                                          {"layer-steps", required_argument, NULL, 'l'},
                                          {"spacing", required_argument, NULL, 'd'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    Options options = {.server = "127.0.0.1:7667",
                       .picture = "channel.svg",
                       .seconds = 0.4,
                       .end = CASES,
                       .def = channel_def_default()};
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (option) {
        case 's':
            options.server = optarg;
            break;
        case 'g':
            options.def.grains = (uint32_t)read_number(optarg, 100.0, 1e6);
            break;
        case 't':
            options.seconds = read_number(optarg, 1e-3, 100.0);
            break;
        case 'e':
            options.def.tolerance = read_number(optarg, 1e-15, 1.0);
            break;
        case 'i':
            options.def.max_iterations = (uint32_t)read_number(optarg, 1.0, 1e7);
            break;
        case 'b':
            options.def.budget = read_number(optarg, 0.0, 1e15);
            break;
        case 'l':
            options.def.layer_steps = (uint32_t)read_number(optarg, 1.0, 1e6);
            break;
        case 'd':
            options.def.spacing = read_number(optarg, 1.0, 10.0);
            break;
        case 'k':
            read_kind(optarg, &options);
            break;
        case 'p':
            options.picture = optarg;
            break;
        default:
            fputs(usage, option == 'h' ? stdout : stderr);
            exit(option == 'h' ? 0 : 2);
        }
    }
    return options;
}

// ---- playing

typedef struct Sampling {
    Figures *figures;
    MoreauStatus status;
} Sampling;

static void sample(const Channel *channel, const MoreauStepResult *result, void *context) {
    Sampling *sampling = context;
    sampling->status = figures_sample(sampling->figures, channel, result);
}

static MoreauStatus play(Case *one, const Options *options, MoreauClient *client) {
    ChannelDef def = options->def;
    def.has_dumbbells = one->has_dumbbells;
    def.maximizes_dissipation = one->maximizes_dissipation;
    one->figures.deepest_leak = -HUGE_VAL;
    Channel *channel = &one->channel;
    MoreauStatus status = channel_open(channel, client, &def);
    for (uint64_t layer = 1; status == MOREAU_OK && channel_time(channel) < options->seconds;
         layer++) {
        bool is_due = layer % SAMPLE_LAYERS == 0 && channel_time(channel) >= 0.5 * options->seconds;
        Sampling sampling = {.figures = &one->figures, .status = MOREAU_OK};
        status = channel_push_layer(channel, 1, is_due ? sample : NULL, &sampling);
        status = status == MOREAU_OK ? sampling.status : status;
        if (layer % (4 * SAMPLE_LAYERS) == 0) {
            fprintf(stderr, "%-30s %6.1f ms, %" PRIu64 " grains\n", one->title,
                    1e3 * channel_time(channel), channel->added - channel->removed);
        }
    }
    return status == MOREAU_OK ? channel_close(channel) : status;
}

// ---- the table

typedef double Value(const Case *one);

static double mean_grains(const Case *one) {
    return one->figures.grains / (double)one->figures.samples;
}

static double percent_solid(const Case *one) {
    return 100.0 * figures_volume_fraction(&one->figures, &one->channel);
}

static double mean_contacts(const Case *one) {
    return one->figures.contacts / (double)one->figures.samples;
}

static double mean_pushing(const Case *one) {
    return one->figures.pushing / (double)one->figures.samples;
}

static double contacts_per_grain(const Case *one) {
    return one->figures.contacts / one->figures.grains;
}

static double pushing_per_grain(const Case *one) {
    return one->figures.pushing / one->figures.grains;
}

static double penetration_um(const Case *one) {
    return 1e6 * one->channel.penetration;
}

static double penetration_percent(const Case *one) {
    return 100.0 * one->channel.penetration / one->channel.ball;
}

static double mass_flow(const Case *one) {
    return figures_mass_flow(&one->figures, &one->channel);
}

static double mean_flow(const Case *one) {
    return one->figures.flow / (double)one->figures.samples;
}

static double mean_spin_rim(const Case *one) {
    return one->figures.spin / (double)one->figures.samples * one->channel.ball;
}

static double peak_speed(const Case *one) {
    return figures_peak_speed(&one->figures);
}

static double power(const Case *one) {
    return one->figures.power / (double)one->figures.samples;
}

static double simulated_ms(const Case *one) {
    return 1e3 * channel_time(&one->channel);
}

static double step_count(const Case *one) {
    return (double)one->channel.steps;
}

static double converged_percent(const Case *one) {
    return 100.0 - 100.0 * (double)one->channel.unconverged / (double)one->channel.steps;
}

static double mean_iterations(const Case *one) {
    return (double)one->channel.iterations / (double)one->channel.steps;
}

static const struct {
    const char *name;
    Value *value;
} rows[] = {
    {"average number of grains", mean_grains},
    {"solid volume fraction [%]", percent_solid},
    {"average number of contacts within reach", mean_contacts},
    {"  per grain", contacts_per_grain},
    {"average number of contacts that push", mean_pushing},
    {"  per grain", pushing_per_grain},
    {"largest penetration [um]", penetration_um},
    {"  in radii [%]", penetration_percent},
    {"mass flow [kg/s]", mass_flow},
    {"mean velocity along the channel [m/s]", mean_flow},
    {"mean spin times radius [m/s]", mean_spin_rim},
    {"peak of the speed profile [m/s]", peak_speed},
    {"power dissipated by contacts [W]", power},
    {"simulated [ms]", simulated_ms},
    {"steps", step_count},
    {"  of which converged [%]", converged_percent},
    {"  sweeps, mean", mean_iterations},
};

static void print_table(const Options *options) {
    const ChannelDef *def = &options->def;
    printf(
        "# --grains %u --spacing %.4g --layer-steps %u --tolerance %g --iterations %u --budget %g "
        "--seconds %g, of which the second half is measured\n",
        def->grains, def->spacing, def->layer_steps, def->tolerance, def->max_iterations,
        def->budget, options->seconds);
    for (int i = options->begin; i < options->end; i += CASES / 2) {
        const Channel *channel = &cases[i].channel;
        printf("# %s of radius %.4g mm, h = %.4g us\n",
               cases[i].has_dumbbells ? "dumbbells of two spheres" : "spheres", 1e3 * channel->ball,
               1e6 * channel->time_step);
    }
    printf("%-40s", "#");
    for (int i = options->begin; i < options->end; i++) {
        printf("  %-30s", cases[i].title);
    }
    putchar('\n');
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        printf("%-40s", rows[k].name);
        for (int i = options->begin; i < options->end; i++) {
            printf("  %-30.6g", rows[k].value(&cases[i]));
        }
        putchar('\n');
    }
}

static void write_picture(const Options *options) {
    Panel panels[CASES];
    FILE *file = fopen(options->picture, "w");
    size_t count = 0;
    for (int i = options->begin; i < options->end; i++) {
        panels[count++] = (Panel){.title = cases[i].title, .profile = &cases[i].figures.profile};
    }
    if (file != NULL) {
        draw_panels(file, panels, count);
    }
    if (file == NULL || fclose(file) != 0) {
        fprintf(stderr, "moreau-channel: the picture cannot be written to %s\n", options->picture);
        exit(1);
    }
}

// One case, on a connection of its own: the server plays all of them at once.
static void *play_case(void *context) {
    Case *one = context;
    MoreauClient *client;
    MoreauError error;
    MoreauStatus status = moreau_connect(one->options->server, NULL, &client, &error);
    if (status == MOREAU_OK) {
        status = play(one, one->options, client);
        error = *moreau_error(client);
    }
    if (status != MOREAU_OK) {
        fprintf(stderr, "moreau-channel: %s: %s\n", one->title, error.message);
        exit(status == MOREAU_UNAVAILABLE ? 3 : 1);
    }
    moreau_disconnect(client);
    return NULL;
}

int main(int argc, char **argv) {
    Options options = read_options(argc, argv);
    pthread_t threads[CASES];
    for (int i = options.begin; i < options.end; i++) {
        cases[i].options = &options;
        if (pthread_create(&threads[i], NULL, play_case, &cases[i]) != 0) {
            fputs("moreau-channel: there are no threads\n", stderr);
            return 1;
        }
    }
    for (int i = options.begin; i < options.end; i++) {
        pthread_join(threads[i], NULL);
    }
    print_table(&options);
    write_picture(&options);
    return 0;
}
