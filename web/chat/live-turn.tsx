/** A turn whose run is followed. */
import { Suspense } from 'react';
import type { ActivationPicture } from '../../src/canvas/picture/picture.js';
import { isJsonObject } from '../../src/json.js';
import { laterPart } from '../parts/later-part.js';
import { changeQuery } from '../parts/location.js';
import { LoadingNote } from '../parts/notes.js';
import { useObservable } from '../parts/use-observable.js';
import type { AgentDetail } from '../run/agent-detail.js';
import type { RunStore } from '../run/run-store.js';
import type { TurnInput } from '../run/start-turn.js';
import type { Turn } from '../run/turns.js';
import { STEP } from '../trace/steps.js';
import { AnswerView, Said } from './answer-view.js';
import { ConnectionNote } from './connection-note.js';
import { RunEnd } from './run-end.js';
import { ToldInputs } from './told-inputs.js';
import style from './turn.module.css';
import { useSpeaks } from './use-speaks.js';
import { UserWords } from './user-words.js';

const QuestionForm = laterPart(async () => (await import('./question-form.js')).QuestionForm);

export interface LiveTurnProps {
  readonly turn: Turn;
  readonly store: RunStore;
  readonly agent: AgentDetail;
  readonly isLast: boolean;
  readonly onAnswer: (input: TurnInput) => Promise<boolean>;
}

export function LiveTurn({ turn, store, agent, isLast, onAnswer }: LiveTurnProps) {
  const picture = useObservable(store.picture$, store.picture);
  const connection = useObservable(store.connection$, store.connection);
  const speaks = useSpeaks(picture.nodes);
  const { query = turn.query, input, questions, status } = picture;
  const inputs = isJsonObject(input) && isJsonObject(input.inputs) ? input.inputs : undefined;
  const isGone = connection.is === 'refused' && turn.answer !== undefined;
  return (
    <article className={style.turn} aria-busy={status === 'running' || status === 'stopping'}>
      <UserWords query={turn.query === '' ? query : turn.query} files={turn.files} inputs={inputs} />
      {isGone ? (
        <Said text={turn.answer ?? ''} citation={undefined} />
      ) : (
        <AnswerView picture={picture} speaks={speaks} />
      )}
      <ToldInputs store={store} picture={picture} />
      {isLast &&
        status === 'waiting' &&
        questions.map((question) => (
          <Suspense key={question.address} fallback={<LoadingNote />}>
            <QuestionForm agent={agent.id} question={question} onAnswer={onAnswer} />
          </Suspense>
        ))}
      <RunEnd
        picture={picture}
        store={store}
        agent={agent}
        isLast={isLast}
        onResume={() => void onAnswer({ query: '', resumeFrom: store.run })}
        onStep={isLast ? showStep : undefined}
      />
      <ConnectionNote connection={connection} />
    </article>
  );
}

/** The canvas and the trace show the last run of a conversation. */
function showStep({ ordinal }: ActivationPicture): void {
  changeQuery({ tab: 'trace', [STEP]: ordinal });
}
