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
