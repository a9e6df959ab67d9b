/* Names of T3_API_VERSION 1 to 3. Who uses one gets the compiler's error, which says the new name. Nothing of this is
 * defined anywhere. */
#ifndef T3_OLD_NAMES_H
#define T3_OLD_NAMES_H

#if defined(__has_attribute)
#if __has_attribute(unavailable)
#define T3_IS_NOW(name) __attribute__((unavailable(name)))
#elif __has_attribute(error)
#define T3_IS_NOW(name) __attribute__((error(name)))
#endif
#endif

#ifdef T3_IS_NOW
#ifdef __cplusplus
#include <stdint.h>
#define T3_ANYTHING ... /* whatever it is called with */
extern "C" {
#else
#include <stdbool.h>
#include <stdint.h>
#define T3_ANYTHING
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#endif

/* t3/device.h */
T3_IS_NOW("t3_arrive is t3_wait_tile") void t3_arrive(T3_ANYTHING);
T3_IS_NOW("t3_drain is t3_fence") void t3_drain(T3_ANYTHING);
T3_IS_NOW("t3_meet is t3_workgroup_barrier") void t3_meet(T3_ANYTHING);
T3_IS_NOW("t3_await is t3_wait_counter") void t3_await(T3_ANYTHING);
T3_IS_NOW("t3_await_value is t3_wait_value") bool t3_await_value(T3_ANYTHING);
T3_IS_NOW("t3_show is t3_trace_span") void t3_show(T3_ANYTHING);
T3_IS_NOW("t3_note is t3_trace_mark") void t3_note(T3_ANYTHING);

/* t3/t3.h and t3/nic_maps.h; they return a status */
T3_IS_NOW("t3_exchange is t3_host_all_gather") int t3_exchange(T3_ANYTHING);
T3_IS_NOW("t3_meet_hosts is t3_host_barrier") int t3_meet_hosts(T3_ANYTHING);
T3_IS_NOW("t3_open_queue is t3_queue_create") int t3_open_queue(T3_ANYTHING);
struct T3_IS_NOW("struct t3_nic_way is struct t3_nic_route") t3_nic_way {
  uint32_t dma_queue, local_key, remote_key;
};

/* t3/nic.h; they return a status */
T3_IS_NOW("t3_nic_region is t3_nic_reg_mr") int t3_nic_region(T3_ANYTHING);
T3_IS_NOW("t3_nic_withdraw is t3_nic_dereg_mr") int t3_nic_withdraw(T3_ANYTHING);
T3_IS_NOW("t3_nic_create is t3_nic_create_qp") int t3_nic_create(T3_ANYTHING);
T3_IS_NOW("t3_nic_connect is t3_nic_modify_qp, to T3_NIC_QPS_RTR and then to T3_NIC_QPS_RTS")
int t3_nic_connect(T3_ANYTHING);
T3_IS_NOW("t3_nic_reset is t3_nic_destroy_qp") int t3_nic_reset(T3_ANYTHING);
T3_IS_NOW("t3_nic_reset_qp is t3_nic_destroy_qp") int t3_nic_reset_qp(T3_ANYTHING);
T3_IS_NOW("t3_nic_state is t3_nic_query_qp") int t3_nic_state(T3_ANYTHING);
T3_IS_NOW("t3_nic_post is t3_nic_post_send") int t3_nic_post(T3_ANYTHING);
T3_IS_NOW("t3_nic_post_receives is t3_nic_post_recv, which posts so many more") int t3_nic_post_receives(T3_ANYTHING);
T3_IS_NOW("t3_nic_poll is t3_nic_poll_cq, which takes several") int t3_nic_poll(T3_ANYTHING);

/* t3/shmem.h and t3/shmem_device.h, in OpenSHMEM's order of arguments; they return a status */
T3_IS_NOW("t3_shmem_close is t3_shmem_finalize") int t3_shmem_close(T3_ANYTHING);
T3_IS_NOW("t3_shmem_open is t3_shmem_ctx_open") int t3_shmem_open(T3_ANYTHING);
T3_IS_NOW("t3_shmem_put_nbi is t3_shmem_putmem_nbi(..., dest, source, bytes, pe)") int t3_shmem_put_nbi(T3_ANYTHING);
T3_IS_NOW("t3_shmem_put_signal_nbi is t3_shmem_putmem_signal_nbi(..., signal, sig_op, pe)")
int t3_shmem_put_signal_nbi(T3_ANYTHING);
T3_IS_NOW("t3_shmem_put_value is t3_shmem_uint64_p(..., dest, value, pe)") int t3_shmem_put_value(T3_ANYTHING);
T3_IS_NOW("t3_shmem_get is t3_shmem_getmem(..., dest, source, bytes, pe)") int t3_shmem_get(T3_ANYTHING);
struct T3_IS_NOW("struct t3_shmem is struct t3_shmem_ctx") t3_shmem {
  uint32_t context;
};

#ifdef __cplusplus
}
#else
#pragma GCC diagnostic pop
#endif
#undef T3_ANYTHING
#undef T3_IS_NOW
#endif

#endif
