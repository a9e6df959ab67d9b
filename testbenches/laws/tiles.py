"""The chunks of a GEMM's output, counted tile by tile: chunk c of N has tiles c T / N to (c + 1) T / N, row by row."""
import dataclasses

ELEMENT_BYTES = {"fp16": 2, "bf16": 2, "fp32": 4}


def tile_of(gemm):
    """Rows and columns."""
    return tuple(int(side) for side in gemm["tile"].split("x"))


def tokens_are_whole_tiles(run, report):
    """Of a run with experts: no tile has tokens of two GPUs."""
    experts = report["workload"]["experts"]
    return experts["tokens"] % (run["gpus"] * tile_of(experts)[0]) == 0


@dataclasses.dataclass
class Chunks:
    sizes: list               # bytes, by chunk
    are_whole_accesses: bool  # rows of tiles begin and end where accesses of 32 bytes do
    are_alike: bool           # each has the shape of the others, not only their size

    @property
    def bytes(self):
        return sum(self.sizes)

    @staticmethod
    def of(run, report):
        """Of a run with a GEMM; the report says which tile was chosen."""
        gemm = report["workload"]["gemm"]
        element, (rows, columns) = ELEMENT_BYTES[gemm["element"]], tile_of(gemm)
        down, across = -(-gemm["m"] // rows), -(-gemm["n"] // columns)
        gpus, tiles = run["gpus"], down * across
        sizes = [0] * gpus
        owner = 0
        for tile in range(tiles):
            while tile >= tiles * (owner + 1) // gpus:
                owner += 1
            height = min(rows, gemm["m"] - tile // across * rows)
            width = min(columns, gemm["n"] - tile % across * columns)
            sizes[owner] += height * width * element
        each, rest = divmod(tiles, gpus)
        are_alike = rest == 0 and (each % across == 0 or across % each == 0) and len(set(sizes)) == 1
        return Chunks(sizes, gemm["n"] * element % 32 == 0 and columns * element % 32 == 0, are_alike)
