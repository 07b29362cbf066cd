/**
 * What `work` gives within `ms` milliseconds, else `fallback`. Rejects with what `work` rejects with, as long as it is awaited.
 */
export async function within<T, F>(ms: number, work: Promise<T>, fallback: F): Promise<T | F> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<F>((resolve) => {
    timer = setTimeout(resolve, ms, fallback);
  });
  return await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
