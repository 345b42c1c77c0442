// SPDX-License-Identifier: MIT
#include "support/net_records.h"

#include "base/assert.h"
#include "net/tls/stream.h"
#include "support/net_authority.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIRE_BYTES = 1 << 17, SENT_BYTES = 1 << 17, PLAIN_BYTES = 16384 };

// What he in between may do next.
typedef enum Deed {
    DEED_SEND,
    DEED_SEND_MUCH,
    DEED_CHANGE,
    DEED_CUT,
    DEED_INVENT,
    DEED_PASS_ON,
    DEED_NEW_KEY,
    DEED_REPEAT,
    DEED_COUNT
} Deed;

typedef struct Play {
    const uint8_t *bytes; // that tell him what to do
    size_t count;
    TlsStream *server;
    SSL *client;
    BIO *to_client;
    uint8_t wire[WIRE_BYTES]; // from the client, not passed on yet
    size_t wire_bytes;
    uint8_t arrived[WIRE_BYTES]; // at the server, not used yet
    size_t arrived_bytes;
    uint8_t sent[SENT_BYTES]; // what the client said
    size_t sent_bytes, heard_bytes;
    bool is_open, is_over;
    RecordsPlayed *played;
} Play;

static uint8_t next_byte(Play *play) {
    if (play->count == 0) {
        return 0;
    }
    play->count--;
    return *play->bytes++;
}

static size_t next_number(Play *play, size_t below) {
    const size_t number = (size_t)next_byte(play) << 8;
    return below == 0 ? 0 : (number | next_byte(play)) % below;
}

// ---- the two

static TlsIdentity *make_identity(void) {
    char folder[] = "/tmp/moreau-records-XXXXXX", certificate[64], key[64], command[64];
    TlsIdentity *identity = NULL;
    Error error;
    ASSERT(mkdtemp(folder) != NULL);
    net_certify(folder, &(CertificateDef){.name = "own", .ends_s = NET_DAY_S});
    snprintf(certificate, sizeof(certificate), "%s/own.pem", folder);
    snprintf(key, sizeof(key), "%s/own.key", folder);
    const TlsFiles files = {certificate, key, ""};
    ASSERT(tls_identity_load(&identity, &files, &error) == STATUS_OK);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    ASSERT(system(command) == 0);
    return identity;
}

// As long as the process, as making them takes longer than what is played.
static TlsIdentity *identity;
static SSL_CTX *client_context;

static void write_to_client(void *context, const uint8_t *bytes, size_t count) {
    Play *play = context;
    BIO_write(play->to_client, bytes, (int)count);
}

static void take_from_client(Play *play) {
    BIO *from = SSL_get_wbio(play->client);
    const int got =
        BIO_read(from, play->wire + play->wire_bytes, (int)(WIRE_BYTES - play->wire_bytes));
    play->wire_bytes += got > 0 ? (size_t)got : 0;
    BIO_reset(from); // what has no room is lost, as on a bad line
}

static void start(Play *play) {
    if (identity == NULL) {
        identity = make_identity();
        client_context = SSL_CTX_new(TLS_client_method());
    }
    play->server = tls_stream_create(identity, (TlsOutput){write_to_client, play});
    play->client = SSL_new(client_context);
    play->to_client = BIO_new(BIO_s_mem());
    SSL_set_bio(play->client, play->to_client, BIO_new(BIO_s_mem()));
    SSL_connect(play->client);
    take_from_client(play);
}

static void end(Play *play) {
    tls_stream_free(play->server);
    SSL_free(play->client);
    ERR_clear_error();
}

// ---- what the server makes of what arrives

static void hear(Play *play, const uint8_t *bytes, size_t count) {
    ASSERT(play->heard_bytes + count <= play->sent_bytes);
    ASSERT(memcmp(play->sent + play->heard_bytes, bytes, count) == 0);
    play->heard_bytes += count;
}

static void shake(Play *play) {
    TlsInput input = {play->arrived, tls_whole_records(play->arrived, play->arrived_bytes)};
    if (input.count == 0) {
        return;
    }
    const TlsResult result = tls_stream_shake(play->server, &input);
    const size_t used = (size_t)(input.bytes - play->arrived);
    play->arrived_bytes -= used;
    memmove(play->arrived, play->arrived + used, play->arrived_bytes);
    play->is_open = result == TLS_WENT_ON;
    play->played->handshakes += play->is_open ? 1 : 0;
    play->is_over = result == TLS_FAILED || result == TLS_ENDED;
}

static void read_all(Play *play) {
    static uint8_t plain[PLAIN_BYTES];
    TlsInput input = {play->arrived, play->arrived_bytes};
    TlsResult result = TLS_WENT_ON;
    while (result == TLS_WENT_ON) {
        size_t count = 0;
        result = tls_stream_read(play->server, &input, plain, sizeof(plain), &count);
        ASSERT(count <= sizeof(plain) && (count > 0) == (result == TLS_WENT_ON));
        hear(play, plain, count);
    }
    ASSERT(result != TLS_WAITS || input.count == 0);
    play->arrived_bytes = 0;
    play->is_over = result != TLS_WAITS;
}

// ---- what he in between does

static void pass_on(Play *play, size_t count) {
    const size_t room = WIRE_BYTES - play->arrived_bytes;
    const size_t part = count < play->wire_bytes ? count : play->wire_bytes;
    const size_t passed = part < room ? part : room;
    memcpy(play->arrived + play->arrived_bytes, play->wire, passed);
    play->arrived_bytes += passed;
    play->wire_bytes -= part;
    memmove(play->wire, play->wire + part, play->wire_bytes);
    if (!play->is_open) {
        shake(play);
    }
    if (play->is_open && !play->is_over) {
        read_all(play);
    }
    SSL_connect(play->client); // which takes what the server said
    take_from_client(play);
}

static void send(Play *play, size_t count) {
    const size_t room = SENT_BYTES - play->sent_bytes;
    size_t written = 0;
    count = count < room ? count : room;
    if (count == 0 || !SSL_is_init_finished(play->client)) {
        return;
    }
    memset(play->sent + play->sent_bytes, (int)(play->sent_bytes & 0xff), count);
    if (SSL_write_ex(play->client, play->sent + play->sent_bytes, count, &written) == 1) {
        play->sent_bytes += written;
        play->played->records++;
    }
    take_from_client(play);
}

static void repeat(Play *play, size_t count) {
    const size_t room = WIRE_BYTES - play->wire_bytes;
    count = count < play->wire_bytes ? count : play->wire_bytes;
    count = count < room ? count : room;
    memmove(play->wire + count, play->wire, play->wire_bytes);
    play->wire_bytes += count;
}

static void invent(Play *play, size_t count) {
    for (size_t i = 0; i < count && play->wire_bytes < WIRE_BYTES; i++) {
        play->wire[play->wire_bytes++] = next_byte(play);
    }
}

static void change(Play *play) {
    const size_t at = next_number(play, play->wire_bytes);
    const uint8_t how = next_byte(play);
    if (play->wire_bytes > 0) {
        play->wire[at] ^= how;
    }
}

static void act(Play *play) {
    const Deed deed = next_byte(play) % DEED_COUNT;
    play->played->changes +=
        deed == DEED_CHANGE || deed == DEED_CUT || deed == DEED_INVENT || deed == DEED_REPEAT;
    switch (deed) {
    case DEED_SEND:
        send(play, next_byte(play));
        break;
    case DEED_SEND_MUCH:
        send(play, next_number(play, 40000));
        break;
    case DEED_CHANGE:
        change(play);
        break;
    case DEED_CUT:
        play->wire_bytes -= next_number(play, play->wire_bytes + 1);
        break;
    case DEED_INVENT:
        invent(play, next_byte(play));
        break;
    case DEED_PASS_ON:
        pass_on(play, 1 + next_number(play, 2000));
        break;
    case DEED_NEW_KEY:
        if (SSL_is_init_finished(play->client)) {
            SSL_key_update(play->client, next_byte(play) & 1);
            SSL_do_handshake(play->client);
            take_from_client(play);
        }
        break;
    case DEED_REPEAT:
        repeat(play, next_number(play, 2000));
        break;
    case DEED_COUNT:
        break;
    }
}

void net_records_play(const uint8_t *bytes, size_t count, RecordsPlayed *played) {
    Play *play = calloc(1, sizeof(*play));
    ASSERT(play != NULL);
    play->bytes = bytes;
    play->count = count;
    play->played = played;
    start(play);
    // mostly what is said after the handshake is what counts
    const bool shakes = next_byte(play) % 8 != 0;
    for (int i = 0; i < 4 && shakes; i++) {
        pass_on(play, WIRE_BYTES);
    }
    while (play->count > 0 && !play->is_over) {
        act(play);
    }
    if (!play->is_over) {
        pass_on(play, WIRE_BYTES);
    }
    played->refused += play->is_over ? 1 : 0;
    end(play);
    free(play);
}
