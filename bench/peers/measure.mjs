/** How a peer is measured: the same for all of them, in a process of its own. */

/** Runs and milliseconds before anything counts, and that count, whichever takes longer. */
const WARM_UP = { runs: 3, ms: 500 };
const COUNTED = { runs: 5, ms: 1_000 };

/** Median microseconds of processor time that a node costs; `run` gives the number of events it saw. */
export async function measure(run, nodes) {
  await repeat(WARM_UP, run);
  const costs = [];
  let events = 0;
  await repeat(COUNTED, async () => {
    const before = process.cpuUsage();
    events = await run();
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / nodes);
  });
  costs.sort((left, right) => left - right);
  return { microseconds: costs[costs.length >> 1], events, runs: costs.length };
}

async function repeat({ runs, ms }, work) {
  const end = performance.now() + ms;
  for (let done = 0; done < runs || performance.now() < end; done += 1) await work();
}
