// How a statement may go on.
#include "register_access/script/suggestions.h"

#include <catch2/catch.hpp>

namespace t3vp::test::suggestions_test {

namespace {

using Texts = std::vector<std::string>;

const ScriptMachine machine{2, 0x100000};

/// What the begun word may become.
Texts after(const std::string& line) {
  const Suggestions found = suggestions_for(line, machine);
  for (const std::string& text : found.texts)
    CHECK(text.substr(0, found.begun) == line.substr(line.size() - found.begun));
  return found.texts;
}

}  // namespace

TEST_CASE("a statement begins with a verb or a register") {
  CHECK(after("") == Texts{"read", "refused", "expect", "wait", "delay", "fill", "gpu0.", "gpu1."});
  CHECK(after("re") == Texts{"read", "refused"});
  CHECK(after("expect g") == Texts{"gpu0.", "gpu1."});
  CHECK(after("delay ").empty());
  CHECK(after("gpu1.dma.fill_") == Texts{"gpu1.dma.fill_base", "gpu1.dma.fill_bytes"});
  CHECK(after("wait gpu0.dma.interrupt.f") == Texts{"gpu0.dma.interrupt.filled"});
  CHECK(after("  gpu0.nothing").empty());
  CHECK(after("gpu0.dma.rows ").empty());
}

TEST_CASE("values are those of the field") {
  CHECK(after("gpu0.dma.layout.element = ") == Texts{"fp16", "bf16", "fp32"});
  CHECK(after("gpu0.dma.layout.element=fp") == Texts{"fp16", "fp32"});
  CHECK(after("expect gpu0.dma.layout.element == b") == Texts{"bf16"});
  CHECK(after("expect gpu0.dma.layout.element != f") == Texts{"fp16", "fp32"});
  CHECK(after("gpu0.dma.rows = ").empty());
  CHECK(after("gpu0.nothing = ").empty());
  CHECK(after("= ").empty());
}

TEST_CASE("fields in braces are the register's") {
  CHECK(after("gpu0.dma.layout = {") == Texts{"wavefronts", "element"});
  CHECK(after("gpu0.dma.layout = {e") == Texts{"element"});
  CHECK(after("gpu0.dma.layout = {element = b") == Texts{"bf16"});
  CHECK(after("gpu0.dma.layout = {element = fp16, wave") == Texts{"wavefronts"});
  CHECK(after("gpu0.dma.layout = {element = fp16 ").empty());
  CHECK(after("gpu0.dma.rows = {").empty());
  CHECK(after("{").empty());
}

}  // namespace t3vp::test::suggestions_test
