/* Decisions of a simulated drive, taken by a shared library:
 *
 *     cc -O2 -shared -fPIC -I "$(outlast policies --include)" -o mine.so mine.c
 *     outlast run peers-32g --set policies.gc=mine.so:choose
 *
 * `choose` has the type outlast_choose. It must depend on nothing but the view and what it draws: then the same scenario and seed give the
 * same bytes. It may be called from several threads, each with a view of its own.
 */
#ifndef OUTLAST_POLICY_H
#define OUTLAST_POLICY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface; later ones add to the end of the view. */
#define OUTLAST_POLICY_ABI 1
/* No superblock: none is worth it now. */
#define OUTLAST_NONE INT64_C(-1)
/* Set in `valid` of a superblock that must not be taken. */
#define OUTLAST_NO_CANDIDATE (UINT32_C(1) << 31)

/* What a superblock is. */
enum { OUTLAST_FREE, OUTLAST_OPEN, OUTLAST_SEALED, OUTLAST_COLLECTING, OUTLAST_RETIRED };

/* The superblocks of one flash core; of each array, one entry for each. The arrays are good until the function returns. */
typedef struct outlast_view {
  uint32_t abi;              /* OUTLAST_POLICY_ABI */
  uint32_t superblocks;      /* entries of each array */
  const uint32_t *valid;     /* valid units, with OUTLAST_NO_CANDIDATE; larger than `units` then */
  const uint64_t *sealed_at; /* the clock when a superblock was last filled */
  const uint64_t *order;     /* how many had been filled before it */
  const uint32_t *erases;    /* P/E cycles, the mean of its blocks */
  const uint8_t *state;      /* OUTLAST_FREE to OUTLAST_RETIRED */
  const uint8_t *stream;     /* the stream that opened it: those of the host first, then those that data moves to */
  uint64_t clock;            /* units that the host has written to this core */
  uint32_t units;            /* units of a superblock, if all were valid */
  uint32_t choices;          /* the setting device.ftl.gc.choices */
  void *lots;                /* for `below` */
  uint64_t (*below)(void *lots, uint64_t bound); /* a random number of 0 to bound - 1, so that runs repeat */
} outlast_view;

/* The number of a superblock, or OUTLAST_NONE. */
typedef int64_t outlast_choose(const outlast_view *view);

#ifdef __cplusplus
}
#endif

#endif
