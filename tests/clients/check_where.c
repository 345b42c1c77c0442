// SPDX-License-Identifier: MIT
// --where of `moreau episodes`: what is written becomes the call's fields, and what cannot be read
// is answered with the column, what was expected there, and what was found.
#include "cli/episodes/where.h"

#include "support/suite.h"

#include <string.h>

static Where where;
static Moreau__V1__EpisodeList list;
static char message[WHERE_MESSAGE_BYTES];

static bool parse(const char *text) {
    moreau__v1__episode_list__init(&list);
    message[0] = '\0';
    return where_parse(text, &where, &list, message);
}

static void free_where(void) {
    where_free(&where);
}

static void expect_body(const Moreau__V1__EpisodeBody *body, const char *name, uint64_t id) {
    ck_assert_ptr_nonnull(body);
    ck_assert((body->has_id != 0) == (name == NULL));
    if (name != NULL) {
        ck_assert_str_eq(body->name, name);
    } else {
        ck_assert_ptr_null(body->name);
        ck_assert_uint_eq(body->id, id);
    }
}

START_TEST(bodies_are_names_or_ids) {
    ck_assert_msg(parse("contact between ball and \"left tile\""), "%s", message);
    ck_assert_uint_eq(list.n_touches, 1);
    expect_body(list.touches[0]->body, "ball", 0);
    expect_body(list.touches[0]->other_body, "left tile", 0);
    free_where();
    ck_assert_msg(parse("  contact of #12  "), "%s", message);
    expect_body(list.touches[0]->body, NULL, 12);
    ck_assert_ptr_null(list.touches[0]->other_body);
    free_where();
    // quotes make a name of what is a word of the grammar
    ck_assert_msg(parse("contact between \"and\" and \"#3\""), "%s", message);
    expect_body(list.touches[0]->body, "and", 0);
    expect_body(list.touches[0]->other_body, "#3", 0);
}
END_TEST

START_TEST(limits_belong_to_their_contact) {
    ck_assert_msg(
        parse("contact after 10 before 20 faster than 1.5 and impact between a and b>2e-3 "
              "after 7 and impact > 0"),
        "%s", message);
    ck_assert_uint_eq(list.n_touches, 3);
    const Moreau__V1__EpisodeTouch *contact = list.touches[0], *impact = list.touches[1];
    ck_assert(contact->has_after && contact->after == 10);
    ck_assert(contact->has_before && contact->before == 20);
    ck_assert(contact->has_speed_above && contact->speed_above == 1.5);
    ck_assert(!contact->has_impulse_above && contact->body == NULL);
    ck_assert(impact->has_impulse_above && impact->impulse_above == 2e-3);
    ck_assert(impact->has_after && impact->after == 7 && !impact->has_before);
    ck_assert(list.touches[2]->has_impulse_above && list.touches[2]->impulse_above == 0.0);
}
END_TEST

START_TEST(what_is_said_of_the_episode_becomes_its_filter) {
    ck_assert_msg(parse("unconverged and name ~ \"pile of\" and label=night and solver = mdp and "
                        "client = moreau and state = complete and launched and broken and "
                        "unconverged"),
                  "%s", message);
    ck_assert_str_eq(list.name, "pile of");
    ck_assert_str_eq(list.label, "night");
    ck_assert_str_eq(list.solver, "mdp");
    ck_assert_str_eq(list.client, "moreau");
    ck_assert(list.has_state && list.state == MOREAU__V1__EPISODE__STATE__COMPLETE);
    ck_assert_uint_eq(list.n_touches, 0);
    ck_assert_uint_eq(list.n_highlights, 3); // each once
    ck_assert_int_eq(list.highlights[0], MOREAU__V1__EPISODE_HIGHLIGHT__KIND__UNCONVERGED);
    ck_assert_int_eq(list.highlights[1], MOREAU__V1__EPISODE_HIGHLIGHT__KIND__LAUNCH);
    ck_assert_int_eq(list.highlights[2], MOREAU__V1__EPISODE_HIGHLIGHT__KIND__BROKEN);
}
END_TEST

static const struct {
    const char *text, *message;
} wrong[] = {
    {"", "column 1: expected contact, impact, unconverged, launched, broken, name, label, solver, "
         "client or state, found the end"},
    {"contcat between a and b", "column 1: expected contact, impact"},
    {"contact between", "column 16: expected a body: its name, or # and its number, found the end"},
    {"contact between ball adn cup", "column 22: expected \"and\", found \"adn cup\""},
    {"contact between ball and", "column 25: expected a body"},
    {"contact of #x", "column 12: expected # and the number of a body, as #3, found \"#x\""},
    {"contact of #0", "column 12: expected # and the number of a body"},
    {"contact of #99999999999999999999", "column 12: expected # and the number of a body"},
    {"contact of =", "column 12: expected a body"},
    {"contact after -1", "column 15: expected the number of a step, found \"-1\""},
    {"contact after \"3\"", "column 15: expected the number of a step"},
    {"contact after 99999999999999999999", "column 15: expected the number of a step"},
    {"contact faster 3", "column 16: expected \"than\", found \"3\""},
    {"impact of ball", "column 15: expected \">\", found the end"},
    {"impact of ball > nan", "column 18: expected an impulse [N s], 0 or more"},
    {"impact > -1", "column 10: expected an impulse"},
    {"impact > 1e999", "column 10: expected an impulse"},
    {"impact > 1 faster than 2",
     "column 12: expected \"and\", or the end, found \"faster than 2\""},
    {"unconverged launched", "column 13: expected \"and\", or the end"},
    {"unconverged and", "column 16: expected contact"},
    {"name = ball", "column 6: expected \"~\", found \"= ball\""},
    {"name ~", "column 7: expected a text, found the end"},
    {"name ~ a and name ~ b", "column 14: expected each text of the episode once"},
    {"state = done", "column 9: expected recording, complete, world_destroyed or interrupted"},
    {"name ~ \"ball", "column 8: expected a text that ends with another \", found \"\"ball\""},
    {"contact and contact and contact and contact and contact and contact and contact and contact "
     "and contact",
     "column 104: expected no more than 8 contacts and impacts"},
};

START_TEST(what_cannot_be_read_is_told_with_its_column) {
    ck_assert(!parse(wrong[_i].text));
    ck_assert_msg(strncmp(message, wrong[_i].message, strlen(wrong[_i].message)) == 0, "%s",
                  message);
}
END_TEST

// Any cut, and any byte, of a text ends in a list or in a sentence.
START_TEST(no_text_is_too_odd) {
    static const char text[] = "impact between \"a b\" and #3 > 0.5 after 3 and name ~ \"x\"";
    static const char odd[] = {' ', '"', '#', '>', '\t', '\x7f', '\xc3', '9'};
    char changed[sizeof(text)];
    for (size_t i = 0; i < sizeof(text); i++) {
        for (size_t k = 0; k <= sizeof(odd); k++) {
            memcpy(changed, text, sizeof(text));
            changed[i] = k == sizeof(odd) ? '\0' : odd[k];
            changed[sizeof(text) - 1] = '\0';
            ck_assert(parse(changed) || strncmp(message, "column ", 7) == 0);
            free_where();
        }
    }
}
END_TEST

static TCase *case_where(void) {
    TCase *tcase = tcase_create("where");
    tcase_add_checked_fixture(tcase, NULL, free_where);
    tcase_add_test(tcase, bodies_are_names_or_ids);
    tcase_add_test(tcase, limits_belong_to_their_contact);
    tcase_add_test(tcase, what_is_said_of_the_episode_becomes_its_filter);
    tcase_add_loop_test(tcase, what_cannot_be_read_is_told_with_its_column, 0,
                        (int)(sizeof(wrong) / sizeof(wrong[0])));
    tcase_add_test(tcase, no_text_is_too_odd);
    return tcase;
}

SUITE_MAIN("clients/where", case_where)
