"""A program or kernel that uses a name of an earlier API version does not compile, and the compiler says the new name.

  old_names_test.py SOURCE_DIRECTORY BUILD_DIRECTORY C_COMPILER CXX_COMPILER
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SOURCE, BUILD, CC, CXX = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
del sys.argv[1:5]
INCLUDES = [f"-I{folder}" for folder in (SOURCE / "abi/include", SOURCE / "firmware/include", SOURCE / "firmware/hal",
                                         BUILD / "generated/c", BUILD / "firmware/t3vp_kernel_arguments_arguments")]
# How each was used, and what it is called now.
OLD = {
    "t3_arrive(wave, tile)": "t3_wait_tile",
    "t3_drain(wave)": "t3_fence",
    "t3_meet(wave)": "t3_workgroup_barrier",
    "t3_await(wave, counter)": "t3_wait_counter",
    "(void)t3_await_value(wave, condition)": "t3_wait_value",
    't3_show(wave, "store", 1)': "t3_trace_span",
    't3_note(wave, "told", 0)': "t3_trace_mark",
    '(void)t3_exchange(gpu, "keys", 0, 0, 0)': "t3_host_all_gather",
    "(void)t3_meet_hosts(gpu)": "t3_host_barrier",
    "(void)t3_open_queue(gpu, 0, 0)": "t3_queue_create",
    "(void)sizeof(struct t3_nic_way)": "struct t3_nic_route",
    "(void)t3_nic_region(gpu, 0, 0, 0, 0)": "t3_nic_reg_mr",
    "(void)t3_nic_withdraw(gpu, 1)": "t3_nic_dereg_mr",
    "(void)t3_nic_create(gpu, 0)": "t3_nic_create_qp",
    "(void)t3_nic_connect(gpu, 0, 1, 0)": "t3_nic_modify_qp",
    "(void)t3_nic_reset(gpu, 0)": "t3_nic_destroy_qp",
    "(void)t3_nic_reset_qp(gpu, 0)": "t3_nic_destroy_qp",
    "(void)t3_nic_state(gpu, 0, 0)": "t3_nic_query_qp",
    "(void)t3_nic_post(gpu, 0, 0)": "t3_nic_post_send",
    "(void)t3_nic_post_receives(gpu, 0, 1)": "t3_nic_post_recv",
    "(void)t3_nic_poll(gpu, 0, 0, 0)": "t3_nic_poll_cq",
    "(void)t3_shmem_close(gpu, 0)": "t3_shmem_finalize",
    "(void)t3_shmem_open(wave, 0, 0, 0)": "t3_shmem_ctx_open",
    "(void)t3_shmem_put_nbi(wave, 0, 1, 0, 0, 8)": "t3_shmem_putmem_nbi",
    "(void)t3_shmem_put_signal_nbi(wave, 0, 1, 0, 0, 8, 0, 1)": "t3_shmem_putmem_signal_nbi",
    "(void)t3_shmem_put_value(wave, 0, 1, 0, 7)": "t3_shmem_uint64_p",
    "(void)t3_shmem_get(wave, 0, 1, 0, 0, 8)": "t3_shmem_getmem",
    "(void)sizeof(struct t3_shmem)": "struct t3_shmem_ctx",
}
PROGRAM = """#include "t3/nic_maps.h"
#include "t3/shmem_device.h"
void use(struct t3_wave* wave, struct t3_context* gpu, struct t3_tile tile, struct t3_counter counter,
         struct t3_condition condition);
void use(struct t3_wave* wave, struct t3_context* gpu, struct t3_tile tile, struct t3_counter counter,
         struct t3_condition condition) {
  (void)wave, (void)gpu, (void)tile, (void)counter, (void)condition;
  %s;
}
"""
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror"]


class OldNames(unittest.TestCase):
    def compile(self, statement):
        """What the C and the C++ compiler say; an empty text where they accept it."""
        with tempfile.TemporaryDirectory(prefix="t3vp-old-names-") as folder:
            texts = []
            for compiler, name, options in ((CC, "use.c", ["-std=c11", "-Wstrict-prototypes"]), (CXX, "use.cpp", ["-std=c++17"])):
                file = pathlib.Path(folder) / name
                file.write_text(PROGRAM % statement, encoding="utf-8")
                result = subprocess.run([compiler, *options, *STRICT, *INCLUDES, "-c", file, "-o", "/dev/null"],
                                        capture_output=True, text=True, check=False)
                self.assertEqual(result.returncode != 0, result.stderr != "", result.stderr)
                texts.append(result.stderr)
            return texts

    def test_headers_alone_compile(self):
        self.assertEqual(self.compile("(void)0"), ["", ""])
        self.assertEqual(self.compile("t3_wait_tile(wave, tile)"), ["", ""])

    def test_every_old_name_is_an_error_with_the_new_one(self):
        for statement, new in OLD.items():
            old = re.search(r"(?:struct )?t3_\w+", statement).group(0)
            for text in self.compile(statement):
                self.assertRegex(text, rf"error: .*{re.escape(old)} is {re.escape(new)}\b", statement)

    def test_every_old_name_is_tried(self):
        header = (SOURCE / "abi/include/t3/old_names.h").read_text(encoding="utf-8")
        said = dict(re.findall(r'T3_IS_NOW\("((?:struct )?\w+) is ((?:struct )?\w+)[^"]*"\)', header))
        tried = {re.search(r"(?:struct )?t3_\w+", statement).group(0): new for statement, new in OLD.items()}
        self.assertEqual(said, tried)


if __name__ == "__main__":
    unittest.main()
