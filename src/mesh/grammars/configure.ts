import type { AgentCard } from '#protocol';
import type { BrokerOptions } from '../broker.ts';
import type { Grammar } from './grammar.ts';

/** The settings of a node that grammars read. */
export interface GrammarSettings {
  /** The broker's address. */
  readonly broker: string;
  readonly namespace: string;
  readonly root?: string;
  readonly pools: readonly string[];
  readonly instance?: string;
}

/** A grammar, and how its participants connect to the broker. */
export interface ConfiguredGrammar {
  readonly grammar: Grammar;
  /**
   * Each agent needs a connection of its own, opened with these options. Absent: one connection for all
   * agents of a process.
   */
  readonly presenceOf?: (agent: { readonly name: string; readonly card: AgentCard; readonly process: string }) => BrokerOptions;
  /** The options of a connection that serves no agent. */
  callerOptions(id: string): BrokerOptions;
}

/** Checks the settings and builds the grammar. Throws a `GrammarSettingError`. */
export type ConfigureGrammar = (settings: GrammarSettings) => ConfiguredGrammar;

/** A setting that the grammar can't use. */
export class GrammarSettingError extends Error {
  readonly setting: keyof GrammarSettings;
  readonly hint: string | undefined;

  constructor(setting: keyof GrammarSettings, message: string, hint?: string) {
    super(message);
    this.setting = setting;
    this.hint = hint;
  }
}

/** Runs a check that throws a TypeError, and names the setting that it is about. */
export function checkSetting<T>(setting: keyof GrammarSettings, check: () => T): T {
  try {
    return check();
  } catch (thrown) {
    if (thrown instanceof TypeError) throw new GrammarSettingError(setting, thrown.message);
    throw thrown;
  }
}
