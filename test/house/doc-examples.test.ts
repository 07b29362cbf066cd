import { describe, expect, it } from 'vitest';
import { expectedOutput, findDocExamples, outputProblem } from '../../scripts/check-doc-examples.js';

const source = `/**
 * Adds.
 *
 * \`\`\`ts
 * import { add } from 'runnel';
 *
 * console.log(add(1, 2)); // => 3
 * \`\`\`
 *
 * \`\`\`text
 * --a--|
 * \`\`\`
 */
export const add = 1;
const text = '\`\`\`ts';
/**
 * \`\`\`ts no-run
 * for (;;) {
 *   work();
 * }
 * \`\`\`
 */
`;

describe('examples in documentation', () => {
  it('are found in doc comments, with their lines', () => {
    expect(findDocExamples({ path: 'src/a.ts', text: source })).toEqual([
      {
        file: 'src/a.ts',
        line: 5,
        isRun: true,
        code: "import { add } from 'runnel';\n\nconsole.log(add(1, 2)); // => 3",
      },
      { file: 'src/a.ts', line: 18, isRun: false, code: 'for (;;) {\n  work();\n}' },
    ]);
  });

  it('are found in Markdown', () => {
    const text = '# A\n\n```ts\nconst a = 1;\n```\n\n```json\n{}\n```\n';
    expect(findDocExamples({ path: 'README.md', text })).toEqual([
      { file: 'README.md', line: 4, isRun: true, code: 'const a = 1;' },
    ]);
  });

  it.each([
    ['what it says', "{ text: 'hi' }\n3\n", true],
    ['the same over several lines', "{\n  text: 'hi'\n}\n3\n", true],
    ['another value', "{ text: '[object Object]' }\n3\n", false],
    ['less', "{ text: 'hi' }\n", false],
    ['more', "{ text: 'hi' }\n3\n4\n", false],
  ])('may print %s: %j', (_, printed, isRight) => {
    const code = "console.log({ text }); // => { text: 'hi' }\nconsole.log(3); // => 3";
    expect(expectedOutput(code)).toBe("{ text: 'hi' }\n3");
    const problem = outputProblem({ file: 'src/a.ts', line: 5, isRun: true, code }, printed);
    if (isRight) expect(problem).toBeUndefined();
    else expect(problem).toContain('src/a.ts:5: the example prints');
  });
});
