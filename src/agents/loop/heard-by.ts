/** Conversations of several agents: who said what, and how one of them hears the others. */
import type { ChatMessage } from '../../models/messages.js';
import type { Language } from '../language.js';
import { AGENT_TEXTS, type AgentTexts } from './agent-texts.js';
import { isHandoffTool } from './handoff-tool.js';

/** Characters of a tool's result that other agents are told of. */
const MAX_RESULT = 4_000;

/**
 * Marks messages as those of an agent, unless they carry the name of another one: `extra.agent`, which no model is sent. Messages of users stay
 * as they are, since they are for everyone.
 */
export function spokenBy(agent: string, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  return messages.map((message) =>
    message.role === 'user' || speakerOf(message) !== undefined
      ? message
      : { ...message, extra: { ...message.extra, agent } },
  );
}

/** A message that is for one agent alone: no other one is told of it. */
export function saidTo<M extends ChatMessage>(agent: string, message: M): M {
  return { ...message, extra: { ...message.extra, agent } };
}

/**
 * A conversation as an agent hears it: its own messages are its own, and those of other agents are told as context, in messages of the user's role.
 * Of the calls of others it is told name, arguments and result (up to 4,000 characters).
 */
export function asHeardBy(
  agent: string,
  messages: readonly ChatMessage[],
  language: Language = 'en',
): readonly ChatMessage[] {
  if (messages.every((message) => isOwn(agent, message))) return messages;
  const texts = AGENT_TEXTS[language];
  const heard: ChatMessage[] = [];
  let told: { readonly by: string; readonly lines: string[] } | undefined;
  const tell = (): void => {
    if (told !== undefined && told.lines.length > 0) {
      heard.push({ role: 'user', content: `${texts.context(told.by)}\n${told.lines.join('\n')}` });
    }
    told = undefined;
  };
  for (const message of messages) {
    if (isOwn(agent, message)) {
      tell();
      heard.push(message);
      continue;
    }
    const by = speakerOf(message) as string;
    if (told?.by !== by) tell();
    told ??= { by, lines: [] };
    told.lines.push(...linesOf(message, texts));
  }
  tell();
  return heard;
}

function isOwn(agent: string, message: ChatMessage): boolean {
  const speaker = speakerOf(message);
  return speaker === undefined || speaker === agent;
}

function speakerOf({ extra }: ChatMessage): string | undefined {
  return typeof extra?.agent === 'string' ? extra.agent : undefined;
}

function linesOf(message: ChatMessage, texts: AgentTexts): readonly string[] {
  switch (message.role) {
    case 'assistant': {
      const calls = (message.toolCalls ?? [])
        .filter(({ name }) => !isHandoffTool(name))
        .map((call) => texts.called(call.name, call.arguments));
      return message.content === '' ? calls : [message.content, ...calls];
    }
    case 'tool': {
      const { name = texts.aTool, content } = message;
      if (isHandoffTool(name)) return [texts.aside(content)];
      const isCut = content.length > MAX_RESULT;
      return [texts.gave(name, isCut ? `${content.slice(0, MAX_RESULT)}${texts.cut}` : content)];
    }
    default:
      return [];
  }
}
