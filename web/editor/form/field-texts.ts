/** What forms of parameters say. Names of fields come from their schemas; those that most components have are said in words. */
import { defineTexts } from '../../shell/texts.js';

export const fieldTexts = defineTexts({
  en: {
    names: {
      llm_id: 'Model',
      sys_prompt: 'System prompt',
      prompts: 'Prompts',
      mcp: 'MCP servers',
      exception_method: 'When it fails',
      exception_default_value: 'Value when it fails',
      max_retries: 'Retries',
      delay_after_error: 'Pause before a retry (s)',
      join_mode: 'Several ways',
      category_description: 'Categories',
      items_ref: 'Items',
      cpn_id: 'Value',
      sql: 'SQL',
      url: 'URL',
    } as Readonly<Record<string, string>>,
    required: 'required',
    more: (count: number) => `${count} more`,
    add: (name: string) => `Add to ${name}`,
    remove: (name: string) => `Remove ${name}`,
    item: (name: string, number: number) => `${name} ${number}`,
    up: (name: string) => `Move ${name} up`,
    key: 'Name',
    newKey: 'Name of the new entry',
    taken: 'There is one of this name already.',
    notSet: 'not set',
    isSet: 'set, and not shown',
    replace: 'Replace',
    keep: 'Set it',
    take: 'Remove it',
    other: 'Another …',
    default: 'Default',
    insert: 'Insert a reference',
    choose: 'Choose what it refers to',
    groups: { output: 'What came before', sys: 'Of the run', env: 'Of the canvas', alias: 'Of this pass' },
    problems: {
      'no-component': 'There is no such component.',
      'no-output': 'The component has no such output.',
      'not-before': 'The component does not run before this one.',
      'no-variable': 'The canvas has no such variable.',
      'no-body': 'This is known only in the body of a container.',
    },
    references: 'References',
    noJson: (what: string) => `This is no JSON: ${what}`,
    noObject: 'Parameters are an object: { … }',
    onPerLine: 'One in each line.',
    fails: (path: string) => `Problem at ${path}`,
  },
  zh: {
    names: {
      llm_id: '模型',
      sys_prompt: '系统提示词',
      prompts: '提示词',
      mcp: 'MCP 服务器',
      exception_method: '失败时',
      exception_default_value: '失败时的值',
      max_retries: '重试次数',
      delay_after_error: '重试前等待（秒）',
      join_mode: '多条路径',
      category_description: '分类',
      items_ref: '列表',
      cpn_id: '值',
      sql: 'SQL',
      url: 'URL',
    } as Readonly<Record<string, string>>,
    required: '必填',
    more: (count: number) => `还有 ${count} 项`,
    add: (name: string) => `添加到${name}`,
    remove: (name: string) => `删除${name}`,
    item: (name: string, number: number) => `${name} ${number}`,
    up: (name: string) => `上移${name}`,
    key: '名称',
    newKey: '新条目的名称',
    taken: '已有同名条目。',
    notSet: '未设置',
    isSet: '已设置，不显示',
    replace: '替换',
    keep: '设置',
    take: '移除',
    other: '其他…',
    default: '默认',
    insert: '插入引用',
    choose: '选择引用的内容',
    groups: { output: '之前的输出', sys: '本次运行', env: '画布变量', alias: '本轮循环' },
    problems: {
      'no-component': '没有这个组件。',
      'no-output': '该组件没有这个输出。',
      'not-before': '该组件不在此组件之前运行。',
      'no-variable': '画布没有这个变量。',
      'no-body': '只能在容器内部使用。',
    },
    references: '引用',
    noJson: (what: string) => `不是 JSON：${what}`,
    noObject: '参数必须是对象：{ … }',
    onPerLine: '每行一个。',
    fails: (path: string) => `问题位置：${path}`,
  },
});

/** What a field is called. */
export function titleOf(name: string, names: Readonly<Record<string, string>>): string {
  const known = Object.hasOwn(names, name) ? names[name] : undefined;
  if (known !== undefined) return known;
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}
