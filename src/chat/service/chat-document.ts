/** The document of a chat: a canvas of one node. */
import { ownObject } from '../../dsl/json-copy.js';
import type { JsonObject } from '../../json.js';
import { requireObject } from '../../operators/invalid-option.js';

/** Id of the node that answers. */
export const CHAT_NODE = 'chat_0';

/** The document of a chat whose node has these parameters; `prologue` is what its sessions begin with. */
export function chatDocument(params: JsonObject, options: { readonly prologue?: string } = {}): JsonObject {
  requireObject('chatDocument', 'params', params, 'an object of parameters');
  requireObject('chatDocument', 'options', options);
  const { prologue = '' } = options;
  return {
    components: {
      begin: {
        obj: {
          component_name: 'Begin',
          params: { mode: 'conversational', prologue, enablePrologue: prologue !== '', inputs: {} },
        },
        downstream: [CHAT_NODE],
        upstream: [],
      },
      [CHAT_NODE]: {
        obj: { component_name: 'Chat', params },
        downstream: [],
        upstream: ['begin'],
      },
    },
    history: [],
    path: [],
    retrieval: [],
    globals: { 'sys.query': '', 'sys.user_id': '', 'sys.conversation_turns': 0, 'sys.files': [] },
  };
}

/** Parameters of the node that answers, from a document that {@link chatDocument} made; undefined for any other document. */
export function chatParamsOf(document: JsonObject): JsonObject | undefined {
  const node = ownObject(ownObject(document, 'components'), CHAT_NODE);
  return ownObject(ownObject(node, 'obj'), 'params');
}
