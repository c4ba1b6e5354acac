import type { ConfigureGrammar } from './configure.ts';
import { configureMqtt } from './mqtt01/configure.ts';
import { configureSam } from './sam/configure.ts';

/** Every grammar, by the name that settings use. */
export const GRAMMARS: { readonly sam: ConfigureGrammar; readonly mqtt01: ConfigureGrammar } = { sam: configureSam, mqtt01: configureMqtt };
