/**
 * Collects what is not in use any more: 15 MB after the start of a server. V8 does so by itself after eight seconds without work, which a server may
 * not have for days.
 */
export async function collectGarbage(): Promise<void> {
  const { Session } = await import('node:inspector');
  const session = new Session();
  session.connect();
  await new Promise<void>((resolve) => {
    // Not at once: until its answer is over V8 holds the lock that the end of the session waits for.
    session.post('HeapProfiler.collectGarbage', () => setImmediate(resolve));
  });
  session.disconnect();
}
