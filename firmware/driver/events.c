#include "completions.h"
#include "context_state.h"
#include "packets.h"
#include "queues.h"
#include "t3/streams.h"
#include "wait.h"

static const char own_events[] = "an event that this context has recorded";

static enum t3_status record(struct t3_context* context, uint32_t queue, struct t3_event* event) {
  const struct t3_state* state = state_of(context);
  if (!t3_is_queue(context, queue)) return t3_at_fault(context, "queue", "an open queue");
  *event = (struct t3_event){
      .owner = state->owner, .context = context, .kernel = state->queues[queue].submitted, .queue = queue};
  return T3_OK;
}

enum t3_status t3_event_record(struct t3_context* context, uint32_t queue, struct t3_event* event) {
  if (event == NULL) return T3_REFUSE(context, "event", "a place for it");
  return T3_LOCKED(context, record(context, queue, event));
}

static bool is_own(const struct t3_context* context, const struct t3_event* event) {
  return event != NULL && event->context == context && event->owner == const_state_of(context)->owner &&
         event->queue < T3_QUEUES && event->kernel <= const_state_of(context)->queues[event->queue].submitted;
}

/* As far as the driver knows. A queue is destroyed when all its kernels have ended. */
static bool has_happened(const struct t3_context* context, const struct t3_event* event) {
  const struct t3_queue_state* queue = &const_state_of(context)->queues[event->queue];
  return !queue->is_open || event->kernel <= queue->looked_at;
}

static enum t3_status query(struct t3_context* context, const struct t3_event* event) {
  if (!is_own(context, event)) return t3_at_fault(context, "event", own_events);
  if (has_happened(context, event)) return T3_OK;
  uint64_t completed = 0;
  T3_TRY(t3_look_at_kernels(context, event->queue, &completed));
  return completed >= event->kernel ? T3_OK : T3_BUSY;
}

enum t3_status t3_event_query(struct t3_context* context, const struct t3_event* event) {
  return T3_LOCKED(context, query(context, event));
}

static enum t3_status wait_on_host(struct t3_context* context, const struct t3_event* event, uint64_t deadline_ns) {
  if (!is_own(context, event)) return t3_at_fault(context, "event", own_events);
  if (has_happened(context, event)) return T3_OK;
  return t3_wait_completed_until(context, event->queue, event->kernel, deadline_ns);
}

enum t3_status t3_event_wait(struct t3_context* context, const struct t3_event* event, uint64_t deadline_ns) {
  return T3_LOCKED(context, wait_on_host(context, event, deadline_ns));
}

static enum t3_status wait_in_queue(struct t3_context* context, uint32_t queue, const struct t3_event* event) {
  if (!is_own(context, event)) return t3_at_fault(context, "event", own_events);
  if (!t3_is_queue(context, queue)) return t3_at_fault(context, "queue", "an open queue");
  if (event->queue == queue || has_happened(context, event)) return T3_OK;
  const struct t3_submission submission = {
      .packet = {.flags = T3_KERNEL_PACKET_FLAGS_BARRIER | T3_KERNEL_PACKET_FLAGS_WAIT,
                 .arguments = event->kernel,
                 .completion_signal = T3_KERNEL_PACKET_COMPLETION_SIGNAL_NONE,
                 .workgroups = event->queue}};
  return t3_submit_to(context, queue, &submission);
}

enum t3_status t3_queue_wait_event(struct t3_context* context, uint32_t queue, const struct t3_event* event) {
  return T3_LOCKED(context, wait_in_queue(context, queue, event));
}
