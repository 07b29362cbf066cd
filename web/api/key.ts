/** The key that requests carry: kept for the tab, or on the device when the user chose so; never in an address or a cookie. */
import { BehaviorSubject, type Observable } from 'rxjs';

const NAME = 'runnel.key';

/** Where a key is kept. */
export interface KeyStorage {
  readonly tab: Storage;
  readonly device: Storage;
}

/** The key of this page, and whether the server has asked for one. */
export class Keys {
  readonly #storage: KeyStorage;
  readonly #isAsked$ = new BehaviorSubject(false);
  #key: string | undefined;
  #waiting: (() => void)[] = [];

  constructor(storage: KeyStorage) {
    this.#storage = storage;
    this.#key = storage.tab.getItem(NAME) ?? storage.device.getItem(NAME) ?? undefined;
  }

  /** Undefined as long as none was needed. */
  get current(): string | undefined {
    return this.#key;
  }

  /** Where the key is kept; undefined when there is none. */
  get place(): keyof KeyStorage | undefined {
    if (this.#key === undefined) return undefined;
    return this.#storage.tab.getItem(NAME) === this.#key ? 'tab' : 'device';
  }

  /** Whether a request waits for a key. */
  get isAsked$(): Observable<boolean> {
    return this.#isAsked$;
  }

  /** Waits until the user gives another key than `refused`, which the server did not take. */
  async another(refused: string | undefined): Promise<void> {
    if (this.#key !== refused) return;
    this.#isAsked$.next(true);
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** Takes a key that the server accepts, and lets what waited for it go on. */
  accept(key: string, keepOnDevice: boolean): void {
    this.forget();
    this.#key = key;
    (keepOnDevice ? this.#storage.device : this.#storage.tab).setItem(NAME, key);
    this.#isAsked$.next(false);
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }

  /** Removes the key from this page and this device. */
  forget(): void {
    this.#key = undefined;
    this.#storage.tab.removeItem(NAME);
    this.#storage.device.removeItem(NAME);
  }
}
