import { describe, expect, it } from 'vitest';
import { datetime } from '../../src/tools/everyday/datetime.js';
import { errorOf, resultOf } from './support/upstream.js';

// The clock of the calls stands at 2026-11-21T12:00:00Z.
describe('datetime', () => {
  it.each([
    ['Asia/Shanghai', 'Asia/Shanghai', '2026-11-21T20:00:00+08:00', 'Saturday'],
    ['America/New_York', 'America/New_York', '2026-11-21T07:00:00-05:00', 'Saturday'],
    ['Asia/Kolkata', 'Asia/Kolkata', '2026-11-21T17:30:00+05:30', 'Saturday'],
    ['Pacific/Kiritimati', 'Pacific/Kiritimati', '2026-11-22T02:00:00+14:00', 'Sunday'],
    ['UTC', 'UTC', '2026-11-21T12:00:00+00:00', 'Saturday'],
    ['UTC+8', 'UTC+08:00', '2026-11-21T20:00:00+08:00', 'Saturday'],
    ['gmt -3:30', 'UTC-03:30', '2026-11-21T08:30:00-03:30', 'Saturday'],
    ['+0545', 'UTC+05:45', '2026-11-21T17:45:00+05:45', 'Saturday'],
  ])('tells the time in %s', async (timezone, zone, iso, weekday) => {
    const { outputs } = await resultOf(datetime, '', { args: { timezone } });
    expect(outputs.json).toEqual({
      timezone: zone,
      date: iso.slice(0, 10),
      weekday,
      time: iso.slice(11, 19),
      utc_offset: iso.slice(19),
      iso,
    });
  });

  it('tells the time of Greenwich when it is not told a zone', async () => {
    expect((await resultOf(datetime, '', { args: {} })).text).toContain('| timezone | UTC |');
  });

  it.each(['Mars/Olympus', 'UTC+99', 'UTC+15', '../etc/passwd', 'x'.repeat(10_000)])(
    'says that there is no zone %s',
    async (timezone) => {
      const error = await errorOf(datetime, '', { args: { timezone } });
      expect(error).toMatchObject({ code: 'TOOL_FAILED', message: expect.stringContaining('there is no time zone') });
      expect(error.message.length).toBeLessThan(250);
    },
  );
});
