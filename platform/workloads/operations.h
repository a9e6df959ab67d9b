// Operations of a program that are timed and checked one by one.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/access.h"
#include "workloads/functional_check.h"

namespace t3vp {

struct OperationName {
  std::string name, part;
};

/// A tensor as the program publishes it.
struct PublishedTensor {
  std::string name;
  std::uint64_t address = 0;
  std::uint64_t row_stride = 0;  ///< bytes
  std::uint32_t rows = 0, columns = 0;
  ElementType element = ElementType::fp16;
};

/// A GPU's memory from outside, which takes no time.
class GpuMemory {
 public:
  /// The observer of memory: a driver, DMA engines and peers see memory itself; compute units see their cache first.
  enum class SeenBy { memory, compute_units };

  virtual ~GpuMemory() = default;
  virtual std::uint32_t gpu() const = 0;
  virtual void read(const PublishedTensor& tensor, std::uint32_t row, unsigned char* data, SeenBy whom) const = 0;
  virtual void write(const PublishedTensor& tensor, std::uint32_t row, const unsigned char* data) = 0;
};

/// Checks operations while they run, one after the other.
class OperationChecker {
 public:
  virtual ~OperationChecker() = default;
  /// A tensor of the program is published: it is filled.
  virtual void publish(const PublishedTensor& tensor) = 0;
  virtual void before(std::size_t operation) = 0;
  virtual void after(std::size_t operation) = 0;
  /// Returns the result at the end of the run.
  virtual FunctionalCheck result() = 0;
};

}  // namespace t3vp
