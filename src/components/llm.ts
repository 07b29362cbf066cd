import type { Observable } from 'rxjs';
import { contextOf } from '../agents/call-context.js';
import type { Activation } from '../graph/node.js';
import type { NodeEvent } from '../graph/node-events.js';
import { answerEvents, askForObject } from './chat/answers.js';
import { cutPromptTags, type Prompting, prepareMessages, type ReadPrompt } from './chat/messages.js';
import { type LlmParams, llmParams, openNodeChat, schemaOf } from './chat/params.js';
import { defineComponent, type Placement } from './component.js';
import { afterWarnings, referencedOutputs } from './values/text-reader.js';

/**
 * Asks a model. Text and reasoning are streamed as they come; `content` holds the answer, with its reasoning between think
 * marks when another node reads it live and without it otherwise. With a schema the answer is read as JSON into `structured`.
 *
 * Errors: `MODEL_*` of the model, `NODE_FAILED` when there is nothing to ask or the answer does not become JSON.
 */
export const llm = defineComponent<LlmParams>({
  type: 'LLM',
  group: 'model',
  summary: 'Asks a model, with prompts that may read other nodes.',
  thoughts: 'Thinking about the answer.',
  params: llmParams,
  outputs: {
    content: { type: 'string', description: 'The answer; absent when a schema is set.' },
    structured: { type: 'object', description: 'The answer as an object of the schema, when one is set.' },
  },
  primaryOutput: 'content',
  streams: (params) => (schemaOf(params) === undefined ? ['content'] : []),
  needs: (params) => referencedOutputs([params.sys_prompt ?? '', ...params.prompts.map(({ content }) => content)]),
  create: (params, placement) => createAsker(params, placement),
});

/** What an LLM does, for components that ask in its way; `readPrompt` is for prompts that hold more than references. */
export function createAsker(
  params: LlmParams,
  { isStreamed }: Pick<Placement, 'isStreamed'>,
  readPrompt?: ReadPrompt,
): (activation: Activation) => Observable<NodeEvent> {
  const schema = schemaOf(params);
  const prompting: Prompting = {
    params,
    system: cutPromptTags(params.sys_prompt ?? ''),
    schema,
    ...(readPrompt && { readPrompt }),
  };
  return (activation) => {
    const context = contextOf(activation);
    const chat = openNodeChat(context, params);
    const { messages, warnings } = prepareMessages(context, chat, prompting);
    const request = chat.request(messages);
    const answer$ =
      schema === undefined
        ? chat.ask(request, (pieces$) => answerEvents(pieces$, { keepThinking: isStreamed }))
        : askForObject({ node: context.node, chat, request, maxRetries: params.max_retries ?? 0 });
    return afterWarnings(warnings, answer$);
  };
}
