import { afterAll, beforeAll, expect, it } from 'vitest';
import { storesOpener } from './support/open-stores.js';
import { freshId } from './support/records.js';
import { anyRedis, describeRedis } from './support/redis-server.js';

describeRedis('small stores in Redis', () => {
  const opener = storesOpener();
  let server: Awaited<ReturnType<typeof anyRedis>>;

  beforeAll(async () => {
    server = await anyRedis();
  });
  afterAll(async () => {
    await opener.close();
    await server.dispose();
  });

  it('keep what tools did for ten minutes, for one tenant', async () => {
    const { toolLogs, ask } = opener.open(server.url);
    const [task, message] = [freshId(), freshId()];
    const log = [{ component_id: 'agent_0', trace: [{ path: 'A-->B', tool_name: 'search', elapsed_time: 0.5 }] }];
    expect(await toolLogs.find('t', task, message)).toBeUndefined();
    await toolLogs.save('t', task, message, []);
    await toolLogs.save('t', task, message, log);
    expect(JSON.parse(String(await ask('GET', `${task}-${message}-logs`)))).toEqual(log);
    expect(Number(await ask('PTTL', `${task}-${message}-logs`))).toBeLessThanOrEqual(600_000);
    expect(await toolLogs.find('t', task, message)).toEqual(log);
    expect(await toolLogs.find('u', task, message)).toBeUndefined();
    await expect(toolLogs.save('u', task, message, log)).rejects.toMatchObject({ code: 'CONFLICT' });
    await ask('SET', `${task}-${message}-logs`, '{"no":"list"}');
    await expect(toolLogs.find('t', task, message)).rejects.toMatchObject({ code: 'INTERNAL' });
  });

  it('keep which engine a tenant has chosen, for good', async () => {
    const { canvasRuntimes, ask } = opener.open(server.url);
    const tenant = freshId();
    expect(await canvasRuntimes.find(tenant)).toBeUndefined();
    await canvasRuntimes.save(tenant, 'go');
    expect(await ask('GET', `tenant_canvas_runtime:${tenant}`)).toBe('go');
    expect(await ask('PTTL', `tenant_canvas_runtime:${tenant}`)).toBe(-1);
    expect(await canvasRuntimes.find(tenant)).toBe('go');
    await canvasRuntimes.delete(tenant);
    expect(await canvasRuntimes.find(tenant)).toBeUndefined();
  });
});
