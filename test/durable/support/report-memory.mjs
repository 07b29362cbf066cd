/** Loaded into a server under trial: at SIGUSR2 it collects garbage and writes to its standard error what is left. */
import v8 from 'node:v8';
import vm from 'node:vm';

v8.setFlagsFromString('--expose-gc');
const gc = vm.runInNewContext('gc');
let reports = 0;

process.on('SIGUSR2', () => {
  for (let at = 0; at < 4; at += 1) gc();
  const { heapUsed, external, arrayBuffers, rss } = process.memoryUsage();
  reports += 1;
  process.stderr.write(`memory ${JSON.stringify({ report: reports, heapUsed, external, arrayBuffers, rss })}\n`);
});
