/** The focus of a canvas that another one takes the place of: it goes on to the same node, or the same tool, also with an Enter in between. */
import { type RefObject, useLayoutEffect } from 'react';
import { animationFrames, filter, fromEvent, map, take, takeUntil, takeWhile, timer } from 'rxjs';

/** Finds in another canvas what had the focus in the one that left; undefined when nothing there had it. */
export type KeptFocus = RefObject<string | undefined>;

/** How long the same node is waited for, in milliseconds: it may be gone from the document. */
const PATIENCE_MS = 10_000;

/** Keeps what has the focus in a canvas when that goes: in the cleanup of a layout effect its elements are still there. */
export function useLeftFocus(kept: KeptFocus | undefined): void {
  useLayoutEffect(() => {
    if (kept === undefined) return undefined;
    return () => {
      kept.current = focusedOnCanvas();
    };
  }, [kept]);
}

/** Gives what was kept the focus as soon as it is drawn here, and then an Enter that was typed meanwhile, unless the focus was moved elsewhere. */
export function useTakenFocus(kept: KeptFocus): void {
  // Before the browser can tell of a key.
  useLayoutEffect(() => {
    const selector = kept.current;
    kept.current = undefined;
    if (selector === undefined) return undefined;
    let enter: KeyboardEvent | undefined;
    // Other keys mean the page while nothing has the focus, and are heard by it.
    const typing = fromEvent<KeyboardEvent>(document, 'keydown')
      .pipe(filter(({ key }) => key === 'Enter' && isFree()))
      .subscribe((typed) => {
        enter = typed;
      });
    typing.add(
      animationFrames()
        .pipe(
          takeWhile(isFree),
          takeUntil(timer(PATIENCE_MS)),
          map(() => document.querySelector<HTMLElement>(selector)),
          // A node cannot have the focus until the library has measured it, and shows it.
          filter((element) => element?.checkVisibility({ visibilityProperty: true }) === true),
          take(1),
        )
        .subscribe({
          next: (element) => {
            element?.focus({ preventScroll: true });
            if (enter !== undefined) element?.dispatchEvent(new KeyboardEvent(enter.type, enter));
          },
          complete: () => typing.unsubscribe(),
        }),
    );
    return () => typing.unsubscribe();
  }, [kept]);
}

/** Whether nothing has the focus. */
function isFree(): boolean {
  return document.activeElement === document.body;
}

function focusedOnCanvas(): string | undefined {
  const focused = document.activeElement;
  if (focused?.closest('.react-flow') == null) return undefined;
  const node = focused.closest('.react-flow__node')?.getAttribute('data-id');
  if (node != null) return `.react-flow__node[data-id="${CSS.escape(node)}"]`;
  const name = focused.getAttribute('aria-label');
  return name === null ? undefined : `.react-flow [aria-label="${CSS.escape(name)}"]`;
}
