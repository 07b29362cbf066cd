/** Parts of the page that are loaded when they are needed first. One that does not come says why in its place, and is loaded again. */
import { CircleAlert } from 'lucide-react';
import {
  type ComponentType,
  createElement,
  type ReactNode,
  startTransition,
  use,
  useCallback,
  useEffect,
  useState,
} from 'react';
import { fromEvent, merge, race, timer } from 'rxjs';
import type { LoadedPart, MissingReason, PageFiles } from '../api/page-files.js';
import { useStudio } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { Button } from './button.js';
import { Dialog } from './dialog.js';
import style from './later-part.module.css';
import notes from './notes.module.css';
import { pauseMs } from './pause-ms.js';

const texts = defineTexts({
  en: {
    title: 'This part of the page is missing',
    why: {
      unreachable:
        'This part of the page could not be loaded: the server cannot be reached. It is loaded when the server is back.',
      'earlier-version':
        'This page is from an earlier version of the server, which does not have this part any more. Reload the page to go on. Drafts and messages that you have typed are kept.',
      unknown: 'This part of the page could not be loaded.',
    } satisfies Record<MissingReason, string>,
    again: 'Try again',
    reload: 'Reload the page',
    close: 'Close',
  },
  zh: {
    title: '页面的这一部分缺失',
    why: {
      unreachable: '无法加载页面的这一部分：无法连接服务器。服务器恢复后将自动加载。',
      'earlier-version':
        '此页面来自服务器的较早版本，服务器上已没有这一部分。请重新加载页面以继续。您输入的草稿和消息会保留。',
      unknown: '无法加载页面的这一部分。',
    },
    again: '重试',
    reload: '重新加载页面',
    close: '关闭',
  },
});

/** Loads a part once for all who show it, until it is there. */
class Loading<T> {
  readonly #load: () => Promise<T>;
  #attempt: Promise<LoadedPart<T>> | undefined = undefined;
  #hasFailed = false;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  /** The same promise until it is to be tried again. */
  by(files: PageFiles): Promise<LoadedPart<T>> {
    this.#attempt ??= files.load(this.#load).then((loaded) => {
      this.#hasFailed = loaded.missing !== undefined;
      return loaded;
    });
    return this.#attempt;
  }

  /** Forgets an attempt that failed; one that is under way goes on. */
  again(): void {
    if (!this.#hasFailed) return;
    this.#hasFailed = false;
    this.#attempt = undefined;
  }
}

/**
 * A component whose files are loaded when it is drawn first; until then the `Suspense` around it shows its fallback.
 *
 * @param whenMissing what stands in its place while it cannot be had, with the note that says why and offers to try again. @default the note
 */
export function laterPart<P extends object>(
  load: () => Promise<ComponentType<P>>,
  whenMissing: (note: ReactNode, props: P) => ReactNode = (note) => note,
): ComponentType<P> {
  const loading = new Loading(load);
  return (props) => <LaterPart loading={loading} whenMissing={whenMissing} given={props} />;
}

interface LaterPartProps<P extends object> {
  readonly loading: Loading<ComponentType<P>>;
  readonly whenMissing: (note: ReactNode, props: P) => ReactNode;
  /** What the part is given. */
  readonly given: P;
}

function LaterPart<P extends object>({ loading, whenMissing, given }: LaterPartProps<P>) {
  const { files } = useStudio();
  const [tries, setTries] = useState(0);
  const onAgain = useCallback(() => {
    loading.again();
    // The note stays until it is known what came of it.
    startTransition(() => setTries((now) => now + 1));
  }, [loading]);
  const loaded = use(loading.by(files));
  if (loaded.missing === undefined) return createElement(loaded.part, given);
  return whenMissing(<MissingNote missing={loaded.missing} tries={tries} onAgain={onAgain} />, given);
}

/** The same for what opens over the page. */
export function laterDialog<P extends { readonly onClose: () => void }>(
  load: () => Promise<ComponentType<P>>,
  besides: (props: P) => ReactNode = () => null,
): ComponentType<P> {
  return laterPart(load, (note, props) => (
    <>
      {besides(props)}
      <MissingDialog onClose={props.onClose}>{note}</MissingDialog>
    </>
  ));
}

/** For what lies over a canvas. */
export function MissingBeside({ children }: { readonly children: ReactNode }) {
  return <div className={style.beside}>{children}</div>;
}

function MissingDialog({ onClose, children }: { readonly onClose: () => void; readonly children: ReactNode }) {
  const words = useTexts(texts);
  return (
    <Dialog title={words.title} onClose={onClose}>
      {children}
      <Button onClick={onClose}>{words.close}</Button>
    </Dialog>
  );
}

interface MissingNoteProps {
  readonly missing: MissingReason;
  /** How often it was loaded again. */
  readonly tries: number;
  readonly onAgain: () => void;
}

function MissingNote({ missing, tries, onAgain }: MissingNoteProps) {
  const words = useTexts(texts);
  useEffect(() => {
    if (missing !== 'unreachable') return undefined;
    const pause$ = timer(pauseMs(tries + 1));
    // A device that comes back from sleep, or finds its network again, does not wait for the next try.
    const wake$ = merge(fromEvent(window, 'online'), fromEvent(document, 'visibilitychange'));
    const subscription = race(pause$, wake$).subscribe(onAgain);
    return () => subscription.unsubscribe();
  }, [missing, tries, onAgain]);
  return (
    <div className={`${notes.note} ${notes.error}`} role="alert">
      <CircleAlert aria-hidden="true" />
      <p>{words.why[missing]}</p>
      {missing !== 'earlier-version' && <Button onClick={onAgain}>{words.again}</Button>}
      {missing !== 'unreachable' && <Button onClick={() => location.reload()}>{words.reload}</Button>}
    </div>
  );
}
