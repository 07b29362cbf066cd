import { describe, expect, it } from 'vitest';
import { OTHER, startDatasets } from './support/dataset-server.js';

const POLL = { timeout: 60_000, interval: 20 };

async function startAliases() {
  const server = await startDatasets();
  const id = await server.dataset();
  await server.ingest(id, 'Orion.md', 'Then Orion uses Kafka. The engine Lyra replaces Vega.');
  const path = `/datasets/${id}/graph`;
  const build = async (): Promise<void> => {
    await server.ask('POST', path, {});
    await expect.poll(async () => (await server.ask('GET', `${path}/build`)).data.state, POLL).toBe('DONE');
  };
  const add = (entity: string, alias: string) => server.ask('POST', `${path}/aliases`, { entity, alias });
  const named = async (question: string): Promise<string[]> =>
    (await server.ask('POST', `${path}/search`, { question })).data.entities.map(({ name }: { name: string }) => name);
  return { ...server, id, path, build, add, named };
}

describe('aliases by hand', () => {
  it('find their entity, in questions and in texts, until they are deleted; a build changes none', async () => {
    const { ask, path, id, build, add, named, ingest } = await startAliases();
    await build();
    expect(await named('What is the Big Bus?')).toEqual([]);
    const { data } = await add('kafka', 'Big Bus');
    expect(data).toMatchObject({ entity: 'Kafka', alias: 'Big Bus' });
    expect(await named('What is the Big Bus?')).toEqual(['Kafka']);
    await ingest(id, 'bus.md', 'We saw that Big Bus supports Lyra.');
    await build();
    expect((await ask('GET', `${path}/aliases`)).data.aliases).toEqual([data]);
    const { nodes } = (await ask('GET', `${path}?around=big%20bus&depth=0`)).data;
    expect(nodes).toMatchObject([{ name: 'Kafka', documents: 2 }]);
    expect(await ask('DELETE', `${path}/aliases/${data.id}`)).toMatchObject({ data: true });
    expect(await ask('DELETE', `${path}/aliases/${data.id}`)).toMatchObject({ code: 102 });
    expect(await named('What is the Big Bus?')).toEqual(['Big Bus']);
    expect((await ask('GET', `${path}?around=kafka&depth=0`)).data.nodes).toMatchObject([{ documents: 1 }]);
  });

  it('are refused where they are a cycle, a name of another entity, or none', async () => {
    const { ask, path, build, add } = await startAliases();
    expect(await add('Kafka', 'bus')).toMatchObject({ code: 102, message: expect.stringContaining('has no graph') });
    await build();
    const { id } = (await add('Kafka', 'the bus')).data;
    const split = (await ask('POST', `${path}/split`, { names: ['Lyra', 'the harp'] })).data;
    for (const [entity, alias, why] of [
      ['the bus', 'Kafka', 'would make a cycle: "the bus" is an alias of "Kafka"'],
      ['Kafka', 'The Bus', 'is a name of "Kafka" already'],
      ['Kafka', 'KAFKA', 'is a name of "Kafka" already'],
      ['Lyra', 'the bus', 'is a name of the entity "Kafka"; merge'],
      ['Lyra', 'Vega', 'is a name of the entity "Vega"; merge'],
      ['Lyra', 'the harp', `undo the decision ${split.id} first`],
      ['Nobody', 'x', 'There is no entity "Nobody"'],
      ['Lyra', ' \u0001 ', 'An alias has 1 to 120 characters'],
    ] as const) {
      const refused = await add(entity, alias);
      expect(refused, `${entity} ${alias}`).toMatchObject({ message: expect.stringContaining(why) });
      expect(refused.code).not.toBe(0);
    }
    expect((await ask('GET', `${path}/aliases`)).data.aliases.map((one: { id: string }) => one.id)).toEqual([id]);
  });

  it('are refused where they lead back over entities that are not in the graph now', async () => {
    const { base, path, build, add, ask, id } = await startAliases();
    await build();
    const note = (entity: string, alias: string) => ({ key: alias, value: { entity, alias } });
    await base.parts.store.putNotes('acme', id, 'alias', [
      ...[note('Gone', 'Away'), note('Away', 'Kafka'), note('Far', 'Off')],
    ]);
    expect(await add('Kafka', 'Gone')).toMatchObject({ code: 102, message: expect.stringContaining('a cycle') });
    expect(await add('Lyra', 'Off')).toMatchObject({ message: expect.stringContaining('alias of "Far"; delete') });
    expect(await ask('POST', `${path}/aliases`, { entity: 'Kafka', alias: 'b' }, OTHER)).toMatchObject({ code: 102 });
    expect(await ask('GET', `${path}/aliases`, undefined, OTHER)).toMatchObject({ code: 102 });
  });
});
