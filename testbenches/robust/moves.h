// What a driver might do on a GPU, here and there with wrong numbers: maps of an output, kernels in queues, messages of
// a NIC. Registers that random accesses have changed in between stay as they are.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <systemc>
#include <vector>

#include "processor/command_processor.h"
#include "t3/device.h"

namespace t3vp {

class Moves {
 public:
  Moves(std::vector<processor::CommandProcessor*> processors, const t3_kernel* const* kernels, std::mt19937_64& random)
      : processors_(std::move(processors)), kernels_(kernels), random_(random) {}

  /// Any of the moves, on any GPU.
  void move();

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t count) { return below(count) == 0; }
  /// The number, or rarely another one.
  std::uint64_t nearly(std::uint64_t number) { return one_in(64) ? random_() >> below(64) : number; }
  std::uint64_t size() { return std::uint64_t{32} << below(3); }

  std::uint64_t get(std::uint64_t gpu, const std::string& name);
  void set(std::uint64_t gpu, const std::string& name, std::uint64_t value);
  void put(std::uint64_t gpu, std::uint64_t address, const std::vector<unsigned char>& bytes);
  std::uint64_t on(std::uint64_t gpu, std::uint64_t local) const;

  void map_output(std::uint64_t gpu);
  void stage(std::uint64_t gpu, const std::string& block, std::uint64_t rows, std::uint64_t columns);
  void queue_kernel(std::uint64_t gpu);
  std::vector<unsigned char> packet(std::uint64_t gpu, std::uint64_t entry, const char* kernel,
                                    std::uint64_t argument_bytes);
  std::vector<unsigned char> any_packet(std::uint64_t gpu, std::uint64_t entry);
  std::vector<unsigned char> gemm_packet(std::uint64_t gpu, std::uint64_t entry);
  void connect(std::uint64_t gpu);
  void post(std::uint64_t gpu);

  std::vector<processor::CommandProcessor*> processors_;
  const t3_kernel* const* kernels_;
  std::mt19937_64& random_;
};

}  // namespace t3vp
