/** What one activation of a node did, and why: its state, what it gave, what it called, what it said. */
import type { ReactNode } from 'react';
import type { ActivationPicture, NodePicture } from '../../src/canvas/picture/picture.js';
import { formatMs } from '../../src/canvas/timeline-rows.js';
import { JsonView } from '../parts/json-view.js';
import { useTexts } from '../shell/texts.js';
import style from './activation-details.module.css';
import { CallList } from './call-list.js';
import { detailsTexts } from './details-texts.js';
import { LongText } from './long-text.js';
import { StatusTag } from './status-tag.js';
import { useWhereText } from './where-text.js';
import { WhySection } from './why-section.js';

export interface ActivationDetailsProps {
  readonly node: NodePicture;
  readonly activation: ActivationPicture;
  /** Names of nodes by id. */
  readonly nameOf: (id: string) => string;
  /** When the run began, in milliseconds since 1970. */
  readonly startMs: number;
  readonly onSeek: (seq: number) => void;
  /** What it read. */
  readonly reads?: ReactNode;
  /** Stands in the place of its outputs, such as fields for them. @default a tree */
  readonly gave?: ReactNode;
  /** Buttons of the screen around, such as to run on from here. */
  readonly children?: ReactNode;
}

export function ActivationDetails(props: ActivationDetailsProps) {
  const { node, activation, nameOf, startMs, onSeek, reads, gave, children } = props;
  const words = useTexts(detailsTexts);
  const whereOf = useWhereText(nameOf);
  const { text, thinking, omittedCharacters, outputs, isRetracted } = activation;
  // Those of tools stand with the calls.
  const notices = activation.notices.filter(({ name }) => name !== 'tool-called');
  return (
    <section className={style.details} aria-label={words.label(node.name || node.id)}>
      <header className={style.head}>
        <h3>{node.name || node.id}</h3>
        <StatusTag status={activation.status} />
        <span className={style.where}>{whereOf(activation.within)}</span>
        <span className={style.actions}>{children}</span>
      </header>
      <Facts activation={activation} startMs={startMs} onSeek={onSeek} />
      <WhySection node={node} activation={activation} nameOf={nameOf} />
      {reads}
      <CallList activation={activation} startMs={startMs} />
      {text !== '' && !Object.values(outputs ?? {}).includes(text) && (
        <Part title={isRetracted === true ? words.retracted : words.said}>
          <LongText text={text} omitted={omittedCharacters} label={words.said} />
        </Part>
      )}
      {thinking !== '' && (
        <details className={style.fold}>
          <summary>{words.thought}</summary>
          <LongText text={thinking} omitted={0} label={words.thought} />
        </details>
      )}
      {outputs !== undefined && Object.keys(outputs).length > 0 && (
        <Part title={words.gave}>{gave ?? <JsonView value={outputs} label={words.gave} />}</Part>
      )}
      {notices.length > 0 && (
        <Part title={words.notices}>
          <JsonView value={notices.map(({ seq, name, data }) => ({ event: seq, name, data }))} label={words.notices} />
        </Part>
      )}
    </section>
  );
}

export function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <div className={style.part}>
      <h4>{title}</h4>
      {children}
    </div>
  );
}

function Facts({ activation, startMs, onSeek }: Pick<ActivationDetailsProps, 'activation' | 'startMs' | 'onSeek'>) {
  const words = useTexts(detailsTexts);
  const { startedAtMs, elapsedMs, usage, startSeq, endSeq, attempt } = activation;
  const facts: readonly (readonly [string, ReactNode])[] = [
    [words.began, formatMs(Math.max(0, startedAtMs - startMs))],
    [words.took, elapsedMs === undefined ? words.notYet : formatMs(elapsedMs)],
    ...(usage.totalTokens > 0 ? [[words.tokens, words.usage(usage)] as const] : []),
    ...(attempt > 1 ? [[words.attempt, String(attempt)] as const] : []),
    [
      words.events,
      <span key="events">
        <SeekButton seq={startSeq} onSeek={onSeek} />
        {endSeq !== undefined && (
          <>
            {' – '}
            <SeekButton seq={endSeq} onSeek={onSeek} />
          </>
        )}
      </span>,
    ],
  ];
  return (
    <dl className={style.facts}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function SeekButton({ seq, onSeek }: { readonly seq: number; readonly onSeek: (seq: number) => void }) {
  const words = useTexts(detailsTexts);
  return (
    <button
      type="button"
      className={style.seek}
      aria-label={words.seek(seq)}
      title={words.seek(seq)}
      onClick={() => onSeek(seq)}
    >
      {seq.toLocaleString()}
    </button>
  );
}
