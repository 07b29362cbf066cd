/** What a chat tells by its notices, as a picture shows it. */
import type { JsonObject } from '../../json.js';
import type { ChatPicture, EvidencePicture, StagePicture } from './picture.js';

/** The events of a chat of which a picture tells; `chat-events.ts` of the chat says what their fields mean. */
type ChatEvent =
  | { readonly type: 'stage_start'; readonly stage: number; readonly name: string; readonly budget_ms: number }
  | {
      readonly type: 'stage_end';
      readonly stage: number;
      readonly name: string;
      readonly ms: number;
      readonly status: string;
      readonly over_budget?: true;
      readonly detail: JsonObject;
    }
  | ({ readonly type: 'shortcut' } & NonNullable<ChatPicture['shortcut']>)
  | {
      readonly type: 'research_suggested';
      readonly question: string;
      readonly reason: string;
      readonly dataset_ids?: readonly string[];
    }
  | { readonly type: 'evidence'; readonly items: readonly EvidencePicture[] }
  | { readonly type: 'first_token'; readonly ms: number };

/** Name of the notices that hold events of a chat. */
const CHAT = 'chat';

/** The next picture of a chat; undefined for a notice that is not of a chat. */
export function toldOfChat(
  before: ChatPicture = NO_CHAT,
  { at, name, data }: { readonly at: number; readonly name: string; readonly data: JsonObject },
): ChatPicture | undefined {
  if (name !== CHAT) return undefined;
  // Written by the node as it is.
  const event = data as unknown as ChatEvent;
  switch (event.type) {
    case 'stage_start': {
      const { stage, name: called, budget_ms } = event;
      return withStage(before, { stage, name: called, status: 'running', startedAtMs: at, budgetMs: budget_ms });
    }
    case 'stage_end': {
      const { stage, name: called, ms, status, over_budget, detail } = event;
      const begun = before.stages.find((one) => one.stage === stage);
      const about = begun ?? { stage, name: called, startedAtMs: at - ms };
      const late = over_budget === true ? ({ isOverBudget: true } as const) : {};
      return withStage(before, { ...about, status, ms, ...late, detail });
    }
    case 'shortcut': {
      const { kind, reason, skipped, cancelled } = event;
      return { ...before, shortcut: { kind, reason, skipped, cancelled } };
    }
    case 'research_suggested': {
      const { question, reason, dataset_ids: datasetIds = [] } = event;
      return { ...before, research: { question, reason, datasetIds } };
    }
    case 'evidence':
      return { ...before, evidence: event.items };
    case 'first_token':
      return { ...before, firstTokenMs: event.ms };
    default:
      return before;
  }
}

/** Whether a node says that all its text so far is void. */
export function isRetraction({ name, data }: { readonly name: string; readonly data: JsonObject }): boolean {
  return name === CHAT && data.type === 'retract';
}

const NO_CHAT: ChatPicture = { stages: [], evidence: [] };

/** A stage that begins again takes the place of the one before. */
function withStage(before: ChatPicture, stage: StagePicture): ChatPicture {
  const at = before.stages.findIndex((one) => one.stage === stage.stage);
  return { ...before, stages: at < 0 ? [...before.stages, stage] : before.stages.with(at, stage) };
}
