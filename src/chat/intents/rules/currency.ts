import type { JsonObject } from '../../../json.js';
import { NOTHING, type ToolRule, type Wanted } from '../rule.js';
import type { Utterance } from '../utterance.js';
import { type CurrencyFound, findCurrencies } from '../words/currencies.js';
import { withNumbers } from '../words/spoken-arithmetic.js';

/** Words of exchange. */
const RATE =
  /汇率|外汇|兑换|兑|换算|换成|换|折合|折成|合多少|牌价|\bexchange\b|\bconvert\b|\bconversion\b|\brates?\b|\bforex\b|\bfx\b|\bworth\b/;
/** Words that ask for an amount. */
const ASKED =
  /多少|几|等于|是|=|值|转|成|\bhow (?:much|many)\b|\bwhat\b|\bin\b|\bto\b|\binto\b|\bequals?\b|\bper\b|\bis\b|\bbuys?\b|\bgives?\b|\/|\bvs\b|->/;
/** Money that is not exchanged. */
const OTHER =
  /支付|付款|价格策略|预算|定价|发票|账单|\b(?:pay|payment|payments|price of|cost of|costs?|invoice|budget|pricing|accepts?|supports?|kg|kilos?|kilograms?|lbs?|grams?|ounces?|weigh|weight|million-dollar|interest|mortgage|discount|heart)\b|利率|税率/;

const AMOUNT_BEFORE = /(-?\d[\d,]*(?:\.\d+)?)\s*(k|m|bn|thousand|million|billion|多)?\s*(?:个)?\s*$/;
const AMOUNT_AFTER = /^\s*(\d[\d,]*(?:\.\d+)?)\s*(k|m|bn|thousand|million|billion)?(?![\d,.]*\d|[a-z])/;
const ONE_BEFORE = /\b(?:a|an|one|per|each|every|the)\s*$|每\s*$/;
const SCALES: Readonly<Record<string, number>> = { k: 1e3, thousand: 1e3, m: 1e6, million: 1e6, bn: 1e9, billion: 1e9 };

/** Recognises conversions between currencies, by names, signs and codes. */
export const currencyRule: ToolRule = {
  tool: 'currency',
  find(utterance) {
    const { isAboutMaking, follows } = utterance;
    const text = withNumbers(utterance.lower.replaceAll(/一下|一共/g, ' '));
    const hasRate = RATE.test(text);
    if (isAboutMaking || (OTHER.test(text) && !hasRate)) return NOTHING;
    const found = distinct(findCurrencies(text));
    const priced = found.map((one) => ({ ...one, amount: amountOf(text, one) }));
    const from = priced.find(({ amount }) => amount !== undefined) ?? perOne(text, found) ?? priced[0];
    if (from === undefined) return isRateAlone(text) ? [{ args: { amount: 1 }, missing: ['from', 'to'] }] : NOTHING;
    const to = found.find(({ code }) => code !== from.code);
    const amount = from.amount ?? 1;
    if (to !== undefined) {
      const isConversion = hasRate || from.amount !== undefined || isPair(text, found) || follows === 'currency';
      return isConversion && (hasRate || ASKED.test(text))
        ? [{ args: { amount, from: from.code, to: to.code } }]
        : NOTHING;
    }
    if (!hasRate && follows !== 'currency' && !isValueAsked(text, from.amount)) return NOTHING;
    return [withoutTarget(utterance, amount, from.code)];
  },
};

type Priced = CurrencyFound & { readonly amount: number | undefined };

function distinct(found: readonly CurrencyFound[]): readonly CurrencyFound[] {
  return found.filter(({ code }, index) => found.findIndex((other) => other.code === code) === index);
}

function amountOf(text: string, { start, end, isSign }: CurrencyFound): number | undefined {
  const before = AMOUNT_BEFORE.exec(text.slice(Math.max(0, start - 40), start));
  if (before !== null) return scaled(before[1], before[2]);
  if (!isSign && !/^[a-z]{3}$/.test(text.slice(start, end))) return undefined;
  const after = AMOUNT_AFTER.exec(text.slice(end, end + 40));
  return after === null ? undefined : scaled(after[1], after[2]);
}

function scaled(digits = '', scale = ''): number {
  return Number((Number(digits.replaceAll(',', '')) * (SCALES[scale] ?? 1)).toPrecision(15));
}

/** "yen per dollar", "how many yen in a euro": the one that is counted by is what is converted. */
function perOne(text: string, found: readonly CurrencyFound[]): Priced | undefined {
  if (found.length < 2) return undefined;
  const counted = found.find(({ start }) => ONE_BEFORE.test(text.slice(Math.max(0, start - 8), start)));
  if (counted !== undefined && found.indexOf(counted) > 0) return { ...counted, amount: 1 };
  const target = /(?:多少|几|\bhow many)\s*$/;
  const wanted = found.findIndex(({ start }) => target.test(text.slice(Math.max(0, start - 10), start)));
  const other = wanted === 0 ? found[1] : undefined;
  return other === undefined ? undefined : { ...other, amount: 1 };
}

/** Two currencies and nothing but a joint: USD/CNY, usd to eur, 美元人民币. */
function isPair(text: string, [first, second]: readonly CurrencyFound[]): boolean {
  if (first === undefined || second === undefined) return false;
  const around = `${text.slice(0, first.start)} ${text.slice(second.end)}`;
  const joint = text.slice(first.end, second.start).trim();
  const isJoint = /^(?:\/|->|=>|-|to|in|into|vs|versus|对|兑|转|比|和|与|换)?$/.test(joint);
  return isJoint && around.replaceAll(/多少|是|今天|现在|的|呢|吗|today|now|what|is|\s|[?]/g, '').length < 3;
}

function isRateAlone(text: string): boolean {
  return /^(?:今天|现在|当前|最新|查一下|查询|请问|帮我查)*的?(?:汇率|外汇牌价)(?:是多少|多少|怎么样|查询)?$|^(?:what(?:'s| is) the )?(?:current |today's |latest )?exchange rates?(?: today| now)?$|^(?:currency conversion|convert (?:currency|money))$/.test(
    text.trim(),
  );
}

/** "100美元是多少钱": an amount of one foreign currency and a question for what it is worth. */
function isValueAsked(text: string, amount: number | undefined): boolean {
  return (
    amount !== undefined &&
    /多少钱|值多少|等于多少|是多少|\bhow much (?:is|are)\b|\bworth\b/.test(text) &&
    !/[+*×÷^]/.test(text)
  );
}

/** In Chinese the other currency is the yuan, unless that was named. */
function withoutTarget({ language }: Utterance, amount: number, from: string): Wanted {
  const args: JsonObject = { amount, from };
  return language === 'zh' && from !== 'CNY' ? { args: { ...args, to: 'CNY' } } : { args, missing: ['to'] };
}
