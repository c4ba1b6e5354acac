import type { ConfiguredGrammar, GrammarSettings } from '../configure.ts';
import { checkSetting, GrammarSettingError } from '../configure.ts';
import { samGrammar } from './grammar.ts';

/** Builds the grammar of Solace Agent Mesh from a node's settings. It has no root and no pools. */
export function configureSam({ namespace, root, pools }: GrammarSettings): ConfiguredGrammar {
  const misplaced = root !== undefined ? 'root' : pools.length > 0 ? 'pools' : undefined;
  if (misplaced !== undefined)
    throw new GrammarSettingError(
      misplaced,
      'this setting is for A2A over MQTT',
      'add --mesh-grammar mqtt01; in the default grammar replicas share requests without a pool',
    );
  checkSetting('namespace', () => samGrammar.checkNamespace(namespace));
  return { grammar: samGrammar, callerOptions: () => ({}) };
}
