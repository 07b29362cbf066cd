/** What the canvas of the editor says. */
import { defineTexts } from '../../shell/texts.js';

export const boardTexts = defineTexts({
  en: {
    canvas: 'Canvas',
    minimap: 'Overview of the canvas',
    node: 'Enter chooses the node and opens its form, arrows move it, Delete removes it, Escape gives it up.',
    edge: 'Enter chooses the connection, Delete removes it.',
    tools: (name: string) => `Tools of ${name}`,
    addBehind: 'Add behind it',
    addInside: 'Add to its body',
    duplicate: 'Duplicate',
    remove: 'Delete',
    wrap: 'Put into a container',
    wrapIn: (type: string) => `Put into a ${type}`,
    move: 'Move into or out of a container',
    moveIn: (name: string) => `Move into ${name}`,
    moveOut: (name: string) => `Move out of ${name}`,
    many: (count: number) => `${count} selected`,
  },
  zh: {
    canvas: '画布',
    minimap: '画布概览',
    node: '按回车键选择节点并打开表单，方向键移动，Delete 键删除，Esc 取消选择。',
    edge: '按回车键选择连接，Delete 键删除。',
    tools: (name: string) => `${name} 的工具`,
    addBehind: '在其后添加',
    addInside: '添加到其内部',
    duplicate: '复制一份',
    remove: '删除',
    wrap: '放入容器',
    wrapIn: (type: string) => `放入 ${type}`,
    move: '移入或移出容器',
    moveIn: (name: string) => `移入 ${name}`,
    moveOut: (name: string) => `移出 ${name}`,
    many: (count: number) => `已选择 ${count} 个`,
  },
});
