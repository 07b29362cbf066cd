/** Where something ran, in words. */
import { placeOf } from './trace-frames.js';
import { placeOfRound } from './trace-texts.js';

/** The containers and passes of a path such as `Loop:A/0`, outermost first; empty at the top level. */
export function whereText(
  within: string | null | undefined,
  nameOf: (id: string) => string,
  passText: (container: string, round: string) => string,
): string {
  const parts: string[] = [];
  for (let path = within ?? ''; path !== ''; ) {
    const { container, round, around } = placeOf(path);
    parts.unshift(passText(nameOf(container), placeOfRound(round)));
    path = around;
  }
  return parts.join(' › ');
}
