/* A simulated drive or array in virtual time, for simulators and programs in C and C++:
 *
 *     cc -I "$(outlast c-api --include)" -o mine mine.c -L "$(outlast c-api --lib)" -loutlast
 *
 * A device is opened from a scenario, prepared as it says, and its time begins at 0. The caller submits requests at the device's present
 * time, moves the time, and takes what has completed. The same scenario and the same requests at the same times complete at the same
 * times, as in `outlast run`. The scenario's workload does not run; its faults happen.
 *
 * Functions that return int return OUTLAST_OK or a code; outlast_message then says why. A device may be used by one thread at a time, and
 * by different threads in turn; different devices are independent. Times are nanoseconds, offsets and lengths bytes.
 */
#ifndef OUTLAST_H
#define OUTLAST_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. Later ones add functions, codes, and fields at the end of outlast_statistics_t; what is here stays. */
#define OUTLAST_ABI 1
/* No event: the device is idle. */
#define OUTLAST_NEVER UINT64_MAX
/* A flag of a write: it completes only when its data is on flash. */
#define OUTLAST_FUA UINT32_C(1)

/* Codes: done; an argument is outside its range, and nothing was done; the scenario is wrong; 65536 requests are in flight; a defect of
 * the library, after which the device can only be freed. */
enum { OUTLAST_OK, OUTLAST_BAD_ARGUMENT, OUTLAST_BAD_SCENARIO, OUTLAST_FULL, OUTLAST_BUG };

/* What a request does. A flush ignores offset and length. */
enum { OUTLAST_READ, OUTLAST_WRITE, OUTLAST_TRIM, OUTLAST_FLUSH };

/* How a request ended. */
enum {
  OUTLAST_SERVED,
  OUTLAST_OUT_OF_RANGE,      /* beyond the capacity; nothing was done */
  OUTLAST_READ_ONLY,         /* too few good blocks are left to write */
  OUTLAST_MEDIUM_ERROR,      /* data could not be read */
  OUTLAST_ABORTED,           /* the power failed, or an array has not started since it did */
  OUTLAST_INVALID_NAMESPACE, /* of no request that this interface makes */
  OUTLAST_ZONE_ERROR,        /* of a drive with zones: a write elsewhere than at the write pointer, or beyond the zone */
  OUTLAST_INVALID_OPCODE     /* of no request that this interface makes */
};

/* A device, from outlast_open_* to outlast_free. */
typedef struct outlast_device outlast_device;

/* A request that has ended. */
typedef struct outlast_completion {
  uint64_t tag;       /* the caller's own name for it */
  uint64_t submitted; /* when it was submitted */
  uint64_t completed; /* when it ended */
  const void *data;   /* of a read where the scenario says device.bytes = true, else null; good until the next outlast_completions */
  uint64_t length;    /* bytes at `data` */
  uint32_t outcome;   /* OUTLAST_SERVED to OUTLAST_INVALID_OPCODE */
  uint32_t reserved;
} outlast_completion;

/* Totals since the device was opened; those of flash of all drives together. */
typedef struct outlast_statistics_t {
  uint64_t requests;         /* ended, whatever became of them */
  uint64_t failed;           /* of these, not served */
  uint64_t read_bytes;       /* of reads that were served */
  uint64_t written_bytes;    /* of writes that were served */
  uint64_t programmed_bytes; /* by flash: over written_bytes, the write amplification */
  uint64_t erased_blocks;
  uint64_t in_flight; /* requests that have not ended */
  double mean_cycles; /* P/E cycles of the blocks, preparation included */
} outlast_statistics_t;

/* The version of the library; a program that needs this header's functions checks that it is at least OUTLAST_ABI. */
uint32_t outlast_abi(void);
/* Why the last failed call of this thread failed, in a line; good until the thread's next call. Empty before the first, and in destructors
 * that run when the thread ends. */
const char *outlast_message(void);

/* Opens a scenario: a file's path or a preset's name, or a text in TOML. `settings` are `count` single settings such as
 * "device.ftl.gc.policy=fifo", and may be null if there are none. `*device` is null after a failure. Takes up to 512 KiB of stack. */
int outlast_open_file(const char *path, const char *const *settings, size_t count, outlast_device **device);
int outlast_open_text(const char *toml, const char *const *settings, size_t count, outlast_device **device);
/* Frees a device; null is nothing. */
void outlast_free(outlast_device *device);

/* The capacity in bytes. */
uint64_t outlast_capacity(outlast_device *device);
/* The time reached. */
uint64_t outlast_now(outlast_device *device);
/* The next time at which something happens in the device, or OUTLAST_NEVER. It may have changed after each other call. */
uint64_t outlast_next_event(outlast_device *device);

/* Submits a request now. Offset and length are multiples of 512. `data` are the contents of a write where the scenario says
 * device.bytes = true; elsewhere it may be null. */
int outlast_submit(outlast_device *device, uint32_t op, uint32_t flags, uint64_t offset, uint64_t length, uint64_t tag,
                   const void *data);
/* Lets everything happen until `until`, which is the time then. */
int outlast_advance(outlast_device *device, uint64_t until);
/* The same, but stops at the first completion, and at once where one has not been taken. */
int outlast_advance_to_completion(outlast_device *device, uint64_t limit);
/* Takes up to `room` completions, the oldest first, and returns how many. */
size_t outlast_completions(outlast_device *device, outlast_completion *to, size_t room);
/* Writes the statistics; `size` is sizeof(outlast_statistics_t). */
int outlast_statistics(outlast_device *device, outlast_statistics_t *to, size_t size);

#ifdef __cplusplus
}
#endif

#endif
