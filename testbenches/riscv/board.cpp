// riscv_board PROGRAM.elf: as much of qemu's machine "virt" as random programs use, around a hart without SystemC. What
// they send to the UART goes to standard output.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "config/elf_file.h"
#include "hart/hart.h"

// libsystemc brings a main() of its own, which wants this; ours takes precedence.
extern "C" int sc_main(int, char**) { return 0; }

namespace {

using namespace t3vp;

constexpr std::uint64_t ram = 0x80000000, ram_bytes = 64 << 20, uart = 0x10000000, end = 0x100000,
                        own_interrupt = 0x2000000;
constexpr std::uint64_t most_steps = 1'000'000'000;

class Board : public riscv::Environment {
 public:
  explicit Board(const ElfFile& program) : memory_(ram_bytes), hart_(*this, 0, program.entry()) {
    for (const ElfFile::Segment& segment : program.segments()) {
      if (segment.address < ram || segment.last() >= ram + ram_bytes)
        throw std::runtime_error("no memory for a segment");
      std::memcpy(memory_.data() + (segment.address - ram), segment.content.data(), segment.content.size());
    }
    hart_.direct_memory().add({ram, ram_bytes, memory_.data(), true, true});
  }

  void run() {
    while (!ended_ && !hart_.sleeps() && hart_.steps() < most_steps) hart_.run(most_steps - hart_.steps());
    if (!ended_) throw std::runtime_error("the program does not end");
  }

  bool read(std::uint64_t, unsigned char*, std::uint32_t) override { return false; }
  bool write(std::uint64_t address, const unsigned char* data, std::uint32_t) override {
    if (address == uart) output_.push_back(*data);
    if (address == own_interrupt) hart_.set_interrupts(*data == 1 ? interrupt_bit(riscv::Interrupt::software) : 0);
    ended_ = address == end;
    hart_.pause();
    return address == uart || address == own_interrupt || address == end;
  }
  std::uint64_t cycles() override { return hart_.steps(); }
  std::uint64_t time() override { return hart_.steps(); }

  const std::vector<unsigned char>& output() const { return output_; }

 private:
  std::vector<unsigned char> memory_, output_;
  riscv::Hart hart_;
  bool ended_ = false;
};

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count != 2) throw std::runtime_error("one argument expected, an ELF file");
    const ElfFile program(arguments[1]);
    Board board(program);
    board.run();
    std::fwrite(board.output().data(), 1, board.output().size(), stdout);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "riscv_board: %s\n", error.what());
    return 1;
  }
}
