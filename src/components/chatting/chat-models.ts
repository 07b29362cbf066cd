/** The models of a chat: what answers, and what stages 2 and 3 ask, each call told to the run. */
import { filter, type Observable, tap } from 'rxjs';
import { askModel } from '../../agents/chat.js';
import { CHAT_NODE } from '../../chat/service/chat-document.js';
import type { StageModel } from '../../chat/stages/stage-result.js';
import type { Call } from '../../graph/node-events.js';
import type { ChatDelta, ChatMessage, ChatModel, ChatRequest } from '../../models/chat-model.js';
import { chatRouteOf } from '../../models/chat-route.js';
import type { RouteDelta } from '../../models/routing/route-target.js';
import { requireService } from '../../tools/tool-services.js';
import { usageEvent } from '../chat/answers.js';
import { samplingOf } from '../chat/params.js';
import type { ChatNode } from './node-parts.js';

/** What a chat asks. */
export interface ChatModels {
  /** Name of what answers. */
  readonly name: string;
  /** Asked in stages 2 and 3; undefined where no model is configured, and rules do it. */
  readonly understanding: StageModel | undefined;
  readonly maxPromptTokens: number | undefined;
  answer(messages: readonly ChatMessage[], temperature: number): Observable<RouteDelta>;
}

/** Share of a model's length that a prompt may take, and its tokens at most. */
const PROMPT_SHARE = 0.6;
const MAX_PROMPT_TOKENS = 6_000;

/** Opens the models of a chat. @throws EngineError MODEL_UNKNOWN; CONFIG_INVALID when the run was started without models. */
export function openModels(node: ChatNode): ChatModels {
  const { context, params, llmId } = node;
  const models = requireService(context.services, 'models', `Node "${context.node}"`, { node: context.node });
  const { id, choice } = chatRouteOf(models, llmId);
  const { name, contextLength } = choice;
  // A route tells which target answered, and when an answer begins anew, which readers of other canvases do not know.
  const routed: ChatModel =
    models.answer === undefined || context.node !== CHAT_NODE
      ? choice.model
      : { chat: (request) => models.answer?.(id, request) as Observable<ChatDelta> };
  let calls = 0;
  const reported = (model: ChatModel, purpose: (request: ChatRequest) => string): ChatModel => ({
    chat: (request) => {
      calls += 1;
      return askModel(context, {
        id: `${purpose(request)}-${calls}`,
        model,
        provider: choice.provider,
        request: { ...request, user: context.services.session?.id },
        read: (answer$) => answer$,
      }).pipe(withReports(node));
    },
  });
  const answering = reported(routed, () => 'answer');
  const { temperature: _, ...sampling } = samplingOf(params);
  const { thinking } = params;
  return {
    name,
    understanding: models.isScripted
      ? undefined
      : { name, model: reported(choice.model, ({ jsonSchema }) => jsonSchema?.name ?? 'ask') },
    maxPromptTokens:
      contextLength === undefined
        ? undefined
        : Math.max(1, Math.min(MAX_PROMPT_TOKENS, Math.floor(contextLength * PROMPT_SHARE))),
    answer: (messages, temperature) =>
      answering.chat({
        model: name,
        messages,
        sampling: { ...sampling, temperature },
        ...((thinking === 'enabled' || thinking === 'disabled') && { thinking }),
      }) as Observable<RouteDelta>,
  };
}

/** Passes the answer on, and tells the run of the call and of its tokens. */
function withReports({ report }: ChatNode) {
  return (told$: Observable<Call | ChatDelta>): Observable<ChatDelta> =>
    told$.pipe(
      tap((event) => {
        if (event.type === 'call') report(event);
        else if (event.type === 'usage') report(usageEvent(event));
      }),
      filter((event): event is ChatDelta => event.type !== 'call'),
    );
}
