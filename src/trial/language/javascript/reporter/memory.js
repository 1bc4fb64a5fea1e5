'use strict';
// Node asks the system how much memory it uses, by files that a trial may not read, and fails. Runners ask in
// the middle of their work (vitest, in every thread) and would wait for ever: they get what is known of the heap.
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
