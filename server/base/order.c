// SPDX-License-Identifier: MIT
#include "base/order.h"

#include "base/assert.h"

#define NONE UINT32_MAX
// for who asks whether to stop: every entry of a list is looked at three times, about
#define OPERATIONS_PER_ENTRY 4.0
#define OPERATIONS_PER_PIVOT 60.0

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The memory is too small to order a sparse system.");
}

Status order_neighbours(const Graph *graph, Arena *arena, Neighbours *out, Error *error) {
    ASSERT(graph->edge_count < (size_t)1 << 31);
    uint32_t count = graph->vertex_count;
    size_t *first = arena_take_zeroed(arena, (size_t)count + 2, sizeof(*first));
    uint32_t *neighbour = arena_take_array(arena, graph->edge_count, 2 * sizeof(*neighbour));
    if (first == NULL || neighbour == NULL) {
        return no_memory(error);
    }
    // first[i + 2] counts, then first[i + 1] says where the next neighbour of i goes
    for (size_t k = 0; k < 2 * graph->edge_count; k++) {
        VALIDATE(graph->end[k] < count);
        first[graph->end[k] + 2]++;
    }
    for (uint32_t i = 0; i < count; i++) {
        first[i + 2] += first[i + 1];
    }
    for (size_t k = 0; k < 2 * graph->edge_count; k++) {
        VALIDATE(graph->end[k] != graph->end[k ^ 1]);
        neighbour[first[graph->end[k] + 1]++] = graph->end[k ^ 1];
    }
    *out = (Neighbours){first, neighbour};
    return STATUS_OK;
}

// A vertex is a variable, until it is eliminated and becomes an element of the same index. A
// variable that was found like another, or was eliminated with it, is among that one's members.
typedef struct Order {
    uint32_t count;
    uint32_t *weight;   // unknowns of a variable and its members; 0: a member, or an element
    uint32_t *degree;   // variable: bound on the unknowns beside it; element: those of its list
    size_t *first;      // variable: of its list in `list`, elements, then variables
    uint32_t *elements; // variable: how many are elements
    uint32_t *length;   // variable: of its list; element: of its list in `store`
    uint32_t *list;
    bool *is_element; // alive
    size_t *begin;    // element: of its list in `store`
    uint32_t *store;
    size_t store_used, store_capacity;
    uint32_t *last, *next; // members of a variable: a chain from itself to last[variable]
    uint32_t *heap, *place, heap_count;
    uint32_t *bucket, *bucket_next, *hash; // variables of one list that may be alike
    uint64_t *outside; // element: stamp + unknowns of its list that the newest element has not
    uint64_t stamp;    // grows by more than any weight from element to element
    uint32_t *mark;    // of variables: the newest element that has it, plus 1
    uint32_t left;     // unknowns that are not eliminated
    size_t looked_at;  // entries of lists
} Order;

// ---- a heap of variables by degree, then index

static bool comes_before(const Order *o, uint32_t a, uint32_t b) {
    return o->degree[a] < o->degree[b] || (o->degree[a] == o->degree[b] && a < b);
}

static void heap_put(Order *o, uint32_t at, uint32_t variable) {
    o->heap[at] = variable;
    o->place[variable] = at;
}

static void heap_rise(Order *o, uint32_t at) {
    uint32_t variable = o->heap[at];
    while (at > 0 && comes_before(o, variable, o->heap[(at - 1) / 2])) {
        heap_put(o, at, o->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_put(o, at, variable);
}

static void heap_sink(Order *o, uint32_t at) {
    uint32_t variable = o->heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= o->heap_count) {
            break;
        }
        if (child + 1 < o->heap_count && comes_before(o, o->heap[child + 1], o->heap[child])) {
            child++;
        }
        if (!comes_before(o, o->heap[child], variable)) {
            break;
        }
        heap_put(o, at, o->heap[child]);
        at = child;
    }
    heap_put(o, at, variable);
}

static void heap_move(Order *o, uint32_t variable) {
    heap_rise(o, o->place[variable]);
    heap_sink(o, o->place[variable]);
}

static void heap_remove(Order *o, uint32_t variable) {
    uint32_t at = o->place[variable];
    o->heap_count--;
    if (at < o->heap_count) {
        heap_put(o, at, o->heap[o->heap_count]);
        heap_move(o, o->heap[at]);
    }
}

// ---- elements

// The lists of elements that are alive, one after the other. Each variable of such a list has the
// element in its own, which is no longer than at the start: together they are no more than `list`.
static void compact(Order *o, uint32_t *sorted) {
    uint32_t alive = 0;
    for (size_t at = 0; at < o->store_used; at += o->length[o->store[at]] + 1) {
        // before each list stands whose it is
        if (o->is_element[o->store[at]]) {
            sorted[alive++] = o->store[at];
        }
    }
    o->store_used = 0;
    for (uint32_t k = 0; k < alive; k++) {
        uint32_t element = sorted[k];
        size_t from = o->begin[element] - 1;
        memmove(o->store + o->store_used, o->store + from,
                ((size_t)o->length[element] + 1) * sizeof(*o->store));
        o->begin[element] = o->store_used + 1;
        o->store_used += (size_t)o->length[element] + 1;
    }
}

static void gather(Order *o, uint32_t pivot, const uint32_t *from, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = from[k];
        if (o->weight[i] != 0 && o->mark[i] != pivot + 1) {
            o->mark[i] = pivot + 1;
            o->store[o->store_used++] = i;
            o->degree[pivot] += o->weight[i];
        }
    }
}

// The pivot becomes the element of all that it, or an element beside it, joins.
static void make_element(Order *o, uint32_t pivot) {
    const uint32_t *list = o->list + o->first[pivot];
    o->mark[pivot] = pivot + 1;
    o->store[o->store_used++] = pivot;
    o->begin[pivot] = o->store_used;
    o->degree[pivot] = 0;
    for (uint32_t k = 0; k < o->elements[pivot]; k++) {
        uint32_t element = list[k];
        if (o->is_element[element]) {
            gather(o, pivot, o->store + o->begin[element], o->length[element]);
            o->is_element[element] = false;
        }
    }
    gather(o, pivot, list + o->elements[pivot], o->length[pivot] - o->elements[pivot]);
    o->length[pivot] = (uint32_t)(o->store_used - o->begin[pivot]);
    o->left -= o->weight[pivot];
    o->weight[pivot] = 0;
    o->is_element[pivot] = true;
}

// outside[e] - stamp, of every element that shares a variable with the newest
static void measure_elements(Order *o, uint32_t pivot) {
    const uint32_t *member = o->store + o->begin[pivot];
    for (uint32_t k = 0; k < o->length[pivot]; k++) {
        uint32_t i = member[k];
        for (uint32_t e = 0; e < o->elements[i]; e++) {
            uint32_t element = o->list[o->first[i] + e];
            if (!o->is_element[element]) {
                continue;
            }
            if (o->outside[element] < o->stamp) {
                o->outside[element] = o->stamp + o->degree[element];
            }
            o->outside[element] -= o->weight[i];
        }
    }
}

// ---- variables

// What is alive of the elements of a variable; those whose every variable the newest element joins
// too are absorbed. Returns their number.
static uint32_t prune_elements(Order *o, uint32_t i, uint64_t *degree) {
    uint32_t *list = o->list + o->first[i], kept = 0;
    o->looked_at += o->length[i];
    for (uint32_t k = 0; k < o->elements[i]; k++) {
        uint32_t element = list[k];
        if (!o->is_element[element]) {
            continue;
        }
        if (o->outside[element] == o->stamp) {
            o->is_element[element] = false;
            continue;
        }
        *degree += o->outside[element] - o->stamp;
        o->hash[i] += element;
        list[kept++] = element;
    }
    return kept;
}

// Takes what the newest element says out of the list of one of its variables, and puts the element
// in. Leaves in `degree` a bound on what is beside the variable outside of the newest element.
static void prune(Order *o, uint32_t pivot, uint32_t i) {
    uint32_t *list = o->list + o->first[i];
    uint64_t degree = 0;
    o->hash[i] = 0;
    uint32_t kept = prune_elements(o, i, &degree);
    // The pivot's place may hold a variable that is not read yet, so the first comes last. The list
    // has room: the pivot was in it, or an element that it absorbed.
    uint32_t variables = 0, held = NONE;
    for (uint32_t k = o->elements[i]; k < o->length[i]; k++) {
        uint32_t j = list[k];
        if (o->weight[j] == 0 || o->mark[j] == pivot + 1) {
            continue;
        }
        degree += o->weight[j];
        o->hash[i] += j;
        if (variables == 0) {
            held = j;
        } else {
            list[kept + variables] = j;
        }
        variables++;
    }
    list[kept] = pivot;
    if (variables > 0) {
        list[kept + variables] = held;
    }
    ASSERT(kept + 1 + variables <= o->length[i]);
    o->elements[i] = kept + 1;
    o->length[i] = kept + 1 + variables;
    o->degree[i] = degree < o->degree[i] ? (uint32_t)degree : o->degree[i];
}

// `variable` is a member of `into` from now on.
static void join_members(Order *o, uint32_t into, uint32_t variable) {
    o->next[o->last[into]] = variable;
    o->last[into] = o->last[variable];
    o->weight[variable] = 0;
    heap_remove(o, variable);
}

static bool is_alike(const Order *o, uint32_t a, uint32_t b, uint32_t *seen, uint32_t token) {
    if (o->length[a] != o->length[b] || o->elements[a] != o->elements[b]) {
        return false;
    }
    const uint32_t *list_a = o->list + o->first[a], *list_b = o->list + o->first[b];
    for (uint32_t k = 0; k < o->length[a]; k++) {
        seen[list_a[k]] = token;
    }
    for (uint32_t k = 0; k < o->length[b]; k++) {
        if (seen[list_b[k]] != token) {
            return false;
        }
    }
    return true;
}

// Variables of the newest element that have the same lists are one from now on. Only those with the
// same sum of their lists are compared; `seen` is of all vertices.
static void join_alike(Order *o, uint32_t pivot, uint32_t *seen, uint32_t *token) {
    const uint32_t *member = o->store + o->begin[pivot];
    uint32_t count = o->length[pivot];
    for (uint32_t k = 0; k < count; k++) {
        o->bucket[o->hash[member[k]] % o->count] = NONE;
    }
    for (uint32_t k = 0; k < count; k++) {
        uint32_t i = member[k];
        if (o->weight[i] == 0) {
            continue;
        }
        uint32_t *bucket = &o->bucket[o->hash[i] % o->count], j = *bucket;
        while (j != NONE && !(o->hash[j] == o->hash[i] && is_alike(o, j, i, seen, ++*token))) {
            j = o->bucket_next[j];
        }
        if (j == NONE) {
            o->bucket_next[i] = *bucket;
            *bucket = i;
        } else {
            o->weight[j] += o->weight[i];
            join_members(o, j, i);
        }
    }
}

// What only the newest element joins goes with it.
static void eliminate_along(Order *o, uint32_t pivot) {
    const uint32_t *member = o->store + o->begin[pivot];
    for (uint32_t k = 0; k < o->length[pivot]; k++) {
        uint32_t i = member[k];
        if (o->length[i] == 1) {
            o->degree[pivot] -= o->weight[i];
            o->left -= o->weight[i];
            join_members(o, pivot, i);
        }
    }
}

static void settle(Order *o, uint32_t pivot) {
    uint32_t *member = o->store + o->begin[pivot], kept = 0;
    for (uint32_t k = 0; k < o->length[pivot]; k++) {
        uint32_t i = member[k];
        if (o->weight[i] == 0) {
            continue;
        }
        uint64_t degree = (uint64_t)o->degree[i] + o->degree[pivot] - o->weight[i];
        uint32_t others = o->left - o->weight[i];
        o->degree[i] = degree < others ? (uint32_t)degree : others;
        heap_move(o, i);
        member[kept++] = i;
    }
    o->length[pivot] = kept;
    o->store_used = o->begin[pivot] + kept;
    o->is_element[pivot] = kept > 0;
}

// Returns the multiplications that it takes in a symmetric factor.
static double eliminate(Order *o, uint32_t *scratch, uint32_t *token) {
    if (o->store_used + o->count + 1 > o->store_capacity) {
        compact(o, o->bucket);
    }
    uint32_t pivot = o->heap[0], left = o->left;
    heap_remove(o, pivot);
    make_element(o, pivot);
    measure_elements(o, pivot);
    for (uint32_t k = 0; k < o->length[pivot]; k++) {
        prune(o, pivot, o->store[o->begin[pivot] + k]);
    }
    eliminate_along(o, pivot);
    join_alike(o, pivot, scratch, token);
    settle(o, pivot);
    o->stamp += (uint64_t)UINT32_MAX + 1;
    return order_operations(left - o->left, o->degree[pivot]);
}

// ---- all of it

static bool take(Order *o, const Graph *graph, Arena *arena) {
    size_t count = graph->vertex_count;
    // twice what is alive at most, so that lists are seldom moved, and the newest
    o->store_capacity = 4 * graph->edge_count + 2 * (count + 1) + count;
    o->weight = arena_take_array(arena, count, sizeof(*o->weight));
    o->degree = arena_take_zeroed(arena, count, sizeof(*o->degree));
    o->elements = arena_take_zeroed(arena, count, sizeof(*o->elements));
    o->length = arena_take_zeroed(arena, count, sizeof(*o->length));
    o->is_element = arena_take_zeroed(arena, count, sizeof(*o->is_element));
    o->begin = arena_take_zeroed(arena, count, sizeof(*o->begin));
    o->store = arena_take_array(arena, o->store_capacity, sizeof(*o->store));
    o->last = arena_take_array(arena, count, sizeof(*o->last));
    o->next = arena_take_array(arena, count, sizeof(*o->next));
    o->heap = arena_take_array(arena, count, sizeof(*o->heap));
    o->place = arena_take_array(arena, count, sizeof(*o->place));
    o->bucket = arena_take_array(arena, count, sizeof(*o->bucket));
    o->bucket_next = arena_take_array(arena, count, sizeof(*o->bucket_next));
    o->hash = arena_take_array(arena, count, sizeof(*o->hash));
    o->outside = arena_take_zeroed(arena, count, sizeof(*o->outside));
    o->mark = arena_take_zeroed(arena, count, sizeof(*o->mark));
    return o->weight != NULL && o->degree != NULL && o->elements != NULL && o->length != NULL &&
           o->is_element != NULL && o->begin != NULL && o->store != NULL && o->last != NULL &&
           o->next != NULL && o->heap != NULL && o->place != NULL && o->bucket != NULL &&
           o->bucket_next != NULL && o->hash != NULL && o->outside != NULL && o->mark != NULL;
}

static void start(Order *o, const Graph *graph, const Neighbours *neighbours, uint32_t *seen) {
    o->count = o->heap_count = graph->vertex_count;
    o->first = neighbours->first;
    o->list = neighbours->neighbour;
    o->stamp = (uint64_t)UINT32_MAX + 1;
    for (uint32_t i = 0; i < o->count; i++) {
        ASSERT(graph->width[i] > 0);
        o->weight[i] = graph->width[i];
        o->left += graph->width[i];
        o->last[i] = i;
        o->next[i] = NONE;
    }
    uint32_t token = 0;
    for (uint32_t i = 0; i < o->count; i++) {
        // each neighbour once
        token++;
        for (size_t k = o->first[i]; k < o->first[i + 1]; k++) {
            uint32_t j = o->list[k];
            if (seen[j] != token) {
                seen[j] = token;
                o->list[o->first[i] + o->length[i]++] = j;
                o->degree[i] += o->weight[j];
            }
        }
        heap_put(o, i, i);
    }
    for (uint32_t i = o->count / 2; i-- > 0;) {
        heap_sink(o, i);
    }
}

// Until all is eliminated, or it is not worth it.
static Status eliminate_all(Order *o, OrderLimit limit, uint32_t *seen, uint32_t *order,
                            double *operations, Error *error) {
    uint32_t done = 0, token = 0;
    *operations = 0.0;
    while (o->heap_count > 0) {
        uint32_t pivot = o->heap[0];
        size_t looked_at = o->looked_at;
        *operations += eliminate(o, seen, &token);
        for (uint32_t i = pivot; i != NONE; i = o->next[i]) {
            order[done++] = i;
        }
        if (*operations > limit.operations_max) {
            return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                             "A sparse system takes more than %g multiplications.",
                             limit.operations_max);
        }
        double work =
            OPERATIONS_PER_PIVOT + OPERATIONS_PER_ENTRY * (double)(o->looked_at - looked_at);
        if (asker_spend(limit.asker, work)) {
            return error_set(error, STATUS_ABORTED, "",
                             "The order of a sparse system was given up.");
        }
    }
    ASSERT(done == o->count);
    return STATUS_OK;
}

Status order_minimum_degree(const Graph *graph, OrderLimit limit, Arena *arena, uint32_t *order,
                            double *operations, Error *error) {
    ArenaMark mark = arena_mark(arena);
    Order o = {0};
    Neighbours neighbours = {0};
    uint32_t *seen = arena_take_zeroed(arena, graph->vertex_count, sizeof(*seen));
    Status status = order_neighbours(graph, arena, &neighbours, error);
    if (status != STATUS_OK || neighbours.first == NULL || seen == NULL ||
        !take(&o, graph, arena)) {
        arena_reset_to(arena, mark);
        return no_memory(error);
    }
    start(&o, graph, &neighbours, seen);
    memset(seen, 0, graph->vertex_count * sizeof(*seen));
    status = eliminate_all(&o, limit, seen, order, operations, error);
    arena_reset_to(arena, mark);
    return status;
}
