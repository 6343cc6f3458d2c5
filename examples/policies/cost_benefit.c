/* Cost-benefit: the largest (1 - u) / 2u x age (Kawaguchi, Nishioka, Motoda, USENIX 1995), as the built-in policy has it. */
#include <outlast_policy.h>

int64_t choose(const outlast_view *view) {
  int64_t best = OUTLAST_NONE;
  double most = 0.0;
  for (uint32_t i = 0; i < view->superblocks; i++) {
    /* Those that are no candidates have more. */
    if (view->valid[i] >= view->units) continue;
    double age = (double)(view->clock - view->sealed_at[i] + 1);
    double benefit = (double)(view->units - view->valid[i]) * age / (2.0 * (double)view->valid[i]);
    if (best == OUTLAST_NONE || benefit > most) {
      most = benefit;
      best = i;
    }
  }
  return best;
}
