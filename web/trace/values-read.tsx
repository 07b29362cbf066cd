/** The values that an activation read: what each reference in its parameters named when it began. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ActivationPicture } from '../../src/canvas/picture/picture.js';
import type { Json } from '../../src/json.js';
import type { Client } from '../api/client.js';
import { JsonView } from '../parts/json-view.js';
import { runPath } from '../run/paths.js';
import { useClient } from '../shell/studio.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './activation-details.module.css';
import { LongText } from './long-text.js';
import type { RunSource } from './run-source.js';

const texts = defineTexts({
  en: {
    title: 'Read',
    later: 'came while it was at work',
    unset: 'had no value',
    unknown: 'names nothing here',
    hidden: 'not shown: its name says that it is secret',
    isCut: (bytes: number) => `the beginning of ${bytes.toLocaleString('en')} bytes`,
    omitted: (count: number) => `${count.toLocaleString('en')} more references are not listed.`,
  },
  zh: {
    title: '读取的值',
    later: '运行期间才有值',
    unset: '没有值',
    unknown: '此处没有对应的内容',
    hidden: '不显示：名称表明这是机密',
    isCut: (bytes: number) => `共 ${bytes.toLocaleString('zh')} 字节，仅显示开头`,
    omitted: (count: number) => `另有 ${count.toLocaleString('zh')} 个引用未列出。`,
  },
});

/** The fields that are used. */
interface ValueRead {
  readonly reference: string;
  readonly params: readonly string[];
  readonly status: 'found' | 'later' | 'unset' | 'unknown' | 'hidden';
  readonly value?: Json;
  readonly bytes: number;
  readonly is_cut: boolean;
}

interface ValuesReadOf {
  readonly reads: readonly ValueRead[];
  readonly omitted: number;
}

export interface ValuesReadProps {
  readonly source: Pick<RunSource, 'agent' | 'run'>;
  readonly activation: ActivationPicture;
}

export function ValuesRead({ source, activation }: ValuesReadProps) {
  const words = useTexts(texts);
  const client = useClient();
  const { agent, run } = source;
  const { startSeq, endSeq } = activation;
  const { data, error } = useQuery({
    queryKey: ['reads', agent, run, startSeq, endSeq],
    queryFn: ({ signal }) => readValues(client, source, activation, signal),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  if (error !== null) {
    return (
      <Section>
        <p className={style.hint}>{error.message}</p>
      </Section>
    );
  }
  if (data === undefined || data.reads.length === 0) return null;
  return (
    <Section>
      <dl className={style.reads}>
        {data.reads.map((one) => (
          <div key={one.reference}>
            <dt title={one.params.join(', ')}>
              <code>{one.reference}</code> <span className={style.hint}>{noteOf(one, words)}</span>
            </dt>
            {one.value !== undefined && (
              <dd>
                <Value reference={one.reference} value={one.value} />
              </dd>
            )}
          </div>
        ))}
      </dl>
      {data.omitted > 0 && <p className={style.hint}>{words.omitted(data.omitted)}</p>}
    </Section>
  );
}

function Section({ children }: { readonly children: ReactNode }) {
  const words = useTexts(texts);
  return (
    <section className={style.part} aria-label={words.title}>
      <h4>{words.title}</h4>
      {children}
    </section>
  );
}

/** A text as it reads, everything else as a tree. */
function Value({ reference, value }: { readonly reference: string; readonly value: Json }) {
  if (typeof value === 'string' && value !== '') return <LongText text={value} omitted={0} label={reference} />;
  return <JsonView value={value} label={reference} levels={1} />;
}

function noteOf({ status, is_cut: isCut, bytes }: ValueRead, words: (typeof texts)['en']): string {
  const notes = [status === 'found' ? '' : words[status], isCut ? words.isCut(bytes) : ''];
  return notes.filter((note) => note !== '').join(' · ');
}

/** @throws ApiError. */
function readValues(
  client: Client,
  { agent, run }: ValuesReadProps['source'],
  { startSeq, endSeq }: ActivationPicture,
  signal: AbortSignal,
): Promise<ValuesReadOf> {
  const query = { at: startSeq, ...(endSeq !== undefined && { until: endSeq }) };
  return client.call<ValuesReadOf>(`${runPath(agent, run)}/reads`, { query, signal });
}
