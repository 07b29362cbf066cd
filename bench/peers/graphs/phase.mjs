/** What a phase of a peer took: time, and calls and tokens as the model server counts them. */
export async function phase(url, work) {
  const before = await countOf(url);
  const startedAt = performance.now();
  const result = await work();
  const ms = performance.now() - startedAt;
  const after = await countOf(url);
  return { result, spent: { ms, calls: after.calls - before.calls, tokens: after.tokens - before.tokens } };
}

async function countOf(url) {
  return (await fetch(`${url}/count`)).json();
}
