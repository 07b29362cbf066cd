/** What the run of a research is told of a call of its model, beside what every call tells. */
import type { Call } from '../../graph/node-events.js';
import type { AskedFor } from '../calls/ask-call.js';
import { type CallPrice, costOf } from '../calls/budget.js';

/** Names of the attributes that such a call has. */
export const ASKED_ATTRIBUTE = {
  /** What was asked: `research_read`, `report_section` … */
  name: 'runnel.research.call',
  /** Id of the sub-question or the task that it is about; absent for the research as a whole. */
  about: 'runnel.research.about',
  /** What it cost, in the currency of the prices; absent where they are not known. */
  money: 'runnel.research.money',
} as const;

/** The report with what the call is for at its start, and with what it cost at its end. */
export function toldCall({ type, call }: Call, { name, about }: AskedFor, price: CallPrice | undefined): Call {
  if (call.type === 'started') {
    const own = { [ASKED_ATTRIBUTE.name]: name, ...(about !== undefined && { [ASKED_ATTRIBUTE.about]: about }) };
    return { type, call: { ...call, attributes: { ...call.attributes, ...own } } };
  }
  if (call.type === 'moment' || call.usage === undefined || price === undefined) return { type, call };
  const { promptTokens: prompt, completionTokens: answer } = call.usage;
  const money = costOf(price, { prompt, answer });
  return { type, call: { ...call, attributes: { ...call.attributes, [ASKED_ATTRIBUTE.money]: money } } };
}
