/* Replays a list of requests on a simulated drive and prints when each ended.
 *
 * replay SCENARIO < requests, a line for each: when (ns), operation (0 read, 1 write, 2 trim, 3 flush), offset, length (bytes).
 * Prints for each, in the order in which they end: its line from 0 on, submitted, completed (ns), outcome; then the statistics.
 */
#include <inttypes.h>
#include <outlast.h>
#include <stdio.h>

static void print_completions(outlast_device *device) {
  outlast_completion ended[64];
  size_t count;
  while ((count = outlast_completions(device, ended, 64)) != 0)
    for (size_t i = 0; i < count; i++)
      printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32 "\n", ended[i].tag, ended[i].submitted, ended[i].completed,
             ended[i].outcome);
}

static int failed(void) {
  fprintf(stderr, "replay: %s\n", outlast_message());
  return 1;
}

int main(int argc, char **argv) {
  outlast_device *device;
  if (argc != 2 || outlast_abi() < OUTLAST_ABI) {
    fprintf(stderr, "usage: replay SCENARIO < requests\n");
    return 2;
  }
  if (outlast_open_file(argv[1], NULL, 0, &device) != OUTLAST_OK)
    return failed();

  uint64_t when, offset, length;
  uint32_t op;
  for (uint64_t line = 0; scanf("%" SCNu64 " %" SCNu32 " %" SCNu64 " %" SCNu64, &when, &op, &offset, &length) == 4; line++) {
    if (outlast_advance(device, when) != OUTLAST_OK ||
        outlast_submit(device, op, 0, offset, length, line, NULL) != OUTLAST_OK)
      return failed();
    print_completions(device);
  }
  /* What is under way ends without further requests; a drive goes on with its own work for as long as it has any. */
  outlast_statistics_t seen;
  for (;;) {
    if (outlast_statistics(device, &seen, sizeof seen) != OUTLAST_OK)
      return failed();
    uint64_t next = outlast_next_event(device);
    if (seen.in_flight == 0 || next == OUTLAST_NEVER)
      break;
    if (outlast_advance(device, next) != OUTLAST_OK)
      return failed();
    print_completions(device);
  }
  printf("requests %" PRIu64 " read %" PRIu64 " written %" PRIu64 " programmed %" PRIu64 "\n", seen.requests,
         seen.read_bytes, seen.written_bytes, seen.programmed_bytes);
  outlast_free(device);
  return 0;
}
