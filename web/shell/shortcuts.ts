/** The keys of the page: screens add theirs while they are shown, and `?` lists them all. */
import { BehaviorSubject, type Observable } from 'rxjs';

/** A key and what it does. */
export interface Shortcut {
  /** As `KeyboardEvent.key` has it; `Shift+` in front where it counts, such as `Shift+ArrowLeft`. */
  readonly key: string;
  /** What it does, in the user's language. */
  readonly label: string;
  /** Absent for a key that a part of the screen handles by itself, and that is only listed. */
  readonly act?: () => void;
}

/** The shortcuts of one screen or part, under a title. */
export interface ShortcutGroup {
  readonly title: string;
  readonly shortcuts: readonly Shortcut[];
}

/** All shortcuts of what is shown; the newest group comes first, also where two have the same key. */
export class Shortcuts {
  readonly #groups$ = new BehaviorSubject<readonly ShortcutGroup[]>([]);

  get groups$(): Observable<readonly ShortcutGroup[]> {
    return this.#groups$;
  }

  get current(): readonly ShortcutGroup[] {
    return this.#groups$.value;
  }

  /** Adds a group; the function that it gives takes it away. */
  add(group: ShortcutGroup): () => void {
    this.#groups$.next([group, ...this.current]);
    return () => this.#groups$.next(this.current.filter((one) => one !== group));
  }

  /** Does what a key stands for; gives whether it stands for something. Keys that are typed into a field stay there. */
  press(event: KeyboardEvent): boolean {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
      return false;
    const withShift = `Shift+${event.key}`;
    for (const { shortcuts } of this.current) {
      const found = shortcuts.find(({ key }) => (event.shiftKey && key === withShift) || key === event.key);
      if (found?.act === undefined) continue;
      event.preventDefault();
      found.act();
      return true;
    }
    return false;
  }
}

const FIELDS =
  'input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable], dialog, [role=menu]';
/** What has a meaning for these elements is theirs. */
const OWN_KEYS = 'button, a, summary, input';

/** The window and the document, which are targets too, are no elements. */
function isTyping(target: EventTarget | null): boolean {
  return isElement(target) && target.closest(FIELDS) !== null;
}

function isElement(target: EventTarget | null): target is Element {
  return target !== null && 'closest' in target;
}

/** Whether a key already works the element that has the focus, as Enter and the space do for a button. */
export function isWorked({ target, key }: KeyboardEvent): boolean {
  return (key === ' ' || key === 'Enter') && isElement(target) && target.matches(OWN_KEYS);
}
