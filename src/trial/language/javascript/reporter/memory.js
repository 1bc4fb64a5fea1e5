'use strict';
// Node reads its memory use from system files that a trial may not read, and fails. Runners ask for it in the
// middle of their work (vitest, in every thread) and would wait for ever. They get the size of the heap
// instead.
const { getHeapStatistics } = require('node:v8');
try {
  process.memoryUsage();
} catch {
  const rss = () => getHeapStatistics().total_physical_size;
  const usage = () => {
    const heap = getHeapStatistics();
    const { total_heap_size: heapTotal, used_heap_size: heapUsed, external_memory: external } = heap;
    return { rss: rss(), heapTotal, heapUsed, external, arrayBuffers: 0 };
  };
  process.memoryUsage = Object.assign(usage, { rss });
}
