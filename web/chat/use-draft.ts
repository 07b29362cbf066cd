/** What is being written, kept for the tab: it outlives a reload and a refused key. */
import { useCallback, useState } from 'react';

const nameOf = (agent: string): string => `runnel.draft.${agent}`;

/** The draft of a message to an agent, and how to change it. */
export function useDraft(agent: string): [string, (next: string | ((now: string) => string)) => void] {
  const [text, setText] = useState(() => sessionStorage.getItem(nameOf(agent)) ?? '');
  const change = useCallback(
    (next: string | ((now: string) => string)) =>
      setText((now) => {
        const value = typeof next === 'function' ? next(now) : next;
        keep(nameOf(agent), value);
        return value;
      }),
    [agent],
  );
  return [text, change];
}

/** A browser may refuse to keep what is too long: then it lasts as long as the page. */
function keep(name: string, value: string): void {
  try {
    if (value === '') sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, value);
  } catch {
    sessionStorage.removeItem(name);
  }
}
