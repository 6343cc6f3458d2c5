/* Keeps DEPTH requests of 4 KiB in flight, seven reads to three writes at random places, and prints how many requests the simulated drive
 * serves a second of its time, and how many the simulator handles in a second of the processor's.
 *
 * closed_loop SCENARIO REQUESTS
 */
#include <inttypes.h>
#include <outlast.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 32, SIZE = 4096 };

static uint64_t state = 1;

static uint64_t drawn(void) { /* xorshift64 */
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

int main(int argc, char **argv) {
  outlast_device *device;
  outlast_completion ended[DEPTH];
  if (argc != 3)
    return 2;
  if (outlast_open_file(argv[1], NULL, 0, &device) != OUTLAST_OK) {
    fprintf(stderr, "closed_loop: %s\n", outlast_message());
    return 1;
  }
  const uint64_t places = outlast_capacity(device) / SIZE, requests = strtoull(argv[2], NULL, 10);
  const clock_t began = clock();
  uint64_t done = 0, submitted = 0;
  while (done < requests) {
    for (; submitted < requests && submitted - done < DEPTH; submitted++) {
      uint32_t op = drawn() % 10 < 7 ? OUTLAST_READ : OUTLAST_WRITE;
      outlast_submit(device, op, 0, drawn() % places * SIZE, SIZE, submitted, NULL);
    }
    if (outlast_advance_to_completion(device, outlast_now(device) + 1000000000) != OUTLAST_OK) {
      fprintf(stderr, "closed_loop: %s\n", outlast_message());
      return 1;
    }
    done += outlast_completions(device, ended, DEPTH);
  }
  const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
  printf("%.0f IOPS of the drive, %.0f requests a CPU-second\n", 1e9 * (double)done / (double)outlast_now(device),
         (double)done / seconds);
  outlast_free(device);
  return 0;
}
