/** The address of two runs side by side. */
export function compareAddress(agent: string, a: string, b: string): string {
  return `/agents/${encodeURIComponent(agent)}/compare?${new URLSearchParams({ a, b })}`;
}
