import { mergeMap } from 'rxjs';
import { fromAbortable } from '../operators/from-abortable.js';
import { everydayTools } from '../tools/index.js';
import { findTool } from '../tools/tool.js';
import { type ChatParams, chatParams } from './chatting/chat-params.js';
import { defineComponent } from './component.js';
import { referencedOutputs } from './values/text-reader.js';

/** Seconds that a chat may take. */
const TIMEOUT_SECONDS = 1_200;

/**
 * Answers the user in eight stages: remembers, rewrites, finds out what is wanted, asks back or answers by itself, searches datasets and calls tools,
 * and lets a model answer from what was found, with citations. See `docs/chat.md`.
 *
 * Errors: `QUESTION_INVALID` without a question, `RUN_TIMEOUT` behind the deadline, those of the model and of the store.
 */
export const chat = defineComponent<ChatParams>({
  type: 'Chat',
  group: 'model',
  summary: 'Answers from datasets and tools, with citations, in eight stages.',
  params: chatParams,
  thoughts: 'Looking for an answer.',
  outputs: {
    content: { type: 'string', description: 'The answer, with citations such as [1].' },
    evidence: { type: 'array', description: 'The sources, numbered as the answer cites them.' },
    citations: { type: 'array', description: 'Where the answer cites which source, and whether that supports it.' },
    chat: { type: 'object', description: 'Times, stages, short circuit, mode, model and tokens.' },
  },
  primaryOutput: 'content',
  speaks: true,
  timeoutSeconds: TIMEOUT_SECONDS,
  needs: ({ query }) => referencedOutputs([query ?? '']),
  advise: ({ tools }) =>
    (tools ?? []).flatMap((name) =>
      findTool(everydayTools, name) === undefined ? [`there is no tool "${name}" that a chat may call`] : [],
    ),
  create(params) {
    return (activation) =>
      // Few processes have chats.
      fromAbortable(() => import('./chatting/chat-node.js')).pipe(
        mergeMap(({ answerChat }) => answerChat(params, activation)),
      );
  },
});
