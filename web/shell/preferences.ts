/** What a user chose for this device: language and theme. Without a choice the browser decides. */
import { BehaviorSubject, type Observable } from 'rxjs';

export type Language = 'en' | 'zh';
export type Theme = 'light' | 'dark';

export interface Choices {
  readonly language: Language;
  readonly theme: Theme;
}

const NAME = 'runnel.preferences';

/** The choices of this device, and what changes them. */
export class Preferences {
  readonly #choices$: BehaviorSubject<Choices>;
  readonly #storage: Storage;

  constructor(storage: Storage, fallback: Choices) {
    this.#storage = storage;
    this.#choices$ = new BehaviorSubject({ ...fallback, ...readChoices(storage.getItem(NAME)) });
  }

  get choices$(): Observable<Choices> {
    return this.#choices$;
  }

  get current(): Choices {
    return this.#choices$.value;
  }

  choose(change: Partial<Choices>): void {
    const choices = { ...this.current, ...change };
    this.#storage.setItem(NAME, JSON.stringify(choices));
    this.#choices$.next(choices);
  }
}

/** What browsers say of their users' wishes. */
export function browserChoices(): Choices {
  return {
    language: navigator.language.toLowerCase().startsWith('zh') ? 'zh' : 'en',
    theme: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
  };
}

function readChoices(text: string | null): Partial<Choices> {
  try {
    const { language, theme } = JSON.parse(text ?? '{}') as Record<string, unknown>;
    return {
      ...((language === 'en' || language === 'zh') && { language }),
      ...((theme === 'light' || theme === 'dark') && { theme }),
    };
  } catch {
    return {};
  }
}
