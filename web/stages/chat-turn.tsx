/** A question to a chat whose run is followed: its stages, its answer, what that rests on, and ways to ask again. */
import { Pencil, RotateCw } from 'lucide-react';
import type { ChatPicture, RunPicture } from '../../src/canvas/picture/picture.js';
import { AnswerView } from '../chat/answer-view.js';
import { ConnectionNote } from '../chat/connection-note.js';
import { RunEnd } from '../chat/run-end.js';
import turnStyle from '../chat/turn.module.css';
import { UserWords } from '../chat/user-words.js';
import { Button, IconButton } from '../parts/button.js';
import { useObservable } from '../parts/use-observable.js';
import type { RunStore } from '../run/run-store.js';
import type { Turn } from '../run/turns.js';
import { useTexts } from '../shell/texts.js';
import { EvidenceList } from './evidence-list.js';
import { ResearchOffer } from './research-offer.js';
import { StageCards } from './stage-cards.js';
import { offeredBack } from './stage-model.js';
import style from './stages.module.css';
import { stagesTexts } from './stages-texts.js';

export interface ChatTurnProps {
  readonly turn: Turn;
  readonly store: RunStore;
  /** Nothing comes after it. */
  readonly isLast: boolean;
  readonly onAsk: (question: string) => void;
  /** Puts the question of a run where the user writes. */
  readonly onEdit: (run: string, question: string) => void;
}

export function ChatTurn({ turn, store, isLast, onAsk, onEdit }: ChatTurnProps) {
  const words = useTexts(stagesTexts);
  const picture = useObservable(store.picture$, store.picture);
  const connection = useObservable(store.connection$, store.connection);
  const { status, query = '' } = picture;
  const question = turn.query === '' ? query : turn.query;
  const chat = chatOf(picture);
  const isAtWork = status === 'running' || status === 'stopping';
  return (
    <article className={turnStyle.turn} aria-busy={isAtWork}>
      <div className={style.asked}>
        <IconButton label={words.edit} disabled={isAtWork} onClick={() => onEdit(store.run, question)}>
          <Pencil size={14} aria-hidden="true" />
        </IconButton>
        <UserWords query={question} files={[]} />
      </div>
      <StageCards chat={chat} isAtWork={isAtWork || picture.lastSeq === 0} />
      <AnswerView picture={picture} />
      <Offers options={isLast && !isAtWork ? offeredBack(chat) : []} onAsk={onAsk} />
      <ResearchOffer research={isAtWork ? undefined : chat?.research} />
      <EvidenceList picture={picture} />
      <RunEnd
        picture={picture}
        store={store}
        agent={{ id: '', title: words.title }}
        isLast={isLast}
        onResume={undefined}
      />
      {isLast && (status === 'failed' || status === 'cancelled') && (
        <Button className={style.again} onClick={() => onAsk(question)}>
          <RotateCw size={14} aria-hidden="true" /> {words.again}
        </Button>
      )}
      <ConnectionNote connection={connection} />
    </article>
  );
}

/** What the chat asked back, as buttons. */
function Offers({ options, onAsk }: { readonly options: readonly string[]; readonly onAsk: (text: string) => void }) {
  const words = useTexts(stagesTexts);
  if (options.length === 0) return null;
  return (
    <fieldset className={style.offers}>
      <legend className="unseen">{words.offered}</legend>
      {options.map((option) => (
        <Button key={option} onClick={() => onAsk(option)}>
          {option}
        </Button>
      ))}
    </fieldset>
  );
}

/** Of the newest try. */
function chatOf({ nodes }: RunPicture): ChatPicture | undefined {
  for (const { activations } of nodes.values()) {
    const last = activations.findLast(({ chat }) => chat !== undefined);
    if (last !== undefined) return last.chat;
  }
  return undefined;
}
