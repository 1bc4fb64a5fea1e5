// read_memory: what a GPU can read, for `gpu_check`: out[thread] = the exclusive or of every word that the thread reads.
//   shapes   from [count] of 16 bytes; out [threads of the grid] u32
//   launch   grid (any), 256 threads
//   bytes    count * 16
//   twin     the same loop, in src/backend/cuda/tests/gpu_check
//   order    none
struct ReadMemoryParams {
  const Sixteen* from;
  u32* out;
  u64 count;
};

KERNEL(read_memory, ReadMemoryParams, 256) {
  const u64 first = (u64)blockIdx.x * 256 + threadIdx.x, step = (u64)gridDim.x * 256;
  u32 all = 0;
#pragma unroll 4
  for (u64 i = first; i < p.count; i += step) {
    const Sixteen next = p.from[i];
    all ^= next.words[0] ^ next.words[1] ^ next.words[2] ^ next.words[3];
  }
  p.out[first] = all;
}

// attention_padded: `attention_chunk` where all tiles are as long as the longest, for `gpu_check` to compare with: what
// BASS-PAD (arXiv 2404.15778) computes. The same bits, where all K/V are finite.
//   shapes   as `attention_chunk`
//   launch   as `attention_chunk`
//   bytes    for every tile: padded * dim * 8 per key/value head
//   twin     `attention_chunk`
//   order    that of `attention_chunk`: zeros are added behind and before it
KERNEL(attention_padded, AttentionParams, 256) { attend<true>(p); }
