/** What every part of the page can reach: the server, and what the user chose. */
import { createContext, type ReactNode, useContext } from 'react';
import type { Observable } from 'rxjs';
import type { Client } from '../api/client.js';
import type { PageFiles } from '../api/page-files.js';
import type { RunNews } from '../api/run-news.js';
import { useObservable } from '../parts/use-observable.js';
import type { Choices, Preferences } from './preferences.js';
import type { Shortcuts } from './shortcuts.js';

/** The owner of the page's connections and choices; made once, in `main.tsx`. */
export interface Studio {
  readonly client: Client;
  readonly files: PageFiles;
  readonly preferences: Preferences;
  readonly shortcuts: Shortcuts;
  /** When lists of runs are out of date; its views share one connection. */
  readonly runNews$: Observable<RunNews>;
}

const StudioContext = createContext<Studio | undefined>(undefined);

export function StudioProvider({ studio, children }: { readonly studio: Studio; readonly children: ReactNode }) {
  return <StudioContext value={studio}>{children}</StudioContext>;
}

/** @throws Error outside of a {@link StudioProvider}. */
export function useStudio(): Studio {
  const studio = useContext(StudioContext);
  if (studio === undefined) throw new Error('useStudio: there is no StudioProvider around this component');
  return studio;
}

/** The server. */
export function useClient(): Client {
  return useStudio().client;
}

/** Language and theme, as they are now. */
export function useChoices(): Choices {
  const { preferences } = useStudio();
  return useObservable(preferences.choices$, preferences.current);
}
