import { describe, expect, it } from 'vitest';
import { type QuestionShape, shapeOf } from '../../../src/chat/intents/question-shape.js';

const ROWS: readonly [QuestionShape, string][] = [
  ['simple', 'What is a checkpoint?'],
  ['simple', 'What is the capital of France?'],
  ['simple', 'Who is Ada Lenz?'],
  ['simple', 'How do I use the API of Runnel?'],
  ['simple', 'hello'],
  ['simple', ''],
  ['simple', 'Hello, what is a checkpoint?'],
  ['simple', 'Which ports are open?'],
  ['simple', '检查点是什么？'],
  ['simple', '法国的首都是哪里？'],
  ['simple', 'vsftpd is installed where?'],
  ['comparative', 'Compare Orion and Vega.'],
  ['comparative', 'What is the difference between a run and a session?'],
  ['comparative', 'Orion vs. Vega'],
  ['comparative', 'Which town is older, Port Soller or Inga?'],
  ['comparative', '检查点和快照有什么区别？'],
  ['comparative', '请对比 Orion 与 Vega'],
  ['relational', 'How are Orion and Port Soller connected?'],
  ['relational', 'What is the relationship between Orion and Kafka?'],
  ['relational', 'What does Orion have to do with Kafka?'],
  ['relational', 'Orion 和 Kafka 之间有什么关系？'],
  ['compound', 'What is a run and how is it cancelled?'],
  ['compound', 'What is Orion? Who wrote Vega?'],
  ['compound', '什么是检查点？如何恢复一次运行？'],
  ['multi-hop', 'Which town does the writer of Orion live in?'],
  ['multi-hop', 'Where was the director of the film "Ed Wood" born?'],
  ['multi-hop', 'Who is the mother of the writer of Orion and of Vega?'],
  ['multi-hop', 'What is the population of the town that Ada Lenz lives in?'],
  ['multi-hop', 'In which town was the man who wrote Orion born?'],
  ['multi-hop', 'When did Ada Lenz’s husband die?'],
  ['multi-hop', '写了《Orion》的作家的母亲是谁？'],
];

describe('the shape of a question', () => {
  it.each(ROWS)('is %s: %s', (shape, question) => {
    expect(shapeOf(question)).toBe(shape);
  });

  it('is told of a text of any length in time', () => {
    expect(shapeOf('which of the '.repeat(100_000))).toBeDefined();
    expect(shapeOf(`${'和'.repeat(50_000)}的关`)).toBeDefined();
  });
});
