/** The address of a screen, all of it behind `#`, path and query: `#/agents/a1/runs/r1?at=12`. Any path prefix before it works. */

/** Path and query of the address now, such as `/agents/a1` and `at=12`. */
export function addressParts(): { readonly path: string; readonly query: string } {
  const [path = '', query = ''] = location.hash.replace(/^#?\/?/, '').split(/\?(.*)/s);
  return { path: `/${path}`, query };
}

/** The path alone. */
export const addressPath = (): string => addressParts().path;
