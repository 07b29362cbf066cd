/** The routes of assistants, one file for each resource. */
import type { RouteGroup } from '../http/route.js';
import { answerEventRoutes } from './answer-events.js';
import { assistantRoutes } from './assistants.js';
import { chatMessageRoutes } from './chat-messages.js';
import { chatSessionRoutes } from './chat-sessions.js';
import { chatCompletionRoutes } from './completions.js';
import { forkSessionRoutes } from './fork-session.js';
import { openaiChatRoutes } from './openai-chats.js';
import { suggestionRoutes } from './suggestions.js';

export const assistantGroups: readonly RouteGroup[] = [
  assistantRoutes,
  chatSessionRoutes,
  forkSessionRoutes,
  chatMessageRoutes,
  chatCompletionRoutes,
  answerEventRoutes,
  openaiChatRoutes,
  suggestionRoutes,
];
