/**
 * What a thread starts with; `file` is the URL of its module without its ending.
 *
 * From the sources, as tests run it, the compiler's loader comes along: a thread does not inherit it.
 */
export function threadEntry(file: URL): URL {
  const isSource = import.meta.url.endsWith('.ts');
  if (!isSource) return new URL(`${file.href}.js`);
  const url = JSON.stringify(`${file.href}.ts`);
  const start = `import { register } from 'node:module'; register('tsx/esm', ${url}, { data: {} }); await import(${url});`;
  return new URL(`data:text/javascript,${encodeURIComponent(start)}`);
}
