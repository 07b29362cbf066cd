import type { RunTrace } from './case.js';

/**
 * The received runs with our words for errors replaced by the golden ones, wherever a value quotes them.
 *
 * Only the text of an error that both sides have on the same node of the same run is replaced, there and in later runs: an
 * answer that quotes an error must still quote it, in its place.
 */
export function withGoldenErrors(expected: readonly RunTrace[], received: readonly RunTrace[]): readonly RunTrace[] {
  const words = new Map<string, string>();
  return received.map((run, index) => {
    for (const [id, { error }] of Object.entries(run.nodes)) {
      const golden = expected[index]?.nodes[id]?.error ?? '';
      if (error !== null && error !== '' && golden !== '') words.set(error, golden);
    }
    if (words.size === 0) return run;
    const { outcome, error, events, nodes, ...values } = run;
    // Only what is compared as a value: the errors themselves are looked at elsewhere.
    return {
      ...reword(values, words),
      outcome,
      ...(error === undefined ? {} : { error }),
      events: events.map((event) => ({ ...event, data: reword(event.data ?? {}, words) })),
      nodes: Object.fromEntries(
        Object.entries(nodes).map(([id, node]) => [id, { ...node, outputs: reword(node.outputs, words) }]),
      ),
    };
  });
}

function reword<T>(values: T, words: ReadonlyMap<string, string>): T {
  return JSON.parse(JSON.stringify(values), (_, value: unknown) => {
    return typeof value === 'string' ? rewordText(value, words) : value;
  }) as T;
}

function rewordText(text: string, words: ReadonlyMap<string, string>): string {
  let result = text;
  for (const [ours, golden] of words) result = result.replaceAll(ours, () => golden);
  return result;
}
