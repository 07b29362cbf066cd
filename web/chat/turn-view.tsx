/** One turn of a conversation: what the user said, and what came of it. */
import type { ReactNode } from 'react';
import type { JsonObject } from '../../src/json.js';
import { Button } from '../parts/button.js';
import type { Conversation } from '../run/conversation.js';
import type { RunStore } from '../run/run-store.js';
import type { TurnInput } from '../run/start-turn.js';
import type { Turn } from '../run/turns.js';
import { defineTexts, useTexts } from '../shell/texts.js';
import { Said } from './answer-view.js';
import style from './turn.module.css';
import { UserWords } from './user-words.js';

const texts = defineTexts({
  en: { sending: 'Sending …', details: 'Show how it came about', none: 'There is no answer.' },
  zh: { sending: '正在发送…', details: '查看产生过程', none: '没有回答。' },
});

export interface TurnViewProps {
  readonly turn: Turn;
  readonly onFollow: Pick<Conversation, 'follow'>;
  /** The turn once its run is followed. */
  readonly live: (store: RunStore) => ReactNode;
}

export function TurnView({ turn, onFollow, live }: TurnViewProps) {
  const words = useTexts(texts);
  const { store, run, answer } = turn;
  if (store !== undefined) return live(store);
  return (
    <article className={style.turn}>
      <UserWords query={turn.query} files={turn.files} />
      {answer === undefined ? <p className={style.soft}>{words.none}</p> : <Said text={answer} citation={undefined} />}
      {run !== undefined && (
        <Button look="quiet" className={style.details} onClick={() => onFollow.follow(run)}>
          {words.details}
        </Button>
      )}
    </article>
  );
}

/** What the server has not taken yet. */
export function PendingTurn({ input: { query, inputs, files = [] } }: { readonly input: TurnInput }) {
  const words = useTexts(texts);
  const shown = files.map(({ id, name, size }): JsonObject => ({ id, name, size }));
  return (
    <article className={style.turn}>
      <UserWords query={query} files={shown} inputs={inputs} />
      <p className={style.soft} role="status">
        {words.sending}
      </p>
    </article>
  );
}
