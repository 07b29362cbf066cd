import { describe, expect, it } from 'vitest';
import { agent, approve, memoryFiles, type SkillsOptions, skills } from '../../../src/entries/agents.js';
import { defineTool, invoke } from '../../../src/index.js';
import { type Reply, recordingModel, told } from './support.js';

const look = defineTool({ name: 'look', description: 'Looks.', run: () => 'seen' });
const skill = (name: string, more = '') =>
  `---\nname: ${name}\ndescription: "How to ${name}."\n${more}---\n\nDo ${name} well.\n`;

const space = () =>
  memoryFiles({
    files: {
      'skills/bake/SKILL.md': skill('bake'),
      'skills/sail/SKILL.md': skill('sail', 'mode: fork\n'),
      'skills/rest/SKILL.md': 'no front matter',
      'skills/none/other.md': 'x',
      'skills/file.md': 'x',
    },
  });

async function asked(replies: readonly Reply[], options: Partial<SkillsOptions> = {}) {
  const model = recordingModel(...replies);
  await invoke(agent({ name: 'clerk', model, tools: [look], use: [skills({ space: space(), ...options })] }), 'go');
  return model.requests.map(told);
}

describe('skills', () => {
  it('lists skills with name and description, and leaves out what is none', async () => {
    const [first] = await asked(['ok']);
    expect(first?.[0]).toMatch(/:\n- bake \(load_skill\): How to bake\.\n- sail \(load_skill\): How to sail\.$/);
  });

  it('gives the text of a skill when it is loaded', async () => {
    const requests = await asked([[{ tool: 'load_skill', args: { name: 'bake' } }], 'ok']);
    expect(requests[1]?.at(-1)).toBe('tool: The files of this skill are in skills/bake/.\n\nDo bake well.');
  });

  it.each(['swim', '../bake', 'rest'])('tells of a skill "%s" that is not there', async (name) => {
    const requests = await asked([[{ tool: 'load_skill', args: { name } }], 'ok']);
    expect(requests[1]?.at(-1)).toContain(`There is no skill "${name}". There are: bake, sail.`);
  });

  it('has an agent of its own work by a skill, with the same tools, and hears only its answer', async () => {
    const call = [{ tool: 'fork_skill', args: { name: 'sail', request: 'To Oslo.' } }];
    const requests = await asked([call, [{ tool: 'look' }], 'sailed', 'ok'], { modes: ['inline', 'fork'] });
    expect(requests[0]?.[0]).toContain('- sail (fork_skill): How to sail.');
    expect(requests[1]).toEqual([
      'system: The files of this skill are in skills/sail/.\n\nDo sail well.',
      'user: To Oslo.',
    ]);
    expect(requests[2]?.at(-1)).toBe('tool: seen');
    expect(requests[3]?.slice(-1)).toEqual(['tool: sailed']);
  });

  it('asks before tools are called by such an agent as before it calls them itself', async () => {
    const call = [{ tool: 'fork_skill', args: { name: 'sail', request: 'To Oslo.' } }];
    const model = recordingModel(call, [{ tool: 'look' }], 'sailed', 'ok');
    const use = [approve(['look']), skills({ space: space(), modes: ['fork'] })];
    await expect(invoke(agent({ name: 'clerk', model, tools: [look], use }), 'go')).rejects.toMatchObject({
      code: 'RUN_INTERRUPTED',
    });
  });

  it('has it hear the conversation where that is asked for', async () => {
    const call = [{ tool: 'fork_skill_with_history', args: { name: 'bake', request: 'Bread.' } }];
    const requests = await asked([call, 'baked', 'ok'], { modes: ['fork-with-history'] });
    expect(requests[1]?.slice(1)).toEqual(['user: go', 'user: Bread.']);
  });

  it('says nothing where there are no skills, and cuts long ones, in Chinese', async () => {
    expect((await asked(['ok'], { folder: 'nowhere' }))[0]).toEqual(['user: go']);
    const load = [{ tool: 'load_skill', args: { name: 'bake' } }];
    const requests = await asked([load, 'ok'], { maxCharacters: 2, language: 'zh' });
    expect(requests[1]?.at(-1)).toBe('tool: 此技能的文件位于 skills/bake/。\n\nDo\n[技能其余部分已省略。]');
  });

  it.each([[{ space: {} }], [{ modes: ['all'] }], [{ modes: ['fork', 'fork'] }], [{ maxSkills: 0 }], [{ folder: 5 }]])(
    'refuses %j',
    (options) => {
      expect(() => skills({ space: space(), ...options } as never)).toThrow(
        expect.objectContaining({ code: 'OPTION_INVALID' }),
      );
    },
  );
});
