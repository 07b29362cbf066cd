export function concatValues(
  chunks: readonly unknown[],
  rule?: ((c: readonly unknown[]) => unknown) | undefined,
): unknown {
  if (rule) return rule(chunks);
  if (chunks.every((c) => typeof c === 'string')) return chunks.join('');
  if (chunks.every((c) => typeof c === 'object')) return Object.assign({}, ...(chunks as object[]));
  return chunks.at(-1);
}
