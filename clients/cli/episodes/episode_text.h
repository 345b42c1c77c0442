// SPDX-License-Identifier: MIT
// Episodes in words: as a row of a table, and everything about one.
#pragma once

#include "cli/cli.h"

// An id is 32 digits; its first 8 are enough to name it among some thousands.
enum { EPISODE_SHORT_BYTES = 9 };
void episode_short(const Moreau__V1__EpisodeInfo *episode, char text[EPISODE_SHORT_BYTES]);

// "falling-1"; "(nameless)" where the server sent none
const char *episode_name(const Moreau__V1__EpisodeInfo *episode);

// [s] of its steps together; of a server that does not say, as if the time step had never changed.
double episode_simulated(const Moreau__V1__EpisodeInfo *episode);

// The head and the rows of a table, 80 columns wide but for labels.
void episode_print_head(void);
void episode_print_row(const Moreau__V1__EpisodeInfo *episode);

// Everything about one.
void episode_print(const Moreau__V1__EpisodeInfo *episode);

// The last line of what is worth a look: how the page is opened on it, `step` where there is
// something to see. UINT64_MAX: at the end.
void episode_print_look(const Moreau__V1__EpisodeInfo *episode, uint64_t step);

// A call that is answered with an episode (EpisodeDescribe, EpisodeStop). EXIT_DONE: *reply holds
// it, and is the caller's to free. Anything else: after a sentence, *reply is NULL.
int episode_ask(Cli *cli, Moreau__V1__Request *request, Moreau__V1__Reply **reply);

// Which stretches of its steps did not converge, and why; nothing where there are none.
void episode_print_open(const Moreau__V1__EpisodeDescribeReply *reply);

// What was launched fastest; nothing where nothing was.
void episode_print_launch(const Moreau__V1__EpisodeDescribeReply *reply);

// Of those in which joints broke, how many steps there were, and the worst.
void episode_print_broken(const Moreau__V1__EpisodeDescribeReply *reply);

// Asks for everything about one, with so many highlights of each kind. EXIT_DONE: *reply holds it,
// and is the caller's to free. Anything else: after a sentence, *reply is NULL.
int episode_describe(Cli *cli, const char *name, uint64_t highlights, Moreau__V1__Reply **reply);
