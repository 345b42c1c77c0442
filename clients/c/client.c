// SPDX-License-Identifier: MIT
#include "client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const status_names[] = {
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

const char *moreau_status_name(MoreauStatus status) {
    size_t index = (size_t)status;
    return index < sizeof(status_names) / sizeof(status_names[0]) ? status_names[index] : "UNKNOWN";
}

const char *moreau_version(void) {
    return MOREAU_VERSION;
}

int64_t client_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t client_give_up_ms(int timeout_ms) {
    return timeout_ms < 0 ? -1 : client_now_ms() + timeout_ms;
}

void error_clear(MoreauError *error) {
    *error = (MoreauError){0};
}

void error_from_status(MoreauError *error, const Moreau__V1__Status *status) {
    error_clear(error);
    error->from_server = true;
    if (status == NULL) {
        return;
    }
    error->status = (MoreauStatus)status->code;
    error->recoverable = status->recoverable != 0;
    error->world = status->world;
    error->step = status->step;
    if (status->field != NULL) {
        snprintf(error->field, sizeof(error->field), "%s", status->field);
    }
    if (status->message != NULL) {
        snprintf(error->message, sizeof(error->message), "%s", status->message);
    }
}

MoreauStatus client_fail(MoreauClient *client, MoreauStatus status, const char *field,
                         const char *format, ...) {
    error_clear(&client->error);
    client->error.status = status;
    if (field != NULL) {
        snprintf(client->error.field, sizeof(client->error.field), "%s", field);
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(client->error.message, sizeof(client->error.message), format, arguments);
    va_end(arguments);
    return status;
}

MoreauStatus client_lose(MoreauClient *client, MoreauStatus status, const char *format, ...) {
    error_clear(&client->error);
    client->error.status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(client->error.message, sizeof(client->error.message), format, arguments);
    va_end(arguments);
    client->lost = client->error;
    secure_close(client);
    if (client->fd >= 0) {
        close(client->fd);
        client->fd = -1;
    }
    return status;
}

MoreauStatus client_fail_lost(MoreauClient *client) {
    client->error = client->lost;
    client->error.status = MOREAU_UNAVAILABLE;
    return MOREAU_UNAVAILABLE;
}

MoreauOptions moreau_options_default(void) {
    return (MoreauOptions){.client_name = "",
                           .connect_timeout_ms = 10000,
                           .reply_bytes_max = (size_t)256 << 20,
                           .protocol_major = PROTOCOL_MAJOR,
                           .reconnect = {.wait_ms = 50, .wait_ms_max = 2000, .total_ms = 25000}};
}

static MoreauStatus greet(MoreauClient *client, const char *session, MoreauReply **greeting) {
    const MoreauOptions *options = &client->options;
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = options->protocol_major;
    hello.has_protocol_minor = 1;
    hello.protocol_minor = PROTOCOL_MINOR;
    hello.client = (char *)options->client_name;
    hello.token = (char *)options->token;
    hello.resume = (char *)session;
    hello.has_resumable = hello.resumable = options->reconnect.attempts > 0;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_HELLO;
    request.hello = &hello;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_WELCOME, greeting);
    if (status != MOREAU_OK) {
        return status;
    }
    uint32_t major = (*greeting)->message->welcome->protocol_major;
    if (major != options->protocol_major) {
        return client_lose(
            client, MOREAU_FAILED_PRECONDITION,
            "this client speaks protocol %u, the server protocol %u; use versions that "
            "agree",
            options->protocol_major, major);
    }
    return MOREAU_OK;
}

// Whoever says whom to trust does not want to tell everybody a token in the clear.
static bool forgot_tls(const MoreauClient *client) {
    const MoreauOptions *options = &client->options;
    return strncmp(client->address, "unix:", 5) != 0 &&
           (options->tls_ca != NULL || options->tls_fingerprint != NULL ||
            options->tls_cert != NULL || options->tls_key != NULL);
}

static MoreauStatus connect_socket(MoreauClient *client, int64_t give_up_ms) {
    const char *address = client->address;
    const bool is_secure = address != NULL && secure_is_asked(client->address, &address);
    if (!is_secure && forgot_tls(client)) {
        return client_fail(client, MOREAU_INVALID_ARGUMENT, NULL,
                           "certificates are for TLS: write the address as tls://%s", address);
    }
    client->fd = address_connect(address, give_up_ms, &client->error);
    if (client->fd < 0) {
        return client->error.status;
    }
    return is_secure ? secure_open(client, give_up_ms) : MOREAU_OK;
}

MoreauStatus client_open(MoreauClient *client, const char *session, MoreauReply **greeting) {
    *greeting = NULL;
    const MoreauOptions *options = &client->options;
    int timeout_ms = options->connect_timeout_ms > 0 ? options->connect_timeout_ms : -1;
    int64_t give_up_ms = client_give_up_ms(timeout_ms);
    MoreauStatus status = connect_socket(client, give_up_ms);
    if (status != MOREAU_OK) {
        return status;
    }

    // the greeting has what is left of the time
    int reply_timeout_ms = client->reply_timeout_ms;
    client->reply_timeout_ms = 0;
    if (give_up_ms >= 0) {
        int64_t left_ms = give_up_ms - client_now_ms();
        client->reply_timeout_ms = left_ms > 0 ? (int)left_ms : 1;
    }
    status = greet(client, session, greeting);
    client->reply_timeout_ms = reply_timeout_ms;
    return status;
}

// A copy of a Nullable text; false when memory ended.
static bool copy_text(const char *text, const char **copy) {
    *copy = text != NULL ? strdup(text) : NULL;
    return text == NULL || *copy != NULL;
}

static bool copy_tls(MoreauClient *client, const MoreauOptions *options) {
    bool has_ca = copy_text(options->tls_ca, &client->options.tls_ca);
    bool has_print = copy_text(options->tls_fingerprint, &client->options.tls_fingerprint);
    bool has_cert = copy_text(options->tls_cert, &client->options.tls_cert);
    bool has_key = copy_text(options->tls_key, &client->options.tls_key);
    return has_ca && has_print && has_cert && has_key;
}

static MoreauStatus open_first(MoreauClient *client, const char *address,
                               const MoreauOptions *options) {
    client->options = *options;
    client->reply_timeout_ms = options->reply_timeout_ms;
    client->address = strdup(address);
    bool has_token = copy_text(options->token, &client->options.token);
    bool has_name = copy_text(options->client_name, &client->options.client_name);
    bool has_tls = copy_tls(client, options);
    client->options.resume = NULL;
    if (client->address == NULL || !has_token || !has_name || !has_tls) {
        return client_fail(client, MOREAU_RESOURCE_EXHAUSTED, NULL, "no memory for a connection");
    }
    MoreauStatus status = client_open(client, options->resume, &client->greeting);
    if (status == MOREAU_OK) {
        uint64_t last_id = client->greeting->message->welcome->last_id;
        client->id_last = last_id > client->id_last ? last_id : client->id_last;
        resume_start(client);
    }
    return status;
}

MoreauStatus moreau_connect(const char *address, const MoreauOptions *options,
                            MoreauClient **result, MoreauError *error) {
    *result = NULL;
    MoreauOptions defaults = moreau_options_default();
    MoreauClient *client = calloc(1, sizeof(*client));
    if (client == NULL) {
        if (error != NULL) {
            *error = (MoreauError){.status = MOREAU_RESOURCE_EXHAUSTED,
                                   .message = "no memory for a connection"};
        }
        return MOREAU_RESOURCE_EXHAUSTED;
    }
    client->fd = -1;
    MoreauStatus status = open_first(client, address, options != NULL ? options : &defaults);
    if (error != NULL) {
        *error = client->error;
    }
    if (status != MOREAU_OK) {
        moreau_disconnect(client);
        return status;
    }
    *result = client;
    return MOREAU_OK;
}

void moreau_disconnect(MoreauClient *client) {
    if (client == NULL) {
        return;
    }
    secure_deinit(client);
    if (client->fd >= 0) {
        close(client->fd);
    }
    while (client->ready_first != NULL) {
        MoreauReply *next = client->ready_first->next;
        moreau_reply_free(client->ready_first);
        client->ready_first = next;
    }
    moreau_reply_free(client->greeting);
    asked_deinit(&client->flight);
    free(client->in.data);
    free(client->out.data);
    resume_deinit(client);
    free((char *)client->options.client_name);
    free((char *)client->options.token);
    free((char *)client->options.tls_ca);
    free((char *)client->options.tls_fingerprint);
    free((char *)client->options.tls_cert);
    free((char *)client->options.tls_key);
    free(client->address);
    free(client);
}

const MoreauError *moreau_error(const MoreauClient *client) {
    return &client->error;
}

bool moreau_is_connected(const MoreauClient *client) {
    return client->fd >= 0 || resume_is_possible(client);
}

static const char *text_or_empty(const char *text) {
    return text != NULL ? text : "";
}

const char *moreau_session(const MoreauClient *client) {
    return text_or_empty(client->greeting->message->welcome->session);
}

const char *moreau_server_version(const MoreauClient *client) {
    return text_or_empty(client->greeting->message->welcome->server_version);
}

uint64_t moreau_dynamics_version(const MoreauClient *client) {
    return client->greeting->message->welcome->dynamics_version;
}

const char *moreau_server_http(const MoreauClient *client) {
    return text_or_empty(client->greeting->message->welcome->http);
}

const char *moreau_server_db(const MoreauClient *client) {
    return text_or_empty(client->greeting->message->welcome->db);
}

bool moreau_limit(const MoreauClient *client, const char *name, uint64_t *value) {
    const Moreau__V1__Welcome *welcome = client->greeting->message->welcome;
    for (size_t i = 0; i < welcome->n_limits; i++) {
        if (strcmp(text_or_empty(welcome->limits[i]->name), name) == 0) {
            *value = welcome->limits[i]->value;
            return true;
        }
    }
    return false;
}

void moreau_set_deadline(MoreauClient *client, uint32_t deadline_ms) {
    client->deadline_ms = deadline_ms;
}

void moreau_set_reply_timeout(MoreauClient *client, int timeout_ms) {
    client->reply_timeout_ms = timeout_ms;
}

int moreau_poll_fd(const MoreauClient *client) {
    return client->fd;
}

bool moreau_has_received(const MoreauClient *client) {
    return client->ready_first != NULL || wire_has_frame(client);
}

size_t moreau_in_flight(const MoreauClient *client) {
    return client->flight.count + client->ready_final_count;
}
