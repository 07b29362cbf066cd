import type { Commands } from './commands.js';

/** Settings under which the server may lose what a run needs; one sentence each, none where it does not report them. */
export async function serverWarnings(commands: Commands): Promise<readonly string[]> {
  const sections = await Promise.allSettled(
    ['persistence', 'memory'].map((section) => commands.send('INFO', [section])),
  );
  const info = sections.map((section) => (section.status === 'fulfilled' ? String(section.value) : '')).join('\n');
  const value = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1];
  const warnings: string[] = [];
  if (value('aof_enabled') === '0') {
    warnings.push('This Redis may lose the last runs when it is restarted; start it with --appendonly yes.');
  }
  const policy = value('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction' && value('maxmemory') !== '0') {
    warnings.push(`This Redis drops keys when its memory is full (${policy}); set maxmemory-policy noeviction.`);
  }
  return warnings;
}
