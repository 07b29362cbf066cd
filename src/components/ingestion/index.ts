/** The node types of ingestion pipelines: one line each, in the order in which they stand in a pipeline. */
import type { AnyComponent } from '../component.js';
import { compiler } from './compiler.js';
import { extractor } from './extractor.js';
import { file } from './file.js';
import { manualChunker } from './manual-chunker.js';
import { oneChunker } from './one-chunker.js';
import { pageChunker } from './page-chunker.js';
import { parser } from './parser.js';
import { qaChunker } from './qa-chunker.js';
import { tableChunker } from './table-chunker.js';
import { titleChunker } from './title-chunker.js';
import { tokenChunker } from './token-chunker.js';
import { tokenizer } from './tokenizer.js';

/** Node types by their turn in a pipeline; those of one turn may follow each other. */
export const pipelineTurns: readonly (readonly AnyComponent[])[] = [
  [file],
  [parser],
  [manualChunker, oneChunker, pageChunker, qaChunker, tableChunker, titleChunker, tokenChunker],
  [extractor],
  [compiler, tokenizer],
];

export const pipelineComponents: readonly AnyComponent[] = pipelineTurns.flat();
