/** What was said to the agents of a run while they worked, and what became of it. */
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { RunPicture } from '../../src/canvas/picture/picture.js';
import { useHearingTypes } from '../canvas/catalogue.js';
import { Button } from '../parts/button.js';
import { useObservable } from '../parts/use-observable.js';
import type { KeptInput, SaidInput } from '../run/run-inputs.js';
import type { RunStore } from '../run/run-store.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import style from './turn.module.css';

const texts = defineTexts({
  en: {
    label: 'Told while it worked',
    sending: 'Sending …',
    kept: 'Kept: agents are told before the next call of their model.',
    late: {
      succeeded: 'Not told: the run ended before an agent called its model again.',
      failed: 'Not told: the run failed before.',
      cancelled: 'Not told: the run was stopped before.',
      waiting: 'Not told: the run ended with its question before. Say it again with the answer.',
    },
    told: (names: string) => `Told to ${names}.`,
    unknown: 'What was told to this run and not heard could not be loaded.',
    again: 'Try again',
  },
  zh: {
    label: '运行期间的补充',
    sending: '正在发送…',
    kept: '已保存：将在智能体下一次调用模型之前告知。',
    late: {
      succeeded: '未告知：在智能体再次调用模型之前，运行已结束。',
      failed: '未告知：运行已先失败。',
      cancelled: '未告知：运行已先被停止。',
      waiting: '未告知：运行已先提出问题并结束。请在回答时再次说明。',
    },
    told: (names: string) => `已告知 ${names}。`,
    unknown: '无法加载已发送但未被听取的补充。',
    again: '重试',
  },
});

/** An input with the names of the nodes that heard it. */
export interface ToldInput extends SaidInput {
  readonly heardBy: readonly string[];
}

export interface ToldInputsProps {
  readonly store: RunStore;
  readonly picture: RunPicture;
}

export function ToldInputs({ store, picture }: ToldInputsProps) {
  const words = useTexts(texts);
  const said = useObservable(store.inputs.said$, store.inputs.said);
  const { nodes, status } = picture;
  const { kept, isUnknown, ask } = useKept(store, picture);
  const inputs = useMemo(() => toldInputs(nodes, kept, said), [nodes, kept, said]);
  const stateOf = ({ isKept, heardBy }: ToldInput): string => {
    if (heardBy.length > 0) return words.told(heardBy.join(', '));
    if (status !== 'running' && status !== 'stopping') return words.late[status];
    return isKept ? words.kept : words.sending;
  };
  return (
    <>
      {inputs.length > 0 && (
        <ul className={style.told} aria-label={words.label}>
          {inputs.map((input) => (
            <li key={input.id} className={style.user}>
              <p>{input.content}</p>
              <p className={style.soft} role="status">
                {stateOf(input)}
              </p>
            </li>
          ))}
        </ul>
      )}
      {isUnknown && (
        <p className={style.facts} role="alert">
          {words.unknown}
          <Button onClick={ask}>{words.again}</Button>
        </p>
      )}
    </>
  );
}

const NOTHING: readonly KeptInput[] = [];

/**
 * What the server has of what was said: what no agent has heard is in no event. It is asked for while the run is at work, and once more behind its end, of
 * a run that an agent may have heard.
 */
function useKept(store: RunStore, { status, nodes, lastSeq }: RunPicture) {
  const types = useHearingTypes();
  const isAtWork = status === 'running' || status === 'stopping';
  const mayHear = useMemo(
    () => [...nodes.values()].some(({ type = '' }) => types.has(type.trim().toLowerCase())),
    [nodes, types],
  );
  const { data, isError, refetch } = useQuery({
    queryKey: ['inputs', store.run, isAtWork],
    queryFn: ({ signal }) => store.inputs.kept(signal),
    enabled: mayHear && (isAtWork || lastSeq > 0),
    // Behind the end nothing is added.
    staleTime: isAtWork ? 0 : Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  });
  return { kept: data ?? NOTHING, isUnknown: isError && !isAtWork, ask: () => void refetch() };
}

/** What the log tells that was heard, in its order, and behind it what was said and not heard: what the server has, then what it has not yet. */
export function toldInputs(
  nodes: RunPicture['nodes'],
  kept: readonly KeptInput[],
  said: readonly SaidInput[],
): readonly ToldInput[] {
  const told = new Map<string, ToldInput>();
  const notices = [...nodes.values()].flatMap(({ id, name = id, activations }) =>
    activations.flatMap((one) =>
      one.notices.flatMap(({ name: kind, seq, data }) => (kind === 'input-delivered' ? [{ name, seq, data }] : [])),
    ),
  );
  for (const { name, data } of notices.toSorted((a, b) => a.seq - b.seq)) {
    const id = String(data.id);
    const heardBy = told.get(id)?.heardBy ?? [];
    const content = typeof data.content === 'string' ? data.content : '';
    told.set(id, { id, content, isKept: true, heardBy: heardBy.includes(name) ? heardBy : [...heardBy, name] });
  }
  for (const one of [...kept.map((input) => ({ ...input, isKept: true })), ...said]) {
    if (!told.has(one.id)) told.set(one.id, { ...one, heardBy: [] });
  }
  return [...told.values()];
}
