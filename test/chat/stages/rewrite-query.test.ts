import { firstValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type Rewritten, rewriteQuery, rewriteQueryByRules } from '../../../src/chat/stages/rewrite-query.js';
import { rewriteByRules, subjectOf } from '../../../src/chat/stages/rewrite-rules.js';
import type { PastMessage } from '../../../src/chat/stages/stage-result.js';
import { inputOf, modelOf, refused } from './support/model.js';

const past = (...contents: readonly string[]): PastMessage[] =>
  contents.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }));

describe('rewriting by rules', () => {
  it.each<[string, readonly string[]]>([
    ['断路器有哪些状态？', ['断路器有哪些状态']],
    ['请问一下断路器有哪些状态呢', ['断路器有哪些状态']],
    ['检查点是啥', ['检查点是什么']],
    ['为啥要重试啊', ['为什么要重试']],
    ["what's a checkpoint?", ['what is a checkpoint']],
    ['Could you please tell me how leases expire?', ['how leases expire']],
    ['检查点和快照的区别是什么', ['检查点和快照的区别是什么', '检查点', '快照']],
    ['检查点与快照有什么区别', ['检查点与快照有什么区别', '检查点', '快照']],
    ['断路器和重试分别是什么', ['断路器是什么', '重试是什么']],
    ['断路器有哪些状态和重试几次', ['断路器有哪些状态', '重试几次']],
    ['checkpoint vs snapshot', ['checkpoint vs snapshot', 'checkpoint', 'snapshot']],
    ['RRF vs 加权融合', ['RRF vs 加权融合', 'RRF', '加权融合']],
    ['difference between a join and a merge', ['difference between a join and a merge', 'join', 'merge']],
    ['what is a lease and an orphan', ['what is a lease', 'what is an orphan']],
    ['how do retries work and what is a breaker?', ['how do retries work', 'what is a breaker']],
    ['世界和平是什么', ['世界和平是什么']],
    ['hello', ['hello']],
    ['', ['']],
    ['？？？', ['？？？']],
  ])('takes %j for %j', (message, rewrites) => {
    expect(rewriteByRules(message)).toEqual(rewrites);
  });

  it.each<[string, readonly string[], string]>([
    ['它什么时候打开', ['断路器有哪些状态', '三个。'], '断路器什么时候打开'],
    ['这个怎么配置', ['什么是检查点', '……'], '检查点怎么配置'],
    ['那超时呢', ['断路器的状态是什么', '……'], '断路器 超时'],
    ['when does it open?', ['What is the circuit breaker?', 'It …'], 'when does circuit breaker open'],
    ['what about the timeout?', ['How does the lease work?', '…'], 'lease the timeout'],
    ['its states', ['explain the circuit breaker', '…'], "circuit breaker's states"],
    ['它呢', ['它是什么', '…'], '它呢'],
    ['它的格式', ['检查点是怎么存储的', '…', '它有多大', '…', '为什么', '…'], '检查点的格式'],
  ])('gives %j, after %j, its subject', (message, history, rewrite) => {
    expect(rewriteByRules(message, past(...history))).toEqual([rewrite]);
  });

  it('looks at the last three turns only', () => {
    const history = past('检查点是什么', 'a', '好', 'b', '行', 'c', '嗯', 'd');
    expect(rewriteByRules('它多大', history)).toEqual(['它多大']);
  });

  it('names three rewrites at most, and leaves long texts as they are', () => {
    expect(rewriteByRules('a vs b').length).toBeLessThanOrEqual(3);
    const long = '和它'.repeat(50_000);
    expect(rewriteByRules(long)).toEqual([long]);
  });

  it.each(['和', '的', 'a and ', 'what is ', '请问', 'between ', '、', 'vs '])(
    'reads a thousand characters of %j',
    (piece) => {
      const text = piece.repeat(Math.floor(1_000 / piece.length));
      expect(rewriteByRules(text, past(text, text)).length).toBeGreaterThan(0);
    },
  );

  it.each([
    ['断路器的状态有哪些', '断路器'],
    ['what are the states of the circuit breaker', 'states of the circuit breaker'],
    ['它是什么', undefined],
  ])('finds the subject of %j', (question, subject) => {
    expect(subjectOf(question)).toBe(subject);
  });
});

describe('stage 2', () => {
  const rewrites = (...list: readonly string[]) => JSON.stringify({ rewrites: list });

  it('goes by rules without a model', async () => {
    const result = await firstValueFrom(
      rewriteQuery({ message: '断路器和重试分别是什么', expand: (text) => [`${text}!`] }),
    );
    expect(result).toEqual({
      value: { rewrites: ['断路器是什么', '重试是什么'], expansions: ['断路器是什么!', '重试是什么!'] },
      detail: {
        rewrites: ['断路器是什么', '重试是什么'],
        expansions: ['断路器是什么!', '重试是什么!'],
        source: 'rule',
      },
    });
  });

  it('adds what terms are called in the other language', async () => {
    const { value } = await firstValueFrom(rewriteQuery({ message: '短路和检查点分别是什么' }));
    expect(value.expansions).toEqual(expect.arrayContaining(['shortcut', 'checkpoint']));
    expect(value.expansions.length).toBeLessThanOrEqual(5);
  });

  it('asks the model by the name of its schema, with the last three turns as data', async () => {
    const model = modelOf(rewrites('a', 'b', 'a', ' ', 'c', 'd'));
    const history = past('1', '2', '3', '4', '5', '6', '7', '8');
    const { value, detail, status } = await firstValueFrom(
      rewriteQuery({ message: 'it?', history, summary: 's', model }),
    );
    expect(value.rewrites).toEqual(['a', 'b', 'c']);
    expect(detail).toMatchObject({ source: 'model' });
    expect(status).toBeUndefined();
    expect(model.asked[0]?.jsonSchema?.name).toBe('chat_rewrite');
    expect(inputOf(model.asked[0])).toEqual({
      message: 'it?',
      history: history.slice(2),
      max_rewrites: 3,
      summary: 's',
    });
  });

  it.each(['```json\n{"rewrites": ["a"]}\n```', "Sure: {rewrites: ['a',]}", '{"rewrites": ["a"'])(
    'repairs %j once',
    async (answer) => {
      const model = modelOf(answer);
      const { value } = await firstValueFrom(rewriteQuery({ message: 'x', model }));
      expect(value.rewrites).toEqual(['a']);
      expect(model.asked).toHaveLength(1);
    },
  );

  it.each([['no JSON at all'], ['{"rewrites": []}'], ['{"rewrites": "a"}'], ['[]'], ['']])(
    'goes by rules when the model answers %j',
    async (answer) => {
      const result = await firstValueFrom(rewriteQuery({ message: '检查点是啥', model: modelOf(answer) }));
      expect(result).toMatchObject({
        value: { rewrites: ['检查点是什么'] },
        detail: { source: 'rule' },
        status: 'degraded',
      });
    },
  );

  it('goes by rules when the model fails', async () => {
    const result = await firstValueFrom(rewriteQuery({ message: 'x', model: modelOf(refused) }));
    expect(result).toMatchObject({ status: 'degraded', detail: { source: 'rule' } });
  });

  it('repeats itself from the cache, but not after another history or what rules gave in need', async () => {
    const cache = new Map<string, Rewritten>();
    const model = modelOf(refused, rewrites('a'), rewrites('b'));
    const ask = (message: string, history: PastMessage[] = []) =>
      firstValueFrom(rewriteQuery({ message, history, model, cache }));
    expect((await ask('X')).status).toBe('degraded');
    expect((await ask('X')).value.rewrites).toEqual(['a']);
    expect(await ask(' x ')).toMatchObject({
      value: { rewrites: ['a'] },
      status: 'cache_hit',
      detail: { source: 'cache' },
    });
    expect((await ask('X', past('before'))).value.rewrites).toEqual(['b']);
    expect(model.asked).toHaveLength(3);
  });

  it('has its rules for a model that is too slow', () => {
    expect(rewriteQueryByRules({ message: 'a vs b' }).detail.source).toBe('rule');
  });
});
