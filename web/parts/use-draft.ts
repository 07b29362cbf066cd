/** What is being written, kept for the tab: it outlives a reload and a refused key. */
import { useCallback, useState } from 'react';

const nameOf = (place: string): string => `runnel.draft.${place}`;

/** The draft of a place, such as the id of the agent that a message is for, and how to change it. */
export function useDraft(place: string): [string, (next: string | ((now: string) => string)) => void] {
  const [text, setText] = useState(() => sessionStorage.getItem(nameOf(place)) ?? '');
  const change = useCallback(
    (next: string | ((now: string) => string)) =>
      setText((now) => {
        const value = typeof next === 'function' ? next(now) : next;
        keep(nameOf(place), value);
        return value;
      }),
    [place],
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
