/** What a server says of itself. */

/** The sum of the points of a gauge. @throws Error when there is none of that name. */
export async function gauge(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const points = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  if (points.length === 0) throw new Error(`There is no gauge "${name}".`);
  return points.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
