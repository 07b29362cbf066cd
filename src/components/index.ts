/** The built-in node types: one line each, sorted. */

import { tools } from '../tools/index.js';
import { agent } from './agent.js';
import { answer } from './answer.js';
import { begin } from './begin.js';
import { browser } from './browser.js';
import { categorize } from './categorize.js';
import { chat } from './chat.js';
import type { AnyComponent } from './component.js';
import { dataOperations } from './data-operations.js';
import { docGenerator } from './doc-generator.js';
import { excelProcessor } from './excel-processor.js';
import { exitLoop } from './exit-loop.js';
import { fillup } from './fillup.js';
import { generate } from './generate.js';
import { invoke } from './invoke.js';
import { iteration } from './iteration.js';
import { iterationItem } from './iteration-item.js';
import { listOperations } from './list-operations.js';
import { llm } from './llm.js';
import { loop } from './loop.js';
import { loopItem } from './loop-item.js';
import { message } from './message.js';
import { parallel } from './parallel.js';
import { deepSearch } from './researching/deep-search.js';
import { planExecuteReport } from './researching/plan-execute-report.js';
import { stringTransform } from './string-transform.js';
import { switchComponent } from './switch.js';
import { toolComponent } from './tool-component.js';
import { userFillUp } from './user-fill-up.js';
import { variableAggregator } from './variable-aggregator.js';
import { variableAssigner } from './variable-assigner.js';

export const components: readonly AnyComponent[] = [
  agent,
  answer,
  begin,
  browser,
  categorize,
  chat,
  dataOperations,
  deepSearch,
  docGenerator,
  excelProcessor,
  exitLoop,
  fillup,
  generate,
  invoke,
  iteration,
  iterationItem,
  listOperations,
  llm,
  loop,
  loopItem,
  message,
  parallel,
  planExecuteReport,
  stringTransform,
  switchComponent,
  userFillUp,
  variableAggregator,
  variableAssigner,
  ...tools.map(toolComponent),
];
