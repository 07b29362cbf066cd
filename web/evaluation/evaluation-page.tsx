/** `#/evaluations`: results of searches and of `runnel eval`, measure by measure and question by question; two of them side by side, with intervals. */
import { FileUp, X } from 'lucide-react';
import { type DragEvent, useRef } from 'react';
import { Button, IconButton } from '../parts/button.js';
import { FailureLine } from '../parts/failure-line.js';
import { EmptyNote } from '../parts/notes.js';
import { useTexts } from '../shell/texts.js';
import { useSystem } from '../shell/use-system.js';
import { EarlierList } from './earlier-list.js';
import type { EarlierResult } from './earlier-results.js';
import style from './evaluation.module.css';
import type { EvaluationResult } from './evaluation-result.js';
import { evaluationTexts } from './evaluation-texts.js';
import { type Kind, MeasureSection } from './measure-section.js';
import { MeasureTable } from './measure-table.js';
import { QuestionTable } from './question-table.js';
import { RouteTable } from './route-table.js';
import { useEarlier } from './use-earlier.js';
import { type Slot, useResults } from './use-results.js';

/** What can be measured, and the part of the server that it needs. */
const KINDS: readonly (readonly [Kind, string])[] = [
  ['search', 'datasets'],
  ['answers', 'chat'],
];

export function EvaluationPage() {
  const words = useTexts(evaluationTexts);
  const earlier = useEarlier();
  const { a, b, refused, open, take, remove } = useResults(earlier.keep);
  const openEarlier = async (slot: Slot, { id, name }: EarlierResult) => {
    const text = await earlier.textOf(id);
    if (text !== undefined) take(slot, name, text);
  };
  const { parts } = useSystem().data ?? {};
  const kinds = KINDS.filter(([, part]) => parts?.includes(part) === true).map(([kind]) => kind);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    const [first, second] = event.dataTransfer.files;
    if (first !== undefined) void open(a === undefined ? 'a' : 'b', first);
    if (second !== undefined) void open('b', second);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the buttons do the same for the keyboard
    <div className={style.page} onDragOver={(event) => event.preventDefault()} onDrop={drop}>
      <h1>{words.title}</h1>
      <p className={style.soft}>{words.intro}</p>
      {kinds.length > 0 && <MeasureSection slot={a === undefined ? 'a' : 'b'} kinds={kinds} onResult={take} />}
      <div className={style.slots}>
        <FileSlot slot="a" result={a} onOpen={open} onRemove={remove} />
        <FileSlot slot="b" result={b} onOpen={open} onRemove={remove} />
      </div>
      {refused !== undefined && <FailureLine error={new Error(words[refused.why](refused.name))} />}
      {a === undefined ? (
        <EmptyNote title={words.empty}>
          <p>{words.emptyHint}</p>
        </EmptyNote>
      ) : (
        <>
          <MeasureTable a={a} b={b} />
          <RouteTable a={a} b={b} />
          <QuestionTable a={a} b={b} />
        </>
      )}
      <EarlierList
        results={earlier.results}
        onOpen={(slot, result) => void openEarlier(slot, result)}
        onForget={earlier.forget}
      />
    </div>
  );
}

interface FileSlotProps {
  readonly slot: Slot;
  readonly result: EvaluationResult | undefined;
  readonly onOpen: (slot: Slot, file: File) => Promise<void>;
  readonly onRemove: (slot: Slot) => void;
}

function FileSlot({ slot, result, onOpen, onRemove }: FileSlotProps) {
  const words = useTexts(evaluationTexts);
  const picker = useRef<HTMLInputElement>(null);
  const name = words[slot];
  return (
    <section className={style.slot} aria-label={name}>
      <h2>{name}</h2>
      <input
        ref={picker}
        type="file"
        accept=".json,application/json"
        hidden
        aria-label={name}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) void onOpen(slot, file);
          target.value = '';
        }}
      />
      {result === undefined ? (
        <Button aria-label={words.choose(name)} onClick={() => picker.current?.click()}>
          <FileUp size={16} aria-hidden="true" /> {words.choose(name)}
        </Button>
      ) : (
        <p className={style.file}>
          <span>
            <strong>{result.fileName}</strong> <span className={style.soft}>{result.of}</span>
          </span>
          <IconButton label={words.remove(name)} onClick={() => onRemove(slot)}>
            <X size={16} aria-hidden="true" />
          </IconButton>
        </p>
      )}
    </section>
  );
}
