#include <catch2/catch.hpp>
#include <cstring>

#include "command_line/program.h"
#include "io/npy.h"

namespace t3vp::test::npy_test {

namespace {

/// NumPy's documented layout, written out explicitly: 6 bytes of magic, version 1.0, the header's length, the header
/// padded with spaces so that the data start at a multiple of 64.
std::string expected_file(const std::string& descriptor, const std::string& shape, const std::string& data) {
  std::string header = "{'descr': '" + descriptor + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  header += std::string(128 - 10 - 1 - header.size(), ' ') + "\n";
  return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + header + data;
}

}  // namespace

TEST_CASE("fp16 arrays are written as NumPy expects, byte by byte") {
  const Folder folder;
  // 1.0, -2.0, 0.5 / 65504, 0, -0 with two bytes of padding after each row
  const unsigned char rows[] = {0x00, 0x3C, 0x00, 0xC0, 0x00, 0x38, 0xAA, 0xAA,
                                0xFF, 0x7B, 0x00, 0x00, 0x00, 0x80, 0xAA, 0xAA};
  write_npy(folder / "a.npy", {rows, 2, 3, 8, ElementType::fp16});
  const std::string data("\x00\x3C\x00\xC0\x00\x38\xFF\x7B\x00\x00\x00\x80", 12);
  CHECK(text_of(folder / "a.npy") == expected_file("<f2", "2, 3", data));
}

TEST_CASE("bf16 arrays are written as their bits and fp32 arrays as floats") {
  const Folder folder;
  const unsigned char ones[] = {0x80, 0x3F, 0x80, 0x3F};
  write_npy(folder / "b.npy", {ones, 1, 2, 4, ElementType::bf16});
  CHECK(text_of(folder / "b.npy") == expected_file("<u2", "1, 2", std::string("\x80\x3F\x80\x3F", 4)));
  const float value = 1.5f;
  unsigned char bytes[4];
  std::memcpy(bytes, &value, 4);
  write_npy(folder / "c.npy", {bytes, 1, 1, 4, ElementType::fp32});
  CHECK(text_of(folder / "c.npy") == expected_file("<f4", "1, 1", std::string("\x00\x00\xC0\x3F", 4)));
}

TEST_CASE("arrays come back as they were written, from any source of rows") {
  const Folder folder;
  for (const ElementType element : {ElementType::fp16, ElementType::bf16, ElementType::fp32}) {
    const std::size_t row_bytes = 37 * bytes_of(element);
    write_npy(folder / "r.npy", 5, 37, element, [&](std::size_t row, unsigned char* target) {
      for (std::size_t i = 0; i < row_bytes; ++i) target[i] = static_cast<unsigned char>(row * 50 + i);
    });
    const NpyArray array = read_npy(folder / "r.npy");
    CHECK(array.shape == std::vector<std::size_t>{5, 37});
    CHECK(array.element == element);
    REQUIRE(array.data.size() == 5 * row_bytes);
    CHECK(array.data[3 * row_bytes + 7] == static_cast<unsigned char>(3 * 50 + 7));
  }
}

TEST_CASE("files that are no such array are refused with a reason") {
  const Folder folder;
  CHECK_THROWS_WITH(read_npy(folder / "none.npy"), Catch::Contains("cannot be read"));
  CHECK_THROWS_WITH(read_npy(folder.write("x.npy", std::string("hello"))), Catch::Contains("no .npy file"));
  const std::string whole = expected_file("<f2", "2, 3", std::string(12, 'x'));
  CHECK_NOTHROW(read_npy(folder.write("x.npy", whole)));
  CHECK_THROWS_WITH(read_npy(folder.write("x.npy", whole.substr(0, 139))), Catch::Contains("size"));
  CHECK_THROWS_WITH(read_npy(folder.write("x.npy", whole.substr(0, 60))), Catch::Contains("cut short"));
  CHECK_THROWS_WITH(read_npy(folder.write("x.npy", expected_file("<f8", "1, 1", std::string(8, 'x')))),
                    Catch::Contains("<f8"));
  CHECK_THROWS(write_npy(folder / "no/such/folder.npy", {}));
}

}  // namespace t3vp::test::npy_test
