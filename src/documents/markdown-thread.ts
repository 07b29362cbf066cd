/** A thread that reads one document and ends. */
import { answerOnce } from '../threads/answer-once.js';
import { reasonOf } from './failure.js';
import type { MarkdownRequest } from './index.js';
import { readMarkdown } from './read-markdown.js';

await answerOnce(({ markdown, page }: MarkdownRequest) => readMarkdown(markdown, page), reasonOf);
