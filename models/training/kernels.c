/* The inner loops of training, called from kernels.py: the word splitter, sparse products, the
 * two-sided softmax and Adam. The word rules are those of ../FORMAT.md; src/embed/static_model.rs
 * has them in Rust. Build: gcc -O3 -march=native -ffast-math -fopenmp -shared -fPIC kernels.c -o libkernels.so -lm
 */
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
  WORD_MAX = 24,   /* longer words are not looked up whole */
  RUN_MAX = 200,   /* longer runs are data, not identifiers */
  PIECE_MIN = 3,
  PIECE_MAX = 12,
  PIECES_MAX = 64,
  SLOTS = 4096     /* of the small map that adds up one text's rows; a power of two above 3 * 400 */
};

/* ---- table of words: open addressing, a word's number is its order of insertion ---- */

typedef struct {
  uint32_t slots, words, capacity;
  uint32_t *slot;
  char *key;
  uint8_t *length;
  int64_t *count;
} Table;

static const uint32_t EMPTY = 0xffffffffu;

static uint64_t hash(const char *s, int n) {
  uint64_t h = 1469598103934665603ull;
  for (int i = 0; i < n; i++) { h ^= (uint8_t)s[i]; h *= 1099511628211ull; }
  return h ^ (h >> 29);
}

Table *table_new(uint32_t capacity) {
  Table *t = calloc(1, sizeof *t);
  t->capacity = capacity;
  t->slots = 1;
  while (t->slots < capacity * 2) t->slots <<= 1;
  t->slot = malloc(sizeof *t->slot * (size_t)t->slots);
  memset(t->slot, 0xff, sizeof *t->slot * (size_t)t->slots);
  t->key = malloc((size_t)capacity * WORD_MAX);
  t->length = malloc(capacity);
  t->count = calloc(capacity, sizeof *t->count);
  return t;
}

/* The word's number, or -1. With `add` a new word gets the next number while there is room. */
int64_t table_find(Table *t, const char *s, int n, int add) {
  if (n > WORD_MAX || n < 1) return -1;
  uint32_t i = hash(s, n) & (t->slots - 1);
  for (; t->slot[i] != EMPTY; i = (i + 1) & (t->slots - 1)) {
    uint32_t k = t->slot[i];
    if (t->length[k] == n && !memcmp(t->key + (size_t)k * WORD_MAX, s, n)) return k;
  }
  if (!add || t->words >= t->capacity) return -1;
  uint32_t k = t->words++;
  t->slot[i] = k;
  memcpy(t->key + (size_t)k * WORD_MAX, s, n);
  t->length[k] = n;
  return k;
}

uint32_t table_words(Table *t) { return t->words; }

void table_dump(Table *t, char *keys, uint8_t *lengths, int64_t *counts) {
  memcpy(keys, t->key, (size_t)t->words * WORD_MAX);
  memcpy(lengths, t->length, t->words);
  memcpy(counts, t->count, sizeof *counts * (size_t)t->words);
}

/* ---- text to runs to rows ---- */

static int upper(char c) { return c >= 'A' && c <= 'Z'; }
static int lower(char c) { return c >= 'a' && c <= 'z'; }
static int digit(char c) { return c >= '0' && c <= '9'; }

/* The next run of text[i..n): its start, its end in *end; -1 when there is none. */
static int64_t next_run(const char *text, int64_t i, int64_t n, int64_t *end) {
  for (; i < n; i++) {
    int64_t start = i;
    if (digit(text[i])) {
      while (i < n && digit(text[i])) i++;
    } else if (upper(text[i])) {
      while (i < n && upper(text[i])) i++;
      if (i < n && lower(text[i])) {
        if (i - start > 1) i--;                     /* HTTPServer: HTTP, then Server */
        else while (i < n && lower(text[i])) i++;
      }
    } else if (lower(text[i])) {
      while (i < n && lower(text[i])) i++;
    } else continue;
    *end = i;
    return start;
  }
  return -1;
}

static int lower_case(char *out, const char *s, int64_t n) {
  for (int64_t i = 0; i < n; i++) out[i] = upper(s[i]) ? s[i] + 32 : s[i];
  return (int)n;
}

void count_words(Table *t, const char *text, int64_t n, int limit) {
  char word[WORD_MAX];
  int64_t i = 0, end, start;
  for (int runs = 0; (start = next_run(text, i, n, &end)) >= 0 && runs < limit; runs++) {
    i = end;
    if (end - start > WORD_MAX) continue;
    int64_t k = table_find(t, word, lower_case(word, text + start, end - start), 1);
    if (k >= 0) t->count[k]++;
  }
}

/* One text's rows while they are added up: `slot` points into ids/values, EMPTY_SLOT where free. */
typedef struct { int32_t slot[SLOTS]; int32_t *ids; float *values; int n; } Sum;

static uint32_t sum_slot(Sum *s, int32_t id) {
  uint32_t h = ((uint32_t)id * 2654435761u) >> 20;
  while (s->slot[h] >= 0 && s->ids[s->slot[h]] != id) h = (h + 1) & (SLOTS - 1);
  return h;
}

static void sum_add(Sum *s, int32_t id, float x) {
  uint32_t h = sum_slot(s, id);
  if (s->slot[h] < 0) {
    s->slot[h] = s->n;
    s->ids[s->n] = id;
    s->values[s->n++] = 0;
  }
  s->values[s->slot[h]] += x;
}

/* Greedy longest match from the left, pieces of PIECE_MIN to PIECE_MAX characters. */
static int pieces_of(Table *t, const char *word, int n, int32_t *pieces) {
  int count = 0;
  for (int p = 0; p < n && count < PIECES_MAX;) {
    int end = n < p + PIECE_MAX ? n : p + PIECE_MAX;
    int64_t k = -1;
    for (; end >= p + PIECE_MIN; end--)
      if ((k = table_find(t, word + p, end - p, 0)) >= 0) break;
    if (k < 0) { p++; continue; }
    pieces[count++] = (int32_t)k;
    p = end;
  }
  return count;
}

/* A text's rows in order of first use, with the square root of their counts. `ids` and `values`
 * hold at least 3 * limit + PIECES_MAX entries. */
int encode(Table *t, const char *text, int64_t n, int limit, int32_t *ids, float *values) {
  static _Thread_local Sum sum;
  memset(sum.slot, 0xff, sizeof sum.slot);
  sum.ids = ids; sum.values = values; sum.n = 0;
  char word[RUN_MAX];
  int32_t pieces[PIECES_MAX];
  int64_t i = 0, end, start;
  for (int runs = 0; (start = next_run(text, i, n, &end)) >= 0 && runs < limit; runs++) {
    i = end;
    if (end - start > RUN_MAX) continue;
    int length = lower_case(word, text + start, end - start);
    int64_t k = table_find(t, word, length, 0);
    if (k >= 0) { sum_add(&sum, (int32_t)k, 1); continue; }
    if (length < 4) continue;
    int count = pieces_of(t, word, length, pieces);
    for (int j = 0; j < count; j++) sum_add(&sum, pieces[j], 1.0f / count);
    if (sum.n > 3 * limit) break;
  }
  for (int j = 0; j < sum.n; j++) values[j] = sqrtf(values[j]);
  return sum.n;
}

/* ---- training: a batch is a sparse matrix (start, id, value) over the table E of dim columns ---- */

/* out[r] = sum of value * weight[id] * E[id]; `weight` may be NULL (a query's words). */
void sparse_forward(int n, const int64_t *start, const int32_t *id, const float *value, const float *E,
                    const float *weight, int dim, float *out) {
#pragma omp parallel for schedule(dynamic, 32)
  for (int r = 0; r < n; r++) {
    float *o = out + (size_t)r * dim;
    memset(o, 0, sizeof *o * dim);
    for (int64_t k = start[r]; k < start[r + 1]; k++) {
      if (value[k] == 0) continue;
      float a = weight ? value[k] * weight[id[k]] : value[k];
      const float *e = E + (size_t)id[k] * dim;
      for (int d = 0; d < dim; d++) o[d] += a * e[d];
    }
  }
}

/* Adds the gradients of the table to gE and of the weights to gW (one row of `words` a thread).
 * Threads share the columns, so no two write the same value. */
void sparse_backward(int n, const int64_t *start, const int32_t *id, const float *value, const float *E,
                     const float *weight, int dim, const float *g, float *gE, float *gW, int words) {
#pragma omp parallel
  {
    int thread = omp_get_thread_num(), threads = omp_get_num_threads();
    int from = dim * thread / threads, to = dim * (thread + 1) / threads;
    for (int r = 0; r < n; r++) {
      const float *q = g + (size_t)r * dim;
      for (int64_t k = start[r]; k < start[r + 1]; k++) {
        float a = value[k];
        if (a == 0) continue;
        float *ge = gE + (size_t)id[k] * dim;
        const float *e = E + (size_t)id[k] * dim;
        float w = weight ? a * weight[id[k]] : a, s = 0;
        for (int d = from; d < to; d++) { s += q[d] * e[d]; ge[d] += w * q[d]; }
        if (weight) gW[(size_t)thread * words + id[k]] += a * s;
      }
    }
  }
}

/* One step of Adam on the named rows only; their gradients are set to nothing again. Rows that a
 * batch does not touch keep their moments as they are. */
void adam_rows(int n, const int32_t *row, int dim, float *E, float *m, float *v, float *g, float rate,
               float beta1, float beta2, float correct1, float correct2, float epsilon) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < n; r++) {
    size_t o = (size_t)row[r] * dim;
    for (size_t i = o; i < o + dim; i++) {
      float x = g[i];
      g[i] = 0;
      m[i] = beta1 * m[i] + (1 - beta1) * x;
      v[i] = beta2 * v[i] + (1 - beta2) * x * x;
      E[i] -= rate * (m[i] / correct1) / (sqrtf(v[i] / correct2) + epsilon);
    }
  }
}

/* Softmax over the rows and over the columns of the n x n logits G, which is overwritten:
 * P = (row softmax + column softmax) / 2 - I. Returns the mean loss of the rows. */
double softmax_both(float *G, float *P, int n) {
  float *top = malloc(sizeof *top * n), *sums = calloc(n, sizeof *sums);
  double loss = 0;
  for (int j = 0; j < n; j++) top[j] = -1e30f;
  for (int i = 0; i < n; i++) {
    const float *g = G + (size_t)i * n;
    for (int j = 0; j < n; j++) top[j] = g[j] > top[j] ? g[j] : top[j];
  }
#pragma omp parallel
  {
    float *mine = calloc(n, sizeof *mine);
#pragma omp for reduction(+ : loss)
    for (int i = 0; i < n; i++) {
      float *g = G + (size_t)i * n, *p = P + (size_t)i * n, best = -1e30f, s = 0;
      for (int j = 0; j < n; j++) best = g[j] > best ? g[j] : best;
      for (int j = 0; j < n; j++) { p[j] = expf(g[j] - best); s += p[j]; }
      loss -= g[i] - best - logf(s);
      float half = 0.5f / s;
      for (int j = 0; j < n; j++) { p[j] *= half; g[j] = expf(g[j] - top[j]); mine[j] += g[j]; }
    }
#pragma omp critical
    for (int j = 0; j < n; j++) sums[j] += mine[j];
#pragma omp barrier
#pragma omp for
    for (int i = 0; i < n; i++) {
      float *g = G + (size_t)i * n, *p = P + (size_t)i * n;
      for (int j = 0; j < n; j++) p[j] += 0.5f * g[j] / sums[j];
      p[i] -= 1;
    }
    free(mine);
  }
  free(top);
  free(sums);
  return loss / n;
}
