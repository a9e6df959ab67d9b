"""A run that cannot end, or ends badly, has the same diagnosis and report over any number of processes.

  equal_stalls_test.py SOURCE_DIRECTORY T3VP [PART_OF_A_NAME]

Without MPI it says so and ends with 77 (CTest: skipped), or fails when T3VP_ALL_TESTS is set.
"""

import json
import pathlib
import sys
import tempfile

import runs
from equal_reports_test import (ADDING, COLLECTIVE_FILE, CONFIGS, ENDPOINT, FUNCTIONAL, GEMM, GEMM_FILE, SMALL, SWITCH,
                                T3VP, TABLES_FILE, TIMING, TORUS, check)

STALLING = T3VP.parent / "testbenches/software/stalling.so"
INTERLEAVED = "partition=[[0, 2], [1, 3]]"
FUSED = [*GEMM, "method=t3-mca"]


def dropped(link, packet):
    return f'inject={{"drop_packet": {{"link": {link}, "packet": {packet}}}}}'


def stalling(program):
    return (TABLES_FILE, [SMALL, "workload=null", "method=null", f"program={STALLING}:{program}", "limits.polls=1000",
                          "limits.simulated_ms=20"])


# By name: run file, settings, and a text of the diagnosis; none when the run ends well.
CASES = {
    **{f"a lost packet, ring, {data}": (GEMM_FILE, [*FUSED, f"data={data}", dropped(0, 7)], "are not acknowledged by")
       for data in ("functional", "timing-only")},
    "a lost packet, ring kernels": (GEMM_FILE, [*GEMM, "method=sequential", FUNCTIONAL, dropped(2, 3)],
                                    "one of them was lost"),
    "a lost packet behind a switch": (GEMM_FILE, [*FUSED, "collectives=null", SWITCH, dropped(6, 3)],
                                      "Link from switch 0"),
    "a lost packet, torus": (GEMM_FILE, [*GEMM, "collectives=null", "method=sequential", TORUS, dropped(3, 3)],
                             "one of them was lost"),
    "a lost packet, adding switch": (GEMM_FILE, [*GEMM, ADDING, "method=load-reduce", "collectives.algorithm=auto",
                                                 FUNCTIONAL, dropped(1, 3), 'workload.rival={"communication_units": 1, '
                                                 '"gather": "multicast"}'], "firmware waits for a kernel's end"),
    "a lost packet, endpoint engines": (GEMM_FILE, [*GEMM, ENDPOINT, "method=endpoint", "collectives.algorithm=auto",
                                                    "workload.rival={}", dropped(1, 3)], "fault drop_packet struck"),
    "a lost packet, all-reduce": (COLLECTIVE_FILE, ["workload.collective.op=all-reduce", dropped(2, 3)],
                                  "fault drop_packet struck"),
    "updates that nobody sends": (GEMM_FILE, [*FUSED, FUNCTIONAL, 'inject={"dma_map_updates": 3}'],
                                  "no program sends the third update"),
    "updates that nobody sends, timing only": (GEMM_FILE, [*FUSED, TIMING, "gpus=5", 'inject={"dma_map_updates": 3}'],
                                               "GPU 4's DMA owes"),
    "polls of kernels": (*stalling("kernels_poll"), "wave 0 polls 8 bytes at"),
    "reads of kernels": (*stalling("kernels_read"), "limits.polls: GPU 1 kernel reading_flag"),
    "polls of one program": (*stalling("one_polls"), "GPU 1 firmware polls: it has read kernel_queue.completed[0]"),
    "polls of all programs": (*stalling("all_poll"), "GPU 3 firmware polls: it has read memory"),
    "polls that end": (*stalling("one_sleeps"), ""),
    "a barrier with an ended program": (*stalling("barrier_fails"), "in a barrier: the program of GPU 2 has ended"),
    "an exchange with an ended program": (*stalling("exchange_fails"), "barrier: the program of GPU 2 has ended"),
    "errors without end": (*stalling("all_err"), "GPU 3 firmware has not read an error"),
}


def diagnosis_of(run_file, settings):
    with tempfile.TemporaryDirectory() as home:
        these = runs.Runs(T3VP, home, CONFIGS / run_file, settings)
        these.run(None)
        return these.whole_report(None).get("diagnosis", [])


def check_missing_argument():
    """Each program asks for another argument: the same one is named by any number of processes."""
    with tempfile.TemporaryDirectory() as home:
        run_file, settings = stalling("all_ask")
        these = runs.Runs(T3VP, home, CONFIGS / run_file, settings)
        alone = these.run(None)
        assert alone.returncode == 2 and "/arguments/a: found nothing" in alone.stderr, alone
        for ranks in (2, 4):
            done = these.run(ranks)
            assert (done.returncode, done.stderr) == (2, alone.stderr), done


def check_limit():
    """The line of a limit has what programs of other ranks do, and faults that strike there or do not."""
    programs = stalling("one_polls")
    fault = (GEMM_FILE, [*FUSED, 'inject={"lose_updates": {"gpu": 3, "count": 3}, "flip_bit": {"gpu": 2, "access": '
                         '100000, "bit": 1}}'])
    for (run_file, settings), limit_ms in ((programs, 0.0305), (fault, 0.02)):
        with tempfile.TemporaryDirectory() as home:
            these = runs.Runs(T3VP, home, CONFIGS / run_file, [*settings, f"limits.simulated_ms={limit_ms}"])
            alone = these.run(None)
            assert alone.returncode == 1 and f"not over after {limit_ms} ms" in alone.stderr, alone
            for ranks in (2, 3):
                done = these.run(ranks)
                assert (done.returncode, done.stderr) == (1, alone.stderr), (done.stderr, alone.stderr)
        print(alone.stderr.strip())


if __name__ == "__main__":
    runs.require_mpi(T3VP)
    runs.end_at_once()
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    for number, (case, (file, changes, text)) in enumerate(CASES.items()):
        if wanted not in case:
            continue
        found = json.dumps(diagnosis_of(file, changes))
        assert text in found and bool(text) == (found != "[]"), (case, found)
        check(case, file, changes, [2 + number % 3])
        if "gpus=5" not in changes:
            check(f"{case}, interleaved", file, changes, [2], [INTERLEAVED])
    if not wanted:
        check_missing_argument()
        check_limit()
