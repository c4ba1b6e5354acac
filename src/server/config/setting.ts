import type { Json } from '#protocol';
import type { AgentLike } from '../agents/served-agent.ts';

/** What a setting takes. */
export type SettingType =
  | 'text'
  /** One of the words in `oneOf`. */
  | 'choice'
  /** An http(s) URL without user, query or fragment. */
  | 'url'
  /** A domain name, as `agents.example.org`. */
  | 'domain'
  /** A text of at least 32 characters that is never printed. */
  | 'secret'
  /** A whole number from `min` (default 0) to `max`. */
  | 'number'
  /** A whole number from `min` to `max`, or the word `auto`. */
  | 'count'
  | 'boolean'
  /**
   * A list of texts. In the environment they are separated by commas. A flag may be given many times.
   */
  | 'list'
  /** A list of access scopes. */
  | 'scopes'
  /** Names and files of agents. A `.ts` file may also hold what `defineAgent` returns. */
  | 'agents'
  /** Agents elsewhere, by name. */
  | 'remotes'
  /** How programs are started, by name. */
  | 'launches';

/**
 * Everything about one setting, said once: the types, defaults, flags, environment variables, the check
 * of the configuration file and docs/config.md are derived from this. The tables in `table/` map the
 * setting's key in the configuration file to its declaration.
 */
export interface SettingDeclaration {
  readonly type: SettingType;
  /**
   * Defaults to `false` for a boolean and to an empty list for a list. Absent otherwise: the setting
   * may be undefined.
   */
  readonly default?: Json;
  /** The words that a `choice` accepts. */
  readonly oneOf?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  /** The flag of `parley serve`, without dashes. */
  readonly flag?: string;
  /** The value that the flag sets, if it takes none and does not mean `true`, as in `--no-auth`. */
  readonly flagMeans?: boolean;
  /** The flag's help, if it differs from `doc`. */
  readonly flagDoc?: string;
  /** What stands for the value in the help, as in `--data DIR`. */
  readonly placeholder?: string;
  /** Environment variables of other products that are read after our own. */
  readonly alsoEnv?: readonly string[];
  /** No flag and no environment variable of its own. */
  readonly isFileOnly?: true;
  /** This key is another product's name for that setting. In each source our own name wins. */
  readonly sameAs?: string;
  /** One or two sentences for the help and docs/config.md. */
  readonly doc: string;
  /** A reload of the configuration applies a change. Absent: only a restart does, because the value is read once, when the node starts. */
  readonly reload?: 'live';
}

/** A table of declarations by key, as `port` or `tls.cert`. */
export type SettingTable = Readonly<Record<string, SettingDeclaration>>;

/** A remote agent with a name. Commands accept the name in place of its address. */
export interface RemoteAgent {
  /** Address of the agent. */
  readonly endpoint: string;
  /** Address of its card, if it is not at a usual path. */
  readonly agentCardUrl?: string;
  /** Sent as a bearer token. */
  readonly authToken?: string;
  /** In milliseconds. */
  readonly timeout?: number;
}

/** How a program is started that speaks the Agent Client Protocol. */
export interface LaunchSetting {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  readonly title?: string;
  readonly environment?: readonly string[];
  readonly homePaths?: readonly string[];
  readonly projectConfig?: readonly string[];
}

interface ValueTypes {
  readonly text: string;
  readonly choice: string;
  readonly url: string;
  readonly domain: string;
  readonly secret: string;
  readonly number: number;
  readonly count: number | 'auto';
  readonly boolean: boolean;
  readonly list: readonly string[];
  readonly scopes: readonly string[];
  readonly agents: readonly (string | AgentLike)[];
  readonly remotes: Readonly<Record<string, RemoteAgent>>;
  readonly launches: Readonly<Record<string, LaunchSetting>>;
}

/** The TypeScript type of a declared setting's value. */
export type ValueOf<D> = D extends { readonly oneOf: readonly (infer Word)[] }
  ? Word
  : D extends { readonly type: infer T extends SettingType }
    ? ValueTypes[T]
    : never;

type AlwaysSet = 'boolean' | 'list' | 'scopes' | 'agents' | 'remotes' | 'launches';

/** The same, with `undefined` where the setting has no default. */
type ResolvedOf<D> = D extends { readonly default: unknown } | { readonly type: AlwaysSet } ? ValueOf<D> : ValueOf<D> | undefined;

type Head<Key> = Key extends `${infer First}.${string}` ? First : Key;
type Below<Table, First> = { readonly [Key in keyof Table as Key extends `${First & string}.${infer Rest}` ? Rest : never]: Table[Key] };
type WithoutAliases<Table> = { readonly [Key in keyof Table as Table[Key] extends { readonly sameAs: string } ? never : Key]: Table[Key] };

/**
 * The object that a table describes once all sources are read: `tls.cert` becomes `{ tls: { cert } }`.
 */
export type ResolvedSettings<Table> = ResolvedTree<WithoutAliases<Table>>;
type ResolvedTree<Table> = {
  readonly [Key in Head<keyof Table> & string]: Key extends keyof Table ? ResolvedOf<Table[Key]> : ResolvedTree<Below<Table, Key>>;
};

/** What the configuration file may hold: every key is optional. */
export type ConfigFileOf<Table> = {
  readonly [Key in Head<keyof Table> & string]?: Key extends keyof Table ? ValueOf<Table[Key]> : ConfigFileOf<Below<Table, Key>>;
};
