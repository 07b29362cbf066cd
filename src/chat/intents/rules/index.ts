/** The rules of tools, one line each, in the order in which they are asked: the first that finds something wins (design, stage 3). */
import type { ToolRule } from '../rule.js';
import { calculatorRule } from './calculator.js';
import { currencyRule } from './currency.js';
import { datetimeRule } from './datetime.js';
import { knowledgeLookupRule } from './knowledge-lookup.js';
import { salesRule } from './sales.js';
import { systemMetricsRule } from './system-metrics.js';
import { ticketRule } from './ticket.js';
import { weatherRule } from './weather.js';

export const toolRules: readonly ToolRule[] = [
  weatherRule,
  salesRule,
  ticketRule,
  calculatorRule,
  datetimeRule,
  currencyRule,
  systemMetricsRule,
  knowledgeLookupRule,
];
